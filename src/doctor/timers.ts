/** How late the machine wakes threads that sleep as scan threads do. */
import { Worker } from 'node:worker_threads';

/** `go` is 0 until all threads may begin. */
export interface TimerOrder {
  readonly periodMs: number;
  readonly rounds: number;
  readonly go: SharedArrayBuffer;
}

interface Told {
  readonly thread?: number;
  readonly late?: Float64Array;
}

const TIMER_THREAD = new URL('./timer-thread.js', import.meta.url);

/**
 * @param prioritise asks for real-time priority for a thread of the operating system
 * @param file of the thread
 * @returns ms by which each wake came late, of all threads; whether all had real-time priority. Rejects when a thread fails or ends early.
 */
export async function watchTimers(threads: number, periodMs: number, seconds: number, prioritise: (osThreadId: number) => Promise<boolean>, file = TIMER_THREAD): Promise<Watched> {
  const order: TimerOrder = { periodMs, rounds: Math.max(1, Math.round((seconds * 1000) / periodMs)), go: new SharedArrayBuffer(4) };
  const workers = Array.from({ length: threads }, () => new Worker(file, { workerData: order }));
  try {
    return await Promise.race([watched(workers, order, prioritise), ...workers.map(failure)]);
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

interface Watched {
  readonly late: readonly number[];
  readonly realtime: boolean;
}

async function watched(workers: readonly Worker[], order: TimerOrder, prioritise: (osThreadId: number) => Promise<boolean>): Promise<Watched> {
  const begun = await Promise.all(workers.map(told));
  const granted = await Promise.all(begun.map(async ({ thread }) => (thread ? prioritise(thread) : false)));
  const measured = Promise.all(workers.map(told));
  const go = new Int32Array(order.go);
  Atomics.store(go, 0, 1);
  Atomics.notify(go, 0);
  return { late: (await measured).flatMap(({ late }) => [...(late ?? [])]), realtime: granted.every(Boolean) };
}

/** The next message; never where the thread fails, which `failure` hears at any time. */
function told(worker: Worker): Promise<Told> {
  return new Promise((resolve) => void worker.once('message', resolve));
}

/** Rejects when the thread fails or ends, also between its messages, while nobody waits for one. */
function failure(worker: Worker): Promise<never> {
  return new Promise((_, reject) => {
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('a thread that watches timers ended before it was done')));
  });
}
