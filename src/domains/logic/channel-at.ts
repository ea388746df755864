/** The channel of an I/O module behind `<io module>:<name or address>`. Pure but for reading. */
import type { StoreReader } from '../../platform/store/kind.js';
import { type Channel, IOModule, type IOModuleSpec } from '../io-modules/kind.js';
import { ioModuleOf } from './kind.js';

export function channelAt(read: StoreReader, site: string, channel: string): Channel | undefined {
  const module = ioModuleOf(channel);
  const found = read.get(IOModule, site, module);
  return found && channelIn(found.spec, channel.slice(module.length + 1));
}

export function channelIn({ channels }: Pick<IOModuleSpec, 'channels'>, word: string): Channel | undefined {
  return byWord(channels).get(word);
}

/** What a channel is called, `<io module>:<name>` and `<io module>:<address>`; nothing where there is none. */
export function namesAt(read: StoreReader, site: string, channel: string): readonly string[] {
  const found = channelAt(read, site, channel);
  if (!found) return [];
  const words = new Set([found.name, found.address].filter((word) => word !== ''));
  return [...words].map((word) => `${ioModuleOf(channel)}:${word}`).filter((name) => channelAt(read, site, name) === found);
}

const known = new WeakMap<readonly Channel[], ReadonlyMap<string, Channel>>();

/** Channels by name and by address; who comes first has the word. */
function byWord(channels: readonly Channel[]): ReadonlyMap<string, Channel> {
  const before = known.get(channels);
  if (before) return before;
  const words = new Map<string, Channel>();
  for (const channel of channels) for (const word of [channel.address, channel.name]) if (word !== '' && !words.has(word)) words.set(word, channel);
  known.set(channels, words);
  return words;
}

/** One name for an output, whether it is called by its name or its address. */
export function nameOfOutput(channel: string, { name, address }: Channel): string {
  return `${ioModuleOf(channel)}:${name || address}`;
}
