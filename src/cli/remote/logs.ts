/** logs: what the runtime of a unit has to tell. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Answered, Call } from '../../client/typed.js';
import type { Box } from './box.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { EXIT, type Outcome, usage } from './outcome.js';
import { untilInterrupted } from './interrupt.js';
import { instantOf } from './times.js';
import { until } from './until.js';

type LogQuery = NonNullable<Call<'/api/v1/sites/{site}/units/{name}/runtime/logs', 'get'>['query']>;
type LogLine = Answered<'/api/v1/sites/{site}/units/{name}/runtime/logs', 'get'>['items'][number];

const LINES_DEFAULT = 200;
const LINES_MAX = 1000;
const LOOK_AGAIN_MS = 1000;

interface Asked {
  readonly site: string;
  readonly name: string;
  readonly level: LogQuery['level'];
}

async function logs(context: CommandContext): Promise<Outcome> {
  const { box, args, options, print } = context;
  const lines = Number(textOf(options, 'lines') ?? LINES_DEFAULT);
  if (!Number.isInteger(lines) || lines < 1 || lines > LINES_MAX) throw usage(`--lines is a whole number from 1 to ${LINES_MAX}`);
  const since = await instantOf(box, textOf(options, 'since'), '--since');
  // a level that there is not is refused by the box, which names those that there are
  const asked: Asked = { site: await box.site(), name: args[0] ?? '', level: textOf(options, 'level') as LogQuery['level'] };
  const first = since === undefined ? await lastLines(box, asked, lines) : await linesFrom(box, asked, since);
  for (const line of first) await print(line, lineText(line));
  if (options.follow !== true) return { data: first, text: '' };
  await untilInterrupted((signal) => follow(context, asked, first, signal));
  return { data: null, text: '', exitCode: EXIT.ok };
}

async function lastLines(box: Box, asked: Asked, limit: number): Promise<readonly LogLine[]> {
  const { items } = await page(box, asked, { order: 'desc', limit });
  return [...items].reverse();
}

async function linesFrom(box: Box, asked: Asked, from: string): Promise<readonly LogLine[]> {
  const found: LogLine[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { items, nextCursor } = await page(box, asked, { order: 'asc', from, limit: LINES_MAX, ...(cursor === undefined ? {} : { cursor }) });
    found.push(...items);
    cursor = nextCursor;
  }
  return found;
}

function page({ typed }: Box, { site, name, level }: Asked, query: LogQuery) {
  return typed.get('/api/v1/sites/{site}/units/{name}/runtime/logs', {
    path: { site, name },
    query: { ...query, ...(level === undefined ? {} : { level }) },
    options: { background: true },
  });
}

/** Asked again from the time of the last line on; those of the same millisecond that were printed are left out. */
async function follow({ box, print, terminal }: CommandContext, asked: Asked, first: readonly LogLine[], signal: AbortSignal): Promise<void> {
  let from = first.at(-1)?.ts ?? new Date(await box.nowMs()).toISOString();
  let printed = new Set(first.filter(({ ts }) => ts === from).map(markOf));
  while (!signal.aborted) {
    // a box that starts again has more to tell than any other: it is waited for
    const found = await until({ look: () => linesFrom(box, asked, from), withinMs: undefined, late: () => new Error('there is no end'), terminal, signal });
    if (!found) return;
    for (const line of found.filter((each) => each.ts !== from || !printed.has(markOf(each)))) await print(line, lineText(line));
    const last = found.at(-1)?.ts ?? from;
    printed = new Set([...(last === from ? printed : []), ...found.filter(({ ts }) => ts === last).map(markOf)]);
    from = last;
    await pause(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined);
  }
}

const markOf = (line: LogLine): string => JSON.stringify(line);

function lineText({ ts, level, message, fields }: LogLine): string {
  const more = Object.entries(fields).map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return [ts, level.padEnd(5), message, ...more].join('  ');
}

export async function unitNames({ box }: CommandContext): Promise<readonly string[]> {
  const site = await box.site();
  return (await box.typed.all('/api/v1/sites/{site}/units', { path: { site } })).map(({ name }) => name);
}

export const LOG_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'logs <unit>',
    about: 'what the runtime of a unit has written down, a line each; with --output json an envelope a line',
    options: [
      ['-f, --follow', 'go on with what comes, until Ctrl-C'],
      ['--since <time>', 'a duration back from now, such as 10m, or a time such as 2026-11-21T08:30:00Z'],
      ['--lines <number>', `the last ones, where no time is given; ${LINES_DEFAULT}`],
      ['--level <level>', 'these and worse: trace, debug, info, warn, error, fatal'],
    ],
    goesOn: true,
    names: { unit: unitNames },
    examples: ['lineside logs rx101 --since 10m --level warn', 'lineside logs rx101 --follow'],
    run: logs,
  },
];
