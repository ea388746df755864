/** What a run that became past, or came back, is to those who watch the store: nothing has happened to it (ADR 0035). */
import t from 'tap';
import { publishAlarms } from '../../../src/domains/alarms/alarm-channel.js';
import { Alarm } from '../../../src/domains/alarms/kind.js';
import { forgetEndedElements } from '../../../src/domains/batches/reading/ended-elements.js';
import { publishStates } from '../../../src/domains/batches/reading/state-channel.js';
import { unendedBatches } from '../../../src/domains/batches/reading/open-batches.js';
import { takenBy } from '../../../src/domains/batches/creation/creation.js';
import { Batch } from '../../../src/domains/batches/kind.js';
import { elementIndex } from '../../../src/domains/batches/tree/element-index.js';
import { phasesAtWork } from '../../../src/domains/procedures/at-work.js';
import { Phase, Procedure } from '../../../src/domains/procedures/kind.js';
import { phaseStates } from '../../../src/domains/procedures/phase-states.js';
import { BatchRecord } from '../../../src/domains/records/kind.js';
import { on, whenPut } from '../../../src/platform/reconcile/wakes.js';
import type { Resource } from '../../../src/platform/store/resource.js';
import { type Past, type Put, Store } from '../../../src/platform/store/store.js';
import { freshStore } from '../../support/fresh-store.js';

const SITE = 'north';

async function ended(t: Parameters<typeof freshStore>[0]) {
  const { store, clock } = await freshStore(t, [Batch, Phase, Alarm, BatchRecord]);
  const phase = {
    kind: Phase,
    site: SITE,
    name: 'b1-heat',
    spec: { batchRef: 'b1', parentRef: null, unitRef: 'r1', templateRef: 'heat' },
    status: { state: 'Complete', mode: 'Automatic' },
  };
  const batch = { kind: Batch, site: SITE, name: 'b1', spec: { batchID: 'B-1', workOrderID: 'WO-1' }, status: { phase: 'Complete', stateAt: '' } };
  const alarm = {
    kind: Alarm,
    site: SITE,
    name: 'hot-1',
    spec: { severity: 'High', message: 'hot', source: 'Unit/r1', definitionRef: 'hot' },
    status: { state: 'ClearedAcknowledged', unit: 'r1', shelvedUntil: '' },
  };
  await store.write({ puts: [batch, phase, alarm] as unknown as Put[], facts: [{ stream: `events/${SITE}/b1`, body: (id) => ({ id }) }] });
  const run: Past = {
    run: { kind: 'Batch', site: SITE, name: 'b1' },
    members: [
      { kind: 'Batch', site: SITE, name: 'b1' },
      { kind: 'Phase', site: SITE, name: 'b1-heat' },
    ],
    streams: [`events/${SITE}/b1`],
  };
  const cleared: Past = { run: { kind: 'Alarm', site: SITE, name: 'hot-1' }, members: [{ kind: 'Alarm', site: SITE, name: 'hot-1' }], streams: [] };
  const rowsOf = ({ members }: Past): Resource[] => members.flatMap(({ kind, site, name }) => store.get({ kind } as typeof Batch, site, name) ?? []) as Resource[];
  return { store, clock, run, cleared, rowsOf };
}

t.test('no stream tells of a run or an alarm that becomes past or comes back, and no historian is told a change of state', async (t) => {
  const { store, clock, run, cleared, rowsOf } = await ended(t);
  const told: unknown[] = [];
  const hub = { publish: (event: unknown) => void told.push(event) };
  const changes: unknown[] = [];
  publishStates({ hub, store, listener: (change) => void changes.push(change) });
  forgetEndedElements({ hub, store });
  publishAlarms({ hub, store, clock });
  const rows = { run: rowsOf(run), cleared: rowsOf(cleared) };
  told.length = changes.length = 0;
  await store.write({ pasts: [run, cleared] });
  await store.takeBack({ run: run.run, rows: rows.run, streams: [[`events/${SITE}/b1`, 1]] });
  await store.takeBack({ run: cleared.run, rows: rows.cleared, streams: [] });
  t.same([told, changes], [[], []]);
  t.ok(store.get(Batch, SITE, 'b1'));
  await store.write({ puts: [{ kind: Batch, site: SITE, name: 'b1', status: { ...store.get(Batch, SITE, 'b1')?.status, phase: 'Aborted' } }] as Put[] });
  t.match(changes, [{ kind: 'Batch', state: 'Aborted', previousState: 'Complete' }], 'what is then done with it is told as ever');
});

t.test('what is kept beside the store leaves with a run and comes back with it', async (t) => {
  const { store, run, rowsOf } = await ended(t);
  const [elements, atWork, states] = [elementIndex(store), phasesAtWork(store), phaseStates(store)];
  const seen = () => [elements.phasesOf(SITE, 'b1').length, atWork.of(SITE).length, states.of(SITE, 'r1', 'heat').length, unendedBatches(store, SITE).length];
  t.same(seen(), [1, 0, 1, 0]);
  const rows = rowsOf(run);
  await store.write({ pasts: [run] });
  t.same(seen(), [0, 0, 0, 0]);
  await store.takeBack({ run: run.run, rows, streams: [[`events/${SITE}/b1`, 1]] });
  t.same(seen(), [1, 0, 1, 0]);
});

t.test('a reconciler is not woken for what became past, and is for what came back to be worked with', async (t) => {
  const { store, run, rowsOf } = await ended(t);
  const woken: string[] = [];
  const loop = { wake: (_: string, name: string) => void woken.push(name), wakeAll: () => void woken.push('all') };
  on(Batch)(loop, store);
  on(Phase, whenPut, 'all')(loop, store);
  const rows = rowsOf(run);
  await store.write({ pasts: [run] });
  t.same(woken, []);
  await store.takeBack({ run: run.run, rows, streams: [[`events/${SITE}/b1`, 1]] });
  t.same(woken, ['b1', 'all']);
});

t.test('the ID of a batch that is past is taken as long as it is there, and so is that of its work order', async (t) => {
  const { store, run } = await ended(t);
  const taken = () => takenBy(store, SITE, { uid: undefined, name: 'b2', batchID: 'B-1' });
  const present = taken();
  t.match(present, { batch: 'b1', message: 'batchID B-1 is used by batch b1' });
  await store.write({ pasts: [run] });
  t.same(taken(), present);
  t.equal(takenBy(store, 'south', { uid: undefined, name: 'b2', batchID: 'B-1' }), undefined, 'a name is of its site');
  t.throws(() => store.apply({ puts: [{ kind: Batch, site: SITE, name: 'b1', spec: { batchID: 'other' } }] as unknown as Put[] }), {
    name: 'Refusal',
    context: { code: 'run_ended' },
  });
  // nothing more is told under its name: an execution by hand that has it keeps the batch present, and a launch takes another one
  t.throws(() => store.apply({ facts: [{ stream: `messages/${SITE}/b1`, body: () => 1 }] }), { name: 'Refusal', context: { code: 'run_ended' } });
});

t.test('an arming gate that an ended phase holds open stays open when its run is past, also behind a start, and closes with it', async (t) => {
  const { store, ledger, clock } = await freshStore(t, [Procedure, Phase]);
  const of = (batch: string, state: string, unitRef = 'r1') => ({
    kind: Phase,
    site: SITE,
    name: `${batch}-heat`,
    spec: { batchRef: batch, parentRef: null, unitRef, templateRef: 'heat' },
    status: { state, mode: 'Automatic' },
  });
  const root = (batch: string) => ({ kind: Procedure, site: SITE, name: batch, spec: { batchRef: batch, parentRef: null, templateRef: '' }, status: { state: 'Complete' } });
  await store.write({ puts: [root('b1'), of('b1', 'Complete'), root('b2'), of('b2', 'Complete'), root('b3'), of('b3', 'Aborted')] as unknown as Put[] });
  const states = phaseStates(store);
  const left = new Map<string, Resource>(
    [store.get(Procedure, SITE, 'b1'), store.get(Phase, SITE, 'b1-heat')].flatMap((row) => (row ? [[row.metadata.name, row as Resource]] : [])),
  );
  const isOpen = (at: Store, ...wanted: string[]) => phaseStates(at).isAnyIn(SITE, 'r1', 'heat', wanted);
  const past = (batch: string): Past => {
    const phase = store.get(Phase, SITE, `${batch}-heat`);
    if (!phase) throw new Error(`${batch} is not present`);
    const stands = states.standsOf([phase]);
    const run = { kind: 'Procedure', site: SITE, name: batch };
    return { run, members: [run, { kind: 'Phase', site: SITE, name: `${batch}-heat` }], streams: [], kept: { stands } };
  };
  t.same(past('b1').kept, { stands: [{ unit: 'r1', template: 'heat', state: 'Complete' }] }, 'whoever else stands there may go on');
  await store.write({ pasts: [past('b1')] });
  await store.write({ puts: [of('b2', 'Idle')] as unknown as Put[] });
  t.ok(isOpen(store, 'Complete'), 'the one that was present as well has been reset');
  await store.write({ puts: [of('b2', 'Complete')] as unknown as Put[] });
  const rows = ['b2', 'b2-heat'].flatMap((name) => store.get(Procedure, SITE, name) ?? store.get(Phase, SITE, name) ?? []) as Resource[];
  await store.write({ pasts: [past('b2'), past('b3')] });
  t.same([isOpen(store, 'Complete'), isOpen(store, 'Aborted'), isOpen(store, 'Stopped', 'Running')], [true, true, false]);
  t.same(states.of(SITE, 'r1', 'heat'), []);
  t.notOk(states.isAnyIn(SITE, 'r2', 'heat', ['Complete']));
  t.notOk(states.isAnyIn('south', 'r1', 'heat', ['Complete']));
  const again = new Store(ledger, clock, undefined, [Procedure, Phase]);
  await again.open(0);
  t.same([isOpen(again, 'Complete'), isOpen(again, 'Aborted'), isOpen(again, 'Stopped')], [true, true, false], 'by the entries alone');
  await store.takeBack({ run: { kind: 'Procedure', site: SITE, name: 'b2' }, rows, streams: [] });
  t.ok(isOpen(store, 'Complete'));
  await store.write({ removes: [{ kind: 'Phase', site: SITE, name: 'b2-heat' }] });
  t.ok(isOpen(store, 'Complete'), 'another past run stands there');
  const [b1, heat] = ['b1', 'b1-heat'].map((name) => left.get(name) as Resource);
  await store.takeBack({ run: { kind: 'Procedure', site: SITE, name: 'b1' }, rows: [b1 as Resource, heat as Resource], streams: [] });
  await store.write({ removes: [{ kind: 'Phase', site: SITE, name: 'b1-heat' }] });
  t.notOk(isOpen(store, 'Complete'), 'what came back counts as what it is');
});
