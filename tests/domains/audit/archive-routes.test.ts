/** The audit routes over a trail of which the oldest records are in a file of the archive. */
import { mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { pino } from 'pino';
import t from 'tap';
import { openDeviceKeys } from '../../../src/platform/ledger/keys.js';
import { NO_ANCHORS } from '../../support/no-anchors.js';
import { ArchiveIntegrity, type DraftOf } from '../../../src/domains/audit/archive-integrity.js';
import { noteArchived } from '../../../src/domains/audit/archive-record.js';
import { scheduleIntegrity } from '../../../src/domains/audit/integrity-schedule.js';
import { AUDIT_ROUTES } from '../../../src/domains/audit/routes.js';
import { auditName } from '../../../src/platform/base/audit-name.js';
import { archiveFileName, archiveFolder } from '../../../src/platform/ledger/archive-format.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import { type LedgerQueries, openQueries } from '../../../src/platform/ledger/queries.js';
import { type GatewayTest, startGatewayTest } from '../../support/gateway.js';
import { auditDraft, transaction } from '../../support/ledger-data.js';
import { routeSet } from '../../../src/platform/http/route.js';
import { absent } from '../../support/absent.js';
import type { AuditGaps } from '../../../src/domains/audit/gaps.js';

const RECORDS = 700;
const ARCHIVED = 600;
const FILE = archiveFileName(1, ARCHIVED);
const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-archive-routes-'));
const RUN = '/api/v1/audit/archive-integrity/run';
const LATEST = '/api/v1/audit/archive-integrity/latest';
const HISTORY = '/api/v1/audit/archive-integrity/history';

const ledger = await openLedger(dataDir);
await ledger.load(0);
await ledger.commit(transaction({ audits: Array.from({ length: RECORDS }, (_, index) => auditDraft(index + 1)) }));
const queries = openQueries(dataDir);
const keys = openDeviceKeys(dataDir);
const draft = await queries.writeArchive({ first: 1, last: ARCHIVED });
await ledger.archived(draft);
while ((await queries.verify()).archivedTo < ARCHIVED) await new Promise((resolve) => setTimeout(resolve, 5));
await ledger.close();

/** Asked before the runs are answered: a test holds a run here to ask for another. */
let held: Promise<void> = Promise.resolve();
const slow: Pick<LedgerQueries, 'verifyArchives' | 'factPage'> = {
  verifyArchives: (range) => held.then(() => queries.verifyArchives(range)),
  factPage: (stream, query) => queries.factPage(stream, query),
};

let gateway: GatewayTest = await startGatewayTest({
  dataDir,
  routes: ({ store, clock }) => [
    routeSet(AUDIT_ROUTES, { store, queries, integrity: new ArchiveIntegrity({ store, queries: slow, clock }), gaps: absent<AuditGaps>('gaps'), anchors: NO_ANCHORS, keys, clock }),
  ],
});
t.teardown(async () => {
  await queries.close();
  await gateway.stop();
});

const reader = await gateway.as('viewer');
const supervisor = await gateway.as('supervisor');
const admin = await gateway.as('admin');

t.test('AUDIT-01 AUDIT-02: list, detail and correlation give archived records as they gave them before', async (t) => {
  const at = '/api/v1/sites/north/audit';
  const names: string[] = [];
  let cursor = '';
  do {
    const { body } = await reader.get(`${at}?accountId=acc-1&limit=90${cursor && `&cursor=${cursor}`}`);
    names.push(...body.items.map((item: { name: string }) => item.name));
    t.notOk('unreadable' in body);
    cursor = body.nextCursor ?? '';
  } while (cursor !== '');
  t.same(
    names,
    Array.from({ length: RECORDS }, (_, index) => auditName(RECORDS - index)),
  );
  const [item] = (await reader.get(`${at}?kind=Unit&name=u3&order=asc&limit=1`)).body.items;
  t.match(item, { name: auditName(3), displayName: 'Ann Op' });
  t.same((await reader.get(`${at}/${auditName(3)}`)).body, item);
  t.equal((await reader.get(`/api/v1/sites/south/audit/${auditName(3)}`)).status, 404);
  t.same(
    (await reader.get(`${at}/correlation/corr-150`)).body.map((record: { sequence: number }) => record.sequence),
    [300, 301],
  );
});

t.test('AUDIT-03: verify says where the live trail begins, verify-archived checks the files; both need supervise', async (t) => {
  t.match((await supervisor.get('/api/v1/audit/verify')).body, { ok: true, firstSequence: ARCHIVED + 1, archivedTo: ARCHIVED, problems: [] });
  t.equal((await reader.get('/api/v1/audit/verify-archived')).status, 403);
  const { body } = await supervisor.get('/api/v1/audit/verify-archived');
  t.match(body, { ok: true, checked: ARCHIVED, firstSequence: 1, lastSequence: ARCHIVED, archivedTo: ARCHIVED, headHash: draft.note.headHash, problems: [] });
  t.notOk('archives' in body);
  t.match((await supervisor.get('/api/v1/audit/verify-archived?from=2100-01-01T00:00:00Z')).body, { ok: true, checked: 0 });
  t.equal((await supervisor.get('/api/v1/audit/verify-archived?to=x')).status, 400);
});

t.test('AUDIT-02 AUDIT-04: an integrity run needs admin, is audited with what it found, and is read back at latest and history', async (t) => {
  t.match((await reader.get(LATEST)).body, { status: 404, code: 'not_found' });
  t.match((await reader.get(HISTORY)).body, { items: [], nextCursor: null });
  t.equal((await supervisor.post(RUN)).status, 403);
  t.equal((await admin.post(RUN, {}, { nonce: null })).status, 400, 'it takes a nonce');
  const first = await admin.post(RUN);
  t.equal(first.status, 200);
  t.match(first.body, { ok: true, checked: ARCHIVED, archives: [{ file: FILE, firstSequence: 1, lastSequence: ARCHIVED, ok: true }] });
  t.ok(first.body.startedAt <= first.body.finishedAt);
  const record = gateway.audits.at(-1);
  t.match(record, {
    action: 'Execute',
    category: 'audit-archive',
    result: 'Success',
    target: { kind: 'ArchiveReport', name: first.body.runId },
    details: { ok: true, files: 1, records: ARCHIVED },
    correlationID: first.headers['x-correlation-id'],
  });
  t.match(
    gateway.audits.filter(({ category, result }) => category === 'audit-archive' && result === 'Rejected'),
    [{ action: 'Execute' }],
    'the refusal is on record',
  );
  t.same((await reader.get(LATEST)).body, first.body);

  const hidden = path.join(dataDir, 'taken-away');
  renameSync(path.join(archiveFolder(dataDir), FILE), hidden);
  gateway.clock.advance(1000);
  const second = await admin.post(RUN);
  t.match(second.body, { ok: false, archives: [{ file: FILE, ok: false, problem: 'absent' }] });
  t.match(gateway.audits.at(-1), { details: { ok: false, file: FILE, problem: 'absent' } });
  t.match((await reader.get(`/api/v1/sites/north/audit/${auditName(3)}`)).body, { status: 404, code: 'archive_unreadable', file: FILE });
  t.same((await reader.get('/api/v1/audit?correlationID=corr-150')).body, { items: [], nextCursor: null, unreadable: [FILE] });
  const file = path.join(archiveFolder(dataDir), FILE);
  writeFileSync(file, gzipSync(gunzipSync(readFileSync(hidden))));
  t.match((await supervisor.get('/api/v1/audit/verify-archived')).body, { ok: true, checked: ARCHIVED, problems: [] }, 'every record is there');
  t.match((await reader.get(`/api/v1/sites/north/audit/${auditName(3)}`)).body, { status: 404, code: 'archive_unreadable', file: FILE }, 'and none is found');
  gateway.clock.advance(1000);
  const third = await admin.post(RUN);
  t.match(third.body, { ok: false, checked: ARCHIVED, archives: [{ file: FILE, ok: false, problem: 'repacked', repacked: true }] }, 'so the archive is not as it should be');
  renameSync(hidden, file);

  t.same((await reader.get(LATEST)).body, third.body);
  const { items, nextCursor } = (await reader.get(`${HISTORY}?limit=1`)).body;
  t.same(items, [third.body]);
  t.same((await reader.get(`${HISTORY}?cursor=${nextCursor}`)).body, { items: [second.body, first.body], nextCursor: null });
  t.same((await reader.get(`${HISTORY}?from=${second.body.startedAt}&order=asc`)).body.items, [second.body, third.body]);
  t.equal((await reader.get(`${HISTORY}?limit=0`)).status, 400);
});

t.test('AUDIT-04: one integrity run at a time', async (t) => {
  let release = (): void => undefined;
  held = new Promise((resolve) => {
    release = resolve;
  });
  const before = gateway.audits.length;
  const both = [admin.post(RUN), admin.post(RUN)];
  const refused = await Promise.race(both); // the one that runs waits for `release`
  t.match(refused.body, { status: 409, code: 'already_running' });
  release();
  t.same((await Promise.all(both)).map(({ status }) => status).sort(), [200, 409]);
  t.equal(gateway.audits.length - before, 2, 'both are on record');
  t.equal((await admin.post(RUN)).status, 200, 'and then another one');
});

t.test('8.6: a file that was made is on record, and the result of a run survives a restart', async (t) => {
  const { body } = await reader.get(LATEST);
  noteArchived(gateway.store, draft.note);
  t.match(gateway.audits.at(-1), {
    actorType: 'component',
    component: 'archiver',
    category: 'audit-archive',
    target: { kind: 'AuditArchive', name: FILE },
    details: { firstSequence: 1, lastSequence: ARCHIVED, records: ARCHIVED, sha256: draft.note.sha256 },
  });
  gateway = await gateway.restart();
  const again = await gateway.as('viewer');
  t.same((await again.get(LATEST)).body, body);
  t.match((await (await gateway.as('supervisor')).get('/api/v1/audit/verify')).body, { ok: true, archivedTo: ARCHIVED });
});

t.test('8.6: the archive is checked some time after a start and at its interval; what is found stands until a check finds nothing', async (t) => {
  const MINUTE = 60_000;
  const DAY = 86_400_000;
  const { clock, store } = gateway;
  const asked: unknown[] = [];
  let broken = false;
  const integrity = new ArchiveIntegrity({
    store,
    clock,
    queries: {
      verifyArchives(check) {
        asked.push(check);
        return broken ? Promise.reject(new Error('the thread has ended')) : queries.verifyArchives(check);
      },
      factPage: (stream, query) => queries.factPage(stream, query),
    },
  });
  let looks = 0;
  let last: Promise<unknown> = Promise.resolve();
  const runQuietly: ArchiveIntegrity['runQuietly'] = (audit) => {
    looks += 1;
    const look = integrity.runQuietly(audit);
    last = look.catch(() => undefined);
    return look;
  };
  const schedule = (intervalMs: number) => scheduleIntegrity({ integrity: { runQuietly }, clock, log: pino({ level: 'silent' }), intervalMs });
  /** Time goes on, and the check that it brings is waited for. */
  const pass = async (ms: number): Promise<number> => {
    const before = looks;
    clock.advance(ms);
    await last;
    await new Promise((resolve) => setImmediate(resolve)); // the next one is set
    return looks - before;
  };

  schedule(0);
  t.equal(await pass(3 * DAY), 0, 'never');
  const stop = schedule(3 * DAY);
  t.equal(await pass(10 * MINUTE - 1), 0, 'a start has other things to do');
  const records = gateway.audits.length;
  t.equal(await pass(1), 1);
  t.same(asked, [{ gently: true }]);
  t.match(gateway.audits.slice(records), [
    {
      actorType: 'component',
      component: 'archiver',
      action: 'Execute',
      category: 'audit-archive',
      result: 'Success',
      target: { kind: 'ArchiveReport' },
      details: { ok: true, files: 1, records: ARCHIVED },
    },
  ]);
  t.match(await integrity.latest(), { runId: gateway.audits.at(-1)?.target.name, ok: true, checked: ARCHIVED });
  t.equal(integrity.damage, null);

  const file = path.join(archiveFolder(dataDir), FILE);
  const kept = readFileSync(file);
  writeFileSync(file, gzipSync(gunzipSync(kept).toString('utf8').replace('"Ann Op"', '"Eve Op"')));
  t.equal(await pass(3 * DAY - 1), 0);
  t.equal(await pass(1), 1, 'longer than one timer');
  const run = await integrity.latest();
  t.match(run, { ok: false, archives: [{ problem: 'hash', sequence: 1, repacked: true }] });
  const found = `the check of ${run?.finishedAt} found ${FILE} not as it was written (hash at record 1)`;
  t.equal(integrity.damage, found);
  const later = new ArchiveIntegrity({ store, clock, queries });
  t.equal(later.damage, null);
  await later.recall();
  t.equal(later.damage, found, 'after a restart too');

  writeFileSync(file, kept);
  broken = true;
  t.equal(await pass(3 * DAY), 1);
  t.equal(integrity.damage, found, 'a check that was not made says nothing');
  broken = false;
  t.equal(await pass(10 * MINUTE), 1, 'it is made a little later');
  t.equal(integrity.damage, null);

  let release = (): void => undefined;
  held = new Promise((resolve) => {
    release = resolve;
  });
  const byHand = new ArchiveIntegrity({ store, clock, queries: slow });
  const never: DraftOf = () => {
    throw new Error('nothing is written');
  };
  const first = t.rejects(byHand.runQuietly(never), { message: 'nothing is written' });
  await byHand.runQuietly(never);
  await t.rejects(byHand.run(never), { name: 'Refusal', context: { code: 'already_running' } });
  release();
  await first;
  stop();
  t.equal(await pass(10 * DAY), 0, 'stopped');

  // where there is no archive nothing is written
  const empty = { ...(await queries.verifyArchives()), archives: [], checked: 0 };
  const none = new ArchiveIntegrity({ store, clock, queries: { ...slow, verifyArchives: () => Promise.resolve(empty) } });
  await none.runQuietly(never);
});
