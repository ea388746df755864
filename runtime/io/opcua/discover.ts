/** What a server says of itself, of the configured channels and of what it has beside them (decisions Q-TIER-11, 7.7; rule IO-07). */
import type { ProbeChannel } from '../../port.js';
import type { Clock } from '../../vocabulary/clock.js';
import type { DeviceIdentity, DiscoveredChannel, Discovery, OfferedChannel } from '../device-answers.js';
import { checkChannels } from '../discovery.js';
import type { Link } from '../driver.js';
import { AttributeIds, resolveNodeId } from './library.js';
import { resolveAddress, stableText } from './node-address.js';
import { readAttributes } from './node-types.js';
import { channelTypeOf } from './values.js';
import { type FoundVariable, variablesBelow } from './variables.js';
import { deadlineIn } from './walk.js';
import type { Wire } from './wire.js';

const OBJECTS = 'i=85';
const SERVER = '/Server/';
/** ManufacturerName, ProductName, SoftwareVersion of BuildInfo (OPC 10000-5, 12.4). */
const BUILD_INFO = ['i=2263', 'i=2262', 'i=2264'];
const OFFERED_MAX = 1000;
/** Part of the time that the walk may take: what it found is told in time. */
const WALK_SHARE = 0.7;

async function identityOf(wire: Wire): Promise<DeviceIdentity> {
  const values = await readAttributes(
    wire,
    BUILD_INFO.map((node) => ({ nodeId: resolveNodeId(node), attributeId: AttributeIds.Value })),
  );
  const [vendor = '', product = '', revision = ''] = values.map((value) => String(value?.value?.value ?? ''));
  return { vendor, product, revision, serial: '' };
}

export async function discover(link: Link, wire: Wire, namespaces: readonly string[], channels: readonly ProbeChannel[], timeoutMs: number, clock: Clock): Promise<Discovery> {
  const device = await identityOf(wire);
  const checked = await checkChannels(link, channels);
  const { items, truncated } = await variablesBelow(wire, namespaces, resolveNodeId(OBJECTS), deadlineIn(timeoutMs * WALK_SHARE, clock), OFFERED_MAX);
  const variables = new Map(items.map((item) => [item.nodeId, item]));
  const stable = (address: string): string => {
    const target = resolveAddress(address, namespaces);
    return typeof target === 'string' || target.indexRange !== '' ? '' : stableText(target.nodeId, namespaces);
  };
  const configured = new Set(channels.flatMap(({ address, readbackAddress }) => [stable(address), stable(readbackAddress)]));
  return {
    device,
    channels: channels.map((channel, place) => told(channel, checked[place], variables.get(stable(channel.address)), stable)),
    offered: items.filter(({ nodeId, browsePath }) => !configured.has(nodeId) && !browsePath.startsWith(SERVER)).map(offer),
    isTruncated: truncated,
  };
}

function told(
  { readbackAddress, direction }: ProbeChannel,
  checked: DiscoveredChannel | undefined,
  variable: FoundVariable | undefined,
  stable: (address: string) => string,
): DiscoveredChannel {
  const row = checked ?? { channel: '', address: '', isFound: false, message: 'it was not read' };
  if (!variable) return row;
  const dataType = channelTypeOf(variable.valueType);
  // the configured text is kept where it names the same node
  const proposed = variable.readbackNodeId === stable(readbackAddress) ? readbackAddress : variable.readbackNodeId;
  return {
    ...row,
    ...(dataType === undefined ? {} : { dataType }),
    isWritable: variable.isWritable,
    ...(direction === 'output' && proposed !== '' ? { readbackAddress: proposed } : {}),
  };
}

function offer({ nodeId, valueType, isWritable, description, browsePath, engUnits, engMin, engMax, readbackNodeId }: FoundVariable): OfferedChannel {
  const dataType = channelTypeOf(valueType);
  return {
    address: nodeId,
    ...(dataType === undefined ? {} : { dataType }),
    isWritable,
    description: description || browsePath,
    ...(engUnits === '' ? {} : { engUnits }),
    ...(engMin === null ? {} : { engMin }),
    ...(engMax === null ? {} : { engMax }),
    ...(readbackNodeId === '' ? {} : { readbackAddress: readbackNodeId }),
  };
}
