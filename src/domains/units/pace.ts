/**
 * How often the worker of a unit comes round, so that its charts and each of its networks have the interval they were
 * given (decisions 1.5: "networks have their own"). The base divides the unit's interval exactly, since charts measure by
 * it, and is the longest that every network is a multiple of. Where there is none it is the one with the least error,
 * and the networks that are off say so: an interval that is shown is the one that runs.
 */
/** What a program may ask for less is not delivered: the least interval of a unit (decisions 1.5). */
const BASE_MIN_MS = 10;
const EXACT = 1e-9;

export interface Pace {
  readonly baseMs: number;
  /** Interval at which a network with this one runs, a multiple of the base. */
  readonly periodOf: (intervalMs: number) => number;
}

export function paceOf(unitMs: number, intervalsMs: readonly number[]): Pace {
  const wanted = [...new Set(intervalsMs)].filter((ms) => ms > 0);
  let baseMs = unitMs;
  let least = errorOf(baseMs, wanted);
  for (let part = 2; least > EXACT && unitMs / part >= BASE_MIN_MS; part += 1) {
    const error = errorOf(unitMs / part, wanted);
    if (error >= least - EXACT) continue;
    least = error;
    baseMs = unitMs / part;
  }
  return { baseMs, periodOf: (intervalMs) => multipleOf(baseMs, intervalMs) };
}

function multipleOf(baseMs: number, intervalMs: number): number {
  return Math.max(1, Math.round(intervalMs / baseMs)) * baseMs;
}

/** The worst relative error. */
function errorOf(baseMs: number, wanted: readonly number[]): number {
  return wanted.reduce((worst, ms) => Math.max(worst, Math.abs(multipleOf(baseMs, ms) - ms) / ms), 0);
}
