/** The threads that run the units of the demonstration plant, for tests that end one as a crash would. */
import type { Worker } from 'node:worker_threads';
import type { ScanThreadOutbound } from '../../runtime/port.js';

/** A unit is known by the networks it reports. */
const LANDMARKS: Readonly<Record<string, string>> = { tic101: 'rx101', xv111: 'mx101', li201: 'tk201' };

/** To be called before the plant is started; answers with the newest thread of each unit. */
export function unitThreads(): ReadonlyMap<string, Worker> {
  const threads = new Map<string, Worker>();
  process.on('worker', (worker) => {
    worker.on('message', (told: ScanThreadOutbound) => {
      if (told.type !== 'unit' || told.message.type !== 'plan-loaded') return;
      for (const { network } of told.message.networks) if (LANDMARKS[network]) threads.set(LANDMARKS[network], worker);
    });
  });
  return threads;
}
