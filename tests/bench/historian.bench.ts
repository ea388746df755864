/**
 * Historian (performance C2): 20 tags, one day at 1 Hz. Ingest per sample through ring, journal and blocks against a raw
 * append of the same 24 bytes; bytes per sample on disk; a tag-day and its minute averages against a row store.
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { HistoryReader } from '../../src/platform/history/history-reader.js';
import { HistoryStore } from '../../src/platform/history/history-store.js';
import { SampleRing, SLOT_BYTES } from '../../src/platform/history/sample-ring.js';
import Database from '../../src/platform/base/sqlite.js';
import { tell } from './judge.js';
import { at } from '../support/at.js';

const TAGS = 20;
const SECONDS = 86_400;
const SLICE_SECONDS = 600;
const T0 = Date.UTC(2026, 0, 31);
const SCALING = { offset: -25, slope: 150 / 4095 };
const NS_PER_SAMPLE_MAX = 400; // guards against getting worse; the goal is 100
const BYTES_PER_SAMPLE_MAX = 2;
const QUERY_MS_MAX = 6; // the goal is 2

/** A tag's value at a second: half of the tags are converter counts, half have 2 decimals. */
function valueOf(tag: number, second: number): number {
  const wave = 2000 + 1500 * Math.sin(second / 3000 + tag) + ((second * 7919 + tag * 104_729) % 13) - 6;
  return tag % 2 === 0 ? SCALING.offset + Math.round(wave) * SCALING.slope : Math.round(wave * 3) / 100;
}

function millis(work: () => void): number {
  const times = Array.from({ length: 5 }, () => {
    const started = performance.now();
    work();
    return performance.now() - started;
  });
  return at(
    times.sort((a, b) => a - b),
    2,
  );
}

const dir = mkdtempSync(path.join(tmpdir(), 'lineside-bench-'));
const ring = new SampleRing(65_536);
const store = new HistoryStore({
  dataDir: dir,
  ring: ring.buffer,
  ringCapacity: 65_536,
  limits: { flushIntervalMs: 2000, retentionMs: 1e15, bytesMax: 2 ** 40 },
  qualityWords: ['Good'],
});
for (let tag = 1; tag <= TAGS; tag += 1) {
  store.take({ type: 'tag', tag: { id: tag, site: 'north', unit: 'u1', address: `t${tag}.pv`, tag: 'pv', dataType: 'Float' }, ...(tag % 2 === 0 ? { scaling: SCALING } : {}) });
}
const raw = openSync(path.join(dir, 'raw.bin'), 'w');
const slice = Buffer.alloc(TAGS * SLICE_SECONDS * SLOT_BYTES, 7);
const values = new Float64Array(TAGS * SLICE_SECONDS);

let ingestMs = 0;
let rawMs = 0;
for (let from = 0; from < SECONDS; from += SLICE_SECONDS) {
  for (let index = 0; index < values.length; index += 1) values[index] = valueOf(1 + (index % TAGS), from + Math.floor(index / TAGS));
  let started = performance.now();
  for (let index = 0; index < values.length; index += 1) ring.push(1 + (index % TAGS), 0, T0 + (from + Math.floor(index / TAGS)) * 1000, values[index] as number);
  store.drain(() => undefined);
  store.sync();
  store.commit();
  ingestMs += performance.now() - started;
  started = performance.now();
  writeSync(raw, slice);
  fdatasyncSync(raw);
  rawMs += performance.now() - started;
}
closeSync(raw);
const samples = TAGS * SECONDS;

const reader = new HistoryReader(store, ['Good']);
const dayMs = millis(() => void reader.series('north', 't2.pv', T0, T0 + SECONDS * 1000));
const minuteMs = millis(() => void reader.tagValues({ addresses: ['t2.pv'], aggregate: 'avg', intervalMs: 60_000, order: 'asc', limit: 10_000 }));
const tenMs = millis(() => void reader.tagValues({ addresses: ['t2.pv'], aggregate: 'avg', intervalMs: 600_000, order: 'asc', limit: 10_000 }));
store.database.pragma('wal_checkpoint(TRUNCATE)');
const bytes = statSync(path.join(dir, 'historian.db')).size / samples;

const rows = new Database(path.join(dir, 'rows.db'));
rows.pragma('journal_mode = WAL');
rows.pragma('synchronous = NORMAL');
rows.exec('CREATE TABLE samples (tag INTEGER, ts INTEGER, value REAL, quality INTEGER, PRIMARY KEY (tag, ts)) WITHOUT ROWID');
const insert = rows.prepare('INSERT INTO samples VALUES (?, ?, ?, 0)');
const peerTags = 4;
const rowsStarted = performance.now();
for (let from = 0; from < SECONDS; from += SLICE_SECONDS) {
  rows.transaction(() => {
    for (let second = from; second < from + SLICE_SECONDS; second += 1) for (let tag = 1; tag <= peerTags; tag += 1) insert.run(tag, T0 + second * 1000, valueOf(tag, second));
  })();
}
const rowsNs = ((performance.now() - rowsStarted) * 1e6) / (peerTags * SECONDS);
const select = rows.prepare('SELECT ts, value, quality FROM samples WHERE tag = ? AND ts >= ? AND ts < ?').raw();
const rowDayMs = millis(() => void select.all(2, T0, T0 + SECONDS * 1000));
const rowBytes = ((rows.pragma('page_count', { simple: true }) as number) * 4096) / (peerTags * SECONDS);

const ingestNs = (ingestMs * 1e6) / samples;
console.log(`ingest        blocks ${ingestNs.toFixed(0)} ns/sample   raw append ${((rawMs * 1e6) / samples).toFixed(0)}   row store ${rowsNs.toFixed(0)}`);
console.log(`on disk       blocks ${bytes.toFixed(2)} B/sample    raw append 24   row store ${rowBytes.toFixed(1)}`);
console.log(`a tag-day     blocks ${dayMs.toFixed(2)} ms   row store ${rowDayMs.toFixed(1)} ms`);
console.log(`its averages  per minute ${minuteMs.toFixed(2)} ms   per 10 minutes ${tenMs.toFixed(2)} ms`);
tell('ingest, ns per sample', ingestNs);
tell('on disk, bytes per sample', bytes);
tell('a tag-day, ms', dayMs);
store.close();
rows.close();
rmSync(dir, { recursive: true, force: true });
process.exit(ingestNs > NS_PER_SAMPLE_MAX || bytes > BYTES_PER_SAMPLE_MAX || dayMs > QUERY_MS_MAX ? 1 : 0);
