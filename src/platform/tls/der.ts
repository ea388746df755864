/** DER (ITU-T X.690), as far as a certificate needs it. A value is its bytes, tag and length included. */

const TAG = { boolean: 0x01, integer: 0x02, bits: 0x03, octets: 0x04, oid: 0x06, utf8: 0x0c, utcTime: 0x17, generalizedTime: 0x18, sequence: 0x30, set: 0x31 } as const;
const CONTEXT = 0x80;
const CONSTRUCTED = 0x20;
/** RFC 5280, 4.1.2.5: dates from 2050 on have four digits of the year. */
const UTC_TIME_YEARS = { from: 1950, to: 2049 };

function tagged(tag: number, content: Uint8Array): Buffer {
  const { length } = content;
  const digits = length < 0x80 ? [] : bytesOf(length);
  const head = digits.length === 0 ? [tag, length] : [tag, 0x80 | digits.length, ...digits];
  return Buffer.concat([Buffer.from(head), content]);
}

/** Big-endian, without leading zeros. */
function bytesOf(number: number): number[] {
  const bytes: number[] = [];
  for (let rest = number; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return bytes;
}

export const sequence = (...values: readonly Uint8Array[]): Buffer => tagged(TAG.sequence, Buffer.concat(values));
export const set = (...values: readonly Uint8Array[]): Buffer => tagged(TAG.set, Buffer.concat(values));
export const octets = (content: Uint8Array): Buffer => tagged(TAG.octets, content);
export const utf8 = (text: string): Buffer => tagged(TAG.utf8, Buffer.from(text, 'utf8'));
export const yes = (): Buffer => tagged(TAG.boolean, Buffer.from([0xff]));
/** @param unused how many bits at the end of the last byte are none. */
export const bits = (content: Uint8Array, unused = 0): Buffer => tagged(TAG.bits, Buffer.concat([Buffer.from([unused]), content]));
/** `[number]` of a structure that holds others. */
export const explicit = (number: number, content: Uint8Array): Buffer => tagged(CONTEXT | CONSTRUCTED | number, content);
/** `[number]` in the place of the tag of a plain value. */
export const implicit = (number: number, content: Uint8Array): Buffer => tagged(CONTEXT | number, content);

/** Not negative; big-endian. */
export function integer(bytes: Uint8Array): Buffer {
  let from = 0;
  while (from < bytes.length - 1 && bytes[from] === 0) from += 1;
  const short = bytes.subarray(from);
  const isNegative = ((short[0] ?? 0) & 0x80) !== 0;
  return tagged(TAG.integer, isNegative ? Buffer.concat([Buffer.from([0]), short]) : short);
}

/** `1.2.840.10045.4.3.2` */
export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...arcs] = text.split('.').map(Number);
  const content = [first * 40 + second, ...arcs].flatMap((arc) => {
    const digits = [arc % 128];
    for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) digits.unshift(0x80 | (rest % 128));
    return digits;
  });
  return tagged(TAG.oid, Buffer.from(content));
}

/** To the second. */
export function time(instantMs: number): Buffer {
  const instant = new Date(instantMs);
  const digits = `${instant
    .toISOString()
    .replace(/\.\d+Z$/, '')
    .replace(/[-:T]/g, '')}Z`;
  const year = instant.getUTCFullYear();
  const isShort = year >= UTC_TIME_YEARS.from && year <= UTC_TIME_YEARS.to;
  return isShort ? tagged(TAG.utcTime, Buffer.from(digits.slice(2))) : tagged(TAG.generalizedTime, Buffer.from(digits));
}
