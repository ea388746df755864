/** Whether the structure of `state.db` is whole, beside everything else: a start looks at small files only. */
import path from 'node:path';
import { Worker } from 'node:worker_threads';

export class StateFileCheck {
  readonly #file: string;
  /** Threads that have the file open; each resolves when its thread is gone. */
  readonly #underWay = new Map<Worker, Promise<void>>();
  #isStopped = false;

  constructor(dataDir: string) {
    this.#file = path.join(dataDir, 'state.db');
  }

  /** @returns the first thing that is wrong; null when nothing. */
  run(): Promise<string | null> {
    if (this.#isStopped) return Promise.reject(new Error('the check of state.db has stopped'));
    return new Promise((resolve, reject) => {
      const worker = new Worker(new URL('./check-thread.js', import.meta.url), { name: 'file check', workerData: { file: this.#file }, execArgv: [] });
      const gone = new Promise<void>((ended) => worker.once('exit', () => ended()));
      this.#underWay.set(worker, gone);
      worker.once('message', ({ fault }: { readonly fault: string | null }) => resolve(fault));
      worker.once('error', reject);
      worker.once('exit', () => {
        this.#underWay.delete(worker);
        reject(new Error('the check of state.db ended without a result'));
      });
    });
  }

  /** Nobody has the file open behind it, and no file of SQLite comes into being beside it. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(
      [...this.#underWay].map(async ([worker, gone]) => {
        await worker.terminate();
        await gone;
      }),
    );
  }
}
