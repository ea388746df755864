/**
 * Entries of the past outside of the heap: a hundred thousand objects of JavaScript are some 500 bytes each and a load for every
 * garbage collection, the same packed are some 170 bytes that nobody walks through.
 *
 * Each text is kept once, whoever says it. Entries with the same members share a shape, which says how each member lies in its row.
 * Invariant: what was written is never written over, so that what somebody still reads of an entry stays as it was. What is dead stays
 * until the next load: it grows with the runs that come back, which somebody has to ask for one by one.
 */
import { randomInt } from 'node:crypto';
import { assert } from '../base/assert.js';

/** Addresses are whole numbers of 32 bits: their upper bits name the slab. */
const SLAB_BITS = 20;
const SLAB_BYTES = 2 ** SLAB_BITS;
/** Of a text: twice its length, and 1 where it takes two bytes a character. */
const HEAD_BYTES = 4;
const PLACES_FIRST = 1024;
const SLOT_BYTES = { text: 4, json: 4, number: 8, instant: 8 } as const;
/** Of a member: what most entries say is one of a few. */
const KNOWN_MAX = 256;

/** Bytes by address, in slabs; nothing crosses the end of one. */
class Slabs {
  readonly #slabs: DataView[] = [];
  readonly #bytes: Buffer[] = [];
  /** Address 0 is nothing's. */
  #end = HEAD_BYTES;

  constructor() {
    this.#grow(SLAB_BYTES);
  }

  /** @returns the address of so many bytes. */
  take(bytes: number): number {
    const left = SLAB_BYTES - (this.#end % SLAB_BYTES);
    if (bytes > left || this.#end === this.#slabs.length * SLAB_BYTES) {
      this.#end = this.#slabs.length * SLAB_BYTES;
      this.#grow(Math.max(bytes, SLAB_BYTES));
    }
    const at = this.#end;
    this.#end += Math.min(bytes, SLAB_BYTES); // one that is larger has a slab to itself
    return at;
  }

  of(at: number): DataView {
    return this.#slabs[at >>> SLAB_BITS] as DataView;
  }

  bytesOf(at: number): Buffer {
    return this.#bytes[at >>> SLAB_BITS] as Buffer;
  }

  #grow(bytes: number): void {
    const slab = new ArrayBuffer(bytes);
    this.#slabs.push(new DataView(slab));
    this.#bytes.push(Buffer.from(slab));
  }
}

/** Texts by address, each once. */
class Texts {
  readonly #slabs: Slabs;
  /** Addresses by hash, in open addressing; 0 is free. */
  #places = new Uint32Array(PLACES_FIRST);
  #count = 0;
  /** Batch IDs are chosen by people: none shall choose where they fall. */
  readonly #seed = randomInt(2 ** 32);

  constructor(slabs: Slabs) {
    this.#slabs = slabs;
  }

  /** 0 for a text that nobody says. */
  find(text: string): number {
    return this.#places[this.#placeOf(text)] as number;
  }

  add(text: string): number {
    const place = this.#placeOf(text);
    const known = this.#places[place] as number;
    if (known !== 0) return known;
    const at = this.#write(text);
    this.#places[place] = at;
    this.#count += 1;
    if (this.#count * 4 > this.#places.length * 3) this.#widen();
    return at;
  }

  read(at: number): string {
    const start = at & (SLAB_BYTES - 1);
    const head = this.#slabs.of(at).getUint32(start);
    const wide = head & 1;
    return this.#slabs.bytesOf(at).toString(wide === 1 ? 'ucs2' : 'latin1', start + HEAD_BYTES, start + HEAD_BYTES + ((head >>> 1) << wide));
  }

  /** As texts are compared. */
  compare(at: number, text: string): number {
    const view = this.#slabs.of(at);
    const start = at & (SLAB_BYTES - 1);
    const head = view.getUint32(start);
    const length = head >>> 1;
    const common = Math.min(length, text.length);
    for (let n = 0; n < common; n += 1) {
      const difference = characterAt(view, start, head, n) - text.charCodeAt(n);
      if (difference !== 0) return difference;
    }
    return length - text.length;
  }

  /** Whether a text holds another one, which is in small letters; without reading it where its characters are of one byte. */
  holds(at: number, wanted: string): boolean {
    const start = at & (SLAB_BYTES - 1);
    const head = this.#slabs.of(at).getUint32(start);
    if ((head & 1) === 1) return this.read(at).toLowerCase().includes(wanted);
    const bytes = this.#slabs.bytesOf(at);
    const first = wanted.charCodeAt(0);
    const last = start + HEAD_BYTES + (head >>> 1) - wanted.length;
    for (let from = start + HEAD_BYTES; from <= last; from += 1) {
      if (LOWER[bytes[from] as number] !== first) continue;
      let n = 1;
      while (n < wanted.length && LOWER[bytes[from + n] as number] === wanted.charCodeAt(n)) n += 1;
      if (n === wanted.length) return true;
    }
    return wanted === '';
  }

  #write(text: string): number {
    let wide = 0;
    for (let n = 0; n < text.length; n += 1) if (text.charCodeAt(n) > 255) wide = 1;
    const bytes = text.length << wide;
    const at = this.#slabs.take(HEAD_BYTES + bytes);
    const start = at & (SLAB_BYTES - 1);
    this.#slabs.of(at).setUint32(start, text.length * 2 + wide);
    this.#slabs.bytesOf(at).write(text, start + HEAD_BYTES, wide === 1 ? 'ucs2' : 'latin1');
    return at;
  }

  #placeOf(text: string): number {
    const mask = this.#places.length - 1;
    let place = this.#hash(text.length, (n) => text.charCodeAt(n)) & mask;
    for (let at = this.#places[place] as number; at !== 0 && this.compare(at, text) !== 0; at = this.#places[place] as number) place = (place + 1) & mask;
    return place;
  }

  #widen(): void {
    const places = new Uint32Array(this.#places.length * 2);
    const mask = places.length - 1;
    for (const at of this.#places) {
      if (at === 0) continue;
      const view = this.#slabs.of(at);
      const start = at & (SLAB_BYTES - 1);
      const head = view.getUint32(start);
      let place = this.#hash(head >>> 1, (n) => characterAt(view, start, head, n)) & mask;
      while (places[place] !== 0) place = (place + 1) & mask;
      places[place] = at;
    }
    this.#places = places;
  }

  #hash(length: number, characterOf: (n: number) => number): number {
    let hash = this.#seed;
    for (let n = 0; n < length; n += 1) hash = Math.imul(hash ^ characterOf(n), 0x01000193);
    return (hash ^ (hash >>> 15)) >>> 0;
  }
}

function characterAt(view: DataView, start: number, head: number, n: number): number {
  return (head & 1) === 1 ? view.getUint16(start + HEAD_BYTES + 2 * n, true) : view.getUint8(start + HEAD_BYTES + n);
}

/** Of a character of one byte: as `toLowerCase` writes it, which is one of one byte too. */
const LOWER = Uint8Array.from({ length: 256 }, (_, code) => String.fromCharCode(code).toLowerCase().charCodeAt(0));

type SlotType = keyof typeof SLOT_BYTES;

interface Slot {
  readonly member: string;
  readonly type: SlotType;
  /** From the start of a row. */
  readonly offset: number;
  /** By address of text or JSON: what was read of the first of them. */
  readonly known: Map<number, unknown>;
}

/** What a row begins with: its shape, its name, and its run where that is not named as the row itself. */
const NAME_OFFSET = 2;
const RUN_OFFSET = 6;
const SLOTS_OFFSET = 10;

interface Shape {
  readonly number: number;
  readonly slots: readonly Slot[];
  readonly bytes: number;
  /** Reads members when they are asked for. */
  readonly View: new (
    row: number,
  ) => object;
}

type Fields = Readonly<Record<string, unknown>>;

/** Entries by address; what they are sorted and found by is the business of who keeps the addresses. */
export class PackedEntries {
  readonly #slabs = new Slabs();
  readonly #texts = new Texts(this.#slabs);
  readonly #shapes: Shape[] = [];
  readonly #shapeOf = new Map<string, Shape>();
  /** A start reads a hundred thousand of one shape after the other. */
  #lastShape: Shape | undefined;

  /** `run`: '' where it is named as the entry itself. */
  add(name: string, run: string, entry: Fields): number {
    const members = Object.entries(entry).map(([member, value]) => [member, value, typeOf(value)] as const);
    const { number, slots, bytes } = this.#shape(members);
    const at = this.#slabs.take(bytes);
    const view = this.#slabs.of(at);
    const start = at & (SLAB_BYTES - 1);
    view.setUint16(start, number);
    view.setUint32(start + NAME_OFFSET, this.#texts.add(name));
    view.setUint32(start + RUN_OFFSET, run === '' ? 0 : this.#texts.add(run));
    for (const [n, { type, offset }] of slots.entries()) {
      const value = members[n]?.[1];
      if (type === 'number') view.setFloat64(start + offset, value as number);
      else if (type === 'instant') view.setFloat64(start + offset, Date.parse(value as string));
      else view.setUint32(start + offset, this.#texts.add(type === 'text' ? (value as string) : JSON.stringify(value)));
    }
    return at;
  }

  nameOf(row: number): string {
    return this.#texts.read(this.#slabs.of(row).getUint32((row & (SLAB_BYTES - 1)) + NAME_OFFSET));
  }

  compareName(row: number, name: string): number {
    return this.#texts.compare(this.#slabs.of(row).getUint32((row & (SLAB_BYTES - 1)) + NAME_OFFSET), name);
  }

  /** The same for the same text, and for no other one; larger than those of all texts before it. */
  numberOf(text: string): number {
    return this.#texts.add(text);
  }

  /** As `numberOf`; undefined for a text that nobody says. */
  numberIfSaid(text: string): number | undefined {
    return this.#texts.find(text) || undefined;
  }

  /** '' where it is named as the entry itself. */
  runOf(row: number): string {
    const at = this.#slabs.of(row).getUint32((row & (SLAB_BYTES - 1)) + RUN_OFFSET);
    return at === 0 ? '' : this.#texts.read(at);
  }

  /** Reads each member when it is asked for: a list of all is ordered by one or two of them. */
  viewOf(row: number): object {
    return new (this.#shapeAt(row).View)(row);
  }

  wholeOf(row: number): Fields {
    return Object.fromEntries(this.#shapeAt(row).slots.map((slot) => [slot.member, this.#read(row, slot)]));
  }

  /** Whether a member is this text, of many rows without reading it. */
  saying(member: string, text: string): (row: number) => boolean {
    const at = this.#texts.find(text);
    const ms = typeOf(text) === 'instant' ? Date.parse(text) : Number.NaN;
    const slots = this.#shapes.map((shape) => shape.slots.find((slot) => slot.member === member));
    return (row) => {
      const view = this.#slabs.of(row);
      const start = row & (SLAB_BYTES - 1);
      const slot = slots[view.getUint16(start)];
      if (slot?.type === 'text') return at !== 0 && view.getUint32(start + slot.offset) === at;
      return slot?.type === 'instant' && view.getFloat64(start + slot.offset) === ms;
    };
  }

  /** Whether one of these members, or the name, is a text that holds `wanted`, which is in small letters; of many rows without reading them. */
  holding(members: readonly string[], wanted: string): (row: number) => boolean {
    const offsets = this.#shapes.map((shape) => [
      ...(members.includes('name') ? [NAME_OFFSET] : []),
      ...shape.slots.filter(({ member, type }) => type === 'text' && members.includes(member)).map(({ offset }) => offset),
    ]);
    const instants = this.#shapes.map((shape) => shape.slots.filter(({ member, type }) => type === 'instant' && members.includes(member)));
    return (row) => {
      const view = this.#slabs.of(row);
      const start = row & (SLAB_BYTES - 1);
      const shape = view.getUint16(start);
      for (const offset of offsets[shape] ?? []) if (this.#texts.holds(view.getUint32(start + offset), wanted)) return true;
      return (instants[shape] ?? []).some((slot) => String(this.#read(row, slot)).toLowerCase().includes(wanted)); // a text that is written as one
    };
  }

  #shapeAt(row: number): Shape {
    return this.#shapes[this.#slabs.of(row).getUint16(row & (SLAB_BYTES - 1))] as Shape;
  }

  #shape(members: readonly (readonly [member: string, value: unknown, type: SlotType])[]): Shape {
    const last = this.#lastShape;
    if (last?.slots.length === members.length && last.slots.every(({ member, type }, n) => member === members[n]?.[0] && type === members[n]?.[2])) return last;
    const key = JSON.stringify(members.map(([member, , type]) => [member, type]));
    let shape = this.#shapeOf.get(key);
    if (!shape) this.#shapeOf.set(key, (shape = this.#made(members)));
    this.#lastShape = shape;
    return shape;
  }

  #made(members: readonly (readonly [member: string, value: unknown, type: SlotType])[]): Shape {
    const slots: Slot[] = [];
    let bytes = SLOTS_OFFSET;
    for (const [member, , type] of members) {
      slots.push({ member, type, offset: bytes, known: new Map() });
      bytes += SLOT_BYTES[type];
    }
    class View {
      readonly #row: number;

      constructor(row: number) {
        this.#row = row;
      }

      static rowOf(view: View): number {
        return view.#row;
      }
    }
    const read = (row: number, slot: Slot): unknown => this.#read(row, slot);
    for (const slot of slots) {
      Object.defineProperty(View.prototype, slot.member, {
        get(this: View) {
          return read(View.rowOf(this), slot);
        },
      });
    }
    assert(this.#shapes.length < 2 ** 16, 'entries of few kinds have few shapes');
    const shape = { number: this.#shapes.length, slots, bytes, View };
    this.#shapes.push(shape);
    return shape;
  }

  #read(row: number, { type, offset, known }: Slot): unknown {
    const view = this.#slabs.of(row);
    const start = (row & (SLAB_BYTES - 1)) + offset;
    if (type === 'number') return view.getFloat64(start);
    if (type === 'instant') return new Date(view.getFloat64(start)).toISOString();
    const at = view.getUint32(start);
    let value = known.get(at);
    if (value === undefined) {
      const text = this.#texts.read(at);
      value = type === 'text' ? text : JSON.parse(text);
      if (known.size < KNOWN_MAX) known.set(at, value);
    }
    return value;
  }
}

function typeOf(value: unknown): SlotType {
  if (typeof value === 'number') return 'number';
  if (typeof value !== 'string') return 'json';
  return value.length === 24 && value.endsWith('Z') && isInstant(value) ? 'instant' : 'text';
}

/** It is written as it would be again. */
function isInstant(text: string): boolean {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString() === text;
}
