/** tag: tags of control modules, seen and driven by hand. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Answered } from '../../client/typed.js';
import type { Box } from './box.js';
import { missing, shownValue, valueOf } from './channels.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { TIMEOUT, timeoutOf } from './given.js';
import { CommandError, EXIT, type Outcome, table, usage } from './outcome.js';

type Tag = Answered<'/api/v1/sites/{site}/tags/browse', 'get'>[number];

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

async function moduleNames({ box }: CommandContext): Promise<readonly string[]> {
  const site = await box.site();
  return (await box.typed.all('/api/v1/sites/{site}/controlmodules', { path: { site } })).map(({ name }) => name);
}

async function tagAddresses({ box }: CommandContext): Promise<readonly string[]> {
  const site = await box.site();
  return (await box.typed.all('/api/v1/sites/{site}/tags', { path: { site } })).map(({ address }) => address);
}

export const EQUIPMENT_COMMANDS: readonly CommandRow[] = [
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
