/** Letters that may still be compared, one with another. Whoever looks for many words among many has one for all of them. */
export interface NearestWork {
  left: number;
}

const LENGTH_MAX = 128; // the cost grows with the product of both lengths
/** Of a word that is passed over, in letters. */
const WORD_COST = 4;

/**
 * The known word that was probably meant: the fewest letters put in, left out or exchanged.
 * @returns undefined when none is near, and when the work is done before all are looked at: the nearest of some may not be the nearest.
 */
export function nearest(given: string, known: readonly string[], work: NearestWork = { left: Number.POSITIVE_INFINITY }): string | undefined {
  let best: string | undefined;
  let bestCost = Math.floor(given.length / 3) + 1;
  const letters = given.slice(0, LENGTH_MAX).toLowerCase();
  for (const word of known) {
    work.left -= WORD_COST;
    if (work.left < 0) return undefined;
    if (Math.abs(Math.min(word.length, LENGTH_MAX) - letters.length) >= bestCost) continue; // it costs as much at least
    const cost = distance(letters, word.slice(0, LENGTH_MAX).toLowerCase(), bestCost, work);
    if (cost < bestCost) [best, bestCost] = [word, cost];
  }
  return work.left < 0 ? undefined : best;
}

/** Two neighbours that changed places count once. @returns `enough`, or more, for what costs as much. */
function distance(one: string, other: string, enough: number, work: NearestWork): number {
  const [a, b] = withoutCommonEnds(one, other);
  work.left -= a.length * b.length;
  if (work.left < 0) return enough;
  let [before, row]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  let leastBefore = 0;
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    let least = i;
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, (row[j - 1] as number) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, (before[j - 2] as number) + 1);
      next.push(cost);
      if (cost < least) least = cost;
    }
    if (least >= enough && leastBefore + 1 >= enough) return enough;
    [before, row, leastBefore] = [row, next, least];
  }
  return row[b.length] as number;
}

/** What both begin and end with costs nothing: names of one plant often differ in a few letters. */
function withoutCommonEnds(a: string, b: string): readonly [string, string] {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  return [a.slice(start, a.length - end), b.slice(start, b.length - end)];
}
