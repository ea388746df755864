import { pino, type Logger } from 'pino';

export type Log = Logger;

/** One JSON line per entry on stdout for the journal; `LINESIDE_LOG_LEVEL=silent` in tests. */
export function createLog(): Log {
  return pino({
    level: process.env.LINESIDE_LOG_LEVEL ?? 'info',
    base: null,
    redact: ['password', 'token', 'key', 'authorization', '*.password', '*.token'],
  });
}
