/** Puts samples of a network module into its process image and remembers why a channel is Bad. */
import { assert, inside } from '../vocabulary/assert.js';
import { type ProcessImage, TEXT_BYTES_MAX } from '../vocabulary/process-image.js';
import { QUALITY, type QualityCode } from '../vocabulary/quality.js';
import type { BadKind, Point, SampleSink } from './driver.js';
import type { SampleCounts } from './statistics.js';
import type { Clock } from '../vocabulary/clock.js';
import type { MonoMs, WallMs } from '../vocabulary/times.js';

/** A point and the channel it feeds: an input's own address, or an output's readback. */
export interface ImagePoint extends Point {
  readonly channel: number;
  readonly pollMs: number;
  readonly readback: boolean;
}

export type ReadbackListener = (point: ImagePoint, value: number | string) => void;

/** A sink that can close a bracket its driver left open. */
export interface RecoverableSink extends SampleSink {
  recover(): void;
}

const encoder = new TextEncoder();
/** So many characters fit whatever they are: one of UTF-16 has three bytes of UTF-8 at most. */
const SHORT_TEXT = Math.floor(TEXT_BYTES_MAX / 3);

export class ImageSink {
  readonly #image: ProcessImage;
  readonly #clock: Clock;
  readonly #messages: string[];
  readonly #goodMonoMs: Float64Array;
  /** Of the samples between `begin` and `end`: they came together. */
  #wallMs: WallMs = 0;
  #monoMs: MonoMs = 0;

  constructor(image: ProcessImage, channels: number, clock: Clock) {
    assert(channels === image.value.length, 'a sink has the channels of its image');
    this.#image = image;
    this.#clock = clock;
    this.#messages = new Array<string>(channels).fill('');
    this.#goodMonoMs = new Float64Array(channels);
  }

  message(channel: number): string {
    return this.#messages[channel] ?? '';
  }

  firstMessage(): string {
    return this.#messages.find((message) => message !== '') ?? '';
  }

  /** Whether a channel has had a good sample at `sinceMs` or later. */
  isGoodSince(sinceMs: MonoMs): boolean {
    return this.#goodMonoMs.some((ms) => ms > 0 && ms >= sinceMs);
  }

  /** Monotonic time of the newest good sample among the points; 0 when there is none. */
  lastGoodMonoMs(points: readonly ImagePoint[]): number {
    let last = 0;
    for (const point of points) last = Math.max(last, this.#goodMonoMs[point.channel] ?? 0);
    return last;
  }

  markBad(points: readonly ImagePoint[], message: string): void {
    this.#image.beginInputs();
    for (const point of points) this.#bad(point.channel, message);
    this.#image.endInputs();
  }

  /** Samples flow, and these did not come again: they are as they were. What is Bad, or was never delivered, stays so. */
  confirm(points: readonly ImagePoint[]): void {
    const wallMs = this.#clock.wallMs();
    const monoMs = this.#clock.monoMs();
    this.#image.beginInputs();
    for (const { channel } of points) {
      if (this.#image.quality[channel] === QUALITY.Bad || this.#goodMonoMs[channel] === 0) continue;
      this.#image.stamp(channel, wallMs, monoMs);
      this.#goodMonoMs[channel] = monoMs;
    }
    this.#image.endInputs();
  }

  #reserve(channel: number, message: string): void {
    this.#image.quality[channel] = QUALITY.Uncertain;
    this.#messages[channel] = message;
  }

  allBad(message: string): void {
    this.#image.beginInputs();
    for (let channel = 0; channel < this.#messages.length; channel += 1) this.#bad(channel, message);
    this.#image.endInputs();
  }

  #bad(channel: number, message: string): void {
    this.#image.quality[channel] = QUALITY.Bad;
    this.#messages[channel] = message;
  }

  #store(point: ImagePoint, value: number, quality: QualityCode): void {
    this.#image.value[point.channel] = value;
    this.#image.stamp(point.channel, this.#wallMs, this.#monoMs);
    this.#image.quality[point.channel] = quality;
    this.#messages[point.channel] = '';
    this.#goodMonoMs[point.channel] = this.#monoMs;
    if (point.readback) this.#image.readback[point.channel] = value;
  }

  /** The sink of one read; positions are indexes into `points`. `counts`: what counts the samples of it. */
  of(points: readonly ImagePoint[], onReadback: ReadbackListener, counts?: SampleCounts): RecoverableSink {
    let open = false;
    const heard: (() => void)[] = [];
    const end = (): void => {
      if (!open) return;
      open = false;
      this.#image.endInputs();
      for (const tell of heard.splice(0)) tell();
    };
    const pointAt = (position: number): ImagePoint => {
      assert(open, 'samples come between begin and end');
      return inside(points, position, 'a driver delivers the points it was asked for');
    };
    const deliver = (point: ImagePoint, value: number, text: string | undefined): void => {
      this.#store(point, value, QUALITY.Good);
      counts?.good(point.channel, this.#monoMs);
      // The text of an output belongs to its writing unit.
      if (text !== undefined && !point.readback) this.#image.setText(point.channel, encoder.encode(text));
      if (point.readback) heard.push(() => onReadback(point, text ?? value));
    };
    const refuse = ({ channel }: ImagePoint, message: string, kind: BadKind): void => {
      this.#bad(channel, message);
      counts?.bad(channel, kind);
    };
    return {
      begin: () => {
        open = true;
        this.#wallMs = this.#clock.wallMs();
        this.#monoMs = this.#clock.monoMs();
        this.#image.beginInputs();
      },
      number: (position, value) => {
        const point = pointAt(position);
        deliver(point, point.dataType === 'bool' ? Number(value !== 0) : value, undefined);
      },
      integer: (position, value) => deliver(pointAt(position), Number(value), String(value)),
      text: (position, value) => {
        const point = pointAt(position);
        const bytes = value.length <= SHORT_TEXT || point.readback ? 0 : encoder.encode(value).length;
        if (bytes > TEXT_BYTES_MAX) refuse(point, `the text has ${bytes} bytes (UTF-8), and a channel holds ${TEXT_BYTES_MAX}: a part of it would be another text`, 'refused');
        else deliver(point, 0, value);
      },
      bad: (position, message, kind = 'refused') => refuse(pointAt(position), message, kind),
      uncertain: (position, message) => this.#reserve(pointAt(position).channel, message),
      taken: (position, wallMs) => this.#image.stamp(pointAt(position).channel, wallMs, this.#monoMs),
      end,
      recover: end,
    };
  }
}
