/**
 * Which box drives a device, where the device has a register for it (ADR 0015): every box reads the register before it
 * writes an output, and the one whose mark stands there goes on counting in it. Mark and counter are one value of 64 bits,
 * written and read in one request each, so nobody ever sees one of them without the other.
 *
 * Invariants: outputs are withheld until a read has shown what this box itself wrote; a mark that is not ours is never
 * overwritten, unless an engineer named it and its counter stands still.
 */
import type { RegisterTraits } from './description.js';
import type { Link, Point, SampleSink } from './driver.js';

export interface OwnershipSettings {
  readonly address: string;
  readonly intervalMs: number;
  /** Mark of the box whose place this one takes; empty: of none. */
  readonly takeFrom?: string;
  readonly deviceId: string;
}

/** A counter that is read so often without having moved belongs to nobody who is at work. */
const STILL_READS = 2;
/** A register that cannot be read or written so often says nothing any more. */
const FAILURES_MAX = 2;
const COUNTER_MASK = 0xffff_ffffn;

/** What a box writes of itself: the first eight digits of its device id. */
export function markOf(deviceId: string): string {
  const digits = deviceId.slice(0, 8).toLowerCase();
  return /^[0-9a-f]{8}$/.test(digits) && digits !== '00000000' ? digits : '00000001';
}

export class Ownership {
  readonly #settings: OwnershipSettings;
  readonly #point: Point;
  readonly #mark: bigint;
  /** Counters of ours that may stand there: the one confirmed last, and the one tried last. */
  #ours: readonly bigint[] = [];
  #counter = 0n;
  #seen: bigint | undefined;
  #stillReads = 0;
  #failures = 0;
  #reason = '';
  #isForeign = false;

  /** @param registers of the protocol; one without has no such register. */
  constructor(settings: OwnershipSettings, registers: RegisterTraits | undefined) {
    const point = registers?.ownershipPoint(settings.address);
    if (!point?.ok) throw new Error(point?.message ?? 'devices of this protocol have no ownership register');
    this.#settings = settings;
    this.#point = point.value;
    this.#mark = BigInt(`0x${markOf(settings.deviceId)}`);
    this.begin();
  }

  /** Why nothing is written; empty: the device is ours. */
  get reason(): string {
    return this.#reason;
  }

  /** Another box drives the device. */
  get isForeign(): boolean {
    return this.#isForeign;
  }

  /** A connection begins: what stands there is read before anything is written. */
  begin(): void {
    this.#seen = undefined;
    this.#stillReads = 0;
    this.#failures = 0;
    this.#isForeign = false;
    this.#reason = `the ownership register ${this.#settings.address} is read before the first write`;
  }

  /** One look, once per interval. */
  async look(link: Link): Promise<void> {
    const found = await this.#read(link);
    if (typeof found === 'string') return this.#failed(`cannot be read: ${found}`);
    const before = this.#seen;
    this.#seen = found;
    this.#stillReads = found === before ? this.#stillReads + 1 : 0;
    const isStill = this.#stillReads >= STILL_READS;
    const mark = found >> 32n;
    const counter = found & COUNTER_MASK;
    const isConfirmed = mark === this.#mark && this.#ours.includes(counter);
    if (mark !== 0n && !isConfirmed && !isStill) return mark === this.#mark ? this.#ownMark(before) : this.#foreign(mark);
    if (mark !== 0n && mark !== this.#mark && hex(mark) !== this.#settings.takeFrom) return this.#foreign(mark);
    this.#isForeign = false;
    this.#reason = isConfirmed ? '' : `the ownership register ${this.#settings.address} is being taken`;
    await this.#count(link, counter);
  }

  /** Our own mark, but not what we wrote: left from before a restart, or a copy of this very box that goes on counting. */
  #ownMark(before: bigint | undefined): void {
    const { address } = this.#settings;
    const hasMoved = before !== undefined && before >> 32n === this.#mark && this.#stillReads === 0;
    if (this.#ours.length === 0 && !hasMoved && !this.#isForeign) {
      this.#reason = `the ownership register ${address} shows this box of before; first it is seen that the counter stands still`;
      return;
    }
    this.#ours = [];
    this.#isForeign = true;
    this.#reason = `a copy of this box (the same device id) drives the device: the counter in its ownership register ${address} moves without us`;
  }

  #foreign(mark: bigint): void {
    const { address } = this.#settings;
    this.#ours = [];
    this.#isForeign = true;
    this.#reason = `another box (mark ${hex(mark)}) drives the device, as its ownership register ${address} says; to take its place, switch that one off and set options.ownership.takeFrom to ${hex(mark)}`;
  }

  async #count(link: Link, last: bigint): Promise<void> {
    this.#counter = ((this.#ours.length > 0 ? this.#counter : last) + 1n) & COUNTER_MASK;
    const value = (this.#mark << 32n) | this.#counter;
    const outcome = await link.write(this.#point, value.toString());
    this.#ours = outcome.ok ? [this.#counter] : [...this.#ours.slice(-1), this.#counter];
    if (!outcome.ok) return this.#failed(`cannot be written: ${outcome.message}`);
    this.#failures = 0;
  }

  #failed(message: string): void {
    this.#failures += 1;
    if (this.#failures >= FAILURES_MAX || this.#reason !== '') this.#reason = `the ownership register ${this.#settings.address} ${message}`;
  }

  /** The value, or why there is none. */
  async #read(link: Link): Promise<bigint | string> {
    let found: bigint | string = 'no answer';
    const sink: SampleSink = {
      begin: () => {},
      number: (_, value) => {
        found = BigInt(value);
      },
      integer: (_, value) => {
        found = value;
      },
      text: () => {},
      bad: (_, message) => {
        found = message;
      },
      end: () => {},
    };
    try {
      const outcome = await link.read([this.#point], sink);
      return outcome.status === 'answered' ? found : outcome.message;
    } catch (fault) {
      return fault instanceof Error ? fault.message : String(fault);
    }
  }
}

function hex(mark: bigint): string {
  return mark.toString(16).padStart(8, '0');
}
