/** Loaded before the product (`node --import`): its I/O probes are those of `hanging-probe`. */
import { syncBuiltinESMExports } from 'node:module';
import workers from 'node:worker_threads';

const HANGING = new URL('./hanging-probe.js', import.meta.url);
const { Worker } = workers;

workers.Worker = class extends Worker {
  constructor(entry: string | URL, options?: workers.WorkerOptions) {
    super(String(entry).endsWith('/runtime/probe.js') ? HANGING : entry, options);
  }
};
syncBuiltinESMExports();
