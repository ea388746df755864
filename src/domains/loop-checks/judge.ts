/**
 * What the readings of an output say of its loop (IEC 62382, loop check): whether it is wired to itself, the right way round and in its
 * scale. Pure. BOOL is 0 and 1 here, so that one rule judges both.
 */
import type { LoopChannel, LoopOutcome, LoopReading } from './kind.js';

/** Readings of one channel over the steps, in the order of the steps. */
export interface Trace {
  /** `channel`, or `module:channel`. */
  readonly channel: string;
  readonly values: readonly (number | null)[];
  /** Highest less lowest of the samples of a step. */
  readonly spreads: readonly number[];
  /** Of another output: nothing of the process makes it move. */
  readonly isOutput: boolean;
}

export interface Judged extends Pick<LoopChannel, 'message' | 'moved'> {
  readonly outcome: LoopOutcome;
  readonly factor?: number;
  readonly offset?: number;
}

interface Line {
  readonly slope: number;
  readonly origin: number;
  /** Greatest distance of a point from the line. */
  readonly distance: number;
  /** From -1 to 1. */
  readonly correlation: number;
}

/** Two rows go together when they are this much on one line. */
const TOGETHER = 0.98;
/** What a line may be off, in tolerances: two readings are compared. */
const STRAIGHT_TOLERANCES = 2;
const NOISE_TOLERANCES = 2;
/** A channel has moved when it went further than it trembles by itself. */
const BEYOND_TREMBLE = 3;

/** Least squares of `ys` over `xs`. */
export function lineOf(xs: readonly number[], ys: readonly number[]): Line {
  const mean = (row: readonly number[]): number => row.reduce((sum, each) => sum + each, 0) / Math.max(row.length, 1);
  const [meanX, meanY] = [mean(xs), mean(ys)];
  let [xx, yy, xy] = [0, 0, 0];
  for (const [at, x] of xs.entries()) {
    const y = ys[at] ?? meanY;
    xx += (x - meanX) ** 2;
    yy += (y - meanY) ** 2;
    xy += (x - meanX) * (y - meanY);
  }
  const slope = xx === 0 ? 0 : xy / xx;
  const origin = meanY - slope * meanX;
  const distance = Math.max(0, ...xs.map((x, at) => Math.abs((ys[at] ?? meanY) - (slope * x + origin))));
  return { slope, origin, distance, correlation: xx === 0 || yy === 0 ? 0 : xy / Math.sqrt(xx * yy) };
}

export function rangeOf(row: readonly number[]): number {
  return row.length === 0 ? 0 : Math.max(...row) - Math.min(...row);
}

/** As many digits as are read by people, and as a canonical form has (decisions 8.6). */
export function rounded(value: number): number {
  return Number(value.toPrecision(9));
}

export interface Judging {
  readonly settleMs: number;
  /** In the unit of the reading. */
  readonly tolerance: number;
  readonly isBool: boolean;
}

/** One row of readings of a channel that has to follow: what is expected stands in them. */
export function judgeReadings(readings: readonly LoopReading[], { settleMs, tolerance, isBool }: Judging): Judged {
  const [first] = readings;
  if (!first) return { outcome: 'no-readback', message: 'no channel shows what the device has', moved: [] };
  const who = first.source === 'input' ? `input ${first.channel}` : first.channel;
  const seen = readings.flatMap(({ value }) => (value === null ? [] : [value]));
  if (seen.length < readings.length)
    return { outcome: 'no-readback', message: `${who} could not be read in ${readings.length - seen.length} of ${readings.length} steps`, moved: [] };
  const expected = readings.map((reading) => reading.expected);
  const tremble = Math.max(...readings.map(({ spread }) => spread));
  if (readings.every(({ agrees }) => agrees)) {
    const latest = Math.max(...readings.map((reading) => reading.settledMs ?? 0));
    if (latest > settleMs) return { outcome: 'slow', message: `${who} agreed after ${Math.round(latest)} ms; ${Math.round(settleMs)} ms are allowed`, moved: [] };
    if (tremble > NOISE_TOLERANCES * tolerance) return noisy(who, tremble);
    return { outcome: 'pass', message: '', moved: [] };
  }
  const range = rangeOf(seen);
  if (range <= Math.max(tolerance, tremble)) {
    if (tremble > NOISE_TOLERANCES * tolerance) return noisy(who, tremble);
    return { outcome: 'stuck', message: `${who} stays at ${rounded(seen.at(-1) ?? 0)} whatever is written`, moved: [] };
  }
  const { slope, origin, distance } = lineOf(expected, seen);
  const [factor, offset] = [Number(slope.toPrecision(4)), Number(origin.toPrecision(4))];
  if (distance <= STRAIGHT_TOLERANCES * tolerance * Math.max(1, Math.abs(slope)) && slope !== 0) {
    if (slope < 0) return { outcome: 'inverted', message: `${who} falls where it should rise: ${said(factor, offset, isBool)}`, factor, offset, moved: [] };
    return { outcome: 'scaled', message: `${who} shows ${said(factor, offset, isBool)}`, factor, offset, moved: [] };
  }
  if (tremble > NOISE_TOLERANCES * tolerance) return noisy(who, tremble);
  return { outcome: 'deviates', message: `${who} moves, and along no straight line: off it by ${rounded(distance)}`, moved: [] };
}

function noisy(who: string, tremble: number): Judged {
  return { outcome: 'noisy', message: `${who} does not stand still: it goes to and fro by ${rounded(tremble)}`, moved: [] };
}

function said(factor: number, offset: number, isBool: boolean): string {
  if (isBool) return 'the opposite of what is written';
  const sign = offset < 0 ? '-' : '+';
  return `${factor} times what is expected${offset === 0 ? '' : ` ${sign} ${Math.abs(offset)}`}`;
}

/** Channels that went with what was written. */
export function movedWith(commanded: readonly number[], traces: readonly Trace[]): readonly Trace[] {
  return traces.filter(({ values, spreads }) => {
    const seen = values.flatMap((value) => (value === null ? [] : [value]));
    if (seen.length < commanded.length) return false;
    const range = rangeOf(seen);
    return range > BEYOND_TREMBLE * Math.max(0, ...spreads) && range > 0 && Math.abs(lineOf(commanded, seen).correlation) >= TOGETHER;
  });
}

/** Worst first. */
const GRAVITY: readonly LoopOutcome[] = ['no-readback', 'stuck', 'inverted', 'scaled', 'deviates', 'noisy', 'slow', 'pass'];

/**
 * The loop of one output: what has to follow it, and what must not. An input that goes along with an output in order is told and is no
 * fault: the process may lead from one to the other.
 */
export function judgeLoop(commanded: readonly number[], own: readonly Judged[], others: readonly Trace[]): Judged {
  const worst = GRAVITY.flatMap((outcome) => own.filter((each) => each.outcome === outcome)).at(0) ?? judgeReadings([], { settleMs: 0, tolerance: 0, isBool: false });
  const along = movedWith(commanded, others);
  const moved = along.map(({ channel }) => channel);
  const isDead = worst.outcome === 'stuck' || worst.outcome === 'no-readback';
  const wrong = isDead ? along : along.filter(({ isOutput }) => isOutput);
  if (wrong.length === 0) return { ...worst, moved };
  const names = wrong.map(({ channel }) => channel).join(', ');
  const message = isDead ? `what is written moves ${names}; ${worst.message}` : `what is written moves ${names} as well`;
  return { outcome: 'wrong-channel', message, moved };
}
