/**
 * What is known of the outputs of a module while its channels stay as they are, and what goes on with an address when they are changed.
 *
 * Invariant: an output has one place in one image, and is replaced, never moved.
 */
import { assert } from '../vocabulary/assert.js';
import type { Value } from '../vocabulary/data-types.js';
import type { Fate, KeptOf } from '../vocabulary/kept.js';
import { type ProcessImage, WRITE_STATUS } from '../vocabulary/process-image.js';
import type { MonoMs } from '../vocabulary/times.js';
import type { ProbeChannel, ProbeModule } from '../port.js';
import { convertValue, messageValue } from './values.js';

export type Status = (typeof WRITE_STATUS)[keyof typeof WRITE_STATUS];
/** `overtaken`: another write came before the value was read back; `replaced`: the channels of the module were changed. */
export type Settled = Status | 'overtaken' | 'replaced';

export interface Verification {
  readonly value: number | string;
  readonly deadlineMonoMs: MonoMs;
  /** Newest sequence that carries this value; undefined when a request wrote it. */
  sequence: number | undefined;
  /** The last value read back. */
  read: number | string | undefined;
  readonly settle: (settled: Settled) => void;
}

/** What is known of an output. */
interface OutputMemory {
  /** The sequence that was looked at last. */
  seen: number;
  /** When its owner wrote last, and the time between the last two writes. */
  movedMonoMs: MonoMs | undefined;
  intervalMs: number;
  work: Promise<void> | undefined;
  busy: boolean;
  due: boolean;
  refresh: boolean;
  triedMonoMs: MonoMs;
  /** What the device has, as far as we know, since when, and when it was last told. */
  written: number | string | undefined;
  sinceMonoMs: MonoMs;
  writtenMonoMs: MonoMs;
  /** How the last dealt-with value ended. */
  verdict: Status;
  verification: Verification | undefined;
  /** Why the last write of it failed; empty: it did not. */
  failure: string;
}

/** What goes on with an address when the channels of its module are changed. */
const KEPT = {
  seen: 'derived', // of its place in the image; what a network has commanded and nobody has dealt with is still to be seen
  movedMonoMs: 'kept',
  intervalMs: 'kept',
  work: 'derived', // the new output waits for it (`after`)
  busy: 'derived', // with the work
  due: 'derived', // what is still to be seen is due
  refresh: 'lost', // the next one comes in its time
  triedMonoMs: 'kept',
  written: 'kept', // unless a write was under way, which may or may not have reached the device
  sinceMonoMs: 'kept',
  writtenMonoMs: 'kept',
  verdict: 'kept',
  verification: 'lost', // settled as replaced
  failure: 'kept',
} as const satisfies Record<keyof OutputMemory, Fate>;

type Carried = Pick<OutputMemory, KeptOf<typeof KEPT>>;

const CARRIED = Object.entries(KEPT).flatMap(([field, fate]) => (fate === 'kept' ? [field as keyof Carried] : []));

function carried(from: Carried): Carried {
  return Object.fromEntries(CARRIED.map((field) => [field, from[field]])) as Carried;
}

const NOTHING_KNOWN: Carried = {
  movedMonoMs: undefined,
  intervalMs: 0,
  triedMonoMs: 0,
  written: undefined,
  sinceMonoMs: 0,
  writtenMonoMs: 0,
  verdict: WRITE_STATUS.none,
  failure: '',
};

/** An output as long as the channels of its module stay as they are. */
export interface Output extends OutputMemory {
  readonly channel: ProbeChannel;
  readonly image: ProcessImage;
  /** Its place in `image`, and in no other. */
  readonly slot: number;
  /** The write of the output that this one has replaced, while it is under way. */
  readonly after: Promise<void> | undefined;
  /** Others have taken its place: nothing is started, kept or shown for it any more. */
  replaced: boolean;
}

/** The outputs of the present channels; what an address had in `before` goes on with it. */
export function boundOutputs({ channels }: ProbeModule, image: ProcessImage, before: readonly Output[]): Output[] {
  return channels.flatMap((channel, slot): Output[] => {
    if (channel.direction !== 'output') return [];
    const kept = before.find((output) => output.channel.address === channel.address && output.channel.dataType === channel.dataType);
    const sequence = Atomics.load(image.outSeq, slot);
    const done = Atomics.load(image.outDone, slot);
    const isHeld = image.held[slot] === 1;
    if (sequence !== done && !isHeld) dealtWith(image, slot, sequence, WRITE_STATUS.failed); // an order of before is not carried out now
    return [
      {
        channel,
        image,
        slot,
        after: kept?.work,
        replaced: false,
        ...carried(kept ?? NOTHING_KNOWN),
        seen: kept && isHeld ? done : sequence,
        work: undefined,
        busy: false,
        due: false,
        refresh: false,
        verification: undefined,
      },
    ];
  });
}

/** Whoever commanded the output up to this sequence knows how it ended. */
export function dealtWith(image: ProcessImage, slot: number, sequence: number, status: Status): void {
  // the counters wrap around, so they are compared by their difference
  assert(((Atomics.load(image.outSeq, slot) - sequence) | 0) >= 0, 'nothing is acknowledged that was not commanded');
  image.outStatus[slot] = status;
  Atomics.store(image.outDone, slot, sequence);
}

/** As a message has it. */
export function wireValue(value: number | string, { dataType }: ProbeChannel): Value {
  return typeof value === 'string' ? value : messageValue(value, undefined, dataType);
}

/** Fail-safe values by the address of their output. */
export function failSafeValues({ failSafe, channels }: ProbeModule): ReadonlyMap<string, number | string> {
  const values = new Map<string, number | string>();
  for (const { channel: name, value } of failSafe?.outputs ?? []) {
    const channel = channels.find((row) => row.name === name || row.address === name);
    const converted = channel ? convertValue(value, channel.dataType) : undefined;
    if (channel && converted !== undefined) values.set(channel.address, converted);
  }
  return values;
}
