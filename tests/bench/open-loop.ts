/**
 * Requests at a fixed rate from a process of their own, whatever becomes of those before (an open loop): a request is late from the
 * moment for which it was meant, so that a gateway that stands still is told of all those it has kept waiting.
 */
import { type ChildProcess, fork } from 'node:child_process';
import net from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { inside } from '../../src/platform/base/assert.js';

export interface Load {
  readonly port: number;
  /** Of a GET. */
  readonly path: string;
  /** The Authorization header. */
  readonly credential: string;
  readonly perSecond: number;
}

/** A request: when it was meant to be sent, by the clock of the machine (`monoMs`), and how long after that it was answered. */
export interface Sample {
  readonly atMs: number;
  readonly ms: number;
}

/** The same in all processes of the machine. */
export const monoMs = (): number => Number(process.hrtime.bigint()) / 1e6;

const CONNECTIONS = 32;
/** A timer of Node is a millisecond late and more; so it looks for itself, and sleeps meanwhile. */
const LOOK_EVERY_MS = 0.2;

export class OpenLoop {
  readonly #child: ChildProcess;

  constructor(load: Load) {
    this.#child = fork(fileURLToPath(import.meta.url), ['load']);
    this.#child.send(load);
  }

  /** All that was sent until now. @throws Error when one was not answered with 200. */
  async stop(): Promise<readonly Sample[]> {
    const told = new Promise<readonly [number, number][] | string>((resolve, reject) => {
      this.#child.once('message', (message) => resolve(message as never));
      this.#child.once('exit', () => reject(new Error('the load has ended by itself')));
    });
    this.#child.send('stop');
    const samples = await told;
    if (this.#child.connected) this.#child.disconnect();
    if (typeof samples === 'string') throw new Error(samples);
    return samples.map(([atMs, ms]) => ({ atMs, ms }));
  }
}

/** A connection with at most one request under way. */
class Line {
  readonly #socket: net.Socket;
  #meant: number | undefined;
  #unread = '';

  private constructor(socket: net.Socket, answered: (meantMs: number, text: string) => void) {
    this.#socket = socket;
    socket.on('data', (bytes) => {
      this.#unread += bytes.toString('latin1');
      if (this.#unread.length < answerLength(this.#unread)) return;
      const [meantMs, text] = [this.#meant, this.#unread];
      this.#meant = undefined;
      this.#unread = '';
      if (meantMs !== undefined) answered(meantMs, text);
    });
    socket.on('close', () => {
      if (this.#meant !== undefined) answered(this.#meant, 'the connection was closed');
    });
  }

  static async open(port: number, answered: (meantMs: number, text: string) => void): Promise<Line> {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new Line(socket, answered);
  }

  get isFree(): boolean {
    return this.#meant === undefined;
  }

  send(request: string, meantMs: number): void {
    this.#meant = meantMs;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.destroy();
  }
}

async function generate({ port, path, credential, perSecond }: Load, isStopped: () => boolean): Promise<readonly [number, number][]> {
  const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${credential}\r\n\r\n`;
  const samples: [number, number][] = [];
  let refused = '';
  const answered = (meantMs: number, text: string): void => {
    samples.push([meantMs, monoMs() - meantMs]);
    if (!text.startsWith('HTTP/1.1 200')) refused = text.slice(0, 400);
  };
  const lines = await Promise.all(Array.from({ length: CONNECTIONS }, () => Line.open(port, answered)));
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  const everyMs = 1000 / perSecond;
  const beganMs = monoMs();
  let [meant, sent] = [0, 0];
  while (!isStopped() || sent < meant || lines.some(({ isFree }) => !isFree)) {
    if (refused !== '') throw new Error(`a request of the load was refused: ${refused}`);
    if (!isStopped()) meant = Math.floor((monoMs() - beganMs) / everyMs) + 1;
    // one connection after the other, so that none lies idle until the gateway closes it
    const free = lines.findIndex((_, n) => inside(lines, (sent + n) % CONNECTIONS, 'there are connections').isFree);
    if (sent < meant && free >= 0) {
      inside(lines, (sent + free) % CONNECTIONS, 'there are connections').send(request, beganMs + sent * everyMs);
      sent += 1;
    } else Atomics.wait(sleeper, 0, 0, LOOK_EVERY_MS);
    await turn();
  }
  for (const line of lines) line.close();
  return samples;
}

/** Of the first answer in the text; Infinity while its head is not whole. */
function answerLength(text: string): number {
  const head = text.indexOf('\r\n\r\n');
  return head < 0 ? Number.POSITIVE_INFINITY : head + 4 + Number(/^content-length: *(\d+)/im.exec(text.slice(0, head))?.[1] ?? 0);
}

if (process.argv[2] === 'load') {
  process.once('disconnect', () => process.exit());
  let isStopped = false;
  process.on('message', (message: Load | 'stop') => {
    if (message === 'stop') isStopped = true;
    else
      void generate(message, () => isStopped).then(
        (samples) => process.send?.(samples),
        (fault: unknown) => process.send?.(String(fault)),
      );
  });
}
