/**
 * The scan's side of the process images of a unit: latched inputs, outputs with their acknowledgements, age of samples.
 * All channels of all images lie in one set of arrays; a channel is addressed by `first[image] + channel`.
 *
 * Invariant: inside a scan nothing is allocated, except for a text channel whose text changed.
 */
import type { MonoMs } from '../vocabulary/times.js';
import { assert, inside } from '../vocabulary/assert.js';
import type { ImagePlan } from '../port.js';
import { CONNECTION, IMAGE_HEADER, type LatchedInputs, OUTPUTS, ProcessImage, staleAfterOf, WRITE_STATUS } from '../vocabulary/process-image.js';
import { QUALITY } from '../vocabulary/quality.js';
import type { ChannelArrays } from './arena.js';
import { INT_LIMIT } from './constants.js';
import type { OutputWire } from './instance.js';
import { NO_TEXT, type TextTable } from './texts.js';

/** An unchanged output is written again at least this often (decisions 5.2, AO). */
const REWRITE_MS = 1000;

/** Acknowledgement of the last write of an output, as AO and DO see it. */
export const ACK = { failed: 0, done: 1, mismatch: 2 } as const;

/** Whether an order to an output of an image would reach its device. */
export const REACH = { live: 0, away: 1, withheld: 2 } as const;

/** Bytes of one text channel in the image: a length byte and the text. */
const TEXT_BYTES = 128;

/** Latched beside the numbers; its text gets an id when its bytes differ from those that were seen last. */
interface TextChannel {
  readonly image: ProcessImage;
  /** Its place in the image, and in all the arrays. */
  readonly channel: number;
  readonly at: number;
  readonly seen: Uint8Array;
  id: number;
}

/** The images and arrays of one module, at hand for a scan. */
interface Linked {
  readonly plan: ImagePlan;
  readonly image: ProcessImage;
  /** Its channels lie from here up to there. */
  readonly from: number;
  readonly to: number;
  readonly view: LatchedInputs;
}

/** What is carried from scan to scan: an entry per channel and one for `none`, or an entry per image. */
interface IoMemory {
  readonly value: Float64Array;
  /** Wall time, to be shown; ages are reckoned with the monotonic one. */
  readonly sampledAtMs: Float64Array;
  readonly quality: Uint8Array;
  /** Bit 0 where a sample is older than its module allows, the others where it is older than a maximum age of its tags. */
  readonly stale: Uint8Array;
  readonly ack: Float64Array;
  readonly readback: Float64Array;
  /** 1 where the probe has dealt with every write of an output. */
  readonly answered: Uint8Array;
  /** Per image, as latched: judged like an input, so that a replay refuses what was refused. */
  readonly reach: Uint8Array;
  /** When each image was last seen connected and fresh, on the monotonic clock. */
  readonly aliveMonoMs: Float64Array;
  /** What each output was given last, and when: written anew when it changes, or after a while. */
  readonly lastOut: Float64Array;
  readonly writtenMonoMs: Float64Array;
  readonly sampledMonoMs: Float64Array;
  /** Per image: its count of samples when that changed last, and when. */
  readonly samples: Int32Array;
  readonly samplesMonoMs: Float64Array;
  /** Per image: 1 where the scan has written, so that its probe must be woken. */
  readonly touched: Uint8Array;
}

/** `channel`, `image`: what the last scan has seen stands until the first scan of the new plan; `anew`: begins with it. */
interface Carried {
  readonly download: 'channel' | 'image' | 'anew';
  /** Part of the state that a recording begins with; the rest is what `latch` reckons with, and a replay does not latch. */
  readonly replay: boolean;
}

/** In the order in which a recording has them. */
const CARRIED = {
  value: { download: 'channel', replay: true },
  sampledAtMs: { download: 'channel', replay: true },
  quality: { download: 'channel', replay: true },
  stale: { download: 'channel', replay: true },
  ack: { download: 'anew', replay: true },
  readback: { download: 'anew', replay: true },
  answered: { download: 'anew', replay: true },
  reach: { download: 'image', replay: true },
  // how long a module has been silent does not begin anew with a plan: one that is lost stays so however often somebody downloads
  aliveMonoMs: { download: 'image', replay: true },
  lastOut: { download: 'anew', replay: true }, // the outputs of a new plan are written with its first scan
  writtenMonoMs: { download: 'anew', replay: true },
  sampledMonoMs: { download: 'channel', replay: false },
  samples: { download: 'image', replay: false },
  samplesMonoMs: { download: 'image', replay: false },
  touched: { download: 'anew', replay: false },
} as const satisfies { readonly [K in keyof IoMemory]: Carried };

type Replayed = { [K in keyof IoMemory]: (typeof CARRIED)[K]['replay'] extends true ? K : never }[keyof IoMemory];

/** Channels as a scan has left them. */
export type IoState = { readonly [K in Replayed]: IoMemory[K] };

const FIELDS = Object.keys(CARRIED) as (keyof IoMemory)[];
const PER_CHANNEL = FIELDS.filter((field) => CARRIED[field].download === 'channel');
const PER_IMAGE = FIELDS.filter((field) => CARRIED[field].download === 'image');
const REPLAYED = FIELDS.filter((field): field is Replayed => CARRIED[field].replay);

const encoder = new TextEncoder();
/** Of a device nothing is left out, be it a mark of the byte order. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Bits of a byte that are left for them. */
const MAX_AGES = 7;

/** Bits of the ages that are exceeded. */
function olderThan(maxAges: readonly number[], ageMs: number): number {
  let bits = 0;
  for (let n = 0; n < maxAges.length; n += 1) if (ageMs > (maxAges[n] as number)) bits |= 2 << n;
  return bits;
}

export class IoLink {
  readonly images: readonly ProcessImage[];
  /** First channel of each image; the last entry is the number of channels. */
  readonly first: Int32Array;
  /** A channel that is always Bad: what an I/O block without channel reads. Channels are the numbers below. */
  readonly none: number;
  readonly #memory: IoMemory;
  /** 1 where a channel is measured, not driven. */
  readonly isInput: Uint8Array;
  /** 1 where a device delivers whole numbers, which may have more digits than a port can hold. */
  readonly #isInt: Uint8Array;
  /** 1 where samples arrive on change only, so that their age says nothing (contract 3, Control-module template). */
  readonly #ageless: Uint8Array;
  /** By channel: the maximum ages that its tags declare, in the order of their bits; most have none. */
  readonly #maxAges: (number[] | undefined)[];
  readonly #linked: readonly Linked[];
  readonly #texts: readonly TextChannel[];

  /** The arrays that the blocks read are given: one entry per channel and one for `none`. */
  constructor(plans: readonly ImagePlan[], { value, quality, ack, readback }: ChannelArrays) {
    let count = 0;
    const ranges = plans.map((plan) => {
      const from = count;
      count += plan.channels.length;
      return { plan, from, to: count, image: new ProcessImage(plan.channels.length, plan.buffer) };
    });
    assert(
      [value, quality, ack, readback].every(({ length }) => length >= count + 1),
      'every channel has its entry in the arrays of the blocks, and `none` has one',
    );
    this.images = ranges.map(({ image }) => image);
    this.first = Int32Array.from([...ranges.map(({ from }) => from), count]);
    this.none = count;
    const sampledAtMs = new Float64Array(count + 1);
    const sampledMonoMs = new Float64Array(count + 1);
    this.#memory = {
      value,
      sampledAtMs,
      quality: quality.fill(QUALITY.Bad),
      stale: new Uint8Array(count + 1),
      ack,
      readback,
      answered: new Uint8Array(count + 1).fill(1),
      reach: new Uint8Array(plans.length),
      aliveMonoMs: new Float64Array(plans.length).fill(Number.NaN),
      lastOut: new Float64Array(count).fill(Number.NaN),
      writtenMonoMs: new Float64Array(count).fill(Number.NEGATIVE_INFINITY),
      sampledMonoMs,
      samples: new Int32Array(plans.length).fill(-1),
      samplesMonoMs: new Float64Array(plans.length),
      touched: new Uint8Array(plans.length),
    };
    this.isInput = Uint8Array.from(plans.flatMap((plan) => plan.channels.map((channel) => (channel.direction === 'input' ? 1 : 0))));
    this.#isInt = Uint8Array.from(plans.flatMap((plan) => plan.channels.map((channel) => (channel.dataType === 'int' ? 1 : 0))));
    this.#ageless = new Uint8Array(count);
    this.#maxAges = new Array<number[] | undefined>(count).fill(undefined);
    this.#linked = ranges.map(({ from, to, ...range }) => ({
      ...range,
      from,
      to,
      view: { value: value.subarray(from, to), sampledAtMs: sampledAtMs.subarray(from, to), sampledMonoMs: sampledMonoMs.subarray(from, to), quality: quality.subarray(from, to) },
    }));
    this.#texts = ranges.flatMap(({ plan, image, from }) =>
      plan.channels.flatMap((entry, channel) => (entry.dataType === 'string' ? [{ image, channel, at: from + channel, seen: new Uint8Array(TEXT_BYTES).fill(255), id: 0 }] : [])),
    );
    this.#linked.forEach((linked, n) => this.#lookWhetherReached(n, linked)); // a write may come before the first scan
  }

  get value(): Float64Array {
    return this.#memory.value;
  }

  get sampledAtMs(): Float64Array {
    return this.#memory.sampledAtMs;
  }

  get quality(): Uint8Array {
    return this.#memory.quality;
  }

  get stale(): Uint8Array {
    return this.#memory.stale;
  }

  get ack(): Float64Array {
    return this.#memory.ack;
  }

  get readback(): Float64Array {
    return this.#memory.readback;
  }

  get answered(): Uint8Array {
    return this.#memory.answered;
  }

  get reach(): Uint8Array {
    return this.#memory.reach;
  }

  get aliveMonoMs(): Float64Array {
    return this.#memory.aliveMonoMs;
  }

  /** Number of a channel: its place in all the arrays. */
  number(image: number, channel: number): number {
    const from = this.first[image];
    const to = this.first[image + 1];
    assert(from !== undefined && to !== undefined && channel >= 0 && from + channel < to, 'a channel is one of its own image, and none of the next');
    return from + channel;
  }

  /** The channel of an on-change tag: its samples are not judged by their age. */
  ignoreAge(image: number, channel: number): void {
    this.#ageless[this.number(image, channel)] = 1;
  }

  /** Declares a maximum age of a channel. @returns its bit, for `isOlder`; beyond as many as there are bits the next shorter age serves. */
  maxAge(image: number, channel: number, maxAgeMs: number): number {
    const at = this.number(image, channel);
    const known = (this.#maxAges[at] ??= []);
    const found = known.indexOf(maxAgeMs);
    if (found >= 0) return 2 << found;
    if (known.length < MAX_AGES) return 1 << known.push(maxAgeMs);
    const shorter = known.filter((age) => age <= maxAgeMs);
    return 2 << known.indexOf(shorter.length > 0 ? Math.max(...shorter) : Math.min(...known));
  }

  // -------------------------------------------------------------- a scan begins

  /** Takes over all inputs; called once at the start of a scan. */
  latch(monoMs: MonoMs, texts: TextTable): void {
    for (let n = 0; n < this.#linked.length; n += 1) {
      const linked = this.#linked[n] as Linked;
      linked.image.latch(linked.view);
      this.#lookWhetherReached(n, linked);
      this.#watch(n, linked, monoMs);
      this.#judge(linked, monoMs);
    }
    for (const text of this.#texts) this.#latchText(text, texts);
  }

  /** Takes over the inputs as they are now, beside the scans that `scans` is latched for; without texts, which no alarm compares. */
  latchBeside(scans: IoLink, monoMs: MonoMs): void {
    assert(scans.#linked.length === this.#linked.length, 'what is latched beside the scans has their images');
    for (let n = 0; n < this.#linked.length; n += 1) {
      const linked = this.#linked[n] as Linked;
      const { view } = linked;
      const scanned = (scans.#linked[n] as Linked).view;
      // should the probe be inside at every attempt, what the last scan saw is the last copy
      view.value.set(scanned.value);
      view.sampledAtMs.set(scanned.sampledAtMs);
      view.sampledMonoMs.set(scanned.sampledMonoMs);
      view.quality.set(scanned.quality);
      linked.image.latch(view);
      this.#judge(linked, monoMs);
    }
  }

  #lookWhetherReached(n: number, { image: { header } }: Linked): void {
    const connected = Atomics.load(header, IMAGE_HEADER.connection) === CONNECTION.connected && Atomics.load(header, IMAGE_HEADER.silent) === 0;
    const isWithheld = Atomics.load(header, IMAGE_HEADER.outputs) !== OUTPUTS.live;
    this.#memory.reach[n] = isWithheld ? REACH.withheld : connected ? REACH.live : REACH.away;
  }

  #watch(n: number, { image: { header }, plan }: Linked, monoMs: MonoMs): void {
    const memory = this.#memory;
    const staleAfterMs = staleAfterOf(header, plan.staleAfterMs);
    const samples = Atomics.load(header, IMAGE_HEADER.samples);
    if (samples !== memory.samples[n]) {
      memory.samples[n] = samples;
      memory.samplesMonoMs[n] = monoMs;
    }
    const silent = Atomics.load(header, IMAGE_HEADER.silent) === 1 || (staleAfterMs > 0 && monoMs - (memory.samplesMonoMs[n] as number) > 2 * staleAfterMs);
    const connected = Atomics.load(header, IMAGE_HEADER.connection) === CONNECTION.connected;
    if ((connected && !silent) || Number.isNaN(memory.aliveMonoMs[n])) memory.aliveMonoMs[n] = monoMs;
  }

  /**
   * Age of inputs (decisions 7.2): older than `staleAfter` is Uncertain, twice that Bad; of a silent probe nothing is worth
   * anything, whatever its age says. Outputs show their own state. Every place lies within the arrays, see `number`.
   */
  #judge({ plan, image, from, to }: Linked, monoMs: MonoMs): void {
    const staleAfterMs = staleAfterOf(image.header, plan.staleAfterMs);
    const { value, quality, sampledAtMs, sampledMonoMs, stale, readback, answered, ack } = this.#memory;
    const isSilent = Atomics.load(image.header, IMAGE_HEADER.silent) === 1;
    for (let at = from; at < to; at += 1) {
      if (this.isInput[at] === 1) {
        // 0: never sampled. Judged here, not by its age, because an on-change channel has none.
        if (!Number.isFinite(value[at]) || sampledAtMs[at] === 0 || isSilent) quality[at] = QUALITY.Bad;
        else if (this.#isInt[at] === 1 && Math.abs(value[at] as number) > INT_LIMIT) quality[at] = QUALITY.Bad;
        const ageMs = monoMs - (sampledMonoMs[at] as number);
        const isStale = staleAfterMs > 0 && ageMs > staleAfterMs && this.#ageless[at] === 0;
        const maxAges = this.#maxAges[at];
        stale[at] = (isStale ? 1 : 0) | (maxAges === undefined ? 0 : olderThan(maxAges, ageMs));
        if (isStale) {
          const worst = ageMs > 2 * staleAfterMs ? QUALITY.Bad : QUALITY.Uncertain;
          if ((quality[at] as number) < worst) quality[at] = worst;
        }
        continue;
      }
      const channel = at - from;
      value[at] = image.out[channel] as number;
      readback[at] = image.readback[channel] as number;
      const sequence = Atomics.load(image.outSeq, channel);
      const isAnswered = Atomics.load(image.outDone, channel) === sequence;
      answered[at] = isAnswered ? 1 : 0;
      if (sequence === 0) quality[at] = QUALITY.Uncertain;
      else if (isAnswered) {
        const status = image.outStatus[channel];
        ack[at] = status === WRITE_STATUS.done ? ACK.done : status === WRITE_STATUS.mismatch ? ACK.mismatch : ACK.failed;
        quality[at] = status === WRITE_STATUS.failed ? QUALITY.Bad : status === WRITE_STATUS.mismatch ? QUALITY.Uncertain : QUALITY.Good;
      }
    }
  }

  /** Text channels are few and change rarely: the bytes are compared in place and interned when they differ. */
  #latchText(text: TextChannel, texts: TextTable): void {
    const bytes = text.image.text;
    const { seen } = text;
    const from = text.channel * TEXT_BYTES;
    const length = 1 + (bytes[from] ?? 0);
    let same = seen[0] === bytes[from];
    for (let at = 1; same && at < length; at += 1) same = seen[at] === bytes[from + at];
    if (!same) {
      seen.set(bytes.subarray(from, from + Math.min(length, TEXT_BYTES)));
      text.id = texts.intern(decoder.decode(seen.subarray(1, length)));
    }
    this.#memory.value[text.at] = text.id;
    if (text.id === NO_TEXT) this.#memory.quality[text.at] = QUALITY.Bad;
  }

  // -------------------------------------------------------------- what is driven

  /**
   * Writes the outputs that changed, and each at least every second. It reads the slots itself: a fraction given to a
   * function that the compiler did not inline becomes an object.
   */
  write(outputs: readonly OutputWire[], slots: Float64Array, monoMs: MonoMs): void {
    const { lastOut, writtenMonoMs, touched } = this.#memory;
    for (let n = 0; n < outputs.length; n += 1) {
      const { image, channel, slot } = outputs[n] as OutputWire;
      const at = (this.first[image] as number) + channel;
      const value = slots[slot] as number;
      if (value === lastOut[at] && monoMs - (writtenMonoMs[at] as number) < REWRITE_MS) continue;
      lastOut[at] = value;
      writtenMonoMs[at] = monoMs;
      (this.images[image] as ProcessImage).write(channel, value);
      touched[image] = 1;
    }
  }

  /** A write of a device tag, given once: goes out even when the value is the one the scan knows. */
  force(image: number, channel: number, value: number, text: string | undefined): void {
    const at = this.number(image, channel);
    const target = inside(this.images, image, 'a channel is one of an image of the plan');
    if (text !== undefined) target.setText(channel, encoder.encode(text));
    this.#memory.lastOut[at] = value;
    this.#memory.writtenMonoMs[at] = Number.NEGATIVE_INFINITY;
    target.order(channel, text === undefined ? value : 0);
    this.#memory.touched[image] = 1;
  }

  /** Wakes the probes that have something to write. */
  flush(): void {
    const { touched } = this.#memory;
    for (let n = 0; n < this.images.length; n += 1) {
      if (touched[n] === 0) continue;
      touched[n] = 0;
      (this.images[n] as ProcessImage).wakeProbe();
    }
  }

  // -------------------------------------------------------------- downloads and replays

  /** Until the first scan of a new plan, what the last scan of the old one has seen. */
  takeOver(old: IoLink): void {
    this.#linked.forEach((linked, n) => {
      const before = old.#linked.findIndex(({ plan }) => plan.module === linked.plan.module);
      const known = old.#linked[before];
      if (!known) return;
      for (const field of PER_IMAGE) this.#memory[field][n] = inside(old.#memory[field], before, 'an image has its entry in the arrays');
      linked.plan.channels.forEach(({ address, direction, dataType }, channel) => {
        const then = known.plan.channels.findIndex((row) => row.address === address && row.direction === direction && row.dataType === dataType);
        if (then < 0) return;
        for (const field of PER_CHANNEL) this.#memory[field][linked.from + channel] = inside(old.#memory[field], known.from + then, 'a channel has its entry in the arrays');
      });
    });
  }

  /** What has been latched and driven, for a replay that goes on from here. */
  snapshot(): IoState {
    return Object.fromEntries(REPLAYED.map((field) => [field, this.#memory[field].slice()])) as IoState;
  }

  restore(state: IoState): void {
    for (const field of REPLAYED) this.#memory[field].set(state[field]);
  }

  // -------------------------------------------------------------- what is asked

  /** How long an I/O module has been without connection or samples; 0 while it is well, -1 for an unknown module. */
  lostForMs(module: string, monoMs: MonoMs): number {
    const image = this.#linked.findIndex(({ plan }) => plan.module === module);
    if (image < 0) return -1;
    return Math.max(0, monoMs - inside(this.#memory.aliveMonoMs, image, 'an image has its entry in the arrays'));
  }

  isStale(image: number, channel: number): boolean {
    return ((this.#memory.stale[this.number(image, channel)] as number) & 1) === 1;
  }

  /** What `inspect diagnostics` shows of the drivers. */
  inspect(monoMs: MonoMs): { readonly ioModule: string; readonly lastReadAt: string | null; readonly ageMs: number | null; readonly reads: number; readonly errors: number }[] {
    return this.#linked.map(({ plan, view }, image) => {
      const inputs = [...view.sampledAtMs].filter((at) => at > 0);
      const last = inputs.length > 0 ? Math.max(...inputs) : null;
      const bad = [...view.quality].filter((code) => code === QUALITY.Bad).length;
      return {
        ioModule: plan.module,
        lastReadAt: last === null ? null : new Date(last).toISOString(),
        ageMs: last === null ? null : Math.max(0, Math.round(monoMs - Math.max(...view.sampledMonoMs))),
        reads: inside(this.#memory.samples, image, 'an image has its entry in the arrays'),
        errors: bad,
      };
    });
  }
}
