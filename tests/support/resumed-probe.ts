/** Entry of an I/O probe that says at every plan that the outputs of its first module were given to the device again, and dies at a change of the time scale. */
import { parentPort } from 'node:worker_threads';
import type { ProbeInbound, ProbeOutbound } from '../../runtime/port.js';
import { at } from './at.js';

parentPort?.on('message', (message: ProbeInbound) => {
  if (message.type === 'stop') parentPort?.close();
  if (message.type === 'time-scale') process.exit(1); // of this thread alone
  if (message.type !== 'plan' || message.plan.modules.length === 0) return;
  const { module } = at(message.plan.modules, 0);
  parentPort?.postMessage({ type: 'outputs-resumed', module, outputs: [], atMs: Date.now() } satisfies ProbeOutbound);
});
