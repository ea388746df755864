/** Starts, tells and stops the process module of `mtp-peer-process.ts`. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const CHILD = fileURLToPath(new URL('./mtp-peer-process.js', import.meta.url));

export interface PeerSettings {
  /** Where it keeps its certificate. */
  readonly folder: string;
  /** The package whose nodes and services it has. */
  readonly aml: string;
}

export type PeerCommand =
  | { readonly set: string; readonly value: number | boolean | string }
  | { readonly get: string }
  | { readonly service: string; readonly mode: 'Offline' | 'Operator' | 'Automatic' | 'Internal' }
  | { readonly service: string; readonly isDeaf: boolean };

export class MtpPeer {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.url = `opc.tcp://127.0.0.1:${port}`;
  }

  static start(settings: PeerSettings): Promise<MtpPeer> {
    return new Promise((resolve, reject) => {
      const child = fork(CHILD, [JSON.stringify(settings)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
      let errors = '';
      child.stderr?.on('data', (chunk: Buffer) => {
        errors += chunk.toString();
      });
      child.once('exit', (code) => reject(new Error(`the process module ended with ${code}: ${errors}`)));
      child.once('message', ({ port }: { port: number }) => resolve(new MtpPeer(child, port)));
    });
  }

  /** @returns the value of the node that is asked for. */
  tell(command: PeerCommand): Promise<unknown> {
    return new Promise((resolve) => {
      this.#child.once('message', ({ value }: { value?: unknown }) => resolve(value));
      this.#child.send(command);
    });
  }

  /** Pulls the plug. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await gone;
  }
}
