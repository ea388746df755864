/** Two texts line by line: what left with `-`, what came with `+`, and a little around it. Pure. */

const AROUND = 2;

export function lineDifferences(from: string, to: string): readonly string[] {
  const [old, now] = [from.split('\n'), to.split('\n')];
  const marked = markedLines(old, now);
  const isNear = marked.map((_, at) => marked.slice(Math.max(0, at - AROUND), at + AROUND + 1).some((line) => !line.startsWith('  ')));
  return marked.flatMap((line, at) => (isNear[at] ? [line] : isNear[at - 1] ? ['  ...'] : []));
}

export function markedLines(old: readonly string[], now: readonly string[]): readonly string[] {
  const numbers = new Map<string, number>();
  const numbered = (lines: readonly string[]): Uint32Array =>
    Uint32Array.from(lines, (line) => {
      const number = numbers.get(line) ?? numbers.size;
      numbers.set(line, number);
      return number;
    });
  const [from, to] = [numbered(old), numbered(now)];
  const isKept = keptOf(from, to);
  const lines: string[] = [];
  for (let [i, j] = [0, 0]; i < old.length || j < now.length; ) {
    if (i < old.length && isKept.from[i] !== 1) lines.push(`- ${old[i++]}`);
    else if (j < now.length && isKept.to[j] !== 1) lines.push(`+ ${now[j++]}`);
    else {
      lines.push(`  ${old[i++]}`);
      j += 1;
    }
  }
  return lines;
}

/** By line 1 where it stays; as many stay in the one as in the other, in the same order. */
interface Kept {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
}

/** Pairs of lines that are compared: some seconds of a processor. */
const PAIRS_MAX = 400_000_000;

function keptOf(from: Uint32Array, to: Uint32Array): Kept {
  const kept: Kept = { from: new Uint8Array(from.length), to: new Uint8Array(to.length) };
  keep(from, to, [0, from.length], [0, to.length], kept);
  return kept;
}

type Range = readonly [begin: number, end: number];

/**
 * The longest common run of lines in the memory of a few rows (D. S. Hirschberg, 1975): half of the one text is matched with that part of
 * the other with which both halves have the most in common.
 */
function keep(from: Uint32Array, to: Uint32Array, [fromBegin, fromEnd]: Range, [toBegin, toEnd]: Range, kept: Kept): void {
  let [i, j, iEnd, jEnd] = [fromBegin, toBegin, fromEnd, toEnd];
  for (; i < iEnd && j < jEnd && from[i] === to[j]; i += 1, j += 1) kept.from[i] = kept.to[j] = 1;
  for (; i < iEnd && j < jEnd && from[iEnd - 1] === to[jEnd - 1]; iEnd -= 1, jEnd -= 1) kept.from[iEnd - 1] = kept.to[jEnd - 1] = 1;
  if (i === iEnd || j === jEnd || (iEnd - i) * (jEnd - j) > PAIRS_MAX) return;
  if (iEnd - i === 1) {
    const at = to.indexOf(from[i] ?? -1, j);
    if (at >= 0 && at < jEnd) kept.from[i] = kept.to[at] = 1;
    return;
  }
  const half = (i + iEnd) >> 1;
  const before = commonFrom(from.subarray(i, half), to.subarray(j, jEnd));
  const after = commonFrom(from.subarray(half, iEnd).toReversed(), to.subarray(j, jEnd).toReversed());
  let best = 0;
  const both = (at: number): number => (before[at] ?? 0) + (after[jEnd - j - at] ?? 0);
  for (let at = 1; at <= jEnd - j; at += 1) if (both(at) > both(best)) best = at;
  keep(from, to, [i, half], [j, j + best], kept);
  keep(from, to, [half, iEnd], [j + best, jEnd], kept);
}

/** By length of a beginning of `to`: how many lines it has in common with `from`, in their order. */
function commonFrom(from: Uint32Array, to: Uint32Array): Uint32Array {
  const row = new Uint32Array(to.length + 1);
  for (const line of from) {
    let diagonal = 0;
    for (let at = 1; at <= to.length; at += 1) {
      const above = row[at] ?? 0;
      row[at] = to[at - 1] === line ? diagonal + 1 : Math.max(above, row[at - 1] ?? 0);
      diagonal = above;
    }
  }
  return row;
}
