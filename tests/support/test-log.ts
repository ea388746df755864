/** The appliance's own log, whose entries a test is told; nothing is printed. */
import { pino } from 'pino';
import type { Log } from '../../src/platform/base/log.js';

export interface LogEntry {
  readonly level: 'info' | 'warn' | 'error';
  readonly msg?: string;
  readonly [field: string]: unknown;
}

export function testLog(told: (entry: LogEntry) => unknown = () => undefined): Log {
  return pino({ base: null, timestamp: false, level: 'info', formatters: { level: (level) => ({ level }) } }, { write: (line: string) => told(JSON.parse(line) as LogEntry) });
}
