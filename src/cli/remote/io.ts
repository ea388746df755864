/** io: the modules of a site with the way to each device, their channels live, and what is done about them by hand. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Answered } from '../../client/typed.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { ioModuleNames, releaseChannel, showChannels, shownValue, standingOn, writeChannel } from './channels.js';
import { untilInterrupted } from './interrupt.js';
import { CommandError, EXIT, type Outcome, table } from './outcome.js';

type Statistics = Answered<'/api/v1/sites/{site}/iomodules/{name}/statistics', 'get'>;
type Counted = NonNullable<Statistics['counted']>;

const WATCH_EVERY_MS = 1000;

/** Without a module all of the site; with one its channels. */
async function list(context: CommandContext): Promise<Outcome> {
  const { box, args } = context;
  if (args[0]) return showChannels(context);
  const site = await box.site();
  const modules = await box.typed.all('/api/v1/sites/{site}/iomodules', { path: { site } });
  const counts = await Promise.all(modules.map(({ name }) => statisticsOf(context, name)));
  const data = modules.map(({ name, protocol, state, message, outputs }, place) => {
    const counted = counts[place]?.counted ?? null;
    return {
      module: name,
      protocol,
      state,
      message,
      outputs: outputs.state,
      lastGoodAgeMs: youngest(counted),
      errors: counted && total(counted.errors),
      reconnects: counted?.reconnects ?? null,
    };
  });
  const rows = data.map((row) => [row.module, row.protocol, row.state, row.outputs, ageText(row.lastGoodAgeMs), row.errors === null ? '-' : String(row.errors), row.message]);
  return { data, text: data.length === 0 ? `there is no I/O module in ${site}` : table(['module', 'protocol', 'state', 'outputs', 'last good', 'errors', 'message'], rows) };
}

async function statisticsOf({ box }: CommandContext, name: string): Promise<Statistics> {
  return box.typed.get('/api/v1/sites/{site}/iomodules/{name}/statistics', { path: { site: await box.site(), name } });
}

const total = ({ silent, refused, lost, malformed }: Counted['errors']): number => silent + refused + lost + malformed;

/** Of the newest good sample of any channel; null where there is none. */
function youngest(counted: Counted | null): number | null {
  const ages = (counted?.channels ?? []).flatMap(({ lastGoodAgeMs }) => lastGoodAgeMs ?? []);
  return ages.length === 0 ? null : Math.min(...ages);
}

function ageText(ms: number | null): string {
  if (ms === null) return '-';
  return ms < 1000 ? `${Math.round(ms)} ms` : ms < 120_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}

async function show(context: CommandContext): Promise<Outcome> {
  if (context.options.watch !== true) return channelsNow(context);
  await untilInterrupted(async (signal) => {
    for (;;) {
      const { data, text } = await channelsNow(context);
      await context.print(data, `${text}\n`);
      await pause(WATCH_EVERY_MS, undefined, { signal });
    }
  });
  return { data: null, text: '' };
}

/** Raw values as the module has them, each with its age and who stands on it. */
async function channelsNow(context: CommandContext): Promise<Outcome> {
  const { box, args } = context;
  const [name = ''] = args;
  const path = { site: await box.site(), name };
  const background = { background: true };
  const [module, channels, counted] = await Promise.all([
    box.typed.get('/api/v1/sites/{site}/iomodules/{name}', { path, options: background }),
    box.typed.all('/api/v1/sites/{site}/iomodules/{name}/tags', { path, options: background }),
    box.typed.get('/api/v1/sites/{site}/iomodules/{name}/statistics', { path, options: background }),
  ]);
  // the box itself says how old a sample of a device is: its clock, as it stands in an answer, has no more than seconds
  const ages = new Map(counted.counted?.channels.map(({ channel, lastGoodAgeMs }) => [channel, lastGoodAgeMs]));
  const nowMs = await box.nowMs();
  const aged = channels.map((channel) => ({ ...channel, ageMs: ages.get(channel.channel) ?? (channel.ts === '' ? null : Math.max(0, nowMs - Date.parse(channel.ts))) }));
  const rows = aged.map((channel) => [
    channel.channel,
    channel.address,
    channel.direction,
    shownValue(channel.value),
    channel.quality,
    ageText(channel.ageMs),
    ...standingOn(channel),
  ]);
  const { state, message, outputs, credentials, connectivity } = module;
  const { nextAttemptAt } = connectivity;
  const text = [
    `${name} is ${state}${message === '' ? '' : `: ${message}`}; outputs are ${outputs.state}${outputs.reason === '' ? '' : `: ${outputs.reason}`}`,
    ...(nextAttemptAt === undefined ? [] : [awayText(name, Date.parse(nextAttemptAt) - nowMs)]),
    table(['channel', 'address', 'direction', 'raw', 'quality', 'age', 'owner', 'tags', 'held'], rows),
  ].join('\n');
  return { data: { module: name, state, message, outputs, credentials, ...(nextAttemptAt === undefined ? {} : { nextAttemptAt }), channels: aged }, text };
}

/** In an older box the member is not there, and nothing is said. */
function awayText(name: string, inMs: number): string {
  return `its device is tried again in ${Math.max(1, Math.ceil(inMs / 1000))} s; lineside io discover ${name} tries at once`;
}

/** Of a simulation alone: an input of a device shows what the device measures. */
async function force(context: CommandContext): Promise<Outcome> {
  const { box, args } = context;
  const [name = '', channel = ''] = args;
  const { protocol } = await box.typed.get('/api/v1/sites/{site}/iomodules/{name}', { path: { site: await box.site(), name } });
  if (protocol !== 'simulation')
    throw new CommandError(
      EXIT.refused,
      'not_simulated',
      `${name} is a device (${protocol}): nothing of it is forced. An output is written with lineside io write ${name} ${channel} VALUE`,
      { status: 400 },
    );
  return writeChannel(context);
}

async function statistics(context: CommandContext): Promise<Outcome> {
  const [name = ''] = context.args;
  const found = await statisticsOf(context, name);
  if (!found.counted) return { data: found, text: `nothing is counted of ${name}: ${found.reason}` };
  const { since, polls, latePolls, reconnects, failedConnects, errors, roundTrip, arrivals, channels } = found.counted;
  const rows = channels.map((row) => [
    row.channel,
    row.address,
    ageText(row.lastGoodAgeMs),
    String(row.samples),
    String(row.bad),
    ...(['silent', 'refused', 'lost', 'malformed'] as const).map((kind) => String(row.errors[kind])),
  ]);
  const trips = roundTrip.buckets.filter(({ count }) => count > 0).map(({ upToMs, count }) => `${upToMs === null ? 'longer' : `≤ ${upToMs} ms`} ${count}`);
  const text = [
    `${name} by ${found.probe} since ${since}: ${polls} polls, ${latePolls} late, ${reconnects} reconnects, ${failedConnects} failed connects`,
    `polls with errors: ${errors.silent} silent, ${errors.refused} refused, ${errors.lost} lost, ${errors.malformed} malformed`,
    `round trips: ${roundTrip.meanMs === null ? 'none' : `mean ${roundTrip.meanMs} ms, longest ${roundTrip.maxMs} ms; ${trips.join(', ')}`}`,
    ...(arrivals
      ? [`came by itself: ${arrivals.notifications} notifications, ${arrivals.keepAlives} keep-alives, ${arrivals.proofs} proofs; ${arrivals.rereads} rereads of all points`]
      : []),
    ...(found.lastExchange ? [`last exchange at ${found.lastExchange.at}: sent ${found.lastExchange.sent}; received ${found.lastExchange.received}`] : []),
    table(['channel', 'address', 'last good', 'samples', 'bad', 'silent', 'refused', 'lost', 'malformed'], rows),
  ].join('\n');
  return { data: found, text };
}

/** Bytes, for whoever hunts a broken wire. */
async function exchange({ box, args: [name = ''] }: CommandContext): Promise<Outcome> {
  const found = await box.typed.get('/api/v1/sites/{site}/iomodules/{name}/exchange', { path: { site: await box.site(), name } });
  const text =
    found.at === ''
      ? `no exchange with the device of ${name} is known`
      : [
          `last exchange with the device of ${name}, sent at ${found.at}`,
          `sent      ${found.sent}`,
          `received  ${found.received === '' ? 'nothing within the time-out' : `${found.received}  after ${Math.round(found.roundTripMs * 1000) / 1000} ms`}`,
        ].join('\n');
  return { data: found, text };
}

/** So many of the addresses that a device offers stand on a screen beside what was asked for. */
const OFFERED_SHOWN = 40;

async function discover({ box, args: [name = ''], options }: CommandContext): Promise<Outcome> {
  const found = await box.typed.post('/api/v1/sites/{site}/iomodules/{name}/discover', { path: { site: await box.site(), name } });
  const { device, channels, offered, validated, truncated } = found;
  const said = [device.vendor, device.product, device.revision, device.serial].filter((text) => text !== '').join(' ') || 'the device does not say what it is';
  const rows = channels.map((row) => [
    row.channel,
    row.address,
    row.error === undefined ? 'found' : 'not found',
    row.dataType ?? '',
    row.discoveredReadbackAddress ?? '',
    row.error ?? '',
  ]);
  const shown = options.all === true ? offered : offered.slice(0, OFFERED_SHOWN);
  const left = offered.length - shown.length;
  const text = [
    `${name}: ${said}; ${validated ? 'it has every channel as configured' : 'not everything is as configured'}`,
    table(['channel', 'address', '', 'type', 'reads back at', ''], rows),
    ...(offered.length === 0
      ? []
      : [
          `beside these it offers${truncated ? ' (the first of more)' : ''}:`,
          table(
            ['address', 'type', 'written', 'what'],
            shown.map((row) => [row.address, row.dataType ?? '', row.writable ? 'yes' : '', row.description]),
          ),
          ...(left > 0 ? [`${left} more: --all`] : []),
        ]),
  ].join('\n');
  return { data: found, text, ...(validated ? {} : { exitCode: EXIT.no }) };
}

async function restart({ box, args: [name = ''], options }: CommandContext): Promise<Outcome> {
  const body = { reason: textOf(options, 'reason') ?? '', acknowledgeFailSafe: options.acknowledgeFailSafe === true };
  if (name === '') {
    const done = await box.typed.post('/api/v1/system/services/{component}/restart', { path: { component: 'io' }, body });
    return { data: done, text: 'the probes of the box are restarted, one after the other' };
  }
  const done = await box.typed.post('/api/v1/sites/{site}/iomodules/{name}/ioprobe/restart', { path: { site: await box.site(), name }, body });
  return { data: done, text: `${done.pod} is restarted; it serves ${done.servedModules.join(', ')}` };
}

export const IO_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'io list [module]',
    about: 'the I/O modules of the site: state, outputs, age of the last good sample, errors; with a module whether its device answers, and the raw value of each channel',
    names: { module: ioModuleNames },
    examples: ['lineside io list', 'lineside io list plc'],
    run: list,
  },
  {
    typed: 'io show <module>',
    about: 'the channels of a module with raw value, quality, age, the block that owns an output, the tags that are the channel, and who holds it',
    options: [['--watch', 'again every second, until Ctrl-C']],
    goesOn: ({ watch }) => watch === true,
    names: { module: ioModuleNames },
    examples: ['lineside io show plc', 'lineside io show plc --watch'],
    run: show,
  },
  {
    typed: 'io statistics <module>',
    about: 'what the probe has counted of the way to the device: polls, round trips, errors by kind, connections',
    names: { module: ioModuleNames },
    examples: ['lineside io statistics plc'],
    run: statistics,
  },
  {
    typed: 'io exchange <module>',
    about: 'the bytes of the last request to the device of a module, and of its answer',
    names: { module: ioModuleNames },
    examples: ['lineside io exchange plc'],
    run: exchange,
  },
  {
    typed: 'io write <module> <channel> <value>',
    about:
      'write an output channel by hand; logic that drives it takes it back with its next write, which is told, and the setting gateway.tagWrite.modeCheckDeviceTags refuses it in Automatic. Of a simulated module any channel, an input too; it is forced until io release',
    names: { module: ioModuleNames },
    examples: ['lineside io write plc drain true'],
    run: writeChannel,
  },
  {
    typed: 'io force <module> <channel> <value>',
    about: 'force a channel of a simulated module, an input too, until io release; of a device nothing is forced',
    names: { module: ioModuleNames },
    examples: ['lineside io force vessel level 42'],
    run: force,
  },
  {
    typed: 'io release <module> [channel]',
    about: 'end the forcing of a channel of a simulated module, or of all where none is named',
    names: { module: ioModuleNames },
    examples: ['lineside io release vessel level'],
    run: releaseChannel,
  },
  {
    typed: 'io discover <module>',
    about: 'ask the device what it is, whether it has the configured channels, and what else it offers; exit code 1 where something is not as configured',
    names: { module: ioModuleNames },
    options: [['--all', `all addresses that the device offers, and not the first ${OFFERED_SHOWN}`]],
    examples: ['lineside io discover plc', 'lineside io discover plc --all'],
    run: discover,
  },
  {
    typed: 'io restart [module]',
    about: 'restart the probe that serves a module; without one every probe of the box, one after the other, while no unit is at work',
    options: [
      ['--reason <text>', 'why; goes on record'],
      ['--acknowledge-fail-safe', 'the outputs that are named may go to their fail-safe values meanwhile'],
    ],
    names: { module: ioModuleNames },
    examples: ['lineside io restart plc --reason "serial line hangs" --acknowledge-fail-safe'],
    run: restart,
  },
];
