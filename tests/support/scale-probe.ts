/** Entry of an I/O probe that says of its first module at which time scale its plan came, and ends when it is asked to. */
import { parentPort } from 'node:worker_threads';
import type { ProbeInbound, ProbeOutbound } from '../../runtime/port.js';
import { at } from './at.js';

const post = (message: ProbeOutbound): void => parentPort?.postMessage(message);
const outputs = { withheld: '', secondMaster: false, mismatched: [], failSafeTaken: false };

parentPort?.on('message', (message: ProbeInbound) => {
  if (message.type === 'stop') parentPort?.close();
  if (message.type !== 'plan' || message.plan.modules.length === 0) return;
  const { module } = at(message.plan.modules, 0);
  post({ type: 'module', module, state: 'Connected', message: `time scale ${message.plan.timeScale}`, outputs, atMs: Date.now() });
});
