/** The inputs of the last while, one a tick, for behaviours with a delay or dead time. Plain data: it outlives the configuration that made it. */

export interface DelayLine {
  /** Inputs by tick, the newest at `newest`, older ones before it and round the end. */
  ring: Float64Array;
  newest: number;
  /** How many are known. */
  count: number;
}

/** Longest delay and dead time; at the shortest tick of 10 ms its line takes 6 MB. */
export const DELAY_MAX_S = 7200;
const RING_MIN = 16;

export function emptyLine(): DelayLine {
  return { ring: new Float64Array(RING_MIN), newest: -1, count: 0 };
}

/** Remembers the input of this tick; `ticks` later ones are kept beside it. */
export function remember(line: DelayLine, input: number, ticks: number): void {
  if (line.ring.length <= ticks) grow(line, ticks + 1);
  line.newest = (line.newest + 1) % line.ring.length;
  line.ring[line.newest] = input;
  if (line.count < line.ring.length) line.count += 1;
}

/** The input of so many ticks ago; before the first, the oldest known. Something has been remembered. */
export function ago(line: DelayLine, ticks: number): number {
  const { ring, newest, count } = line;
  const back = Math.min(ticks, count - 1);
  return ring[(newest - back + ring.length) % ring.length] as number; // within the ring: `back` is less than its length
}

/** Only where an edit made the delay longer, or at the first tick. */
function grow(line: DelayLine, least: number): void {
  const ring = new Float64Array(Math.max(least, 2 * line.ring.length));
  for (let at = 0; at < line.count; at += 1) ring[at] = ago(line, line.count - 1 - at);
  line.ring = ring;
  line.newest = line.count - 1;
}
