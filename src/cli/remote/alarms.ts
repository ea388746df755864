/** alarm: what stands, what was, and what an operator does about it. */
import type { Answered, Call } from '../../client/typed.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { type Outcome, table, usage } from './outcome.js';
import { parseDuration } from '../../platform/base/duration-text.js';
import { instantOf } from './times.js';

type Alarm = Answered<'/api/v1/sites/{site}/alarms', 'get'>[number];

const SEVERITIES = ['Critical', 'High', 'Medium', 'Low'] as const;
const EVENTS_DEFAULT = 50;

async function list({ box, options }: CommandContext): Promise<Outcome> {
  const site = await box.site();
  const unit = textOf(options, 'unit');
  const query = unit === undefined ? {} : { unit: [unit] };
  const all = await box.typed.all('/api/v1/sites/{site}/alarms', { path: { site }, query });
  const shown = all.filter((alarm) => options.all === true || (alarm.state !== 'ClearedAcknowledged' && !alarm.shelved));
  const hidden = all.length - shown.length;
  const more = hidden === 0 ? '' : `; ${hidden} shelved or resolved (--all)`;
  return { data: shown, text: shown.length === 0 ? `no alarm stands in ${site}${more}` : `${listed(shown)}${hidden === 0 ? '' : `\n${more.slice(2)}`}` };
}

/** The worst first, and of those the newest. */
function listed(alarms: readonly Alarm[]): string {
  const rank = ({ severity }: Alarm): number => SEVERITIES.indexOf(severity);
  const sorted = [...alarms].sort((a, b) => rank(a) - rank(b) || (a.activatedAt < b.activatedAt ? 1 : -1));
  const rows = sorted.map(({ name, severity, state, shelved, shelvedUntil, source, activatedAt, message }) => [
    name,
    severity,
    shelved ? `${state}, shelved until ${shelvedUntil}` : state,
    source,
    activatedAt,
    message,
  ]);
  return table(['alarm', 'severity', 'state', 'source', 'since', 'message'], rows);
}

async function acknowledge({ box, args: [name = ''], options }: CommandContext): Promise<Outcome> {
  const site = await box.site();
  const comment = textOf(options, 'comment');
  const body = comment === undefined ? {} : { comment };
  const done = await box.typed.post('/api/v1/sites/{site}/alarms/{name}/acknowledge', { path: { site, name }, body });
  return { data: done, text: `${name}: ${done.message === '' ? done.state : done.message}` };
}

async function shelve({ box, args: [name = '', duration = ''] }: CommandContext): Promise<Outcome> {
  if (parseDuration(duration) === null) throw usage(`${duration} is no duration: give one such as 30m or 1h30m`);
  const site = await box.site();
  const done = await box.typed.post('/api/v1/sites/{site}/alarms/{name}/shelve', { path: { site, name }, body: { duration } });
  return { data: done, text: `${name} is shelved until ${done.shelvedUntil}` };
}

async function unshelve({ box, args: [name = ''] }: CommandContext): Promise<Outcome> {
  const site = await box.site();
  const done = await box.typed.post('/api/v1/sites/{site}/alarms/{name}/unshelve', { path: { site, name } });
  return { data: done, text: `${name} is shelved no more: ${done.state}` };
}

type HistoryQuery = NonNullable<Call<'/api/v1/sites/{site}/alarmevents', 'get'>['query']>;

async function history({ box, args: [alarm = ''], options }: CommandContext): Promise<Outcome> {
  const site = await box.site();
  const limit = Number(textOf(options, 'limit') ?? EVENTS_DEFAULT);
  if (!Number.isInteger(limit) || limit < 1) throw usage('--limit is a whole number from 1');
  const given: Readonly<Record<string, string | undefined>> = {
    from: await instantOf(box, textOf(options, 'since'), '--since'),
    unit: textOf(options, 'unit'),
    severity: textOf(options, 'severity'),
    alarm: alarm === '' ? undefined : alarm,
  };
  // words that there are not are refused by the box, which names those that there are
  const query = { order: 'desc', limit, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) } as HistoryQuery;
  const { items } = await box.typed.get('/api/v1/sites/{site}/alarmevents', { path: { site }, query });
  const rows = items.map(({ timestamp, severity, event, alarm: name, displayName = '', message }) => [timestamp, severity, event, name, displayName, message]);
  return { data: items, text: rows.length === 0 ? `no alarm event in ${site}` : table(['time', 'severity', 'event', 'alarm', 'by', 'message'], rows) };
}

async function alarmNames({ box }: CommandContext): Promise<readonly string[]> {
  const site = await box.site();
  return (await box.typed.all('/api/v1/sites/{site}/alarms', { path: { site } })).map(({ name }) => name);
}

const names = { alarm: alarmNames };

export const ALARM_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'alarm list',
    about: 'alarms that stand or were not acknowledged, the worst first',
    options: [
      ['--all', 'also those that are shelved, and those that are resolved'],
      ['--unit <unit>', 'of one unit'],
    ],
    run: list,
  },
  { typed: 'alarm ack <alarm>', about: 'acknowledge an alarm', options: [['--comment <text>', 'goes on record']], names, run: acknowledge },
  {
    typed: 'alarm shelve <alarm> <duration>',
    about: 'silence an acknowledged alarm for a time; it goes on standing',
    names,
    examples: ['lineside alarm shelve rx101-high-temp 30m'],
    run: shelve,
  },
  { typed: 'alarm unshelve <alarm>', about: 'end the shelving of an alarm', names, run: unshelve },
  {
    typed: 'alarm history [alarm]',
    about: 'what alarms did, newest first',
    options: [
      ['--since <time>', 'a duration back from now, such as 8h, or a time such as 2026-11-21T08:30:00Z'],
      ['--unit <unit>', 'of one unit'],
      ['--severity <severity>', SEVERITIES.join(', ')],
      ['--limit <number>', `${EVENTS_DEFAULT} where it is left out`],
    ],
    names,
    run: history,
  },
];
