/**
 * A large OPC UA server: 10,000 monitored items that all change once in a second, published once in a second, through a real probe thread and a real scan
 * thread into the tag table. The server is a process of its own.
 *
 * Each value is the time at which the server set it. The server's own is the time from there until the last byte of its notification has left it; ours is
 * what the tag table has beyond that. p99 of all samples is at most 150 ms, with a scan every 50 ms; the processor that the whole of it takes is told.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { ProbeInbound, ProbeModule, ScanThreadStart, TagPlan, UnitPlan } from '../../runtime/port.js';
import { processImageBytes } from '../../runtime/vocabulary/process-image.js';
import { Waker } from '../../runtime/vocabulary/scan-thread.js';
import { TagTable } from '../../runtime/vocabulary/tag-table.js';
import { unitPlan } from '../runtime/network/plans.js';
import { opcuaSecurity } from '../support/opcua-module.js';
import { OpcUaServer, PLANT_NAMESPACE } from '../support/opcua-server.js';
import { quantile, tell, verdict } from './judge.js';

const ITEMS = 10_000;
const PERIOD_MS = 1000;
const WATCH_MS = 20_000;
const SCAN_MS = 50;
const BEYOND_MS_MAX = 150;
const LOOK_MS = 5;

const folder = mkdtempSync(path.join(tmpdir(), 'lineside-bench-opcua-'));
const server = await OpcUaServer.start({ folder: path.join(folder, 'server'), many: ITEMS, tellsSends: true });

const channels: ProbeModule['channels'] = Array.from({ length: ITEMS }, (_, at) => ({
  name: `m${at}`,
  address: `nsu=${PLANT_NAMESPACE};s=Many${at}`,
  direction: 'input',
  dataType: 'float',
  readbackAddress: '',
  pollIntervalMs: 0,
}));
const buffer = new SharedArrayBuffer(processImageBytes(ITEMS));
const module: ProbeModule = {
  site: 'bench',
  module: 'plc',
  protocol: 'opcua',
  address: server.url,
  options: { publishingInterval: `${PERIOD_MS}ms`, samplingInterval: '0ms', batchSize: 1000, timeout: '10s' },
  channels,
  security: opcuaSecurity(path.join(folder, 'box')),
  image: buffer,
};

const tags: TagPlan[] = channels.map(({ name }, channel) => ({
  address: `io.${name}`,
  network: 'io',
  name,
  type: 'REAL',
  writable: false,
  cyclic: true,
  binding: { kind: 'channel', image: 0, channel },
}));
const plan: UnitPlan = unitPlan({
  scanIntervalMs: SCAN_MS,
  tags,
  images: [
    {
      module: 'plc',
      buffer,
      staleAfterMs: 3 * PERIOD_MS,
      channels: channels.map(({ name, address, direction, dataType }) => ({ name, address, direction, dataType, hasReadback: false })),
    },
  ],
  networks: [],
});
const table = new TagTable(plan.tags.length, plan.table);

const unit = new Worker(new URL('../../runtime/worker.js', import.meta.url), { workerData: { cells: new Waker().memory } satisfies ScanThreadStart });
unit.postMessage({ type: 'host', runtime: 1 });
unit.postMessage({ type: 'unit', runtime: 1, message: { type: 'plan', plan } });
const probe = new Worker(new URL('../../runtime/probe.js', import.meta.url), { workerData: { goAhead: false } });
probe.on('message', (message: { type: string; state?: string; message?: string }) => {
  if (message.type === 'module' || message.type === 'fault') console.log(`${message.state ?? message.type}: ${message.message ?? ''}`);
});
probe.postMessage({
  type: 'plan',
  plan: { probe: 'bench', revision: 1, timeScale: 1, modules: [module], reconnectMinMs: 500, reconnectMaxMs: 30_000, readbackTimeoutMs: 5000 },
} satisfies ProbeInbound);

/** All are Good. */
const isWhole = (): boolean => table.published && table.quality.every((quality) => quality === 0);
for (let waited = 0; !isWhole(); waited += 100) {
  if (waited > 120_000) throw new Error('the items were never Good all together');
  await pause(100);
}
await server.tell({ changeMany: 'time', everyMs: PERIOD_MS });
await pause(5 * PERIOD_MS);

/** The round that each tag showed last, and when each round came to which tags. */
const last = Float64Array.from(table.values);
const seen: { readonly round: number; readonly atMs: number; readonly count: number }[] = [];
let notGood = 0;
const before = process.cpuUsage();
const end = performance.now() + WATCH_MS;
while (performance.now() < end) {
  const counts = new Map<number, number>();
  for (let at = 0; at < ITEMS; at += 1) {
    const value = table.values[at] ?? 0;
    if (table.quality[at] !== 0) notGood += 1;
    if (value === last[at]) continue;
    last[at] = value;
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const atMs = Date.now();
  for (const [round, count] of counts) seen.push({ round, atMs, count });
  await pause(LOOK_MS);
}
const cpu = process.cpuUsage(before);
const sends = new Map((await server.sends()).map(({ round, sentMs }) => [round, sentMs]));

const [beyond, own, whole]: [number[], number[], number[]] = [[], [], []];
for (const { round, atMs, count } of seen) {
  const sentMs = sends.get(round);
  if (sentMs === undefined) continue;
  for (let one = 0; one < count; one += 1) {
    beyond.push(Math.max(0, atMs - sentMs));
    own.push(sentMs - round);
    whole.push(atMs - round);
  }
}
const p99 = quantile(beyond, 0.99);
const share = (cpu.user + cpu.system) / 1000 / WATCH_MS;
const wanted = ITEMS * Math.floor(WATCH_MS / PERIOD_MS - 1);
console.log(
  `OPC UA, ${ITEMS} items every ${PERIOD_MS} ms: ${beyond.length} samples in ${WATCH_MS / 1000} s, ${notGood} looks at a tag that was not Good; p99 ${p99.toFixed(0)} ms beyond the server's own ${quantile(own, 0.99).toFixed(0)} ms (median ${quantile(beyond, 0.5).toFixed(0)} and ${quantile(own, 0.5).toFixed(0)}), in all ${quantile(whole, 0.99).toFixed(0)} ms; ${(100 * share).toFixed(0)} % of a core with the looking: ${verdict(p99 <= BEYOND_MS_MAX && notGood === 0 && beyond.length >= wanted)}`,
);
tell('OPC UA, 10,000 items at 1 s, p99 age at the tag table beyond the server, ms', p99);
tell('OPC UA, 10,000 items at 1 s, processor, % of a core', 100 * share);
probe.postMessage({ type: 'stop' } satisfies ProbeInbound);
await new Promise((resolve) => probe.once('exit', resolve));
await unit.terminate();
await server.kill();
rmSync(folder, { recursive: true, force: true });
