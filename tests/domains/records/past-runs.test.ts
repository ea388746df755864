/** When the run of a batch becomes past, and what keeps it (ADR 0037). */
import path from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { Batch } from '../../../src/domains/batches/kind.js';
import { CoordinationBlock, SyncBarrier } from '../../../src/domains/coordination/kind.js';
import { Phase, Procedure } from '../../../src/domains/procedures/kind.js';
import { ControlRecipe } from '../../../src/domains/recipes/kind.js';
import { BatchRecord } from '../../../src/domains/records/kind.js';
import { PastRunReconciler } from '../../../src/domains/records/past-runs.js';
import type { AuditDraft } from '../../../src/platform/store/audit-record.js';
import { pastRows } from '../../../src/platform/store/past-rows.js';
import { References } from '../../../src/platform/store/references.js';
import type { Store } from '../../../src/platform/store/store.js';
import { type Put } from '../../../src/platform/store/store.js';
import { takeAuditNumber } from '../../support/ledger-child.js';
import { pastStore } from '../../support/past-store.js';

const SITE = 'north';
/** Batches and records are as the tests need them, and not judged. */
const KINDS = [Procedure, Phase, CoordinationBlock, SyncBarrier];
const AFTER_MS = 600_000;

const plant = (t: Test) => pastStore(t, KINDS as never, (parts) => new PastRunReconciler({ ...parts, afterMs: AFTER_MS }));

/** What a batch that has ended has left, its record settled. */
async function ended(store: Store, name: string): Promise<void> {
  const of = { site: SITE, name };
  const element = { mode: '', batchRef: name, parentRef: null, templateRef: '' };
  await store.write({
    puts: [
      { ...of, kind: Batch, spec: { batchID: name }, status: { ...Batch.initialStatus({} as never), phase: 'Complete', recordRef: name, controlRecipe: name, procedure: name } },
      { ...of, kind: BatchRecord, spec: {}, status: { conditions: [{ type: 'PhaseHistorySettled', status: 'True' }] } },
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

const key = (name: string) => ({ site: SITE, name });
const isPast = (store: Store, name: string) => store.pastEntry(Procedure, SITE, name) !== undefined;

t.test('a run becomes past when its time is over and nobody holds it or walks', async (t) => {
  const { store, clock, reconciler } = await plant(t);
  await ended(store, 'b1');
  t.same([...reconciler.keys()], [key('b1')]);
  t.same(await reconciler.reconcile(key('b1')), { lookAgainMs: AFTER_MS });
  clock.advance(AFTER_MS);
  const past = pastRows(store);
  for (const release of [past.hold([{ kind: 'Phase', site: SITE, name: 'b1-heat' }]), past.walk()]) {
    t.match(await reconciler.reconcile(key('b1')), { lookAgainMs: Number });
    t.notOk(isPast(store, 'b1'));
    release();
  }
  t.equal(await reconciler.reconcile(key('b1')), 'settled');
  t.ok(isPast(store, 'b1'));
  t.same([store.list(Phase), store.list(Procedure), store.list(ControlRecipe)], [[], [], []]);
  t.ok(store.get(Batch, SITE, 'b1'));
});

t.test('copies of signals and barriers leave with their run, and whom they name is told of them as ever', async (t) => {
  const { store, clock, reconciler } = await plant(t);
  for (const name of ['b1', 'b2']) {
    await ended(store, name);
    await store.write({ puts: coordinationOf(name, store.get(Batch, SITE, name)?.metadata.uid ?? '') });
  }
  const references = new References(store);
  const ask = () =>
    Promise.all(
      [
        ['Unit', 'r1'],
        ['Unit', 'b1'],
        ['Batch', 'b1'],
        ['Phase', 'b1-heat'],
        ['Phase', 'b1-cool'],
      ].map(([kind = '', name = '']) => references.everUsedBy({ kind, site: SITE, name })),
    );
  const before = await ask();
  t.same(
    before.map(({ length }) => length),
    [7, 1, 4, 7, 1],
  );
  for (const name of ['b1', 'b2']) await reconciler.reconcile(key(name));
  clock.advance(AFTER_MS);
  for (const name of ['b1', 'b2']) t.equal(await reconciler.reconcile(key(name)), 'settled');
  const names = (kind: typeof CoordinationBlock | typeof SyncBarrier) =>
    (store.list<unknown, unknown>(kind) as readonly { readonly metadata: { readonly name: string } }[]).map(({ metadata }) => metadata.name);
  t.same(
    [names(CoordinationBlock), names(SyncBarrier)],
    [['b1-by-hand', 'b2-by-hand', 'cut-1234', 'ready'], []],
    'patterns, what a person wrote, and what is not found by the name of its run stay',
  );
  const after = await ask();
  t.same([after[0], after[1], after[4]], [before[0], before[1], before[4]], 'of what stands outside the entry of the run tells');
  const release = await pastRows(store).borrow([{ kind: 'Phase', site: SITE, name: 'b1-heat' }]);
  t.same(await ask(), before, 'of all else the run that is lent');
  release?.();
  (await pastRows(store).bring([{ kind: 'SyncBarrier', site: SITE, name: 'b1-meet' }]))?.();
  t.same([names(CoordinationBlock).includes('b1-ready'), names(SyncBarrier)], [true, ['b1-meet']]);
  t.same(await ask(), before);
});

/** Copies of a signal and of a barrier, one whose name was cut, one that a person wrote, and the pattern. */
function coordinationOf(batch: string, uid: string): Put[] {
  const at = (name: string, unitRef: string) => ({ kind: 'Phase', name, unitRef, waitFor: 'Start' });
  const spec = (batchRef: string, name: string, unitRef: string) => ({
    mode: 'Signal',
    batchRef,
    timeoutSeconds: 0,
    description: '',
    signal: { signalName: 'ready', producer: { kind: 'Phase', name, unitRef }, consumers: [at(name, '')], condition: '' },
  });
  const owned = { site: SITE, ownerReferences: [{ kind: 'Batch', name: batch, uid }] };
  const block = { kind: CoordinationBlock, spec: spec(batch, `${batch}-heat`, 'r1') };
  const barrier = { batchRef: batch, description: '', timeoutSeconds: 0, count: 0, participants: [at(`${batch}-heat`, 'r1'), at(`${batch}-cool`, batch)] };
  return [
    { ...owned, ...block, name: `${batch}-ready` },
    { ...owned, kind: SyncBarrier, name: `${batch}-meet`, spec: barrier },
    { ...block, site: SITE, name: `${batch}-by-hand` },
    ...(batch === 'b1'
      ? [
          { ...owned, ...block, name: 'cut-1234' },
          { kind: CoordinationBlock, site: SITE, name: 'ready', spec: spec('', 'heat', '') },
        ]
      : []),
  ] as unknown as Put[];
}

t.test('while nothing can be written a run stays, and nobody is told of it each time', async (t) => {
  const { store, ledger, clock, reconciler } = await plant(t);
  await ended(store, 'b1');
  await reconciler.reconcile(key('b1'));
  clock.advance(AFTER_MS);
  await takeAuditNumber(ledger, store.auditSequence + 1);
  const audit: AuditDraft = {
    site: '',
    actor: { accountId: '', displayName: '', actorType: 'component' },
    action: 'Update',
    category: '',
    target: { kind: '', name: '', site: '' },
    result: 'Success',
    correlationID: '',
  };
  await t.rejects(store.write({ audits: [audit] }), { name: 'Refusal', kind: 'unavailable' });
  t.match(await reconciler.reconcile(key('b1')), { lookAgainMs: Number });
  t.notOk(isPast(store, 'b1'));
});

t.test('a run with a row that cannot be read stays, whole and named', async (t) => {
  const { dir, clock, ...first } = await plant(t);
  await ended(first.store, 'b1');
  await ended(first.store, 'b2');
  const state = new Database(path.join(dir, 'state.db'));
  state.prepare("UPDATE resources SET body = '{' WHERE name = 'b1-heat'").run();
  state.close();
  const { store, reconciler } = await first.opened();
  t.same(
    store.faults.map(({ kind, name, kept }) => [kind, name, kept]),
    [['Phase', 'b1-heat', false]],
  );
  for (const name of ['b1', 'b2']) await reconciler.reconcile(key(name));
  clock.advance(AFTER_MS);
  for (const name of ['b1', 'b2']) t.equal(await reconciler.reconcile(key(name)), 'settled');
  t.same([isPast(store, 'b1'), isPast(store, 'b2')], [false, true]);
});

t.test('lists are not made anew for each run that becomes past', async (t) => {
  const { store, clock, reconciler } = await plant(t);
  for (const name of ['b1', 'b2', 'b3']) await ended(store, name);
  for (const name of ['b1', 'b2', 'b3']) await reconciler.reconcile(key(name));
  clock.advance(AFTER_MS);
  const before = [store.list(Phase), store.list(Phase, SITE)];
  const named = (resources: readonly { readonly metadata: { readonly name: string } }[]) => resources.map(({ metadata }) => metadata.name);
  await reconciler.reconcile(key('b2'));
  await reconciler.reconcile(key('b1'));
  await store.write({ puts: [{ kind: Phase, site: SITE, name: 'b3-heat', status: { state: 'Idle' } } as unknown as Put] });
  t.same([store.list(Phase), store.list(Phase, SITE)].map(named), [['b3-heat'], ['b3-heat']]);
  t.match(store.list(Phase), [{ status: { state: 'Idle' } }]);
  t.same(before.map(named), [
    ['b1-heat', 'b2-heat', 'b3-heat'],
    ['b1-heat', 'b2-heat', 'b3-heat'],
  ]);
  await ended(store, 'b0');
  t.same(named(store.list(Phase)), ['b0-heat', 'b3-heat']);
});
