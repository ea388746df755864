/** Channels of an I/O module as they are served: every default filled in (decisions 7.1, 7.2). Pure. */
import { checkChannelAddress } from '../../../runtime/catalog.js';
import type { ProbeChannel } from '../../../runtime/port.js';
import { parseDuration } from '../../platform/base/duration-text.js';
import type { IOModuleSpec } from './kind.js';

const POLL_DEFAULT_MS = 500; // decisions 7.2

/** Channels in slot order, with the data type their address implies where none is given. */
export function channelsOf(spec: IOModuleSpec): ProbeChannel[] {
  const poll = pollIntervalMs(spec);
  return spec.channels.map((channel) => ({
    name: channel.name || channel.address,
    address: channel.address,
    direction: channel.direction,
    dataType: channel.dataType || impliedType(spec.protocol, channel.direction, channel.address),
    readbackAddress: channel.readbackAddress,
    pollIntervalMs: parseDuration(channel.pollInterval) ?? poll,
    ...(channel.initial === undefined ? {} : { initial: channel.initial }),
  }));
}

export function pollIntervalMs(spec: IOModuleSpec): number {
  return parseDuration(String(spec.options.pollInterval ?? '')) ?? POLL_DEFAULT_MS;
}

function impliedType(protocol: string, direction: 'input' | 'output', address: string): ProbeChannel['dataType'] {
  const checked = checkChannelAddress(protocol, direction, address);
  return ('dataType' in checked ? checked.dataType : undefined) ?? 'float';
}
