/** Entry of an I/O probe that says it is ready, has a value of its first module, and then no longer comes round. */
import { parentPort } from 'node:worker_threads';
import type { ProbeInbound, ProbeOutbound } from '../../runtime/port.js';
import { monotonicMs } from '../../runtime/vocabulary/monotonic.js';
import { CONNECTION, IMAGE_HEADER, ProcessImage } from '../../runtime/vocabulary/process-image.js';
import { QUALITY } from '../../runtime/vocabulary/quality.js';
import { at } from './at.js';

const post = (message: ProbeOutbound): void => parentPort?.postMessage(message);

parentPort?.on('message', (message: ProbeInbound) => {
  if (message.type !== 'plan') return;
  const { module, channels, image: buffer } = at(message.plan.modules, 0);
  const image = new ProcessImage(channels.length, buffer);
  image.beginInputs();
  image.value[0] = 42;
  image.quality[0] = QUALITY.Good;
  image.stamp(0, Date.now(), monotonicMs());
  image.endInputs();
  Atomics.store(image.header, IMAGE_HEADER.connection, CONNECTION.connected);
  post({ type: 'module', module, state: 'Connected', message: '', outputs: { withheld: '', secondMaster: false, mismatched: [], failSafeTaken: false }, atMs: Date.now() });
  image.beginInputs(); // it stands still in the middle of its work
  post({ type: 'ready', threadId: 0, isAhead: false });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
