/**
 * The scan's side of the process images of a unit: latched inputs, outputs with their acknowledgements, age of samples.
 * All channels of all images lie in one set of arrays; a channel is addressed by `first[image] + channel`.
 *
 * Invariant: inside a scan nothing is allocated, except for a text channel whose text changed.
 */
import { assert } from '../vocabulary/assert.js';
import type { ImagePlan } from '../port.js';
import { CONNECTION, IMAGE_HEADER, type LatchedInputs, OUTPUTS, ProcessImage, WRITE_STATUS } from '../vocabulary/process-image.js';
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

interface TextChannel {
  readonly image: number;
  readonly channel: number;
  readonly seen: Uint8Array;
}

/** Channels as a scan has left them. */
export interface IoState {
  readonly value: Float64Array;
  readonly sampledAtMs: Float64Array;
  readonly quality: Uint8Array;
  readonly stale: Uint8Array;
  readonly ack: Float64Array;
  readonly readback: Float64Array;
  readonly answered: Uint8Array;
  readonly reach: Uint8Array;
  readonly aliveMonoMs: Float64Array;
  readonly lastOut: Float64Array;
  readonly writtenMonoMs: Float64Array;
}

export class IoLink {
  readonly images: readonly ProcessImage[];
  /** First channel of each image; the last entry is the number of channels. */
  readonly first: Int32Array;
  /** A channel that is always Bad: what an I/O block without channel reads. Channels are the numbers below. */
  readonly none: number;
  readonly value: Float64Array;
  /** Wall time, to be shown; ages are reckoned with the monotonic one. */
  readonly sampledAtMs: Float64Array;
  readonly #sampledMonoMs: Float64Array;
  readonly quality: Uint8Array;
  /** 1 where a sample is older than its module allows. */
  readonly stale: Uint8Array;
  readonly ack: Float64Array;
  readonly readback: Float64Array;
  /** 1 where the probe has dealt with every write of an output. */
  readonly answered: Uint8Array;
  /** Per image, as latched: judged like an input, so that a replay refuses what was refused. */
  readonly reach: Uint8Array;
  /** When each image was last seen connected and fresh, on the monotonic clock. */
  readonly aliveMonoMs: Float64Array;
  readonly #plans: readonly ImagePlan[];
  /** 1 where a channel is measured, not driven. */
  readonly isInput: Uint8Array;
  /** 1 where a device delivers whole numbers, which may have more digits than a port can hold. */
  readonly #isInt: Uint8Array;
  /** 1 where samples arrive on change only, so that their age says nothing (contract 3, Control-module template). */
  readonly #ageless: Uint8Array;
  readonly #lastOut: Float64Array;
  readonly #writtenMonoMs: Float64Array;
  readonly #touched: Uint8Array;
  readonly #views: readonly LatchedInputs[];
  readonly #texts: readonly TextChannel[];
  readonly #samples: Int32Array;
  readonly #samplesMonoMs: Float64Array;

  /** The arrays that the blocks read are given: one entry per channel and one for `none`. */
  constructor(plans: readonly ImagePlan[], { value, quality, ack, readback }: ChannelArrays) {
    this.#plans = plans;
    this.images = plans.map((plan) => new ProcessImage(plan.channels.length, plan.buffer));
    this.first = new Int32Array(plans.length + 1);
    plans.forEach((plan, image) => {
      this.first[image + 1] = this.first[image] + plan.channels.length;
    });
    const count = this.first[plans.length];
    this.none = count;
    this.value = value;
    this.sampledAtMs = new Float64Array(count + 1);
    this.#sampledMonoMs = new Float64Array(count + 1);
    this.stale = new Uint8Array(count + 1);
    this.quality = quality.fill(QUALITY.Bad);
    this.ack = ack;
    this.readback = readback;
    this.answered = new Uint8Array(count + 1).fill(1);
    this.reach = new Uint8Array(plans.length);
    for (let image = 0; image < plans.length; image += 1) this.#lookWhetherReached(image); // a write may come before the first scan
    this.isInput = Uint8Array.from(plans.flatMap((plan) => plan.channels.map((channel) => (channel.direction === 'input' ? 1 : 0))));
    this.#isInt = Uint8Array.from(plans.flatMap((plan) => plan.channels.map((channel) => (channel.dataType === 'int' ? 1 : 0))));
    this.#ageless = new Uint8Array(count);
    this.#lastOut = new Float64Array(count).fill(Number.NaN);
    this.#writtenMonoMs = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
    this.#touched = new Uint8Array(plans.length);
    this.#views = plans.map((_, image) => {
      const from = this.first[image];
      const to = this.first[image + 1];
      return {
        value: this.value.subarray(from, to),
        sampledAtMs: this.sampledAtMs.subarray(from, to),
        sampledMonoMs: this.#sampledMonoMs.subarray(from, to),
        quality: this.quality.subarray(from, to),
      };
    });
    this.#texts = plans.flatMap((plan, image) =>
      plan.channels.flatMap((entry, channel) => (entry.dataType === 'string' ? [{ image, channel, seen: new Uint8Array(TEXT_BYTES).fill(255) }] : [])),
    );
    this.aliveMonoMs = new Float64Array(plans.length).fill(Number.NaN);
    this.#samples = new Int32Array(plans.length).fill(-1);
    this.#samplesMonoMs = new Float64Array(plans.length);
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
    this.#ageless[this.first[image] + channel] = 1;
  }

  /** Takes over all inputs; called once at the start of a scan. */
  latch(monoMs: number, texts: TextTable): void {
    for (let image = 0; image < this.images.length; image += 1) {
      const view = this.#views[image];
      this.images[image].latch(view);
      this.#lookWhetherReached(image);
      this.#watch(image, monoMs);
      this.#judge(image, monoMs);
    }
    for (const text of this.#texts) this.#latchText(text, texts);
  }

  /** Takes over the inputs as they are now, beside the scans that `scans` is latched for; without texts, which no alarm compares. */
  latchBeside(scans: IoLink, monoMs: number): void {
    for (let image = 0; image < this.images.length; image += 1) {
      const view = this.#views[image];
      const scanned = scans.#views[image];
      // should the probe be inside at every attempt, what the last scan saw is the last copy
      view.value.set(scanned.value);
      view.sampledAtMs.set(scanned.sampledAtMs);
      view.sampledMonoMs.set(scanned.sampledMonoMs);
      view.quality.set(scanned.quality);
      this.images[image].latch(view);
      this.#judge(image, monoMs);
    }
  }

  #lookWhetherReached(image: number): void {
    const { header } = this.images[image];
    const connected = Atomics.load(header, IMAGE_HEADER.connection) === CONNECTION.connected && Atomics.load(header, IMAGE_HEADER.silent) === 0;
    const isWithheld = Atomics.load(header, IMAGE_HEADER.outputs) !== OUTPUTS.live;
    this.reach[image] = isWithheld ? REACH.withheld : connected ? REACH.live : REACH.away;
  }

  /** Until the first scan of a new plan, what the last scan of the old one has seen. */
  takeOver(old: IoLink): void {
    this.#plans.forEach(({ module }, image) => {
      const before = old.#plans.findIndex((plan) => plan.module === module);
      if (before < 0) return;
      this.reach[image] = old.reach[before];
      // how long a module has been silent does not begin anew with a plan: one that is lost stays so however often somebody downloads
      this.aliveMonoMs[image] = old.aliveMonoMs[before];
      this.#samples[image] = old.#samples[before];
      this.#samplesMonoMs[image] = old.#samplesMonoMs[before];
    });
  }

  #watch(image: number, monoMs: number): void {
    const { header } = this.images[image];
    const samples = Atomics.load(header, IMAGE_HEADER.samples);
    if (samples !== this.#samples[image]) {
      this.#samples[image] = samples;
      this.#samplesMonoMs[image] = monoMs;
    }
    const { staleAfterMs } = this.#plans[image];
    const silent = Atomics.load(header, IMAGE_HEADER.silent) === 1 || (staleAfterMs > 0 && monoMs - this.#samplesMonoMs[image] > 2 * staleAfterMs);
    const connected = Atomics.load(header, IMAGE_HEADER.connection) === CONNECTION.connected;
    if ((connected && !silent) || Number.isNaN(this.aliveMonoMs[image])) this.aliveMonoMs[image] = monoMs;
  }

  /**
   * Age of inputs (decisions 7.2): older than `staleAfter` is Uncertain, twice that Bad; of a silent probe nothing is worth
   * anything, whatever its age says. Outputs show their own state.
   */
  #judge(image: number, monoMs: number): void {
    const { staleAfterMs } = this.#plans[image];
    const { out, readback, outSeq, outDone, outStatus, header } = this.images[image];
    const isSilent = Atomics.load(header, IMAGE_HEADER.silent) === 1;
    const from = this.first[image];
    const to = this.first[image + 1];
    for (let at = from; at < to; at += 1) {
      if (this.isInput[at] === 1) {
        // 0: never sampled. Judged here, not by its age, because an on-change channel has none.
        if (!Number.isFinite(this.value[at]) || this.sampledAtMs[at] === 0 || isSilent) this.quality[at] = QUALITY.Bad;
        else if (this.#isInt[at] === 1 && Math.abs(this.value[at]) > INT_LIMIT) this.quality[at] = QUALITY.Bad;
        const ageMs = monoMs - this.#sampledMonoMs[at];
        const isStale = staleAfterMs > 0 && ageMs > staleAfterMs && this.#ageless[at] === 0;
        this.stale[at] = isStale ? 1 : 0;
        if (isStale) {
          const worst = ageMs > 2 * staleAfterMs ? QUALITY.Bad : QUALITY.Uncertain;
          if (this.quality[at] < worst) this.quality[at] = worst;
        }
        continue;
      }
      const channel = at - from;
      this.value[at] = out[channel];
      this.readback[at] = readback[channel];
      const sequence = Atomics.load(outSeq, channel);
      const answered = Atomics.load(outDone, channel) === sequence;
      this.answered[at] = answered ? 1 : 0;
      if (sequence === 0) this.quality[at] = QUALITY.Uncertain;
      else if (answered) {
        const status = outStatus[channel];
        this.ack[at] = status === WRITE_STATUS.done ? ACK.done : status === WRITE_STATUS.mismatch ? ACK.mismatch : ACK.failed;
        this.quality[at] = status === WRITE_STATUS.failed ? QUALITY.Bad : status === WRITE_STATUS.mismatch ? QUALITY.Uncertain : QUALITY.Good;
      }
    }
  }

  /** Text channels are few and change rarely: the bytes are compared in place and interned when they differ. */
  #latchText(text: TextChannel, texts: TextTable): void {
    const bytes = this.images[text.image].text;
    const from = text.channel * TEXT_BYTES;
    const length = 1 + bytes[from];
    let same = text.seen[0] === bytes[from];
    for (let at = 1; same && at < length; at += 1) same = text.seen[at] === bytes[from + at];
    const channel = this.first[text.image] + text.channel;
    if (!same) {
      for (let at = 0; at < length && at < TEXT_BYTES; at += 1) text.seen[at] = bytes[from + at];
      this.#lastText.set(channel, texts.intern(decodeUtf8(text.seen.subarray(1, length))));
    }
    const id = this.#lastText.get(channel) ?? 0;
    this.value[channel] = id;
    if (id === NO_TEXT) this.quality[channel] = QUALITY.Bad;
  }

  readonly #lastText = new Map<number, number>();

  /**
   * Writes the outputs that changed, and each at least every second. It reads the slots itself: a fraction given to a
   * function that the compiler did not inline becomes an object.
   */
  write(outputs: readonly OutputWire[], slots: Float64Array, monoMs: number): void {
    for (let n = 0; n < outputs.length; n += 1) {
      const { image, channel, slot } = outputs[n];
      const at = this.first[image] + channel;
      const value = slots[slot];
      if (value === this.#lastOut[at] && monoMs - this.#writtenMonoMs[at] < REWRITE_MS) continue;
      this.#lastOut[at] = value;
      this.#writtenMonoMs[at] = monoMs;
      this.images[image].write(channel, value);
      this.#touched[image] = 1;
    }
  }

  /** A write of a device tag, given once: goes out even when the value is the one the scan knows. */
  force(image: number, channel: number, value: number, text: string | undefined): void {
    const at = this.first[image] + channel;
    if (text !== undefined) this.images[image].setText(channel, encodeUtf8(text));
    this.#lastOut[at] = value;
    this.#writtenMonoMs[at] = Number.NEGATIVE_INFINITY;
    this.images[image].order(channel, text === undefined ? value : 0);
    this.#touched[image] = 1;
  }

  /** Wakes the probes that have something to write. */
  flush(): void {
    for (let image = 0; image < this.images.length; image += 1) {
      if (this.#touched[image] === 0) continue;
      this.#touched[image] = 0;
      this.images[image].wakeProbe();
    }
  }

  /** What has been latched and driven, for a replay that goes on from here. */
  snapshot(): IoState {
    return {
      value: this.value.slice(),
      sampledAtMs: this.sampledAtMs.slice(),
      quality: this.quality.slice(),
      stale: this.stale.slice(),
      ack: this.ack.slice(),
      readback: this.readback.slice(),
      answered: this.answered.slice(),
      reach: this.reach.slice(),
      aliveMonoMs: this.aliveMonoMs.slice(),
      lastOut: this.#lastOut.slice(),
      writtenMonoMs: this.#writtenMonoMs.slice(),
    };
  }

  restore(state: IoState): void {
    this.value.set(state.value);
    this.sampledAtMs.set(state.sampledAtMs);
    this.quality.set(state.quality);
    this.stale.set(state.stale);
    this.ack.set(state.ack);
    this.readback.set(state.readback);
    this.answered.set(state.answered);
    this.reach.set(state.reach);
    this.aliveMonoMs.set(state.aliveMonoMs);
    this.#lastOut.set(state.lastOut);
    this.#writtenMonoMs.set(state.writtenMonoMs);
  }

  /** How long an I/O module has been without connection or samples; 0 while it is well, -1 for an unknown module. */
  lostForMs(module: string, monoMs: number): number {
    const image = this.#plans.findIndex((plan) => plan.module === module);
    if (image < 0) return -1;
    return Math.max(0, monoMs - this.aliveMonoMs[image]);
  }

  isStale(image: number, channel: number): boolean {
    return this.stale[this.first[image] + channel] === 1;
  }

  /** What `inspect diagnostics` shows of the drivers. */
  inspect(monoMs: number): { readonly ioModule: string; readonly lastReadAt: string | null; readonly ageMs: number | null; readonly reads: number; readonly errors: number }[] {
    return this.#plans.map((plan, image) => {
      const inputs = [...this.#views[image].sampledAtMs].filter((at) => at > 0);
      const last = inputs.length > 0 ? Math.max(...inputs) : null;
      const bad = [...this.#views[image].quality].filter((code) => code === QUALITY.Bad).length;
      return {
        ioModule: plan.module,
        lastReadAt: last === null ? null : new Date(last).toISOString(),
        ageMs: last === null ? null : Math.max(0, Math.round(monoMs - Math.max(...this.#views[image].sampledMonoMs))),
        reads: this.#samples[image],
        errors: bad,
      };
    });
  }
}

/** UTF-8 by hand: this folder uses no API beyond the language. Malformed bytes read as the replacement character. */
export function decodeUtf8(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at];
    const extra = lead < 0x80 ? 0 : lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : -1;
    let point = extra === 0 ? lead : lead & (0x3f >> extra);
    let sound = extra >= 0 && at + extra < bytes.length;
    for (let n = 1; sound && n <= extra; n += 1) {
      sound = (bytes[at + n] & 0xc0) === 0x80;
      point = (point << 6) | (bytes[at + n] & 0x3f);
    }
    text += sound && point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd';
    at += sound ? extra + 1 : 1;
  }
  return text;
}

export function encodeUtf8(text: string): Uint8Array {
  const bytes: number[] = [];
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    if (point < 0x80) bytes.push(point);
    else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 0x3f));
    else if (point < 0x10000) bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f));
    else bytes.push(0xf0 | (point >> 18), 0x80 | ((point >> 12) & 0x3f), 0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f));
  }
  return Uint8Array.from(bytes);
}
