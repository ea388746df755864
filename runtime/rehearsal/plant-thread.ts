/** Entry of the plant side of rehearsals: a thread of its own that works only while it is told to go on (ADR 0006). */
import { type MessagePort, parentPort } from 'node:worker_threads';
import type { RehearsalInbound } from '../port.js';
import { RehearsalPlant } from './plant.js';

/** After so much wall time the controller is told how far it has come: it keeps the limit. */
const SLICE_MS = 100;

/** A port for each rehearsal, and a plant that ends with it. */
parentPort?.on('message', ({ port }: { readonly port: MessagePort }) => {
  let plant: RehearsalPlant | undefined;
  port.on('message', (message: RehearsalInbound) => {
    if (message.type === 'open') plant = new RehearsalPlant(message.plan);
    else plant?.advance(message.untilMs, message.messages, within(SLICE_MS));
    if (plant) port.postMessage(plant.take());
  });
});

function within(ms: number): () => boolean {
  const untilMs = performance.now() + ms;
  return () => performance.now() < untilMs;
}
