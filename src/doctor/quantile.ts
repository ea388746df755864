/** Figures of a distribution. */

/** `part` of 1, for example 0.99; the values need no order. NaN of no values. */
export function quantile(values: readonly number[] | Float64Array, part: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** Microseconds or milliseconds, as one reads them. */
export function showMs(ms: number): string {
  return ms < 1 ? `${Math.round(ms * 1000)} us` : `${Number(ms.toPrecision(3))} ms`;
}
