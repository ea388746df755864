/**
 * The time of the box. Ages, curves and the clock on the screen follow it: a panel whose own clock is wrong would else look
 * for the present where nothing has been recorded yet. It goes on by the monotonic clock of the panel, so that nothing moves
 * when somebody sets the clock of the panel; after a sleep of the machine, which that clock may not count, the box is asked again.
 */
const JITTER_MS = 250;

/** What the box said last, and the monotonic time of the panel at which it was so. */
let said = { wallMs: Date.now(), monoMs: performance.now() };

export function boxNowMs(): number {
  return said.wallMs + performance.now() - said.monoMs;
}

/** @param asOf what the box said in an answer. @param tookMs from the question to the answer. */
export function noteBoxTime(asOf: string, tookMs: number): void {
  const wallMs = Date.parse(asOf) + tookMs / 2;
  const doubt = tookMs / 2 + JITTER_MS;
  if (Number.isFinite(wallMs) && Math.abs(wallMs - boxNowMs()) > doubt) said = { wallMs, monoMs: performance.now() };
}

/** Between the two clocks of the panel: it changes when its clock is set, and when it has slept. */
function apartMs(): number {
  return Date.now() - performance.now();
}

const APART_MS_MAX = 1000;
let apart = apartMs();

/** Whether the clocks of the panel have moved against each other since this was asked last. */
export function clocksMoved(): boolean {
  const now = apartMs();
  const moved = Math.abs(now - apart) > APART_MS_MAX;
  apart = now;
  return moved;
}
