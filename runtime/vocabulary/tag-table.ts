import { assert } from './assert.js';

/**
 * The tag table: every published value of one unit in one SharedArrayBuffer, written once per scan by the unit runtime
 * and read by the stream hub, the historian and the REST reads without any message.
 *
 * Layout: 64-byte Int32 header, Float64 statistics, Float64 values, Float64 timestamps (wall ms), Uint8 quality codes.
 * BOOL is 0 or 1, TIME whole milliseconds, STRING the id of a text announced by a `text` message (see port.ts).
 * Invariant: the version word is odd while the writer is inside; a reader that sees it odd or changed reads again.
 */
const HEADER_BYTES = 64;
const STATS = 16;
const READ_ATTEMPTS = 3;

/** Slots of the statistics area. */
export const STAT = {
  scanCount: 0,
  heartbeatAtMs: 1,
  lastScanUs: 2,
  maxScanUs: 3,
  latenessUs: 4,
  maxLatenessUs: 5,
  missed: 6,
  overruns: 7,
  plantMs: 8,
  timeScale: 9,
  /** Of the heartbeat, by the clock that nobody can set. */
  heartbeatMonoMs: 10,
} as const;

export function tagTableBytes(tags: number): number {
  return HEADER_BYTES + 8 * (STATS + 2 * tags) + tags;
}

/** Typed views over one tag table; the same class serves the writer and the readers. */
export class TagTable {
  readonly buffer: SharedArrayBuffer;
  readonly size: number;
  readonly version: Int32Array;
  readonly stats: Float64Array;
  readonly values: Float64Array;
  readonly timestamps: Float64Array;
  readonly quality: Uint8Array;

  constructor(size: number, buffer: SharedArrayBuffer = new SharedArrayBuffer(tagTableBytes(size))) {
    assert(buffer.byteLength === tagTableBytes(size), 'a tag table has the memory of its tags: with another number every array would lie elsewhere');
    this.buffer = buffer;
    this.size = size;
    this.version = new Int32Array(buffer, 0, 16);
    this.stats = new Float64Array(buffer, HEADER_BYTES, STATS);
    this.values = new Float64Array(buffer, HEADER_BYTES + 8 * STATS, size);
    this.timestamps = new Float64Array(buffer, HEADER_BYTES + 8 * (STATS + size), size);
    this.quality = new Uint8Array(buffer, HEADER_BYTES + 8 * (STATS + 2 * size), size);
  }

  /** Whether a scan has been published. */
  get published(): boolean {
    return Atomics.load(this.version, 0) > 1; // 1 is the writer inside for the first time
  }

  /** Publishes one scan: arrays of `size` entries, copied between the two version steps. */
  publish(values: Float64Array, timestamps: Float64Array, quality: Uint8Array): void {
    // both steps read and write in one: a store would let the processor move the copies out of the bracket (ARM64)
    Atomics.or(this.version, 0, 1); // made odd, not raised: a writer that died inside has left it odd
    this.values.set(values);
    this.timestamps.set(timestamps);
    this.quality.set(quality);
    Atomics.add(this.version, 0, 1);
    Atomics.notify(this.version, 0);
  }

  /** Copies a consistent view into the given arrays; false when the writer was inside at every attempt. */
  snapshot(values: Float64Array, timestamps: Float64Array, quality: Uint8Array): boolean {
    for (let attempt = 0; attempt < READ_ATTEMPTS; attempt += 1) {
      const before = Atomics.load(this.version, 0);
      if (before & 1) continue;
      values.set(this.values);
      timestamps.set(this.timestamps);
      quality.set(this.quality);
      if (Atomics.add(this.version, 0, 0) === before) return true;
    }
    return false;
  }
}
