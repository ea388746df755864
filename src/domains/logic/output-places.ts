/**
 * Outputs that are one place of one device, or overlap there (ADR 0085): under two channels of a module, or two modules of the device. A device is
 * one by its address, as far as that tells. Pure but for reading.
 */
import { type Cell, deviceAt, isShared, isSimulated, placeOf } from '../../../runtime/catalog.js';
import { inside } from '../../platform/base/assert.js';
import { groupBy } from '../../platform/base/group-by.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { type Channel, IOModule, type IOModuleSpec } from '../io-modules/kind.js';
import { ioModuleOf } from './kind.js';

/** Names of the outputs that a write of an output reaches, `<io module>:<channel name>`, itself first. */
export type Reached = (output: string) => readonly string[];

/** Outputs that have a cell, by the part of it that they cover. */
type Parts = Map<string, string[]>;

export interface Placed {
  readonly metadata: { readonly name: string };
  readonly spec: IOModuleSpec;
}

/** Of all outputs of a site. */
export function outputPlaces(read: StoreReader, site: string): Reached {
  return reachedBy(read.list(IOModule, site));
}

/** As it will be once a module is written. */
export function outputPlacesWith(read: StoreReader, site: string, name: string, spec: IOModuleSpec): Reached {
  return reachedBy([...read.list(IOModule, site).filter(({ metadata }) => metadata.name !== name), { metadata: { name }, spec }]);
}

/** Places are shared within a device only: an edit of one module is an edit of the places of its device. */
function reachedBy(modules: readonly Placed[]): Reached {
  const sharersOf = devicesOf(modules);
  return (output) => {
    const sharers = sharersOf(ioModuleOf(output));
    return [output, ...((sharers.length > 0 ? besideOf(sharers).get(output) : undefined) ?? [])];
  };
}

const devicesKnown = new WeakMap<readonly Placed[], (module: string) => readonly Placed[]>();

/** Modules of the device of a module, itself among them; none for a simulation, which is no device. */
export function devicesOf(modules: readonly Placed[]): (module: string) => readonly Placed[] {
  const before = devicesKnown.get(modules);
  if (before) return before;
  const byDevice = groupBy(modules, ({ spec }) => deviceOf(spec));
  const byName = new Map([...byDevice].flatMap(([device, sharers]) => (device === '' ? [] : sharers.map(({ metadata }) => [metadata.name, sharers] as const))));
  const found = (module: string): readonly Placed[] => byName.get(module) ?? [];
  devicesKnown.set(modules, found);
  return found;
}

interface Beside {
  readonly sharers: readonly Placed[];
  readonly beside: ReadonlyMap<string, readonly string[]>;
}

/** By the spec of the first module of the device. */
const besideKnown = new WeakMap<IOModuleSpec, Beside>();

/** Of the outputs of one device; found once for as long as its modules say the same. */
function besideOf(sharers: readonly Placed[]): Beside['beside'] {
  const first = inside(sharers, 0, 'a device has a module').spec;
  const before = besideKnown.get(first);
  if (before && isAlike(before.sharers, sharers)) return before.beside;
  const beside = besideOthers(sharers);
  besideKnown.set(first, { sharers, beside });
  return beside;
}

/** Whether modules are those of before, in what they say. */
export function isAlike(before: readonly Placed[], after: readonly Placed[]): boolean {
  return before === after || (before.length === after.length && before.every(({ metadata, spec }, at) => after[at]?.spec === spec && after[at].metadata.name === metadata.name));
}

/** Of outputs that are not alone at their place, the others. */
function besideOthers(modules: readonly Placed[]): ReadonlyMap<string, readonly string[]> {
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

const deviceKnown = new WeakMap<IOModuleSpec, string>();

/** Where a module leads to; '' for a simulation, which is no device. */
function deviceOf(spec: IOModuleSpec): string {
  const before = deviceKnown.get(spec);
  if (before !== undefined) return before;
  const device = isSimulated(spec.protocol) ? '' : (deviceAt(spec.protocol, spec.address) ?? '');
  deviceKnown.set(spec, device);
  return device;
}

type PlacedCell = readonly [key: string, channel: string, cell: Cell];

const cellsKnown = new WeakMap<IOModuleSpec, readonly PlacedCell[]>();

/** Cells of the outputs of a module, by device and cell. */
function cellsOfModule(spec: IOModuleSpec): readonly PlacedCell[] {
  const before = cellsKnown.get(spec);
  if (before) return before;
  const device = deviceOf(spec);
  const cells = device === '' ? [] : spec.channels.flatMap((channel) => cellsOfOutput(spec, channel).map((cell): PlacedCell => [`${device} ${cell.cell}`, nameOf(channel), cell]));
  cellsKnown.set(spec, cells);
  return cells;
}

const nameOf = ({ name, address }: Pick<Channel, 'name' | 'address'>): string => name || address;

function cellsOfOutput({ protocol, options, address: endpoint }: Pick<IOModuleSpec, 'protocol' | 'options' | 'address'>, { direction, address }: Channel): readonly Cell[] {
  return direction === 'output' ? placeOf(protocol, address, options, endpoint) : [];
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
