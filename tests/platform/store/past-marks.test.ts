/** A mark of the past that somebody has set, moved or taken away on a stopped box is not believed: what it hides is present, and told (ADR 0035). */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import * as v from 'valibot';
import { systemClock } from '../../../src/platform/base/clock.js';
import { openDeviceKeys } from '../../../src/platform/ledger/keys.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import { PastMarks } from '../../../src/platform/ledger/past-marks.js';
import { openQueries } from '../../../src/platform/ledger/queries.js';
import { MAC_BYTES, RowSeals } from '../../../src/platform/ledger/row-seals.js';
import type { Kind } from '../../../src/platform/store/kind.js';
import { PastRows } from '../../../src/platform/store/past-rows.js';
import { type Past, Store } from '../../../src/platform/store/store.js';
import { PLAIN, Run, Step } from '../../support/past-store.js';

/** Runs of this kind have the names of others. */
const Job: Kind<object, object> = { ...PLAIN, kind: 'Job', spec: v.object({}), initialStatus: () => ({}), pastWith: { kind: 'Job', named: 'alike' }, pastIndex: () => ({}) };

const SITE = 'north';
const STEPS = ['heat', 'stir'];
const event = (name: string) => ({ stream: `events/${SITE}/${name}`, body: (id: number) => ({ id }) });

async function opened(t: Test, dir: string) {
  const ledger = await openLedger(dir);
  const store = new Store(ledger, systemClock, undefined, [Run, Step, Job]);
  const queries = openQueries(dir, () => store.recorded);
  await store.open(0);
  const past = new PastRows(store, queries);
  const verified = async () => (await queries.verifyRows()).problems.map(({ kind, name, problem }) => `${kind} ${name}: ${problem}`);
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await queries.close();
    await ledger.close();
  };
  t.teardown(close);
  return { ledger, store, past, verified, close };
}

async function ran(store: Store, name: string): Promise<Past> {
  store.apply({ puts: [{ kind: Run, site: SITE, name, spec: { order: `o-${name}` } }] });
  store.apply({ puts: STEPS.map((step) => ({ kind: Step, site: SITE, name: `${name}-${step}`, spec: { of: name } })) });
  for (let count = 0; count < 3; count += 1) await store.write({ facts: [event(name)] });
  return {
    run: { kind: 'Run', site: SITE, name },
    members: [{ kind: 'Run', site: SITE, name }, ...STEPS.map((step) => ({ kind: 'Step', site: SITE, name: `${name}-${step}` }))],
    streams: [`events/${SITE}/${name}`],
  };
}

const accepting = (store: Store): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => void (store.accepting && resolve());
    store.watchReload(look);
    look();
  });

/** Runs `old` and `older` are past, `now` and `next` are at work, and a job `now` is past. */
const clean = mkdtempSync(path.join(tmpdir(), 'lineside-marks-'));
t.teardown(() => rmSync(clean, { recursive: true, force: true }));
t.before(async () => {
  const { store, close } = await opened(t, clean);
  for (const name of ['now', 'next']) await ran(store, name);
  for (const name of ['old', 'older']) await store.write({ pasts: [await ran(store, name)] });
  const job = { kind: Job.kind, site: SITE, name: 'now' };
  await store.write({ puts: [{ ...job, kind: Job, spec: {} }] });
  await store.write({ pasts: [{ run: job, members: [job], streams: [] }] });
  await close();
});

async function edited(t: Test, ...edits: readonly string[]) {
  const dir = mkdtempSync(path.join(tmpdir(), 'lineside-marks-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  cpSync(clean, dir, { recursive: true });
  const database = new Database(path.join(dir, 'state.db'));
  database.function('xor', (a: unknown, b: unknown) => Buffer.from((a as Buffer).map((byte, at) => byte ^ ((b as Buffer)[at] ?? 0))));
  for (const edit of edits) if (database.prepare(edit).run().changes === 0 && !edit.startsWith('DROP')) throw new Error(`nothing is edited by ${edit}`);
  database.close();
  return { dir, ...(await opened(t, dir)) };
}

const mark = (past: string, kind: string, name: string): string => `UPDATE resources SET past = '${past}' WHERE kind = '${kind}' AND name = '${name}'`;
const names = (store: Store): string[] => [...store.list(Run), ...store.list(Step)].map(({ metadata }) => metadata.name);
const PRESENT = ['next', 'now', 'next-heat', 'next-stir', 'now-heat', 'now-stir'];

t.test('what nobody has edited is past or present as it was, at every start, and nothing is told', async (t) => {
  const { dir, store, verified, close } = await edited(t);
  t.same([names(store), store.faults, await verified()], [PRESENT, [], []]);
  await close();
  const again = await opened(t, dir);
  t.same([names(again.store), again.store.faults, await again.verified()], [PRESENT, [], []]);
});

const HIDDEN: readonly (readonly [what: string, wanted: readonly string[], edits: readonly string[]])[] = [
  ['a step at work with a mark that names nothing', ['now-heat'], [mark('zz', 'Step', 'now-heat')]],
  ['a step at work with a mark that is no text', ['now-heat'], ["UPDATE resources SET past = x'01' WHERE kind = 'Step' AND name = 'now-heat'"]],
  ['a step at work with the mark of its own run', ['now-heat'], [mark('Run/north/now', 'Step', 'now-heat')]],
  ['a step at work with the mark of a run that is past', ['now-heat'], [mark('Run/north/old', 'Step', 'now-heat')]],
  ['all steps of a run at work', ['now-heat', 'now-stir'], ["UPDATE resources SET past = 'Run/north/now' WHERE kind = 'Step' AND name LIKE 'now-%'"]],
  ['a run at work with an entry that somebody made', ['now'], [`UPDATE resources SET past = 'Run/north/now', past_entry = '{"order":"x"}' WHERE kind = 'Run' AND name = 'now'`]],
  [
    'the same and its steps',
    ['now', 'now-heat', 'now-stir'],
    [
      `UPDATE resources SET past = 'Run/north/now', past_entry = '{"order":"x"}' WHERE kind = 'Run' AND name = 'now'`,
      "UPDATE resources SET past = 'Run/north/now' WHERE kind = 'Step' AND name LIKE 'now-%'",
    ],
  ],
  [
    'one to the past and one from the past, so that there are as many as before',
    ['now-heat', 'old-heat'],
    [mark('Run/north/older', 'Step', 'now-heat'), mark('', 'Step', 'old-heat')],
  ],
  ['a step at work with the mark of a past run of another kind that is named as its own', ['now-heat'], [mark('Job/north/now', 'Step', 'now-heat')]],
  [
    'a step at work with a mark, and the seal of another row with what is missing without it',
    ['now-heat'],
    ["UPDATE resources SET mac = xor(mac, (SELECT mac FROM resources WHERE name = 'now-heat')) WHERE kind = 'Run' AND name = 'next'", mark('Job/north/now', 'Step', 'now-heat')],
  ],
  ['a mark without what was recorded', ['now-heat'], ["UPDATE resources SET past = 'Run/north/old', mac = NULL WHERE kind = 'Step' AND name = 'now-heat'"]],
];

for (const [what, wanted, edits] of HIDDEN) {
  t.test(`what is marked as past and is not is present behind a start, told by its name, and worked with: ${what}`, async (t) => {
    const { dir, store, verified, close } = await edited(t, ...edits);
    const all = [...new Set([...PRESENT, ...wanted])].sort();
    t.same(names(store).sort(), all);
    const told = wanted.filter((name) => name.startsWith('now'));
    t.same(
      store.faults.filter(({ fault }) => fault.includes('marked as past')).map(({ name, kept }) => [name, kept]),
      told.map((name) => [name, true]),
    );
    t.match((await verified()).join('\n'), new RegExp(`${told.at(-1)} of site north was marked as past`));
    for (const name of ['now-heat', 'now-stir']) await store.write({ puts: [{ kind: Step, site: SITE, name, status: { state: 'Held' } }] });
    await store.write({ facts: [event('now')] });
    await close();
    const again = await opened(t, dir);
    t.same(names(again.store).sort(), all, 'behind another start too');
    t.same(again.store.get(Step, SITE, 'now-heat')?.status, { state: 'Held' });
    t.match((await again.verified()).join('\n'), new RegExp(`${told.at(-1)} of site north was marked as past`), 'and it stays told');
  });
}

const STREAMS = [
  ['of a run at work, with its own mark', 'now', "UPDATE streams SET past = 'Run/north/now' WHERE stream = 'events/north/now'"],
  ['of a run at work, with that of a past run', 'now', "UPDATE streams SET past = 'Run/north/old' WHERE stream = 'events/north/now'"],
  ['of a run at work, with that of a past run of another kind that is named as its own', 'now', "UPDATE streams SET past = 'Job/north/now' WHERE stream = 'events/north/now'"],
  [
    'the same, and another stream has what is missing without it',
    'now',
    "UPDATE streams SET past = 'Job/north/now' WHERE stream = 'events/north/now'",
    "UPDATE streams SET mac = xor(mac, (SELECT mac FROM streams WHERE stream = 'events/north/now')) WHERE stream = 'events/north/next'",
  ],
  ['of a run at work, with none', 'now', "UPDATE streams SET past = 'zz' WHERE stream = 'events/north/now'"],
  ['of a past run, with none', 'old', "UPDATE streams SET past = 'zz' WHERE stream = 'events/north/old'"],
  ['of a past run, with that of another one', 'old', "UPDATE streams SET past = 'Run/north/older' WHERE stream = 'events/north/old'"],
] as const;

for (const [what, name, ...edits] of STREAMS) {
  t.test(`a stream with a wrong mark keeps nobody from writing: ${what}`, async (t) => {
    const { dir, store, past, verified, close } = await edited(t, ...edits);
    await past.bringBack({ kind: 'Run', site: SITE, name });
    const tell = async (): Promise<unknown> => (await store.write({ facts: [event(name)] })).factSequences;
    const first = await tell().catch(() => undefined); // where only this tells that the mark is wrong
    await accepting(store);
    t.same([first ?? (await tell()), await tell()], [[4], [5]], 'its numbers go on');
    await store.write({ puts: [{ kind: Run, site: SITE, name: 'now', spec: { order: 'written' } }] });
    t.match((await verified()).join('\n'), new RegExp(`the stream events/north/${name} was marked as past`));
    await close();
    const again = await opened(t, dir);
    t.same((await again.store.write({ facts: [event(name)] })).factSequences, [6], 'behind a start too');
  });
}

const ENTRIES = [
  ['its mark was taken away and its entry stayed', mark('', 'Run', 'old')],
  ['its entry was taken away and its mark stayed', "UPDATE resources SET past_entry = '' WHERE kind = 'Run' AND name = 'old'"],
  ['its mark names nothing', mark('gar/bage', 'Run', 'old')],
  ['its mark is no text', "UPDATE resources SET past = x'01' WHERE kind = 'Run' AND name = 'old'"],
  ['its mark names another run', mark('Run/north/older', 'Run', 'old')],
] as const;

for (const [what, edit] of ENTRIES) {
  t.test(`a past run is present behind a start, whole and once, where ${what}`, async (t) => {
    const { dir, store, past, verified, close } = await edited(t, edit);
    t.same(names(store).sort(), [...PRESENT, 'old', 'old-heat', 'old-stir'].sort());
    t.same(
      store.pastIndex(Run).map(({ name }) => name),
      ['older'],
    );
    t.equal(
      store.faults.some(({ name, fault }) => name === 'old' && fault.includes('past')),
      true,
    );
    t.match((await verified()).join('\n'), /Run old of site north was marked as past/);
    t.same((await store.write({ facts: [event('old')] })).factSequences, [4]);
    await close();
    const again = await opened(t, dir);
    t.equal(await again.past.bringBack({ kind: 'Run', site: SITE, name: 'older' }), true);
    t.same(names(again.store).length, PRESENT.length + 6);
    t.equal(past.isWalked, false);
  });
}

const NO_MACS = [
  ['a row that is present', "UPDATE resources SET mac = 'x' WHERE name = 'now'"],
  ['all that is past', "UPDATE resources SET mac = 5 WHERE past <> ''"],
  ['all streams', 'UPDATE streams SET mac = 5'],
  ['a step at work with a mark', "UPDATE resources SET past = 'Run/north/old', mac = 'x' WHERE name = 'now-heat'"],
] as const;

for (const [what, edit] of NO_MACS) {
  t.test(`a seal of a row that is no seal keeps nobody from writing, and is told: ${what}`, async (t) => {
    const { store, past, verified } = await edited(t, edit);
    await past.bringBack({ kind: 'Run', site: SITE, name: 'old' });
    await store.write({ puts: ['now', 'old'].map((name) => ({ kind: Run, site: SITE, name, spec: { order: 'written' } })), facts: [event('now'), event('old')] });
    await store.write({ pasts: [await ran(store, 'new')] });
    t.not((await verified()).length, 0);
  });
}

t.test('a past row that was damaged is past: who writes it is told so once, by no doubt of its mark, and keeps nobody from writing', async (t) => {
  const { store, verified } = await edited(t, "UPDATE resources SET body = replace(body, 'Idle', 'Idly') WHERE kind = 'Step' AND name = 'old-heat'");
  const again = { puts: [{ kind: Step, site: SITE, name: 'old-heat', spec: { of: 'old' } }] };
  await t.rejects(store.write(again), { name: 'Refusal', kind: 'unavailable' });
  await accepting(store);
  t.throws(() => store.apply(again), { name: 'Refusal', context: { code: 'run_ended' } });
  await store.write({ puts: [{ kind: Run, site: SITE, name: 'now', spec: { order: 'written' } }] });
  t.same(await verified(), ['Step old-heat: it is not what was recorded of it']);
});

t.test('a stream that was met with a wrong mark is looked at by the load behind one that could not take the mark away', async (t) => {
  const { dir, ledger, store } = await edited(t, "UPDATE streams SET past = 'zz' WHERE stream = 'events/north/old'");
  const told = { puts: [], removes: [], audits: [], nonces: [], facts: [{ stream: 'events/north/old', sequence: 4, body: {} }] };
  t.equal(store.accepting, true);
  const database = new Database(path.join(dir, 'state.db'));
  t.teardown(() => database.close());
  database.exec("CREATE TRIGGER refusing BEFORE UPDATE OF past ON streams BEGIN SELECT RAISE(ABORT, 'the disk is full'); END");
  const commit = async (): Promise<string> =>
    ledger.commit({ ...told, returns: ['Run/north/old'] }).then(
      () => 'written',
      (fault: unknown) => (fault as Error).message,
    );
  t.match(await commit(), /marked as past, which nobody has recorded/);
  await ledger.load(0);
  database.exec('DROP TRIGGER refusing');
  await ledger.load(0);
  t.equal(await commit(), 'written');
});

t.test('what had a wrong mark is told until its spec is written again or it is removed, behind a later load too, and by the ledger until anything of it is written', async (t) => {
  const { ledger, store } = await edited(t, mark('zz', 'Step', 'now-heat'), mark('zz', 'Step', 'now-stir'));
  const byLedger = async (): Promise<unknown> => ((await ledger.load(0)).unmarked ?? []).map(({ name }) => name);
  const told = (): unknown => store.faults.map(({ name }) => name);
  t.same(
    [told(), await byLedger()],
    [
      ['now-heat', 'now-stir'],
      ['now-heat', 'now-stir'],
    ],
  );
  const heat = { kind: Step, site: SITE, name: 'now-heat' };
  await store.write({ puts: [{ ...heat, status: { state: 'Held' } }] });
  await store.open(0);
  t.same([told(), await byLedger()], [['now-heat', 'now-stir'], ['now-stir']]);
  await store.write({ puts: [{ ...heat, spec: { of: 'now' } }] });
  t.same([told(), await byLedger()], [['now-stir'], ['now-stir']]);
  await store.write({ removes: [{ kind: 'Step', site: SITE, name: 'now-stir' }] });
  await store.open(0);
  t.same([told(), await byLedger()], [[], []]);
});

t.test('of a row that cannot be used and had a wrong mark both are told', async (t) => {
  const { store } = await edited(
    t,
    mark('zz', 'Run', 'now'),
    "UPDATE resources SET body = replace(body, '\"order\":\"o-now\"', '\"order\":5') WHERE kind = 'Run' AND name = 'now'",
  );
  const told = (): unknown => store.faults.map(({ name, fault, kept }) => [name, /order/.test(fault), /marked as past/.test(fault), kept]);
  t.same(told(), [['now', true, true, false]]);
});

/** Its index goes on with what it listed. */
function removeFromTable(dir: string, index: string, edit: string): void {
  const database = new Database(path.join(dir, 'state.db'));
  database.unsafeMode(true);
  database.pragma('writable_schema = ON');
  const row = database.prepare('SELECT * FROM sqlite_schema WHERE name = ?').get(index) as Record<string, unknown>;
  database.prepare('DELETE FROM sqlite_schema WHERE name = ?').run(index);
  database.close();
  const without = new Database(path.join(dir, 'state.db'));
  without.unsafeMode(true);
  without.pragma('writable_schema = ON');
  without.prepare(edit).run();
  without.prepare('INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES (@type, @name, @tbl_name, @rootpage, @sql)').run(row);
  without.close();
}

const NOT_THERE = [
  ['a run', "DELETE FROM resources WHERE kind = 'Run' AND name = 'old'"],
  ['what is present', "UPDATE resources SET past = '', past_entry = '' WHERE kind = 'Run' AND name = 'old'"],
] as const;

for (const [what, edit] of NOT_THERE) {
  t.test(`a start ends whose index of the past lists what its table has not: ${what}`, async (t) => {
    const dir = mkdtempSync(path.join(tmpdir(), 'lineside-marks-'));
    t.teardown(() => rmSync(dir, { recursive: true, force: true }));
    cpSync(clean, dir, { recursive: true });
    const database = new Database(path.join(dir, 'state.db'));
    database.exec(mark('zz', 'Run', 'old'));
    database.close();
    removeFromTable(dir, 'resources_past_entry', edit);
    for (let start = 0; start < 2; start += 1) {
      const { store, close } = await opened(t, dir);
      t.equal(names(store).includes('now-heat'), true);
      await store.write({ puts: [{ kind: Run, site: SITE, name: 'now', spec: { order: 'written' } }] });
      await close();
    }
  });
}

t.test('a row that was damaged and written over leaves the marks as they are: no later start looks at them again', async (t) => {
  const { dir, store, close } = await edited(t, "UPDATE resources SET body = replace(body, 'o-now', 'o-new'), mac = NULL WHERE kind = 'Run' AND name = 'now'");
  await store.write({ puts: [{ kind: Run, site: SITE, name: 'now', spec: { order: 'written' } }] });
  await close();
  const sealed = (): unknown => {
    const database = new Database(path.join(dir, 'state.db'), { readonly: true });
    const value: unknown = database.prepare("SELECT value FROM meta WHERE key = 'seal'").pluck().get();
    database.close();
    return value;
  };
  const before = sealed();
  const again = await opened(t, dir);
  t.same(names(again.store).sort(), PRESENT.toSorted());
  await again.close();
  t.equal(sealed(), before);
});

t.test('where a look at all of the past finds nothing, and nothing can be sealed anew, the next load does not read it again for the same', async (t) => {
  const { dir, close } = await edited(t, "UPDATE resources SET body = replace(body, 'o-now', 'o-new') WHERE kind = 'Run' AND name = 'now'");
  await close();
  const read: string[] = [];
  const database = new Database(path.join(dir, 'state.db'), { verbose: (sql) => void read.push(String(sql)) });
  t.teardown(() => database.close());
  const marks = new PastMarks(database, new RowSeals(database, openDeviceKeys(dir).auditHmac, true));
  const looks = (present: number): number => {
    read.length = 0;
    t.same(marks.look(Buffer.alloc(MAC_BYTES, present)), { rows: [], streams: [] });
    return read.filter((sql) => /past <> '' ORDER BY rowid/.test(sql)).length;
  };
  t.same([looks(1), looks(1), looks(2), looks(2)], [1, 0, 1, 0], 'for something else it does');
});

t.test('a mark that the indexes do not know of is found and taken away: they are made anew', async (t) => {
  const { dir, close } = await edited(t, "UPDATE resources SET version = version WHERE kind = 'Run' AND name = 'now'");
  await close();
  const inSchema = (edit: (database: Database.Database) => void): void => {
    const database = new Database(path.join(dir, 'state.db'));
    database.unsafeMode();
    database.pragma('writable_schema = ON');
    edit(database);
    database.close();
  };
  const indexes: unknown[][] = [];
  inSchema((database) => {
    const named = "name IN ('resources_present', 'resources_past', 'resources_past_entry')";
    indexes.push(...(database.prepare(`SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master WHERE ${named}`).raw().all() as unknown[][]));
    database.prepare(`DELETE FROM sqlite_master WHERE ${named}`).run();
  });
  inSchema((database) => t.equal(database.prepare(mark('Run/north/now', 'Step', 'now-heat')).run().changes, 1));
  inSchema((database) => {
    for (const index of indexes) database.prepare('INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, ?, ?)').run(...index);
  });
  const { store, verified } = await opened(t, dir);
  t.same(names(store).sort(), [...PRESENT].sort(), 'by the index it is present');
  const write = (): Promise<unknown> => store.write({ puts: [{ kind: Step, site: SITE, name: 'now-heat', spec: { of: 'again' } }] });
  await t.rejects(write(), { message: /now-heat is marked as past, which nobody has recorded/ });
  await accepting(store);
  t.match(store.faults, [{ name: 'now-heat', fault: /was marked as past/ }]);
  await write();
  t.match(await verified(), [/indexes of state.db were not those of their tables/, /was marked as past/]);
});

for (const index of ['resources_key', 'resources_present', 'resources_past', 'resources_past_entry', 'streams_present', 'streams_past', 'facts_key', 'facts_timed'])
  t.test(`the index ${index} is gone: it is made anew, told, and nothing is missing`, async (t) => {
    const { store, verified, close, dir } = await edited(t, `DROP INDEX ${index}`);
    t.same(names(store).sort(), [...PRESENT].sort());
    await store.write({ puts: [{ kind: Step, site: SITE, name: 'now-heat', spec: { of: 'again' } }] });
    t.match(await verified(), [new RegExp(`state.db had lost ${index}: made anew`)]);
    await close();
    const later = await opened(t, dir);
    t.match(await later.verified(), [new RegExp(`had lost ${index}`)], 'from then on');
  });

t.test('an index that cannot be made anew is told, and the start goes on without it', async (t) => {
  const { store, verified } = await edited(
    t,
    'DROP INDEX facts_key',
    "INSERT INTO facts (stream, sequence, body) SELECT stream, sequence, body FROM facts WHERE stream = 'events/north/now' LIMIT 1",
  );
  t.same(names(store).sort(), [...PRESENT].sort());
  await store.write({ puts: [{ kind: Step, site: SITE, name: 'now-heat', spec: { of: 'again' } }] });
  t.match((await verified()).join('\n'), /state.db had lost facts_key: it could not be made anew \(UNIQUE constraint failed/);
});
