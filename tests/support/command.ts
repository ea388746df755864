/** The built command as a process of a test: where it is, what an appliance of a test is set to, and what a process has printed. */
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { CHEAP_PASSWORDS } from './cheap-passwords.js';
import { ONE_SCAN_THREAD, ORDINARY_PRIORITY } from './thrifty-threads.js';

export const COMMAND = fileURLToPath(new URL('../../src/cli/lineside.js', import.meta.url));

type Environment = Readonly<Record<string, string>>;

/** On loopback and thrifty; `own` settings of the test win. Cheap passwords are for development mode only. */
export function applianceSettings(port: number, own: Environment): Environment {
  return {
    LINESIDE_GATEWAY__HTTPPORT: String(port),
    LINESIDE_GATEWAY__LISTEN: '127.0.0.1',
    ...ORDINARY_PRIORITY,
    ...ONE_SCAN_THREAD,
    ...(own.LINESIDE_GATEWAY__OPERATINGMODE === 'development' ? CHEAP_PASSWORDS : {}),
    ...own,
  };
}

export interface Watched {
  /** Of both streams, in the order in which it came. */
  readonly output: string;
  /** The exit code, null where a signal ended it; all that was printed is here by then. */
  readonly ended: Promise<number | null>;
  readonly hasEnded: boolean;
}

export function watched(child: ChildProcess): Watched {
  let output = '';
  let hasEnded = false;
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<number | null>((resolve) =>
    child.once('close', (code) => {
      hasEnded = true;
      resolve(code);
    }),
  );
  return {
    ended,
    get output() {
      return output;
    },
    get hasEnded() {
      return hasEnded;
    },
  };
}
