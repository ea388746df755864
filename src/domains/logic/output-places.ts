/**
 * Outputs that are one place of one device, or overlap there (ADR 0085): under two channels of a module, or two modules of the device. A device is
 * one by its address, as far as that tells. Pure but for reading.
 */
import { type Cell, deviceAt, isShared, isSimulated, placeOf } from '../../../runtime/catalog.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { type Channel, IOModule, type IOModuleSpec } from '../io-modules/kind.js';
import { OfSpecs } from './of-specs.js';

/** Names of the outputs that a write of an output reaches, `<io module>:<channel name>`, itself first. */
export type Reached = (output: string) => readonly string[];

/** Outputs that have a cell, by the part of it that they cover. */
type Parts = Map<string, string[]>;

const known = new OfSpecs<ReadonlyMap<string, readonly string[]>>();

/** Of all outputs of a site. */
export function outputPlaces(read: StoreReader, site: string): Reached {
  const modules = read.list(IOModule, site);
  return reachedBy(known.of([modules], () => besideOthers(modules)));
}

/** As it will be once a module is written. */
export function outputPlacesWith(read: StoreReader, site: string, name: string, spec: IOModuleSpec): Reached {
  return reachedBy(besideOthers([...read.list(IOModule, site).filter(({ metadata }) => metadata.name !== name), { metadata: { name }, spec }]));
}

const reachedBy =
  (beside: ReadonlyMap<string, readonly string[]>): Reached =>
  (output) => [output, ...(beside.get(output) ?? [])];

/** Of outputs that are not alone at their place, the others. */
function besideOthers(modules: readonly { readonly metadata: { readonly name: string }; readonly spec: IOModuleSpec }[]): ReadonlyMap<string, readonly string[]> {
  const at = new Map<string, Parts>();
  for (const { metadata, spec } of modules) {
    for (const [key, channel, { part }] of cellsOfModule(spec)) {
      const parts: Parts = at.get(key) ?? new Map();
      at.set(key, parts);
      const outputs = parts.get(part);
      const output = `${metadata.name}:${channel}`;
      if (outputs) outputs.push(output);
      else parts.set(part, [output]);
    }
  }
  const beside = new Map<string, Set<string>>();
  const note = (output: string, others: readonly string[]): void => {
    const found = beside.get(output) ?? new Set();
    beside.set(output, found);
    for (const other of others) if (other !== output) found.add(other);
  };
  for (const parts of at.values()) {
    if (parts.size === 1 && (parts.get('')?.length ?? 0) < 2) continue; // members of a structure share nothing by it
    for (const [part, outputs] of parts) {
      const others = [...parts].flatMap(([other, named]) => (isShared({ part }, { part: other }) ? named : []));
      for (const output of outputs) note(output, others);
    }
  }
  return new Map([...beside].flatMap(([output, others]) => (others.size === 0 ? [] : [[output, [...others].sort()] as const])));
}

type PlacedCell = readonly [key: string, channel: string, cell: Cell];

const cellsKnown = new WeakMap<IOModuleSpec, readonly PlacedCell[]>();

/** Cells of the outputs of a module, by device and cell. A simulation is no device. */
function cellsOfModule(spec: IOModuleSpec): readonly PlacedCell[] {
  const before = cellsKnown.get(spec);
  if (before) return before;
  const device = isSimulated(spec.protocol) ? undefined : deviceAt(spec.protocol, spec.address);
  const cells =
    device === undefined ? [] : spec.channels.flatMap((channel) => cellsOfOutput(spec, channel).map((cell): PlacedCell => [`${device} ${cell.cell}`, nameOf(channel), cell]));
  cellsKnown.set(spec, cells);
  return cells;
}

const nameOf = ({ name, address }: Pick<Channel, 'name' | 'address'>): string => name || address;

function cellsOfOutput({ protocol, options }: Pick<IOModuleSpec, 'protocol' | 'options'>, { direction, address }: Channel): readonly Cell[] {
  return direction === 'output' ? placeOf(protocol, address, options) : [];
}

/** Of one spec: outputs that overlap, each with the first one before it, by their index among the channels. */
export function overlappingOutputs(spec: IOModuleSpec): readonly (readonly [later: number, before: number])[] {
  /** By cell and part, the first that has it. */
  const at = new Map<string, Map<string, number>>();
  return spec.channels.flatMap((channel, index) => {
    let first: number | undefined;
    for (const cell of cellsOfOutput(spec, channel)) {
      const parts = at.get(cell.cell) ?? new Map<string, number>();
      at.set(cell.cell, parts);
      for (const [part, other] of parts) if (isShared(cell, { part })) first = Math.min(first ?? other, other);
      if (!parts.has(cell.part)) parts.set(cell.part, index);
    }
    return first === undefined ? [] : [[index, first] as const];
  });
}

/** Of one place: a value of the one means the same to the other. */
export function isSamePlace(read: StoreReader, site: string, one: string, other: string): boolean {
  const cellsOf = (output: string): string => JSON.stringify(cellsOfName(read, site, output));
  return one === other || cellsOf(one) === cellsOf(other);
}

function cellsOfName(read: StoreReader, site: string, output: string): readonly string[] {
  const at = output.indexOf(':');
  const spec = read.get(IOModule, site, output.slice(0, at))?.spec;
  return spec ? cellsOfModule(spec).flatMap(([key, channel, { part }]) => (channel === output.slice(at + 1) ? [`${key} ${part}`] : [])) : [];
}
