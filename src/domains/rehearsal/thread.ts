/** Entry of the controller side of a rehearsal: a thread of its own, which ends with the findings (ADR 0006). */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { RehearsalInbound, RehearsalOutbound } from '../../../runtime/port.js';
import type { RehearsalOrder } from './order.js';
import { type PlantSide, rehearse } from './rehearsal.js';

const { order, port } = workerData as { readonly order: RehearsalOrder; readonly port: MessagePort };

/** One question at a time: only one of the two sides works. */
function ask(message: RehearsalInbound): Promise<RehearsalOutbound> {
  return new Promise((resolve) => {
    port.once('message', resolve);
    port.postMessage(message);
  });
}

const plant: PlantSide = {
  open: (plan) => ask({ type: 'open', plan }),
  advance: (untilMs, messages) => ask({ type: 'advance', untilMs, messages }),
};

parentPort?.postMessage(
  await rehearse(
    order,
    plant,
    () => performance.now(),
    (progress) => parentPort?.postMessage({ progress }),
  ),
);
port.close();
