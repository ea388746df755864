/** A thread that sleeps as a scan thread does, and tells how late it was woken. */
import { readlinkSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { osThreadId } from '../../runtime/vocabulary/scan-thread.js';
import type { TimerOrder } from './timers.js';

const { periodMs, go, rounds } = workerData as TimerOrder;
const cell = new Int32Array(go);

parentPort?.postMessage({ thread: osThreadId(readlinkSync) });
Atomics.wait(cell, 0, 0);
const late = new Float64Array(rounds);
const sleeper = new Int32Array(new SharedArrayBuffer(4));
let due = performance.now();
for (let round = 0; round < rounds; round += 1) {
  due += periodMs;
  const left = due - performance.now();
  if (left > 0) Atomics.wait(sleeper, 0, 0, left);
  late[round] = Math.max(0, performance.now() - due);
}
parentPort?.postMessage({ late });
