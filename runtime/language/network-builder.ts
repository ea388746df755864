/**
 * Collects the blocks, connections and bindings of a network while a program is lowered (decisions 4.6). Values of the
 * previous scan are connections whose source is known at the end only; they keep their place in the list until then.
 */
import type { BlockSpec, Connection, ParamValue, VariableBinding } from '../vocabulary/network.js';
import type { Literal } from './ast.js';
import { type BlockCatalog, genericType, hasOpenOutput, isOpen, named } from './block-catalog.js';
import { printReal } from './print.js';
import { printTime } from './time-text.js';
import type { StType } from './types.js';
import { intValue } from './value-text.js';

/** What a name or an expression stands for. `network` is the type as the blocks see it. */
export type Operand =
  | { readonly kind: 'literal'; readonly literal: Literal; readonly type: StType }
  | { readonly kind: 'port'; readonly block: string; readonly port: string; readonly type: StType; readonly network: StType }
  | { readonly kind: 'input'; readonly variable: string; readonly type: StType; readonly network: StType }
  /** The variable's value of the previous scan. `variable` is its key. */
  | { readonly kind: 'later'; readonly variable: string; readonly type: StType };

/** Where a later value ends: a port or an input; null when variables only name each other. */
export type Settled = Extract<Operand, { kind: 'port' | 'input' }> | null;

/** More blocks than any module needs; keeps a small text from growing into a huge network. */
export const BLOCKS_MAX = 5000;

/** Thrown when a program makes more blocks than that. */
export class TooManyBlocks extends Error {}

interface GrowingBlock {
  readonly name: string;
  readonly type: string;
  readonly params: Map<string, ParamValue>;
}

/** Value of a literal as it stands in `params` (decisions Q-PROG-09). */
export function literalParam(literal: Literal): ParamValue {
  switch (literal.type) {
    case 'INT':
      return intValue(literal.value);
    case 'TIME':
      return printTime(literal.value);
    default:
      return literal.value;
  }
}

/** A REAL that JSON shows as a whole number, which the blocks would take for an INT. */
function isWholeReal(literal: Literal): literal is Literal & { type: 'REAL' } {
  return literal.type === 'REAL' && Number.isSafeInteger(literal.value);
}

/** The same literal where its type decides the one of the block: NUM reads decimal text, ANY a typed literal. */
function typedParam(literal: Literal, port: 'NUM' | 'ANY'): ParamValue {
  if (!isWholeReal(literal)) return literalParam(literal);
  const text = printReal(literal.value);
  return port === 'NUM' ? text : `REAL#${text}`;
}

/** Type of an operand as the blocks see it. */
export function networkType(operand: Operand): StType {
  if (operand.kind === 'port' || operand.kind === 'input') return operand.network;
  // what a later definition settles to is open, and it may be an INT
  return operand.kind === 'later' && operand.type === 'REAL' ? 'INT' : operand.type;
}

export class NetworkBuilder {
  readonly #blocks: GrowingBlock[] = [];
  readonly #byName = new Map<string, GrowingBlock>();
  readonly #counts = new Map<string, number>();
  readonly #feeds: { readonly source: Operand; readonly block: string; readonly port: string }[] = [];
  readonly #reserved: ReadonlySet<string>;
  readonly #catalog: BlockCatalog;

  /** `reserved`: names of declared instances in lower case, which generated names step around. */
  constructor(reserved: ReadonlySet<string>, catalog: BlockCatalog) {
    this.#reserved = reserved;
    this.#catalog = catalog;
  }

  /** Adds a block under a generated name `<type lower case>_<n>`. */
  generate(type: string): string {
    const stem = type.toLowerCase().split('-').join('_');
    let count = this.#counts.get(stem) ?? 0;
    let name: string;
    do {
      count += 1;
      name = `${stem}_${count}`;
    } while (this.#reserved.has(name));
    this.#counts.set(stem, count);
    return this.add(name, type);
  }

  add(name: string, type: string): string {
    if (this.#blocks.length >= BLOCKS_MAX) throw new TooManyBlocks();
    const block: GrowingBlock = { name, type, params: new Map() };
    this.#blocks.push(block);
    this.#byName.set(name, block);
    return name;
  }

  setParam(block: string, param: string, value: ParamValue): void {
    this.#byName.get(block)?.params.set(param, value);
  }

  /** Literals become constants of the port, everything else a connection or a binding. A REAL stays one where the type of the block hangs on it. */
  feed(source: Operand, block: string, port: string): void {
    if (source.kind === 'literal') this.setParam(block, port, this.#constant(source.literal, block, port));
    else this.#feeds.push({ source, block, port });
  }

  #constant(literal: Literal, block: string, port: string): ParamValue {
    const open = this.#openPort(block, port);
    return open ? typedParam(literal, open) : literalParam(literal);
  }

  /** NUM or ANY where the port or parameter gives the block's outputs their type; undefined elsewhere. */
  #openPort(block: string, port: string): 'NUM' | 'ANY' | undefined {
    const type = this.#catalog(this.#byName.get(block)?.type ?? '');
    const wanted = genericType(named([...(type?.inputs ?? []), ...(type?.params ?? [])], port)?.type ?? 'REAL');
    return type && hasOpenOutput(type) && isOpen(wanted) ? wanted : undefined;
  }

  /**
   * A block of the given type fed with operands, as the operand that its output is. One operand that is surely REAL makes
   * the block REAL, so the constants beside it stay plain numbers.
   */
  apply(type: string, feeds: readonly (readonly [port: string, operand: Operand])[], output: { readonly port: string; readonly type: StType; readonly network: StType }): Operand {
    const block = this.generate(type);
    let settled = feeds.some(([port, operand]) => this.#openPort(block, port) && networkType(operand) === 'REAL' && !(operand.kind === 'literal' && isWholeReal(operand.literal)));
    for (const [port, operand] of feeds) {
      if (settled && operand.kind === 'literal') this.setParam(block, port, literalParam(operand.literal));
      else this.feed(operand, block, port);
      settled ||= operand.kind === 'literal' && operand.literal.type === 'REAL' && this.#openPort(block, port) !== undefined;
    }
    return { kind: 'port', block, ...output };
  }

  blocks(comments: ReadonlyMap<string, string>): BlockSpec[] {
    return this.#blocks.map(({ name, type, params }) => {
      const comment = comments.get(name);
      return { name, type, params: Object.fromEntries(params), ...(comment !== undefined && { comment }) };
    });
  }

  /** Connections and variable bindings in the order in which they came up. */
  wiring(settle: (operand: Operand) => Settled): { connections: Connection[]; bindings: VariableBinding[] } {
    const connections: Connection[] = [];
    const bindings: VariableBinding[] = [];
    for (const { source, block, port } of this.#feeds) {
      const end = settle(source);
      if (end?.kind === 'port') connections.push({ sourceBlock: end.block, sourcePort: end.port, destBlock: block, destPort: port });
      if (end?.kind === 'input') bindings.push({ variable: end.variable, blockRef: block, portRef: port });
    }
    return { connections, bindings };
  }
}
