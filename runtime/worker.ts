/**
 * Entry of a unit worker: one thread, one unit, one scan loop. It never returns to the event loop until `stop`, so that
 * nothing but the clock decides when a scan begins; messages are polled at the top of every scan.
 *
 * `workerData.port` is the message port of the unit link; without it the parent port serves.
 */
import { readlinkSync } from 'node:fs';
import { type MessagePort, parentPort, receiveMessageOnPort, threadId, workerData } from 'node:worker_threads';
import { PhaseSet } from './chart/phase-set.js';
import type { UnitInbound, UnitOutbound } from './port.js';
import { atomicsSleep, ScanClock } from './scan/clock.js';
import { UnitLoop } from './scan/loop.js';

const port: MessagePort | null = (workerData as { port?: MessagePort } | null)?.port ?? parentPort;
if (!port) throw new Error('a unit worker needs a message port');

/** Id the operating system knows the thread by, for real-time priority; 0 where there is no /proc. */
function osThreadId(): number {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  } catch {
    return 0; // not Linux: the worker runs on with ordinary priority
  }
}

const link = port;
const post = (message: UnitOutbound, transfer: readonly ArrayBuffer[] = []): void => {
  link.postMessage(message, transfer);
};
const monoMs = (): number => performance.now();

post({ type: 'ready', threadId, osThreadId: osThreadId() });
new UnitLoop({
  receive: () => (receiveMessageOnPort(link) as { message: UnitInbound } | undefined)?.message,
  post,
  clock: new ScanClock({ monoMs, sleep: atomicsSleep() }),
  monoMs,
  wallMs: () => Date.now(),
  phases: (host, settings) => new PhaseSet(host, settings),
}).run();
link.close();
