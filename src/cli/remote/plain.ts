/**
 * Texts that come from a box and are shown to a person: names, messages and errors are what somebody has typed, or what another program than
 * a box answers. A terminal takes some characters as orders (to move, to hide, to rename its window, to answer); they are shown as `\x1b`.
 */

/** C0 without tab and line feed, DEL, C1; what turns the direction of a text, or ends a line unseen. */
const ORDERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Lines and tabs stay. */
export function plainText(text: string): string {
  return text.replace(ORDERS, escaped);
}

/** Of one line, such as a name: line ends are shown too. */
export function plainLine(text: string): string {
  return plainText(text).replaceAll('\n', '\\n');
}

/** JSON keeps only C0 from a terminal. What reads it has the characters as they are. */
export function plainJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(ORDERS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function escaped(character: string): string {
  const code = character.charCodeAt(0).toString(16);
  return code.length > 2 ? `\\u${code}` : `\\x${code.padStart(2, '0')}`;
}
