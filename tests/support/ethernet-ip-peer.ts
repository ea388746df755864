/** Starts, orders about and ends the EtherNet/IP device of ethernet-ip-device.ts as a child process. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const DEVICE = fileURLToPath(new URL('./ethernet-ip-device.js', import.meta.url));

export interface PeerOptions {
  readonly port?: number;
  readonly slot?: number;
  readonly replyMax?: number;
  readonly hasMultiple?: boolean;
  readonly hasReadModifyWrite?: boolean;
  readonly hasSymbolAccess?: boolean;
  readonly hasIdentity?: boolean;
  readonly hasListIdentity?: boolean;
  readonly connectionsMax?: number;
  readonly connectionBytesMax?: number;
  readonly many?: number;
}

export interface PeerCounts {
  readonly messages: number;
  readonly sessionsOpen: number;
  readonly connections: number;
  /** Of each connection that is open. */
  readonly bytes: readonly number[];
  readonly services: ReadonlyMap<number, number>;
  /** Since `watch`. */
  readonly polls: number;
  readonly late: number;
  readonly gapMsMax: number;
}

export type PeerMode = 'right' | 'silent' | 'slow' | 'half' | 'context' | 'session' | 'length' | 'garbage' | 'reset' | 'service' | 'twice' | 'endless';

export class EthernetIpPeer {
  readonly port: number;
  readonly #child: ChildProcess;

  constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  static async start(options: PeerOptions = {}): Promise<EthernetIpPeer> {
    const child = fork(DEVICE, [JSON.stringify(options)], { execArgv: ['--enable-source-maps'] });
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    return new EthernetIpPeer(child, port);
  }

  async #order(order: object): Promise<PeerCounts> {
    const answered = once(this.#child, 'message') as Promise<[{ services: [number, number][] } & Omit<PeerCounts, 'services'>]>;
    this.#child.send(order);
    const [{ services, ...counts }] = await answered;
    return { ...counts, services: new Map(services) };
  }

  async misbehave(mode: PeerMode, slowMs = 0): Promise<void> {
    await this.#order({ mode, slowMs });
  }

  counts(): Promise<PeerCounts> {
    return this.#order({ count: true });
  }

  /** Changes a value in the device, as its program would. */
  async put(path: readonly (string | number)[], hex: string): Promise<void> {
    await this.#order({ value: { path, hex } });
  }

  /** Watches how the messages that ask for the tag come in time. */
  async watch(tag: string, periodMs: number): Promise<void> {
    await this.#order({ watch: tag, periodMs });
  }

  /** The program of the device gives the tag these values, one before each of so many answers, over and over. */
  async flicker(path: readonly (string | number)[], values: readonly string[], answers: number): Promise<void> {
    await this.#order({ flicker: { path, values, answers } });
  }

  /** Loads another program, in which the tag of the controller is another one. */
  async become(name: string, type: number, dimensions: readonly number[], hex: string): Promise<void> {
    await this.#order({ become: { name, type, dimensions, hex } });
  }

  /** Stops answering without closing anything, and goes on. */
  freeze(frozen: boolean): void {
    this.#child.kill(frozen ? 'SIGSTOP' : 'SIGCONT');
  }

  /** Pulls the plug. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }
}
