/** Entry of an I/O probe that serves as the product's does, and no longer comes round once it has sent the write of 500 of a loop check. */
import { parentPort } from 'node:worker_threads';
import '../../runtime/probe.js';
import type { ProbeInbound } from '../../runtime/port.js';

parentPort?.on('message', (message: ProbeInbound) => {
  if (message.type !== 'hold' || message.ask.kind !== 'set' || message.ask.value !== 500) return;
  setImmediate(() => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)); // the write is with the device by then
});
