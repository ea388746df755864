/**
 * Channels that modules and programs stand on: whether they are there and lead the right way, and who drives an output beside another. All of it
 * is taken, so that a plant can be engineered in any order, and told to whoever writes it. Pure but for reading.
 */
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { type Channel, IOModule } from '../io-modules/kind.js';
import { CHANNEL_BLOCKS, ControlProgram, type ControlProgramSpec, ioModuleOf, ownerOfProgram } from '../logic/kind.js';
import { channelAt, nameOfOutput } from '../logic/channel-at.js';
import { OfSpecs } from '../logic/of-specs.js';
import { claimsOfIOModule, sayOwner } from '../logic/output-claims.js';
import { outputPlaces, type Reached } from '../logic/output-places.js';
import { moduleInputNotes } from './input-sources.js';
import { ControlModule, ControlModuleTemplate, type ControlModuleSpec } from './kind.js';
import type { ResolvedModule } from './merge.js';
import { resolvedModuleOf } from './modules.js';

export interface ChannelUse {
  /** `tag pv`, `block dout` */
  readonly user: string;
  /** Type of the I/O block; empty for a tag, which may read either direction. */
  readonly type: string;
  /** `<io module>:<channel>` */
  readonly channel: string;
}

export interface PlacedUse extends ChannelUse {
  /** Of the block, or of the tag that has none. */
  readonly name: string;
  /** Member of the spec that says it. */
  readonly path: string;
  readonly drives: boolean;
}

/** A sentence about a spec and the member it is about. */
export interface ChannelNote {
  readonly path: string;
  readonly text: string;
}

const DIRECTIONS: Readonly<Record<string, 'input' | 'output'>> = { AI: 'input', DI: 'input', AO: 'output', DO: 'output' };

/** Why a block or tag cannot be connected to its channel; '' when it can. */
export function channelProblem(read: StoreReader, site: string, { user, type, channel }: ChannelUse): string {
  const module = ioModuleOf(channel);
  if (module === '') return `${user} has ${channel === '' ? 'no address' : `the address ${channel}`}; an address is <io module>:<channel>`;
  const found = read.get(IOModule, site, module);
  if (!found) return `${user} needs I/O module ${module}, which does not exist`;
  const at = channelAt(read, site, channel);
  if (!at) return `${user} needs channel ${channel.slice(module.length + 1)}, which I/O module ${module} does not have`;
  const direction = DIRECTIONS[type];
  return direction !== undefined && at.direction !== direction ? `${user} (${type}) needs an ${direction}, and channel ${channel} is an ${at.direction}` : '';
}

/** What stands on a channel in a module; blocks and tags without one are none (`openChannels`). A block that has its channel of a tag stands there once. */
export function usesOfModule(spec: ControlModuleSpec, { tags, blocks }: Pick<ResolvedModule, 'tags' | 'blocks'>): readonly PlacedUse[] {
  const inputsAndOutputs = new Map(blocks.filter(({ type }) => CHANNEL_BLOCKS.includes(type)).map((block) => [block.name, block]));
  const tagged = tags.filter(({ channel }) => channel.trim() !== '');
  const ofTags = tagged.map(({ name, channel, blockRef, accessLevel }): PlacedUse => {
    const type = inputsAndOutputs.get(blockRef)?.type ?? '';
    const own = spec.tags.findIndex((tag) => tag.name === name && tag.channel !== undefined);
    const drives = DIRECTIONS[type] === 'output' || (blockRef === '' && accessLevel === 'readwrite');
    return { user: `tag ${name}`, name: type === '' ? name : blockRef, type, channel, drives, path: own < 0 ? 'templateRef' : `tags[${own}].channel` };
  });
  const served = new Set(tagged.map(({ blockRef }) => blockRef));
  const ofBlocks = [...inputsAndOutputs.values()].flatMap(({ name, type, params }): readonly PlacedUse[] => {
    const channel = String(params?.addr ?? '');
    if (served.has(name) || channel.trim() === '') return [];
    const own = spec.paramOverrides.findLastIndex(({ blockRef, param }) => blockRef === name && param === 'addr');
    return [{ user: `block ${name}`, name, type, channel, drives: DIRECTIONS[type] === 'output', path: own < 0 ? 'templateRef' : `paramOverrides[${own}].value` }];
  });
  return [...ofTags, ...ofBlocks];
}

export function usesOfProgram({ blocks }: ControlProgramSpec): readonly PlacedUse[] {
  return blocks.flatMap(({ name, type, params }, index): readonly PlacedUse[] => {
    const channel = String(params.addr ?? '');
    if (!CHANNEL_BLOCKS.includes(type) || channel.trim() === '') return [];
    return [{ user: `block ${name}`, name, type, channel, drives: DIRECTIONS[type] === 'output', path: `blocks[${index}].params.addr` }];
  });
}

// ---------------------------------------------------------------- who drives an output

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
  /** Place among all drivers: who came first has the lower one. */
  readonly rank: number;
}

export const sayDriver = ({ owner, name }: Pick<Driver, 'owner' | 'name'>): string => `${owner}.${name}`;

/** By the name of the output, `<io module>:<channel name>`: a name and an address of one channel are one output. */
export type Drivers = ReadonlyMap<string, readonly Driver[]>;

const known = new OfSpecs<Drivers>();

/** Of all outputs of a site under this one name, who came first before who came later. Found once for as long as the specs it rests on are the same: each module that is read asks for it. */
export function driversOf(read: StoreReader, site: string): Drivers {
  const modules = read.list(ControlModule, site);
  const programs = read.list(ControlProgram, site);
  const ioModules = read.list(IOModule, site);
  return known.of([modules, programs, ioModules, read.list(ControlModuleTemplate, '')], () => {
    const owners = [
      ...modules.map(({ kind, metadata, spec }) => {
        const resolved = resolvedModuleOf(read, { spec });
        return { kind, metadata, drives: resolved ? named(drivenBy(read, site, usesOfModule(spec, resolved))) : [] };
      }),
      // the program of a module is the module once more
      ...programs
        .filter(({ metadata }) => ownerOfProgram(metadata) === undefined)
        .map(({ kind, metadata, spec }) => ({ kind, metadata, drives: named(drivenBy(read, site, usesOfProgram(spec))) })),
      ...ioModules.map(({ kind, metadata, spec }) => ({
        kind,
        metadata,
        drives: claimsOfIOModule(metadata.name, spec).map(({ output, block }) => ({ output, name: block, isTag: false })),
      })),
    ].sort((a, b) => orderOf(a.metadata) - orderOf(b.metadata));
    const drivers = new Map<string, Driver[]>();
    for (const [rank, { kind, metadata, drives }] of owners.entries()) {
      for (const driven of drives) {
        const others = drivers.get(driven.output) ?? [];
        drivers.set(driven.output, others);
        others.push({ kind, owner: metadata.name, rank, ...driven });
      }
    }
    return drivers;
  });
}

function named(driven: ReturnType<typeof drivenBy>): readonly Pick<Driver, 'output' | 'name' | 'isTag'>[] {
  return driven.map(({ output, name, use }) => ({ output: nameOfOutput(use.channel, output), name, isTag: use.type === '' }));
}

/** Who drives an output, or what is the same place of its device, who came first before who came later. */
export function driversAt(drivers: Drivers, reached: Reached, output: string): readonly Driver[] {
  const names = reached(output);
  return names.length === 1 ? (drivers.get(output) ?? []) : names.flatMap((name) => drivers.get(name) ?? []).sort((a, b) => a.rank - b.rank);
}

/** What is not stored yet comes last. */
function orderOf({ createdAt }: { readonly createdAt: string }): number {
  return createdAt === '' ? Number.MAX_SAFE_INTEGER : Date.parse(createdAt);
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

interface Owner {
  readonly kind: string;
  readonly site: string;
  readonly name: string;
}

/** Of each output that somebody else drives too, or a second block of its own. @param isLater the others that came first alone. */
function sharedOutputs(read: StoreReader, { kind, site, name }: Owner, uses: readonly PlacedUse[], isLater = false): readonly ChannelNote[] {
  const own = drivenBy(read, site, uses);
  const drivers: Drivers = own.length === 0 ? new Map() : driversOf(read, site);
  const reached = outputPlaces(read, site);
  return own.flatMap(({ output, use }, at) => {
    const place = nameOfOutput(use.channel, output);
    const names = reached(place);
    const all = driversAt(drivers, reached, place);
    const isOwn = (driver: Driver): boolean => driver.kind === kind && driver.owner === name;
    const mine = all.findIndex(isOwn);
    const foreign = all.filter((driver, index) => !isOwn(driver) && (!isLater || index < mine));
    const twin = own.slice(0, at).find((other) => names.includes(nameOfOutput(other.use.channel, other.output)));
    const others = [...foreign, ...(twin ? [{ owner: name, name: twin.name, output: nameOfOutput(twin.use.channel, twin.output) }] : [])];
    if (others.length === 0) return [];
    const words = others.map((other) => sayOwner({ owner: sayDriver(other), output: other.output }, place)).join(' and ');
    return [{ path: use.path, text: `channel ${use.channel} is already driven by ${words}: each overwrites what the other writes` }];
  });
}

// ---------------------------------------------------------------- what is told

function problems(read: StoreReader, site: string, uses: readonly PlacedUse[]): readonly ChannelNote[] {
  return uses.map((use) => ({ path: use.path, text: channelProblem(read, site, use) })).filter(({ text }) => text !== '');
}

/** Channels of a stored module that are not there, or lead the other way. */
export function moduleChannelProblems(read: StoreReader, { metadata: { site }, spec }: Resource<ControlModuleSpec>): readonly ChannelNote[] {
  const resolved = resolvedModuleOf(read, { spec });
  return resolved ? problems(read, site, usesOfModule(spec, resolved)) : [];
}

/** As `moduleChannelProblems`, of a program. */
export function programChannelProblems(read: StoreReader, { metadata: { site }, spec }: Resource<ControlProgramSpec>): readonly ChannelNote[] {
  return problems(read, site, usesOfProgram(spec));
}

/** What of the channels of a module or program is not as it should be. */
export function channelNotes(read: StoreReader, owner: Owner, uses: readonly PlacedUse[]): readonly ChannelNote[] {
  return [...problems(read, owner.site, uses), ...sharedOutputs(read, owner, uses)];
}

/** Of a module as it is written, before or after it is stored, with its inputs. */
export function moduleChannelNotes(read: StoreReader, owner: { readonly site: string; readonly name: string }, spec: ControlModuleSpec): readonly ChannelNote[] {
  const resolved = resolvedModuleOf(read, { spec });
  if (!resolved) return [];
  return [...channelNotes(read, { ...owner, kind: ControlModule.kind }, usesOfModule(spec, resolved)), ...moduleInputNotes(read, owner.site, spec, resolved)];
}

/** Of a stored module and its inputs, in a sentence each; an output that two drive is a matter of the one that came later. */
export function channelsAmiss(read: StoreReader, owner: { readonly site: string; readonly name: string }, spec: ControlModuleSpec, resolved: ResolvedModule): readonly string[] {
  const uses = usesOfModule(spec, resolved);
  const ofChannels = [...problems(read, owner.site, uses), ...sharedOutputs(read, { ...owner, kind: ControlModule.kind }, uses, true)];
  return [...ofChannels, ...moduleInputNotes(read, owner.site, spec, resolved)].map(({ text }) => text);
}
