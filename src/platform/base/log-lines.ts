/**
 * The last log lines by what they are about, for the routes that show them (decisions Q-UNIT-07, `logs`). A second
 * destination of the log: it sees the lines as they go out, so what is redacted there is redacted here.
 */
import type { WallMs } from './times.js';
import { BoundedLog } from './bounded-log.js';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Lines kept of one subject: some hours of ordinary trouble, well under a megabyte. */
const LINES_MAX = 1000;

export interface LogLine {
  readonly atMs: WallMs;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

type Fields = Readonly<Record<string, unknown>>;

export class LogLines {
  readonly #subjectOf: (fields: Fields) => string | undefined;
  readonly #lines = new Map<string, BoundedLog<LogLine>>();

  /** `subjectOf` names what a line is about; a line about nothing known is not kept. */
  constructor(subjectOf: (fields: Fields) => string | undefined) {
    this.#subjectOf = subjectOf;
  }

  of(subject: string): BoundedLog<LogLine> {
    let lines = this.#lines.get(subject);
    if (!lines) this.#lines.set(subject, (lines = new BoundedLog('log-lines', LINES_MAX)));
    return lines;
  }

  /** One line of JSON as the log writes it. */
  write(line: string): void {
    const { level, time, msg, ...fields } = JSON.parse(line) as Fields & { level: number; time: number; msg?: string };
    const subject = this.#subjectOf(fields);
    if (subject === undefined) return;
    this.of(subject).push({ atMs: time, level: LOG_LEVELS[Math.round(level / 10) - 1] ?? 'info', message: msg ?? '', fields });
  }
}
