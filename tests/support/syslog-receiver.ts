/**
 * A receiver of syslog over TLS as RFC 5425 has it: messages by their octet counts, taken apart as RFC 5424 says, and a connection that is ended is ended
 * in turn. It can be slow, frozen, rude, or one that never ends a connection.
 */
import { createServer, type Server, type TLSSocket } from 'node:tls';
import net, { type AddressInfo, type Socket } from 'node:net';
import type { SignedPair } from './authority.js';

export interface Received {
  readonly priority: number;
  readonly at: string;
  readonly hostname: string;
  readonly appName: string;
  readonly procId: string;
  readonly msgId: string;
  readonly data: Readonly<Record<string, string>>;
  readonly text: string;
  readonly octets: number;
}

const MESSAGE = /^<(\d{1,3})>1 (\S+) (\S{1,255}) (\S{1,48}) (\S{1,128}) (\S{1,32}) \[lineside@32473((?: [!-~]+?="(?:[^"\\\]]|\\["\\\]])*")*)\](?: ([\s\S]*))?$/;
const PARAM = / ([^= ]+)="((?:[^"\\\]]|\\["\\\]])*)"/g;

export class SyslogReceiver {
  readonly #server: Server;
  readonly #sockets = new Set<TLSSocket>();
  /** Below them. */
  readonly #raw = new Set<Socket>();
  readonly received: Received[] = [];
  /** What was no message, in words. */
  readonly strange: string[] = [];
  connections = 0;
  /** Connections that the sender has ended in order. */
  ended = 0;
  /** Reads nothing. */
  frozen = false;
  /** Does not end what the sender ends. */
  neverEnds = false;
  /** Told of each message. */
  heard: (message: Received) => void = () => undefined;
  #waiting: (() => void)[] = [];

  constructor({ certificatePem, keyPem }: Pick<SignedPair, 'certificatePem' | 'keyPem'>, ca?: string) {
    const options = { cert: certificatePem, key: keyPem, ...(ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: true }) };
    this.#server = createServer({ ...options, allowHalfOpen: true } as typeof options, (socket) => this.#accept(socket));
    this.#server.on('tlsClientError', () => undefined);
    this.#server.on('connection', (raw: Socket) => {
      this.#raw.add(raw);
      raw.on('close', () => this.#raw.delete(raw));
    });
  }

  async listen(port = 0, host = '127.0.0.1'): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(port, host, resolve));
    return this.port;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Messages of a kind. */
  of(msgId: string): readonly Received[] {
    return this.received.filter((message) => message.msgId === msgId);
  }

  /** Sequences of records, as they came. */
  get sequences(): readonly number[] {
    return this.of('AUDIT').map(({ data }) => Number(data.sequence));
  }

  /** Settles when it is so; looked at after each message and each end. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  reset(): void {
    for (const raw of this.#raw) raw.resetAndDestroy();
  }

  async close(): Promise<void> {
    for (const socket of [...this.#sockets, ...this.#raw]) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #accept(socket: TLSSocket): void {
    this.connections += 1;
    this.#sockets.add(socket);
    const chunks: { rest: Buffer } = { rest: Buffer.alloc(0) };
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
    if (this.frozen) return;
    socket.on('data', (chunk: Buffer) => {
      chunks.rest = this.#take(Buffer.concat([chunks.rest, chunk]));
      this.#tell();
    });
    socket.on('end', () => {
      if (chunks.rest.length > 0) this.strange.push(`ended within a message: ${chunks.rest.toString('latin1').slice(0, 80)}`);
      this.ended += 1;
      if (!this.neverEnds) socket.end();
      this.#tell();
    });
    this.#tell();
  }

  /** @returns what is not whole yet. */
  #take(bytes: Buffer): Buffer {
    let rest = bytes;
    for (;;) {
      const space = rest.indexOf(' ');
      if (space === -1) return rest;
      const count = rest.toString('latin1', 0, space);
      if (!/^[1-9]\d{0,8}$/.test(count)) {
        this.strange.push(`no octet count: ${count.slice(0, 80)}`);
        return Buffer.alloc(0);
      }
      const end = space + 1 + Number(count);
      if (rest.length < end) return rest;
      this.#message(rest.toString('utf8', space + 1, end), Number(count));
      rest = rest.subarray(end);
    }
  }

  #message(text: string, octets: number): void {
    const [, priority, at = '', hostname = '', appName = '', procId = '', msgId = '', params = '', msg = ''] = MESSAGE.exec(text) ?? [];
    if (priority === undefined) {
      this.strange.push(text.slice(0, 200));
      return;
    }
    const data = Object.fromEntries([...params.matchAll(PARAM)].map(([, name, value]) => [name, (value as string).replaceAll(/\\(["\\\]])/g, '$1')]));
    const message = { priority: Number(priority), at, hostname, appName, procId, msgId, data, text: msg, octets };
    this.received.push(message);
    this.heard(message);
  }

  #tell(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** Something on the way that passes bytes and ends on, as a firewall or a balancer does, until it is told otherwise. */
export class Between {
  readonly #server: net.Server;
  readonly #sockets = new Set<Socket>();
  /** `ends`: takes everything for itself and ends a connection in the place of the receiver; `swallows`: takes everything and says nothing. */
  mode: 'passes' | 'ends' | 'swallows' | 'refuses' = 'passes';

  private constructor(to: number) {
    this.#server = net.createServer({ allowHalfOpen: true }, (near) => this.#accept(near, to));
  }

  static async listen(to: number): Promise<Between> {
    const between = new Between(to);
    await new Promise<void>((resolve) => between.#server.listen(0, '127.0.0.1', resolve));
    return between;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.reset();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #accept(near: Socket, to: number): void {
    if (this.mode === 'refuses') {
      near.resetAndDestroy();
      return;
    }
    const far = net.connect({ host: '127.0.0.1', port: to, allowHalfOpen: true });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => undefined);
      one.on('data', (bytes) => this.mode === 'passes' && other.write(bytes));
      one.on('end', () => this.mode === 'passes' && other.end());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
    near.on('end', () => this.mode === 'ends' && near.end());
  }
}
