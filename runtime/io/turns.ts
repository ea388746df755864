/** Work on one device, one piece after the other; how the one before ended is that one's business. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Begins `work` when its turn comes. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work, work);
    this.#last = done;
    return done;
  }
}
