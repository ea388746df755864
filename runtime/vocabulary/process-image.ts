import type { MonoMs, WallMs } from './times.js';
import { assert } from './assert.js';

/**
 * The process image of one I/O module: one SharedArrayBuffer between its probe (device side) and the unit runtimes
 * (scan side). A channel has one index in every array.
 *
 * Inputs: written by the probe under the version word (odd while writing), copied by a scan at its start.
 * Outputs: each channel has one writing unit, which stores the value and then raises `outSeq`; the probe writes the
 * device and sets `outDone` to the sequence it has dealt with and `outStatus` to how it ended. `held` says whose command the
 * newest one is: 1 a network that goes on commanding, 0 an order that was given once.
 * BOOL is 0 or 1. Text channels hold their UTF-8 bytes in `text` (1 length byte + at most 127 bytes).
 */
const HEADER_BYTES = 64;
const TEXT_BYTES = 128;
/** Of UTF-8, that a text channel holds. */
export const TEXT_BYTES_MAX = TEXT_BYTES - 1;

/** Slots of the Int32 header. */
export const IMAGE_HEADER = { version: 0, connection: 1, samples: 2, wake: 3, outputs: 4, silent: 5, staleAfter: 6 } as const;

/**
 * Age in ms at which a sample of the image becomes Uncertain: that of the plan, or what the device has made of the intervals it was asked for, when that is
 * longer (word `staleAfter`; 0: the device has not said). 0: no limit.
 */
export function staleAfterOf(header: Int32Array, plannedMs: number): number {
  return plannedMs === 0 ? 0 : Math.max(plannedMs, Atomics.load(header, IMAGE_HEADER.staleAfter));
}

/** Value of the connection word. */
export const CONNECTION = { never: 0, connected: 1, lost: 2 } as const;

/** Value of the word `outputs`: whether anything is written to the device at all (decisions, outputs of a box that is not the plant's). */
export const OUTPUTS = { live: 0, withheld: 1 } as const;

/** Value of `outStatus`. */
export const WRITE_STATUS = { none: 0, done: 1, failed: 2, mismatch: 3 } as const;

export function processImageBytes(channels: number): number {
  return HEADER_BYTES + channels * (8 * 5 + 4 * 2 + 1 * 3 + TEXT_BYTES) + 16;
}

/** A scan's copy of the input side, channel by channel. */
export interface LatchedInputs {
  readonly value: Float64Array;
  readonly sampledAtMs: Float64Array;
  readonly sampledMonoMs: Float64Array;
  readonly quality: Uint8Array;
}

export class ProcessImage {
  readonly buffer: SharedArrayBuffer;
  readonly size: number;
  readonly header: Int32Array;
  /**
   * Input side: value as delivered by the driver, when it was sampled, quality code. The wall time is for people; its age
   * is told by the monotonic one, which all threads share (D-C-07).
   */
  readonly value: Float64Array;
  readonly sampledAtMs: Float64Array;
  readonly sampledMonoMs: Float64Array;
  readonly quality: Uint8Array;
  /** Output side. */
  readonly out: Float64Array;
  readonly readback: Float64Array;
  readonly outSeq: Int32Array;
  readonly outDone: Int32Array;
  readonly outStatus: Uint8Array;
  readonly held: Uint8Array;
  readonly text: Uint8Array;

  constructor(size: number, buffer: SharedArrayBuffer = new SharedArrayBuffer(processImageBytes(size))) {
    assert(buffer.byteLength === processImageBytes(size), 'a process image has the memory of its channels: with another number every array would lie elsewhere');
    this.buffer = buffer;
    this.size = size;
    this.header = new Int32Array(buffer, 0, 16);
    let at = HEADER_BYTES;
    const float = (): Float64Array => {
      const view = new Float64Array(buffer, at, size);
      at += 8 * size;
      return view;
    };
    this.value = float();
    this.sampledAtMs = float();
    this.sampledMonoMs = float();
    this.out = float();
    this.readback = float();
    this.outSeq = new Int32Array(buffer, at, size);
    at += 4 * size;
    this.outDone = new Int32Array(buffer, at, size);
    at += 4 * size;
    this.quality = new Uint8Array(buffer, at, size);
    at += size;
    this.outStatus = new Uint8Array(buffer, at, size);
    at += size;
    this.held = new Uint8Array(buffer, at, size);
    at += size;
    this.text = new Uint8Array(buffer, at, size * TEXT_BYTES);
  }

  /**
   * Probe: opens the input side for writing. Every call is followed by `endInputs`. The version is made odd rather than
   * raised: a writer that died inside has left it odd, and the next one must not take that for even.
   */
  beginInputs(): void {
    Atomics.or(this.header, IMAGE_HEADER.version, 1);
  }

  endInputs(): void {
    Atomics.add(this.header, IMAGE_HEADER.samples, 1);
    Atomics.add(this.header, IMAGE_HEADER.version, 1);
  }

  /** Whoever has seen the probe end: no input is worth anything any more, and nobody is inside. */
  abandonInputs(bad: number): void {
    this.beginInputs();
    this.quality.fill(bad);
    if (Atomics.load(this.header, IMAGE_HEADER.connection) !== CONNECTION.never) Atomics.store(this.header, IMAGE_HEADER.connection, CONNECTION.lost);
    this.endInputs();
  }

  /** Probe, inside: a channel was sampled now. */
  stamp(channel: number, wallMs: WallMs, monoMs: MonoMs): void {
    this.sampledAtMs[channel] = wallMs;
    this.sampledMonoMs[channel] = monoMs;
  }

  /** Whoever watches the probe: its thread does not come round, or does again. What it has sampled is worth nothing meanwhile. */
  setSilent(isSilent: boolean): void {
    Atomics.store(this.header, IMAGE_HEADER.silent, isSilent ? 1 : 0);
  }

  /** Scan: copies the input side; false when the probe was inside at every attempt (the caller keeps its last copy). */
  latch({ value, sampledAtMs, sampledMonoMs, quality }: LatchedInputs): boolean {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const before = Atomics.load(this.header, IMAGE_HEADER.version);
      if (before & 1) continue;
      value.set(this.value);
      sampledAtMs.set(this.sampledAtMs);
      sampledMonoMs.set(this.sampledMonoMs);
      quality.set(this.quality);
      // read by writing: a load would let the processor move the copies above behind it (ARM64)
      if (Atomics.add(this.header, IMAGE_HEADER.version, 0) === before) return true;
    }
    return false;
  }

  /** Scan: sets one output that its network goes on commanding; the probe sees the raised sequence and writes the device. */
  write(channel: number, value: number): void {
    this.out[channel] = value;
    this.held[channel] = 1;
    Atomics.add(this.outSeq, channel, 1);
  }

  /** Scan: an order that is given once, by a person or a chart: it is carried out now or never. */
  order(channel: number, value: number): void {
    this.out[channel] = value;
    this.held[channel] = 0;
    Atomics.add(this.outSeq, channel, 1);
  }

  /** Probe: the value that was written last to an output. */
  commanded(channel: number): number {
    const value = this.out[channel];
    assert(value !== undefined, 'a channel has its slot in the image');
    return value;
  }

  /** Scan: after its outputs of one scan, wakes a probe that sleeps on the wake word. */
  wakeProbe(): void {
    Atomics.add(this.header, IMAGE_HEADER.wake, 1);
    Atomics.notify(this.header, IMAGE_HEADER.wake);
  }

  /** Bytes of a text channel; at most 127 bytes of UTF-8 are kept. */
  setText(channel: number, bytes: Uint8Array): void {
    const length = Math.min(bytes.length, TEXT_BYTES_MAX);
    this.text[channel * TEXT_BYTES] = length;
    this.text.set(bytes.subarray(0, length), channel * TEXT_BYTES + 1);
  }

  getText(channel: number): Uint8Array {
    const at = channel * TEXT_BYTES;
    const length = this.text[at];
    assert(length !== undefined, 'a channel has its slot in the image');
    return this.text.slice(at + 1, at + 1 + length);
  }
}
