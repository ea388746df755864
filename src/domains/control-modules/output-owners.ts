/**
 * The one owner of each output (ADR 0071): the block of a module or program that goes on writing it. A second one is refused where it is written;
 * what an earlier release has stored, or an edit of a template or an I/O module has brought about, is told with the names of both. Pure but for reading.
 */
import type { StoreReader } from '../../platform/store/kind.js';
import { nameOfOutput } from '../logic/channel-at.js';
import { ControlProgram } from '../logic/kind.js';
import { OfSpecs } from '../logic/of-specs.js';
import type { Claim, OthersOf } from '../logic/output-claims.js';
import { outputPlaces, type Reached } from '../logic/output-places.js';
import { IOModule } from '../io-modules/kind.js';
import { unitOf } from '../plant/unit-of.js';
import { drivenBy, type Driver, driversAt, driversOf, sayDriver, usesOfModule } from './channel-uses.js';
import { ControlModule, type ControlModuleSpec, ControlModuleTemplate } from './kind.js';
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
  /** What the owners call it, each name once. */
  readonly names: readonly string[];
}

/** Blocks that go on writing the place of the output of this name, `<io module>:<channel name>`; who came first before who came later. */
export function ownersOfOutputs(read: StoreReader, site: string): (output: string) => readonly OutputOwner[] {
  const owners = ownersAt(read, site);
  return (output) => owners(output).map((driver) => ownerOf(read, site, driver));
}

interface Contested {
  readonly all: readonly ContestedOutput[];
  readonly byUnit: ReadonlyMap<string, readonly ContestedOutput[]>;
}

const contestedKnown = new OfSpecs<Contested>();

/** Outputs of a site that several own. @param unit those alone that logic of the unit writes. */
export function contestedOutputs(read: StoreReader, site: string, unit?: string): readonly ContestedOutput[] {
  const ground = [read.list(ControlModule, site), read.list(ControlProgram, site), read.list(IOModule, site), read.list(ControlModuleTemplate, '')];
  const { all, byUnit } = contestedKnown.of(ground, () => contestedOf(read, site));
  return unit === undefined ? all : (byUnit.get(unit) ?? []);
}

function contestedOf(read: StoreReader, site: string): Contested {
  const owners = ownersAt(read, site);
  const drivers = driversOf(read, site);
  const reached = outputPlaces(read, site);
  const outputs = new Set([...drivers.keys()].flatMap(reached));
  const all = [...outputs].flatMap((output): readonly ContestedOutput[] => {
    const found = owners(output);
    if (found.length < 2) return [];
    return [{ output, owners: found.map((driver) => ownerOf(read, site, driver)), names: [...new Set([output, ...found.map((driver) => driver.output)])] }];
  });
  const byUnit = new Map<string, ContestedOutput[]>();
  for (const contested of all) {
    for (const unit of new Set(contested.owners.map((owner) => owner.unit))) byUnit.set(unit, [...(byUnit.get(unit) ?? []), contested]);
  }
  return { all, byUnit };
}

export function contestedWords({ output, owners, names }: ContestedOutput): string {
  const same = names.length < 2 ? '' : ` (${names.slice(1).join(', ')}: the same place of the device or a part of it)`;
  return `output ${output}${same} is written by ${owners.map(sayOutputOwner).join(' and ')}: each overwrites what the other writes; take it from all but one`;
}

export function sayOutputOwner({ name, block }: OutputOwner): string {
  return `${name}.${block}`;
}

/** Owners alone: a tag that is the channel itself owns nothing. */
function ownersAt(read: StoreReader, site: string): (output: string) => readonly Driver[] {
  const drivers = driversOf(read, site);
  const reached = outputPlaces(read, site);
  return (output) => driversAt(drivers, reached, output).filter(({ isTag }) => !isTag);
}

function ownerOf(read: StoreReader, site: string, { kind, owner, name }: Driver): OutputOwner {
  const module = kind === ControlModule.kind ? read.get(ControlModule, site, owner) : undefined;
  const unit = module ? unitOf(read, site, module.spec) : kind === ControlProgram.kind ? (read.get(ControlProgram, site, owner)?.spec.unitRef ?? '') : '';
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

/**
 * Others than this one, as the plant is now. @param counts those of them that are looked at. @param reached places as they will be, where channels
 * are changed along.
 */
export function othersIn(
  read: StoreReader,
  site: string,
  self: { readonly kind: string; readonly name: string },
  counts: (owner: Driver) => boolean = () => true,
  reached: Reached = outputPlaces(read, site),
): OthersOf {
  const drivers = driversOf(read, site);
  const isOther = (driver: Driver): boolean => !driver.isTag && (driver.kind !== self.kind || driver.owner !== self.name) && counts(driver);
  return (output) =>
    driversAt(drivers, reached, output)
      .filter(isOther)
      .map((driver) => ({ owner: sayDriver(driver), output: driver.output }));
}
