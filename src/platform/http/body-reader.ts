/**
 * The body of one request while it arrives. It is read from the turn of its request on, before anybody has asked for it, so that
 * nothing of a request is judged before the wire has shown what comes behind it (server.ts).
 *
 * Invariant: what is kept is at most the limit and one chunk of the wire; until somebody asks, that of a single turn.
 */
import { type Clock, systemClock } from '../base/clock.js';
import { Stopwatch } from '../base/elapsed.js';
import { Refusal } from '../base/refusal.js';
import { WireRefusal } from './status.js';

/** A body may take this long and one second more for each 16 KiB of it: slower than any panel, faster than who holds connections open. */
const GRACE_MS = 30_000;
const BYTES_PER_MS_MIN = 16;

interface Asked {
  readonly limitBytes: number;
  readonly tooLarge: () => Error;
  readonly accept: (bytes: Uint8Array) => void;
  readonly resolve: () => void;
  readonly reject: (fault: unknown) => void;
}

export class BodyReader {
  #chunks: Buffer[] = [];
  #length = 0;
  #isComplete = false;
  #isCut = false;
  /** Nothing more is kept: it was handed over, refused, or is beyond its limit. */
  #isDone = false;
  #asked: Asked | undefined;
  readonly #clock: Clock;
  #forget: (() => void) | undefined;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** `chunk` is only lent and is copied. */
  take(chunk: ArrayBuffer, isLast: boolean): void {
    this.#isComplete = isLast;
    if (this.#isDone) return;
    this.#length += chunk.byteLength;
    if (chunk.byteLength > 0) this.#chunks.push(Buffer.from(new Uint8Array(chunk))); // a short one takes no memory of its own
    if (this.#asked) this.#look(this.#asked);
  }

  /** The connection is gone. */
  cut(): void {
    this.#isCut = true;
    if (this.#asked) this.#look(this.#asked);
  }

  /** @see Incoming.collect */
  collect(limitBytes: number, tooLarge: () => Error, accept: (bytes: Uint8Array) => void): Promise<void> | undefined {
    if (this.#isComplete) {
      const bytes = this.#whole();
      if (bytes.length > limitBytes) throw tooLarge();
      accept(bytes);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      this.#asked = { limitBytes, tooLarge, accept, resolve, reject };
      this.#look(this.#asked);
      if (!this.#isDone) this.#expectAfter(GRACE_MS, new Stopwatch(this.#clock));
    });
  }

  #look({ limitBytes, tooLarge, accept, resolve, reject }: Asked): void {
    if (this.#isDone) return;
    if (this.#length > limitBytes) {
      this.#finish();
      return reject(tooLarge());
    }
    if (this.#isComplete) {
      try {
        accept(this.#whole());
        return resolve();
      } catch (fault) {
        return reject(fault);
      }
    }
    if (!this.#isCut) return;
    this.#finish();
    reject(new Refusal('invalid', 'the connection was closed before the body was complete', { code: 'body_incomplete' }));
  }

  #expectAfter(delayMs: number, since: Stopwatch): void {
    this.#forget = this.#clock.after(delayMs, () => {
      const leftMs = GRACE_MS + this.#length / BYTES_PER_MS_MIN - since.elapsedMs;
      if (leftMs > 0) return this.#expectAfter(leftMs, since);
      this.#finish();
      this.#asked?.reject(new WireRefusal(408, 'invalid', 'the body did not arrive in time; send it at once, the request was not carried out', { code: 'body_timeout' }));
    });
  }

  #whole(): Uint8Array {
    const [only] = this.#chunks;
    const bytes = only && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks, this.#length);
    this.#finish();
    return bytes;
  }

  #finish(): void {
    this.#isDone = true;
    this.#chunks = [];
    this.#forget?.();
  }
}
