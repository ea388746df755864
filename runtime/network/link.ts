/**
 * A network with everything settled that does not depend on values: what feeds each input, the type of every port, the
 * encoded constants, and what is wrong with it (decisions 5.1 rules 1, 2 and 11).
 */
import { assert, inside } from '../vocabulary/assert.js';
import type { BlockForm, BlockType, Param, Port } from '../blocks/block.js';
import { type DataType, iecType } from '../vocabulary/data-types.js';
import type { BlockSpec, CompositeType, Connection, NetworkVariable, ParamValue, VariableBinding } from '../vocabulary/network.js';
import { literalType, readConstant } from './constants.js';
import { type Endpoint, expandNetwork, type FlatBlock, type FlatNetwork, type Problem } from './expand.js';
import { fragmentOf } from './fragment.js';
import { executionOrder } from './order.js';
import { finish, type Steps } from './steps.js';

/** What an input takes, in the order of decisions 5.1 rule 2; `own` is a port that a tag or the block itself may write. */
export type Feed =
  | { readonly kind: 'block'; readonly block: number; readonly output: number }
  | { readonly kind: 'variable'; readonly variable: number }
  | { readonly kind: 'own'; readonly value: number | string }
  | { readonly kind: 'constant'; readonly value: number | string };

export interface LinkedInput {
  readonly port: Port;
  readonly type: DataType;
  readonly feed: Feed;
  /** Connected, bound, constant or writable: what an extensible block counts. */
  readonly used: boolean;
}

export interface LinkedBlock {
  readonly name: string;
  readonly type: BlockType;
  readonly inputs: readonly LinkedInput[];
  readonly outputs: readonly DataType[];
  /** One per parameter of the type: number, or text; NaN is an empty limit. */
  readonly params: readonly (number | string)[];
  /** Words of `X` it needs. */
  readonly auxLength: number;
  /** The fragment for this form of the block. */
  readonly code: string;
  /** State words the fragment speaks of; the others need no place. */
  readonly state: readonly string[];
}

export interface LinkedVariable {
  readonly name: string;
  readonly type: DataType;
  readonly direction: 'input' | 'output' | 'local';
  /** Output port behind an output or local variable. */
  readonly drain: Endpoint | undefined;
}

export interface LinkedNetwork {
  readonly blocks: readonly LinkedBlock[];
  readonly variables: readonly LinkedVariable[];
  readonly order: readonly number[];
  readonly flat: FlatNetwork;
}

export interface NetworkSource {
  readonly blocks: readonly BlockSpec[];
  readonly connections: readonly Connection[];
  readonly variables: readonly NetworkVariable[];
  readonly variableBindings: readonly VariableBinding[];
  readonly scanIntervalMs: number;
}

/** A port that a tag is bound to, with the tag's type: it keeps a slot of its own when nothing feeds it. */
export interface BoundPort {
  readonly block: string;
  readonly port: string;
  readonly type: DataType;
}

export interface Linked {
  readonly network: LinkedNetwork;
  readonly problems: readonly Problem[];
}

export function linkNetwork(source: NetworkSource, composites: readonly CompositeType[], bound: readonly BoundPort[] = []): Linked {
  return finish(linkSteps(source, composites, bound));
}

/** The same in steps, of which a large network takes several. */
export function* linkSteps(source: NetworkSource, composites: readonly CompositeType[], bound: readonly BoundPort[]): Steps<Linked> {
  return yield* new Linker(source, composites, bound).link();
}

/**
 * How often the open type of a block may change: nothing, INT, REAL, another type. Types that contradict each other in a
 * loop would go round for ever; they are refused at their connection, whichever stands last.
 */
const TYPE_CHANGES_MAX = 4;

/** One to two milliseconds of work in an engine that has just begun. */
const BLOCKS_PER_STEP = 200;

const key = (block: number, port: string): string => `${block}.${port}`;

const FLAT = 'an end and a feed name a block and a port of the flat network';

class Linker {
  readonly #source: NetworkSource;
  readonly #flat: FlatNetwork;
  readonly #problems: Problem[];
  readonly #variables: LinkedVariable[] = [];
  /** Number of a variable by its name in lower case. */
  readonly #variableNumbers = new Map<string, number>();
  /** Feeds of inputs that are connected or bound to a variable. */
  readonly #fed = new Map<string, Feed>();
  /** Types of tags on unconnected inputs. */
  readonly #tagged = new Map<string, DataType>();
  /** Settled type of the NUM or ANY ports of each block. */
  readonly #generic: (DataType | undefined)[] = [];

  constructor(source: NetworkSource, composites: readonly CompositeType[], bound: readonly BoundPort[]) {
    this.#source = source;
    const { network, problems } = expandNetwork(source.blocks, source.connections, composites);
    this.#flat = network;
    this.#problems = problems;
    for (const { block, port, type } of bound) {
      for (const end of network.inputs(block, port)) this.#tagged.set(key(end.block, end.port), type);
    }
  }

  *link(): Steps<Linked> {
    yield;
    this.#readVariables();
    this.#connect();
    this.#bindVariables();
    yield;
    this.#settleTypes();
    const blocks: LinkedBlock[] = [];
    for (const block of this.#flat.blocks) {
      if (blocks.length % BLOCKS_PER_STEP === 0) yield;
      blocks.push(this.#linkBlock(block, blocks.length));
    }
    yield;
    this.#checkConnections();
    const sources = blocks.map((block) => block.inputs.flatMap((input) => (input.feed.kind === 'block' ? [input.feed.block] : [])));
    return { network: { blocks, variables: this.#variables, order: executionOrder(sources), flat: this.#flat }, problems: this.#problems };
  }

  #readVariables(): void {
    const drains = this.#drains();
    this.#source.variables.forEach((variable, index) => {
      const type = iecType(variable.dataType);
      const path = `variables[${index}]`;
      if (!type) this.#problems.push({ path: `${path}.dataType`, message: `variable ${variable.name}: there is no data type ${variable.dataType}` });
      const name = variable.name.toLowerCase();
      if (this.#variableNumbers.has(name)) {
        this.#problems.push({ path: `${path}.name`, message: `variable name ${variable.name} is used twice` });
        return;
      }
      const direction = variable.direction.toLowerCase() as LinkedVariable['direction'];
      const drain = direction === 'input' ? undefined : drains.get(name);
      this.#variableNumbers.set(name, this.#variables.length);
      this.#variables.push({ name: variable.name, type: type ?? 'REAL', direction, drain });
    });
  }

  /** The output port bound to each variable, by name in lower case; the last binding to an output counts. */
  #drains(): Map<string, Endpoint> {
    const drains = new Map<string, Endpoint>();
    for (const { variable, blockRef, portRef } of this.#source.variableBindings) {
      const end = this.#flat.output(blockRef, portRef);
      if (end) drains.set(variable.toLowerCase(), end);
    }
    return drains;
  }

  #connect(): void {
    for (const { source, dest, path } of this.#flat.connections) {
      const at = key(dest.block, dest.port);
      const block = inside(this.#flat.blocks, dest.block, FLAT);
      if (this.#fed.has(at)) this.#problems.push({ path, message: `input ${block.name}.${dest.port} is connected twice` });
      this.#fed.set(at, this.#fromOutput(source));
    }
  }

  #fromOutput(end: Endpoint): Feed {
    return { kind: 'block', block: end.block, output: inside(this.#flat.blocks, end.block, FLAT).type.outputs.findIndex((port) => port.name === end.port) };
  }

  #bindVariables(): void {
    this.#source.variableBindings.forEach((binding, index) => {
      const path = `variableBindings[${index}]`;
      const number = this.#variableNumbers.get(binding.variable.toLowerCase()) ?? -1;
      if (number < 0) this.#problems.push({ path: `${path}.variable`, message: `there is no variable ${binding.variable}` });
      if (!this.#flat.has(binding.blockRef)) {
        this.#problems.push({ path: `${path}.blockRef`, message: `variable ${binding.variable} is bound to block ${binding.blockRef}, which does not exist` });
        return;
      }
      const ends = this.#flat.inputs(binding.blockRef, binding.portRef);
      const isOutput = this.#flat.output(binding.blockRef, binding.portRef) !== undefined;
      if (ends.length === 0 && !isOutput) {
        this.#problems.push({ path: `${path}.portRef`, message: `variable ${binding.variable} is bound to ${binding.blockRef}.${binding.portRef}, which does not exist` });
      }
      const variable = this.#variables[number];
      if (!variable) return;
      if (variable.direction === 'input' && ends.length === 0 && isOutput) {
        this.#problems.push({ path: `${path}.portRef`, message: `input variable ${binding.variable} is bound to output ${binding.blockRef}.${binding.portRef}` });
        return;
      }
      if (ends.length > 0 && (variable.direction === 'input' || !isOutput)) for (const end of ends) this.#bind(end, variable, number);
    });
  }

  /** A connection goes before a binding (decisions 5.1 rule 2). A local variable passes on the port that drives it. */
  #bind(end: Endpoint, variable: LinkedVariable, number: number): void {
    const at = key(end.block, end.port);
    if (this.#fed.has(at)) return;
    this.#fed.set(at, variable.drain ? this.#fromOutput(variable.drain) : { kind: 'variable', variable: number });
  }

  // ---- types

  #outputType(block: number, output: number): DataType | undefined {
    const declared = inside(inside(this.#flat.blocks, block, FLAT).type.outputs, output, FLAT).type;
    return declared === 'NUM' || declared === 'ANY' ? this.#generic[block] : declared;
  }

  #feedType(feed: Feed | undefined): DataType | undefined {
    if (feed?.kind === 'block') return this.#outputType(feed.block, feed.output);
    return feed?.kind === 'variable' ? inside(this.#variables, feed.variable, FLAT).type : undefined;
  }

  /** NUM and ANY ports take the type of what feeds them; a change goes on to the readers until nothing changes. */
  #settleTypes(): void {
    const { blocks } = this.#flat;
    const readers = this.#readers();
    const changes = new Uint8Array(blocks.length);
    const queue = blocks.map((_, index) => index);
    for (const index of queue) {
      const type = this.#settle(inside(blocks, index, FLAT), index, false);
      const changed = inside(changes, index, FLAT);
      if (type === this.#generic[index] || changed >= TYPE_CHANGES_MAX) continue;
      this.#generic[index] = type;
      changes[index] = changed + 1;
      for (const reader of inside(readers, index, FLAT)) queue.push(reader);
    }
    blocks.forEach((block, index) => {
      this.#generic[index] ??= this.#settle(block, index, true);
    });
  }

  /** Blocks that read an output of each block. */
  #readers(): number[][] {
    const readers: number[][] = this.#flat.blocks.map(() => []);
    for (const [at, feed] of this.#fed) if (feed.kind === 'block') inside(readers, feed.block, FLAT).push(Number(at.slice(0, at.indexOf('.'))));
    return readers;
  }

  #settle(block: FlatBlock, index: number, last: boolean): DataType | undefined {
    const generic = block.type.inputs.filter((port) => port.type === 'NUM' || port.type === 'ANY');
    const strong: DataType[] = [];
    const weak: DataType[] = [];
    for (const port of generic) {
      const feed = this.#fed.get(key(index, port.name));
      const type = feed ? this.#feedType(feed) : this.#tagged.get(key(index, port.name));
      const constant = block.params.get(port.name);
      // what is no number never becomes the type of a NUM port: its own connection is at fault, not what else the port is near
      if (type && port.type === 'NUM' && type !== 'INT' && type !== 'REAL') continue;
      if (type) strong.push(type);
      else if (!feed && constant !== undefined) weak.push(port.type === 'NUM' ? numberType(constant) : literalType(constant));
    }
    const param = block.type.params.find((entry) => entry.type === 'ANY');
    if (param) weak.push(literalType(block.params.get(param.name) ?? 0));
    if (strong.length === 0 && weak.length === 0) return last ? 'REAL' : undefined;
    const all = [...strong, ...weak];
    const numeric = all.filter((type) => type === 'INT' || type === 'REAL');
    if (numeric.length === all.length) return all.includes('REAL') ? 'REAL' : 'INT';
    return strong.find((type) => type !== 'INT' && type !== 'REAL') ?? all.find((type) => type !== 'INT' && type !== 'REAL');
  }

  #inputType(block: number, port: Port): DataType {
    return port.type === 'NUM' || port.type === 'ANY' ? (this.#generic[block] ?? 'REAL') : port.type;
  }

  // ---- blocks

  #linkBlock(block: FlatBlock, index: number): LinkedBlock {
    const inputs = block.type.inputs.map((port) => this.#linkInput(block, index, port));
    const outputs = block.type.outputs.map((_, output) => this.#outputType(index, output) ?? 'REAL');
    const params = block.type.params.map((param) => this.#readParam(block, param));
    const named = Object.fromEntries(block.type.params.map((param, n) => [param.name, inside(params, n, FLAT)]));
    const length = block.type.aux?.length(named, this.#source.scanIntervalMs) ?? 0;
    if (typeof length === 'string') this.#problems.push({ path: `${block.path}.params`, message: `block ${block.name}: ${length}` });
    assert(typeof length === 'string' || (Number.isInteger(length) && length >= 0), 'the memory of a block has a number of words: the places of all others lie behind it');
    const generic = this.#generic[index];
    if (generic && block.type.refuses.includes(generic)) this.#problems.push({ path: block.path, message: `block ${block.name}: ${block.type.name} does not take ${generic}` });
    const code = block.type.code(blockForm(block.type, inputs, outputs, params));
    const { names } = fragmentOf(block.type, code);
    const state = Object.keys(block.type.state).filter((name) => names.has(name));
    return { name: block.name, type: block.type, inputs, outputs, params, auxLength: typeof length === 'string' ? 0 : length, code, state };
  }

  #linkInput(block: FlatBlock, index: number, port: Port): LinkedInput {
    const type = this.#inputType(index, port);
    const fed = this.#fed.get(key(index, port.name));
    const given = block.params.get(port.name);
    const tagged = this.#tagged.has(key(index, port.name));
    if (fed && port.constant) this.#problems.push({ path: block.path, message: `input ${block.name}.${port.name} must be a constant` });
    let value: number | string = type === 'STRING' ? '' : port.initial;
    if (given !== undefined) {
      const read = readConstant(type, given);
      if (read === undefined)
        this.#problems.push({ path: `${block.path}.params.${port.name}`, message: `block ${block.name}: ${JSON.stringify(given)} is no ${type} for input ${port.name}` });
      else value = read;
    }
    const own = tagged || block.type.selfWritten.includes(port.name);
    const feed: Feed = fed ?? { kind: own ? 'own' : 'constant', value };
    return { port, type, feed, used: fed !== undefined || tagged || given !== undefined };
  }

  #readParam(block: FlatBlock, param: Param): number | string {
    const refuse = (message: string): number => {
      this.#problems.push({ path: `${block.path}.params.${param.name}`, message: `block ${block.name}: ${message}` });
      return param.type === 'STRING' ? 0 : Number.NaN;
    };
    const given = block.params.get(param.name);
    if (given === undefined && param.required) return refuse(`parameter ${param.name} is required`);
    const value = given ?? param.fallback;
    if (value === undefined || (value === '' && param.type !== 'STRING' && param.type !== 'ANY')) return Number.NaN;
    if (param.words) {
      const word = param.words.findIndex((entry) => entry === String(value).toLowerCase());
      return word >= 0 ? word : refuse(`${param.name} is one of ${param.words.join(', ')}, not ${JSON.stringify(value)}`);
    }
    const type = param.type === 'ANY' ? literalType(value) : param.type;
    return readConstant(type, value) ?? refuse(`${JSON.stringify(value)} is no ${type} for parameter ${param.name}`);
  }

  // ---- checks

  #checkConnections(): void {
    for (const [at, feed] of this.#fed) {
      const block = Number(at.slice(0, at.indexOf('.')));
      const reader = inside(this.#flat.blocks, block, FLAT);
      const port = reader.type.inputs.find((entry) => entry.name === at.slice(at.indexOf('.') + 1));
      const from = this.#feedType(feed);
      if (!port || !from) continue;
      const to = this.#inputType(block, port);
      if (from === to || (from === 'INT' && to === 'REAL')) {
        if (port.type !== 'NUM' || from === 'INT' || from === 'REAL') continue;
      }
      this.#problems.push({
        path: this.#pathOf(block, port.name, feed),
        message: `${this.#nameOf(feed)} is ${from}, but ${reader.name}.${port.name} takes ${port.type === 'NUM' ? 'INT or REAL' : to}`,
      });
    }
  }

  #pathOf(block: number, port: string, feed: Feed): string {
    if (feed.kind === 'block') {
      const connection = this.#flat.connections.find((entry) => entry.dest.block === block && entry.dest.port === port);
      if (connection) return connection.path;
    }
    return 'variableBindings';
  }

  #nameOf(feed: Feed): string {
    if (feed.kind === 'variable') return `variable ${inside(this.#variables, feed.variable, FLAT).name}`;
    if (feed.kind !== 'block') return 'the constant';
    const block = inside(this.#flat.blocks, feed.block, FLAT);
    return `${block.name}.${inside(block.type.outputs, feed.output, FLAT).name}`;
  }
}

function numberType(value: ParamValue): DataType {
  return readConstant('INT', value) === undefined ? 'REAL' : 'INT';
}

function blockForm(type: BlockType, inputs: readonly LinkedInput[], outputs: readonly DataType[], params: readonly (number | string)[]): BlockForm {
  const constantOf = (name: string): number | string | undefined => {
    const feed = inputs.find((input) => input.port.name === name)?.feed;
    if (feed) return feed.kind === 'constant' ? feed.value : undefined;
    return params[type.params.findIndex((param) => param.name === name)];
  };
  return {
    type(port) {
      const input = inputs.find((entry) => entry.port.name === port);
      if (input) return input.type;
      return inside(
        outputs,
        type.outputs.findIndex((output) => output.name === port),
        'a fragment asks for ports of its own row',
      );
    },
    used: (prefix = '') => inputs.filter((input) => input.used && input.port.name.startsWith(prefix)).map((input) => input.port.name),
    off: (name) => {
      const value = constantOf(name);
      return value === 0 || Number.isNaN(value);
    },
  };
}
