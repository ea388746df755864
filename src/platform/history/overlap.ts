/**
 * The blocks of one tag as parts that lie wholly one after the other in time. They do so by themselves until the clock is set
 * back: from there on blocks overlap, and the samples of those that do are merged. Blocks are told apart by their bounds alone,
 * so what overlaps nothing is passed on as it is, not even decoded.
 */
import type { WallMs } from '../base/times.js';
import { decodeBlock, type Samples } from './block-codec.js';

interface StoredBlock {
  /** Rises in the order of recording. */
  readonly number: number;
  readonly t0: number;
  readonly t1: number;
  readonly data: Uint8Array;
}

export interface Placed<Block extends StoredBlock> {
  readonly block: Block;
  /** Upwards: none that comes later begins before this. Downwards: none ends after it. */
  readonly edge: number;
}

/** Samples of one block that wait until what overlaps them has come. */
interface Held {
  readonly number: number;
  readonly samples: Samples;
}

/**
 * `blocks` by their beginning, upwards or downwards; `open` was recorded after all of them. The samples of each part rise in
 * time, those of one instant stand in the order of recording; the parts themselves come in the direction asked for.
 */
export function* apart<Block extends StoredBlock>(blocks: Iterable<Placed<Block>>, open: Samples | undefined, descending: boolean): Generator<Block | Samples> {
  let held: Held[] = open ? [{ number: Number.POSITIVE_INFINITY, samples: open }] : [];
  let bound = boundOf(held, descending);
  for (const { block, edge } of blocks) {
    if (descending ? block.t0 > edge && block.t0 > bound : block.t1 < edge && block.t1 < bound) {
      yield block;
      continue;
    }
    held.push({ number: block.number, samples: decodeBlock(block.data, block.t0) });
    const ready: Held[] = [];
    const rest: Held[] = [];
    for (const { number, samples } of held) {
      const at = firstAtOrAfter(samples, descending ? edge + 1 : edge);
      const [earlier, later] = [slice(samples, 0, at), slice(samples, at, samples.count)];
      const [now, then] = descending ? [later, earlier] : [earlier, later];
      if (now.count > 0) ready.push({ number, samples: now });
      if (then.count > 0) rest.push({ number, samples: then });
    }
    if (ready.length > 0) yield merged(ready);
    held = rest;
    bound = boundOf(held, descending);
  }
  if (held.length > 0) yield merged(held);
}

/** Index of the first sample at or after a time; samples of one part are ordered by time. */
export function firstAtOrAfter({ times, count }: Samples, atMs: WallMs): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] as number) < atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Upwards no sample that waits is earlier, downwards none is later. */
function boundOf(held: readonly Held[], descending: boolean): number {
  return descending ? Math.max(...held.map(({ samples }) => samples.times[samples.count - 1] as number)) : Math.min(...held.map(({ samples }) => samples.times[0] as number));
}

function slice(samples: Samples, from: number, to: number): Samples {
  if (from === 0 && to === samples.count) return samples;
  return { count: to - from, times: samples.times.subarray(from, to), values: samples.values.subarray(from, to), codes: samples.codes.subarray(from, to) };
}

/** Samples of several as one, in time; at least of one. */
export function together(several: readonly Samples[]): Samples {
  return merged(several.map((samples, number) => ({ number, samples })));
}

function merged(parts: readonly Held[]): Samples {
  const [only] = parts;
  if (only && parts.length === 1) return only.samples;
  const recorded = parts.toSorted((a, b) => a.number - b.number);
  const count = recorded.reduce((sum, { samples }) => sum + samples.count, 0);
  const all = { times: new Float64Array(count), values: new Float64Array(count), codes: new Uint16Array(count) };
  let at = 0;
  for (const { samples } of recorded) {
    all.times.set(samples.times.subarray(0, samples.count), at);
    all.values.set(samples.values.subarray(0, samples.count), at);
    all.codes.set(samples.codes.subarray(0, samples.count), at);
    at += samples.count;
  }
  const order = Uint32Array.from(all.times, (_, index) => index).sort((a, b) => (all.times[a] as number) - (all.times[b] as number) || a - b);
  const taken = { count, times: new Float64Array(count), values: new Float64Array(count), codes: new Uint16Array(count) };
  for (const [place, from] of order.entries()) {
    taken.times[place] = all.times[from] as number;
    taken.values[place] = all.values[from] as number;
    taken.codes[place] = all.codes[from] as number;
  }
  return taken;
}
