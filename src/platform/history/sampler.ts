/**
 * Which values become samples (decisions 8.9): a change by more than 0.1 % of the tag's range (any change when it has
 * none), at most every `historian.minInterval`, and at least every 60 s. A change of quality is a change.
 *
 * Intervals are monotonic, so a wall clock that jumps neither floods nor starves the history; the jump itself is declared
 * as a gap of every unit. So is a time in which nobody looked, because the process was stopped or had no processor: a value
 * that stays what it was would be told over it otherwise.
 */
import type { Clock } from '../base/clock.js';
import type { MonoMs, WallMs } from '../base/times.js';
import type { Scaling } from './block-codec.js';
import type { History } from './history.js';
import type { TagIdentity } from './words.js';

const DEADBAND = 0.001; // decisions 8.9
const ROUNDING = 1e-9; // a change of exactly 0.1 % is not more than 0.1 %, whatever its last binary digit
const SAMPLE_AT_LEAST_MS = 60_000; // decisions 8.9
const CLOCK_JUMP_MS = 1000;
/** Passes come every 200 ms or so; one that is so late has left something out. */
const LATE_MS = 3000;

export interface SampledTag extends TagIdentity {
  /** engMax - engMin; 0 or absent when the tag has no range. */
  readonly range?: number;
  readonly scaling?: Scaling;
}

export interface SampleReading {
  /** Null when there is none; text only for tags of type String, ms for Time. */
  readonly value: number | boolean | string | null;
  /** Quality code, 0 the good one. */
  readonly quality: number;
  /** Wall ms of the value; 0 when unknown. */
  readonly atMs: WallMs;
}

/** The tags of one unit. The sampler calls `refresh` once per pass, then reads. */
export interface SampleSource {
  readonly site: string;
  readonly unit: string;
  readonly tags: readonly SampledTag[];
  /** False when there is nothing to read at the moment. */
  refresh(): boolean;
  reading(index: number): SampleReading;
}

/** What was last recorded of the tags of one source, same order as its tags. */
interface Watched {
  readonly source: SampleSource;
  readonly ids: Uint32Array;
  readonly deadbands: Float64Array;
  readonly values: Float64Array;
  /** Quality code, -1 before the first sample. */
  readonly qualities: Int16Array;
  readonly monoMs: Float64Array;
  readonly wallMs: Float64Array;
}

export class Sampler {
  readonly #history: Pick<History, 'tag' | 'push' | 'text' | 'renumberTexts' | 'recordGap'>;
  readonly #clock: Clock;
  readonly #minIntervalMs: number;
  readonly #watched = new Map<string, Watched>();
  #lastWallMs: WallMs;
  #lastMonoMs: MonoMs;
  /** False before the first pass, which is late for nothing. */
  #hasPassed = false;

  constructor(history: Pick<History, 'tag' | 'push' | 'text' | 'renumberTexts' | 'recordGap'>, clock: Clock, minIntervalMs: number) {
    this.#history = history;
    this.#clock = clock;
    this.#minIntervalMs = minIntervalMs;
    this.#lastWallMs = clock.wallMs();
    this.#lastMonoMs = clock.monoMs();
  }

  /** Adds the tags of a unit, or replaces them after a change of its plan. */
  place(source: SampleSource): void {
    const before = this.#watched.get(keyOf(source));
    const count = source.tags.length;
    const watched: Watched = {
      source,
      ids: Uint32Array.from(source.tags, (tag) => this.#history.tag(tag, tag.scaling)),
      deadbands: Float64Array.from(source.tags, (tag) => (tag.range ?? 0) * DEADBAND * (1 + ROUNDING)),
      values: new Float64Array(count),
      qualities: new Int16Array(count).fill(-1),
      monoMs: new Float64Array(count),
      wallMs: new Float64Array(count),
    };
    if (before) carryOver(before, watched);
    this.#watched.set(keyOf(source), watched);
  }

  remove(site: string, unit: string): void {
    this.#watched.delete(keyOf({ site, unit }));
  }

  /** One look at every tag; called every 200 ms or so. */
  pass(): void {
    const wallMs = this.#clock.wallMs();
    const monoMs = this.#clock.monoMs();
    const [beforeMs, isLate] = [this.#lastWallMs, this.#hasPassed && monoMs - this.#lastMonoMs >= LATE_MS];
    this.#hasPassed = true;
    this.#declareJump(wallMs, monoMs);
    if (isLate) return this.#declareOutage(beforeMs, wallMs);
    for (const watched of this.#watched.values()) {
      if (!watched.source.refresh()) continue;
      for (let index = 0; index < watched.ids.length; index += 1) this.#look(watched, index, wallMs, monoMs);
    }
  }

  #look(watched: Watched, index: number, wallMs: WallMs, monoMs: MonoMs): void {
    const { quality, value: given, atMs: valueMs } = watched.source.reading(index);
    const value = this.#numeric(given);
    const sinceMs = monoMs - (watched.monoMs[index] as number);
    const isFirst = (watched.qualities[index] as number) < 0;
    if (!isFirst) {
      if (sinceMs < this.#minIntervalMs) return;
      if (sinceMs < SAMPLE_AT_LEAST_MS && quality === watched.qualities[index] && !differs(value, watched.values[index] as number, watched.deadbands[index] as number)) return;
    }
    const atMs = sampleTime(valueMs, watched.wallMs[index] as number, wallMs);
    if (!this.#history.push(watched.ids[index] as number, quality, atMs, Number.isNaN(value) ? null : value)) return;
    watched.values[index] = value;
    watched.qualities[index] = quality;
    watched.monoMs[index] = monoMs;
    watched.wallMs[index] = atMs;
  }

  /** NaN stands for no value. */
  #numeric(value: number | boolean | string | null): number {
    if (typeof value === 'number') return Number.isFinite(value) ? value : Number.NaN;
    if (value === null) return Number.NaN;
    return typeof value === 'boolean' ? Number(value) : this.#history.text(value);
  }

  /** Every tag is recorded anew by the next pass: what can be read now may be of before. */
  #declareOutage(fromMs: WallMs, toMs: WallMs): void {
    for (const { source, monoMs } of this.#watched.values()) {
      monoMs.fill(Number.NEGATIVE_INFINITY);
      if (toMs > fromMs) this.#history.recordGap({ site: source.site, unit: source.unit, address: '', fromMs, toMs, cause: 'Overload', bounds: 'Exact' });
    }
  }

  #declareJump(wallMs: WallMs, monoMs: MonoMs): void {
    const jumpMs = wallMs - this.#lastWallMs - (monoMs - this.#lastMonoMs);
    const beforeMs = this.#lastWallMs;
    this.#lastWallMs = wallMs;
    this.#lastMonoMs = monoMs;
    if (Math.abs(jumpMs) < CLOCK_JUMP_MS) return;
    this.#history.renumberTexts();
    for (const { source, wallMs: recorded } of this.#watched.values()) {
      recorded.fill(0); // times before the jump say nothing about times after it
      const [fromMs, toMs] = jumpMs > 0 ? [beforeMs, wallMs] : [wallMs, beforeMs];
      this.#history.recordGap({ site: source.site, unit: source.unit, address: '', fromMs, toMs, cause: 'ClockJump', bounds: jumpMs > 0 ? 'Exact' : 'Overlapping' });
    }
  }
}

/** Whether a value is a change: more than the deadband away, or there is one where there was none. */
function differs(value: number, recorded: number, deadband: number): boolean {
  if (Number.isNaN(value) || Number.isNaN(recorded)) return Number.isNaN(value) !== Number.isNaN(recorded);
  return deadband > 0 ? Math.abs(value - recorded) > deadband : value !== recorded;
}

/** The time of the value itself when it is later than the last sample; for an unchanged value, now. */
function sampleTime(valueMs: number, recordedMs: number, nowMs: WallMs): number {
  return valueMs > recordedMs && valueMs <= nowMs && nowMs - valueMs < SAMPLE_AT_LEAST_MS ? valueMs : nowMs;
}

function carryOver(before: Watched, after: Watched): void {
  const places = new Map([...before.ids].map((id, index) => [id, index]));
  for (const [index, id] of after.ids.entries()) {
    const from = places.get(id);
    if (from === undefined) continue;
    after.values[index] = before.values[from] as number;
    after.qualities[index] = before.qualities[from] as number;
    after.monoMs[index] = before.monoMs[from] as number;
    after.wallMs[index] = before.wallMs[from] as number;
  }
}

function keyOf({ site, unit }: { readonly site: string; readonly unit: string }): string {
  return `${site}/${unit}`;
}
