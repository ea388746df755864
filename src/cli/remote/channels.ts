/** Channels of I/O modules at the command line: shown, written, released; and values as they are typed. */
import type { Answered } from '../../client/typed.js';
import type { CommandContext } from './command.js';
import { CommandError, EXIT, type Outcome, table, usage } from './outcome.js';

type Channel = Answered<'/api/v1/sites/{site}/iomodules/{name}/tags', 'get'>[number];
type Tag = Answered<'/api/v1/sites/{site}/tags/browse', 'get'>[number];
export type Scalar = string | number | boolean;

/** Raw values are numbers of devices, serial numbers and totals among them: what is whole has all its digits, and no digit before the point is rounded. */
export function shownValue(value: Scalar | null): string {
  if (value === null) return '-';
  if (typeof value !== 'number' || Number.isInteger(value)) return String(value);
  return String(Number(Math.abs(value) >= 1000 ? value.toFixed(3) : value.toPrecision(6)));
}

export async function showChannels({ box, args: [name = ''] }: CommandContext): Promise<Outcome> {
  const site = await box.site();
  const path = { site, name };
  const channels = await box.typed.all('/api/v1/sites/{site}/iomodules/{name}/tags', { path });
  const module = await box.typed.get('/api/v1/sites/{site}/iomodules/{name}', { path });
  const rows = channels.map((channel) => [channel.channel, channel.address, channel.direction, shownValue(channel.value), channel.quality, ...standingOn(channel)]);
  const { state, message, outputs } = module;
  const text = [
    `${name} is ${state}${message === '' ? '' : `: ${message}`}; outputs are ${outputs.state}${outputs.reason === '' ? '' : `: ${outputs.reason}`}`,
    table(['channel', 'address', 'direction', 'value', 'quality', 'owner', 'tags', 'held'], rows),
  ].join('\n');
  return { data: { module: name, state, message, outputs, channels }, text };
}

/** Who goes on writing an output, which tags are the channel, and who holds it at a value of his own. */
export function standingOn({ controlModules, owner, contestedBy, heldBy, forced }: Channel): readonly [owner: string, tags: string, held: string] {
  const blocks = [...(owner ? [owner] : []), ...contestedBy].map(({ name, block }) => `${name}/${block}`);
  const held = heldBy ? `(${HELD[heldBy.how]}${heldBy.by === '' ? '' : ` by ${heldBy.by}`})` : forced ? '(forced)' : '';
  return [blocks.join(', '), controlModules.map(({ name, tag }) => `${name}.${tag}`).join(' '), held];
}

const HELD: Readonly<Record<NonNullable<Channel['heldBy']>['how'], string>> = { Force: 'forced', Override: 'overridden', LoopCheck: 'loop check', FailSafe: 'fail-safe value' };

export async function writeChannel({ box, args: [name = '', channel = '', text = ''] }: CommandContext): Promise<Outcome> {
  const site = await box.site();
  const channels = await box.typed.all('/api/v1/sites/{site}/iomodules/{name}/tags', { path: { site, name } });
  const found = channels.find((each) => each.channel === channel || each.address === channel);
  if (!found) throw missing(`I/O module ${name} has no channel ${channel}; it has ${channels.map((each) => each.channel).join(', ')}`);
  const value = valueOf(text, TYPE_OF_CHANNEL[found.dataType] ?? 'String', channel);
  const done = await box.typed.post('/api/v1/sites/{site}/iomodules/{name}/write', { path: { site, name }, body: { channel: found.channel, value } });
  const readback = done.readback === null ? '' : `; the device shows ${shownValue(done.readback)}`;
  // what the box adds: that logic goes on writing the output
  const added = done.message === '' || done.message === 'written' ? '' : `; ${done.message.replace(/^written; /, '')}`;
  const forced = `${name} is simulated: ${found.channel} is forced to ${shownValue(value)}, and stays so until lineside io release ${name} ${found.channel}`;
  return { data: done, text: done.forced ? forced : `${name}:${found.channel} is written: ${shownValue(value)}${readback}${added}` };
}

export async function releaseChannel({ box, args: [name = '', channel = ''] }: CommandContext): Promise<Outcome> {
  const site = await box.site();
  const done = await box.typed.post('/api/v1/sites/{site}/iomodules/{name}/release', { path: { site, name }, body: channel === '' ? {} : { channel } });
  const none = channel === '' ? `no channel of ${name} was forced` : `${name}:${channel} was not forced`;
  return { data: done, text: done.released.length === 0 ? none : `${done.released.map((each) => `${name}:${each}`).join(', ')}: the simulation goes on with it` };
}

const TYPE_OF_CHANNEL: Readonly<Record<string, Tag['dataType']>> = { bool: 'Boolean', int: 'Integer', float: 'Float', string: 'String' };

export const missing = (message: string): CommandError => new CommandError(EXIT.refused, 'not_found', message, { status: 404 });

type Labels = Partial<Pick<Tag, 'trueLabel' | 'falseLabel'>>;

/** What was typed, as the type wants it. @throws CommandError that says what would be taken. */
export function valueOf(text: string, dataType: string, what: string, { trueLabel = '', falseLabel = '' }: Labels = {}): Scalar {
  if (dataType === 'String') return text;
  if (dataType === 'Boolean') {
    const word = text.toLowerCase();
    if (['true', '1', 'on', trueLabel.toLowerCase()].includes(word) && word !== '') return true;
    if (['false', '0', 'off', falseLabel.toLowerCase()].includes(word) && word !== '') return false;
    const labels = trueLabel === '' || falseLabel === '' ? '' : ` (or ${trueLabel}, ${falseLabel})`;
    throw usage(`${what} takes true or false${labels}, and not ${text}`);
  }
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw usage(`${what} takes a number, and not ${text}`);
  return value;
}

export async function ioModuleNames({ box }: CommandContext): Promise<readonly string[]> {
  const site = await box.site();
  return (await box.typed.all('/api/v1/sites/{site}/iomodules', { path: { site } })).map(({ name }) => name);
}
