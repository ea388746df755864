/**
 * Reads the JSON of an entry of the past member by member, as what is packed of it, and makes nothing of it: neither the object nor its
 * texts. A start reads a hundred thousand of few kinds, so that a member is found by comparing it with what stood there before.
 *
 * It knows plain JSON, as `JSON.stringify` writes it, of characters of ASCII; whatever else a value is, JSON.parse reads. Invariant: what
 * was read is what JSON.parse would have made of it.
 */
import type { Texts } from './packed-texts.js';

export type SlotType = 'text' | 'json' | 'number' | 'instant';

/** A member behind those before it: whoever has read all of an entry knows its members by the last of them. */
export interface Step {
  readonly member: string;
  readonly type: SlotType;
  /** As it is written, with its colon. */
  readonly key: Uint8Array;
  readonly before: Step | undefined;
  /** What followed it, by member and type. */
  readonly next: Step[];
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const POINT = 0x2e;
const MINUS = 0x2d;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const ZERO = 0x30;
const NINE = 0x39;
const LETTER_T = 0x54;
const LETTER_Z = 0x5a;
/** Of ASCII: what lies before it, and from the next on, is not written plainly. */
const SPACE = 0x20;
const DELETE = 0x7f;
/** Whole numbers of so many digits are exact. */
const DIGITS_MAX = 15;
const INSTANT_LENGTH = 24;
const DATE_LENGTH = 10;
const VALUES_FIRST = 64;

export class EntryReader {
  readonly #texts: Texts;
  readonly #jsons: Texts;
  readonly #start: Step = { member: '', type: 'json', key: new Uint8Array(), before: undefined, next: [] };
  readonly #days = new Days();
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #value = 0;
  /** Of the entry that was read last, one for each member: the number, the ms of an instant, or the address of text or JSON. */
  values = new Float64Array(VALUES_FIRST);
  /** By address, what was new of the entry that was read last: it is judged and ordered next. */
  readonly fresh = new Map<number, unknown>();

  constructor(texts: Texts, jsons: Texts) {
    this.#texts = texts;
    this.#jsons = jsons;
  }

  /** @returns its last member. @throws SyntaxError where it is no JSON of an object. */
  read(bytes: Buffer, from: number, end: number): Step {
    try {
      return this.#read(bytes, from, end);
    } catch (fault) {
      if (!(fault instanceof SyntaxError)) throw fault;
      const again = written(bytes.toString('utf8', from, end)); // with spaces, or a member twice
      return this.#read(again, 0, again.length);
    }
  }

  #read(bytes: Buffer, from: number, end: number): Step {
    this.#bytes = bytes;
    this.#at = from;
    this.fresh.clear();
    let step = this.#start;
    this.#take(OPEN);
    if (bytes[this.#at] !== CLOSE) {
      let count = 0;
      do {
        step = this.#member(step);
        if (count === this.values.length) this.#widen();
        this.values[count] = this.#value;
        count += 1;
      } while (this.#takes(COMMA));
    }
    this.#take(CLOSE);
    if (this.#at !== end) throw strange();
    return step;
  }

  #member(before: Step): Step {
    const known = this.#known(before);
    const { member, key } = known ?? this.#new(before);
    const type = this.#typed();
    return known?.type === type ? known : this.#step(before, member, key, type);
  }

  /** One that stood here before, whatever it was then. */
  #known(before: Step): Step | undefined {
    for (const known of before.next) {
      const { key } = known;
      let n = 0;
      while (n < key.length && this.#bytes[this.#at + n] === key[n]) n += 1;
      if (n < key.length) continue;
      this.#at += n;
      return known;
    }
    return undefined;
  }

  #new(before: Step): Pick<Step, 'member' | 'key'> {
    const from = this.#at;
    this.#skipText();
    const member = String(this.#parsed(from));
    this.#take(COLON);
    for (let step = before; step.before; step = step.before) if (step.member === member) throw strange();
    return { member, key: Uint8Array.from(this.#bytes.subarray(from, this.#at)) };
  }

  #step(before: Step, member: string, key: Uint8Array, type: SlotType): Step {
    const known = before.next.find((step) => step.type === type && step.member === member);
    if (known) return known;
    const step: Step = { member, type, key, before, next: [] };
    before.next.push(step);
    return step;
  }

  /** Reads a value. */
  #typed(): SlotType {
    const from = this.#at;
    const first = this.#bytes[from] as number;
    if (first === QUOTE) return this.#text(from);
    if (first === MINUS || isDigit(first)) return this.#number(from);
    const isPlain = first === OPEN || first === OPEN_LIST ? this.#skipNested() : this.#skipWord();
    this.#value = (isPlain && this.#jsons.findBytes(this.#bytes, from, this.#at)) || this.#json(from, isPlain);
    return 'json';
  }

  /** One that was not read before: whoever asks for the member reads it again, and shall not find that it is none. */
  #json(from: number, isPlain: boolean): number {
    const value = this.#parsed(from);
    const address = isPlain ? this.#jsons.addBytes(this.#bytes, from, this.#at) : this.#jsons.add(this.#bytes.toString('utf8', from, this.#at));
    this.fresh.set(address, value);
    return address;
  }

  #text(from: number): SlotType {
    if (!this.#skipText()) {
      this.#value = this.#texts.add(String(this.#parsed(from)));
      return 'text';
    }
    const end = this.#at - 1;
    const ms = end - from - 1 === INSTANT_LENGTH ? this.#days.instant(this.#bytes, from + 1) : Number.NaN;
    this.#value = Number.isNaN(ms) ? this.#texts.addBytes(this.#bytes, from + 1, end) : ms;
    return Number.isNaN(ms) ? 'text' : 'instant';
  }

  #number(from: number): SlotType {
    const bytes = this.#bytes;
    let at = from;
    let value = 0;
    while (at - from < DIGITS_MAX && isDigit(bytes[at] as number)) {
      value = 10 * value + (bytes[at] as number) - ZERO;
      at += 1;
    }
    const isWhole = isEnd(bytes[at]) && at > from && (bytes[from] !== ZERO || at === from + 1);
    this.#at = at;
    if (!isWhole) this.#skipWord();
    this.#value = isWhole ? value : Number(this.#parsed(from));
    return 'number';
  }

  /** @returns whether it is of ASCII, without anything escaped. */
  #skipText(): boolean {
    const bytes = this.#bytes;
    let at = this.#at + 1;
    let isPlain = true;
    for (let byte = bytes[at]; byte !== QUOTE; byte = bytes[at]) {
      if (byte === undefined) throw strange();
      if (byte === BACKSLASH) at += 1; // what is escaped may be a quote
      if (byte === BACKSLASH || byte < SPACE || byte >= DELETE) isPlain = false;
      at += 1;
    }
    this.#at = at + 1;
    return isPlain;
  }

  #skipNested(): boolean {
    let isPlain = true;
    let depth = 0;
    do {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw strange();
      if (byte === QUOTE) isPlain = this.#skipText() && isPlain;
      else this.#at += 1;
      if (byte === OPEN || byte === OPEN_LIST) depth += 1;
      if (byte === CLOSE || byte === CLOSE_LIST) depth -= 1;
    } while (depth > 0);
    return isPlain;
  }

  #skipWord(): boolean {
    while (!isEnd(this.#bytes[this.#at])) this.#at += 1;
    return true;
  }

  /** What was skipped. */
  #parsed(from: number): unknown {
    return JSON.parse(this.#bytes.toString('utf8', from, this.#at));
  }

  #take(byte: number): void {
    if (!this.#takes(byte)) throw strange();
  }

  #takes(byte: number): boolean {
    const isThere = this.#bytes[this.#at] === byte;
    if (isThere) this.#at += 1;
    return isThere;
  }

  #widen(): void {
    const values = new Float64Array(2 * this.values.length);
    values.set(this.values);
    this.values = values;
  }
}

/** Of instants as they are written: those of a day follow each other, so that its date is read once. */
class Days {
  readonly #date = new Uint8Array(DATE_LENGTH);
  /** NaN where there is no such day. */
  #ms = Number.NaN;

  /** Its ms; NaN for what would be written otherwise. */
  instant(bytes: Buffer, at: number): number {
    if (!this.#isOf(bytes, at)) this.#begin(bytes, at);
    const [hour, minute, second] = [digits(bytes, at + 11, 2), digits(bytes, at + 14, 2), digits(bytes, at + 17, 2)];
    const isTime = bytes[at + 10] === LETTER_T && bytes[at + 13] === COLON && bytes[at + 16] === COLON && bytes[at + 19] === POINT && bytes[at + 23] === LETTER_Z;
    return isTime && hour < 24 && minute < 60 && second < 60 ? this.#ms + ((hour * 60 + minute) * 60 + second) * 1000 + digits(bytes, at + 20, 3) : Number.NaN;
  }

  #isOf(bytes: Buffer, at: number): boolean {
    for (let n = 0; n < DATE_LENGTH; n += 1) if (this.#date[n] !== bytes[at + n]) return false;
    return true;
  }

  #begin(bytes: Buffer, at: number): void {
    this.#date.set(bytes.subarray(at, at + DATE_LENGTH));
    const begin = `${bytes.toString('latin1', at, at + DATE_LENGTH)}T00:00:00.000Z`;
    const ms = Date.parse(begin);
    this.#ms = !Number.isNaN(ms) && new Date(ms).toISOString() === begin ? ms : Number.NaN; // the 30th of February is read as another day
  }
}

/** NaN where one of so many characters is none. */
function digits(bytes: Buffer, at: number, count: number): number {
  let value = 0;
  for (let n = at; n < at + count; n += 1) value = isDigit(bytes[n] as number) ? 10 * value + (bytes[n] as number) - ZERO : Number.NaN;
  return value;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

/** Of a value that is no text, list or object. */
function isEnd(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE || byte === CLOSE_LIST || byte === undefined;
}

/** As `JSON.stringify` writes it, but for numbers that it would make others: -0, and what is too large for any. */
function written(text: string): Buffer {
  const entry: unknown = JSON.parse(text);
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) throw strange();
  try {
    return Buffer.from(plain(entry));
  } catch (fault) {
    if (fault instanceof RangeError) throw strange(); // nested as deep as no entry is
    throw fault;
  }
}

function plain(value: unknown): string {
  if (typeof value === 'number') return numberText(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(plain).join(',')}]`;
  return `{${Object.entries(value)
    .map(([member, each]) => `${JSON.stringify(member)}:${plain(each)}`)
    .join(',')}}`;
}

function numberText(value: number): string {
  if (Object.is(value, -0)) return '-0';
  return Number.isFinite(value) ? String(value) : `${value < 0 ? '-' : ''}1e999`;
}

function strange(): SyntaxError {
  return new SyntaxError('an entry of the past is the JSON of an object');
}
