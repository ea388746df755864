/** A damaged `state.db` is an alarm as soon as somebody reads the place, and when the whole file is looked at (D-C-10). */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Worker } from 'node:worker_threads';
import t from 'tap';
import { ownFolder } from '../../support/own-folder.js';
import { NO_ANCHORS } from '../../support/no-anchors.js';
import { Integrity } from '../../../src/domains/audit/integrity.js';
import { systemClock } from '../../../src/platform/base/clock.js';
import { StateFileCheck } from '../../../src/platform/ledger/file-check.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import { openQueries } from '../../../src/platform/ledger/queries.js';
import { component } from '../../../src/platform/store/audit-record.js';
import { Store } from '../../../src/platform/store/store.js';

const RECORDS = 3000;
const draft = {
  site: '',
  actor: component('test'),
  action: 'Update',
  category: 'test',
  target: { kind: 'Note', name: 'n', site: '' },
  result: 'Success',
  correlationID: 'c',
} as const;

t.test('a query that meets damage, and the check of the whole file, raise the alarm and name the file', async (t) => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-damaged-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const ledger = await openLedger(dataDir);
  const store = new Store(ledger, systemClock);
  const stateFile = new StateFileCheck(dataDir);
  t.teardown(() => stateFile.stop());
  await store.open(0);
  await store.write({ audits: Array.from({ length: RECORDS }, (_, at) => ({ ...draft, details: { at, text: 'x'.repeat(300) } })) });
  await ledger.close();
  t.equal(await stateFile.run(), null, 'a whole file');

  const file = path.join(dataDir, 'state.db');
  const bytes = readFileSync(file);
  const page = bytes.readUInt16BE(16) || 65_536;
  const from = Math.floor((bytes.length * 0.4) / page) * page;
  writeFileSync(file, bytes.fill(0xff, from, from + Math.floor((bytes.length * 0.2) / page) * page));

  const clock = systemClock;
  const queries = openQueries(
    dataDir,
    () => Promise.resolve(),
    undefined,
    (damage) => evidence.damaged(damage),
  );
  t.teardown(() => queries.close());
  const evidence = new Integrity({ store, queries, clock, anchors: NO_ANCHORS, evidence: async () => ({ checked: {}, problems: [] }), file: () => stateFile.run() });
  t.equal(evidence.damage, undefined);
  let refusal: unknown;
  for (let cursor: string | undefined, page = 0; page < 10 && !refusal; page += 1) {
    const read = await queries.auditPage({ order: 'asc', limit: 500, ...(cursor === undefined ? {} : { cursor }) }).catch((fault: unknown) => {
      refusal = fault;
    });
    cursor = read?.nextCursor ?? undefined;
  }
  t.match(refusal, { kind: 'unavailable', context: { code: 'storage_damaged' } });
  t.match(evidence.damage, /state\.db: the file is damaged/);
  t.match(evidence.summary, { ok: false });

  t.type(await stateFile.run(), 'string', 'the check of the whole file finds it too');
  const other = new Integrity({ store, queries, clock, anchors: NO_ANCHORS, evidence: async () => ({ checked: {}, problems: [] }), file: () => stateFile.run() });
  await other.runQuietly((entry) => ({ ...draft, ...entry })).catch(() => undefined); // what is told stands although the run cannot end
  t.match(other.damage, /state\.db: the file is damaged/);
});

t.test('a verification that nobody waits for and that cannot be made twice in a row stands as what one has found, until one is made', async (t) => {
  const dataDir = ownFolder(t);
  const ledger = await openLedger(dataDir);
  const store = new Store(ledger, systemClock);
  await store.open(0);
  const queries = openQueries(dataDir, () => Promise.resolve());
  t.teardown(async () => {
    await queries.close();
    await ledger.close();
  });
  let fault: Error | undefined = new Error('the key is not there');
  const evidence = async () => {
    if (fault) throw fault;
    return { checked: {}, problems: [] };
  };
  const integrity = new Integrity({ store, queries, clock: systemClock, anchors: NO_ANCHORS, evidence, file: () => Promise.resolve(null) });
  const quietly = (): Promise<void> => integrity.runQuietly((entry) => ({ ...draft, ...entry }));
  await t.rejects(quietly(), fault);
  t.equal(integrity.damage, undefined, 'once: a disk that was busy');
  await t.rejects(quietly(), fault);
  t.match(integrity.damage, /verification: it could not be made: the key is not there/);
  fault = new Error('nor is the other');
  await t.rejects(quietly(), fault);
  t.match(integrity.met, [{ part: 'verification', problem: /nor is the other/ }]);
  t.equal(integrity.met.length, 1, 'what the last one said');
  fault = undefined;
  await quietly();
  t.equal(integrity.damage, undefined);
});

t.test('a check of the whole file that is under way ends with the appliance: its thread has the file open, and SQLite makes files beside it', async (t) => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-damaged-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  await (await openLedger(dataDir)).close();
  let ended = false;
  process.once('worker', (thread: Worker) => thread.once('exit', () => (ended = true)));
  const stateFile = new StateFileCheck(dataDir);
  const cut = t.rejects(stateFile.run(), { message: /ended without a result/ });
  await stateFile.stop();
  t.ok(ended, 'the thread is gone');
  await cut;
  await t.rejects(stateFile.run(), { message: /has stopped/ });
});
