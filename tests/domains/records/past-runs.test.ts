/** When the run of a batch becomes past, and what keeps it (ADR 0037). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { Batch } from '../../../src/domains/batches/kind.js';
import { Phase, Procedure } from '../../../src/domains/procedures/kind.js';
import { ControlRecipe } from '../../../src/domains/recipes/kind.js';
import { BatchRecord } from '../../../src/domains/records/kind.js';
import { PastRunReconciler } from '../../../src/domains/records/past-runs.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import type { AuditDraft } from '../../../src/platform/store/audit-record.js';
import { pastRows } from '../../../src/platform/store/past-rows.js';
import { type Put, Store } from '../../../src/platform/store/store.js';
import { takeAuditNumber } from '../../support/ledger-child.js';
import { TestClock } from '../../support/test-clock.js';

const SITE = 'north';
/** Batches and records are as the tests need them, and not judged. */
const KINDS = [Procedure, Phase];
const AFTER_MS = 600_000;

async function plant(t: Test) {
  const dir = mkdtempSync(path.join(tmpdir(), 'lineside-past-runs-'));
  const ledger = await openLedger(dir);
  t.teardown(async () => {
    await ledger.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const clock = new TestClock();
  const opened = async () => {
    const store = new Store(ledger, clock, undefined, KINDS);
    await store.open(0);
    return { store, reconciler: new PastRunReconciler({ store, clock, afterMs: AFTER_MS }) };
  };
  return { dir, ledger, clock, opened, ...(await opened()) };
}

/** What a batch that has ended has left, its record settled. */
async function ended(store: Store, name: string): Promise<void> {
  const of = { site: SITE, name };
  const element = { mode: '', batchRef: name, parentRef: null, templateRef: '' };
  await store.write({
    puts: [
      { ...of, kind: Batch, spec: { batchID: name }, status: { phase: 'Complete', recordRef: name, controlRecipe: name, procedure: name } },
      { ...of, kind: BatchRecord, spec: {}, status: { conditions: [{ type: 'PhaseHistorySettled', status: 'True' }] } },
      { ...of, kind: ControlRecipe, spec: {} },
      { ...of, kind: Procedure, spec: element, status: { state: 'Complete' } },
      { ...of, name: `${name}-heat`, kind: Phase, spec: { ...element, unitRef: 'r1', templateRef: 'heat' }, status: { state: 'Complete' } },
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
  t.match(store.faults, [{ kind: 'Phase', name: 'b1-heat', kept: false }]);
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
