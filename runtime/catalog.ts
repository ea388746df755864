/**
 * What the runtime can execute, as metadata: block types with their ports and parameters, and the judgement whether a
 * network can be loaded. Safe to import from `src`: nothing here runs a scan or opens a device.
 */
import { inside } from './vocabulary/assert.js';
import type { BlockType, Family, Param, Port, PortType } from './blocks/block.js';
import { BLOCK_TYPES, builtinBlock } from './blocks/index.js';
import { printTime } from './language/time-text.js';
import { readWritten } from './network/constants.js';
import type { Problem } from './network/expand.js';
import { type BoundPort, linkNetwork } from './network/link.js';
import type { DataType } from './vocabulary/data-types.js';
import type { BlockSpec, CompositeType, Connection, NetworkVariable, ParamValue, VariableBinding } from './vocabulary/network.js';

export * from './io/catalog.js';
export type { Problem } from './network/expand.js';

export interface CatalogPort {
  readonly name: string;
  readonly type: PortType;
  /** A further input of an extensible block: it takes part only when connected or constant. */
  readonly extensible?: boolean;
  /** Must be given as a constant (presets of timers and counters). */
  readonly constant?: boolean;
  readonly default?: ParamValue;
}

export interface CatalogParam {
  readonly name: string;
  readonly type: DataType | 'ANY';
  readonly required: boolean;
  readonly default?: ParamValue;
  /** The words a text parameter may have. */
  readonly words?: readonly string[];
}

export interface CatalogBlock {
  readonly name: string;
  readonly family: Family;
  readonly description: string;
  readonly inputs: readonly CatalogPort[];
  readonly outputs: readonly CatalogPort[];
  readonly params: readonly CatalogParam[];
  readonly stateWords?: readonly string[];
  readonly channel?: 'input' | 'output';
  readonly retained: boolean;
  /** Inputs that the block itself writes when nothing feeds them. */
  readonly selfWritten: readonly string[];
  /** Its parameters set the length of a memory of past values, which begins anew with another length. */
  readonly remembers: boolean;
}

/** Entry of the block type catalog as `GET blocktypes` serves it (decisions 1.6). */
export interface BlockTypeEntry {
  readonly name: string;
  readonly kind: 'builtin' | 'composite';
  readonly family: string;
  readonly description: string;
  readonly inputs: readonly PortEntry[];
  readonly outputs: readonly PortEntry[];
  readonly params: readonly PortEntry[];
  readonly stateWords?: readonly string[];
}

export interface PortEntry {
  readonly name: string;
  readonly dataType: string;
  readonly description?: string | undefined;
  readonly defaultValue?: string | undefined;
  readonly required?: boolean | undefined;
}

function portDefault(port: Port): ParamValue {
  if (port.type === 'BOOL') return port.initial !== 0;
  return port.type === 'TIME' ? printTime(Number(port.initial)) : port.initial;
}

function describePort(port: Port): CatalogPort {
  return {
    name: port.name,
    type: port.type,
    ...(port.optional && { extensible: true }),
    ...(port.constant && { constant: true }),
    default: portDefault(port),
  };
}

function paramDefault(param: Param): ParamValue | undefined {
  if (param.fallback === undefined) return undefined;
  if (param.type === 'BOOL') return param.fallback === 'TRUE';
  if (param.type === 'REAL' || param.type === 'INT') return Number(param.fallback);
  return param.fallback;
}

function describe(type: BlockType): CatalogBlock {
  return {
    name: type.name,
    family: type.family,
    description: type.description,
    inputs: type.inputs.map(describePort),
    outputs: type.outputs.map((port) => ({ name: port.name, type: port.type })),
    params: type.params.map((param) => {
      const fallback = paramDefault(param);
      return { name: param.name, type: param.type, required: param.required, ...(fallback !== undefined && { default: fallback }), ...(param.words && { words: param.words }) };
    }),
    ...(type.stateWords && { stateWords: type.stateWords }),
    ...(type.channel && { channel: type.channel.direction }),
    retained: type.retained.length > 0,
    selfWritten: type.selfWritten,
    remembers: type.aux !== undefined && type.aux.fill === undefined,
  };
}

const BLOCKS = new Map(BLOCK_TYPES.map((type) => [type.name, describe(type)]));

/** Whether a constant is a value of the type as a network reads it: the native type or a text that converts. */
export function isConstantOf(type: DataType, value: ParamValue): boolean {
  return readWritten(type, value, { intern: () => 0 }) !== undefined;
}

/** Ports and parameters of a built-in block type by its exact name; undefined when there is none. */
export function blockType(name: string): CatalogBlock | undefined {
  return BLOCKS.get(name);
}

/** Names of the built-in types in catalog order. */
export const BLOCK_TYPE_NAMES: readonly string[] = BLOCK_TYPES.map((type) => type.name);

/** A composite type may not have the name of a built-in type, in any case (decisions 1.6) */
export function isBuiltinName(name: string): boolean {
  return builtinBlock(name.toUpperCase()) !== undefined;
}

function builtinEntry(block: CatalogBlock): BlockTypeEntry {
  const port = (entry: CatalogPort): PortEntry => ({
    name: entry.name,
    dataType: entry.type,
    ...(entry.default !== undefined && entry.default !== '' && { defaultValue: boolText(entry.default) }),
  });
  return {
    name: block.name,
    kind: 'builtin',
    family: block.family,
    description: block.description,
    inputs: block.inputs.map(port),
    outputs: block.outputs.map((entry) => ({ name: entry.name, dataType: entry.type })),
    params: block.params.map((param) => ({
      name: param.name,
      dataType: param.type,
      ...(param.default !== undefined && param.default !== '' && { defaultValue: boolText(param.default) }),
      required: param.required,
    })),
    ...(block.stateWords && { stateWords: block.stateWords }),
  };
}

function boolText(value: ParamValue): string {
  return typeof value === 'boolean' ? String(value).toUpperCase() : String(value);
}

/** The built-in types in catalog order, then the composite types given, by name. */
export function blockTypeEntries(composites: readonly CompositeType[] = []): BlockTypeEntry[] {
  const own = [...composites].sort((a, b) => (a.name < b.name ? -1 : 1));
  return [...[...BLOCKS.values()].map(builtinEntry), ...own.map(compositeEntry)];
}

export function compositeEntry(type: CompositeType): BlockTypeEntry {
  return {
    name: type.name,
    kind: 'composite',
    family: 'composite',
    description: type.description ?? '',
    inputs: type.inputs,
    outputs: type.outputs,
    params: type.params.map((param) => ({ ...param, required: param.required ?? false })),
  };
}

/**
 * Everything that would keep a network from being loaded (decisions 5.1 rules 1, 2 and 11), with the place in the sent
 * document. `bound` are the ports that tags are bound to; they settle the type of otherwise open ports.
 */
export function validateNetwork(
  blocks: readonly BlockSpec[],
  connections: readonly Connection[],
  variables: readonly NetworkVariable[] = [],
  variableBindings: readonly VariableBinding[] = [],
  composites: readonly CompositeType[] = [],
  options: { readonly scanIntervalMs?: number; readonly bound?: readonly BoundPort[] } = {},
): readonly Problem[] {
  return linkNetwork({ blocks, connections, variables, variableBindings, scanIntervalMs: options.scanIntervalMs ?? 100 }, composites, options.bound).problems;
}

/** What a tag may bind to: an input port, an output port, or nothing; with its type once NUM and ANY are settled. */
export interface PortInfo {
  readonly direction: 'input' | 'output';
  readonly type: DataType;
  /** An input that is connected or bound to a variable cannot be written. */
  readonly fed: boolean;
}

const FOUND = 'an end names a block and a port of its network';

/** Looks up ports of a network, composites included; undefined for a port that does not exist. */
export function portLookup(
  network: {
    readonly blocks: readonly BlockSpec[];
    readonly connections: readonly Connection[];
    readonly variables?: readonly NetworkVariable[];
    readonly variableBindings?: readonly VariableBinding[];
  },
  composites: readonly CompositeType[] = [],
): (block: string, port: string) => PortInfo | undefined {
  const { network: linked } = linkNetwork(
    { blocks: network.blocks, connections: network.connections, variables: network.variables ?? [], variableBindings: network.variableBindings ?? [], scanIntervalMs: 100 },
    composites,
  );
  return (block, port) => {
    const [end] = linked.flat.inputs(block, port);
    const input = end && inside(linked.blocks, end.block, FOUND).inputs.find((entry) => entry.port.name === end.port);
    if (input) return { direction: 'input', type: input.type, fed: input.feed.kind === 'block' || input.feed.kind === 'variable' };
    const source = linked.flat.output(block, port);
    if (!source) return undefined;
    const { type, outputs } = inside(linked.blocks, source.block, FOUND);
    const output = type.outputs.findIndex((entry) => entry.name === source.port);
    return { direction: 'output', type: inside(outputs, output, FOUND), fed: false };
  };
}

/** Words of past values that each block keeps, composites included: another length begins anew (`hot-swap.ts`). */
export function memoryLengths(network: Parameters<typeof portLookup>[0], composites: readonly CompositeType[], scanIntervalMs: number): readonly number[] {
  const { network: linked } = linkNetwork(
    { blocks: network.blocks, connections: network.connections, variables: network.variables ?? [], variableBindings: network.variableBindings ?? [], scanIntervalMs },
    composites,
  );
  return linked.blocks.map(({ auxLength }) => auxLength);
}

// ---------------------------------------------------------------- I/O: protocols, addresses and simulation (decisions 6, 7)

export {
  behaviorReferences,
  checkAddress,
  checkBehavior,
  checkChannelAddress,
  checkFault,
  checkOptions,
  mergeBehaviors,
  missingAddresses,
  renamedIn,
  PROTOCOLS,
  type Protocol,
  readOptions,
  SIMULATION_BEHAVIORS,
  SIMULATION_FAULTS,
  secretOptions,
  simulationProblems,
  staleAfterMs,
  type UnknownWord,
} from './io/catalog.js';
