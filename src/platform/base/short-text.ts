/** A text as it is quoted: at most `lengthMax` characters, the dots that stand for the rest among them. */
export function shortText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  return `${text.slice(0, lengthMax - DOTS.length).replace(HALF_A_CHARACTER, '')}${DOTS}`;
}

const DOTS = '...';
/** The first half of a pair of UTF-16. */
const HALF_A_CHARACTER = /[\ud800-\udbff]$/;
