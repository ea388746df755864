/** The known word that was probably meant: the fewest letters put in, left out or exchanged; undefined when none is near. */
export function nearest(given: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestCost = Math.floor(given.length / 3) + 1;
  const letters = given.slice(0, LENGTH_MAX).toLowerCase();
  for (const word of known) {
    const other = word.slice(0, LENGTH_MAX).toLowerCase();
    if (Math.abs(other.length - letters.length) >= bestCost) continue; // it costs as much at least
    const cost = distance(letters, other);
    if (cost < bestCost) [best, bestCost] = [word, cost];
  }
  return best;
}

const LENGTH_MAX = 128; // the cost grows with the product of both lengths

/** Two neighbours that changed places count once. */
function distance(a: string, b: string): number {
  let [before, row]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      next[j] = Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, (row[j - 1] as number) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) next[j] = Math.min(next[j] as number, (before[j - 2] as number) + 1);
    }
    [before, row] = [row, next];
  }
  return row[b.length] as number;
}
