/**
 * The one owner of each output (ADR 0071): the block of a module or program that goes on writing it. A second one is refused where it is written;
 * what an earlier release has stored, or an edit of a template or an I/O module has brought about, is told with the names of both. Pure but for reading.
 */
import type { StoreReader } from '../../platform/store/kind.js';
import { nameOfOutput } from '../logic/channel-at.js';
import { ControlProgram, ioModuleOf } from '../logic/kind.js';
import { type Claim, contend, type OtherOwner, type OthersOf } from '../logic/output-claims.js';
import { devicesOf, outputPlaces, type Reached } from '../logic/output-places.js';
import { IOModule } from '../io-modules/kind.js';
import { unitOf } from '../plant/unit-of.js';
import { usesOfModule } from './channel-uses.js';
import { ControlModule, type ControlModuleSpec } from './kind.js';
import { resolvedModuleOf } from './modules.js';
import { contestableOutputs, drivenBy, type Driver, driversOf, ioModulesOf, sayDriver } from './output-drivers.js';

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

/** Of the owners those that write the output through another I/O module of its device, each as `<owner>.<block>` with its name for the output. */
export function ownersElsewhere(read: StoreReader, site: string): (output: string) => readonly OtherOwner[] {
  const owners = ownersAt(read, site);
  return (output) => owners(output).flatMap((driver) => (ioModuleOf(driver.output) === ioModuleOf(output) ? [] : [{ owner: sayDriver(driver), output: driver.output }]));
}

/** Outputs of a site that several own. @param unit those alone that logic of the unit writes. */
export function contestedOutputs(read: StoreReader, site: string, unit?: string): readonly ContestedOutput[] {
  const modules = unit === undefined ? read.list(IOModule, site).map(({ metadata }) => metadata.name) : ioModulesOf(read, site, unit);
  const contested = contestedIn(read, site, modules);
  return unit === undefined ? contested : contested.filter(({ owners }) => owners.some((owner) => owner.unit === unit));
}

/** Outputs of an I/O module that several own. */
export function contestedOf(read: StoreReader, site: string, ioModule: string): readonly ContestedOutput[] {
  return contestedIn(read, site, [ioModule]).filter(({ output }) => ioModuleOf(output) === ioModule);
}

/** Of the I/O modules, with those that share a device with one of them. */
function contestedIn(read: StoreReader, site: string, ioModules: readonly string[]): readonly ContestedOutput[] {
  const sharersOf = devicesOf(read.list(IOModule, site));
  const devices = new Set(
    ioModules.flatMap((name) => {
      const sharers = sharersOf(name);
      const own = sharers.length === 0 ? read.get(IOModule, site, name) : undefined;
      return own ? [[own]] : [sharers];
    }),
  );
  const owners = ownersAt(read, site);
  return [...devices]
    .flatMap((sharers) => (sharers.length === 0 ? [] : contestableOutputs(read, site, sharers)))
    .flatMap((output): readonly ContestedOutput[] => {
      const found = owners(output);
      if (found.length < 2) return [];
      return [{ output, owners: found.map((driver) => ownerOf(read, site, driver)), names: [...new Set([output, ...found.map((driver) => driver.output)])] }];
    });
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
  return (output) => {
    const found = drivers(reached(output)).filter(({ isTag }) => !isTag);
    // a fail-safe value owns nothing; it is told where somebody writes against it
    const against = found.filter((driver) => driver.isFailSafe && found.some((other) => other !== driver && contend(other, driver)));
    return [...found.filter(({ isFailSafe }) => !isFailSafe), ...against];
  };
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
    drivers(reached(output))
      .filter(isOther)
      .map((driver) => ({ owner: sayDriver(driver), output: driver.output, isFailSafe: driver.isFailSafe === true }));
}
