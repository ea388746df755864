/** Reads packages in a thread of their own, one at a time, within bounds of time and memory. */
import { Worker } from 'node:worker_threads';
import { guardedPromise } from '../../platform/base/guarded.js';
import { Refusal } from '../../platform/base/refusal.js';
import { textOfFault } from '../../platform/base/worker-calls.js';
import { READ_MEMORY_MB_MAX, READ_WITHIN_MS, READ_WITHIN_MS_MAX } from './limits.js';
import type { PackageOrder, PackageRead } from './package-thread.js';

const THREAD = new URL('./package-thread.js', import.meta.url);

export class PackageReader {
  #isReading = false;

  /** @throws Refusal 503 `import_busy` while another one is read. */
  async read(order: PackageOrder): Promise<PackageRead> {
    if (this.#isReading) throw new Refusal('unavailable', 'another package is being read: try again in a moment', { code: 'import_busy', retryAfterSeconds: 1 });
    this.#isReading = true;
    try {
      return await readApart(order);
    } finally {
      this.#isReading = false;
    }
  }
}

function readApart(order: PackageOrder): Promise<PackageRead> {
  return new Promise((resolve) => {
    const thread = new Worker(THREAD, { workerData: order, name: 'mtp-package', execArgv: [], resourceLimits: { maxOldGenerationSizeMb: READ_MEMORY_MB_MAX } });
    let timer: NodeJS.Timeout | undefined;
    let isEnding = false;
    const end = (read: PackageRead): void => {
      if (isEnding) return; // it ends because it was ended
      isEnding = true;
      clearTimeout(timer);
      // what a package has taken is given back before the next one is read
      guardedPromise('end of the thread that reads a package', () => thread.terminate().finally(() => resolve(read)));
    };
    const refuse = (message: string): void => end({ sha256: '', faults: [{ severity: 'error', path: order.fileName, message }] });
    // how long a busy machine takes to start it is no fault of the package
    thread.once('online', () => {
      const begun = process.cpuUsage();
      const look = (waitedMs: number): void => {
        // a busy machine has not given the thread what the whole process has not had
        const { user, system } = process.cpuUsage(begun);
        const owedMs = Math.ceil(Math.min(READ_WITHIN_MS - (user + system) / 1000, READ_WITHIN_MS_MAX - waitedMs));
        if (owedMs <= 0) return refuse(`it takes longer than ${READ_WITHIN_MS / 1000} s to read`);
        timer = setTimeout(() => look(waitedMs + owedMs), owedMs);
      };
      timer = setTimeout(() => look(READ_WITHIN_MS), READ_WITHIN_MS);
    });
    thread.once('message', (read: PackageRead) => end(read));
    thread.once('error', (fault: NodeJS.ErrnoException) =>
      refuse(fault.code === 'ERR_WORKER_OUT_OF_MEMORY' ? `it takes more than ${READ_MEMORY_MB_MAX} MB of memory to read` : `it cannot be read: ${textOfFault(fault)}`),
    );
    thread.once('exit', () => refuse('it cannot be read: the thread that reads it ended'));
  });
}
