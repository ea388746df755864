/** logs: what the runtime of a unit has to tell. */
import { setTimeout as pause } from 'node:timers/promises';
import { Cursors } from '../../client/pages.js';
import type { Answered, Call } from '../../client/typed.js';
import type { Box } from './box.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { EXIT, type Outcome, usage } from './outcome.js';
import { untilInterrupted } from './interrupt.js';
import { instantOf } from './times.js';
import { until } from './until.js';

type LogQuery = NonNullable<Call<'/api/v1/sites/{site}/units/{name}/runtime/logs', 'get'>['query']>;
type LogPage = Answered<'/api/v1/sites/{site}/units/{name}/runtime/logs', 'get'>;
type LogLine = LogPage['items'][number];

const LINES_DEFAULT = 200;
const LINES_MAX = 1000;
const LOOK_AGAIN_MS = 1000;
/** Lines of one millisecond that are remembered; of more, some are printed again. */
const MARKS_MAX = 10_000;

interface Asked {
  readonly site: string;
  readonly name: string;
  readonly level: LogQuery['level'];
}

async function logs(context: CommandContext): Promise<Outcome> {
  const { box, args, options } = context;
  const lines = Number(textOf(options, 'lines') ?? LINES_DEFAULT);
  if (!Number.isInteger(lines) || lines < 1 || lines > LINES_MAX) throw usage(`--lines is a whole number from 1 to ${LINES_MAX}`);
  const since = await instantOf(box, textOf(options, 'since'), '--since');
  // a level that there is not is refused by the box, which names those that there are
  const asked: Asked = { site: await box.site(), name: args[0] ?? '', level: textOf(options, 'level') as LogQuery['level'] };
  const told = new Told(context);
  if (since === undefined) await told.print(await lastLines(box, asked, lines));
  else for await (const items of pagesFrom(box, asked, since)) await told.print(items);
  if (options.follow === true) await untilInterrupted((signal) => follow(context, asked, told, signal));
  return { data: null, text: '', exitCode: EXIT.ok };
}

async function lastLines(box: Box, asked: Asked, limit: number): Promise<readonly LogLine[]> {
  const { items } = await page(box, asked, { order: 'desc', limit });
  return [...items].reverse();
}

/** However many there are, one page is held. */
async function* pagesFrom(box: Box, asked: Asked, from: string): AsyncGenerator<readonly LogLine[], void> {
  const cursors = new Cursors('');
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { items, nextCursor }: LogPage = await page(box, asked, { order: 'asc', from, limit: LINES_MAX, ...(cursor === '' ? {} : { cursor }) });
    yield items;
    cursor = nextCursor;
    if (cursor !== null) cursors.advance(cursor);
  }
}

function page({ typed }: Box, { site, name, level }: Asked, query: LogQuery) {
  return typed.get('/api/v1/sites/{site}/units/{name}/runtime/logs', {
    path: { site, name },
    query: { ...query, ...(level === undefined ? {} : { level }) },
    options: { background: true },
  });
}

/** Prints lines in the order of their times, and those once that the box tells again. */
class Told {
  readonly #print: CommandContext['print'];
  /** How often each line of the last time was printed: a unit may say the same twice within a millisecond. */
  #printed = new Map<string, number>();
  /** Of those, what is still told again. */
  #again = new Map<string, number>();
  #last: string | undefined;

  constructor({ print }: CommandContext) {
    this.#print = print;
  }

  /** Time of the last line; what is printed next was asked for from there on. Undefined before the first line. */
  again(): string | undefined {
    this.#again = new Map(this.#printed);
    return this.#last;
  }

  async print(lines: readonly LogLine[]): Promise<void> {
    for (const line of lines) {
      if (line.ts !== this.#last || this.#printed.size > MARKS_MAX) this.#printed.clear();
      const mark = JSON.stringify(line);
      const again = line.ts === this.#last ? (this.#again.get(mark) ?? 0) : 0;
      this.#last = line.ts;
      if (again > 0) this.#again.set(mark, again - 1);
      else {
        this.#printed.set(mark, (this.#printed.get(mark) ?? 0) + 1);
        await this.#print(line, lineText(line));
      }
    }
  }
}

/** Asked again from the time of the last line on. */
async function follow({ box, terminal }: CommandContext, asked: Asked, told: Told, signal: AbortSignal): Promise<void> {
  const begun = new Date(await box.nowMs()).toISOString();
  while (!signal.aborted) {
    // a box that starts again has more to tell than any other: it is waited for
    const begin = (): AsyncGenerator<readonly LogLine[], void> => pagesFrom(box, asked, told.again() ?? begun);
    let pages = begin();
    const look = (): Promise<IteratorResult<readonly LogLine[], void>> =>
      pages.next().catch((fault: unknown) => {
        pages = begin(); // one that has failed has ended
        throw fault;
      });
    for (;;) {
      const next = await until({ look, withinMs: undefined, late: () => new Error('there is no end'), terminal, signal });
      if (!next) return;
      if (next.done === true) break;
      await told.print(next.value);
    }
    await pause(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined);
  }
}

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
