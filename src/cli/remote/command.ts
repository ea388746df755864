/** A remote command is one row: how it is typed, what it means, what it does. lineside.ts makes commander of the rows, completion.ts the words of a shell. */
import type { Box } from './box.js';
import type { KnownBoxes } from './boxes.js';
import type { Outcome } from './outcome.js';
import type { Terminal } from './terminal.js';

export type Given = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

export interface CommandContext {
  readonly boxes: KnownBoxes;
  readonly terminal: Terminal;
  /** What was typed behind the words of the command; '' where it was left out. */
  readonly args: readonly string[];
  /** The words of an argument that takes several, each as it was typed. */
  readonly several: readonly string[];
  readonly options: Given;
  /** Signed in; made when it is asked for. */
  readonly box: Box;
  /** Of a command that goes on: each piece as it comes; fulfilled when the reader has taken what was printed. */
  readonly print: (data: unknown, text: string) => Promise<void>;
}

export interface CommandRow {
  /** `batch start <batch>`: words, then arguments; `[name]` may be left out, `<name...>` are several. */
  readonly typed: string;
  readonly about: string;
  /** `--reason <text>` and what it says. */
  readonly options?: readonly (readonly [flags: string, about: string])[];
  /** Needs no box: no `--box` and `--site`. */
  readonly isLocal?: true;
  /** Goes on until it is ended, and prints piece by piece: with `--output json` an envelope a line, and none for its good end. */
  readonly goesOn?: true | ((options: Given) => boolean);
  /** Lines below the help. */
  readonly examples?: readonly string[];
  /** What an argument may be, for the completion of a shell. */
  readonly words?: Readonly<Record<string, readonly string[]>>;
  /** Names on the box that an argument may be, for the completion of a shell. */
  readonly names?: Readonly<Record<string, (context: CommandContext) => Promise<readonly string[]>>>;
  run(context: CommandContext): Promise<Outcome>;
}

export function textOf(options: Given, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

export function textsOf(options: Given, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? (value as readonly string[]) : typeof value === 'string' ? [value] : [];
}
