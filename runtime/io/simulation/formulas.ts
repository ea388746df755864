/** What behaviours and expressions reckon with (decisions 6.2, 6.4). Total: each has a value for every argument. */

/** First-order share of the way covered in `dt`; a time constant of zero covers all of it. */
export function lagShare(dt: number, tau: number): number {
  return tau > 0 ? 1 - Math.exp(-dt / tau) : 1;
}

/** `from` moved towards `to` by at most `step`. */
export function moveTowards(from: number, to: number, step: number): number {
  const most = Math.abs(step);
  return Math.abs(to - from) <= most ? to : from + Math.sign(to - from) * most;
}

/** Remainder that is never negative, so that periods also repeat before zero. */
export function modulo(value: number, period: number): number {
  return period > 0 ? value - Math.floor(value / period) * period : 0;
}

/** True in the first `share` of every period; a nanosecond of rounding never decides an edge. */
export function inPulse(t: number, period: number, share: number): boolean {
  if (period <= 0) return false;
  const within = modulo(t + 1e-9, period);
  return within - 1e-9 < share * period - 1e-9;
}
