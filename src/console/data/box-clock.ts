/**
 * The time of the box. Ages, curves and the clock on the screen follow it: a panel whose own clock is wrong would else look
 * for the present where nothing has been recorded yet.
 */
const JITTER_MS = 250;

let aheadMs = 0;

export function boxNowMs(): number {
  return Date.now() + aheadMs;
}

/** @param asOf what the box said in an answer. @param tookMs from the question to the answer. */
export function noteBoxTime(asOf: string, tookMs: number): void {
  const ahead = Date.parse(asOf) - (Date.now() - tookMs / 2);
  const doubt = tookMs / 2 + JITTER_MS;
  if (Number.isFinite(ahead) && Math.abs(ahead - aheadMs) > doubt) aheadMs = ahead;
}
