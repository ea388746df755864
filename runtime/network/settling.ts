/** Writes that wait for the answer of a device: read-back and refusal (decisions 7.7, 3.5 `write-failed`). */
import { type Told, told } from '../vocabulary/told.js';
import type { MonoMs } from '../vocabulary/times.js';
import { inside } from '../vocabulary/assert.js';
import type { UnitPlan } from '../port.js';
import { ACK, type IoLink } from './io-link.js';

export interface Settlement {
  readonly settled: boolean;
  readonly rule?: string;
  readonly message?: string;
  readonly told?: Told;
}

const OF_PLAN = 'a write that waits is one to a channel of this plan';
const SETTLED: Settlement = { settled: true };
const OUTSTANDING: Settlement = { settled: false };
/** Written as if in the next scan that looks: the process image it went to was replaced, and the new one has seen nothing of it. */
const IN_NEXT_SCAN = Number.POSITIVE_INFINITY;

export class SettlingWrites {
  readonly #plan: UnitPlan;
  readonly #io: IoLink;
  /** Slot to the monotonic time of the scan in which it was written. */
  readonly #since = new Map<number, number>();
  /** Those of them whose image was replaced: what the new one says of them is no word of the device. */
  readonly #replaced = new Set<number>();

  constructor(plan: UnitPlan, io: IoLink) {
    this.#plan = plan;
    this.#io = io;
  }

  note(slot: number, monoMs: MonoMs): void {
    this.#since.set(slot, monoMs);
    this.#replaced.delete(slot);
  }

  /** A write of the plan before, which lies elsewhere now. */
  takeOver(slot: number, sinceMonoMs: MonoMs, isSameImage: boolean): void {
    if (!isSameImage) this.#replaced.add(slot);
    this.#since.set(slot, isSameImage ? sinceMonoMs : IN_NEXT_SCAN);
  }

  snapshot(): readonly (readonly [number, number])[] {
    return [...this.#since];
  }

  restore(saved: readonly (readonly [number, number])[]): void {
    this.#since.clear();
    for (const [slot, sinceMonoMs] of saved) this.#since.set(slot, sinceMonoMs);
  }

  /** The scan of the write sends it; from the next scan on the acknowledgement that was latched with the inputs counts. */
  look(slot: number, image: number, channel: number, monoMs: MonoMs): Settlement {
    const sinceMonoMs = this.#since.get(slot);
    if (sinceMonoMs === undefined) return SETTLED;
    if (sinceMonoMs === IN_NEXT_SCAN) this.#since.set(slot, monoMs);
    if (monoMs <= sinceMonoMs) return OUTSTANDING;
    const at = this.#io.number(image, channel);
    const answered = this.#io.answered[at] === 1;
    const { readbackTimeoutMs } = this.#plan.settings;
    if (!answered && monoMs - sinceMonoMs < readbackTimeoutMs) return OUTSTANDING;
    this.#since.delete(slot);
    const plan = inside(this.#plan.images, image, OF_PLAN);
    const name = `${plan.module}:${inside(plan.channels, channel, OF_PLAN).name}`;
    const of = { address: name, channel: name };
    if (!answered)
      return {
        settled: true,
        rule: 'write-failed',
        message: `${name}: the device has not answered within ${readbackTimeoutMs} ms`,
        told: told('device-silent', { ...of, ms: String(readbackTimeoutMs) }),
      };
    if (this.#io.ack[at] === ACK.done) return SETTLED;
    const isReplaced = this.#replaced.delete(slot);
    if (isReplaced && this.#io.ack[at] === ACK.failed)
      return { settled: true, rule: 'write-failed', message: `${name}: its channels were changed while the write was on its way`, told: told('channels-changed', of) };
    if (this.#io.ack[at] === ACK.failed) return { settled: true, rule: 'write-failed', message: `${name}: the device refused the write`, told: told('device-refused', of) };
    const [readback, written] = [String(this.#io.readback[at]), String(this.#io.value[at])];
    return {
      settled: true,
      rule: 'readback-mismatch',
      message: `${name} reads back ${readback} after ${written} was written`,
      told: told('readback-differs', { ...of, readback, written }),
    };
  }
}
