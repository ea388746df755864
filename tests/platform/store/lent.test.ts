/** Who reads a past run is lent it: found by name as ever, in no list, written by nobody, and nothing on disk has changed (ADR 0037). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import * as v from 'valibot';
import { type Clock, systemClock } from '../../../src/platform/base/clock.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import { openQueries } from '../../../src/platform/ledger/queries.js';
import type { AuditDraft } from '../../../src/platform/store/audit-record.js';
import type { Kind } from '../../../src/platform/store/kind.js';
import { PastRows } from '../../../src/platform/store/past-rows.js';
import type { Resource } from '../../../src/platform/store/resource.js';
import { type Past, Store } from '../../../src/platform/store/store.js';
import { takeAuditNumber } from '../../support/ledger-child.js';
import { PLAIN, Run, Step } from '../../support/past-store.js';
import { TestClock } from '../../support/test-clock.js';

const SITE = 'north';
/** Is worked with whatever has become of its row, as elements are. */
const Stage: Kind<{ of: string; steps: readonly string[] }, { state: string; conditions: readonly string[] }> = {
  ...PLAIN,
  kind: 'Stage',
  spec: v.object({ of: v.string(), steps: v.array(v.string()) }),
  initialStatus: () => ({ state: 'Idle', conditions: [] }),
  runs: true,
  pastWith: { kind: 'Run', named: 'below' },
};

async function plant(t: Test, clock: Clock = systemClock) {
  const dir = mkdtempSync(path.join(tmpdir(), 'lineside-lent-'));
  const ledger = await openLedger(dir);
  const store = new Store(ledger, clock, undefined, [Run, Step, Stage, Plan]);
  const queries = openQueries(dir, () => store.recorded);
  await store.open(0);
  t.teardown(async () => {
    await queries.close();
    await ledger.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return { dir, ledger, store, queries, past: new PastRows(store, queries) };
}

async function ran(store: Store, name: string, steps = ['cool', 'heat', 'stir']): Promise<Past> {
  await store.write({
    puts: [{ kind: Run, site: SITE, name, spec: { order: `o-${name}` } }, ...steps.map((step) => ({ kind: Step, site: SITE, name: `${name}-${step}`, spec: { of: name } }))],
  });
  const run = { kind: 'Run', site: SITE, name };
  return { run, members: [run, ...steps.map((step) => ({ kind: 'Step', site: SITE, name: `${name}-${step}` }))], streams: [] };
}

/** Has the name of its run, without an entry of its own. */
const Plan: Kind<object, object> = { ...PLAIN, kind: 'Plan', spec: v.object({}), initialStatus: () => ({}), pastWith: { kind: 'Run', named: 'alike' } };

const step = (name: string) => ({ kind: 'Step', site: SITE, name });
const names = (resources: readonly Resource<unknown, unknown>[]) => resources.map(({ metadata }) => metadata.name);

t.test('a past run is found by the name of each of its members while it is lent, and only so', async (t) => {
  const { store, past } = await plant(t);
  const [a, b] = [await ran(store, 'a'), await ran(store, 'b')];
  const heat = store.get(Step, SITE, 'a-heat');
  t.equal(past.borrow([step('a-heat')]), undefined, 'nothing is waited for while it is present');
  await store.write({ pasts: [a, b] });
  const heard: string[] = [];
  store.watch(Step, ({ type }) => heard.push(type));
  const lent: string[] = [];
  store.watchLent(Step, (resource, isThere) => lent.push(`${resource.metadata.name} ${isThere}`));
  t.equal(store.get(Step, SITE, 'a-heat'), undefined);
  const release = await past.borrow([step('a-heat'), step('a-heat')]);
  t.same(store.get(Step, SITE, 'a-heat'), heat, 'as it was');
  t.ok(store.get(Run, SITE, 'a'), 'with all that left with it');
  t.equal(store.get(Step, SITE, 'b-heat'), undefined, 'and nothing else');
  t.same([store.list(Step), store.list(Run), heard], [[], [], []], 'it is in no list, and nobody hears of a change');
  t.same(lent, ['a-cool true', 'a-heat true', 'a-stir true']);
  t.same(names(store.lentOf(Step)), ['a-cool', 'a-heat', 'a-stir']);
  t.ok(past.isHeld(a.run));
  release?.();
  release?.();
  t.notOk(past.isHeld(a.run));
  t.equal(past.borrow([step('c-heat')]), undefined, 'a name that no past run can have is nowhere, without asking the disk');
  t.equal(past.borrow([{ ...step('a-heat'), site: 'south' }]), undefined);
  (await past.borrow([step('a-boil')]))?.();
  t.equal(store.get(Step, SITE, 'a-boil'), undefined, 'one that begins like a run is asked for');
});

t.test('nothing of a run that is lent is written or removed, and it comes back to whoever writes', async (t) => {
  const { store, past, queries } = await plant(t);
  const a = await ran(store, 'a');
  const { resourceVersion } = store;
  await store.write({ pasts: [a] });
  const release = await past.borrow([step('a-heat')]);
  const refused = { name: 'Refusal', kind: 'conflict', context: { code: 'run_ended', kind: 'Step', name: 'a-heat' } };
  t.throws(() => store.apply({ puts: [{ kind: Step, site: SITE, name: 'a-heat', status: { state: 'Running' } }] }), refused);
  t.throws(() => store.apply({ removes: [step('a-heat')] }), refused);
  t.throws(() => store.apply({ removes: [a.run] }), { name: 'Refusal', context: { code: 'run_ended' } }, 'by its entry too');
  t.equal(store.resourceVersion, resourceVersion);
  const brought = await past.bring([step('a-heat')]);
  t.same([names(store.list(Step)), store.lentOf(Step)], [['a-cool', 'a-heat', 'a-stir'], []], 'it is present, and lent no more');
  release?.();
  t.ok(past.isHeld(a.run), 'whoever brought it back works with it');
  await store.write({ puts: [{ kind: Step, site: SITE, name: 'a-heat', status: { state: 'Running' } }] });
  brought?.();
  await store.write({ removes: [step('a-heat')] });
  t.match(await queries.verifyRows(), { ok: true, resources: 3 });
});

t.test('who reads what is lent goes on where somebody else cannot bring it back', async (t) => {
  const { store, past, ledger } = await plant(t);
  const a = await ran(store, 'a');
  await store.write({ pasts: [a] });
  const release = await past.borrow([step('a-heat')]);
  const heat = store.get(Step, SITE, 'a-heat');
  const { commit } = ledger;
  ledger.commit = () => Promise.reject(new Error('the disk is full'));
  await t.rejects(async () => void (await past.bring([step('a-heat')])), { name: 'Refusal', context: { code: 'storage_unavailable' } });
  t.same(store.get(Step, SITE, 'a-heat'), heat, 'it is read as it was');
  t.same(store.list(Step), [], 'and is past');
  ledger.commit = commit;
  t.ok(past.isHeld(a.run));
  release?.();
  t.notOk(past.isHeld(a.run));
});

t.test('a run whose name begins like that of another is told from it', async (t) => {
  const { store, past } = await plant(t);
  const [a, inner] = [await ran(store, 'a'), await ran(store, 'a-heat-2')];
  await store.write({ pasts: [a, inner] });
  (await past.borrow([step('a-heat-2-stir')]))?.();
  t.same(store.get(Step, SITE, 'a-heat-2-stir')?.spec, { of: 'a-heat-2' });
  t.same([past.count(Step, SITE), past.count(Run, SITE), past.count(Step, 'south')], [6, 2, 0]);
});

t.test('what is lent is let go of when others have been asked for, but not from under a reader', async (t) => {
  const { store, past } = await plant(t);
  const runs: Past[] = [];
  for (let n = 0; n < 40; n += 1) runs.push(await ran(store, `r${n}`, ['stir']));
  await store.write({ pasts: runs });
  const held = await past.borrow([step('r0-stir')]);
  for (let n = 1; n < 40; n += 1) (await past.borrow([step(`r${n}-stir`)]))?.();
  t.ok(store.get(Step, SITE, 'r0-stir'), 'it is held');
  t.equal(store.get(Step, SITE, 'r1-stir'), undefined);
  t.equal(store.lentOf(Step).length, 32);
  held?.();
  (await past.borrow([step('r1-stir')]))?.();
  t.equal(store.get(Step, SITE, 'r0-stir'), undefined);
});

t.test('one damaged row of a run keeps the others from nobody: it is left out, and named when the run is back', async (t) => {
  const { dir, store, past, queries } = await plant(t);
  const a = await ran(store, 'a');
  await store.write({ pasts: [a] });
  const state = new Database(path.join(dir, 'state.db'));
  state.prepare("UPDATE resources SET body = '{' WHERE name = 'a-heat'").run();
  state.close();
  const pages: string[] = [];
  for await (const page of past.each(Step, SITE)) pages.push(...names(page));
  t.same(pages, ['a-cool', 'a-stir']);
  (await past.borrow([step('a-heat')]))?.();
  t.equal(store.get(Step, SITE, 'a-heat'), undefined);
  t.ok(store.get(Step, SITE, 'a-stir'));
  t.equal(await past.bringBack(a.run), true);
  t.same(names(store.list(Step)), ['a-cool', 'a-stir']);
  t.match(store.faults, [{ kind: 'Step', name: 'a-heat', kept: false }]);
  t.ok(store.isQuarantined(step('a-heat')), 'as after a start');
  t.match(await queries.verifyRows(), { ok: false });
});

t.test('a row of what runs that has lost its shape is read as it would be behind a start: with what its kind begins with', async (t) => {
  const { dir, store, past } = await plant(t);
  const run = { kind: 'Run', site: SITE, name: 'a' };
  const stages = ['a-cool', 'a-heat', 'a-stir'].map((name) => ({ kind: 'Stage', site: SITE, name }));
  await store.write({ puts: [{ kind: Run, site: SITE, name: 'a', spec: { order: '1' } }, ...stages.map((stage) => ({ ...stage, kind: Stage, spec: { of: 'a', steps: ['x'] } }))] });
  await store.write({ pasts: [{ run, members: [run, ...stages], streams: [] }] });
  const state = new Database(path.join(dir, 'state.db'));
  state.prepare("UPDATE resources SET body = json_set(body, '$.status.conditions', json('{}')) WHERE name = 'a-cool'").run();
  state.prepare("UPDATE resources SET body = json_set(body, '$.spec.steps', 7) WHERE name = 'a-heat'").run();
  state.close();
  const read = [{ conditions: [] }, { steps: [] }, { steps: ['x'], conditions: [] }];
  const pages: object[] = [];
  for await (const page of past.each(Stage, SITE)) pages.push(...page.map(({ spec, status }) => ({ ...spec, ...status })));
  t.match(pages, read);
  const release = await past.borrow([stages[0] as (typeof stages)[0]]);
  t.match(
    stages.map(({ name }) => ({ ...store.get(Stage, SITE, name)?.spec, ...store.get(Stage, SITE, name)?.status })),
    read,
  );
  release?.();
  await past.bringBack(run);
  t.match(
    store.list(Stage).map(({ spec, status }) => ({ ...spec, ...status })),
    read,
    'present again it is read so too',
  );
  t.match(store.faults, [{ name: 'a-cool' }, { name: 'a-heat' }]);
});

t.test('what is present waits for nothing of the past, also where its name begins like that of a past run', async (t) => {
  const { store, past } = await plant(t);
  const a = await ran(store, 'a');
  await store.write({
    puts: [
      { kind: Step, site: SITE, name: 'a-drain', spec: { of: '' } },
      { kind: Run, site: SITE, name: 'a-2', spec: { order: '2' } },
    ],
  });
  await store.write({ pasts: [a] });
  t.equal(past.borrow([step('a-drain')]), undefined);
  t.equal(past.bring([step('a-drain')]), undefined, 'nor does it bring anything back');
  t.equal(past.borrow([{ kind: 'Run', site: SITE, name: 'a-2' }]), undefined);
  t.ok(await past.borrow([step('a-rinse')]), 'what is not there may be past');
});

t.test('a run that is read stays readable where it cannot be brought back', async (t) => {
  const clock = new TestClock();
  const { ledger, store, past } = await plant(t, clock);
  const a = await ran(store, 'a');
  await store.write({ pasts: [a] });
  const release = await past.borrow([step('a-heat')]);
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
  await t.rejects(past.bring([step('a-heat')]) as Promise<unknown>, { name: 'Refusal', context: { code: 'storage_unavailable' } });
  t.ok(store.get(Step, SITE, 'a-heat'), 'whoever reads it goes on');
  release?.();
});

t.test('a run is held by its name before there is anything to lend, and by the names of its members', async (t) => {
  const { store, past } = await plant(t);
  const a = await ran(store, 'a');
  const holds = [past.hold([step('a-heat')]), past.hold([{ kind: 'Plan', site: SITE, name: 'a' }])];
  t.ok(past.isHeld(a.run));
  t.notOk(past.isHeld({ ...a.run, site: 'south' }));
  t.same(
    holds.map((release) => [release(), past.isHeld(a.run)]),
    [
      [undefined, true],
      [undefined, false],
    ],
  );
  holds[0]?.();
  const release = past.hold([a.run]);
  await store.write({ pasts: [a] });
  t.ok(past.isHeld(a.run));
  release();
  const later = past.hold([a.run]);
  t.ok(past.isHeld(a.run), 'the past one too');
  later();
  const long = `a${'-a'.repeat(500)}`;
  const ofLong = past.hold([step(long)]);
  t.notOk(past.isHeld(a.run), 'what is longer than a name is of no run, and none of its beginnings is looked for');
  ofLong();
});

t.test('what has the name of a past run is not removed as what is not there', async (t) => {
  const { store, past } = await plant(t);
  const a = await ran(store, 'a');
  const plan = { kind: 'Plan', site: SITE, name: 'a' };
  await store.write({ puts: [{ ...plan, kind: Plan, spec: {} }] });
  await store.write({ pasts: [{ ...a, members: [...a.members, plan] }] });
  t.throws(() => store.apply({ removes: [plan] }), { name: 'Refusal', kind: 'conflict', context: { code: 'run_ended', kind: 'Plan', name: 'a' } });
  store.apply({ removes: [{ ...plan, name: 'b' }] });
  t.equal(await past.bringBack(a.run), true);
  await store.write({ removes: [plan] });
  t.equal(past.returns, 1);
});

t.test('a thread that ended is no fault of who asked: he is told to ask again', async (t) => {
  const { store } = await plant(t);
  const a = await ran(store, 'a');
  await store.write({ pasts: [a] });
  const ended = () => Promise.reject(new Error('the query thread stopped'));
  const past = new PastRows(store, { pastRun: ended, pastPage: ended, pastTexts: ended });
  const refused = { name: 'Refusal', kind: 'unavailable', context: { code: 'no_answer' } };
  await t.rejects(past.borrow([a.run]) as Promise<unknown>, refused);
  await t.rejects(past.bringBack(a.run), refused);
  await t.rejects(past.each(Step, SITE).next(), refused);
  t.notOk(past.isHeld(a.run));
});

t.test('what was lent is there in the turn of whoever has waited for it, whatever others are lent meanwhile', async (t) => {
  const { store, past } = await plant(t);
  const runs: Past[] = [];
  for (let n = 0; n < 40; n += 1) runs.push(await ran(store, `r${n}`, ['stir']));
  await store.write({ pasts: runs });
  await past.lend(runs.map(({ run }) => run));
  t.equal(runs.filter(({ run }) => store.get(Run, SITE, run.name)).length, 40);
});
