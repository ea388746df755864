/**
 * What lowering and printing ask of the block catalog. The catalog itself is handed in, because the language knows no
 * blocks: built-in types by their name, composite types by their resource name.
 */
import { iecType } from '../vocabulary/data-types.js';
import type { ParamValue } from '../vocabulary/network.js';
import type { StType } from './types.js';

/** NUM and ANY settle with what is connected; other types are written in either form of the data types. */
export type GenericType = StType | 'NUM';

export interface PortMetadata {
  readonly name: string;
  readonly type: string;
  /** One of the further inputs of an extensible block. */
  readonly extensible?: boolean;
  /** Must be a constant: presets of timers and counters. */
  readonly constant?: boolean;
}

export interface ParamMetadata {
  readonly name: string;
  readonly type: string;
  readonly required?: boolean;
  readonly default?: ParamValue;
}

export interface BlockMetadata {
  readonly inputs: readonly PortMetadata[];
  readonly outputs: readonly PortMetadata[];
  readonly params: readonly ParamMetadata[];
}

export type BlockCatalog = (type: string) => BlockMetadata | undefined;

/** A type found: `type` is the name that a network stores. */
export interface FoundBlock extends BlockMetadata {
  readonly type: string;
}

/** Name of a block type in structured text: upper case, `-` as `_` (decisions 1.6). */
export function textName(type: string): string {
  return type.toUpperCase().split('-').join('_');
}

/** The block type that a name in structured text means. */
export function findBlock(catalog: BlockCatalog, name: string): FoundBlock | undefined {
  const upper = name.toUpperCase();
  for (const type of [upper, upper.toLowerCase().split('_').join('-'), name]) {
    const found = catalog(type);
    if (found) return { type, inputs: found.inputs, outputs: found.outputs, params: found.params };
  }
  return undefined;
}

export function genericType(type: string): GenericType {
  return type === 'NUM' ? 'NUM' : (iecType(type) ?? 'ANY');
}

/** Whether its inputs and parameters of open type give the block's outputs theirs. */
export function hasOpenOutput({ outputs }: BlockMetadata): boolean {
  return outputs.some(({ type }) => isOpen(genericType(type)));
}

export function isOpen(type: GenericType): type is 'NUM' | 'ANY' {
  return type === 'NUM' || type === 'ANY';
}

/** An entry of a list of ports or parameters by its name in any case. */
export function named<T extends { readonly name: string }>(list: readonly T[], name: string): T | undefined {
  const key = name.toLowerCase();
  return list.find((entry) => entry.name.toLowerCase() === key);
}

/** The output that a block has when it is called like a function: OUT, or its only one. */
export function functionOutput({ outputs }: BlockMetadata): PortMetadata | undefined {
  return outputs.find(({ name }) => name === 'OUT') ?? (outputs.length === 1 ? outputs[0] : undefined);
}

const PRESETS = new Map([
  ['TON', 'PT'],
  ['TOF', 'PT'],
  ['TP', 'PT'],
  ['CTU', 'PV'],
  ['CTD', 'PV'],
  ['CTUD', 'PV'],
]);

/** Presets of timers and counters must be literals (contract 3, Structured-text language). */
export function isPreset(type: string, port: PortMetadata): boolean {
  return port.constant ?? PRESETS.get(type) === port.name;
}
