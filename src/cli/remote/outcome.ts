/**
 * What a command comes to: data for programs, a text for people, an exit code for scripts. With `--output json` every command prints one
 * envelope, in the same form whatever happens.
 */
import { ApiError } from '../../client/api.js';
import { plainLine } from './plain.js';

/** Exit codes, for scripts; docs/engineering/command-line.md tells them. */
export const EXIT = {
  ok: 0,
  /** There is a difference, a file is wrong, a batch has failed: the question was answered, with no. */
  no: 1,
  /** The command line itself, or a file of it, cannot be used. */
  usage: 2,
  /** The box refuses. */
  refused: 4,
  /** Nobody is signed in, or who is may not. */
  forbidden: 5,
  /** The box does not answer. */
  unreachable: 6,
  /** A fault of the command itself: EX_SOFTWARE of sysexits.h, as `lineside start` ends by one. */
  fault: 70,
} as const;

export const ENVELOPE_VERSION = 'lineside.io/cli/v1';

export interface Outcome {
  /** As it stands in `data` of the envelope. */
  readonly data: unknown;
  /** For people; without the last line end. */
  readonly text: string;
  /** The text is what was asked for itself, such as a record: only a terminal gets it otherwise than it is. */
  readonly isContent?: true;
  readonly exitCode?: number;
}

export type Envelope =
  | { readonly apiVersion: typeof ENVELOPE_VERSION; readonly command: string; readonly ok: true; readonly exitCode: number; readonly data: unknown }
  | { readonly apiVersion: typeof ENVELOPE_VERSION; readonly command: string; readonly ok: false; readonly exitCode: number; readonly error: ToldError };

export interface ToldError {
  readonly message: string;
  readonly code: string;
  /** Of the answer; absent where there was none. */
  readonly status?: number;
  /** What else the box says. */
  readonly [member: string]: unknown;
}

/** A command that cannot go on; the message is a sentence for the person who typed it. */
export class CommandError extends Error {
  readonly exitCode: number;
  readonly told: ToldError;

  constructor(exitCode: number, code: string, message: string, more: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = 'CommandError';
    this.exitCode = exitCode;
    this.told = { message, code, ...more };
  }
}

export function usage(message: string): CommandError {
  return new CommandError(EXIT.usage, 'usage', message);
}

/** What the system says of a file, in words; of others its own. */
const FILE_WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'you have no right to it',
  EPERM: 'you have no right to it',
  ENOTDIR: 'a part of it is a file, not a folder',
  EISDIR: 'is a folder',
  EEXIST: 'is there already',
  EROFS: 'its disk takes no writes',
  ENOSPC: 'the disk is full',
  EDQUOT: 'your share of the disk is full',
};

/** A port of TLS cuts plain HTTP off without a word: whoever signed in before the box had a certificate finds no way on by himself. */
function mayHaveTls(box: string, cause: unknown): string {
  if (cause !== 'UND_ERR_SOCKET' && cause !== 'ECONNRESET') return '';
  if (box.startsWith('https:')) return '';
  return ` Where it has TLS: lineside login https://${box.replace('http://', '')}`;
}

/** Whatever was thrown, as it is told; what nobody foresaw with the place where it happened. */
export function failureOf(fault: unknown, box: string): CommandError {
  if (fault instanceof CommandError) return fault;
  if (!(fault instanceof ApiError)) return ofFile(fault) ?? unforeseen(fault);
  const { status, code, body } = fault;
  if (status === 0) {
    const why = typeof body.cause === 'string' && body.cause !== '' ? ` (${body.cause})` : '';
    return new CommandError(EXIT.unreachable, 'no_answer', `${box} does not answer${why}: is the address right, and does it run?${mayHaveTls(box, body.cause)}`, { box });
  }
  const { error: _error, status: _status, code: _code, ...more } = body;
  if (status === 401) {
    const message = code === 'invalid_credentials' || code === 'account_locked' ? fault.message : `${fault.message}; sign in with: lineside login`;
    return new CommandError(EXIT.forbidden, code || 'unauthenticated', message, { status, ...more });
  }
  return new CommandError(status === 403 ? EXIT.forbidden : EXIT.refused, code || `http_${status}`, fault.message, { status, ...more });
}

/** Of a call to the system. */
function ofFile(fault: unknown): CommandError | undefined {
  const { code, syscall, path, dest, message } = (fault ?? {}) as NodeJS.ErrnoException & { readonly dest?: string };
  if (code === undefined || syscall === undefined) return undefined;
  const file = dest ?? path;
  const words = FILE_WORDS[code] ?? message;
  return new CommandError(EXIT.usage, 'file_unusable', file === undefined ? `a file cannot be used: ${words}` : `${file}: ${words}`, {
    cause: code,
    ...(file === undefined ? {} : { file }),
  });
}

function unforeseen(fault: unknown): CommandError {
  const { message, stack } = fault instanceof Error ? fault : new Error(String(fault));
  return new CommandError(EXIT.fault, 'fault', `this is a fault of the command itself, please report it: ${message}`, { stack: stack ?? '' });
}

export function envelopeOf(command: string, outcome: Outcome | CommandError): Envelope {
  if (outcome instanceof CommandError) return { apiVersion: ENVELOPE_VERSION, command, ok: false, exitCode: outcome.exitCode, error: outcome.told };
  return { apiVersion: ENVELOPE_VERSION, command, ok: true, exitCode: outcome.exitCode ?? EXIT.ok, data: outcome.data };
}

/** Columns as wide as their widest cell; the last one is not padded. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const shown = rows.map((row) => row.map(plainLine));
  const widths = head.map((title, column) => Math.max(title.length, ...shown.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(head), ...shown.map(line)].join('\n');
}

/** A part of a longer text, with its title; nothing where there are no lines. */
export function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${plainLine(line)}`)];
}
