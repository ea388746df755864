/** Entry of an I/O probe in which, at every change of the time scale, an event throws and a promise is rejected that nobody catches. */
import { parentPort } from 'node:worker_threads';
import '../../runtime/probe.js';
import type { ProbeInbound } from '../../runtime/port.js';

parentPort?.on('message', (message: ProbeInbound) => {
  if (message.type !== 'time-scale') return;
  setImmediate(() => {
    throw new Error('thrown by an event');
  });
  new Promise((_, reject) => reject(new Error('rejected by a promise'))).then(() => undefined);
});
