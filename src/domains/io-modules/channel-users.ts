/** Which tags stand on a channel, and what a write of the channel means to them (decisions Q-UNIT-08, Q-IO-02). Pure but for reading. */
import { blockType } from '../../../runtime/catalog.js';
import type { BlockSpec } from '../../../runtime/vocabulary/network.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { type EffectiveTag } from '../control-modules/merge.js';
import { modeOf, resolvedModuleOf } from '../control-modules/modules.js';
import { modulesNaming } from '../control-modules/output-drivers.js';
import { CHANNEL_BLOCKS, ioModuleOf } from '../logic/kind.js';

export interface ChannelUser {
  readonly controlModule: string;
  readonly automatic: boolean;
  readonly tag: EffectiveTag;
  /** The AI, AO, DI or DO block between channel and tag; undefined for a tag that is the channel itself. */
  readonly block: BlockSpec | undefined;
}

export interface ChannelName {
  readonly name: string;
  readonly address: string;
}

/** Users of every channel of a module, by the name or address they give it. */
export function channelUsers(read: StoreReader, site: string, ioModule: string): (channel: ChannelName) => readonly ChannelUser[] {
  const found = new Map<string, ChannelUser[]>();
  for (const module of modulesNaming(read, site, ioModule)) {
    const resolved = resolvedModuleOf(read, module);
    if (!resolved?.ioModules.includes(ioModule)) continue;
    for (const tag of resolved.tags) {
      const block = resolved.blocks.find((candidate) => candidate.name === tag.blockRef && CHANNEL_BLOCKS.includes(candidate.type));
      const channel = tag.channel || String(block?.params?.addr ?? '');
      if (ioModuleOf(channel) !== ioModule) continue;
      const key = channel.slice(ioModule.length + 1);
      const users = found.get(key) ?? [];
      users.push({ controlModule: module.metadata.name, automatic: modeOf(module) === 'Automatic', tag, block });
      found.set(key, users);
    }
  }
  return ({ name, address }) => (name === address ? (found.get(name) ?? []) : [...(found.get(name) ?? []), ...(found.get(address) ?? [])]);
}

/** Tags whose value is what the channel gets: not the confirmation or the raw value beside it. */
export function carriesOutput({ tag, block }: ChannelUser): boolean {
  return block === undefined || tag.portRef === 'IN' || tag.portRef === 'OUT';
}

/** The raw value as the tag would show it: through the scaling of its AO block. */
export function engineeringValue(raw: number, { block }: ChannelUser): number {
  if (block?.type !== 'AO') return raw;
  const of = (name: string): number => paramOf(block, name);
  return of('outMin') + ((raw - of('rawMin')) * (of('outMax') - of('outMin'))) / (of('rawMax') - of('rawMin'));
}

/** The other way; not finite where the block makes one value of all. */
export function rawValue(engineering: number, { block }: ChannelUser): number {
  if (block?.type !== 'AO') return engineering;
  const of = (name: string): number => paramOf(block, name);
  return of('rawMin') + ((engineering - of('outMin')) * (of('rawMax') - of('rawMin'))) / (of('outMax') - of('outMin'));
}

/** Raw values that its AO block gives out. */
export function rawRange({ block }: ChannelUser): readonly [low: number, high: number] | undefined {
  if (block?.type !== 'AO') return undefined;
  const [from, to] = [paramOf(block, 'rawMin'), paramOf(block, 'rawMax')];
  return [Math.min(from, to), Math.max(from, to)];
}

function paramOf(block: BlockSpec, name: string): number {
  const given = Object.hasOwn(block.params ?? {}, name) ? block.params?.[name] : undefined;
  return Number(given ?? blockType(block.type)?.params.find((param) => param.name === name)?.default ?? 0);
}
