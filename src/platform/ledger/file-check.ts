/** Whether the structure of `state.db` is whole, beside everything else: a start looks at small files only. */
import path from 'node:path';
import { Worker } from 'node:worker_threads';

/** The first thing that is wrong; null when nothing. */
export function checkStateFile(dataDir: string): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./check-thread.js', import.meta.url), { name: 'file check', workerData: { file: path.join(dataDir, 'state.db') }, execArgv: [] });
    worker.once('message', ({ fault }: { readonly fault: string | null }) => resolve(fault));
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the check of state.db ended without a result')));
  });
}
