/**
 * Entry of the historian thread: takes samples from the ring, answers queries. A query first takes what is in the ring,
 * so that what a client just saw on the stream is in the answer.
 */
import type { WallMs } from '../base/times.js';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { assert } from '../base/assert.js';
import { serveCalls, Transferred } from '../base/worker-calls.js';
import { HistoryReader } from './history-reader.js';
import { openHistoryStore } from './history-store.js';
import { ANSWER_MAX_MS, type HistoryFilter, type HistoryStart, type TagFilter, type TagValuesFilter, type ToHistory } from './words.js';

const DRAIN_MS = 100;
const MAINTAIN_MS = 60_000;

const start = workerData as HistoryStart;
const port = parentPort;
assert(port, 'the historian runs as a worker');
const inlet = port;
const store = openHistoryStore(start);
const reader = new HistoryReader(store, start.qualityWords, whileReading);

/** Half the promised interval, so that waiting and syncing together stay inside it. */
const syncMs = Math.max(DRAIN_MS, start.limits.flushIntervalMs / 2);
let syncedMonoMs = performance.now();
let readMonoMs = performance.now();
let keptUpMonoMs = performance.now();
let maintainedMonoMs = performance.now();
let rateMonoMs = performance.now();
let rateWritten = 0;
let writeRate = 0;

/** Calls that came while the ring was being read; a query in the middle of that would read the ring a second time. */
let deferred: unknown[] = [];

/** Announcements posted before the ring was read are in the inbox by now: take them before their samples. */
function takeInbox(): void {
  for (let next = receiveMessageOnPort(inlet); next; next = receiveMessageOnPort(inlet)) {
    if (typeof next.message === 'object' && next.message !== null && 'call' in next.message) {
      if (deferred.length === 0) setImmediate(answerDeferred);
      deferred.push(next.message);
    } else receive(next.message);
  }
}

function answerDeferred(): void {
  const calls = deferred;
  deferred = [];
  for (const call of calls) receive(call);
}

/** Before a read: what was recorded a moment ago is in its answer. */
function settle(): void {
  store.drain(takeInbox);
  store.commit();
  readMonoMs = keptUpMonoMs = performance.now();
}

/**
 * A read over years of many tags takes minutes: meanwhile the ring is emptied and the journal synced as ever. @throws when nobody waits for
 * the answer any more.
 */
function whileReading(): void {
  const now = performance.now();
  if (now - readMonoMs > ANSWER_MAX_MS) throw new Error('the read has taken so long that nobody waits for it any more');
  if (now - keptUpMonoMs < DRAIN_MS) return;
  keptUpMonoMs = now;
  store.keepUp(takeInbox);
  syncWhenDue(now);
}

function syncWhenDue(now: number): void {
  if (now - syncedMonoMs < syncMs) return;
  store.sync();
  store.commit();
  syncedMonoMs = now;
}

function tick(): void {
  store.drain(takeInbox);
  const now = performance.now();
  syncWhenDue(now);
  if (now - maintainedMonoMs >= MAINTAIN_MS) {
    store.maintain();
    maintainedMonoMs = now;
  }
  if (now - rateMonoMs >= 10_000) {
    writeRate = ((store.writtenTotal - rateWritten) * 1000) / (now - rateMonoMs);
    rateWritten = store.writtenTotal;
    rateMonoMs = now;
  }
}

const beat = setInterval(tick, DRAIN_MS);
const receive = serveCalls(
  inlet,
  {
    open: () => store.opened,
    tagValues: (filter: TagValuesFilter) => answered(() => reader.tagValues(filter)),
    async tagsDistinct(filter: TagFilter) {
      settle();
      return new Transferred(await reader.tagsDistinct(filter, nextTurn));
    },
    events: ({ list, filter }: { list: 'states' | 'alarms'; filter: HistoryFilter }) => answered(() => reader.events(list, filter)),
    gaps: (filter: TagFilter) => answered(() => reader.gaps(filter)),
    series({ site, address, fromMs, toMs }: { site: string; address: string; fromMs: WallMs; toMs: WallMs }) {
      settle();
      return reader.series(site, address, fromMs, toMs) ?? null;
    },
    status() {
      settle();
      return { ...reader.extent(), sizeBytes: store.sizeBytes, writeRate: Math.round(writeRate * 10) / 10, error: store.error };
    },
    writtenTotal: () => store.writtenTotal,
    /** Everything handed in so far is on disk when this is answered. */
    flush() {
      settle();
      store.sync();
    },
    maintain: ({ nowMs }: { nowMs: WallMs }) => {
      settle();
      store.rotate();
      store.maintain(nowMs);
    },
    close() {
      clearInterval(beat);
      settle();
      store.close();
    },
  },
  (message) => store.take(message as ToHistory),
);

/** What came meanwhile has its turn. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function answered(query: () => string): Transferred {
  settle();
  return new Transferred(query());
}
