/**
 * The parts of the appliance on one list, in the order in which they are made: start walks it down, stop walks it up, so whoever
 * was made of another part ends before it (as the AsyncDisposableStack of ECMAScript does).
 */

/** What has a beginning or an end. */
export interface Part {
  start?(): void | Promise<void>;
  stop?(): void | Promise<void>;
}

export class Parts {
  readonly #parts: Part[] = [];
  /** How many of them have been asked to start. */
  #started = 0;
  #areUp = false;
  /** Whoever asked for the end while they start has it: they do not come up behind it. */
  #isEnding = false;

  /** From the end of the start until somebody asks them to stop. */
  get areUp(): boolean {
    return this.#areUp;
  }

  add<P extends Part>(part: P): P {
    this.#parts.push(part);
    return part;
  }

  /** @throws what a part throws; the caller stops them all then, those that were not started too: they hold files and threads. */
  async start(): Promise<void> {
    while (this.#started < this.#parts.length) {
      const part = this.#parts[this.#started];
      this.#started += 1;
      await part?.start?.();
    }
    this.#areUp = !this.#isEnding;
  }

  /** They count as down, and are not asked to stop: what they would do next is not known. */
  abandon(): void {
    this.#isEnding = true;
    this.#areUp = false;
  }

  /**
   * Each once. A part that cannot end keeps no other from ending.
   * @throws the first fault, when all have been asked.
   */
  async stop(): Promise<void> {
    this.abandon();
    const faults: unknown[] = [];
    for (let part = this.#parts.pop(); part; part = this.#parts.pop()) {
      try {
        await part.stop?.();
      } catch (fault) {
        faults.push(fault);
      }
    }
    if (faults.length > 0) throw faults[0];
  }
}
