/** The query thread over a real ledger: lists, paging, confinement, facts, export, verification of a range. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { auditName } from '../../../src/platform/base/audit-name.js';
import { hashOf, servedAudit } from '../../../src/platform/ledger/chain.js';
import Database from '../../../src/platform/base/sqlite.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import { type AuditQuery, type Damage, type LedgerQueries, openQueries } from '../../../src/platform/ledger/queries.js';
import { TIMED_STREAMS } from '../../../src/platform/ledger/schema.js';
import { auditDraft, transaction } from '../../support/ledger-data.js';
import { ownFolder } from '../../support/own-folder.js';
import { at as elementAt } from '../../support/at.js';

const dir = mkdtempSync(path.join(tmpdir(), 'lineside-queries-'));
const ledger = await openLedger(dir);
const queries: LedgerQueries = openQueries(dir);
t.teardown(async () => {
  await queries.close();
  await ledger.close();
  rmSync(dir, { recursive: true, force: true });
});

await ledger.load(0);
const SITES = ['north', 'south', ''];
for (let sequence = 1; sequence <= 120; sequence += 1) {
  const site = elementAt(SITES, sequence % 3);
  await ledger.commit(
    transaction({
      audits: [
        auditDraft(sequence, {
          site,
          action: sequence % 4 === 0 ? 'Command' : 'Update',
          result: sequence % 5 === 0 ? 'Rejected' : 'Success',
          target: { kind: 'Unit', name: `u${sequence % 10}`, site },
        }),
      ],
      facts: [
        {
          stream: 'alarms/north',
          sequence,
          body: { sequence, timestamp: new Date(Date.UTC(2026, 0, 31) + sequence * 1000).toISOString(), alarm: `a${sequence % 2}`, severity: sequence % 3 },
        },
      ],
    }),
  );
}

async function sequences(query: AuditQuery): Promise<number[]> {
  return (await queries.auditPage(query)).items.map((record) => record.sequence);
}

const at = (sequence: number): number => Date.parse(auditDraft(sequence).timestamp);

t.test('Q-TAG-16: newest first, in pages that neither repeat nor lose a record', async (t) => {
  const seen: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await queries.auditPage({ limit: 50, cursor });
    seen.push(...page.items.map((record) => record.sequence));
    cursor = page.nextCursor ?? undefined;
  } while (cursor);
  t.same(
    seen,
    Array.from({ length: 120 }, (_, index) => 120 - index),
  );
  t.same(await sequences({ limit: 3, order: 'asc' }), [1, 2, 3]);
  const exact = await queries.auditPage({ limit: 120 });
  t.equal(exact.nextCursor, null, 'no cursor when nothing follows');
});

t.test('Q-TAG-16: filters', async (t) => {
  t.same(await sequences({ fromMs: at(10), toMs: at(13) }), [12, 11, 10]);
  t.same(await sequences({ action: 'Command', fromMs: at(1), toMs: at(10) }), [8, 4]);
  t.same(await sequences({ result: 'Rejected', kind: 'Unit', name: 'u5', limit: 2 }), [115, 105]);
  t.same(await sequences({ correlationID: 'corr-3' }), [7, 6]);
  t.same(await sequences({ accountId: 'nobody' }), []);
  t.same(await sequences({ category: 'unit', site: 'south', limit: 2 }), [118, 115]);
});

t.test('Q-AUTH-14: a confined caller sees its sites only, and no record without a site', async (t) => {
  const page = await queries.auditPage({ sites: ['north'], limit: 1000 });
  t.equal(page.items.length, 40);
  t.ok(page.items.every((record) => record.site === 'north'));
  t.equal(await queries.auditRecord(1, { sites: ['north'] }), undefined, 'record 1 is of south');
  t.equal((await queries.auditRecord(3, { site: 'north' }))?.sequence, 3);
  t.equal(await queries.auditRecord(999, {}), undefined);
});

t.test('Q-ERR-15: a cursor of something else is 400 invalid_query', async (t) => {
  for (const cursor of ['', 'x', Buffer.from('fact:3').toString('base64url'), Buffer.from('audit:').toString('base64url'), Buffer.from('audit:1:2').toString('base64url')]) {
    const refusal: unknown = await queries.auditPage({ cursor }).catch((fault: unknown) => fault);
    t.match(refusal, { kind: 'invalid', context: { code: 'invalid_query', field: 'cursor' } });
  }
});

t.test('D-AUDIT-01: the served record, without hash, in canonical form, is what was hashed', async (t) => {
  const { hash, ...record } = elementAt((await queries.auditPage({ limit: 1 })).items, 0);
  const { canonicalJson } = await import('../../../src/platform/ledger/canonical-json.js');
  const body = canonicalJson(record);
  t.equal(hashOf(body).toString('hex'), hash);
  t.equal(JSON.parse(servedAudit(body, hashOf(body))).hash, hash);
});

t.test('8.3: the audit records of a thing, oldest first, by target or correlation', async (t) => {
  const { items: records } = await queries.auditOf({ site: 'north', targets: [{ kind: 'Unit', name: 'u3' }], correlationIDs: ['corr-3', 'corr-4'] });
  t.same(
    records.map((record) => record.sequence),
    [3, 6, 9, 33, 63, 93],
  );
});

t.test('facts: pages of a stream, filtered by time and members', async (t) => {
  const page = await queries.factPage<{ sequence: number }>('alarms/north', { limit: 2, equals: { alarm: 'a1', severity: '2' } });
  t.same(
    page.items.map((fact) => fact.sequence),
    [119, 113],
  );
  const next = await queries.factPage<{ sequence: number }>('alarms/north', { limit: 2, equals: { alarm: 'a1', severity: '2' }, cursor: page.nextCursor ?? '' });
  t.same(
    next.items.map((fact) => fact.sequence),
    [107, 101],
  );
  const range = await queries.factPage<{ sequence: number }>('alarms/north', {
    order: 'asc',
    fromMs: Date.parse('2026-01-31T00:00:05.000Z'),
    toMs: Date.parse('2026-01-31T00:00:08.000Z'),
  });
  t.same(
    range.items.map((fact) => fact.sequence),
    [5, 6, 7],
  );
  t.equal((await queries.facts('alarms/north')).length, 120);
  t.same(await queries.facts('none'), []);
});

t.test('8.6: the export carries mac and keyId, one record per line', async (t) => {
  let text = '';
  for await (const chunk of queries.auditLines(100)) text += new TextDecoder().decode(chunk);
  const records = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string | number>);
  t.same(
    records.map((record) => record.sequence),
    Array.from({ length: 20 }, (_, index) => 101 + index),
  );
  t.match(records[0], { keyId: /^[0-9a-f]{16}$/, mac: /^[A-Za-z0-9+/]{43}=$/, hash: /^[0-9a-f]{64}$/ });
});

t.test('Q-TAG-16: verify of the running trail and of a range', async (t) => {
  t.match(await queries.verify(), { ok: true, checked: 120, firstSequence: 1, lastSequence: 120, problems: [] });
  t.match(await queries.verify({ fromMs: at(10), toMs: at(20) }), { ok: true, checked: 10, firstSequence: 10, lastSequence: 19 });
  t.match(await queries.verify({ toMs: at(1) }), { ok: true, checked: 0, firstSequence: 0, lastSequence: 0 });
});

t.test('Q-ALARM-07, decisions 8.6: the facts of an alarm history between two times come by their index, in the order of the times', async (t) => {
  const base = Date.UTC(2026, 1, 1);
  const COUNT = 4500;
  // the clock was set back in between: sequences and times have not the same order
  const timeOf = (sequence: number): string => new Date(base + (sequence <= 2000 ? sequence + 2000 : sequence - 2000) * 1000).toISOString();
  const facts = Array.from({ length: COUNT }, (_, n) => ({ stream: 'alarms/south', sequence: n + 1, body: { sequence: n + 1, timestamp: timeOf(n + 1), unit: `u${n % 2}` } }));
  await ledger.commit(transaction({ facts }));
  const read = async (fromS: number, toS: number, equals?: Record<string, string>): Promise<{ timestamp: string; sequence: number }[]> => {
    const all: { timestamp: string; sequence: number }[] = [];
    for await (const chunk of queries.timedFacts<{ timestamp: string; sequence: number }>('alarms/south', {
      fromMs: base + fromS * 1000,
      toMs: base + toS * 1000,
      ...(equals ? { equals } : {}),
    }))
      all.push(...chunk);
    return all;
  };
  const all = await read(0, 10_000);
  t.equal(new Set(all.map(({ sequence }) => sequence)).size, COUNT, 'every fact once, over chunks');
  t.same(
    all,
    all.toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : a.sequence - b.sequence)),
  );
  t.same(
    (await read(100, 102)).map(({ sequence }) => sequence),
    [2100, 2101],
    'from inclusive, to exclusive',
  );
  t.equal((await read(0, 10_000, { unit: 'u1' })).length, COUNT / 2);
  t.same(await read(20_000, 30_000), []);

  const database = new Database(path.join(dir, 'state.db'), { readonly: true });
  t.teardown(() => database.close());
  const { condition, time } = TIMED_STREAMS;
  const plan = database
    .prepare(`EXPLAIN QUERY PLAN SELECT body FROM facts WHERE stream = ? AND ${condition} AND (${time}, sequence) > (?, ?) AND ${time} < ? ORDER BY ${time}, sequence LIMIT 5`)
    .all('alarms/south', 'a', 1, 'b') as { detail: string }[];
  t.match(plan.map(({ detail }) => detail).join('; '), /USING INDEX facts_timed \(stream=\?/);
  t.notMatch(plan.map(({ detail }) => detail).join('; '), /TEMP B-TREE/, 'and needs no sorting');
});

t.test('one entry that is damaged on the disk is named on its page and told of once; the others are served', async (t) => {
  const folder = ownFolder(t);
  const written = await openLedger(folder);
  await written.load(0);
  const body = (sequence: number) => ({
    id: sequence,
    timestamp: new Date(Date.UTC(2026, 2, 1) + sequence * 1000).toISOString(),
    unit: `u${sequence % 2}`,
    text: `entry-${sequence}.`,
  });
  const streams = ['alarms/north', 'shift-notes/north'];
  const facts = Array.from({ length: 6 }, (_, n) => streams.map((stream) => ({ stream, sequence: n + 1, body: body(n + 1) }))).flat();
  await written.commit(transaction({ facts, audits: [1, 2, 3].map((sequence) => auditDraft(sequence, { site: 'north', details: { text: `record-${sequence}.` } })) }));
  await written.close();
  const file = path.join(folder, 'state.db');
  const bytes = readFileSync(file);
  // as a disk does it: the index of the times stays what it was
  for (const text of ['"text":"entry-3."', '"text":"record-2."']) for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) bytes.write("'", at);
  writeFileSync(file, bytes);

  const told: Damage[] = [];
  const read = openQueries(folder, undefined, undefined, (damage) => told.push(damage));
  t.teardown(() => read.close());
  const ids = ({ items }: { readonly items: readonly { readonly id: number }[] }) => items.map(({ id }) => id);
  const page = await read.factPage<{ id: number }>('shift-notes/north', { order: 'asc', limit: 4 });
  t.same([ids(page), page.damaged], [[1, 2, 4], [3]]);
  t.same(ids(await read.factPage('shift-notes/north', { order: 'asc', cursor: page.nextCursor ?? '' })), [5, 6], 'and the next page goes on behind it');
  const filtered = await read.factPage<{ id: number }>('shift-notes/north', { equals: { unit: 'u0' }, fromMs: Date.UTC(2026, 2, 1), toMs: Date.UTC(2026, 2, 2) });
  t.same([ids(filtered), filtered.damaged], [[6, 4, 2], [3]], 'what it would have said nobody knows');
  const left: number[] = [];
  t.same(
    (await read.facts<{ id: number }>('shift-notes/north', 1, (entries) => left.push(...entries))).map(({ id }) => id),
    [2, 4, 5, 6],
  );
  t.same(left, [3]);
  t.same(told, [{ stream: 'shift-notes/north', fault: 'entry 3 is damaged and cannot be read; the others are' }]);
  const timed: number[] = [];
  for await (const chunk of read.timedFacts<{ id: number }>('alarms/north', { fromMs: Date.UTC(2026, 2, 1), toMs: Date.UTC(2026, 2, 2), equals: { unit: 'u1' } }))
    timed.push(...chunk.map(({ id }) => id));
  t.same([timed, told.length], [[1, 5], 2]);

  const trail = await read.auditPage({ order: 'asc' });
  t.same([trail.items.map(({ sequence }) => sequence), trail.damaged], [[1, 3], [auditName(2)]], 'the same of an audit record');
  t.same((await read.auditOf({ site: 'north', targets: [], correlationIDs: trail.items.map(({ correlationID }) => correlationID) })).damaged ?? [auditName(2)], [auditName(2)]);
  t.match(await read.auditRecord(2, {}).catch((fault: unknown) => fault), { kind: 'unavailable', context: { code: 'storage_damaged' } });
  t.match(await read.auditRecord(3, {}), { sequence: 3 });
});
