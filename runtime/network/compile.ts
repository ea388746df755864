/**
 * From a linked network to the text of one function that loops over every instance of its shape.
 *
 * All instances of a shape lie one behind the other in the arrays of the arena: `S` (signals and state), `Q` (quality, same
 * index), `P` (parameters and constants). The function walks them with constant strides; no name is looked up and nothing
 * is allocated. Bodies are cut into functions of at most `CHUNK_BLOCKS` blocks, because V8 does not optimise functions of
 * more than 60 KB of bytecode. The arrays are constants of the function (arena.ts), and every place is masked to
 * `PLACE_BITS`: V8 then knows that adding an offset cannot overflow. Both together save a third of the machine code.
 *
 * Invariant: generated source consists of the fragments of the block library and of integers made here. Names and texts of
 * users never enter it.
 */
import { inside } from '../vocabulary/assert.js';
import type { DataType } from '../vocabulary/data-types.js';
import { INT_LIMIT } from './constants.js';
import { type Fragment, fragmentOf, type NamePiece, type Piece, type PutPiece } from './fragment.js';
import type { LinkedBlock, LinkedInput, LinkedNetwork } from './link.js';
import type { Steps } from './steps.js';

const CHUNK_BLOCKS = 120;

/** Places in the arrays are below 2^30: 8 GB of signals. */
const PLACE_BITS = 0x3fffffff;

/** First slots of every instance. */
export const INSTANCE_SLOT = { manual: 0 } as const;
const INSTANCE_SLOTS = 1;

export interface BlockLayout {
  /** Slot of each input that has one; -1 when it is a constant. */
  readonly inputs: readonly number[];
  /** Index in `P` of each constant input; -1 when it has a slot or is a literal. */
  readonly constants: readonly number[];
  readonly outputs: readonly number[];
  /** Slot of the override flag of each output, its value behind it; -1 when it cannot be overridden. */
  readonly overrides: readonly number[];
  readonly state: ReadonlyMap<string, number>;
  /** Index in the instance's part of `W` of the number of its channel; -1 without channel. */
  readonly channel: number;
  /** Index in `P` of each parameter of the type; -1 when it is a literal. */
  readonly params: readonly number[];
  /** Index in `P` of the place in `X`, behind it the length; -1 without. */
  readonly aux: number;
}

export interface Layout {
  readonly blocks: readonly BlockLayout[];
  /** Slot of each variable that is no output port. */
  readonly variables: readonly number[];
  readonly slots: number;
  readonly constants: number;
  /** Entries of `W` of one instance. */
  readonly channels: number;
}

/** Arrays of the I/O channels of the unit, by channel number: value, quality, acknowledgement and read-back of outputs. */
export interface ChannelArrays {
  readonly value: Float64Array;
  readonly quality: Uint8Array;
  readonly ack: Float64Array;
  readonly readback: Float64Array;
}

/** Free names of a generated function, in this order: the arrays of the arena, which are constants to it. */
export const ARRAY_NAMES = ['S', 'Q', 'P', 'F', 'X', 'W', 'V', 'VQ', 'VA', 'VB'] as const;

/**
 * Arguments: texts; first slot, constant, fault flag and channel number of the first instance, as places in the arena;
 * number of instances; elapsed and nominal ms; mark of faults. Returns the number of failed blocks.
 */
export type ScanFunction = (T: unknown, sb: number, pb: number, fb: number, wb: number, count: number, dtMs: number, periodMs: number, mark: number) => number;

export interface CompiledShape {
  /** Bodies of functions of `ARRAY_NAMES` that give the scan functions, to be called one after the other. */
  readonly chunks: readonly string[];
  /** Characters of all chunks: how long an engine takes to find them worth its while. */
  readonly textLength: number;
  readonly slots: number;
  readonly constants: number;
  readonly faults: number;
  readonly channels: number;
}

const LAID_OUT = 'a layout has an entry for each block, port, parameter and variable of its network';

/** `overridable[block]` names the outputs of a block that a tag may write. */
export function layOut(network: LinkedNetwork, overridable: readonly ReadonlySet<string>[]): Layout {
  let slots = INSTANCE_SLOTS;
  let constants = 0;
  let channels = 0;
  const take = (count: number): number => {
    slots += count;
    return slots - count;
  };
  const variables = network.variables.map((variable) => (variable.drain ? -1 : take(1)));
  const outputs = network.blocks.map((block) => block.outputs.map(() => take(1)));
  const inputSlot = (input: LinkedInput): number => {
    if (input.feed.kind === 'block') return inside(inside(outputs, input.feed.block, LAID_OUT), input.feed.output, LAID_OUT);
    if (input.feed.kind === 'variable') return inside(variables, input.feed.variable, LAID_OUT);
    return input.feed.kind === 'own' ? take(1) : -1;
  };
  const takeConstant = (isLiteral: boolean): number => {
    if (isLiteral) return -1;
    constants += 1;
    return constants - 1;
  };
  const blocks = network.blocks.map((block, index): BlockLayout => {
    const inputs = block.inputs.map(inputSlot);
    return {
      inputs,
      constants: block.inputs.map((input, n) => takeConstant(inside(inputs, n, LAID_OUT) >= 0 || inputLiteral(input) !== undefined)),
      outputs: inside(outputs, index, LAID_OUT),
      overrides: block.type.outputs.map((port) => (overridable[index]?.has(port.name) ? take(2) : -1)),
      state: new Map(block.state.map((name) => [name, take(1)])),
      channel: block.type.channel ? channels++ : -1,
      params: block.params.map((_, n) => takeConstant(paramLiteral(block, n) !== undefined)),
      aux: block.type.aux ? Math.min(takeConstant(false), takeConstant(false)) : -1,
    };
  });
  return { blocks, variables, slots, constants, channels };
}

/**
 * Constants that shape the code are literals of it: BOOL, words, zero and the empty limit. They switch parts of a block on
 * or off, so V8 leaves the dead parts out; every other constant is read from `P`, so that instances share one function.
 */
function literalOf(type: DataType | 'ANY', value: number | string, isWord: boolean): string | undefined {
  if (typeof value === 'string') return undefined;
  if (Number.isNaN(value)) return 'NaN';
  return value === 0 || type === 'BOOL' || isWord ? String(value) : undefined;
}

function inputLiteral(input: LinkedInput): string | undefined {
  return input.feed.kind === 'constant' ? literalOf(input.type, input.feed.value, false) : undefined;
}

function paramLiteral(block: LinkedBlock, param: number): string | undefined {
  const { type, words } = inside(block.type.params, param, LAID_OUT);
  return literalOf(type, inside(block.params, param, LAID_OUT), words !== undefined);
}

const CACHE_MAX = 2000;
const cache = new Map<string, CompiledShape>();

/** Writes the functions of the network, or finds those of an equal shape; one step per function. */
export function* compileShape(network: LinkedNetwork, layout: Layout): Steps<CompiledShape> {
  const key = shapeKey(network, layout);
  const known = cache.get(key);
  if (known) return known;
  if (cache.size >= CACHE_MAX) cache.clear();
  const chunks: string[] = [];
  for (let from = 0; from < network.order.length; from += CHUNK_BLOCKS) {
    yield;
    chunks.push(writeChunk(network, layout, from, from + CHUNK_BLOCKS));
  }
  const { slots, constants, channels } = layout;
  const shape: CompiledShape = { chunks, textLength: chunks.reduce((length, chunk) => length + chunk.length, 0), slots, constants, faults: network.blocks.length, channels };
  cache.set(key, shape);
  return shape;
}

/** Everything the text depends on. Writing the text costs a hundred times as much, and most networks are instances of a template. */
function shapeKey({ blocks, order }: LinkedNetwork, layout: Layout): string {
  const parts: (string | number)[] = [layout.slots, layout.constants, layout.channels];
  for (const index of order) {
    const block = inside(blocks, index, LAID_OUT);
    const { inputs, outputs, overrides } = inside(layout.blocks, index, LAID_OUT);
    parts.push(index, fragmentOf(block.type, block.code).id, block.outputs.join(), outputs.join(), overrides.join());
    block.inputs.forEach((input, n) => {
      parts.push(inside(inputs, n, LAID_OUT), input.feed.kind, input.type, inputLiteral(input) ?? '');
    });
    block.params.forEach((_, n) => {
      parts.push(paramLiteral(block, n) ?? '');
    });
  }
  return parts.join('\n');
}

function writeChunk(network: LinkedNetwork, layout: Layout, from: number, to: number): string {
  const order = network.order.slice(from, to);
  const writer = new ChunkWriter(network, layout, order);
  const strides = { sb: layout.slots, pb: layout.constants, fb: network.blocks.length, wb: layout.channels };
  const places = Object.entries(strides);
  return `"use strict";
return function scanNetwork(T, sb, pb, fb, wb, count, dtMs, periodMs, mark) {
const BAD = 3, RAW = 2, INT_LIMIT = ${INT_LIMIT};
const dt = dtMs / 1000, periodS = periodMs / 1000;
let faults = 0;
${places.map(([place]) => `${place} &= ${PLACE_BITS};`).join(' ')}
for (let left = count | 0; left > 0; left -= 1, ${places.map(([place, stride]) => `${place} = (${place} + ${stride}) & ${PLACE_BITS}`).join(', ')}) {
${order.map((block) => writer.write(block)).join('\n')}
}
return faults;
};`;
}

/** A term that compares with an empty limit: never true, but V8 compares all the same. */
const NEVER = /(?<=\|\| |&& |\()\w+ [<>]=? NaN(?=\)| \|\|| &&)/g;

/** Writes the blocks of one chunk; keeps book of which outputs are at hand as locals. */
class ChunkWriter {
  readonly #network: LinkedNetwork;
  readonly #layout: Layout;
  /** Slots of outputs that a later block of this chunk reads. */
  readonly #exported = new Set<number>();
  /** Slots whose value of this scan is in the local `v<slot>`, each with the expression of its quality. */
  readonly #atHand = new Map<number, string>();

  constructor(network: LinkedNetwork, layout: Layout, order: readonly number[]) {
    this.#network = network;
    this.#layout = layout;
    const done = new Set<number>();
    for (const block of order) {
      for (const input of inside(network.blocks, block, LAID_OUT).inputs) {
        const { feed } = input;
        if (feed.kind === 'block' && done.has(feed.block)) this.#exported.add(inside(inside(layout.blocks, feed.block, LAID_OUT).outputs, feed.output, LAID_OUT));
      }
      done.add(block);
    }
  }

  write(index: number): string {
    const block = inside(this.#network.blocks, index, LAID_OUT);
    const layout = inside(this.#layout.blocks, index, LAID_OUT);
    const writer = new BlockWriter(block, layout, index, this.#exported, this.#atHand);
    const text = writer.write();
    for (const slot of layout.outputs) if (this.#exported.has(slot)) this.#atHand.set(slot, writer.passedQuality ?? `w${slot}`);
    return text;
  }
}

class BlockWriter {
  readonly #block: LinkedBlock;
  readonly #layout: BlockLayout;
  readonly #index: number;
  readonly #exported: ReadonlySet<number>;
  readonly #atHand: ReadonlyMap<number, string>;
  readonly #fragment: Fragment;
  readonly #loads: string[] = [];
  readonly #loaded = new Set<string>();
  /** Quality of all outputs when the block hands on that of an earlier block unchanged: readers take it from there. */
  passedQuality: string | undefined;

  constructor(block: LinkedBlock, layout: BlockLayout, index: number, exported: ReadonlySet<number>, atHand: ReadonlyMap<number, string>) {
    this.#block = block;
    this.#layout = layout;
    this.#index = index;
    this.#exported = exported;
    this.#atHand = atHand;
    this.#fragment = fragmentOf(block.type, block.code);
  }

  write(): string {
    const { type } = this.#block;
    const fragment = this.#fragment;
    const code = this.#fill(fragment.code);
    const after = this.#fill(fragment.after);
    const fenced = fragment.usesTexts ? `try {${code}} catch { err = 1; }` : code;
    const mayFail = fragment.fails || !type.total;
    // Asked first: it adds to the loads.
    const worst = this.#needsQuality() ? this.#worstInput() : '';
    const quality = worst === '' ? '' : `let q = ${worst};`;
    if (!mayFail && this.#handsOnQuality() && /^(w\d+|0)$/.test(worst)) this.passedQuality = worst;
    const body = [
      ...this.#declareOutputs(),
      mayFail ? 'let err = 0;' : '',
      quality,
      fenced,
      ...this.#override(),
      after,
      ...(mayFail ? this.#guardedCommit() : this.#commit()),
      '}',
    ];
    // the loads are known once the whole body is written
    return [...this.#exports(), '{', ...this.#loads, ...body].filter((line) => line !== '').join('\n');
  }

  // ---- reading

  #fill(pieces: readonly Piece[]): string {
    let text = '';
    for (const piece of pieces) text += typeof piece === 'string' ? piece : this.#piece(piece);
    return text.includes('NaN') ? text.replace(NEVER, 'false') : text;
  }

  #piece(piece: Exclude<Piece, string>): string {
    if ('put' in piece) return this.#put(piece);
    if ('free' in piece) return String(this.#isFree(piece.free));
    return this.#name(piece);
  }

  #put({ put, value }: PutPiece): string {
    if (!this.#isFree(put.input)) return ';';
    return `{ ${this.#name(put)} = ${this.#fill(value)}; S[sb + ${inside(this.#layout.inputs, put.input, LAID_OUT)}] = ${this.#name(put)}; }`;
  }

  #isFree(input: number): boolean {
    const { kind } = inside(this.#block.inputs, input, LAID_OUT).feed;
    return kind === 'own' || kind === 'constant';
  }

  /** The expression of one `$name`; loads what it needs at the head of the block. */
  #name({ name, quality, input, output, param }: NamePiece): string {
    const { channel, params, state, aux } = this.#layout;
    if (name === 'q') return 'q';
    if (name === 'manual') return `S[sb + ${INSTANCE_SLOT.manual}]`;
    if (name === 'aux' || name === 'auxLength') return this.#load(name, `P[pb + ${aux + (name === 'aux' ? 0 : 1)}]`);
    if (name === 'channel' || name === 'ack' || name === 'back') return this.#channel(name, quality, channel);
    if (input >= 0) return quality ? this.#inputQuality(input) : this.#inputValue(input);
    if (output >= 0) return quality ? `oq_${name}` : `o_${name}`;
    const slot = state.get(name);
    if (slot !== undefined) return this.#load(`s_${name}`, `S[sb + ${slot}]`, true);
    if (param >= 0) return paramLiteral(this.#block, param) ?? this.#load(`p_${name}`, `P[pb + ${inside(params, param, LAID_OUT)}]`);
    throw new Error(`the fragment of ${this.#block.type.name} speaks of $${name}, which its row does not have`);
  }

  #channel(name: 'channel' | 'ack' | 'back', quality: boolean, index: number): string {
    const number = this.#load('c', `W[wb + ${index}]`);
    if (name === 'channel') return quality ? this.#load('channel_q', `VQ[${number}]`) : this.#load('channel', `V[${number}]`);
    return this.#load(name, name === 'ack' ? `VA[${number}]` : `VB[${number}]`);
  }

  #load(local: string, expression: string, mutable = false): string {
    if (!this.#loaded.has(local)) {
      this.#loaded.add(local);
      this.#loads.push(`${mutable ? 'let' : 'const'} ${local} = ${expression};`);
    }
    return local;
  }

  #inputValue(input: number): string {
    const linked = inside(this.#block.inputs, input, LAID_OUT);
    const { name } = linked.port;
    const slot = inside(this.#layout.inputs, input, LAID_OUT);
    if (slot < 0) return inputLiteral(linked) ?? this.#load(`i_${name}`, `P[pb + ${inside(this.#layout.constants, input, LAID_OUT)}]`);
    if (this.#isSelfWritten(name)) return this.#load(`i_${name}`, this.#signal(slot), true);
    return this.#atHand.has(slot) ? `v${slot}` : this.#load(`i_${name}`, this.#signal(slot));
  }

  #isSelfWritten(name: string): boolean {
    return this.#block.type.selfWritten.includes(name);
  }

  #signal(slot: number): string {
    return this.#atHand.has(slot) ? `v${slot}` : `S[sb + ${slot}]`;
  }

  #inputQuality(input: number): string {
    const { feed, port } = inside(this.#block.inputs, input, LAID_OUT);
    if (feed.kind === 'own' || feed.kind === 'constant') return '0';
    const slot = inside(this.#layout.inputs, input, LAID_OUT);
    return this.#atHand.get(slot) ?? this.#load(`iq_${port.name}`, `Q[sb + ${slot}]`);
  }

  /** Worst quality of the connected inputs (decisions 5.1 rule 5); the codes are ordered. */
  #worstInput(): string {
    const terms = this.#block.inputs.map((_, input) => this.#inputQuality(input)).filter((term) => term !== '0');
    return [...new Set(terms)].reduce((worst, term) => (worst === '' ? term : `Math.max(${worst}, ${term})`), '') || '0';
  }

  #needsQuality(): boolean {
    return this.#fragment.usesQuality || this.#block.type.outputs.some((port) => !this.#fragment.qualitiesSet.has(port.name));
  }

  #handsOnQuality(): boolean {
    return !this.#fragment.changesQuality && !this.#block.type.outputs.some((port, output) => this.#hasQualityLocal(port.name, output));
  }

  // ---- writing

  #exports(): string[] {
    const own = (slot: number): string => (this.passedQuality === undefined ? `let v${slot} = 0, w${slot} = 0;` : `let v${slot} = 0;`);
    return this.#layout.outputs.filter((slot) => this.#exported.has(slot)).map(own);
  }

  #declareOutputs(): string[] {
    return this.#block.type.outputs.map((port, n) => `let o_${port.name} = 0${this.#hasQualityLocal(port.name, n) ? `, oq_${port.name} = 0` : ''};`);
  }

  #hasQualityLocal(name: string, output: number): boolean {
    const { qualitiesSet, qualitiesAfter } = this.#fragment;
    return qualitiesSet.has(name) || qualitiesAfter.has(name) || inside(this.#layout.overrides, output, LAID_OUT) >= 0;
  }

  #override(): string[] {
    return this.#block.type.outputs.flatMap((port, n) => {
      const slot = inside(this.#layout.overrides, n, LAID_OUT);
      const settle = this.#hasQualityLocal(port.name, n) && !this.#fragment.qualitiesSet.has(port.name) ? [`oq_${port.name} = q;`] : [];
      return slot < 0 ? settle : [...settle, `if (S[sb + ${slot}] !== 0) { o_${port.name} = S[sb + ${slot + 1}]; oq_${port.name} = 0; }`];
    });
  }

  #commit(): string[] {
    const { type } = this.#block;
    const lines: string[] = [];
    type.outputs.forEach((port, n) => {
      const slot = inside(this.#layout.outputs, n, LAID_OUT);
      const quality = this.#hasQualityLocal(port.name, n) ? `oq_${port.name}` : 'q';
      lines.push(`S[sb + ${slot}] = o_${port.name};`, `Q[sb + ${slot}] = ${quality};`);
      if (!this.#exported.has(slot)) return;
      lines.push(`v${slot} = o_${port.name};`);
      if (this.passedQuality === undefined) lines.push(`w${slot} = ${quality};`);
    });
    for (const [name, slot] of this.#layout.state) if (this.#fragment.assigned.has(name)) lines.push(`S[sb + ${slot}] = s_${name};`);
    const first = this.#layout.state.get('first');
    if (first !== undefined) lines.push(`S[sb + ${first}] = 0;`);
    return lines;
  }

  /** Decisions 5.1 rule 6: a failed block keeps its outputs with quality Bad, and its state. */
  #guardedCommit(): string[] {
    const slots = this.#layout.outputs;
    return [
      `if (err !== 0${this.#isUnsound()}) {`,
      `faults += 1; F[fb + ${this.#index}] = mark;`,
      ...slots.map((slot) => `Q[sb + ${slot}] = BAD;${this.#exported.has(slot) ? ` v${slot} = S[sb + ${slot}]; w${slot} = BAD;` : ''}`),
      '} else {',
      ...this.#commit(),
      '}',
    ];
  }

  #isUnsound(): string {
    const { type, outputs } = this.#block;
    if (type.total) return '';
    const ofType = (wanted: DataType): string[] => type.outputs.filter((_, n) => outputs[n] === wanted).map((port) => `o_${port.name}`);
    // x - x is 0 for every finite x and NaN for all others, so one comparison judges all REAL outputs.
    const differences = ofType('REAL').map((name) => `(${name} - ${name})`);
    const tests = [...(differences.length > 0 ? [`${differences.join(' + ')} === 0`] : []), ...ofType('INT').map((name) => `Math.abs(${name}) <= INT_LIMIT`)];
    return tests.length === 0 ? '' : ` || !(${tests.join(' && ')})`;
  }
}
