/** Two texts line by line: what left with `-`, what came with `+`, and a little around it. Pure. */

const AROUND = 2;

export function lineDifferences(from: string, to: string): readonly string[] {
  const [old, now] = [from.split('\n'), to.split('\n')];
  const marked = markedLines(old, now);
  const isNear = marked.map((_, at) => marked.slice(Math.max(0, at - AROUND), at + AROUND + 1).some((line) => !line.startsWith('  ')));
  return marked.flatMap((line, at) => (isNear[at] ? [line] : isNear[at - 1] ? ['  ...'] : []));
}

function markedLines(old: readonly string[], now: readonly string[]): readonly string[] {
  // length of the longest common run of lines from each pair of lines on
  const longest = Array.from({ length: old.length + 1 }, () => new Array<number>(now.length + 1).fill(0));
  const at = (i: number, j: number): number => longest[i]?.[j] ?? 0;
  for (let i = old.length - 1; i >= 0; i -= 1) {
    const row = longest[i];
    for (let j = now.length - 1; row && j >= 0; j -= 1) row[j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push(`  ${old[i]}`);
      i += 1;
      j += 1;
    } else if (j === now.length || (i < old.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push(`- ${old[i]}`);
      i += 1;
    } else {
      lines.push(`+ ${now[j]}`);
      j += 1;
    }
  }
  return lines;
}
