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

/**
 * @param prioritise asks for real-time priority for a thread of the operating system
 * @returns ms by which each wake came late, of all threads; whether all had real-time priority.
 */
export async function watchTimers(
  threads: number,
  periodMs: number,
  seconds: number,
  prioritise: (osThreadId: number) => Promise<boolean>,
): Promise<{ readonly late: readonly number[]; readonly realtime: boolean }> {
  const order: TimerOrder = { periodMs, rounds: Math.max(1, Math.round((seconds * 1000) / periodMs)), go: new SharedArrayBuffer(4) };
  const workers = Array.from({ length: threads }, () => new Worker(new URL('./timer-thread.js', import.meta.url), { workerData: order }));
  try {
    const begun = await Promise.all(workers.map((worker) => told(worker)));
    const granted = await Promise.all(begun.map(async ({ thread }) => (thread ? prioritise(thread) : false)));
    const measured = Promise.all(workers.map((worker) => told(worker)));
    const go = new Int32Array(order.go);
    Atomics.store(go, 0, 1);
    Atomics.notify(go, 0);
    return { late: (await measured).flatMap(({ late }) => [...(late ?? [])]), realtime: granted.every(Boolean) };
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

/** The next message; rejects when the thread fails. */
function told(worker: Worker): Promise<Told> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}
