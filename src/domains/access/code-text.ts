/** Codes that people read off a screen or paper and type: characters of Crockford base32 in groups of four, 12 of them (`XXXX-XXXX-XXXX`) where nothing else is said. */
import { randomInt } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'; // Crockford base32
export const CODE_LENGTH = 12;

export function newCode(length = CODE_LENGTH): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

export function codeText(code: string): string {
  return (code.match(/.{4}/g) ?? []).join('-');
}

/** Without case and hyphens; the letters that Crockford reads as digits. Non-ASCII never equals a code. */
export function normalisedCode(text: string): string {
  return text
    .replace(/[-\s]/g, '')
    .toUpperCase()
    .replace(/O/g, '0')
    .replace(/[IL]/g, '1')
    .replace(/[^\x20-\x7e]/g, '?');
}

export function isCode(text: string): boolean {
  return text.length === CODE_LENGTH && [...text].every((letter) => ALPHABET.includes(letter));
}
