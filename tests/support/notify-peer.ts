/** A real datagram socket of the unix family in the place of the service manager's, held by notify-peer.py: Node has none. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { eventually } from './api-client.js';

const PYTHON = '/usr/bin/python3';
const SCRIPT = 'tests/support/notify-peer.py';

export interface Datagram {
  /** That sent it, as the kernel says. */
  readonly pid: number;
  readonly lines: readonly string[];
  /** When it came, by the clock of this process. */
  readonly atMs: number;
}

export class NotifyPeer {
  readonly address: string;
  readonly heard: Datagram[] = [];
  readonly #child: ChildProcess;

  constructor(address: string, child: ChildProcess) {
    this.address = address;
    this.#child = child;
  }

  /** `address`: a path, or `@` and a name of Linux that is no file. */
  static start(address: string): Promise<NotifyPeer> {
    return new Promise((resolve, reject) => {
      const child = spawn(PYTHON, [SCRIPT, address], { stdio: ['pipe', 'pipe', 'inherit'] });
      const peer = new NotifyPeer(address, child);
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`the notification peer ended with ${code}`)));
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (line === 'bound') return resolve(peer);
        peer.heard.push({ ...(JSON.parse(line) as Omit<Datagram, 'atMs'>), atMs: performance.now() });
      });
    });
  }

  /** Every line so far, in its order. */
  get lines(): readonly string[] {
    return this.heard.flatMap(({ lines }) => lines);
  }

  async hears(words: RegExp): Promise<void> {
    await eventually(`the service manager hears ${words}`, async () => this.lines.some((line) => words.test(line))).catch((fault: Error) => {
      throw new Error(`${fault.message}; it heard ${this.lines.join(', ')}`);
    });
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await gone;
  }
}
