/** watch: what happens on a site, a line a change, until Ctrl-C. */
import { setTimeout as pause } from 'node:timers/promises';
import { isPassing } from '../../client/passing.js';
import { nearest } from '../../platform/base/nearest.js';
import { Refusal } from '../../platform/base/refusal.js';
import { type Glob, parseGlob } from '../../platform/stream/glob.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { followEvents, type StreamFrame } from './event-stream.js';
import { untilInterrupted } from './interrupt.js';
import { Latest } from './latest.js';
import { unitNames } from './logs.js';
import { type Outcome, usage } from './outcome.js';
import { type Prompt, promptLine } from './prompts.js';

interface Topic {
  readonly about: string;
  /** Undefined of what has no channel and is asked for. */
  readonly channel: 'alarms' | 'cmhealth' | 'states' | undefined;
  /** Of the frames of `states`. */
  readonly kinds?: readonly string[];
}

const TOPICS: Readonly<Record<string, Topic>> = {
  batches: { about: 'states of batches', channel: 'states', kinds: ['Batch'] },
  phases: { about: 'states of phases', channel: 'states', kinds: ['Phase'] },
  elements: { about: 'states of procedures, unit procedures, operations and phases', channel: 'states', kinds: ['Procedure', 'UnitProcedure', 'Operation', 'Phase'] },
  units: { about: 'states of units', channel: 'states', kinds: ['Unit'] },
  alarms: { about: 'alarms', channel: 'alarms' },
  prompts: { about: 'what the process asks people', channel: undefined },
  modules: { about: 'health of control modules', channel: 'cmhealth' },
};
const DEFAULT_TOPICS = ['batches', 'phases', 'units', 'alarms', 'prompts'];
const PROMPTS_EVERY_MS = 1000;
const TOLD_MAX = 20_000;
const BATCH_IDS_MAX = 1000;

interface Wish {
  readonly topics: readonly string[];
  readonly kinds: ReadonlySet<string>;
  readonly tags: readonly Glob[];
}

/** A word of a topic, or the pattern of addresses of tags. */
function wishOf(given: readonly string[]): Wish {
  const words = given.length === 0 ? DEFAULT_TOPICS : given;
  const topics = words.filter((word) => Object.hasOwn(TOPICS, word));
  const patterns = words.filter((word) => !topics.includes(word));
  for (const word of patterns) {
    if (/[.:*?[]/.test(word)) continue;
    const near = nearest(word, Object.keys(TOPICS));
    throw usage(
      `${word} is nothing to watch${near === undefined ? ';' : `; did you mean ${near}?`} known are ${Object.keys(TOPICS).join(', ')}, and addresses of tags such as rx101-tt.pv or 'rx101-*.pv'`,
    );
  }
  return { topics, kinds: new Set(topics.flatMap((topic) => TOPICS[topic]?.kinds ?? [])), tags: patterns.map(globOf) };
}

function globOf(pattern: string): Glob {
  try {
    return parseGlob(pattern);
  } catch (fault) {
    if (fault instanceof Refusal) throw usage(`${pattern}: ${fault.message.replace(/^addressPattern /, 'the pattern ')}`);
    throw fault;
  }
}

async function watch(context: CommandContext): Promise<Outcome> {
  const { box, args, options } = context;
  const wish = wishOf((args[0] ?? '').split(' ').filter((word) => word !== ''));
  const unit = textOf(options, 'unit');
  const site = await box.site();
  const channels = [...new Set([...wish.topics.flatMap((topic) => TOPICS[topic]?.channel ?? []), ...(wish.tags.length > 0 ? ['tags'] : [])])];
  const watched = new Watched(context, wish, site);
  await untilInterrupted(async (signal) => {
    const ended = new AbortController();
    const either = AbortSignal.any([signal, ended.signal]);
    const parts = [
      ...(channels.length > 0 ? [followEvents(box, { site, channels, unit }, watched, either)] : []),
      ...(wish.topics.includes('prompts') ? [watched.askForPrompts(unit, either)] : []),
    ];
    try {
      await Promise.all(parts);
    } finally {
      ended.abort();
    }
  });
  return { data: null, text: '' };
}

/** What was printed of each object, so that a change is a line and what is told again is none. */
class Watched {
  readonly #context: CommandContext;
  readonly #wish: Wish;
  readonly #site: string;
  // each batch has elements of its own: a watch of months must not keep them all
  readonly #told = new Latest(TOLD_MAX);
  readonly #batchIDs = new Latest(BATCH_IDS_MAX);

  constructor(context: CommandContext, wish: Wish, site: string) {
    this.#context = context;
    this.#wish = wish;
    this.#site = site;
  }

  async onFrame(frame: StreamFrame): Promise<void> {
    if (frame.type === 'gap') return this.#print(frame, `${now()}  gap  ${String(frame.dropped)} events were not told to this reader: what is shown may be old`);
    const shown = await this.#lineOf(frame);
    if (!shown) return;
    const { key, state, line } = shown;
    const before = this.#told.get(key);
    if (before === state) return;
    this.#told.set(key, state);
    // what is there at the beginning is told where something is going on
    if (before === undefined && frame.replay === true && (this.#context.options.new === true || !isWorthTelling(frame))) return;
    await this.#print(frame, line);
  }

  async onLost(why: string): Promise<void> {
    await this.#print({ type: 'lost', reason: why }, `${now()}  lost  ${why}; trying again`);
  }

  async onBack(): Promise<void> {
    await this.#print({ type: 'back' }, `${now()}  back  the box answers again; what changed meanwhile follows`);
  }

  /** Prompts have no channel: they are asked for, and what is new or gone is told. */
  async askForPrompts(unit: string | undefined, signal: AbortSignal): Promise<void> {
    const { box, options } = this.#context;
    let known: ReadonlyMap<string, Prompt> | undefined;
    while (!signal.aborted) {
      const call = { path: { site: this.#site }, query: unit === undefined ? {} : { unit }, options: { background: true } };
      const found: readonly Prompt[] | undefined = await box.typed.all('/api/v1/sites/{site}/prompts', call).catch((fault: unknown) => {
        // whoever follows the events says that the box does not answer; alone, the next time tells
        if (isPassing(fault)) return undefined;
        throw fault;
      });
      if (found) {
        const before = known;
        known = new Map(found.map((prompt) => [`${prompt.phase}/${prompt.id}`, prompt]));
        for (const [key, prompt] of known) {
          if (before?.has(key) || (!before && options.new === true)) continue;
          await this.#print({ type: 'prompt', state: 'waiting', prompt }, `${prompt.timestamp}  prompt  ${prompt.batchID} asks ${promptLine(prompt)}`);
        }
        for (const [key, prompt] of before ?? []) {
          if (!known.has(key)) await this.#print({ type: 'prompt', state: 'gone', prompt }, `${now()}  prompt  ${key} is answered, or no longer asked`);
        }
      }
      await pause(PROMPTS_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #print(data: object, line: string): Promise<void> {
    await this.#context.print(data, line);
  }

  async #lineOf(frame: StreamFrame): Promise<{ readonly key: string; readonly state: string; readonly line: string } | undefined> {
    const of = (member: string): string => (frame[member] === null || frame[member] === undefined ? '' : String(frame[member]));
    const at = of('ts') === '' ? now() : of('ts');
    if (frame.type === 'tag') {
      const address = of('address');
      if (!this.#wish.tags.some((matches) => matches(address))) return undefined;
      const state = `${JSON.stringify(frame.value)} ${of('quality')}`;
      return { key: `tag ${of('unit')} ${address}`, state, line: `${at}  tag  ${address} = ${state.replace(/ Good$/, '')}` };
    }
    if (frame.type === 'alarm') {
      const shelved = frame.shelved === true ? `, shelved until ${of('shelvedUntil')}` : '';
      return { key: `alarm ${of('name')}`, state: `${of('state')}${shelved}`, line: `${at}  alarm  ${of('name')} ${of('severity')} ${of('state')}${shelved}  ${of('message')}` };
    }
    if (frame.type === 'cmhealth') {
      const state = `${of('state')}${of('message') === '' ? '' : `: ${of('message')}`}`;
      return { key: `module ${of('name')}`, state, line: `${at}  module  ${of('name')} ${state}` };
    }
    if (frame.type !== 'state' || !this.#wish.kinds.has(of('kind'))) return undefined;
    const from = of('previousState') === '' || of('previousState') === of('state') ? '' : `${of('previousState')} -> `;
    const mode = of('mode') === 'Automatic' ? '' : ` (${of('mode')})`;
    const name = of('kind') === 'Batch' ? await this.#batchID(of('name')) : of('name');
    return { key: `${of('kind')} ${of('name')}`, state: `${of('state')}${mode}`, line: `${at}  ${of('kind')}  ${name} ${from}${of('state')}${mode}` };
  }

  /** What people call it. */
  async #batchID(name: string): Promise<string> {
    const known = this.#batchIDs.get(name);
    if (known !== undefined) return known;
    const call = { path: { site: this.#site, name }, options: { background: true } };
    const { batchID } = await this.#context.box.typed.get('/api/v1/sites/{site}/batches/{name}', call).catch(() => ({ batchID: name }));
    this.#batchIDs.set(name, batchID);
    return batchID;
  }
}

/** Of a snapshot: what is neither at rest nor over. */
function isWorthTelling({ type, state }: StreamFrame): boolean {
  if (type === 'state') return !['Idle', 'Complete', 'Stopped', 'Aborted', 'Failed', ''].includes(String(state));
  if (type === 'alarm') return state !== 'ClearedAcknowledged';
  return type !== 'cmhealth' || state !== 'Running';
}

function now(): string {
  return new Date().toISOString();
}

export const WATCH_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'watch [what...]',
    about: `what happens on a site, a line a change, until Ctrl-C; with --output json an envelope a line. What: ${Object.keys(TOPICS).join(', ')}, or addresses of tags with * for any run of characters`,
    options: [
      ['--unit <unit>', 'of one unit'],
      ['--new', 'leave out what stands when it begins'],
    ],
    goesOn: true,
    words: { what: Object.keys(TOPICS) },
    names: { unit: unitNames },
    examples: ['lineside watch', 'lineside watch batches alarms', "lineside watch 'rx101-tt.*' --output json"],
    run: watch,
  },
];
