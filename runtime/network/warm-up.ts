/**
 * New generated functions run on made-up inputs before they go on-line, so that the first live scans do not run interpreted
 * (performance notes, E) and nothing that happens later - a bad channel, a failed block - throws optimised code away.
 *
 * They run in the memory of the new plan itself, which is put back as it was: the arrays are constants of the functions.
 *
 * Invariant: after `warmUp` memory and channels have the content they had before.
 */
import type { ChannelArrays } from './arena.js';
import type { Memory, Run } from './instance.js';

/**
 * How long the warm-up may take at most, and the whole download with it: on a busy machine compiling alone may fill it, and
 * the next scan of a 100 ms unit must not be skipped. What is not hot then gets so on-line.
 */
const WARM_UP_MS_MAX = 25;
const DOWNLOAD_MS_MAX = 60;

/**
 * Instances that V8 wants to have seen before it optimises: a number, and more for functions of few bytes. Three times as
 * many in one go would make it replace the running loop instead, by code that does not know the arrays, and keep that.
 */
const INSTANCES_MIN = 1200;
const INSTANCES_PER_TEXT = 600_000;
const INSTANCES_PER_CALL = 64;

/** Values and qualities of channels, in turns: inside and outside of ranges, both truths, and what makes blocks fail. */
const VALUES = [0, 1, 12, 4.5, 50, -1, 0.5, 20, 100, 1e300, Number.NaN];
const QUALITIES = [0, 0, 0, 1, 0, 2, 0, 3];

export interface WarmUp {
  readonly runs: readonly Run[];
  readonly memory: Memory;
  readonly channels: ChannelArrays;
  readonly clockMs: () => number;
  /** When the download began. */
  readonly beganMs: number;
  /** Scans the first instances of a run once, its inputs included. */
  readonly scan: (run: Run, instances: number, mark: number) => void;
}

export function warmUp(parts: WarmUp): void {
  const cold = parts.runs.filter((run) => !run.compiled.hot);
  if (cold.length === 0) return;
  const { S, Q, F, X } = parts.memory;
  const { value, quality, ack, readback } = parts.channels;
  const kept = [S, Q, F, X, value, quality, ack, readback].map((array) => ({ array, content: array.slice() }));
  const deadlineMs = Math.min(parts.clockMs() + WARM_UP_MS_MAX, parts.beganMs + DOWNLOAD_MS_MAX);
  for (const run of cold) heat(run, parts, deadlineMs);
  for (const { array, content } of kept) array.set(content);
}

function heat(run: Run, parts: WarmUp, deadlineMs: number): void {
  const { compiled, shape, instances } = run;
  const perCall = Math.min(instances.length, INSTANCES_PER_CALL);
  const scans = Math.ceil((INSTANCES_MIN + (INSTANCES_PER_TEXT * shape.chunks.length) / shape.textLength) / perCall);
  for (let scan = 0; scan < scans && !compiled.hot; scan += 1) {
    if (parts.clockMs() >= deadlineMs) return;
    imagine(parts.channels, scan);
    parts.scan(run, perCall, scan);
  }
  compiled.hot = true;
}

function imagine({ value, quality, ack, readback }: ChannelArrays, scan: number): void {
  for (let channel = 0; channel < value.length; channel += 1) {
    value[channel] = VALUES[(scan + channel) % VALUES.length];
    quality[channel] = QUALITIES[(scan + channel) % QUALITIES.length];
    ack[channel] = (scan + channel) % 3;
    readback[channel] = value[channel];
  }
}
