/** What an import tells of each part of a package that was not taken as it stands: nothing is left out without a word. */
import { shortText } from '../../platform/base/short-text.js';
import { LIMITS } from './limits.js';

/** `error`: it is not imported; `warning`: it is, with something to look at; `info`: it needs no attention. */
export const SEVERITIES = ['error', 'warning', 'info'] as const;

export interface ReportRow {
  readonly severity: (typeof SEVERITIES)[number];
  /** Names from the root of the file on, an attribute after `@`: `ModuleTypePackage/Dosing/Communication/InstanceList/Dose@WQC`. */
  readonly path: string;
  readonly message: string;
}

const PATH_LENGTH_MAX = 400;
const MESSAGE_LENGTH_MAX = 600;

/** A text of the package as people read it: one line, of a length. */
export function plain(text: string, lengthMax = 120): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return shortText(text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, ' '), lengthMax);
}

export class Report {
  readonly #rows: ReportRow[] = [];
  #left = 0;

  add(severity: ReportRow['severity'], path: string, message: string): void {
    if (this.#rows.length >= LIMITS.reportRows) this.#left += 1;
    else this.#rows.push({ severity, path: plain(path, PATH_LENGTH_MAX), message: plain(message, MESSAGE_LENGTH_MAX) });
  }

  addAll(rows: readonly ReportRow[]): void {
    for (const { severity, path, message } of rows) this.add(severity, path, message);
  }

  get rows(): readonly ReportRow[] {
    if (this.#left === 0) return this.#rows;
    return [...this.#rows, { severity: 'warning', path: '', message: `${this.#left} more rows are not told` }];
  }
}

/** The package cannot be read at all. The message is for whoever sent it. */
export class Unreadable extends Error {
  readonly path: string;

  constructor(path: string, message: string) {
    super(plain(message, MESSAGE_LENGTH_MAX));
    this.name = 'Unreadable';
    this.path = plain(path, PATH_LENGTH_MAX);
  }
}
