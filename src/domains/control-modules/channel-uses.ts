/**
 * Channels that modules and programs stand on: whether they are there and lead the right way. All of it is taken, so that a plant can be engineered in any
 * order, and told to whoever writes it (channel-notes.ts). Pure but for reading.
 */
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { IOModule } from '../io-modules/kind.js';
import { channelAt } from '../logic/channel-at.js';
import { CHANNEL_BLOCKS, type ControlProgramSpec, ioModuleOf } from '../logic/kind.js';
import type { ControlModuleSpec } from './kind.js';
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

interface Uses {
  readonly resolved: ResolvedModule;
  readonly uses: readonly PlacedUse[];
}

const usesKnown = new WeakMap<ControlModuleSpec, Uses>();

/** Of a stored module; none while its template is missing. Found once for as long as it is merged with the same. */
export function usesOfStored(read: StoreReader, spec: ControlModuleSpec): readonly PlacedUse[] {
  const resolved = resolvedModuleOf(read, { spec });
  if (!resolved) return [];
  const before = usesKnown.get(spec);
  if (before?.resolved === resolved) return before.uses;
  const uses = usesOfModule(spec, resolved);
  usesKnown.set(spec, { resolved, uses });
  return uses;
}

export function usesOfProgram({ blocks }: Pick<ControlProgramSpec, 'blocks'>): readonly PlacedUse[] {
  return blocks.flatMap(({ name, type, params }, index): readonly PlacedUse[] => {
    const channel = String(params.addr ?? '');
    if (!CHANNEL_BLOCKS.includes(type) || channel.trim() === '') return [];
    return [{ user: `block ${name}`, name, type, channel, drives: DIRECTIONS[type] === 'output', path: `blocks[${index}].params.addr` }];
  });
}

// ---------------------------------------------------------------- what is told

export function problems(read: StoreReader, site: string, uses: readonly PlacedUse[]): readonly ChannelNote[] {
  return uses.map((use) => ({ path: use.path, text: channelProblem(read, site, use) })).filter(({ text }) => text !== '');
}

/** Channels of a stored module that are not there, or lead the other way. */
export function moduleChannelProblems(read: StoreReader, { metadata: { site }, spec }: Resource<ControlModuleSpec>): readonly ChannelNote[] {
  return problems(read, site, usesOfStored(read, spec));
}

/** As `moduleChannelProblems`, of a program. */
export function programChannelProblems(read: StoreReader, { metadata: { site }, spec }: Resource<ControlProgramSpec>): readonly ChannelNote[] {
  return problems(read, site, usesOfProgram(spec));
}
