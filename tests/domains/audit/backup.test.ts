/** The copy of the whole audit trail: what it holds, who gets it, and that no reader is too slow for it. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { openDeviceKeys } from '../../../src/platform/ledger/keys.js';
import { systemClock } from '../../../src/platform/base/clock.js';
import { NO_ANCHORS } from '../../support/no-anchors.js';
import { ArchiveIntegrity } from '../../../src/domains/audit/archive-integrity.js';
import { AUDIT_ROUTES } from '../../../src/domains/audit/routes.js';
import { type StreamedReply, routeSet } from '../../../src/platform/http/route.js';
import { archiveFileName, archiveFolder } from '../../../src/platform/ledger/archive-format.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import { openQueries } from '../../../src/platform/ledger/queries.js';
import { startGatewayTest } from '../../support/gateway.js';
import { auditDraft, transaction } from '../../support/ledger-data.js';
import { absent } from '../../support/absent.js';
import type { AuditGaps } from '../../../src/domains/audit/gaps.js';

const RECORDS = 200_000;
const ARCHIVED = 1200;
const FILE = archiveFileName(1, ARCHIVED);
const BACKUP = '/api/v1/backup/audit';
const START = Date.UTC(2026, 0, 31, 9, 0, 0);
const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-audit-backup-'));

const ledger = await openLedger(dataDir);
await ledger.load(0);
const timed = (sequence: number) => auditDraft(sequence, { timestamp: new Date(START + sequence * 1000).toISOString() });
for (let first = 1; first <= RECORDS; first += 4000) await ledger.commit(transaction({ audits: Array.from({ length: 4000 }, (_, index) => timed(first + index)) }));
const queries = openQueries(dataDir);
const keys = openDeviceKeys(dataDir);
await ledger.archived(await queries.writeArchive({ first: 1, last: ARCHIVED }));
while ((await queries.verify({ fromMs: START + RECORDS * 1000 })).archivedTo < ARCHIVED) await new Promise((resolve) => setTimeout(resolve, 5));
await ledger.close();

const gateway = await startGatewayTest({
  dataDir,
  routes: ({ store, clock }) => [
    routeSet(AUDIT_ROUTES, { store, queries, integrity: new ArchiveIntegrity({ store, queries, clock }), gaps: absent<AuditGaps>('gaps'), anchors: NO_ANCHORS, keys, clock }),
  ],
});
t.teardown(async () => {
  await queries.close();
  await gateway.stop();
});
const admin = await gateway.as('admin');
const supervisor = await gateway.as('supervisor');

interface Line {
  readonly sequence: number;
  readonly hash: string;
}

/** Lines that fit to their trailer. */
function checked(t: Test, text: string): readonly Line[] {
  const end = text.lastIndexOf('\n', text.length - 2) + 1;
  const trailer = JSON.parse(text.slice(end)) as object;
  const lines = text
    .slice(0, end)
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
  t.match(trailer, {
    trailer: true,
    records: lines.length,
    firstSequence: lines[0]?.sequence ?? 0,
    lastSequence: lines.at(-1)?.sequence ?? 0,
    headHash: lines.at(-1)?.hash ?? '',
    keyId: keys.kid,
    sha256: createHash('sha256').update(text.slice(0, end)).digest('hex'),
  });
  return lines;
}

t.test('APPLY-13 Q-CHANGE-10: the trail of table and files, oldest first, with mac and keyId and a trailer; that it was read is on record and in it', async (t) => {
  t.equal((await supervisor.get(BACKUP)).status, 403);
  const answer = await admin.get(BACKUP);
  t.match(answer, { status: 200, headers: { 'content-type': 'application/x-ndjson', 'content-disposition': /attachment/ } });
  const lines = checked(t, answer.text);
  t.match(lines[0], { name: 'audit-000000000001', previousHash: '0'.repeat(64), mac: /^[A-Za-z0-9+/]{43}=$/, keyId: /^[0-9a-f]{16}$/ });
  t.ok(
    lines.every(({ sequence }, index) => sequence === index + 1),
    'every record once, in order',
  );
  t.match(lines.at(-1), { action: 'Execute', category: 'backup', target: { kind: 'AuditTrail' }, actorType: 'human', correlationID: answer.headers['x-correlation-id'] });
  t.ok(lines.length > RECORDS);
});

t.test('Q-CHANGE-10: from and to bound it, on both sides of the cut', async (t) => {
  const between = async (from: number, to: number): Promise<readonly number[]> => {
    const [first, last] = [from, to].map((sequence) => new Date(START + sequence * 1000).toISOString());
    return checked(t, (await admin.get(`${BACKUP}?from=${first}&to=${last}`)).text).map(({ sequence }) => sequence);
  };
  const upTo = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);
  t.same(await between(600, 1400), upTo(600, 1400));
  t.same(await between(100, 103), [100, 101, 102]);
  t.same(await between(RECORDS - 2, RECORDS + 1), [RECORDS - 2, RECORDS - 1, RECORDS]);
  t.same(await between(-20, -10), []);
  t.equal((await admin.get(`${BACKUP}?from=soon`)).status, 400);
});

t.test('Q-CHANGE-10: a file that is not there is named before anything is sent; one that is not as it was written ends the copy without a trailer', async (t) => {
  const file = path.join(archiveFolder(dataDir), FILE);
  renameSync(file, `${file}.away`);
  t.match((await admin.get(BACKUP)).body, { status: 404, code: 'archive_unreadable', file: FILE });
  const after = new Date(START + (RECORDS - 3) * 1000).toISOString();
  t.equal(checked(t, (await admin.get(`${BACKUP}?from=${after}&to=2026-03-01T00:00:00Z`)).text).length, 4, 'nobody needs it for other times');
  writeFileSync(
    file,
    gzipSync(
      gunzipSync(readFileSync(`${file}.away`))
        .toString('utf8')
        .replace('"Ann Op"', '"Eve Op"'),
    ),
  );
  await t.rejects(admin.get(BACKUP), { code: 'ECONNRESET' });
  renameSync(`${file}.away`, file);
});

t.test('Q-CHANGE-10: a reader who stops in the middle gets 200,000 records all the same, and nobody waits for him', async (t) => {
  const sha = createHash('sha256');
  let bytes = 0;
  let lines = 0;
  let tail = Buffer.alloc(0);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ host: '127.0.0.1', port: gateway.port, path: BACKUP, headers: { Authorization: `Bearer ${admin.token}` }, agent: false }, resolve)
      .once('error', reject)
      .end();
  });
  let stops = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
    tail = Buffer.concat([tail, chunk]);
    const keep = Math.min(tail.length, 1000);
    sha.update(tail.subarray(0, tail.length - keep));
    tail = tail.subarray(tail.length - keep);
    if (bytes > (stops + 1) * 20_000_000) {
      stops += 1;
      t.equal((await admin.get('/api/v1/audit?limit=1')).status, 200, 'the same thread answers others');
    }
  }
  t.ok(stops > 2, `${bytes} bytes`);
  const end = tail.lastIndexOf(10, tail.length - 2) + 1;
  sha.update(tail.subarray(0, end));
  const trailer = JSON.parse(tail.subarray(end).toString()) as { records: number; sha256: string };
  t.equal(trailer.records, lines - 1);
  t.ok(trailer.records > RECORDS);
  t.equal(trailer.sha256, sha.digest('hex'));
});

t.test('promise 2: while the storage refuses changes the copy is sent all the same; nothing of it can be on record', async (t) => {
  const row = AUDIT_ROUTES.find(({ path: at }) => at === BACKUP);
  const store = { accepting: false, auditSequence: 5, write: () => t.fail('a change') };
  const reply = (await row?.handle({ query: { get: () => undefined } } as never, { queries, store, keys, clock: systemClock } as never)) as StreamedReply;
  let text = '';
  for await (const chunk of reply.chunks) text += Buffer.from(chunk).toString('utf8');
  t.equal(checked(t, text).length, 5, 'and ends with what was the last record when it was asked for');
});
