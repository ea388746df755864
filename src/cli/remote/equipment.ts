/** io, tag: signals of devices and tags of control modules, seen and driven by hand. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Answered } from '../../client/typed.js';
import type { Box } from './box.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { TIMEOUT, timeoutOf } from './given.js';
import { CommandError, EXIT, type Outcome, table, usage } from './outcome.js';

type Channel = Answered<'/api/v1/sites/{site}/iomodules/{name}/tags', 'get'>[number];
type Tag = Answered<'/api/v1/sites/{site}/tags/browse', 'get'>[number];
type Scalar = string | number | boolean;

const shownValue = (value: Scalar | null): string => (value === null ? '-' : typeof value === 'number' ? String(Number(value.toPrecision(6))) : String(value));

async function listChannels({ box, args: [name = ''] }: CommandContext): Promise<Outcome> {
  const site = await box.site();
  const path = { site, name };
  const channels = await box.typed.all('/api/v1/sites/{site}/iomodules/{name}/tags', { path });
  const module = await box.typed.get('/api/v1/sites/{site}/iomodules/{name}', { path });
  const rows = channels.map((channel) => [channel.channel, channel.address, channel.direction, shownValue(channel.value), channel.quality, usersOf(channel)]);
  const { state, message, outputs } = module;
  const text = [
    `${name} is ${state}${message === '' ? '' : `: ${message}`}; outputs are ${outputs.state}${outputs.reason === '' ? '' : `: ${outputs.reason}`}`,
    table(['channel', 'address', 'direction', 'value', 'quality', 'tags'], rows),
  ].join('\n');
  return { data: { module: name, state, message, outputs, channels }, text };
}

const usersOf = ({ controlModules, forced }: Channel): string => [...controlModules.map(({ name, tag }) => `${name}.${tag}`), ...(forced ? ['(forced)'] : [])].join(' ');

async function writeChannel({ box, args: [name = '', channel = '', text = ''] }: CommandContext): Promise<Outcome> {
  const site = await box.site();
  const channels = await box.typed.all('/api/v1/sites/{site}/iomodules/{name}/tags', { path: { site, name } });
  const found = channels.find((each) => each.channel === channel || each.address === channel);
  if (!found) throw missing(`I/O module ${name} has no channel ${channel}; it has ${channels.map((each) => each.channel).join(', ')}`);
  const value = valueOf(text, TYPE_OF_CHANNEL[found.dataType] ?? 'String', channel);
  const done = await box.typed.post('/api/v1/sites/{site}/iomodules/{name}/write', { path: { site, name }, body: { channel: found.channel, value } });
  const readback = done.readback === null ? '' : `; the device shows ${shownValue(done.readback)}`;
  const forced = `${name} is simulated: ${found.channel} is forced to ${shownValue(value)}, and stays so until lineside io release ${name} ${found.channel}`;
  return { data: done, text: done.forced ? forced : `${name}:${found.channel} is written: ${shownValue(value)}${readback}` };
}

async function releaseChannel({ box, args: [name = '', channel = ''] }: CommandContext): Promise<Outcome> {
  const site = await box.site();
  const done = await box.typed.post('/api/v1/sites/{site}/iomodules/{name}/release', { path: { site, name }, body: channel === '' ? {} : { channel } });
  const none = channel === '' ? `no channel of ${name} was forced` : `${name}:${channel} was not forced`;
  return { data: done, text: done.released.length === 0 ? none : `${done.released.map((each) => `${name}:${each}`).join(', ')}: the simulation goes on with it` };
}

const TYPE_OF_CHANNEL: Readonly<Record<string, Tag['dataType']>> = { bool: 'Boolean', int: 'Integer', float: 'Float', string: 'String' };

async function listTags({ box, args: [name = ''], options }: CommandContext): Promise<Outcome> {
  const site = await box.site();
  const unit = textOf(options, 'unit');
  const all = await box.typed.all('/api/v1/sites/{site}/tags/browse', { path: { site }, query: unit === undefined ? {} : { unit } });
  const tags = name === '' ? all : all.filter(({ controlModule }) => controlModule === name);
  if (tags.length === 0 && name !== '') throw noModule(name, site, all);
  const rows = tags.map((tag) => [tag.address, valueText(tag), tag.quality, tag.accessLevel === 'readwrite' ? 'written' : '', tag.unit]);
  return { data: tags, text: tags.length === 0 ? `there is no tag in ${site}` : table(['tag', 'value', 'quality', 'may be', 'unit'], rows) };
}

function noModule(name: string, site: string, tags: readonly Tag[]): CommandError {
  const modules = [...new Set(tags.map(({ controlModule }) => controlModule))];
  return missing(`no control module ${name} with tags in ${site}${modules.length === 0 ? '' : `; there are ${modules.join(', ')}`}`);
}

const missing = (message: string): CommandError => new CommandError(EXIT.refused, 'not_found', message, { status: 404 });

/** As people say it: `Open`, `21.4 degC`. */
function valueText({ value, engUnits, trueLabel, falseLabel }: Tag): string {
  if (value === true && trueLabel !== '') return `true (${trueLabel})`;
  if (value === false && falseLabel !== '') return `false (${falseLabel})`;
  return `${shownValue(value)}${engUnits === '' ? '' : ` ${engUnits}`}`;
}

async function readTag({ box, args: [address = ''] }: CommandContext): Promise<Outcome> {
  const tag = await findTag(box, await box.site(), address);
  return { data: tag, text: `${tag.address} = ${valueText(tag)}${tag.quality === 'Good' ? '' : ` (${tag.quality})`}` };
}

async function writeTag({ box, args: [address = '', text = ''] }: CommandContext): Promise<Outcome> {
  const site = await box.site();
  const tag = await findTag(box, site, address);
  const value = valueOf(text, tag.dataType, address, tag);
  const done = await box.typed.post('/api/v1/sites/{site}/units/{unit}/tags/{address}', { path: { site, unit: tag.unit, address: tag.address }, body: { value } });
  return { data: done, text: `${tag.address} is written: ${valueText({ ...tag, value })}` };
}

/** `module.tag`, or `program.variable`. @throws CommandError with the tags that its module has. */
async function findTag(box: Box, site: string, address: string): Promise<Tag> {
  const all = await box.typed.all('/api/v1/sites/{site}/tags/browse', { path: { site } });
  const tag = all.find((each) => each.address === address);
  if (tag) return tag;
  const [owner = ''] = address.split('.');
  const near = all.filter((each) => each.address.startsWith(`${owner}.`)).map((each) => each.address);
  throw missing(`there is no tag ${address} in ${site}; ${near.length === 0 ? 'lineside tag list tells which there are' : `${owner} has ${near.join(', ')}`}`);
}

const LOOK_AGAIN_MS = 200;

/** A value as it is typed, or a bound; a tag whose quality is not Good has not come there. */
async function waitForTag(context: CommandContext): Promise<Outcome> {
  const { box, args, options } = context;
  const [address = '', text = ''] = args;
  const site = await box.site();
  const tag = await findTag(box, site, address);
  const above = boundOf(textOf(options, 'above'), '--above');
  const below = boundOf(textOf(options, 'below'), '--below');
  if (text === '' && above === undefined && below === undefined) throw usage(`say what ${address} is waited for: a value, --above or --below`);
  const wanted = text === '' ? undefined : valueOf(text, tag.dataType, address, tag);
  const isThere = ({ value, quality }: Pick<Tag, 'value' | 'quality'>): boolean =>
    quality === 'Good' &&
    (wanted === undefined || value === wanted) &&
    (above === undefined || (typeof value === 'number' && value >= above)) &&
    (below === undefined || (typeof value === 'number' && value <= below));
  const withinMs = timeoutOf(context);
  const begun = performance.now();
  for (;;) {
    const now = await box.typed.get('/api/v1/sites/{site}/units/{unit}/tags/{address}', { path: { site, unit: tag.unit, address: tag.address }, options: { background: true } });
    const told = `${tag.address} = ${valueText(now)}${now.quality === 'Good' ? '' : ` (${now.quality})`}`;
    if (isThere(now)) return { data: now, text: told };
    if (withinMs !== undefined && performance.now() - begun > withinMs)
      throw new CommandError(EXIT.no, 'timeout', `within ${withinMs / 1000} s it has not come there: ${told}`, { tag: tag.address, value: now.value });
    await pause(LOOK_AGAIN_MS);
  }
}

function boundOf(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw usage(`${option} takes a number, and not ${text}`);
  return value;
}

type Labels = Partial<Pick<Tag, 'trueLabel' | 'falseLabel'>>;

/** What was typed, as the type wants it. @throws CommandError that says what would be taken. */
function valueOf(text: string, dataType: string, what: string, { trueLabel = '', falseLabel = '' }: Labels = {}): Scalar {
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

async function moduleNames({ box }: CommandContext): Promise<readonly string[]> {
  const site = await box.site();
  return (await box.typed.all('/api/v1/sites/{site}/controlmodules', { path: { site } })).map(({ name }) => name);
}

async function ioModuleNames({ box }: CommandContext): Promise<readonly string[]> {
  const site = await box.site();
  return (await box.typed.all('/api/v1/sites/{site}/iomodules', { path: { site } })).map(({ name }) => name);
}

async function tagAddresses({ box }: CommandContext): Promise<readonly string[]> {
  const site = await box.site();
  return (await box.typed.all('/api/v1/sites/{site}/tags', { path: { site } })).map(({ address }) => address);
}

export const EQUIPMENT_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'io list <module>',
    about: 'whether a device answers, and the raw value of each of its channels',
    names: { module: ioModuleNames },
    examples: ['lineside io list plc'],
    run: listChannels,
  },
  {
    typed: 'io write <module> <channel> <value>',
    about:
      'write an output channel by hand: one that a tag drives only with its control module out of Automatic. Of a simulated module any channel, an input too; it is forced until io release',
    names: { module: ioModuleNames },
    examples: ['lineside io write plc drain true'],
    run: writeChannel,
  },
  {
    typed: 'io release <module> [channel]',
    about: 'end the forcing of a channel of a simulated module, or of all where none is named',
    names: { module: ioModuleNames },
    examples: ['lineside io release vessel level'],
    run: releaseChannel,
  },
  {
    typed: 'tag list [module]',
    about: 'tags with their values: of one control module, or of the site',
    options: [['--unit <unit>', 'of one unit']],
    names: { module: moduleNames },
    examples: ['lineside tag list xv1', 'lineside tag list --unit v1'],
    run: listTags,
  },
  { typed: 'tag read <tag>', about: 'the value of one tag', names: { tag: tagAddresses }, examples: ['lineside tag read tic1.pv'], run: readTag },
  {
    typed: 'tag wait <tag> [value]',
    about: 'wait until a tag has a value, or is at a bound or beyond it; exit code 1 where it has not come there in time',
    options: [
      ['--above <number>', 'this value, or more'],
      ['--below <number>', 'this value, or less'],
      [TIMEOUT[0], 'seconds, or a duration such as 5m; without it there is no end'],
    ],
    names: { tag: tagAddresses },
    examples: ['lineside tag wait xv1.state Open --timeout 10s', 'lineside tag wait li1.pv --above 20'],
    run: waitForTag,
  },
  {
    typed: 'tag write <tag> <value>',
    about: 'write a tag by hand; its module is in Manual or Semi-Automatic for it',
    names: { tag: tagAddresses },
    examples: ['lineside tag write xv1.cmd Open', 'lineside tag write tic1.sp 40'],
    run: writeTag,
  },
];
