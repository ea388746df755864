/**
 * Composite blocks written out: every instance of a composite type becomes its inner blocks, named `<instance>/<inner>`,
 * in the place of the instance (decisions 5.3). Names are compared without regard to case and kept as written.
 */
import type { BlockType } from '../blocks/block.js';
import { builtinBlock } from '../blocks/index.js';
import { iecType } from '../vocabulary/data-types.js';
import type { BlockSpec, CompositePort, CompositeType, Connection, ParamValue } from '../vocabulary/network.js';
import { readConstant } from './constants.js';
import { sameName } from '../vocabulary/same-name.js';

/** Deepest nesting of composite types (decisions 1.6). */
const NESTING_MAX = 8;
/**
 * Most blocks of one network, composite ones and those inside them counted: eight types that use each other ten times
 * would be 100,000,000. Ten times what performance.md asks of a unit; not shown in the contract.
 */
export const NETWORK_BLOCKS_MAX = 10_000;

export interface Problem {
  /** Place in the sent network, for example `blocks[2].params.PT`. */
  readonly path: string;
  readonly message: string;
}

export interface FlatBlock {
  readonly name: string;
  readonly type: BlockType;
  /** Parameters and port constants by the name the type spells. */
  readonly params: ReadonlyMap<string, ParamValue>;
  /** Where problems of this block are reported. */
  readonly path: string;
}

/** A port of a flat block. */
export interface Endpoint {
  readonly block: number;
  readonly port: string;
}

export interface FlatConnection {
  readonly source: Endpoint;
  readonly dest: Endpoint;
  readonly path: string;
}

export interface FlatNetwork {
  readonly blocks: readonly FlatBlock[];
  readonly connections: readonly FlatConnection[];
  /** Input ports behind a block's port: one, or several behind a composite's; empty when there is no such port. */
  inputs(block: string, port: string): readonly Endpoint[];
  output(block: string, port: string): Endpoint | undefined;
  has(block: string): boolean;
}

/** The block of a scope: a flat block, or a composite's ports. */
type Member =
  | { readonly kind: 'block'; readonly index: number; readonly type: BlockType }
  | { readonly kind: 'composite'; readonly inputs: ReadonlyMap<string, readonly Endpoint[]>; readonly outputs: ReadonlyMap<string, Endpoint> };

type Scope = ReadonlyMap<string, Member>;

interface Work {
  readonly composites: ReadonlyMap<string, CompositeType>;
  readonly blocks: FlatBlock[];
  readonly connections: FlatConnection[];
  readonly problems: Problem[];
  /** Blocks met so far, composite ones included. */
  count: number;
}

function named<T extends { readonly name: string }>(list: readonly T[], name: string): T | undefined {
  return list.find((entry) => entry.name === name) ?? list.find((entry) => sameName(entry.name, name));
}

function endpointsOf(scope: Scope, block: string, port: string): readonly Endpoint[] {
  const member = scope.get(block.toLowerCase());
  if (member === undefined) return [];
  if (member.kind === 'composite') return member.inputs.get(port.toLowerCase()) ?? [];
  const input = named(member.type.inputs, port);
  return input ? [{ block: member.index, port: input.name }] : [];
}

function sourceOf(scope: Scope, block: string, port: string): Endpoint | undefined {
  const member = scope.get(block.toLowerCase());
  if (member === undefined) return undefined;
  if (member.kind === 'composite') return member.outputs.get(port.toLowerCase());
  const output = named(member.type.outputs, port);
  return output && { block: member.index, port: output.name };
}

export function expandNetwork(
  blocks: readonly BlockSpec[],
  connections: readonly Connection[],
  composites: readonly CompositeType[],
): { readonly network: FlatNetwork; readonly problems: Problem[] } {
  const work: Work = { composites: new Map(composites.map((type) => [type.name, type])), blocks: [], connections: [], problems: [], count: 0 };
  const scope = expandInto(work, blocks, connections, { prefix: '', path: '', stack: [] });
  const network: FlatNetwork = {
    blocks: work.blocks,
    connections: work.connections,
    inputs: (block, port) => endpointsOf(scope, block, port),
    output: (block, port) => sourceOf(scope, block, port),
    has: (block) => scope.has(block.toLowerCase()),
  };
  return { network, problems: work.problems };
}

interface Place {
  readonly prefix: string;
  /** Empty at the top; the path of the outer instance inside a composite. */
  readonly path: string;
  /** Composite types that are being written out. */
  readonly stack: readonly string[];
}

function expandInto(work: Work, blocks: readonly BlockSpec[], connections: readonly Connection[], place: Place): Scope {
  const scope = new Map<string, Member>();
  blocks.forEach((spec, index) => {
    if (work.count > NETWORK_BLOCKS_MAX) return;
    const path = place.path || `blocks[${index}]`;
    const key = spec.name.toLowerCase();
    if (scope.has(key)) {
      work.problems.push({ path: `${path}.name`, message: `block name ${spec.name} is used twice` });
      return;
    }
    const member = addBlock(work, spec, { ...place, path });
    if (member) scope.set(key, member);
  });
  connections.forEach((connection, index) => {
    addConnection(work, scope, connection, place.path || `connections[${index}]`);
  });
  return scope;
}

function addBlock(work: Work, spec: BlockSpec, place: Place): Member | undefined {
  work.count += 1;
  if (work.count > NETWORK_BLOCKS_MAX) {
    if (work.count === NETWORK_BLOCKS_MAX + 1)
      work.problems.push({ path: place.path, message: `the network has more than ${NETWORK_BLOCKS_MAX} blocks, those inside composite blocks counted` });
    return undefined;
  }
  const type = builtinBlock(spec.type);
  if (type) {
    const params = readParams(work, spec, type, place.path);
    work.blocks.push({ name: place.prefix + spec.name, type, params, path: place.path });
    return { kind: 'block', index: work.blocks.length - 1, type };
  }
  const composite = work.composites.get(spec.type);
  if (composite) return addComposite(work, spec, composite, place);
  work.problems.push({
    path: `${place.path}.type`,
    message: `block ${place.prefix}${spec.name}: there is no block type ${spec.type}; GET /api/v1/blocktypes lists those there are`,
  });
  return undefined;
}

function readParams(work: Work, spec: BlockSpec, type: BlockType, path: string): Map<string, ParamValue> {
  const params = new Map<string, ParamValue>();
  for (const [name, value] of Object.entries(spec.params ?? {})) {
    const known = named(type.params, name) ?? named(type.inputs, name);
    if (!known) work.problems.push({ path: `${path}.params.${name}`, message: `block ${spec.name}: ${type.name} has no parameter or input ${name}` });
    else params.set(known.name, value);
  }
  return params;
}

function addComposite(work: Work, spec: BlockSpec, composite: CompositeType, place: Place): Member | undefined {
  const refuse = (message: string): undefined => {
    work.problems.push({ path: `${place.path}.type`, message: `block ${place.prefix}${spec.name}: ${message}` });
  };
  if (place.stack.includes(composite.name)) return refuse(`composite type ${composite.name} contains itself`);
  if (place.stack.length >= NESTING_MAX) return refuse(`composite types are nested deeper than ${NESTING_MAX}`);
  const inner = expandInto(work, innerBlocks(work, spec, composite, place), composite.connections, {
    prefix: `${place.prefix}${spec.name}/`,
    path: place.path,
    stack: [...place.stack, composite.name],
  });
  const inputs = new Map<string, Endpoint[]>(composite.inputs.map((port) => [port.name.toLowerCase(), []]));
  for (const binding of composite.inputBindings) {
    const found = endpointsOf(inner, binding.blockRef, binding.portRef);
    if (found.length === 0) refuse(`input ${binding.port} leads to ${binding.blockRef}.${binding.portRef}, which does not exist`);
    inputs.get(binding.port.toLowerCase())?.push(...found);
  }
  const outputs = new Map<string, Endpoint>();
  for (const binding of composite.outputBindings) {
    const found = sourceOf(inner, binding.blockRef, binding.portRef);
    if (found) outputs.set(binding.port.toLowerCase(), found);
    else refuse(`output ${binding.port} comes from ${binding.blockRef}.${binding.portRef}, which does not exist`);
  }
  return { kind: 'composite', inputs, outputs };
}

/** The list under a name, which is compared without regard to case. */
function listed<T>(lists: Map<string, T[]>, name: string): T[] {
  const key = name.toLowerCase();
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

/** The inner blocks with the parameters and input constants of the instance put in their places. */
function innerBlocks(work: Work, spec: BlockSpec, composite: CompositeType, place: Place): BlockSpec[] {
  const given = new Map(Object.entries(spec.params ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  const formals = new Set([...composite.params, ...composite.inputs].map(({ name }) => name.toLowerCase()));
  for (const name of Object.keys(spec.params ?? {})) {
    if (formals.has(name.toLowerCase())) continue;
    work.problems.push({ path: `${place.path}.params.${name}`, message: `block ${spec.name}: ${composite.name} has no parameter or input ${name}` });
  }
  /** The given or default value as one of the declared type; defaults are written as text. */
  const valueOf = (port: CompositePort): ParamValue | undefined => {
    const value = given.get(port.name.toLowerCase()) ?? (port.defaultValue === '' ? undefined : port.defaultValue);
    const type = iecType(port.dataType);
    if (value === undefined || type === undefined) return value;
    const read = readConstant(type, value);
    if (read === undefined)
      work.problems.push({ path: `${place.path}.params.${port.name}`, message: `block ${spec.name}: ${JSON.stringify(value)} is no ${type} for ${port.name}` });
    if (type === 'BOOL') return read === 1;
    return type === 'TIME' ? value : (read ?? value);
  };
  const values = new Map<string, { readonly name: string; readonly value: ParamValue }[]>();
  const put = (block: string, name: string, value: ParamValue): void => {
    listed(values, block).push({ name, value });
  };
  const bound = new Map<string, { readonly block: string; readonly name: string }[]>();
  for (const { param, blockRef, blockParam } of composite.paramBindings) listed(bound, `param ${param}`).push({ block: blockRef, name: blockParam });
  for (const { port, blockRef, portRef } of composite.inputBindings) listed(bound, `input ${port}`).push({ block: blockRef, name: portRef });
  for (const param of composite.params) {
    const value = valueOf(param);
    if (value === undefined && param.required)
      work.problems.push({ path: `${place.path}.params.${param.name}`, message: `block ${spec.name}: parameter ${param.name} is required` });
    if (value === undefined) continue;
    for (const { block, name } of listed(bound, `param ${param.name}`)) put(block, name, value);
  }
  for (const port of composite.inputs) {
    const value = valueOf(port);
    if (value === undefined) continue;
    for (const { block, name } of listed(bound, `input ${port.name}`)) put(block, name, value);
  }
  return composite.blocks.map((block) => {
    const mine = listed(values, block.name);
    if (mine.length === 0) return block;
    const kept = Object.entries(block.params ?? {}).filter(([name]) => !mine.some((entry) => sameName(entry.name, name)));
    return { ...block, params: Object.fromEntries([...kept, ...mine.map((entry) => [entry.name, entry.value] as const)]) };
  });
}

function addConnection(work: Work, scope: Scope, connection: Connection, path: string): void {
  const { sourceBlock, sourcePort, destBlock, destPort } = connection;
  const source = sourceOf(scope, sourceBlock, sourcePort);
  const dests = endpointsOf(scope, destBlock, destPort);
  if (!source) {
    const field = scope.has(sourceBlock.toLowerCase()) ? 'sourcePort' : 'sourceBlock';
    work.problems.push({ path: `${path}.${field}`, message: `connection from ${sourceBlock}.${sourcePort}: there is no such output` });
  }
  if (dests.length === 0) {
    const field = scope.has(destBlock.toLowerCase()) ? 'destPort' : 'destBlock';
    work.problems.push({ path: `${path}.${field}`, message: `connection to ${destBlock}.${destPort}: there is no such input` });
  }
  if (source) for (const dest of dests) work.connections.push({ source, dest, path });
}
