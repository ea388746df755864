/**
 * `lineside replay FILE`: executes a recording in a worker thread of its own and prints ports over time (ADR 0005).
 * Exit codes: 0 identical to what was recorded, 1 different or damaged, 2 not to be used at all.
 */
import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { ReplayBound, ReplayOutbound, ReplayRequest, ReplayRow } from '../../runtime/port.js';
import type { Value } from '../../runtime/vocabulary/data-types.js';
import { inside } from '../platform/base/assert.js';
import { parseInstant } from '../platform/base/instant.js';
import { kindOf } from '../platform/base/plain-file.js';

const THREAD = new URL('../../runtime/replay/replay-thread.js', import.meta.url);
const COLUMN_MIN = 12;

export interface ReplayOptions {
  readonly port?: readonly string[];
  readonly from?: string;
  readonly to?: string;
  readonly format?: 'table' | 'csv';
  readonly everyScan?: boolean;
  readonly list?: boolean;
}

export interface Printer {
  /** Values, to standard output. */
  out(text: string): void;
  /** What is said about them, to standard error. */
  say(text: string): void;
}

/** @param self product and engine that replay, as recordings name theirs. */
export async function replay(file: string, options: ReplayOptions, self: string, printer: Printer): Promise<number> {
  const ports = options.port ?? [];
  const [from, to] = [readBound(options.from), readBound(options.to)];
  if (from === null || to === null) {
    printer.say(`lineside: ${from === null ? '--from' : '--to'} is a scan number, or a time such as 2026-11-21T08:30:00Z`);
    return 2;
  }
  const stats = statSync(file, { throwIfNoEntry: false });
  const kind = stats ? kindOf(stats) : 'file'; // the thread tells of one that is not there
  if (kind !== 'file') {
    printer.say(`lineside: ${file} is a ${kind}, and a recording has to stand there: a file, as the API hands it out`);
    return 2;
  }
  const request: ReplayRequest = { file, ports, ...(from && { from }), ...(to && { to }), everyScan: options.everyScan ?? false, list: options.list ?? false };
  const print = options.format === 'csv' ? csvRow : tableRow;
  let code = 2;
  let maker = self;
  await run(request, (message) => {
    if (message.type === 'rows') printer.out(message.rows.map((row) => print(row, ports)).join(''));
    else if (message.type === 'verdict') code = tellVerdict(message, request.list, printer);
    else if (message.type === 'ports') tellPorts(message, request, options.format, printer);
    else {
      maker = message.madeBy || self;
      printer.say(`unit ${message.unit} of site ${message.site}, from scan ${message.scan + 1}, ${new Date(message.atMs).toISOString()}`);
    }
  });
  if (code !== 0 && maker !== self) printer.say(`lineside: it was recorded by ${maker}; this is ${self}`);
  return code;
}

/** Undefined without bound, null for a text that is none. */
function readBound(text: string | undefined): ReplayBound | undefined | null {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return { scan: Number(text) };
  const atMs = parseInstant(text);
  return Number.isNaN(atMs) ? null : { atMs };
}

function run(request: ReplayRequest, take: (message: ReplayOutbound) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(THREAD, { workerData: request });
    worker.on('message', take);
    worker.on('error', reject);
    worker.on('exit', () => resolve());
  });
}

function tellPorts(message: Extract<ReplayOutbound, { type: 'ports' }>, { ports, list }: ReplayRequest, format: ReplayOptions['format'], { out, say }: Printer): void {
  for (const name of message.unknown) say(`lineside: the plan at the start has no port or tag ${name}; --list names those there are`);
  if (list) out(message.ports.map(({ name, type }) => `${name}\t${type}\n`).join(''));
  else if (ports.length > 0) out(format === 'csv' ? `${['scan', 'time', ...ports.flatMap((name) => [name, `${name} quality`])].map(cell).join(',')}\n` : tableHead(ports));
}

function tellVerdict(verdict: Extract<ReplayOutbound, { type: 'verdict' }>, list: boolean, { say }: Printer): number {
  const { outcome, scans, checksums, ended, message } = verdict;
  if (outcome === 'identical') {
    const end = ended ? ' and the state at the end' : '; the recording has no end: it was cut off';
    if (!list) say(`${scans} scans, identical in ${checksums} checksums${end}`);
    return 0;
  }
  say(`lineside: ${message}`);
  return outcome === 'unusable' ? 2 : 1;
}

// ---------------------------------------------------------------- forms

function csvRow({ scan, atMs, values, qualities }: ReplayRow): string {
  const cells = values.flatMap((value, n) => [cell(textOf(value)), qualities[n]]);
  return `${[scan, new Date(atMs).toISOString(), ...cells].join(',')}\n`;
}

/** RFC 4180: quotes where a separator or a quote is inside. */
function cell(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const width = (name: string): number => Math.max(name.length, COLUMN_MIN);

function tableHead(ports: readonly string[]): string {
  return `${'scan'.padStart(9)}  ${'time'.padEnd(24)}${ports.map((name) => `  ${name.padStart(width(name))}`).join('')}\n`;
}

/** A value that is not Good bears its quality. */
function tableRow({ scan, atMs, values, qualities }: ReplayRow, ports: readonly string[]): string {
  const cells = values.map((value, n) => `${textOf(value)}${qualities[n] === 'Good' ? '' : ` ${qualities[n]}`}`);
  const columns = cells.map((text, n) => `  ${text.padStart(width(inside(ports, n, 'a row has a value for each port of the table')))}`);
  return `${String(scan).padStart(9)}  ${new Date(atMs).toISOString()}${columns.join('')}\n`;
}

function textOf(value: Value): string {
  return value === null ? '' : String(value);
}
