/** The appliance as its own process, started with the product's command on a free port and a data directory of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type ListenOptions, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ApiClient, eventually, PATIENCE_MS } from './api-client.js';
import { applianceSettings, COMMAND, type Watched, watched } from './command.js';

export interface ApplianceOptions {
  readonly dataDir?: string;
  readonly port?: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** Nothing of the test runner in the process: its loaders re-raise signals that the product ignores. */
  readonly bare?: boolean;
  /** A script of the test that is loaded before the product (`node --import`). */
  readonly preload?: string;
  /** Flags of the command. */
  readonly flags?: readonly string[];
}

export class ApplianceProcess {
  readonly dataDir: string;
  readonly port: number;
  readonly base: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Flags of the next start. */
  flags: readonly string[] = [];
  /** User of the next start, for a test that root runs. */
  runAs: number | undefined;
  /** A program that becomes the next start, such as `unshare`, with its arguments. */
  wrapper: readonly string[] = [];
  /** What a file of the next start may have, from its first write on; `limitFiles` changes it later. */
  fileBytesMax: number | undefined;
  readonly #bare: boolean;
  readonly #preload: string | undefined;
  #child: ChildProcess | undefined;
  /** Of the last start. */
  #watched: Watched | undefined;

  constructor(dataDir: string, port: number, environment: Readonly<Record<string, string>>, bare = false, preload?: string) {
    this.#bare = bare;
    this.#preload = preload;
    this.dataDir = dataDir;
    this.port = port;
    this.base = `http://127.0.0.1:${port}`;
    this.environment = environment;
  }

  get api(): ApiClient {
    return new ApiClient(this.base);
  }

  get output(): string {
    return this.#watched?.output ?? '';
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** It ran, and runs no more; its output is whole. */
  get hasEnded(): boolean {
    return this.#watched?.hasEnded ?? false;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Starts and waits until `/readyz` is 200; answers how long that took in ms. */
  async start(): Promise<number> {
    const startedAt = performance.now();
    const child = await this.launch();
    let told = 'nothing answered';
    await eventually(
      'the appliance is ready',
      async () => {
        if (this.hasEnded) throw new Error(`the appliance ended with ${child.exitCode ?? child.signalCode}:\n${this.output}`);
        const response = await fetch(`${this.base}/readyz`).catch(() => undefined);
        if (response) told = `${response.status} ${await response.text().catch(String)}`;
        return response?.status === 200;
      },
      PATIENCE_MS,
      20,
    ).catch((fault: Error) => {
      throw new Error(`${fault.message}; at last ${told}; it printed:\n${this.output}`);
    });
    return performance.now() - startedAt;
  }

  /** Starts and waits for nothing. */
  async launch(): Promise<ChildProcess> {
    const settings = { LINESIDE_LOG_LEVEL: 'info', ...applianceSettings(this.port, this.environment) };
    const command: [string, ...string[]] = [process.execPath, ...(this.#preload ? ['--import', this.#preload] : []), COMMAND, 'start', '--data-dir', this.dataDir, ...this.flags];
    const assignments = Object.entries({ PATH: process.env.PATH ?? '', ...settings }).map(([name, value]) => `${name}=${value}`);
    const limit = this.fileBytesMax === undefined ? [] : ['prlimit', `--fsize=${this.fileBytesMax}:`];
    const [program = '', ...args] = [...this.wrapper, ...limit, ...(this.#bare ? ['/usr/bin/env', '-i', ...assignments, ...command] : command)];
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...settings },
      ...(this.runAs === undefined ? {} : { uid: this.runAs, gid: this.runAs }),
    });
    this.#child = child;
    this.#watched = watched(child);
    return child;
  }

  /** Waits until it has printed the words: an answer of the appliance may be here before what was printed earlier. */
  async says(words: RegExp): Promise<void> {
    await eventually(`it prints ${words}`, async () => words.test(this.output)).catch((fault: Error) => {
      throw new Error(`${fault.message}; it printed:\n${this.output}`);
    });
  }

  /** What the console shows until there is an administrator; it may come after the answer that the appliance is ready. */
  commissioningCode(): Promise<string> {
    return eventually('the console shows a commissioning code', async () => /commissioning code\s+([0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4})\s/.exec(this.output)?.[1]);
  }

  /** Runs the command until it exits by itself; for starts that must refuse. */
  async attempt(): Promise<{ readonly code: number | null; readonly output: string }> {
    const child = spawn(process.execPath, [COMMAND, 'start', '--data-dir', this.dataDir, ...this.flags], {
      env: { ...process.env, LINESIDE_GATEWAY__HTTPPORT: '0', ...this.environment },
    });
    const seen = watched(child);
    return { code: await seen.ended, output: seen.output };
  }

  /** Its output is whole afterwards. @returns the exit code; null when a signal ended it. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.isRunning) this.#child?.kill(signal);
    await this.#watched?.ended;
    return this.#child?.exitCode ?? null;
  }

  remove(): void {
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

export async function applianceProcess(options: ApplianceOptions = {}): Promise<ApplianceProcess> {
  const dataDir = options.dataDir ?? mkdtempSync(path.join(tmpdir(), 'lineside-'));
  const box = new ApplianceProcess(dataDir, options.port ?? (await freePort()), options.environment ?? {}, options.bare, options.preload);
  box.flags = options.flags ?? [];
  return box;
}

/** The system gives no port of these away by itself, to a listener at port 0 or to a connection. */
const PORTS = portsOfNobody();

/**
 * A port that is this process's own as long as it runs: an appliance that is stopped finds it free when it starts again,
 * whatever other suites start meanwhile. A socket with a name (of Linux, not a file) keeps them from the number.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.first, PORTS.last + 1);
    const keeper = await listener({ path: `\0lineside-test-port-${port}` });
    const probe = keeper && (await listener({ port, host: '127.0.0.1', exclusive: true }));
    if (probe) {
      keeper.unref();
      await new Promise((resolve) => probe.close(resolve));
      return port;
    }
    keeper?.close();
  }
}

/** @returns undefined where somebody else listens. */
function listener(at: ListenOptions): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (fault: NodeJS.ErrnoException) => (fault.code === 'EADDRINUSE' ? resolve(undefined) : reject(fault)));
    server.listen(at, () => resolve(server));
  });
}

function portsOfNobody(): { readonly first: number; readonly last: number } {
  const lowest = Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s/)[0]);
  return lowest > 20_000 ? { first: 10_000, last: lowest - 1 } : { first: 20_000, last: 65_000 };
}
