/**
 * New generated functions run on made-up inputs before they go on-line, so that the first live scans do not run interpreted
 * (performance notes, E) and nothing that happens later - a bad channel, a failed block - throws optimised code away.
 *
 * They run in the memory of the new plan itself, which is put back as it was: the arrays are constants of the functions.
 *
 * Invariant: after `warmUp` memory and channels have the content they had before.
 */
import { inside } from '../vocabulary/assert.js';
import type { ChannelArrays, Region } from './arena.js';
import { callPart, copyInputs } from './execute.js';
import type { Run } from './instance.js';
import type { IoLink } from './io-link.js';
import type { Steps } from './steps.js';
import type { TextTable } from './texts.js';

/** How long the steps of a warm-up may take at most, all together: the download waits for it. What is not hot then gets so on-line. */
const WARM_UP_MS_MAX = 25;

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
  readonly region: Region;
  readonly io: IoLink;
  readonly texts: TextTable;
  readonly clockMs: () => number;
}

/** Time that the steps take, without what happens between them. */
class Budget {
  readonly #clockMs: () => number;
  #leftMs = WARM_UP_MS_MAX;
  #fromMs = 0;

  constructor(clockMs: () => number) {
    this.#clockMs = clockMs;
    this.goOn();
  }

  goOn(): void {
    this.#fromMs = this.#clockMs();
  }

  get isSpent(): boolean {
    const nowMs = this.#clockMs();
    this.#leftMs -= nowMs - this.#fromMs;
    this.#fromMs = nowMs;
    return this.#leftMs <= 0;
  }
}

export function* warmUp(parts: WarmUp): Steps<void> {
  const cold = parts.runs.filter((run) => !run.compiled.hot);
  if (cold.length === 0) return;
  const { S, Q, F, X } = parts.region.memory;
  const { value, quality, ack, readback } = parts.region.channels;
  const kept = [S, Q, F, X, value, quality, ack, readback].map((array) => ({ array, content: array.slice() }));
  const budget = new Budget(parts.clockMs);
  for (const run of cold) yield* heat(run, parts, budget);
  for (const { array, content } of kept) array.set(content);
}

/** A step is one call of one function: the first call makes the engine compile it. */
function* heat(run: Run, { region, io, texts }: WarmUp, budget: Budget): Steps<void> {
  const { compiled, shape, instances, periodMs } = run;
  const perCall = Math.min(instances.length, INSTANCES_PER_CALL);
  const scans = Math.ceil((INSTANCES_MIN + (INSTANCES_PER_TEXT * shape.chunks.length) / shape.textLength) / perCall);
  for (let scan = 0; scan < scans && !compiled.hot; scan += 1) {
    imagine(region.channels, scan);
    copyInputs(run, region.memory, io);
    for (let part = 0; part < compiled.functions.length; part += 1) {
      if (budget.isSpent) return;
      callPart(run, part, region.from, texts, perCall, periodMs, scan);
      if (budget.isSpent) return;
      yield;
      budget.goOn();
    }
  }
  compiled.hot = true;
}

const IN_TURNS = 'the turn of a list is below its length';

function imagine({ value, quality, ack, readback }: ChannelArrays, scan: number): void {
  for (let channel = 0; channel < value.length; channel += 1) {
    const turn = scan + channel;
    const imagined = inside(VALUES, turn % VALUES.length, IN_TURNS);
    value[channel] = imagined;
    quality[channel] = inside(QUALITIES, turn % QUALITIES.length, IN_TURNS);
    ack[channel] = turn % 3;
    readback[channel] = imagined;
  }
}
