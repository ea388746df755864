/**
 * Plays the `console` fences of a page as a person would type them: lines that begin with `$ ` are commands, the lines below are what is to be seen.
 *
 * Of what a command prints each such line has to be there, in their order; spaces count as one, a line may be the beginning of one that is
 * longer, and `…` stands for anything. Lines between them do not matter. A line `lineside: …` says that the command is refused. A command that
 * only looks is given again until it shows what stands there, as a person does who waits for a valve.
 */
import { readFileSync } from 'node:fs';
import type { Test } from 'tap';

export interface Printed {
  readonly text: string;
  readonly exitCode: number;
}

/** A command by its first word; the others as a shell would part them. */
export type Program = (words: readonly string[]) => Promise<Printed>;

export interface PlayingPage {
  readonly programs: Readonly<Record<string, Program>>;
  /** What of the page is another one here, at the moment of the command: ports, a code. */
  readonly instead: (text: string) => string;
  /** Each command when it has shown what it should. */
  readonly done?: (text: string) => void;
}

interface Command {
  readonly line: number;
  readonly text: string;
  readonly shows: readonly string[];
}

const LOOKS = /^lineside (get|describe|io list|tag list|tag read|batch show|batch list|batch preflight|recipe list|alarm list|prompt list)( |$)/;
/** The answer is no, and no failure: there is a difference. */
const SAYS_NO = /^lineside diff /;
/** The first question of a batch of the demonstration plant comes after half a minute. */
const SHOWN_MS_MAX = 90_000;

function commandsOf(source: string): readonly Command[] {
  const commands: { line: number; text: string; shows: string[] }[] = [];
  let isConsole = false;
  for (const [at, line] of source.split('\n').entries()) {
    if (line.startsWith('```')) isConsole = line === '```console';
    else if (isConsole && line.startsWith('$ ')) commands.push({ line: at + 1, text: line.slice(2), shows: [] });
    else if (isConsole && line.trim() !== '') commands.at(-1)?.shows.push(line.trim());
  }
  return commands;
}

/** Words in double or single quotes are one, as in a shell. */
function wordsOf(text: string): readonly string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) => double ?? single ?? plain ?? '');
}

function fits(printed: string, wanted: string): boolean {
  const parts = wanted.split('…').map((part) => part.replace(/\s+/g, ' ').replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(parts.join('.*')).test(printed.trim().replace(/\s+/g, ' '));
}

/** @returns the first line that is missing; undefined where all are there. */
function missing(text: string, wanted: readonly string[]): string | undefined {
  const lines = text.split('\n');
  let from = 0;
  for (const each of wanted) {
    const at = lines.findIndex((line, index) => index >= from && fits(line, each));
    if (at < 0) return each;
    from = at + 1;
  }
  return undefined;
}

/** @returns how many commands were given. */
export async function playPage(t: Test, page: string, { programs, instead, done }: PlayingPage): Promise<number> {
  const commands = commandsOf(readFileSync(page, 'utf8'));
  for (const { line, text, shows } of commands) {
    const [name = '', ...args] = wordsOf(instead(text));
    const program = programs[name];
    if (!program) throw new Error(`${page}:${line}: there is no ${name} here`);
    const begun = performance.now();
    let printed = await program(args);
    let absent = missing(printed.text, shows.map(instead));
    while (absent !== undefined && LOOKS.test(text) && performance.now() - begun < SHOWN_MS_MAX) {
      printed = await program(args);
      absent = missing(printed.text, shows.map(instead));
    }
    if (absent !== undefined) throw new Error(`${page}:${line}: $ ${text}\nshows no line "${absent}", but\n${printed.text}`);
    const isRefused = shows.some((each) => each.startsWith('lineside: '));
    const exitCode = isRefused ? printed.exitCode : SAYS_NO.test(text) ? 1 : 0;
    const isAsTold = isRefused ? printed.exitCode > 0 : printed.exitCode === exitCode;
    if (!isAsTold) throw new Error(`${page}:${line}: $ ${text}\nends with ${printed.exitCode}:\n${printed.text}`);
    done?.(text);
    t.pass(`${page}:${line}: ${text}`);
  }
  return commands.length;
}
