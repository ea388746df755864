/** A loop check from the terminal: each step is asked for, shown as it is looked at, and ended with Ctrl-C. */
import { setTimeout as pause } from 'node:timers/promises';
import { ApiError } from '../../client/api.js';
import { isPassing } from '../../client/passing.js';
import type { CommandContext } from './command.js';
import { shownValue } from './channels.js';
import type { Dialogue } from './terminal.js';
import { type LoopChannel, type LoopSheet, rawOf, readingLine, stepTitle, verdictLine } from './loop-sheet.js';

const LOOK_EVERY_MS = 200;
const CHECK = '/api/v1/sites/{site}/iomodules/{name}/loop-checks/{id}';
/** Signs within one time-out, where the command gives them itself. */
const SIGNS = 3;
const MOVED_MAX = 6;
/** Of its value: noise of a measurement is no movement. */
const MOVED_PART = 0.01;

interface Place {
  readonly site: string;
  readonly name: string;
  readonly id: string;
}

/** `confirm`: a person confirms each step; `hold`: a person gives signs; `yes`: the command gives them for as long as it runs. */
export type Attending = 'confirm' | 'hold' | 'yes';

export class LiveCheck {
  readonly #context: CommandContext;
  readonly #path: Place;
  readonly #attending: Attending;
  /** Steps and outputs whose result was told. */
  readonly #told = new Set<string>();
  #isAway = false;
  #around: ReadonlyMap<string, string | number | boolean> = new Map();

  constructor(context: CommandContext, path: Place, attending: Attending) {
    this.#context = context;
    this.#path = path;
    this.#attending = attending;
  }

  /** To its end, whatever that is. `interrupted`: Ctrl-C, where no question is open. @returns the sealed sheet, or one that waits for its device. */
  async conduct(interrupted: AbortSignal): Promise<LoopSheet> {
    const dialogue = this.#attending === 'yes' ? undefined : this.#context.terminal.converse();
    const ended = dialogue ? AbortSignal.any([interrupted, dialogue.ended]) : interrupted;
    const over = new AbortController();
    try {
      // the check is aborted at once, whatever is under way here
      const aborting = aborted(ended, over.signal).then((isAborted) => (isAborted ? this.#abort('Ctrl-C at the terminal') : undefined));
      const signs = this.#attending === 'confirm' ? Promise.resolve() : this.#giveSigns(dialogue, AbortSignal.any([ended, over.signal]));
      const conducted = this.#attending === 'confirm' ? this.#confirm(dialogue, ended, over.signal) : this.#look((now) => now.phase !== 'Running', over.signal);
      const [sheet] = await Promise.all([conducted.finally(() => over.abort()), aborting, signs]);
      return await this.#ending(sheet);
    } finally {
      over.abort();
      dialogue?.close();
    }
  }

  /** Step after step, each asked for. */
  async #confirm(dialogue: Dialogue | undefined, ended: AbortSignal, over: AbortSignal): Promise<LoopSheet> {
    for (;;) {
      const sheet = await this.#look(({ phase, next }) => phase !== 'Running' || next?.isWaiting === true, over);
      if (over.aborted || sheet.phase !== 'Running' || !sheet.next || !dialogue) return sheet;
      const { step } = sheet.next;
      const answer = await this.#answerOf(dialogue, sheet);
      if (answer === 'abort') await this.#abort('aborted at the terminal');
      else if (answer !== undefined) await this.#send(() => this.#post('confirm', { step, note: answer.note }));
      if (ended.aborted || answer === 'abort') return this.#look(({ phase }) => phase !== 'Running', over);
    }
  }

  /** Undefined: there is nothing to answer any more. */
  async #answerOf(dialogue: Dialogue, sheet: LoopSheet): Promise<'abort' | { readonly note: string } | undefined> {
    const { next } = sheet;
    const channel = sheet.channels.find((each) => each.channel === next?.channel);
    if (!next || !channel) return undefined;
    await this.#takeAround(sheet);
    const question = `step ${next.step}: set ${channel.channel} to ${rawOf(channel, next.value)}? [Enter, n NOTE, a to abort] `;
    for (;;) {
      const gone = new AbortController();
      const watched = this.#look((now) => now.phase !== 'Running' || now.next?.step !== next.step, gone.signal).finally(() => gone.abort());
      const asked = dialogue.ask(question, gone.signal).finally(() => gone.abort());
      const [line] = await Promise.all([asked, watched]);
      if (line === undefined) return undefined;
      const word = line.trim();
      if (word === '') return { note: '' };
      if (word === 'a' || word === 'abort') return 'abort';
      if (/^n\s+\S/.test(word)) return { note: word.replace(/^n\s+/, '') };
      this.#context.terminal.say(`${word} is no answer: Enter sets the output, n and a text sets it with a note of what is seen, a aborts the check`);
    }
  }

  /** Of a check that goes on by itself while somebody is there. */
  async #giveSigns(dialogue: Dialogue | undefined, over: AbortSignal): Promise<void> {
    const { attendTimeoutMs } = await this.#read();
    if (dialogue) this.#context.terminal.say(`Enter is the sign that you are there, within ${attendTimeoutMs / 1000} s each time; a aborts`);
    while (!over.aborted) {
      if (dialogue) {
        const line = await dialogue.ask('', over);
        if (line === undefined) return;
        if (['a', 'abort'].includes(line.trim())) return this.#abort('aborted at the terminal');
      } else await pause(attendTimeoutMs / SIGNS, undefined, { signal: over }).catch(() => undefined);
      if (!over.aborted) await this.#send(() => this.#post('confirm', {}));
    }
  }

  /** Until the outputs are back, or nothing but the device is waited for. */
  async #ending(sheet: LoopSheet): Promise<LoopSheet> {
    if (sheet.phase === 'Sealed') return sheet;
    this.#context.terminal.say('the check has ended; its outputs go back');
    const ended = new AbortController();
    const patience = setTimeout(() => ended.abort(), sheet.settleMs + RETURN_MS);
    try {
      return await this.#look(({ phase }) => phase === 'Sealed', ended.signal);
    } finally {
      clearTimeout(patience);
    }
  }

  async #abort(reason: string): Promise<void> {
    await this.#send(() => this.#post('abort', { reason }));
  }

  /** What comes too late is no error: the next look tells. */
  async #send(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (fault) {
      if (fault instanceof ApiError && (fault.code === 'loop_check_ended' || fault.code === 'loop_check_step')) return;
      if (!isPassing(fault)) throw fault;
      this.#context.terminal.say('the box does not answer; without a sign the check ends by itself');
    }
  }

  async #look(isWanted: (sheet: LoopSheet) => boolean, ended?: AbortSignal): Promise<LoopSheet> {
    let last: LoopSheet | undefined;
    for (;;) {
      try {
        last = await this.#read();
        if (this.#isAway) this.#context.terminal.say('the box answers again');
        this.#isAway = false;
        await this.#tell(last);
        if (isWanted(last)) return last;
      } catch (fault) {
        if (!isPassing(fault)) throw fault;
        if (!this.#isAway) this.#context.terminal.say('the box does not answer; without a sign the check ends by itself');
        this.#isAway = true;
      }
      if (ended?.aborted && last) return last;
      await pause(LOOK_EVERY_MS, undefined, ended ? { signal: ended } : {}).catch(() => undefined);
      if (ended?.aborted && last) return last;
    }
  }

  /** What is new on the sheet. */
  async #tell(sheet: LoopSheet): Promise<void> {
    for (const channel of sheet.channels) {
      for (const step of channel.steps) {
        if (!this.#isNew(`step ${step.step}`) || step.readings.length === 0) continue;
        this.#told.add(`step ${step.step}`);
        await this.#print({ step, channel: channel.channel }, [
          `step ${step.step}: ${stepTitle(channel, step)} is set`,
          ...step.readings.map((reading) => `  ${reading.agrees ? 'ok ' : 'NO '} ${readingLine(channel, reading)}`),
          ...(await this.#movedAround(sheet, channel)).map((line) => `      ${line}`),
        ]);
      }
      if (channel.outcome === 'not-checked' || !this.#isNew(`channel ${channel.channel}`)) continue;
      this.#told.add(`channel ${channel.channel}`);
      await this.#print({ channel: channel.channel, outcome: channel.outcome, message: channel.message }, [`  = ${verdictLine(channel)}`]);
    }
  }

  #isNew(what: string): boolean {
    return !this.#told.has(what);
  }

  async #print(data: object, lines: readonly string[]): Promise<void> {
    // an envelope of the whole check follows
    if (this.#context.options.output !== 'json') await this.#context.print(data, lines.join('\n'));
  }

  // -------------------------------------------------------------- neighbours

  async #channelsAround({ module, neighbours }: LoopSheet): Promise<ReadonlyMap<string, string | number | boolean>> {
    const { site } = this.#path;
    const lists = await Promise.all(
      [module, ...neighbours].map(async (name) => {
        const call = { path: { site, name }, options: { background: true } };
        const channels = await this.#context.box.typed.all('/api/v1/sites/{site}/iomodules/{name}/tags', call).catch(() => []);
        return channels.flatMap(({ channel, value, quality }) =>
          value === null || quality !== 'Good' ? [] : [[name === module ? channel : `${name}:${channel}`, value] as const],
        );
      }),
    );
    return new Map(lists.flat());
  }

  async #takeAround(sheet: LoopSheet): Promise<void> {
    this.#around = await this.#channelsAround(sheet);
  }

  /** Channels beside the loop that have another value than before the step. */
  async #movedAround(sheet: LoopSheet, { channel, steps }: LoopChannel): Promise<readonly string[]> {
    const before = this.#around;
    await this.#takeAround(sheet);
    const own = new Set([channel, ...steps.flatMap(({ readings }) => readings.map((reading) => reading.channel))]);
    const moved = [...this.#around].flatMap(([name, value]) => {
      const was = before.get(name);
      return own.has(name) || was === undefined || !hasMoved(was, value) ? [] : [`beside it ${name} went from ${shownValue(was)} to ${shownValue(value)}`];
    });
    return moved.length <= MOVED_MAX ? moved : [...moved.slice(0, MOVED_MAX), `and ${moved.length - MOVED_MAX} more`];
  }

  // -------------------------------------------------------------- routes

  #read(): Promise<LoopSheet> {
    return this.#context.box.typed.get(CHECK, { path: { ...this.#path }, options: { background: true } });
  }

  #post(what: 'confirm' | 'abort', body: object): Promise<unknown> {
    return this.#context.box.typed.post(`${CHECK}/${what}`, { path: { ...this.#path }, body });
  }
}

/** How long outputs that can go back are waited for. */
const RETURN_MS = 10_000;

function hasMoved(before: string | number | boolean, now: string | number | boolean): boolean {
  if (typeof before !== 'number' || typeof now !== 'number') return before !== now;
  return Math.abs(now - before) > MOVED_PART * Math.max(Math.abs(before), Math.abs(now));
}

/** Fulfilled with whether the first of them came. */
function aborted(signal: AbortSignal, over: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(true);
    signal.addEventListener('abort', () => resolve(true), { once: true });
    over.addEventListener('abort', () => resolve(false), { once: true });
    if (over.aborted) resolve(false);
  });
}
