/** What a controller says to the channels of a module, and what it has beside them (decisions Q-TIER-11, IO-07, IO-21). */
import type { ProbeChannel } from '../../port.js';
import type { Clock } from '../../vocabulary/clock.js';
import type { ChannelType } from '../description.js';
import type { DeviceIdentity, DiscoveredChannel, Discovery } from '../device-answers.js';
import type { Point, ReadOutcome, SampleSink } from '../driver.js';
import { parseTagAddress } from './address.js';
import type { Walk } from './browse.js';
import type { Device } from './device.js';
import { type Offer, offer } from './offer.js';
import type { TagRegister } from './tag.js';
import { cipTypeOf } from './types.js';

export interface Discoverer {
  readonly device: Device;
  readonly register: TagRegister;
  readonly identity: DeviceIdentity;
  readonly clock: Clock;
  read(points: readonly Point[], sink: SampleSink): Promise<ReadOutcome>;
}

/** Points that are read together; between two such reads it is looked whether there is time left. */
const TOGETHER = 100;
/** Of the time that there is: the walk ends so early that what was found is told in time. */
const WALK_SHARE = 0.8;
const NO_TIME = 'there was no time left to read it';

/** Why each point is not to be read; empty: it is. */
async function messagesOf(from: Discoverer, points: readonly Point[], walk: Walk): Promise<string[]> {
  const messages: string[] = [];
  for (let at = 0; at < points.length; at += TOGETHER) {
    const some = points.slice(at, at + TOGETHER);
    if (walk.isTimeLeft()) messages.push(...(await messagesOfSome(from, some)));
    else {
      walk.isTruncated = true;
      messages.push(...some.map(() => NO_TIME));
    }
  }
  return messages;
}

async function messagesOfSome(from: Discoverer, points: readonly Point[]): Promise<string[]> {
  const messages = points.map(() => '');
  const sink: SampleSink = {
    begin: () => {},
    number: () => {},
    integer: () => {},
    text: () => {},
    bad: (position, message) => void (messages[position] = message),
    end: () => {},
  };
  const outcome = await from.read(points, sink);
  if (outcome.status !== 'answered') throw new Error(outcome.message);
  return messages;
}

function typeSaid(register: TagRegister, { address, dataType }: Point): ChannelType | undefined {
  const parsed = parseTagAddress(address);
  if (!parsed.ok) return undefined;
  const { tag, bit } = register.target(parsed.value, dataType);
  if (tag.code === undefined) return undefined;
  if (bit !== undefined) return 'bool';
  return register.textShape(tag.handle) ? 'string' : cipTypeOf(tag.code)?.dataType;
}

/** Whether the tag in which the address begins can be written; undefined where the device does not say. */
function isWritable({ symbols }: Offer, address: string): boolean | undefined {
  const parsed = parseTagAddress(address);
  if (!parsed.ok) return undefined;
  const [first, second] = parsed.value.segments;
  const program = typeof first === 'string' && first.startsWith('Program:') ? first.slice('Program:'.length) : '';
  const name = String(program === '' ? first : second).toLowerCase();
  return symbols.find((symbol) => symbol.name.toLowerCase() === name && symbol.program.toLowerCase() === program.toLowerCase())?.isWritable;
}

/** @throws Error with a sentence for the operator when the device does not answer. */
export async function discoverTags(from: Discoverer, channels: readonly ProbeChannel[], timeoutMs: number): Promise<Discovery> {
  const endMonoMs = from.clock.monoMs() + timeoutMs * WALK_SHARE;
  const walk: Walk = { isTimeLeft: () => from.clock.monoMs() < endMonoMs, isTruncated: false };
  const messages = await messagesOf(from, channels, walk);
  const readbacks = channels.filter(({ readbackAddress }) => readbackAddress !== '');
  const readbackMessages = await messagesOf(
    from,
    readbacks.map(({ readbackAddress, dataType }) => ({ address: readbackAddress, dataType })),
    walk,
  );
  const taken = new Set(channels.flatMap(({ address }) => textOf(address)));
  const found = await offer(from.device, walk.isTimeLeft, (tag) => taken.has(tag.toLowerCase()));
  if ('ok' in found) throw new Error(found.message);
  const said = channels.map((channel, at): DiscoveredChannel => {
    const [dataType, writable] = [typeSaid(from.register, channel), isWritable(found, channel.address)];
    const readback = readbacks.indexOf(channel);
    return {
      channel: channel.name,
      address: channel.address,
      isFound: messages[at] === '',
      message: messages[at] ?? '',
      ...(dataType && { dataType }),
      ...(writable !== undefined && { isWritable: writable }),
      ...(readback >= 0 && { isReadbackFound: readbackMessages[readback] === '' }),
    };
  });
  return { device: from.identity, channels: said, offered: found.offered, isTruncated: walk.isTruncated || found.isTruncated };
}

function textOf(address: string): string[] {
  const parsed = parseTagAddress(address);
  return parsed.ok && parsed.value.bit === undefined ? [parsed.value.text.toLowerCase()] : [];
}
