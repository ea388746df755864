/** What the ledger promises when the process dies, the disk fills, or someone edits the files behind its back. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import Database from '../../../src/platform/base/sqlite.js';
import { readStreamEnds } from '../../../src/platform/ledger/head-file.js';
import { inspectDataDir } from '../../../src/platform/ledger/inspect.js';
import { openDeviceKeys } from '../../../src/platform/ledger/keys.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import { lockDataDir } from '../../../src/platform/ledger/lock.js';
import type { Fact } from '../../../src/platform/ledger/protocol.js';
import type { UnchainedAudit } from '../../../src/platform/store/audit-record.js';
import { openQueries } from '../../../src/platform/ledger/queries.js';
import { PastRows } from '../../../src/platform/store/past-rows.js';
import { Store } from '../../../src/platform/store/store.js';
import { systemClock } from '../../../src/platform/base/clock.js';
import type { Verification } from '../../../src/platform/ledger/verify-chain.js';
import { canLimitFiles } from '../../support/disk-limit.js';
import { Note, Run, RUN_FACTS, RUN_STEPS, runOf } from '../../support/ledger-child.js';
import { auditDraft, transaction } from '../../support/ledger-data.js';
import { at, leading } from '../../support/at.js';

const CHILD = fileURLToPath(new URL('../../support/ledger-child.js', import.meta.url));
const KILLS = 10;

/** A Node process without the loaders that the test runner adds to its children: they re-raise the signals of a full disk. */
function startNode(args: readonly string[], stdio: StdioOptions): ChildProcess {
  return spawn('/usr/bin/env', ['-i', `PATH=${process.env.PATH}`, process.execPath, ...args], { stdio });
}

interface Acknowledged {
  readonly audit: string;
  readonly fact: number;
  readonly version: number;
}

function dataDir(test: { teardown(call: () => unknown): void }): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'lineside-faults-'));
  test.teardown(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function lines(child: ChildProcess): { readonly text: () => string } {
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return { text: () => text };
}

async function killAtRandom<Line = Acknowledged>(dir: string, afterAcknowledged: number, task = 'commit'): Promise<Line[]> {
  const child = startNode([CHILD, task, dir], ['ignore', 'pipe', 'inherit']);
  const output = lines(child);
  const gone = new Promise((resolve) => child.once('close', resolve));
  await new Promise<void>((resolve) => {
    child.stdout?.on('data', () => {
      if (output.text().split('\n').length > afterAcknowledged) resolve();
    });
    child.once('exit', () => resolve());
  });
  child.kill('SIGKILL');
  await gone;
  return output
    .text()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
}

async function verify(dir: string): Promise<Verification> {
  const queries = openQueries(dir);
  try {
    return await queries.verify();
  } finally {
    await queries.close();
  }
}

t.test('promise 1, G1: kills in the middle of commits lose nothing that was acknowledged', async (t) => {
  const dir = dataDir(t);
  for (let round = 0; round < KILLS; round += 1) {
    const acknowledged = await killAtRandom(dir, 20 + Math.floor(Math.random() * 400));
    const ledger = await openLedger(dir);
    const image = await ledger.load(0);
    await ledger.close();
    const highest = (pick: (one: Acknowledged) => number): number => Math.max(...acknowledged.map(pick));
    t.ok(acknowledged.length > 0, `round ${round}: ${acknowledged.length} acknowledged`);
    t.ok(image.auditSequence >= highest((one) => Number(one.audit.slice(6))), 'every acknowledged audit record is there');
    t.ok((image.factSequences[0]?.[1] ?? 0) >= highest((one) => one.fact), 'every acknowledged fact is there');
    t.ok(image.resourceVersion >= highest((one) => one.version), 'every acknowledged resource is there');
    t.same(ledger.findings, []);
  }
  const verification = await verify(dir);
  t.same(verification.problems, []);
  const database = new Database(path.join(dir, 'state.db'), { readonly: true });
  t.equal(database.pragma('integrity_check', { simple: true }), 'ok');
  database.close();
});

t.test('kills while runs become past and come back leave each of them whole: present or past, as it was told last', async (t) => {
  const dir = dataDir(t);
  const told = new Map<string, string>();
  for (let round = 0; round < KILLS; round += 1) {
    for (const { name, is } of await killAtRandom<{ name: string; is: string }>(dir, 20 + Math.floor(Math.random() * 200), 'past')) told.set(name, is);
    const ledger = await openLedger(dir);
    const store = new Store(ledger, systemClock, undefined, [Note, Run]);
    const queries = openQueries(dir, () => store.recorded);
    await store.open(0);
    const past = new PastRows(store, queries);
    const seen = { past: 0, present: 0 };
    for (const [name, is] of told) {
      const { run, members, streams } = runOf(name);
      const here = members.filter(({ kind, site, name: member }) => store.get({ kind } as typeof Run, site, member));
      const entry = store.pastEntry(run, run.site, run.name);
      const state = entry ? 'past' : 'present';
      seen[state] += 1;
      if (here.length !== (entry ? 0 : members.length)) t.fail(`${name} is ${state} and ${here.length} of it are in memory`);
      if (store.lastFact(at(streams, 0)) !== (entry ? 0 : RUN_FACTS)) t.fail(`${name} is ${state} and its facts are not`);
      if (is !== 'either' && is !== state) t.fail(`${name} was told to be ${is} and is ${state}`);
    }
    t.ok(seen.past > 0 && told.size > 0, `round ${round}: ${seen.past} past, ${seen.present} present`);
    const some = at(
      [...told.keys()].filter((name) => store.pastEntry(Run, 'north', name)),
      0,
    );
    const { run, members } = runOf(some);
    await past.during([run], () =>
      t.equal(members.filter(({ kind, site, name }) => store.get({ kind } as typeof Run, site, name)).length, RUN_STEPS + 1, 'a past one reads whole'),
    );
    t.match(await queries.verifyRows(), { ok: true, problems: [] });
    await queries.close();
    await ledger.close();
  }
});

t.test('promise 2, G4: a full disk refuses with storage_unavailable, changes nothing, and writes work again when there is space', async (t) => {
  if (!canLimitFiles(t)) return;
  const dir = dataDir(t);
  const child = startNode([CHILD, 'disk-full', dir], ['ignore', 'pipe', 'inherit']);
  const output = lines(child);
  const code = await new Promise((resolve) => child.once('close', (exit, signal) => resolve(exit ?? signal)));
  t.equal(code, 0);
  const [full, again] = leading(
    output
      .text()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>),
    2,
  );
  t.match(full, { kind: 'unavailable', code: 'storage_unavailable', unchanged: true, accepting: false, refusedAgain: 'storage_unavailable' });
  t.ok(Number(full.acknowledged) > 3);
  t.match(again, { after: 'written again', kept: true });
  t.ok(Number(again.reloads) >= 2, 'the store reloaded when it failed and when it recovered');
  t.same((await verify(dir)).problems, []);
});

/** A closed data directory with an audit trail of 30 records. */
async function trail(dir: string, from = 1, to = 30): Promise<void> {
  const ledger = await openLedger(dir);
  await ledger.load(0);
  for (let sequence = from; sequence <= to; sequence += 1) await ledger.commit(transaction({ audits: [auditDraft(sequence)] }));
  await ledger.close();
}

function edit(dir: string, sql: string): void {
  const database = new Database(path.join(dir, 'state.db'));
  database.exec(sql);
  database.close();
}

const EDITS: readonly { readonly what: string; readonly sql: string; readonly found: readonly (readonly [number, string])[] }[] = [
  { what: 'a changed body', sql: `UPDATE audit SET body = replace(body, '"Ann Op"', '"Eve"') WHERE sequence = 7`, found: [[7, 'hash']] },
  { what: 'a changed column', sql: `UPDATE audit SET result = 'Rejected' WHERE sequence = 7`, found: [[7, 'hash']] },
  { what: 'a changed time', sql: 'UPDATE audit SET at = at + 1 WHERE sequence = 7', found: [[7, 'hash']] },
  {
    what: 'a changed hash',
    sql: `UPDATE audit SET hash = zeroblob(32) WHERE sequence = 7`,
    found: [
      [7, 'hash'],
      [7, 'signature'],
      [8, 'link'],
    ],
  },
  { what: 'a changed mac', sql: `UPDATE audit SET mac = zeroblob(32) WHERE sequence = 7`, found: [[7, 'signature']] },
  { what: 'a deleted record', sql: 'DELETE FROM audit WHERE sequence = 7', found: [[7, 'missing']] },
  {
    what: 'the first records deleted',
    sql: 'DELETE FROM audit WHERE sequence <= 2',
    found: [
      [1, 'missing'],
      [2, 'missing'],
    ],
  },
  {
    what: 'the last records deleted',
    sql: 'DELETE FROM audit WHERE sequence > 28',
    found: [
      [29, 'missing'],
      [30, 'missing'],
    ],
  },
  { what: 'a record deleted and the rest moved up', sql: 'DELETE FROM audit WHERE sequence = 7; UPDATE audit SET sequence = sequence - 1 WHERE sequence > 7', found: [] },
  {
    what: 'a copied record inserted',
    sql: `INSERT INTO audit SELECT 31, at, site, action, category, result, kind, name, account, correlation, body, hash, mac, key_id FROM audit WHERE sequence = 5`,
    found: [
      [31, 'hash'],
      [31, 'link'],
    ],
  },
  {
    what: 'two records swapped',
    sql: 'UPDATE audit SET sequence = -1 WHERE sequence = 7; UPDATE audit SET sequence = 7 WHERE sequence = 8; UPDATE audit SET sequence = 8 WHERE sequence = -1',
    found: [],
  },
  { what: 'a changed signed head', sql: 'UPDATE audit_heads SET hash = upper(hash)', found: [[30, 'signature']] },
];

t.test('promise 7, G16: verification finds every edit of the audit trail, and nothing in a clean one', async (t) => {
  const clean = dataDir(t);
  await trail(clean);
  const verification = await verify(clean);
  t.match(verification, { ok: true, checked: 30, firstSequence: 1, lastSequence: 30, problems: [] });
  t.match(verification.headHash, /^[0-9a-f]{64}$/);
  for (const { what, sql, found } of EDITS) {
    const dir = dataDir(t);
    cpSync(clean, dir, { recursive: true });
    edit(dir, sql);
    const { ok, problems } = await verify(dir);
    t.equal(ok, false, what);
    if (found.length > 0)
      t.same(
        problems.map(({ sequence, problem }) => [sequence, problem]),
        found,
        what,
      );
  }
});

t.test('promise 7, G16: an older copy of the database is found at start, and its hole stays visible', async (t) => {
  const dir = dataDir(t);
  await trail(dir, 1, 10);
  const copy = path.join(dir, 'copy.db');
  copyFileSync(path.join(dir, 'state.db'), copy);
  await trail(dir, 11, 20);
  copyFileSync(copy, path.join(dir, 'state.db'));
  t.same(
    (await verify(dir)).problems.map((one) => [one.sequence, one.problem]),
    Array.from({ length: 10 }, (_, index) => [11 + index, 'missing']),
  );
  const ledger = await openLedger(dir);
  t.match(ledger.findings[0], /ends at 10 but had reached 20/);
  const image = await ledger.load(0);
  t.equal(image.auditSequence, 20);
  await ledger.commit(transaction({ audits: [auditDraft(21)] }));
  await ledger.close();
  t.equal((await verify(dir)).problems.length, 10);
});

t.test('G16: facts without a record behind them that are lost with the end of the database are found at the start, and their hole stays visible', async (t) => {
  const dir = dataDir(t);
  const [known, begun] = ['events/north/b-1', 'states/north/b-1'];
  const write = async (facts: readonly Fact[], audits: readonly UnchainedAudit[] = []): Promise<void> => {
    const ledger = await openLedger(dir);
    await ledger.load(0);
    await ledger.commit(transaction({ facts, audits }));
    await ledger.close();
  };
  const factsOf = (stream: string, first: number, last: number): Fact[] =>
    Array.from({ length: last - first + 1 }, (_, at) => ({ stream, sequence: first + at, body: { id: first + at } }));
  await write(factsOf(known, 1, 5), [auditDraft(1)]);
  const copy = path.join(dir, 'copy.db');
  copyFileSync(path.join(dir, 'state.db'), copy);
  t.same(inspectDataDir(dir).losses, [], 'nothing is lost yet');
  await write([...factsOf(known, 6, 8), ...factsOf(begun, 1, 1)]);
  t.same([inspectDataDir(dir).losses, inspectDataDir(dir).findings], [[], []], 'nor now');
  copyFileSync(copy, path.join(dir, 'state.db'));

  const { losses, findings } = inspectDataDir(dir);
  t.match(losses, [/state\.db does not hold all facts that had been written, missing are events 6 to 8 of north\/b-1, states 1 of north\/b-1: /]);
  const ledger = await openLedger(dir, findings);
  t.same(ledger.findings, losses, 'whoever goes on without them is told of it from then on');
  const image = await ledger.load(0);
  t.same(
    new Map(image.factSequences),
    new Map([
      [known, 8],
      [begun, 1],
    ]),
    'no number is given again',
  );
  await ledger.commit(transaction({ facts: [...factsOf(known, 9, 9), ...factsOf(begun, 2, 2)] }));
  await ledger.close();
  t.same([inspectDataDir(dir).losses, inspectDataDir(dir).findings], [[], []], 'what was accepted is not refused again');
  const again = await openLedger(dir);
  t.equal(again.findings.length, 1);
  await again.close();
  const queries = openQueries(dir);
  t.teardown(() => queries.close());
  t.match(await queries.verifyRows(), {
    ok: false,
    problems: [
      { part: 'facts', name: known, problem: '6 entries are there, and 9 were written' },
      { part: 'facts', name: begun, problem: '1 entries are there, and 2 were written' },
    ],
  });
});

t.test('the end of the streams in audit-head: of many the last are known, a block that was damaged or forged tells nothing, a new database begins anew', async (t) => {
  const dir = dataDir(t);
  const file = path.join(dir, 'audit-head');
  const ledger = await openLedger(dir);
  await ledger.load(0);
  const stream = (number: number): string => `events/north/${'b'.repeat(80)}-${number}`;
  for (let number = 1; number <= 100; number += 1) await ledger.commit(transaction({ facts: [{ stream: stream(number), sequence: 1, body: {} }] }));
  const { auditHmac } = openDeviceKeys(dir);
  const ends = readStreamEnds(file, auditHmac);
  t.ok(ends.length > 20 && ends.length <= 64, `${ends.length} of them are told`);
  t.same(ends.at(-1), [stream(100), 1]);
  await ledger.close();
  const whole = readFileSync(file);
  t.same(readStreamEnds(file, openDeviceKeys(dataDir(t)).auditHmac), [], 'with the key of another appliance');
  for (const at of [4096, 2 * 4096]) {
    const damaged = Buffer.from(whole);
    damaged[at + 30] = (damaged[at + 30] ?? 0) ^ 1;
    writeFileSync(file, damaged);
    t.ok(readStreamEnds(file, auditHmac).length > 20, 'the other block is good');
  }
  writeFileSync(file, whole.subarray(0, 4096));
  t.same(readStreamEnds(file, auditHmac), [], 'the file of a version that told of none');
  await (await openLedger(dir)).close();
  t.equal(readFileSync(file).length, whole.length);

  writeFileSync(file, whole);
  for (const name of ['state.db', 'state.db-wal', 'state.db-shm']) rmSync(path.join(dir, name), { force: true });
  const after = await openLedger(dir);
  await after.load(0);
  await after.commit(transaction({ facts: [{ stream: stream(100), sequence: 1, body: {} }] }));
  await after.close();
  t.same(readStreamEnds(file, auditHmac), [[stream(100), 1]]);
  const queries = openQueries(dir);
  t.teardown(() => queries.close());
  const { problems } = await queries.verifyRows();
  t.same(
    problems.filter(({ part }) => part === 'facts'),
    [],
    'that the old one is gone is told, and no stream of it',
  );
});

t.test('G16: a head file that is gone or forged is found', async (t) => {
  const dir = dataDir(t);
  await trail(dir);
  writeFileSync(path.join(dir, 'audit-head'), JSON.stringify({ sequence: 3, hash: 'f'.repeat(64), mac: '' }));
  t.same(
    (await verify(dir)).problems.map((one) => [one.sequence, one.problem]),
    [[30, 'signature']],
  );
  const ledger = await openLedger(dir);
  t.match(ledger.findings[0], /missing or not genuine/);
  await ledger.close();
});

t.test('D-C-09: a trail that goes on after a hole of many records takes commits, and is found by its index', async (t) => {
  const dir = dataDir(t);
  const ledger = await openLedger(dir);
  await ledger.load(0);
  for (let sequence = 1; sequence <= 700; sequence += 1) void ledger.commit(transaction({ audits: [auditDraft(sequence)] }));
  await ledger.close();
  for (const name of ['state.db', 'state.db-wal', 'state.db-shm']) rmSync(path.join(dir, name), { force: true });
  const after = await openLedger(dir);
  await after.load(0);
  await after.commit(transaction({ nonces: [{ hash: 'f'.repeat(64), atMs: 1 }] }));
  for (let sequence = 701; sequence <= 720; sequence += 1) await after.commit(transaction({ audits: [auditDraft(sequence)] }));
  await after.close();
  const { problems } = await verify(dir);
  t.match({ missing: problems.length, all: new Set(problems.map(({ problem }) => problem)) }, { missing: 700, all: new Set(['missing']) });
});

t.test('one process per data directory: a second one is refused in one sentence, a crash frees the lock', async (t) => {
  const dir = dataDir(t);
  const lock = lockDataDir(dir);
  const again = `import { lockDataDir } from ${JSON.stringify(new URL('../../../src/platform/ledger/lock.js', import.meta.url).href)}; lockDataDir(${JSON.stringify(dir)}); process.kill(process.pid, 'SIGKILL');`;
  const second = startNode(['--input-type=module', '-e', again], ['ignore', 'ignore', 'pipe']);
  let complaint = '';
  second.stderr?.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  await new Promise((resolve) => second.once('close', resolve));
  t.match(complaint, new RegExp(`another lineside process \\(pid ${process.pid}\\) already uses the data directory ${dir}`));
  t.throws(() => lockDataDir(dir), /already uses/);
  lock.release();
  t.notOk(existsSync(path.join(dir, 'pid')));
  const crashed = startNode(['--input-type=module', '-e', again], 'ignore');
  t.equal(await new Promise((resolve) => crashed.once('close', (_code, signal) => resolve(signal))), 'SIGKILL');
  lockDataDir(dir).release();
});
