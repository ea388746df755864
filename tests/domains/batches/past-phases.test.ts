/**
 * What is asked for again and again of one batch or one unit must not walk the elements of all batches that a site has ever
 * made. Counted, not timed: how many resources the store hands out for a question does not depend on how many batches ended.
 */
import t from 'tap';
import { gateHistory } from '../../../src/domains/alarms/gate-history.js';
import { AlarmDefinition } from '../../../src/domains/alarms/kind.js';
import { isArmed } from '../../../src/domains/alarms/sources.js';
import { SystemAlarmReconciler } from '../../../src/domains/alarms/system-alarm-reconciler.js';
import { Batch } from '../../../src/domains/batches/kind.js';
import { PhaseCommands } from '../../../src/domains/batches/phases/phase-commands.js';
import { pendingResults } from '../../../src/domains/mes/external-results.js';
import { Operation, Phase, Procedure, UnitProcedure } from '../../../src/domains/procedures/kind.js';
import { assembleRecord } from '../../../src/domains/records/assembly.js';
import { auditTrail } from '../../../src/domains/records/consolidated.js';
import { executedElements } from '../../../src/domains/records/executed-elements.js';
import { siteOverview } from '../../../src/domains/units/overview.js';
import { runtimeRoutes } from '../../../src/domains/units/runtime-routes.js';
import type { Kind } from '../../../src/platform/store/kind.js';
import type { Resource } from '../../../src/platform/store/resource.js';
import type { Put, Store } from '../../../src/platform/store/store.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const COUNTED: readonly string[] = [Procedure, UnitProcedure, Operation, Phase, Batch].map(({ kind }) => kind);
const NO_FACTS = { events: [], states: [], actions: [], results: [], alarms: [], unreadable: [] };

/** A batch with one element on each level. */
function batch(name: string, phase: string, state: string): Put[] {
  const element = (kind: unknown, suffix: string, parentRef: object | null) => {
    const spec = {
      batchRef: name,
      unitRef: 'rx101',
      templateRef: 'charge',
      stepPath: suffix,
      parentRef,
      parameterValues: [{ name: 'amount', value: '1' }],
      parameters: [],
      materials: [],
    };
    const status = { ...(kind as Kind<object, object>).initialStatus({}), state, outputs: [], conditions: [] };
    return { kind, site: 'demo', name: `${name}-${suffix}`, spec, status } as unknown as Put;
  };
  const spec = { batchID: name, masterRecipeRef: 'resin-a' };
  const status = { ...Batch.initialStatus(spec as never), phase };
  return [
    { kind: Batch, site: 'demo', name, spec, status } as unknown as Put,
    element(Procedure, 'p', null),
    element(UnitProcedure, 'up', { kind: 'Procedure', name: `${name}-p` }),
    element(Operation, 'op', { kind: 'UnitProcedure', name: `${name}-up` }),
    element(Phase, 'ph', { kind: 'Operation', name: `${name}-op` }),
  ];
}

/** Counts what `store` hands out of batches and elements. */
function counting(store: Store): () => number {
  let handedOut = 0;
  const [get, list] = [store.get.bind(store), store.list.bind(store)];
  store.get = ((kind: Kind, site: string, name: string) => {
    if (COUNTED.includes(kind.kind)) handedOut += 1;
    return get(kind, site, name);
  }) as Store['get'];
  store.list = ((kind: Kind, site?: string) => {
    const found = list(kind, site);
    if (COUNTED.includes(kind.kind)) handedOut += found.length;
    return found as readonly Resource[];
  }) as Store['list'];
  return () => {
    const since = handedOut;
    handedOut = 0;
    return since;
  };
}

t.test('what is asked of one batch or one unit does not grow with the batches that have ended', async (t) => {
  const { store, clock, stop } = await startPlantGateway();
  t.teardown(() => stop());
  await store.write({ puts: batch('now', 'Running', 'Running') });
  const handedOut = counting(store);
  const link = { site: 'demo', unit: 'rx101', send: () => undefined, ready: true, statistics: () => undefined, startedAtMs: 0 };
  const runtimes = { link: () => undefined, links: () => [] } as never;
  const counts = { active: 0, unacknowledged: 0, shelved: 0, bySeverity: {}, highestSeverity: '' };
  const now = () => store.get(Batch, 'demo', 'now') as never;
  const definition = { ...AlarmDefinition.initialStatus({} as never), enabled: true, armingGate: { phaseTemplateRef: 'charge', unitRef: 'rx101', states: ['Running'] } } as never;
  const gate = { gate: { phaseTemplateRef: 'charge', unitRef: 'rx102', states: ['Running'] }, site: 'demo', fromMs: 0, nowMs: 1 } as never;
  const phases = new PhaseCommands(store, runtimes);
  const reconciler = new SystemAlarmReconciler({ store, clock, facts: {} } as never);
  const status = runtimeRoutes.find(({ path, method }) => method === 'GET' && path.endsWith('/runtime/status'));
  const questions: Record<string, () => unknown> = {
    'an arming gate': () => isArmed(definition, store, 'demo'),
    'the history of a gate': () => gateHistory(gate, store, { eventsJson: async () => new TextEncoder().encode('{"items":[],"nextCursor":null}') } as never),
    'pending results': () => pendingResults(store, 'demo'),
    'the record of a batch': () => assembleRecord(now(), store, NO_FACTS),
    'the elements of a document': () => executedElements(store, 'demo', 'now', []),
    'the audit trail of a record': () =>
      auditTrail({ store, queries: { auditOf: async () => ({ items: [] }) } as never }, 'demo', 'now', { executionEvents: [], phaseHistory: [] }),
    'a unit that is back': () => phases.reload(link as never),
    'the overview': () => siteOverview('demo', { store, runtimes, alarms: { ofUnit: () => counts, ofSite: () => counts }, nowMs: () => 0 }),
    'the status of a runtime': () =>
      status?.handle({ params: { site: 'demo', name: 'rx101' } } as never, { store, runtimes, timeScale: () => 1, nodeName: '', image: '' } as never),
    'the look of the system alarms': () => [...reconciler.keys()],
  };
  const asked = async (): Promise<Record<string, number>> => {
    const found: Record<string, number> = {};
    for (const [what, ask] of Object.entries(questions)) {
      handedOut();
      await ask();
      found[what] = handedOut();
    }
    return found;
  };
  await asked(); // the first look makes the index
  const few = await asked();
  t.equal(isArmed(definition, store, 'demo'), true);
  for (let n = 0; n < 50; n += 1) await store.write({ puts: batch(`past-${n}`, 'Complete', 'Complete') });
  t.same(await asked(), few);

  await store.write({ removes: [{ kind: 'Phase', site: 'demo', name: 'now-ph' }] });
  t.equal(isArmed(definition, store, 'demo'), false, 'the gate is shut with its phase');
});
