/** The appliance as its own process, started with the product's command on a free port and a data directory of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ApiClient, eventually } from './api-client.js';
import { CHEAP_PASSWORDS } from './cheap-passwords.js';

const COMMAND = fileURLToPath(new URL('../../src/cli/lineside.js', import.meta.url));

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
  readonly #bare: boolean;
  readonly #preload: string | undefined;
  #child: ChildProcess | undefined;
  #output = '';

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
    return this.#output;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** It ran, and runs no more. */
  get hasEnded(): boolean {
    return this.#child !== undefined && !this.isRunning;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Starts and waits until `/readyz` is 200; answers how long that took in ms. */
  async start(): Promise<number> {
    const startedAt = performance.now();
    const child = await this.launch();
    await eventually(
      'the appliance is ready',
      async () => {
        if (this.hasEnded) throw new Error(`the appliance ended with ${child.exitCode ?? child.signalCode}:\n${this.#output}`);
        return fetch(`${this.base}/readyz`).then(
          (response) => response.status === 200,
          () => false,
        );
      },
      60_000,
      20,
    );
    return performance.now() - startedAt;
  }

  /** Starts and waits for nothing. */
  async launch(): Promise<ChildProcess> {
    this.#output = '';
    const cheap = this.environment.LINESIDE_GATEWAY__OPERATINGMODE === 'development' ? CHEAP_PASSWORDS : {};
    const settings = { LINESIDE_GATEWAY__HTTPPORT: String(this.port), LINESIDE_GATEWAY__LISTEN: '127.0.0.1', ...cheap, ...this.environment };
    const command: [string, ...string[]] = [process.execPath, ...(this.#preload ? ['--import', this.#preload] : []), COMMAND, 'start', '--data-dir', this.dataDir, ...this.flags];
    const assignments = Object.entries({ PATH: process.env.PATH ?? '', ...settings }).map(([name, value]) => `${name}=${value}`);
    const [program, ...args]: [string, ...string[]] = this.#bare ? ['/usr/bin/env', '-i', ...assignments, ...command] : command;
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...settings },
      ...(this.runAs === undefined ? {} : { uid: this.runAs, gid: this.runAs }),
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (this.#output += chunk.toString()));
    return child;
  }

  /** What the console shows until there is an administrator; it may come after the answer that the appliance is ready. */
  commissioningCode(): Promise<string> {
    return eventually('the console shows a commissioning code', async () => /commissioning code\s+([0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4})\s/.exec(this.#output)?.[1]);
  }

  /** Runs the command until it exits by itself; for starts that must refuse. */
  async attempt(): Promise<{ readonly code: number | null; readonly output: string }> {
    const child = spawn(process.execPath, [COMMAND, 'start', '--data-dir', this.dataDir, ...this.flags], {
      env: { ...process.env, LINESIDE_GATEWAY__HTTPPORT: '0', ...this.environment },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve)); // after 'exit' more may come of what was printed
    return { code, output };
  }

  /** @returns the exit code; null when a signal ended it. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
    child.kill(signal);
    return ended;
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

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
