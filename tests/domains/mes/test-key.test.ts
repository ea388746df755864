/** A test key (ADR 0119): whoever connects an MES to a running plant sees whether his orders would be taken, and starts nothing. */
import { randomUUID } from 'node:crypto';
import { parse } from 'valibot';
import t from 'tap';
import { mesRoutes } from '../../../src/domains/mes/routes.js';
import { Phase, PhaseSpec } from '../../../src/domains/procedures/kind.js';
import type { Put } from '../../../src/platform/store/store.js';
import { MES, SITE, startMesPlant } from './plant.js';

const plant = await startMesPlant();
t.teardown(() => plant.stop());
const { mes, store, audits } = plant;
const admin = await plant.as('admin');
const { key } = (await admin.post('/api/v1/mes/apikeys', { name: 'trial', site: 'demo', test: true })).body;

const order = { workOrderID: 'WO-1', productDefinition: 'resin-a' };
const orders = `${MES}/work-orders?dispatch=immediate`;
await mes.post(orders, { ...order, workOrderID: 'WO-REAL' });
const batch = (await plant.operator.post(`${SITE}/batches`, { batchID: 'B-1', masterRecipeRef: 'resin-a' })).body.name as string;
const spec = parse(PhaseSpec, { templateRef: 'sample', unitRef: 'rx101', batchRef: batch, stepName: 'sample', stepPath: 'makeResin/sample' });
const id = randomUUID();
const pendingPrompt = { id, text: 'v', timestamp: '2026-01-01T00:00:00.000Z', stepName: 'wait', type: 'value', min: '200', max: '800', unit: 'mPa.s', resultKey: 'v' } as const;
await store.write({ puts: [{ kind: Phase, site: 'demo', name: 'sampling', spec, status: { ...Phase.initialStatus(spec), state: 'Running', pendingPrompt } } as Put] });

/** What each route that changes something would take from a key that is none of a test. */
const SOUND: Readonly<Record<string, { readonly target: string; readonly body?: object }>> = {
  'mes:create-work-order': { target: orders, body: order },
  'mes:delete-work-order': { target: `${MES}/work-orders/WO-REAL` },
  'mes:deliver-external-result': { target: `${MES}/phases/sampling/external-result`, body: { resultID: id, resultKey: 'v', value: '420', externalSystem: 'LIMS' } },
};

t.test('KEY-05, AUTH-06: with a test key every request that would change something is judged, refused and done by nobody', async (t) => {
  const changing = mesRoutes.filter(({ method }) => method !== 'GET');
  t.same(changing.map(({ action }) => action).sort(), Object.keys(SOUND).sort(), 'every one has a request here');
  await plant.request('GET', `${MES}/product-definitions`, { key }); // that it was used is kept
  for (const { method, action } of changing) {
    const { target, body } = SOUND[action as string] ?? { target: '' };
    const before = [store.resourceVersion, store.auditSequence] as const;
    const answer = await plant.request(method, target, { key, body });
    t.match(answer, { status: 403, body: { code: 'test_key', error: /in order, and nothing was done/ } }, action);
    t.match(audits.at(-1), { result: 'Rejected', reason: 'TestKey', accountId: 'apikey:trial' }, 'it is on record');
    t.same([store.resourceVersion, store.auditSequence], [before[0], before[1] + 1], 'that record is all there is');
  }
  t.equal((await mes.get(`${MES}/work-orders/WO-1`)).status, 404);
  t.equal((await mes.get(`${MES}/work-orders/WO-REAL`)).status, 200);
  t.equal(store.get(Phase, 'demo', 'sampling')?.status.answer, undefined);
  t.same(plant.sent, []);
});

t.test('what is wrong with an order is told to a test key as to any other', async (t) => {
  const refused = async (body: object) => (await plant.request('POST', orders, { key, body: { ...order, ...body } })).body;
  t.match(await refused({ productDefinition: 'gold' }), {
    status: 400,
    code: 'unknown_reference',
    field: 'productDefinition',
    error: /product definition gold; Effective are .*resin-a/,
  });
  t.match(await refused({ productDefinition: 'resina' }), { error: /did you mean resin-a\?/ });
  t.match(await refused({ colour: 1 }), { status: 400, code: 'unknown_field' });
  t.match(await refused({ workOrderID: 'WO-REAL', description: 'other' }), { status: 409, code: 'work_order_mismatch' });
  t.match(await refused({ workOrderID: 'WO-REAL' }), { status: 403, code: 'test_key' }, 'an order that is known is not even told again');
  t.equal((await plant.request('GET', `${MES}/product-definitions`, { key })).status, 200);
});
