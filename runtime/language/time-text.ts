/**
 * Texts of the TIME type (decisions 4.1, 4.4): `T#1m30s` to whole milliseconds and back.
 * Invariant: `parseTimeText(printTime(ms)) === ms` for every safe integer.
 */
const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
];

export function isDigit(character: string): boolean {
  return character >= '0' && character <= '9';
}

export function isLetter(character: string): boolean {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
}

/** Index behind the run of characters that begins at `from` and satisfies `test`. */
export function skipWhile(text: string, from: number, test: (character: string) => boolean): number {
  let at = from;
  while (at < text.length && test(text.charAt(at))) at += 1;
  return at;
}

/** Milliseconds of `1m30s`: parts in falling order, each unit once, a fraction in any part; null when it is none. */
function parseParts(text: string): number | null {
  let at = 0;
  let next = 0;
  let total = 0;
  while (at < text.length) {
    const whole = skipWhile(text, at, isDigit);
    if (whole === at) return null;
    let end = whole;
    if (text[whole] === '.') {
      end = skipWhile(text, whole + 1, isDigit);
      if (end === whole + 1) return null;
    }
    const unitEnd = skipWhile(text, end, isLetter);
    const unit = text.slice(end, unitEnd).toLowerCase();
    const rank = UNITS.findIndex((row, place) => place >= next && row[0] === unit);
    const row = UNITS[rank];
    if (!row) return null;
    total += Number(text.slice(at, end)) * row[1];
    next = rank + 1;
    at = unitEnd;
  }
  return next === 0 ? null : total;
}

function signedParts(text: string): number | null {
  const negative = text.startsWith('-');
  const total = parseParts(negative ? text.slice(1) : text);
  if (total === null) return null;
  const ms = Math.round(total);
  if (!Number.isSafeInteger(ms)) return null;
  return negative && ms !== 0 ? -ms : ms;
}

/** Whole milliseconds of a TIME literal; null when the text is none (prefix `T#` or `TIME#`, any case). */
export function parseTimeText(text: string): number | null {
  const hash = text.indexOf('#');
  const prefix = text.slice(0, Math.max(hash, 0)).toUpperCase();
  if (prefix !== 'T' && prefix !== 'TIME') return null;
  return signedParts(text.slice(hash + 1));
}

/** As `parseTimeText`; the prefix may be missing, as in block parameters and time-outs (`5s`, decisions 5.1 rule 10). */
export function parseDuration(text: string): number | null {
  return text.includes('#') ? parseTimeText(text) : signedParts(text);
}

/** Canonical text of a TIME: parts in falling order, zero parts left out, `T#0s` for zero. */
export function printTime(ms: number): string {
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
