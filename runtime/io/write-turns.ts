/**
 * Orders to one device, one after the other.
 *
 * Invariant: an order is sent when its turn comes and it may still be carried out, or never: nobody was told before that it has failed.
 */
import type { Barred, WriteOutcome } from './driver.js';
import { Turns } from './turns.js';

export class WriteTurns {
  readonly #turns = new Turns();

  take(barred: Barred | undefined, write: () => Promise<WriteOutcome>): Promise<WriteOutcome> {
    return this.#turns.take(async () => barred?.() ?? write());
  }
}
