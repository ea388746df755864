/** When a batch itself becomes past, what keeps it, and what brings it back (ADR 0033). */
import path from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { takenBy } from '../../../src/domains/batches/creation/creation.js';
import { Batch, type BatchStatus } from '../../../src/domains/batches/kind.js';
import type { BlockedWorld } from '../../../src/domains/batches/reading/blocked-by.js';
import { batchItem } from '../../../src/domains/batches/reading/dto.js';
import { batchesOf, listedBatch, listedBatches } from '../../../src/domains/batches/reading/list.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import { Phase, Procedure } from '../../../src/domains/procedures/kind.js';
import { phaseStates } from '../../../src/domains/procedures/phase-states.js';
import { ControlRecipe } from '../../../src/domains/recipes/kind.js';
import { BatchRecord } from '../../../src/domains/records/kind.js';
import { PastBatchReconciler } from '../../../src/domains/records/past-batches.js';
import { asked } from '../../../src/domains/runs/asked.js';
import { streamOf } from '../../../src/domains/runs/execution-log.js';
import { between } from '../../../src/platform/base/sorted.js';
import { pastRows } from '../../../src/platform/store/past-rows.js';
import { References } from '../../../src/platform/store/references.js';
import type { Ref } from '../../../src/platform/store/resource.js';
import type { Store } from '../../../src/platform/store/store.js';
import { type Put } from '../../../src/platform/store/store.js';
import { pastStore } from '../../support/past-store.js';
import type { TestClock } from '../../support/test-clock.js';

const SITE = 'north';
const KINDS = [Batch, BatchRecord, Procedure, Phase, ControlRecipe, Unit];
const AFTER_MS = 86_400_000;
const FINAL = { phase: 'Complete', recordSettled: true, controlRecipe: 'b1', procedure: 'b1', recordRef: 'b1', heldInside: false, startedAt: '', endedAt: '' };

const plant = (t: Test) => pastStore(t, KINDS as never, (parts) => new PastBatchReconciler({ ...parts, afterMs: AFTER_MS }));

/** A batch that has ended, and what it left behind, as it is present; of the status only what matters here. */
async function ended(store: Store, name = 'b1'): Promise<void> {
  const of = { site: SITE, name };
  const element = { mode: '', batchRef: name, parentRef: null, templateRef: '' };
  const spec = {
    batchID: name.toUpperCase(),
    masterRecipeRef: 'resin',
    workOrderID: '',
    lotID: '',
    description: '',
    priority: 100,
    parameters: [],
    equipment: { reactor: 'r1' },
    mode: '',
  };
  await store.write({
    puts: [
      { ...of, kind: Unit, name: 'r1', spec: { roleBindings: [] }, status: { ...Unit.initialStatus({} as never), allocatedTo: '', promisedTo: '' } },
      {
        ...of,
        kind: Batch,
        spec,
        status: { ...Batch.initialStatus(spec as never), ...FINAL, recordRef: name, allocations: [{ capability: 'reactor', unit: 'r1', state: 'Released', since: '' }] },
      },
      {
        ...of,
        kind: BatchRecord,
        spec: { batch: { name, uid: '', batchID: spec.batchID }, recipe: {} },
        status: { conditions: [{ type: 'PhaseHistorySettled', status: 'True' }] },
      },
      { ...of, kind: ControlRecipe, spec: {} },
      { ...of, kind: Procedure, spec: element, status: { ...Procedure.initialStatus(element as never), state: 'Complete' } },
      {
        ...of,
        name: `${name}-heat`,
        kind: Phase,
        spec: { ...element, unitRef: 'r1', templateRef: 'heat' },
        status: { ...Phase.initialStatus(element as never), state: 'Complete' },
      },
    ] as unknown as Put[],
  });
}

const key = (name = 'b1') => ({ site: SITE, name });
const ref = (kind: string, name = 'b1'): Ref => ({ kind, site: SITE, name });
const all = (store: Store) => between(listedBatches(store, SITE), 0, Number.POSITIVE_INFINITY);
const isPast = (store: Store, name = 'b1') => store.pastEntry(Batch, SITE, name) !== undefined;
const leaveRecord = (store: Store, name = 'b1') => store.write({ pasts: [{ run: ref('BatchRecord', name), members: [ref('BatchRecord', name)], streams: [] }] });
const leaveElements = (store: Store, name = 'b1') =>
  store.write({ pasts: [{ run: ref('Procedure', name), members: [ref('Procedure', name), ref('ControlRecipe', name), ref('Phase', `${name}-heat`)], streams: [] }] });

async function left(store: Store, name = 'b1'): Promise<void> {
  await ended(store, name);
  await leaveElements(store, name);
  await leaveRecord(store, name);
}

/** Until nothing more can come of it: it has had its time. */
async function looked(reconciler: PastBatchReconciler, clock: TestClock, name = 'b1') {
  await reconciler.reconcile(key(name));
  clock.advance(AFTER_MS);
  return reconciler.reconcile(key(name));
}

t.test('a batch becomes past when all it left behind is and its time is over, and nobody holds it or walks', async (t) => {
  const { store, clock, reconciler } = await plant(t);
  await ended(store);
  for (const leave of [leaveRecord, leaveElements]) {
    t.same([[...reconciler.keys()], await looked(reconciler, clock), isPast(store)], [[], 'settled', false], 'something of it is present');
    await leave(store);
  }
  t.match([...reconciler.keys()], [key()]);
  t.same(await reconciler.reconcile(key()), { lookAgainMs: AFTER_MS }, 'its time begins when it is alone');
  await store.write({ puts: [{ kind: Batch, ...key(), labels: { line: 'one' } } as unknown as Put] });
  clock.advance(AFTER_MS - 1);
  t.same(await reconciler.reconcile(key()), { lookAgainMs: AFTER_MS }, 'and anew with each change');
  clock.advance(AFTER_MS);
  const past = pastRows(store);
  for (const hold of [() => past.hold([ref('Batch')]), () => past.hold([ref('Phase', 'b1-heat')]), () => past.walk()]) {
    const release = hold();
    t.match(await reconciler.reconcile(key()), { lookAgainMs: Number });
    t.notOk(isPast(store));
    release();
  }
  const references = new References(store);
  const uses = () => Promise.all([references.everUsedBy({ kind: 'MasterRecipe', site: SITE, name: 'resin' }), references.everUsedBy({ kind: 'Unit', site: SITE, name: 'r1' })]);
  const before = all(store).map(shown);
  const usedBefore = await uses();
  t.match(usedBefore, [[{ kind: 'Batch', name: 'b1', path: 'masterRecipeRef', when: 'write' }], [{ path: 'equipment.reactor', when: 'write' }]]);
  t.equal(await reconciler.reconcile(key()), 'settled');
  t.ok(isPast(store));
  t.same(store.list(Batch), []);
  t.equal(past.countNames([ref('Batch'), ref('Phase', 'b1-heat'), ref('Procedure')]), 1, 'it and its elements are one ended batch for who counts them');
  t.same(await uses(), usedBefore, 'what it names is told of it as before');
  t.same(all(store).map(shown), before, 'lists have it as before');
  t.same(
    [batchesOf(store, 'B1'), [listedBatch(store, SITE, 'b1')]].map((list) => list.map((batch) => batch && shown(batch))),
    [before, before],
  );
});

/** What lists show of a batch, whether it is present or past. */
function shown({
  metadata: { name, site, uid, generation, labels },
  spec: { batchID, masterRecipeRef, priority, equipment },
  status: { phase, allocations, recordRef, workOrder },
}: NonNullable<ReturnType<typeof listedBatch>>) {
  return { name, site, uid, generation, labels, batchID, masterRecipeRef, priority, equipment, phase, units: allocations.map(({ unit }) => unit), recordRef, workOrder };
}

t.test('a batch stays while something is to come of it, and leaves when that is over', async (t) => {
  const { store, clock, reconciler } = await plant(t);
  await left(store);
  const status = store.get(Batch, SITE, 'b1')?.status as BatchStatus;
  const order = { command: 'Reset', reason: 'again', by: { accountId: '1', displayName: 'Operator', actorType: 'human' }, at: '', correlationID: 'c' };
  const states: readonly (readonly [string, object])[] = [
    ['it is Pending', { phase: 'Pending' }],
    ['it runs', { phase: 'Running' }],
    ['it is Held', { phase: 'Held' }],
    ['it has no record', { recordRef: '' }],
    ['its record is another one that is not past', { recordRef: 'b2' }],
    ['its record has not settled', { recordSettled: false }],
    ['an order waits', { pendingCommand: order }],
    ['an order waits that cannot be read', { pendingCommand: 'Reset' }],
    ['an order could not be read, of which an alarm tells', { commandRejection: { command: 'Reset', rule: 'unreadable-order', message: '', at: '' } }],
  ];
  for (const [why, change] of states) {
    await store.write({ puts: [{ kind: Batch, ...key(), status: { ...status, ...change } } as unknown as Put] });
    t.same([await looked(reconciler, clock), isPast(store)], ['settled', false], why);
  }
  const refused = { command: 'Hold', rule: 'already-holding', message: '', at: '' }; // before its end: it stands in the row, and keeps nothing
  await store.write({ puts: [{ kind: Batch, ...key(), status: { ...status, commandRejection: refused } } as unknown as Put] });
  for (const change of [{ allocatedTo: 'b1' }, { promisedTo: 'b1' }]) {
    const unit = { allocatedTo: '', promisedTo: '' };
    await store.write({ puts: [{ kind: Unit, ...key('r1'), status: { ...unit, ...change } } as unknown as Put] });
    t.same([await looked(reconciler, clock), isPast(store)], ['settled', false], JSON.stringify(change));
    await store.write({ puts: [{ kind: Unit, ...key('r1'), status: unit } as unknown as Put] });
  }
  const open = asked(store);
  open.isOpen = () => true;
  await reconciler.reconcile(key());
  clock.advance(AFTER_MS);
  t.match([await reconciler.reconcile(key()), isPast(store)], [{ lookAgainMs: Number }, false], 'its equipment has not answered');
  open.isOpen = () => false;
  t.same([await reconciler.reconcile(key()), isPast(store)], ['settled', true]);
});

t.test('a batch of which a row cannot be read stays, and so does one that has lost its allocations', async (t) => {
  const { dir, clock, ...first } = await plant(t);
  for (const name of ['b1', 'b2']) await left(first.store, name);
  const state = new Database(path.join(dir, 'state.db'));
  state.prepare("UPDATE resources SET body = json_remove(body, '$.status.allocations') WHERE kind = 'Batch' AND name = 'b2'").run();
  state.prepare("INSERT INTO resources (kind, site, name, version, body) SELECT 'Phase', site, name, version, '{' FROM resources WHERE kind = 'Batch' AND name = 'b1'").run();
  state.close();
  const { store, reconciler } = await first.opened();
  t.same([await looked(reconciler, clock, 'b1'), await looked(reconciler, clock, 'b2')], ['settled', 'settled']);
  t.same([isPast(store, 'b1'), isPast(store, 'b2')], [false, false]);
  t.match(store.faults, [
    { name: 'b2', fault: 'status.allocations is not there' },
    { kind: 'Phase', name: 'b1' },
  ]);
  t.same(listedBatch(store, SITE, 'b2')?.status.allocations, []);
});

t.test('an entry that was damaged is in no list, and the batch is present again behind a start; before its elements where theirs was', async (t) => {
  const { dir, clock, ...first } = await plant(t);
  for (const name of ['b1', 'b2', 'b3']) {
    await left(first.store, name);
    await looked(first.reconciler, clock, name);
  }
  const state = new Database(path.join(dir, 'state.db'));
  state.prepare("UPDATE resources SET past_entry = 'null' WHERE (kind = 'Batch' AND name = 'b1') OR (kind = 'Procedure' AND name = 'b2')").run();
  state.close();
  const { store } = await first.opened();
  const names = () => all(store).map(({ metadata }) => metadata.name);
  t.same([names(), listedBatch(store, SITE, 'b1')], [['b2', 'b3'], undefined]);
  t.ok(isPast(store, 'b1'), 'its name is taken');
  t.same(await pastRows(store).bringBackUnreadable(), []);
  t.same(names(), ['b1', 'b2', 'b3']);
  t.same(
    ['b1', 'b2', 'b3'].map((name) => [store.isPresent(ref('Batch', name)), store.isPresent(ref('Procedure', name))]),
    [
      [true, false],
      [true, true],
      [false, false],
    ],
  );
  for (const name of ['b1', 'b3']) t.match(takenBy(store, SITE, { uid: undefined, name: 'b4', batchID: name.toUpperCase() }), { batch: name });
});

const MISSHAPEN: readonly (readonly [kind: string, member: string, json: string])[] = [
  ...['null', '[null]', '[{"unit":5}]', '{}', '"x"'].map((json) => ['Batch', 'allocations', json] as const),
  ...['labels', 'equipment', 'members', 'parameters', 'names', 'holds', 'workOrder'].flatMap((member) => ['null', '5', '[5]'].map((json) => ['Batch', member, json] as const)),
  ...['batchID', 'masterRecipeRef', 'workOrderID', 'description', 'createdAt', 'endedAt', 'phase', 'priority', 'heldInside'].map((member) => ['Batch', member, '{}'] as const),
  ['Batch', 'phase', '"Running"'],
  ['Procedure', 'stands', '[null]'],
  ['Procedure', 'names', '{"Unit/north/r1":[null]}'],
  ['Procedure', 'members', 'null'],
  ['BatchRecord', 'batchID', '5'],
  ['BatchRecord', 'atMs', '"x"'],
];

t.test('an entry with a member of another shape says nothing: the others are listed, and its run is present again behind a start', async (t) => {
  const { dir, clock, ...first } = await plant(t);
  for (const name of ['b1', 'b2']) {
    await left(first.store, name);
    await looked(first.reconciler, clock, name);
  }
  const state = new Database(path.join(dir, 'state.db'));
  t.teardown(() => state.close());
  const whole = new Map(
    ['Batch', 'Procedure', 'BatchRecord'].map((kind) => [kind, state.prepare("SELECT past_entry FROM resources WHERE kind = ? AND name = 'b1'").pluck().get(kind)]),
  );
  const { store: fresh } = await first.opened();
  t.same(fresh.pastUnreadable, [], 'those that the product has written fit');
  for (const [kind, member, json] of MISSHAPEN) {
    state.prepare("UPDATE resources SET past_entry = json_set(past_entry, ?, json(?)) WHERE kind = ? AND name = 'b1'").run(`$.${member}`, json, kind);
    const { store } = await first.opened();
    t.same(store.pastUnreadable, [`${kind}/${SITE}/b1`], `${kind} ${member} ${json}`);
    const names = all(store).map((batch) => batchItem(batch, { store, clock } as Partial<BlockedWorld> as BlockedWorld).name);
    t.same(names, kind === 'Batch' ? ['b2'] : ['b1', 'b2']);
    await new References(store).everUsedBy({ kind: 'Unit', site: SITE, name: 'r1' });
    t.equal(phaseStates(store).isAnyPast(SITE, 'r1', 'heat', ['Complete']), false);
    state.prepare("UPDATE resources SET past_entry = ? WHERE kind = ? AND name = 'b1'").run(whole.get(kind), kind);
  }
});

t.test('whoever reads or brings back an element has its batch, which comes back first', async (t) => {
  const { store, clock, reconciler, opened } = await plant(t);
  await left(store);
  await looked(reconciler, clock);
  const release = await pastRows(store).borrow([ref('Phase', 'b1-heat')]);
  t.same([store.get(Batch, SITE, 'b1')?.status.phase, store.isPresent(ref('Batch'))], ['Complete', false], 'it is lent');
  release?.();
  const order: string[] = [];
  const takeBack = store.takeBack.bind(store);
  store.takeBack = (back) => {
    order.push(back.run.kind);
    return takeBack(back);
  };
  (await pastRows(store).bring([ref('Phase', 'b1-heat')]))?.();
  t.same(order, ['Batch', 'Procedure']);
  t.same([store.isPresent(ref('Batch')), store.isPresent(ref('Phase', 'b1-heat')), isPast(store)], [true, true, false]);
  t.same([...reconciler.keys()], [], 'it does not leave before its elements');
  await leaveElements(store);
  t.same(store.faults, []);
  t.same([await looked(reconciler, clock), isPast(store)], ['settled', true]);
  (await pastRows(store).bring([ref('Batch')]))?.();
  const again = await opened(); // as after the end of the power between the two
  t.same([again.store.isPresent(ref('Batch')), again.store.isPresent(ref('Phase', 'b1-heat'))], [true, false]);
  t.equal(again.store.pastEntry(Procedure, SITE, 'b1')?.name, 'b1');
  t.match([...again.reconciler.keys()], [key()], 'and it leaves again');
});

t.test('of two that bring a batch back at once each finds it as the other has left it', async (t) => {
  const { store, clock, reconciler } = await plant(t);
  await left(store);
  await looked(reconciler, clock);
  const past = pastRows(store);
  const describe = async (more: string): Promise<void> => {
    (await past.bring([ref('Batch')]))?.();
    const batch = store.get(Batch, SITE, 'b1');
    await store.write({ puts: [{ kind: Batch, ...key(), spec: { ...batch?.spec, description: `${batch?.spec.description ?? ''}${more}` } } as unknown as Put] });
  };
  await Promise.all([describe('a'), describe('b'), describe('c')]);
  t.equal([...(store.get(Batch, SITE, 'b1')?.spec.description ?? '')].sort().join(''), 'abc');
});

t.test('what was told of a batch leaves with it, is read as ever, and goes on with its numbers when it has come back', async (t) => {
  const { store, clock, reconciler, opened, queries } = await plant(t);
  await left(store);
  const stream = streamOf('events', SITE, 'b1');
  await store.write({ facts: [1, 2].map(() => ({ stream, body: (id: number) => ({ id }) })) });
  await looked(reconciler, clock);
  const told = [{ id: 1 }, { id: 2 }];
  t.same([isPast(store), store.lastFact(stream), await queries.facts(stream)], [true, 0, told]);
  t.throws(
    () => store.apply({ facts: [{ stream: streamOf('results', SITE, 'b1'), body: () => 1 }] }),
    { name: 'Refusal', context: { code: 'run_ended' } },
    'nothing more is told of it',
  );
  const again = (await opened()).store;
  t.equal(again.lastFact(stream), 0, 'nor does a start read how far it had come');
  (await pastRows(again).bring([ref('Batch')]))?.();
  t.equal(again.lastFact(stream), 2);
  await again.write({ facts: [{ stream, body: (id) => ({ id }) }] });
  t.same(await queries.facts(stream), [...told, { id: 3 }]);
  t.match(await queries.verifyRows(), { ok: true, problems: [] });
});

t.test('an execution by hand that has the name of a batch tells under it: the batch stays for as long as it is there', async (t) => {
  const { store, clock, reconciler } = await plant(t);
  await left(store);
  const root = {
    kind: Phase,
    site: SITE,
    name: 'b1',
    spec: { mode: '', batchRef: '', parentRef: null, templateRef: 'heat', unitRef: 'r1' },
    status: { state: 'Complete', adhoc: true },
  };
  await store.write({ puts: [root as unknown as Put] });
  t.same([await looked(reconciler, clock), isPast(store)], ['settled', false]);
  await store.write({ removes: [ref('Phase')] });
  t.same([await looked(reconciler, clock), isPast(store)], ['settled', true]);
});
