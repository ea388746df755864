/**
 * Entries of the past outside of the heap: a hundred thousand objects of JavaScript are some 500 bytes each and a load for every
 * garbage collection, the same packed are some 170 bytes that nobody walks through.
 *
 * Each text is kept once, whoever says it. Entries with the same members share a shape, which says how each member lies in its row.
 * Invariant: what was written is never written over, so that what somebody still reads of an entry stays as it was. What is dead stays
 * until the next load: it grows with the runs that come back, which somebody has to ask for one by one.
 */
import { EntryReader, type SlotType, type Step } from './entry-reader.js';
import { SLAB_BYTES, Slabs, Texts } from './packed-texts.js';
import type { Is, PastShape } from './past-shape.js';

const SLOT_BYTES: Readonly<Record<SlotType, number>> = { text: 4, json: 4, number: 8, instant: 8 };
/** Entries of few kinds have few shapes. */
const SHAPES_MAX = 2 ** 16;
/** Of a member: what most entries say is one of a few. */
const KNOWN_MAX = 256;

interface Slot {
  readonly member: string;
  readonly type: SlotType;
  /** From the start of a row. */
  readonly offset: number;
  /** A number of 64 bits lies there, and no address. */
  readonly isWide: boolean;
  /** By address of text or JSON: what was read of the first of them. */
  readonly known: Map<number, unknown>;
}

/** What a row begins with: its shape, its name, and its run where that is not named as the row itself. No row is shorter, so that two never begin within eight bytes. */
const NAME_OFFSET = 2;
const RUN_OFFSET = 6;
const SLOTS_OFFSET = 10;

interface Shape {
  readonly number: number;
  readonly slots: readonly Slot[];
  /** Bytes of a row. */
  readonly size: number;
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
  /** Apart from texts: each of these was read once, and is JSON. */
  readonly #jsons = new Texts(this.#slabs);
  readonly #reader = new EntryReader(this.#texts, this.#jsons);
  readonly #shapes: Shape[] = [];
  readonly #shapeOf = new Map<Step, Shape>();

  /**
   * @param run '' where it is named as the entry itself. @param bytes with the JSON of the entry in UTF-8.
   * @throws SyntaxError where it is none.
   */
  add(name: string, run: string, bytes: Buffer, from: number, end: number): number {
    const last = this.#reader.read(bytes, from, end);
    const { number, slots, size } = this.#shapeOf.get(last) ?? this.#shape(last);
    const { values } = this.#reader;
    const at = this.#slabs.take(size);
    const view = this.#slabs.of(at);
    const start = at & (SLAB_BYTES - 1);
    view.setUint16(start, number);
    view.setUint32(start + NAME_OFFSET, this.#texts.add(name));
    view.setUint32(start + RUN_OFFSET, run === '' ? 0 : this.#texts.add(run));
    for (let n = 0; n < slots.length; n += 1) {
      const { isWide, offset } = slots[n] as Slot;
      if (isWide) view.setFloat64(start + offset, values[n] as number);
      else view.setUint32(start + offset, values[n] as number);
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

  /**
   * Whether the members of a row are what they have to be. Of many: a kind of value is judged once for all entries of a shape, a value where
   * it is seen for the first time.
   */
  judging(wanted: PastShape): (row: number) => boolean {
    const judges = new Map<Shape, ((row: number) => boolean) | undefined>();
    return (row) => {
      const shape = this.#shapeAt(row);
      if (!judges.has(shape)) judges.set(shape, this.#judgeOf(shape, wanted));
      return judges.get(shape)?.(row) === true;
    };
  }

  /** @returns undefined where no entry of the shape fits. */
  #judgeOf(shape: Shape, wanted: PastShape): ((row: number) => boolean) | undefined {
    const byValue: ((row: number) => boolean)[] = [];
    for (const [member, is] of Object.entries(wanted)) {
      const slot = shape.slots.find((each) => each.member === member);
      if (!slot && !is(undefined)) return undefined;
      if (slot && !takesAll(slot, is)) byValue.push(this.#judgeOfValue(slot, is));
    }
    return (row) => {
      for (const fits of byValue) if (!fits(row)) return false;
      return true;
    };
  }

  #judgeOfValue(slot: Slot, is: Is): (row: number) => boolean {
    const known = new Set<number>();
    return (row) => {
      const at = slot.isWide ? undefined : this.#slabs.of(row).getUint32((row & (SLAB_BYTES - 1)) + slot.offset);
      if (at !== undefined && known.has(at)) return true;
      if (!is(this.#read(row, slot))) return false;
      if (at !== undefined && known.size < KNOWN_MAX) known.add(at);
      return true;
    };
  }

  /** Whether a member is this text, of many rows without reading it. */
  saying(member: string, text: string): (row: number) => boolean {
    const at = this.#texts.find(text);
    const ms = msOf(text);
    const slots = this.#shapes.map((shape) => shape.slots.find((slot) => slot.member === member));
    return (row) => {
      const view = this.#slabs.of(row);
      const start = row & (SLAB_BYTES - 1);
      const slot = slots[view.getUint16(start)];
      if (slot?.type === 'text') return at !== 0 && view.getUint32(start + slot.offset) === at;
      return slot?.type === 'instant' && view.getFloat64(start + slot.offset) === ms;
    };
  }

  /** Of these members, and of the name as one of them, those that are texts. */
  textsOf(row: number, members: readonly string[]): string[] {
    const { slots } = this.#shapeAt(row);
    return members.flatMap((member) => {
      if (member === 'name') return this.nameOf(row);
      const slot = slots.find((each) => each.member === member);
      return slot?.type === 'text' || slot?.type === 'instant' ? String(this.#read(row, slot)) : [];
    });
  }

  #shapeAt(row: number): Shape {
    return this.#shapes[this.#slabs.of(row).getUint16(row & (SLAB_BYTES - 1))] as Shape;
  }

  #shape(last: Step): Shape {
    if (this.#shapes.length === SHAPES_MAX) throw new SyntaxError(`entries of the past have at most ${SHAPES_MAX} shapes`);
    const steps: Step[] = [];
    for (let step = last; step.before; step = step.before) steps.unshift(step);
    const slots: Slot[] = [];
    let size = SLOTS_OFFSET;
    for (const { member, type } of steps) {
      slots.push({ member, type, offset: size, isWide: SLOT_BYTES[type] === 8, known: new Map() });
      size += SLOT_BYTES[type];
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
    const shape = { number: this.#shapes.length, slots, size, View };
    this.#shapes.push(shape);
    this.#shapeOf.set(last, shape);
    return shape;
  }

  #json(at: number): unknown {
    const { fresh } = this.#reader;
    return fresh.has(at) ? fresh.get(at) : JSON.parse(this.#jsons.read(at));
  }

  #read(row: number, { type, offset, known }: Slot): unknown {
    const view = this.#slabs.of(row);
    const start = (row & (SLAB_BYTES - 1)) + offset;
    if (type === 'number') return view.getFloat64(start);
    if (type === 'instant') return new Date(view.getFloat64(start)).toISOString();
    const at = view.getUint32(start);
    let value = known.get(at);
    if (value === undefined) {
      value = type === 'text' ? this.#texts.read(at) : this.#json(at);
      if (known.size < KNOWN_MAX) known.set(at, value);
    }
    return value;
  }
}

/** Who takes the empty text takes every text, and who takes 0 every number. */
function takesAll({ type }: Slot, is: Is): boolean {
  if (type === 'json') return false;
  return is(type === 'number' ? 0 : '');
}

/** Of an instant as it would be written again; else NaN. */
function msOf(text: string): number {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString() === text ? ms : Number.NaN;
}
