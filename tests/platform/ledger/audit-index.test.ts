/**
 * The index of the audit trail: whatever it covers, the answers are those of a walk over all records; it is made for
 * records of the first schema too, and an edit that hides a record from it is found.
 */
import { createHash, createHmac } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import Database from '../../../src/platform/base/sqlite.js';
import { canonicalJson } from '../../../src/platform/ledger/canonical-json.js';
import { ShortMac } from '../../../src/platform/ledger/chain.js';
import { HeadFile, headFileOf } from '../../../src/platform/ledger/head-file.js';
import { openDeviceKeys } from '../../../src/platform/ledger/keys.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import type { UnchainedAudit } from '../../../src/platform/store/audit-record.js';
import { type AuditQuery, type LedgerQueries, openQueries } from '../../../src/platform/ledger/queries.js';
import { auditDraft, transaction } from '../../support/ledger-data.js';
import { at } from '../../support/at.js';

const OLD_RECORDS = 1300;
const ALL_RECORDS = 2100;
const WINDOW_MS = 600_000;

/** As the first release made it. */
const FIRST_SCHEMA = `
  CREATE TABLE migrations (version INTEGER PRIMARY KEY, at TEXT NOT NULL);
  INSERT INTO migrations VALUES (1, '2026-01-01T00:00:00.000Z');
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE resources (kind TEXT NOT NULL, site TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL);
  CREATE UNIQUE INDEX resources_key ON resources (kind, site, name);
  CREATE TABLE audit (
    sequence INTEGER PRIMARY KEY, at INTEGER NOT NULL, site TEXT NOT NULL, action TEXT NOT NULL, category TEXT NOT NULL, result TEXT NOT NULL,
    kind TEXT NOT NULL, name TEXT NOT NULL, account TEXT NOT NULL, correlation TEXT NOT NULL,
    body TEXT NOT NULL, hash BLOB NOT NULL, mac BLOB NOT NULL, key_id TEXT NOT NULL);
  CREATE INDEX audit_at ON audit (at);
  CREATE INDEX audit_site ON audit (site);
  CREATE INDEX audit_target ON audit (kind, name);
  CREATE INDEX audit_correlation ON audit (correlation);
  CREATE TABLE audit_heads (sequence INTEGER PRIMARY KEY, hash TEXT NOT NULL, at TEXT NOT NULL, kid TEXT NOT NULL, signature BLOB NOT NULL);
  CREATE TABLE streams (stream TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE facts (stream TEXT NOT NULL, sequence INTEGER NOT NULL, body TEXT NOT NULL);
  CREATE UNIQUE INDEX facts_key ON facts (stream, sequence);
  CREATE TABLE nonces (id INTEGER PRIMARY KEY, hash TEXT NOT NULL, at INTEGER NOT NULL);`;

/** A plant with a site that is rarely heard of, a clock that is set back, and requests that come back later. */
function recordOf(sequence: number): UnchainedAudit {
  const site = sequence % 700 === 3 ? 'east' : at(['north', 'south', ''], sequence % 3);
  const setBack = sequence >= 900 && sequence < 1000 ? 3_600_000 : 0;
  return auditDraft(sequence, {
    site,
    timestamp: new Date(Date.UTC(2026, 0, 31, 9) + sequence * 1000 - setBack).toISOString(),
    action: sequence % 4 === 0 ? 'Command' : 'Update',
    target: { kind: sequence % 5 === 0 ? 'Batch' : 'Unit', name: `u${sequence % 70}`, site },
    correlationID: `corr-${sequence % 650}`,
  });
}

const records = Array.from({ length: ALL_RECORDS }, (_, index) => recordOf(index + 1));
const timeOf = (sequence: number): number => Date.parse(recordOf(sequence).timestamp);

/** A data directory as the first release left it. */
function writeFirstSchema(dir: string, nowMs: number): void {
  mkdirSync(dir, { recursive: true });
  const keys = openDeviceKeys(dir);
  const database = new Database(path.join(dir, 'state.db'));
  database.pragma('journal_mode = WAL');
  database.exec(FIRST_SCHEMA);
  const put = database.prepare('INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  let previousHash = '0'.repeat(64);
  database.transaction(() => {
    for (const record of records.slice(0, OLD_RECORDS)) {
      const { sequence, timestamp, site, action, category, result, target, accountId, correlationID } = record;
      const body = canonicalJson({ ...record, previousHash });
      const hash = createHash('sha256').update(body).digest();
      const mac = createHmac('sha256', keys.auditHmac).update(hash).digest();
      put.run(sequence, Date.parse(timestamp), site, action, category, result, target.kind, target.name, accountId, correlationID, body, hash, mac, keys.auditKeyId);
      previousHash = hash.toString('hex');
    }
    const putNonce = database.prepare('INSERT INTO nonces (hash, at) VALUES (?, ?)');
    for (let index = 0; index < 1200; index += 1) putNonce.run(`nonce-${index}`, nowMs - WINDOW_MS - 1000 + index * 10);
  })();
  database.close();
  const head = new HeadFile(headFileOf(dir), new ShortMac(keys.auditHmac), keys.auditHmac, { deviceId: keys.deviceId, firstStart: '2026-01-01T00:00:00.000Z' });
  head.write({ sequence: OLD_RECORDS, hash: previousHash });
  head.close();
}

/** What a list must answer, found by looking at every record. */
function expected(query: AuditQuery, among: readonly UnchainedAudit[]): number[] {
  const found = among.filter((record) => {
    const at = Date.parse(record.timestamp);
    return (
      (query.fromMs === undefined || at >= query.fromMs) &&
      (query.toMs === undefined || at < query.toMs) &&
      (query.action === undefined || record.action === query.action) &&
      (query.kind === undefined || record.target.kind === query.kind) &&
      (query.name === undefined || record.target.name === query.name) &&
      (query.correlationID === undefined || record.correlationID === query.correlationID) &&
      (query.site === undefined || record.site === query.site) &&
      (!query.sites || query.sites.includes(record.site))
    );
  });
  const sequences = found.map((record) => record.sequence);
  return query.order === 'asc' ? sequences : sequences.reverse();
}

const QUERIES: readonly AuditQuery[] = [
  {},
  { order: 'asc' },
  { fromMs: timeOf(1500) },
  { toMs: timeOf(200), order: 'asc' },
  { fromMs: timeOf(300), toMs: timeOf(310) },
  { fromMs: timeOf(905), toMs: timeOf(915) },
  { fromMs: timeOf(880), toMs: timeOf(1010), order: 'asc' },
  { fromMs: timeOf(ALL_RECORDS) + 1 },
  { site: 'east' },
  { site: 'east', order: 'asc', fromMs: timeOf(500) },
  { sites: ['east', 'nowhere'] },
  { sites: [] },
  { sites: ['north', 'east'], site: 'east' },
  { sites: ['north'], site: 'south' },
  { kind: 'Unit', name: 'u13' },
  { kind: 'Batch', name: 'u35', order: 'asc', action: 'Command' },
  { kind: 'Batch' },
  { name: 'u69', site: 'north' },
  { correlationID: 'corr-3' },
  { correlationID: 'corr-3', site: 'east', order: 'asc' },
  { correlationID: 'corr-649', kind: 'Unit', name: 'u19' },
  { correlationID: 'never' },
];

async function sequencesOf(queries: LedgerQueries, query: AuditQuery, limit: number): Promise<number[]> {
  const seen: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await queries.auditPage({ ...query, limit, cursor });
    seen.push(...page.items.map((record) => record.sequence));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return seen;
}

async function checkAnswers(t: Test, queries: LedgerQueries, among: readonly UnchainedAudit[]): Promise<void> {
  for (const query of QUERIES) {
    const wanted = expected(query, among);
    t.same(await sequencesOf(queries, query, 1000), wanted, JSON.stringify(query));
    t.same(await sequencesOf(queries, query, Math.max(7, Math.ceil(wanted.length / 9))), wanted, `${JSON.stringify(query)} in pages`);
  }
  const { items: of } = await queries.auditOf({ site: 'north', targets: [{ kind: 'Unit', name: 'u6' }], correlationIDs: ['corr-3', 'corr-5'] });
  const wanted = among.filter(
    ({ site, target, correlationID }) => site === 'north' && ((target.kind === 'Unit' && target.name === 'u6') || correlationID === 'corr-3' || correlationID === 'corr-5'),
  );
  t.same(
    of.map((record) => record.sequence),
    wanted.map((record) => record.sequence),
    'the records of a thing',
  );
  t.match(await queries.verify(), { ok: true, checked: among.length, problems: [] });
  const inRange = expected({ fromMs: timeOf(905), toMs: timeOf(1100), order: 'asc' }, among);
  t.match(await queries.verify({ fromMs: timeOf(905), toMs: timeOf(1100) }), { ok: true, firstSequence: inRange[0], lastSequence: inRange.at(-1) });
}

const parent = mkdtempSync(path.join(tmpdir(), 'lineside-index-'));
t.teardown(() => rmSync(parent, { recursive: true, force: true }));
const dir = path.join(parent, 'data');

t.test('a database of the first schema opens, verifies and answers as before, and goes on from there', async (t) => {
  const nowMs = Date.now();
  writeFirstSchema(dir, nowMs);
  const ledger = await openLedger(dir);
  const queries = openQueries(dir);
  t.teardown(() => queries.close());
  t.teardown(() => ledger.close());
  t.same(ledger.findings, []);
  const image = await ledger.load(WINDOW_MS);
  t.equal(image.auditSequence, OLD_RECORDS);
  t.same(
    image.nonces.map((nonce) => nonce.hash),
    Array.from({ length: 1200 }, (_, index) => `nonce-${index}`),
    'D-NONCE-01, D-C-07: all of them, whatever the clock says of the interruption',
  );
  await checkAnswers(t, queries, records.slice(0, OLD_RECORDS));
  const group = 30;
  for (let at = OLD_RECORDS; at < ALL_RECORDS; at += group) {
    await Promise.all(records.slice(at, at + group).map((record) => ledger.commit(transaction({ audits: [record] }))));
  }
  await checkAnswers(t, queries, records);
});

const EDITS: readonly { readonly what: string; readonly sql: string; readonly lost: readonly number[] }[] = [
  { what: 'a target', sql: 'DELETE FROM audit_targets WHERE sequence = 1400', lost: [1400] },
  { what: 'a target under another name', sql: "UPDATE audit_targets SET name = 'other' WHERE sequence = 40", lost: [40] },
  { what: 'a correlation', sql: 'DELETE FROM audit_correlations WHERE sequence = 7', lost: [7] },
  { what: 'a site', sql: "DELETE FROM audit_sites WHERE site = 'east' AND last = (SELECT MIN(last) FROM audit_spans)", lost: [3] },
  { what: 'a time', sql: 'UPDATE audit_spans SET from_at = from_at + 1000 WHERE last = (SELECT MIN(last) FROM audit_spans)', lost: [1] },
];

t.test('promise 7, G16: an edit that hides a record from the index is found', async (t) => {
  for (const { what, sql, lost } of EDITS) {
    const copy = path.join(parent, 'copy');
    rmSync(copy, { recursive: true, force: true });
    cpSync(dir, copy, { recursive: true });
    const database = new Database(path.join(copy, 'state.db'));
    database.exec(sql);
    database.close();
    const queries = openQueries(copy);
    const { problems } = await queries.verify();
    await queries.close();
    t.same(
      problems.map(({ sequence, problem }) => [sequence, problem]),
      lost.map((sequence) => [sequence, 'hash']),
      what,
    );
  }
});

t.test('the index is only a help: without it the answers are the same', async (t) => {
  const database = new Database(path.join(dir, 'state.db'));
  t.equal(database.prepare('SELECT MAX(last) FROM audit_spans').pluck().get(), OLD_RECORDS + 18 * 30, 'the group that passes 512 records closes the span');
  for (const table of ['audit_spans', 'audit_sites', 'audit_targets', 'audit_correlations']) database.exec(`DELETE FROM ${table}`);
  database.close();
  const queries = openQueries(dir);
  t.teardown(() => queries.close());
  await checkAnswers(t, queries, records);
  const ledger = await openLedger(dir);
  t.teardown(() => ledger.close());
  await ledger.load(0);
  await ledger.commit(transaction({ audits: [recordOf(ALL_RECORDS + 1)] }));
  await checkAnswers(t, queries, [...records, recordOf(ALL_RECORDS + 1)]);
});
