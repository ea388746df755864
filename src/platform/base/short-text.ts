/** A text as it is quoted: at most `lengthMax` characters, the dots that stand for the rest among them. */
export function shortText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  return `${cutText(text, lengthMax - DOTS.length)}${DOTS}`;
}

/**
 * The beginning of a text, `lengthMax` units of UTF-16 at most, and never half a character: that is no text, and what is stored of it
 * is read back as something else.
 */
export function cutText(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : text.slice(0, lengthMax).replace(HALF_A_CHARACTER, '');
}

/** What is no Unicode text: half of a surrogate pair. It cannot be written as UTF-8. */
export const LONE_SURROGATE = /\p{Surrogate}/u;

/** With the character of Unicode that says so for each half of a pair. */
export function asUnicodeText(text: string): string {
  return LONE_SURROGATE.test(text) ? text.replaceAll(/\p{Surrogate}/gu, '\ufffd') : text;
}

const DOTS = '...';
/** The first half of a pair of UTF-16. */
const HALF_A_CHARACTER = /[\ud800-\udbff]$/;
