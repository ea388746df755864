/**
 * Watches whether the unit runtime still writes a module (decisions 7.6): every scan with outputs moves the wake word
 * or an output sequence of the process image. Nothing is judged before the first sign of life; an image outlives its probe, and shows
 * to the next one that there was one: then the silence counts from when that one looked first (ADR 0077).
 */
import type { MonoMs } from '../vocabulary/times.js';
import { IMAGE_HEADER, type ProcessImage } from '../vocabulary/process-image.js';

const ALIVE_SCANS = 3; // a runtime is alive until three of its own scan intervals have passed without a sign,
const ALIVE_MS_MIN = 2000; // and for at least this long

export class RuntimeWatch {
  #image: ProcessImage;
  #wake: number;
  #seen: Int32Array;
  #lastMonoMs: MonoMs | undefined;
  /** When this watch looked first at an image that somebody had commanded before. */
  #takenOverMonoMs: MonoMs | undefined;
  readonly #isTakenOver: boolean;
  #intervalMs = 0;

  constructor(image: ProcessImage) {
    this.#image = image;
    this.#wake = Atomics.load(image.header, IMAGE_HEADER.wake);
    this.#seen = image.outSeq.slice();
    this.#isTakenOver = this.#wake !== 0 || this.#seen.some((sequence) => sequence !== 0);
  }

  /** Goes on with another image of the same module. */
  rebind(image: ProcessImage): void {
    this.#image = image;
    this.#wake = Atomics.load(image.header, IMAGE_HEADER.wake);
    this.#seen = image.outSeq.slice();
  }

  /** True when the runtime gave a sign since the last look. */
  look(nowMonoMs: MonoMs): boolean {
    if (this.#isTakenOver) this.#takenOverMonoMs ??= nowMonoMs;
    const wake = Atomics.load(this.#image.header, IMAGE_HEADER.wake);
    let moved = wake !== this.#wake;
    this.#wake = wake;
    for (let channel = 0; channel < this.#seen.length; channel += 1) {
      const sequence = Atomics.load(this.#image.outSeq, channel);
      if (sequence === this.#seen[channel]) continue;
      this.#seen[channel] = sequence;
      moved = true;
    }
    if (!moved) return false;
    if (this.#lastMonoMs !== undefined) this.#intervalMs = nowMonoMs - this.#lastMonoMs;
    this.#lastMonoMs = nowMonoMs;
    return true;
  }

  /** Ms since the last sign; 0 before the first one that this probe or one before it has seen. */
  silentMs(nowMonoMs: MonoMs): number {
    const sinceMonoMs = this.#lastMonoMs ?? this.#takenOverMonoMs;
    return sinceMonoMs === undefined ? 0 : nowMonoMs - sinceMonoMs;
  }

  alive(nowMonoMs: MonoMs): boolean {
    return this.#lastMonoMs !== undefined && nowMonoMs - this.#lastMonoMs < Math.max(ALIVE_SCANS * this.#intervalMs, ALIVE_MS_MIN);
  }
}

export type FailSafeStep = 'take' | 'leave' | 'none';

/** What to do with the fail-safe values of a module now. */
export function decideFailSafe(taken: boolean, moved: boolean, silentMs: number, timeoutMs: number): FailSafeStep {
  if (taken) return moved ? 'leave' : 'none';
  return timeoutMs > 0 && silentMs >= timeoutMs ? 'take' : 'none';
}
