/** Entry of the controller side of a rehearsal: a thread of its own, which says the findings and waits for the next one (ADR 0006). */
import { on } from 'node:events';
import { type MessagePort, parentPort } from 'node:worker_threads';
import type { RehearsalInbound, RehearsalOutbound } from '../../../runtime/port.js';
import type { RehearsalOrder } from './order.js';
import { type PlantSide, rehearse } from './rehearsal.js';

interface Asked {
  readonly order: RehearsalOrder;
  readonly port: MessagePort;
}

function plantBehind(port: MessagePort): PlantSide {
  /** One question at a time: only one of the two sides works. */
  const ask = (message: RehearsalInbound): Promise<RehearsalOutbound> =>
    new Promise((resolve) => {
      port.once('message', resolve);
      port.postMessage(message);
    });
  return {
    open: (plan) => ask({ type: 'open', plan }),
    advance: (untilMs, messages) => ask({ type: 'advance', untilMs, messages }),
  };
}

const gateway = parentPort as MessagePort; // it is a thread
for await (const [{ order, port }] of on(gateway, 'message') as AsyncIterable<[Asked]>) {
  gateway.postMessage(
    await rehearse(
      order,
      plantBehind(port),
      () => performance.now(),
      (progress) => gateway.postMessage({ progress }),
    ),
  );
  port.close();
}
