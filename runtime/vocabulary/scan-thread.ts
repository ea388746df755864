/**
 * Memory that a scan thread and its supervisor share: the thread sleeps in `Atomics.wait` on a cell that the supervisor
 * notifies, the finest wait a worker has, and counts its rounds in another, so that a thread that no longer comes round is
 * noticed. What a round does is in the third: the runtime whose turn it is. How often it has slept is in the fourth: one that
 * never does takes a whole processor, which with real-time priority nobody else gets.
 */
const WAKE = 0;
const ROUND = 1;
const AT_WORK = 2;
const SLEPT = 3;
const CELLS = 4;

/** The end of the scan thread. */
export class Sleeper {
  readonly #cells: Int32Array;
  #heard = 0;

  constructor(memory: SharedArrayBuffer) {
    this.#cells = new Int32Array(memory);
  }

  /** A round begins: what wakes from here on ends the next sleep, however early it comes. */
  round(): void {
    this.#heard = Atomics.load(this.#cells, WAKE);
    Atomics.add(this.#cells, ROUND, 1);
  }

  /** Sleeps for at most the given milliseconds; may return early. */
  sleep(ms: number): void {
    if (Atomics.wait(this.#cells, WAKE, this.#heard, ms) !== 'not-equal') Atomics.add(this.#cells, SLEPT, 1);
  }

  /** 0: nobody's. */
  turnOf(runtime: number): void {
    Atomics.store(this.#cells, AT_WORK, runtime);
  }
}

/** The end of the supervisor. */
export class Waker {
  readonly memory = new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT);
  readonly #cells = new Int32Array(this.memory);

  wake(): void {
    Atomics.add(this.#cells, WAKE, 1);
    Atomics.notify(this.#cells, WAKE);
  }

  get rounds(): number {
    return Atomics.load(this.#cells, ROUND);
  }

  get sleeps(): number {
    return Atomics.load(this.#cells, SLEPT);
  }

  get atWork(): number {
    return Atomics.load(this.#cells, AT_WORK);
  }
}
