/** The appliance as systemd/lineside.service starts it: the words of its ExecStart, with the program of this checkout and a socket of the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { freePort } from './appliance-process.js';
import { applianceSettings, COMMAND, watched } from './command.js';
import { NotifyPeer } from './notify-peer.js';
import { readUnit, wordsOf } from './unit-file.js';

export interface ServiceOptions {
  /** Of the test; the data directory is below it. */
  readonly folder: string;
  /** Of the notification socket. */
  readonly address: string;
  readonly watchdogMs: number;
  /** A script of the test that is loaded before the product. */
  readonly preload?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
}

export interface Service {
  readonly peer: NotifyPeer;
  readonly dataDir: string;
  readonly base: string;
  readonly pid: number;
  readonly output: string;
  /** The exit code; null where a signal ended it. */
  readonly ended: Promise<number | null>;
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** What the words of the unit are here. */
function commandHere(dataDir: string, preload: string | undefined, flags: readonly string[]): string[] {
  const meant: Readonly<Record<string, readonly string[]>> = {
    '/usr/lib/lineside/node/bin/node': [process.execPath, ...(preload ? ['--import', preload] : [])],
    '/usr/lib/lineside/bin/lineside.js': [COMMAND],
    '/var/lib/lineside': [dataDir],
    '--config': [],
    '/etc/lineside/config.yaml': flags,
  };
  return wordsOf(readUnit().one('ExecStart')).flatMap((word) => meant[word] ?? [word]);
}

export async function startService({ folder, address, watchdogMs, preload, environment = {}, flags = [] }: ServiceOptions): Promise<Service> {
  const peer = await NotifyPeer.start(address);
  const dataDir = path.join(folder, 'data');
  const port = await freePort();
  const [program = '', ...args] = commandHere(dataDir, preload, flags);
  const child: ChildProcess = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH ?? '',
      ...applianceSettings(port, { LINESIDE_GATEWAY__OPERATINGMODE: 'development', LINESIDE_AUTH__MODE: 'none', ...environment }),
      NOTIFY_SOCKET: address,
      WATCHDOG_USEC: String(watchdogMs * 1000),
    },
  });
  const seen = watched(child);
  const { ended } = seen;
  return {
    peer,
    dataDir,
    base: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    get output() {
      return seen.output;
    },
    ended,
    async end(signal) {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      const code = await ended;
      await peer.stop();
      return code;
    },
  };
}
