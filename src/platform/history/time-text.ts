const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
];

/** `T#1m30s`: how values of type Time are served (decisions Q-TAG-01); the same text as the structured-text language prints. */
export function timeText(ms: number): string {
  if (ms === 0) return 'T#0s';
  let rest = Math.abs(ms);
  let text = ms < 0 ? 'T#-' : 'T#';
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) text += `${count}${unit}`;
  }
  return text;
}
