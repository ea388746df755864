/**
 * The arrays that all networks of a unit runtime live in, plan after plan, and the generated functions over them.
 *
 * The arrays are constants of the functions: an engine then knows where they lie and how long they are, which makes a scan a
 * third faster than arrays handed over as arguments. So that a new plan finds its functions compiled and hot, it lives in the
 * same arrays as the plan before: in the other half, while the scan still runs in this one. Only a plan that does not fit
 * makes a new arena.
 *
 * Invariant: a place given to a function counts from the beginning of the arena; everybody else sees a region as arrays of
 * its own, which begin at zero.
 */
import { assert } from '../vocabulary/assert.js';
import { ARRAY_NAMES, type CompiledShape, type ScanFunction } from './compile.js';
import type { Steps } from './steps.js';
import type { Memory } from './memory.js';

/** Room a plan needs, and the beginning of a region. */
export interface Room {
  readonly slots: number;
  readonly constants: number;
  readonly faults: number;
  readonly aux: number;
  /** Channel numbers of the I/O blocks. */
  readonly numbers: number;
  readonly channels: number;
}

/** What the I/O blocks see of the channels of a unit, by channel number. */
export interface ChannelArrays {
  readonly value: Float64Array;
  readonly quality: Uint8Array;
  /** Acknowledgement and read-back of outputs. */
  readonly ack: Float64Array;
  readonly readback: Float64Array;
}

/** The part of an arena in which one plan lives. */
export interface Region {
  readonly arena: Arena;
  readonly half: 0 | 1;
  readonly from: Room;
  readonly memory: Memory;
  readonly channels: ChannelArrays;
}

/** Functions of one shape; hot once a warm-up has gone through them. */
export interface HotFunctions {
  readonly functions: readonly ScanFunction[];
  hot: boolean;
}

/** Smallest half, so that a growing plan seldom needs a new arena: 64 KB of signals. */
const ROOM_MIN = 8192;
/** Room for growth over the plan at hand. */
const GROWTH = 1.5;
const SHAPES_MAX = 2000;

/** Makes every text of a function unique: V8 takes arrays for constants only in a function it has seen made once. */
let made = 0;

/** Where the plan after `previous` lives. */
export function takeRegion(room: Room, previous?: Region): Region {
  if (previous?.arena.fits(room)) return previous.arena.region(room, previous.half === 0 ? 1 : 0);
  return new Arena(room).region(room, 0);
}

export class Arena {
  readonly #half: Room;
  readonly #S: Float64Array;
  readonly #Q: Uint8Array;
  readonly #P: Float64Array;
  readonly #F: Int32Array;
  readonly #X: Float64Array;
  readonly #W: Int32Array;
  readonly #value: Float64Array;
  readonly #quality: Uint8Array;
  readonly #ack: Float64Array;
  readonly #readback: Float64Array;
  readonly #shapes = new Map<CompiledShape, HotFunctions>();

  constructor(room: Room) {
    const grown = (count: number): number => Math.max(ROOM_MIN, Math.ceil(count * GROWTH));
    const half: Room = {
      slots: grown(room.slots),
      constants: grown(room.constants),
      faults: grown(room.faults),
      aux: grown(room.aux),
      numbers: grown(room.numbers),
      channels: grown(room.channels),
    };
    this.#half = half;
    this.#S = new Float64Array(2 * half.slots);
    this.#Q = new Uint8Array(2 * half.slots);
    this.#P = new Float64Array(2 * half.constants);
    this.#F = new Int32Array(2 * half.faults);
    this.#X = new Float64Array(2 * half.aux);
    this.#W = new Int32Array(2 * half.numbers);
    this.#value = new Float64Array(2 * half.channels);
    this.#quality = new Uint8Array(2 * half.channels);
    this.#ack = new Float64Array(2 * half.channels);
    this.#readback = new Float64Array(2 * half.channels);
  }

  fits(room: Room): boolean {
    return (Object.keys(room) as (keyof Room)[]).every((part) => room[part] <= this.#half[part]);
  }

  /** One half, all zero. */
  region(room: Room, half: 0 | 1): Region {
    assert(this.fits(room), 'a plan lives in one half, and the plan that still runs in the other');
    const { slots, constants, faults, aux, numbers, channels } = this.#half;
    const from: Room = { slots: half * slots, constants: half * constants, faults: half * faults, aux: half * aux, numbers: half * numbers, channels: half * channels };
    const part = <T extends Float64Array | Uint8Array | Int32Array>(array: T, begin: number, count: number): T => array.subarray(begin, begin + count).fill(0) as T;
    return {
      arena: this,
      half,
      from,
      memory: {
        S: part(this.#S, from.slots, room.slots),
        Q: part(this.#Q, from.slots, room.slots),
        P: part(this.#P, from.constants, room.constants),
        F: part(this.#F, from.faults, room.faults),
        X: part(this.#X, from.aux, room.aux),
        W: part(this.#W, from.numbers, room.numbers),
        written: new Uint8Array(room.slots),
        auxFrom: from.aux,
      },
      channels: {
        value: part(this.#value, from.channels, room.channels),
        quality: part(this.#quality, from.channels, room.channels),
        ack: part(this.#ack, from.channels, room.channels),
        readback: part(this.#readback, from.channels, room.channels),
      },
    };
  }

  /** The functions of a shape over the arrays of this arena, made when they are asked for first; one step each. */
  *functions(shape: CompiledShape): Steps<HotFunctions> {
    const known = this.#shapes.get(shape);
    if (known) return known;
    if (this.#shapes.size >= SHAPES_MAX) this.#shapes.clear();
    const arrays = [this.#S, this.#Q, this.#P, this.#F, this.#X, this.#W, this.#value, this.#quality, this.#ack, this.#readback];
    const functions: ScanFunction[] = [];
    for (const chunk of shape.chunks) {
      yield;
      made += 1;
      functions.push(new Function(...ARRAY_NAMES, `// ${made}\n${chunk}`)(...arrays) as ScanFunction);
    }
    const compiled: HotFunctions = { functions, hot: false };
    this.#shapes.set(shape, compiled);
    return compiled;
  }
}
