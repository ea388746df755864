/**
 * Thread entry of an I/O probe: ties `ProbeCore` to its message port and to the wake words of its process images.
 * The first message is a `plan`; the last one received is `stop`.
 */
import { constants, setPriority } from 'node:os';
import { parentPort, threadId, workerData } from 'node:worker_threads';
import type { ProbeInbound, ProbeOutbound, ProbeThread } from './port.js';
import { IMAGE_HEADER } from './vocabulary/process-image.js';
import { onNotice } from './io/notices.js';
import { ProbeCore } from './io/probe-core.js';
import { systemClock } from './vocabulary/clock.js';

/** So often a thread that comes round says so; its supervisor looks every second. */
const ROUND_MS = 250;
const WAKE_WAIT_MS = 1000; // a waiter of a module that left the plan goes away within this time

/** ECMAScript 2024; Node 20 has it, the library of our compile target does not name it. */
interface AsyncAtomics {
  waitAsync(words: Int32Array, index: number, value: number, timeoutMs: number): { readonly value: string | Promise<string> };
}

/**
 * Lets this thread go before the gateway's and the machine's ordinary work, so that inputs do not grow stale and outputs do
 * not wait while those are busy. Never before a scan: those have real-time priority, a probe is only nicer to itself.
 * The operating system takes the calling thread for process 0. Without the capability CAP_SYS_NICE it refuses, which is no
 * fault; the refusal of the scan threads' priority, which needs the same, is in the log.
 */
function goAhead(): boolean {
  try {
    setPriority(0, constants.priority.PRIORITY_ABOVE_NORMAL);
    return true;
  } catch {
    return false;
  }
}

function serve(port: NonNullable<typeof parentPort>): void {
  const post = (message: ProbeOutbound): void => port.postMessage(message);
  /** One probe serves many modules: what one of them throws where nobody catches it is told, and does not end the others. */
  const contain = (seam: string, fault: unknown): void => post({ type: 'fault', seam, fault: fault instanceof Error ? (fault.stack ?? fault.message) : String(fault) });
  // of sockets and libraries below the drivers; the module concerned falls silent, and connects again
  process.on('uncaughtException', (fault) => contain('event of an I/O probe', fault));
  onNotice((notice) => post({ type: 'notice', notice }));
  const core = new ProbeCore({ clock: systemClock, random: Math.random, post });
  const waiting = new Set<SharedArrayBuffer>();
  let stopped = false;

  /** Sleeps on one wake word until its scan writes; without blocking this thread. */
  async function follow(buffer: SharedArrayBuffer): Promise<void> {
    if (waiting.has(buffer)) return;
    waiting.add(buffer);
    const header = new Int32Array(buffer, 0, 16);
    try {
      while (!stopped && core.serves(buffer)) {
        const seen = Atomics.load(header, IMAGE_HEADER.wake);
        core.woken(buffer);
        // newer than the library of our language level
        await (Atomics as unknown as AsyncAtomics).waitAsync(header, IMAGE_HEADER.wake, seen, WAKE_WAIT_MS).value;
      }
    } finally {
      waiting.delete(buffer);
    }
  }

  port.on('message', (message: ProbeInbound) => {
    const taken = core.receive(message).catch((fault: unknown) => contain(`message of an I/O probe (${message.type})`, fault));
    const next = (): void => {
      if (message.type === 'plan') for (const image of core.images()) follow(image).catch((fault: unknown) => contain('outputs of an I/O probe', fault));
      if (message.type !== 'stop') return;
      stopped = true;
      port.close();
    };
    taken.then(next).catch((fault: unknown) => contain('message of an I/O probe', fault));
  });
  const { rounds } = (workerData as ProbeThread | null) ?? {};
  if (rounds) setInterval(() => void Atomics.add(new Int32Array(rounds), 0, 1), ROUND_MS).unref();
  post({ type: 'ready', threadId, isAhead: (workerData as ProbeThread | null)?.goAhead === true && goAhead() });
}

if (parentPort) serve(parentPort);
