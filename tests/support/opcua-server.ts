/** Starts, tells and stops the OPC UA server of `opcua-server-process.ts`. */
import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';

const CHILD = fileURLToPath(new URL('./opcua-server-process.js', import.meta.url));

export const PLANT_NAMESPACE = 'urn:lineside:plant';
/** Index of the namespace in this server; another one may have it elsewhere. */
export const PLANT = 'ns=2;s=';

export interface ServerSettings {
  /** Where it keeps its certificate. */
  readonly folder: string;
  readonly port?: number;
  /** Variables `Many0` and on. */
  readonly many?: number;
  /** How often its own clock is sampled at the most; 1 s, as most servers do. */
  readonly clockMs?: number;
  /** Notes when the last byte of what followed each round of `changeMany` has been handed to the network. */
  readonly tellsSends?: boolean;
  readonly anonymous?: boolean;
  /** 50 where it is left out. */
  readonly maxSessions?: number;
  /** 100 where it is left out. */
  readonly maxSubscriptions?: number;
  /** Clients whose certificates it trusts. */
  readonly accepts?: 'nobody';
  /** Files (PEM) of the certificate that it shows and of its key; absent: it makes its own. */
  readonly shows?: { readonly certificateFile: string; readonly privateKeyFile: string };
  readonly operationLimits?: Readonly<Record<string, number>>;
}

export type ServerCommand =
  | { readonly set: string; readonly value: unknown }
  | { readonly changeMany: 'count' | 'time'; readonly everyMs: number }
  | { readonly sends: true }
  | { readonly closeSessions: true }
  /** Subscriptions there are bring keep-alives only from now on; those made later too, or not. */
  | { readonly mute: 'these' | 'all' | 'none' };

export class OpcUaServer {
  readonly port: number;
  /** Of its certificate. */
  readonly sha256: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number, certificate: string) {
    this.#child = child;
    this.port = port;
    this.sha256 = createHash('sha256').update(Buffer.from(certificate, 'base64')).digest('hex');
  }

  static start(settings: ServerSettings): Promise<OpcUaServer> {
    return new Promise((resolve, reject) => {
      const child = fork(CHILD, [JSON.stringify(settings)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
      let errors = '';
      child.stderr?.on('data', (chunk: Buffer) => {
        errors += chunk.toString();
      });
      child.once('exit', (code) => reject(new Error(`the OPC UA server ended with ${code}: ${errors}`)));
      child.once('message', (message: { port: number; certificate: string }) => resolve(new OpcUaServer(child, message.port, message.certificate)));
    });
  }

  get url(): string {
    return `opc.tcp://127.0.0.1:${this.port}/plant`;
  }

  /** Of the rounds of `changeMany` `time`, each with the wall ms at which its last byte went. */
  sends(): Promise<readonly { readonly round: number; readonly sentMs: number }[]> {
    return new Promise((resolve) => {
      this.#child.once('message', (message: { sends: readonly { round: number; sentMs: number }[] }) => resolve(message.sends));
      this.#child.send({ sends: true });
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  tell(command: ServerCommand): Promise<void> {
    return new Promise((resolve) => {
      this.#child.once('message', () => resolve());
      this.#child.send(command);
    });
  }

  /** Stops answering without closing anything, and goes on. */
  freeze(isFrozen: boolean): void {
    this.#child.kill(isFrozen ? 'SIGSTOP' : 'SIGCONT');
  }

  /** Pulls the plug. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await gone;
  }
}
