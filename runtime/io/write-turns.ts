/**
 * Orders to one device, one after the other.
 *
 * Invariant: an order is sent when its turn comes and it may still be carried out, or never: nobody was told before that it has failed.
 */
import type { Barred, WriteOutcome } from './driver.js';

export class WriteTurns {
  #last: Promise<unknown> = Promise.resolve();

  take(barred: Barred | undefined, write: () => Promise<WriteOutcome>): Promise<WriteOutcome> {
    const inTurn = async (): Promise<WriteOutcome> => barred?.() ?? write();
    const written = this.#last.then(inTurn, inTurn); // how the one before ended is that one's business
    this.#last = written;
    return written;
  }
}
