/**
 * Who drives an output: blocks of modules and programs, tags that are the channel itself, the heartbeat of an I/O module. Found by the channels that their
 * specs name, so that an answer rests on the few that name this one, and an edit costs the one that is edited (ADR 0100). Pure but for reading.
 */
import { inside } from '../../platform/base/assert.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { type Channel, IOModule, type IOModuleSpec } from '../io-modules/kind.js';
import { channelAt, channelIn, namesAt, nameOfOutput } from '../logic/channel-at.js';
import { ChannelMentions, channelsNamed, type Mentioned, type Mentions, mentionsOf } from '../logic/channel-mentions.js';
import { CHANNEL_BLOCKS, ControlProgram, type ControlProgramSpec, ioModuleOf, ownerOfProgram } from '../logic/kind.js';
import { claimsOfIOModule, NO_BLOCKS } from '../logic/output-claims.js';
import { outputPlaces, type Placed } from '../logic/output-places.js';
import { type PlacedUse, usesOfProgram, usesOfStored } from './channel-uses.js';
import { ControlModule, type ControlModuleSpec, ControlModuleTemplate, type ControlModuleTemplateSpec } from './kind.js';
import { type ModuleResource, modulesOf } from './modules.js';

export interface Driver {
  readonly kind: string;
  /** Of the module or program. */
  readonly owner: string;
  /** Of the block, or of the tag that is the channel itself. */
  readonly name: string;
  /** Of a tag that is the channel itself: it is written by people and charts, and owns nothing. */
  readonly isTag: boolean;
  /** The output, `<io module>:<channel name>`, whatever it is called there. */
  readonly output: string;
  /** A value that is written while no logic writes its I/O module. */
  readonly isFailSafe?: boolean;
}

/** Of outputs by name, who came first before who came later. */
export type Drivers = (outputs: readonly string[]) => readonly Driver[];

export const sayDriver = ({ owner, name }: Pick<Driver, 'owner' | 'name'>): string => `${owner}.${name}`;

// ---------------------------------------------------------------- who names a channel

/** A mention without I/O module: an instance is found by its template, for that may name the channel, and a program by its unit. */
const BESIDE = '';
const beside = (name: string): string => `${BESIDE}:${name}`;

function channelsOfModule({ tags, paramOverrides }: ControlModuleSpec): readonly string[] {
  return channelsNamed([...tags.map(({ channel }) => channel), ...paramOverrides.map(({ param, value }) => (param === 'addr' ? value : ''))]);
}

function channelsOfTemplate({ tags, blocks }: ControlModuleTemplateSpec): readonly string[] {
  return channelsNamed([...tags.map(({ channel }) => channel), ...blocks.map(({ type, params }) => (CHANNEL_BLOCKS.includes(type) ? params.addr : ''))]);
}

const channelsOfProgram = (spec: Pick<ControlProgramSpec, 'blocks'>): readonly string[] => channelsNamed(usesOfProgram(spec).map(({ channel }) => channel));

const namedByModules = new ChannelMentions<ControlModuleSpec>(({ spec }) => [beside(spec.templateRef), ...channelsOfModule(spec)]);
const namedByTemplates = new ChannelMentions<ControlModuleTemplateSpec>(({ spec }) => channelsOfTemplate(spec));
/** The program of a module is the module once more. */
const namedByPrograms = new ChannelMentions<ControlProgramSpec>(({ metadata, spec }) =>
  ownerOfProgram(metadata) === undefined ? [beside(spec.unitRef), ...channelsOfProgram(spec)] : [],
);

/** I/O modules that logic of a unit may stand on, by name. */
export function ioModulesOf(read: StoreReader, site: string, unit: string): readonly string[] {
  const ofModules = modulesOf(read, site, unit).flatMap(({ spec }) => {
    const template = read.get(ControlModuleTemplate, '', spec.templateRef)?.spec;
    return [...channelsOfModule(spec), ...(template ? channelsOfTemplate(template) : [])];
  });
  const programs = mentionsOf(namedByPrograms.of(read.list(ControlProgram, site)), beside(unit));
  const ofPrograms = programs.flatMap((name) => channelsOfProgram(read.get(ControlProgram, site, name)?.spec ?? NO_BLOCKS));
  return [...new Set([...ofModules, ...ofPrograms].map(ioModuleOf))].sort();
}

class Named {
  readonly #modules: Mentions;
  readonly #templates: Mentions;
  readonly #programs: Mentions;

  constructor(read: StoreReader, site: string) {
    this.#modules = namedByModules.of(read.list(ControlModule, site));
    this.#templates = namedByTemplates.of(read.list(ControlModuleTemplate, ''));
    this.#programs = namedByPrograms.of(read.list(ControlProgram, site));
  }

  /** Names of the control modules that may stand on a channel. */
  readonly modulesOn = (channel: string): readonly string[] => {
    const own = mentionsOf(this.#modules, channel);
    const templates = mentionsOf(this.#templates, channel);
    return templates.length === 0 ? own : [...own, ...templates.flatMap((template) => mentionsOf(this.#modules, beside(template)))];
  };

  readonly programsOn = (channel: string): readonly string[] => mentionsOf(this.#programs, channel);

  /** Names of the control modules that may stand on any channel of an I/O module. */
  modulesOf(ioModule: string): ReadonlySet<string> {
    const words = [this.#modules, this.#templates].flatMap((mentions) => [...(mentions.get(ioModule)?.keys() ?? [])]);
    return new Set(words.flatMap((word) => this.modulesOn(`${ioModule}:${word}`)));
  }

  /** How often each channel of an I/O module is named, and on what that rests: as long as it is the same, so is the count. */
  groundOf(ioModule: string): readonly (Mentioned | undefined)[] {
    const templates = this.#templates.get(ioModule);
    return [this.#modules.get(ioModule), this.#programs.get(ioModule), templates, templates && this.#modules.get(BESIDE)];
  }

  /** @returns by the name or address that is given to the channel. */
  countsOf(ioModule: string): ReadonlyMap<string, number> {
    const words = new Set([this.#modules, this.#templates, this.#programs].flatMap((mentions) => [...(mentions.get(ioModule)?.keys() ?? [])]));
    return new Map([...words].map((word) => [word, this.modulesOn(`${ioModule}:${word}`).length + this.programsOn(`${ioModule}:${word}`).length]));
  }
}

/** Control modules that may stand on a channel of an I/O module, by name. */
export function modulesNaming(read: StoreReader, site: string, ioModule: string): readonly ModuleResource[] {
  return [...new Named(read, site).modulesOf(ioModule)].sort().flatMap((name) => read.get(ControlModule, site, name) ?? []);
}

// ---------------------------------------------------------------- who drives an output

type Row = Pick<Resource, 'kind' | 'metadata' | 'spec'>;

/** As the plant is now. */
export function driversOf(read: StoreReader, site: string): Drivers {
  const named = new Named(read, site);
  return (outputs) => {
    const channels = outputs.flatMap((output) => namesAt(read, site, output));
    const rows: readonly Row[] = [
      ...namesOn(channels, named.modulesOn).flatMap((name) => read.get(ControlModule, site, name) ?? []),
      ...namesOn(channels, named.programsOn).flatMap((name) => read.get(ControlProgram, site, name) ?? []),
      ...namesOn(outputs, (output) => [ioModuleOf(output)]).flatMap((name) => read.get(IOModule, site, name) ?? []),
    ];
    const byAge = rows.toSorted((a, b) => orderOf(a.metadata) - orderOf(b.metadata));
    return byAge.flatMap((row) => drivenByRow(read, site, row).filter(({ output }) => outputs.includes(output)));
  };
}

function namesOn(channels: readonly string[], on: (channel: string) => readonly string[]): readonly string[] {
  return [...new Set(channels.flatMap(on))].sort();
}

/** What is not stored yet comes last. */
function orderOf({ createdAt }: { readonly createdAt: string }): number {
  return createdAt === '' ? Number.MAX_SAFE_INTEGER : Date.parse(createdAt);
}

function drivenByRow(read: StoreReader, site: string, row: Row): readonly Driver[] {
  const { kind, metadata } = row;
  const owner = metadata.name;
  // the kind of a row says whose spec it is
  if (kind === IOModule.kind)
    return claimsOfIOModule(owner, row.spec as IOModuleSpec).map(({ output, block, isFailSafe = false }) => ({ kind, owner, name: block, isTag: false, output, isFailSafe }));
  const uses = kind === ControlModule.kind ? usesOfStored(read, row.spec as ControlModuleSpec) : usesOfProgram(row.spec as ControlProgramSpec);
  return drivenBy(read, site, uses).map(({ output, name, use }) => ({ kind, owner, name, isTag: use.type === '', output: nameOfOutput(use.channel, output) }));
}

/** Outputs, each once for a block: several tags may stand on it. */
export function drivenBy(read: StoreReader, site: string, uses: readonly PlacedUse[]) {
  const found = new Map<string, { readonly output: Channel; readonly name: string; readonly use: PlacedUse }>();
  for (const use of uses) {
    if (!use.drives) continue;
    const output = channelAt(read, site, use.channel);
    if (output?.direction === 'output' && !found.has(use.name)) found.set(use.name, { output, name: use.name, use });
  }
  return [...found.values()];
}

// ---------------------------------------------------------------- what several may drive

interface Contestable {
  readonly ground: readonly unknown[];
  readonly outputs: readonly string[];
}

/** By the spec of the first module of the device. */
const contestableKnown = new WeakMap<IOModuleSpec, Contestable>();

/** Outputs of the modules of one device that are named more than once: of these alone it is looked who drives them. */
export function contestableOutputs(read: StoreReader, site: string, sharers: readonly Placed[]): readonly string[] {
  const named = new Named(read, site);
  const ground = sharers.flatMap(({ metadata, spec }) => [spec, ...named.groundOf(metadata.name)]);
  const first = inside(sharers, 0, 'a device has a module').spec;
  const before = contestableKnown.get(first);
  if (before?.ground.length === ground.length && ground.every((each, at) => each === before.ground[at])) return before.outputs;
  const counts = new Map(sharers.flatMap((module) => [...countsIn(named, module)]));
  // a fail-safe value contends through another module only
  const failSafes = new Set(sharers.flatMap(({ metadata, spec }) => claimsOfIOModule(metadata.name, spec).flatMap(({ output, isFailSafe }) => (isFailSafe ? [output] : []))));
  const reached = outputPlaces(read, site);
  const timesAt = (places: readonly string[]): number => places.reduce((sum, name) => sum + (counts.get(name) ?? 0) + (places.length > 1 && failSafes.has(name) ? 1 : 0), 0);
  const outputs = [...new Set([...counts.keys(), ...failSafes].flatMap(reached))].filter((output) => timesAt(reached(output)) > 1);
  contestableKnown.set(first, { ground, outputs });
  return outputs;
}

/** How often each output of an I/O module is named, by its name or its address. */
function countsIn(named: Named, { metadata: { name }, spec }: Placed): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const count = (output: string, times: number): void => void counts.set(output, (counts.get(output) ?? 0) + times);
  for (const [word, times] of named.countsOf(name)) {
    const channel = channelIn(spec, word);
    if (channel?.direction === 'output') count(nameOfOutput(`${name}:`, channel), times);
  }
  for (const { output, isFailSafe } of claimsOfIOModule(name, spec)) if (!isFailSafe) count(output, 1);
  return counts;
}
