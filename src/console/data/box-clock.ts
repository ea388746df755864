/**
 * The time of the box. Ages, curves and the clock on the screen follow it: a panel whose own clock is wrong would else look
 * for the present where nothing has been recorded yet.
 */
const JITTER_MS = 250;

let aheadMs = 0;

export function boxNowMs(): number {
  return Date.now() + aheadMs;
}

/** @param asOf what the box said in an answer. @param askedAtMs when it was asked, by the clock of the panel. */
export function noteBoxTime(asOf: string, askedAtMs: number): void {
  const answeredAtMs = Date.now();
  const ahead = Date.parse(asOf) - (askedAtMs + answeredAtMs) / 2;
  const doubt = (answeredAtMs - askedAtMs) / 2 + JITTER_MS;
  if (Number.isFinite(ahead) && Math.abs(ahead - aheadMs) > doubt) aheadMs = ahead;
}
