/**
 * Entry of a scan thread. It never returns to the event loop until it is closed, so that nothing but the clocks of its units
 * decides when a scan begins; messages are polled before every turn.
 */
import { readlinkSync } from 'node:fs';
import { type MessagePort, parentPort, receiveMessageOnPort, threadId, workerData } from 'node:worker_threads';
import type { ScanThreadInbound, ScanThreadStart } from './port.js';
import { ScanHost } from './scan/host.js';
import { systemClock } from './vocabulary/clock.js';
import { osThreadId, Sleeper } from './vocabulary/scan-thread.js';

const start = workerData as ScanThreadStart;
const port = (start.port as MessagePort | undefined) ?? parentPort;
if (!port) throw new Error('a scan thread needs a message port');

const sleeper = new Sleeper(start.cells);
port.postMessage({ type: 'ready', threadId, osThreadId: osThreadId(readlinkSync) });
new ScanHost({
  receive: () => (receiveMessageOnPort(port) as { message: ScanThreadInbound } | undefined)?.message,
  post: (message, transfer = []) => port.postMessage(message, transfer),
  monoMs: () => systemClock.monoMs(),
  wallMs: () => systemClock.wallMs(),
  round: () => sleeper.round(),
  sleep: (ms) => sleeper.sleep(ms),
  turnOf: (runtime) => sleeper.turnOf(runtime),
}).run();
port.close();
