/**
 * The one owner of each output (ADR 0071): the block of a module or program that goes on writing it. A second one is refused where it is written;
 * what an earlier release has stored, or an edit of a template or an I/O module has brought about, is told with the names of both. Pure but for reading.
 */
import type { StoreReader } from '../../platform/store/kind.js';
import { nameOfOutput } from '../logic/channel-at.js';
import { ControlProgram } from '../logic/kind.js';
import type { Claim, OthersOf } from '../logic/output-claims.js';
import { unitOf } from '../plant/unit-of.js';
import { drivenBy, type Driver, type Drivers, driversOf, usesOfModule } from './channel-uses.js';
import { ControlModule, type ControlModuleSpec } from './kind.js';
import { resolvedModuleOf } from './modules.js';

export interface OutputOwner {
  readonly kind: string;
  /** Of the control module or program. */
  readonly name: string;
  readonly block: string;
  readonly unit: string;
}

export interface ContestedOutput {
  /** `<io module>:<channel name>` */
  readonly output: string;
  /** Who came first before who came later. */
  readonly owners: readonly OutputOwner[];
}

/** Of the output of this name, `<io module>:<channel name>`; who came first before who came later. None of an output that nothing goes on writing. */
export function ownersOfOutputs(read: StoreReader, site: string): (output: string) => readonly OutputOwner[] {
  const owners = ownersByName(driversOf(read, site));
  return (output) => (owners.get(output) ?? []).map((driver) => ownerOf(read, site, driver));
}

export function contestedOutputs(read: StoreReader, site: string): readonly ContestedOutput[] {
  const owners = ownersByName(driversOf(read, site));
  return [...owners].flatMap(([output, drivers]) => (drivers.length < 2 ? [] : [{ output, owners: drivers.map((driver) => ownerOf(read, site, driver)) }]));
}

export function contestedWords({ output, owners }: ContestedOutput): string {
  return `output ${output} is written by ${owners.map(({ name, block }) => `${name}.${block}`).join(' and ')}: each overwrites what the other writes; take it from all but one`;
}

const known = new WeakMap<Drivers, ReadonlyMap<string, readonly Driver[]>>();

function ownersByName(drivers: Drivers): ReadonlyMap<string, readonly Driver[]> {
  const before = known.get(drivers);
  if (before) return before;
  const found = new Map<string, readonly Driver[]>();
  for (const all of drivers.values()) {
    const owners = all.filter(({ isTag }) => !isTag);
    const [first] = owners;
    if (first) found.set(first.output, owners);
  }
  known.set(drivers, found);
  return found;
}

function ownerOf(read: StoreReader, site: string, { kind, owner, name }: Driver): OutputOwner {
  const module = kind === ControlModule.kind ? read.get(ControlModule, site, owner) : undefined;
  const unit = module ? unitOf(read, site, module.spec) : (read.get(ControlProgram, site, owner)?.spec.unitRef ?? '');
  return { kind, name: owner, block: name, unit };
}

// ---------------------------------------------------------------- claimed

/** Of the blocks of a module as it is merged with its template. */
export function claimsOfModule(read: StoreReader, site: string, spec: ControlModuleSpec): readonly Claim[] {
  const resolved = resolvedModuleOf(read, { spec });
  if (!resolved) return [];
  return drivenBy(read, site, usesOfModule(spec, resolved)).flatMap(({ output, name, use }) =>
    use.type === '' ? [] : [{ output: nameOfOutput(use.channel, output), block: name, path: use.path }],
  );
}

/** Others than this one, as the plant is now. @param counts those of them that are looked at. */
export function othersIn(read: StoreReader, site: string, self: { readonly kind: string; readonly name: string }, counts: (owner: Driver) => boolean = () => true): OthersOf {
  const owners = ownersByName(driversOf(read, site));
  const isOther = (driver: Driver): boolean => (driver.kind !== self.kind || driver.owner !== self.name) && counts(driver);
  return (output) => (owners.get(output) ?? []).filter(isOther).map(({ owner, name }) => `${owner}.${name}`);
}
