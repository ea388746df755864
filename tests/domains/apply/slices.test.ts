/** A long apply is judged in slices, and writes what one turn would have found: whatever others do meanwhile. */
import t, { type Test } from 'tap';
import { applyManifests } from '../../../src/domains/apply/apply.js';
import type { ApplyActor, ApplyDeps } from '../../../src/domains/apply/context.js';
import { APPLIED_KINDS, STORED_KINDS } from '../../../src/domains/index.js';
import { Area, ProcessCell, Site, Unit } from '../../../src/domains/plant/kind.js';
import { MasterRecipe } from '../../../src/domains/recipes/kind.js';
import { Refusal } from '../../../src/platform/base/refusal.js';
import type { MonoMs } from '../../../src/platform/base/times.js';
import { type AuditDraft, component } from '../../../src/platform/store/audit-record.js';
import { freshStore } from '../../support/fresh-store.js';

const manifest = (kind: string, name: string, spec: object = {}) => ({ apiVersion: 'x/v1alpha1', kind, metadata: { name, namespace: 'site-north' }, spec });

/** Every look at the clock is the end of a slice, so that others have a turn between any two manifests. */
async function slowPlant(t: Test) {
  const { store, clock } = await freshStore(t, STORED_KINDS);
  let looks = 0;
  const slow = {
    wallMs: () => clock.wallMs(),
    monoMs: () => {
      looks += 1;
      return (looks * 10) as MonoMs;
    },
  };
  const deps = { store, clock: slow as unknown as ApplyDeps['clock'], kinds: APPLIED_KINDS };
  await store.write({
    puts: [
      { kind: Site, site: '', name: 'north', spec: { enterpriseName: '', location: '', description: '' } as never },
      { kind: Area, site: 'north', name: 'hall', spec: { description: '' } as never },
    ],
  });
  const actor = (more: Partial<ApplyActor> = {}): ApplyActor => ({
    displayName: 'anna',
    sites: null,
    may: () => true,
    audit: (entry): AuditDraft => ({
      site: 'north',
      actor: component('test'),
      action: 'Update',
      result: 'Success',
      category: 'apply',
      target: { kind: 'Manifest', name: '*', site: '' },
      correlationID: 'c',
      ...entry,
    }),
    ...more,
  });
  return { store, clock, deps, actor };
}

/** So many turns of others. */
async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await new Promise((resolve) => setImmediate(resolve));
}

const cells = Array.from({ length: 30 }, (_, n) => manifest('ProcessCell', `cell-${String(n).padStart(2, '0')}`, { areaName: 'hall' }));
const told = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => value,
    (fault: unknown) => fault,
  );

t.test('others have their turn while a long apply is judged, and see nothing of it', async (t) => {
  const { store, deps, actor } = await slowPlant(t);
  let seen = 0;
  let isDone = false;
  const applied = applyManifests(cells, actor(), deps).finally(() => {
    isDone = true;
  });
  for (let turn = 0; !isDone; turn += 1) {
    await turns(1);
    if (!isDone && store.list(ProcessCell, 'north').length === 0) seen += 1;
  }
  t.ok(seen >= cells.length, `${seen} turns`);
  t.equal((await applied).length, cells.length);
  t.equal(store.list(ProcessCell, 'north').length, cells.length);
});

t.test('a wall clock that is set meanwhile changes nothing of an apply (D-C-07)', async (t) => {
  for (const stepMs of [86_400_000, -86_400_000]) {
    const { store, clock, deps, actor } = await slowPlant(t);
    const applying = applyManifests(cells, actor(), deps);
    for (let n = 0; n < 10; n += 1) {
      await turns(3);
      clock.jump(stepMs);
    }
    const operations = (await applying).map(({ operation }) => operation);
    t.strictSame([...new Set(operations)], ['created']);
    t.equal(store.list(ProcessCell, 'north').length, cells.length);
    t.strictSame([...new Set((await applyManifests(cells, actor(), deps)).map(({ operation }) => operation))], ['unchanged']);
  }
});

t.test('what a manifest names and is removed meanwhile keeps all of them out', async (t) => {
  const { store, deps, actor } = await slowPlant(t);
  const applying = told(applyManifests(cells, actor(), deps));
  await turns(40);
  await store.write({ removes: [{ kind: 'Area', site: 'north', name: 'hall' }] });
  const fault = await applying;
  t.ok(fault instanceof Refusal);
  t.match((fault as Refusal).context, { code: 'unknown_reference', errors: { length: cells.length } });
  t.equal(store.list(ProcessCell, 'north').length, 0);
});

t.test('what is written meanwhile is compared with what is there then', async (t) => {
  const { store, deps, actor } = await slowPlant(t);
  const units = [...cells.slice(0, 1), ...Array.from({ length: 20 }, (_, n) => manifest('Unit', `u${n}`, { processCellName: 'cell-00' }))];
  await applyManifests(units, actor(), deps);
  const before = store.get(Unit, 'north', 'u3');
  const applying = applyManifests(units, actor(), deps);
  await turns(30);
  await store.write({ puts: [{ kind: Unit, site: 'north', name: 'u3', spec: { ...before?.spec, description: 'of somebody else' } as never }] });
  const operations = (await applying).map(({ operation }) => operation);
  t.equal(operations.filter((operation) => operation === 'configured').length, 1, 'the edit of the other is taken back, and told');
  t.equal(store.get(Unit, 'north', 'u3')?.spec.description, '');
});

t.test('APPLY-10: of two at once that bring the same version of a product one is taken', async (t) => {
  const { store, deps, actor } = await slowPlant(t);
  const recipe = (name: string) => manifest('MasterRecipe', name, { productID: 'PASTE', version: '1.0.0' });
  const outcomes = await Promise.all(['a', 'b'].map((name) => told(applyManifests([...cells, recipe(name)], actor(), deps))));
  t.equal(outcomes.filter((outcome) => outcome instanceof Refusal).length, 1);
  t.match(
    outcomes.find((outcome) => outcome instanceof Refusal),
    { context: { code: 'duplicate_version' } },
  );
  t.equal(store.list(MasterRecipe, 'north').length, 1);
});

t.test('who is dismissed while his manifests are judged writes nothing', async (t) => {
  const { store, deps, actor } = await slowPlant(t);
  const rights = { may: true };
  const applying = told(applyManifests(cells, actor({ may: () => rights.may }), deps));
  await turns(20);
  rights.may = false;
  t.match(await applying, { context: { code: 'action_missing' } });
  const gone = told(
    applyManifests(
      cells,
      actor({
        judgeAgain: () => {
          throw new Refusal('unauthenticated', 'the session has ended', { code: 'session_ended' });
        },
      }),
      deps,
    ),
  );
  t.match(await gone, { context: { code: 'session_ended' } });
  t.equal(store.list(ProcessCell, 'north').length, 0);
});

t.test('a plant that changes faster than it can be judged is not held up: nothing is written, and a dry run is told as it was judged', async (t) => {
  const { store, deps, actor } = await slowPlant(t);
  const many = Array.from({ length: 60 }, (_, n) => manifest('ProcessCell', `c-${n}`, { areaName: 'hall' }));
  let at = 0;
  const changes = { go: true };
  const changing = (async () => {
    while (changes.go) {
      at += 1;
      store.apply({ puts: [{ kind: Area, site: 'north', name: 'hall', spec: { description: String(at) } as never }] });
      await turns(1);
    }
  })();
  t.match(await told(applyManifests(many, actor(), deps)), { context: { code: 'plant_changing' } });
  t.equal((await applyManifests(many, actor(), deps, { dryRun: true })).length, many.length);
  changes.go = false;
  await changing;
  t.equal(store.list(ProcessCell, 'north').length, 0);
  t.equal((await applyManifests(many, actor(), deps)).length, many.length);
});
