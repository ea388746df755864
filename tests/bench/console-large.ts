/** A plant that is large for one box: batches that wait, and alarms that stand. */
import { MANIFESTS_MAX } from '../../src/domains/apply/manifest.js';
import { batch, SITE } from '../console/person.js';
import { type ApiClient, eventually } from '../support/api-client.js';

export const BATCHES = 500;
export const ALARMS = 2000;
const AT_A_TIME = 8;

/** True as soon as it is judged; no limit of a value, which a bar would draw. */
function definition(number: number): unknown {
  const spec = { sourceKind: 'ControlModule', sourceName: 'xv101', conditionType: 'TagFalse', tagName: 'reset', type: 'Process', severity: 'Medium', priority: 500 };
  return {
    apiVersion: 'control.lineside.io/v1alpha1',
    kind: 'AlarmDefinition',
    metadata: { name: `flood-${number}`, namespace: 'site-demo' },
    spec: { ...spec, message: `Valve is not reset, alarm ${number} of the flood`, enabled: true },
  };
}

/** @param admin an administrator, who may engineer. Returns when every alarm stands. */
export async function enlarge(admin: ApiClient): Promise<void> {
  for (let from = 0; from < ALARMS; from += MANIFESTS_MAX) {
    const manifests = Array.from({ length: Math.min(MANIFESTS_MAX, ALARMS - from) }, (_, at) => definition(from + at));
    const answer = await admin.post('/api/v1/apply', manifests);
    if (answer.status >= 300) throw new Error(`apply: ${answer.status} ${answer.text.slice(0, 400)}`);
  }
  let made = 0;
  const lane = async (): Promise<void> => {
    while (made < BATCHES) {
      made += 1;
      await batch(admin, `PO-${String(made).padStart(4, '0')}`);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, lane));
  await eventually('every alarm stands', async () => Number((await admin.get(`${SITE}/alarms?active=true&limit=1`)).headers.get('x-total-count')) >= ALARMS, 300_000, 500);
}
