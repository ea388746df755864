/**
 * Memory that the ledger thread and the gateway share: how often the thread has come round, and whether it is with the storage. One that
 * waits for its disk is not hung, however long it takes: control goes on, and a new process would wait for the same disk.
 */
const ROUND = 0;
const ON_STORAGE = 1;
const CELLS = 2;

export function ledgerCells(): SharedArrayBuffer {
  return new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT);
}

/** The end of the ledger thread. */
export class LedgerAtWork {
  readonly #cells: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#cells = new Int32Array(memory);
  }

  round(): void {
    Atomics.add(this.#cells, ROUND, 1);
  }

  /** Calls into the database, which may take as long as the disk. */
  onStorage<T>(call: () => T): T {
    Atomics.add(this.#cells, ON_STORAGE, 1);
    try {
      return call();
    } finally {
      Atomics.sub(this.#cells, ON_STORAGE, 1);
    }
  }
}

/** So many looks without a round, and not with the storage: it hangs in our own code. */
const SILENT_LOOKS = 60;

/** The end of the gateway, which looks once a second. Looks are counted, not time: when the whole process stood still, nobody is to blame. */
export class LedgerLooks {
  readonly #cells: Int32Array;
  #seenRounds = 0;
  #silentLooks = 0;

  constructor(memory: SharedArrayBuffer) {
    this.#cells = new Int32Array(memory);
  }

  /** @returns why the thread will not come back; undefined while it may. */
  look(): string | undefined {
    const rounds = Atomics.load(this.#cells, ROUND);
    const isWaiting = Atomics.load(this.#cells, ON_STORAGE) > 0;
    this.#silentLooks = rounds !== this.#seenRounds || isWaiting ? 0 : this.#silentLooks + 1;
    this.#seenRounds = rounds;
    return this.#silentLooks < SILENT_LOOKS ? undefined : `the ledger thread has not come round for ${this.#silentLooks} s, and does not wait for the disk`;
  }
}
