/** Time before the next attempt (decisions D-IO-02): doubling from min to max, 20 % jitter to both sides. */
const JITTER = 0.2;

/** @param failures attempts failed in a row, 1 for the first. @param random in [0, 1). */
export function backoffMs(failures: number, minMs: number, maxMs: number, random: number): number {
  const plain = Math.min(minMs * 2 ** Math.min(failures - 1, 30), maxMs);
  return plain * (1 + JITTER * (2 * random - 1));
}
