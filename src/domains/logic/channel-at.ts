/** The channel of an I/O module behind `<io module>:<name or address>`. Pure but for reading. */
import type { StoreReader } from '../../platform/store/kind.js';
import { type Channel, IOModule } from '../io-modules/kind.js';
import { ioModuleOf } from './kind.js';

export function channelAt(read: StoreReader, site: string, channel: string): Channel | undefined {
  const module = ioModuleOf(channel);
  const address = channel.slice(module.length + 1);
  return read.get(IOModule, site, module)?.spec.channels.find((candidate) => candidate.address === address || candidate.name === address);
}

/** One name for an output, whether it is called by its name or its address. */
export function nameOfOutput(channel: string, { name, address }: Channel): string {
  return `${ioModuleOf(channel)}:${name || address}`;
}
