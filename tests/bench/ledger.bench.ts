/**
 * Durable audit (performance C3): commits per second, latency and loop delay at 1, 10 and 100 callers who each wait for
 * their own record, against the limit (4 KB append and fdatasync) and the peer (insert and commit per request on the
 * main thread). Variants are interleaved. Foreign load on the machine only adds, to the timer alone as well: loop delay is the
 * least disturbed round, and is judged against that of the timer.
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from '../../src/platform/base/sqlite.js';
import { openLedger } from '../../src/platform/ledger/ledger.js';
import { auditDraft, transaction } from '../support/ledger-data.js';
import { tell } from './judge.js';
import { at, leading } from '../support/at.js';

const RUN_MS = 700;
const ROUNDS = 5;
const LATENCY_RATIO_MAX = 4; // p50 at 1 caller to fdatasync; guards against getting worse, the goal is 1.5
const LOOP_DELAY_MAX_MS = 3; // p99 at 100 callers, beyond that of a timer alone

interface Measured {
  readonly perSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly loopP99Ms: number;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

async function measure(callers: number, commit: () => Promise<void> | void): Promise<Measured> {
  const latencies: number[] = [];
  const delays: number[] = [];
  const end = performance.now() + RUN_MS;
  let last = performance.now();
  const probe = setInterval(() => {
    const now = performance.now();
    delays.push(now - last - 1);
    last = now;
  }, 1);
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < end) {
        const started = performance.now();
        await commit();
        latencies.push((performance.now() - started) * 1000);
        await turn();
      }
    }),
  );
  if (callers === 0) await new Promise((resolve) => setTimeout(resolve, RUN_MS));
  clearInterval(probe);
  return { perSecond: (latencies.length * 1000) / RUN_MS, p50Us: quantile(latencies, 0.5), p99Us: quantile(latencies, 0.99), loopP99Ms: quantile(delays, 0.99) };
}

const dir = mkdtempSync(path.join(tmpdir(), 'lineside-bench-'));
const ledger = await openLedger(path.join(dir, 'ledger'));
let sequence = (await ledger.load(0)).auditSequence;
const file = openSync(path.join(dir, 'limit'), 'w');
const page = Buffer.alloc(4096, 1);
const peer = new Database(path.join(dir, 'peer.db'));
peer.pragma('journal_mode = WAL');
peer.pragma('synchronous = FULL');
peer.exec('CREATE TABLE audit (sequence INTEGER PRIMARY KEY, body TEXT)');
const insert = peer.prepare('INSERT INTO audit (body) VALUES (?)');

const variants: readonly { readonly name: string; readonly callers: number; readonly commit: () => Promise<void> | void }[] = [
  { name: 'timer alone', callers: 0, commit: () => undefined },
  {
    name: 'fdatasync (limit)',
    callers: 1,
    commit() {
      writeSync(file, page);
      fdatasyncSync(file);
    },
  },
  ...[1, 100].map((callers) => ({ name: 'insert per request (peer)', callers, commit: () => void insert.run(JSON.stringify(auditDraft(1))) })),
  ...[1, 10, 100].map((callers) => ({
    name: 'ledger',
    callers,
    commit() {
      sequence += 1;
      return ledger.commit(transaction({ audits: [auditDraft(sequence)] }));
    },
  })),
];
const results = variants.map((): Measured[] => []);
for (let round = 0; round < ROUNDS; round += 1) for (const [index, { callers, commit }] of variants.entries()) at(results, index).push(await measure(callers, commit));
const medians = results.map((runs) => ({
  perSecond: quantile(
    runs.map((run) => run.perSecond),
    0.5,
  ),
  p50Us: quantile(
    runs.map((run) => run.p50Us),
    0.5,
  ),
  p99Us: quantile(
    runs.map((run) => run.p99Us),
    0.5,
  ),
  loopP99Ms: Math.min(...runs.map((run) => run.loopP99Ms)),
}));
for (const [index, { name, callers }] of variants.entries()) {
  const { perSecond, p50Us, p99Us, loopP99Ms } = at(medians, index);
  console.log(
    `${name.padEnd(28)} ${String(callers).padStart(4)} callers ${perSecond.toFixed(0).padStart(8)}/s  p50 ${p50Us.toFixed(0).padStart(6)} us  p99 ${p99Us.toFixed(0).padStart(6)} us  loop p99 ${loopP99Ms.toFixed(1)} ms`,
  );
}
await ledger.close();
peer.close();
closeSync(file);
rmSync(dir, { recursive: true, force: true });
const [idle, limit, , peer100, ledger1, , ledger100] = leading(medians, 7);
const loopDelayMs = ledger100.loopP99Ms - idle.loopP99Ms;
tell('p50 at one caller, x fdatasync', ledger1.p50Us / limit.p50Us);
tell('commits of 100 callers, x one insert and commit per request', ledger100.perSecond / peer100.perSecond);
tell('delay of the loop by 100 callers, p99, ms', loopDelayMs);
console.log(
  `p50 at 1 caller is ${(ledger1.p50Us / limit.p50Us).toFixed(2)} x fdatasync; 100 callers commit ${(ledger100.perSecond / peer100.perSecond).toFixed(1)} x the peer and delay the loop by ${loopDelayMs.toFixed(1)} ms (p99, at most ${LOOP_DELAY_MAX_MS})`,
);
process.exit(ledger1.p50Us > LATENCY_RATIO_MAX * limit.p50Us || ledger100.perSecond < peer100.perSecond || loopDelayMs > LOOP_DELAY_MAX_MS ? 1 : 0);
