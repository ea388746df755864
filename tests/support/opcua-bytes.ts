/**
 * A peer that speaks OPC UA by hand, from OPC 10000-4 and 10000-6, and then misbehaves: silence, garbage, lengths that cannot be, and, once it has been
 * told what it is (`opcua-liar.ts`), lies. No library is behind it.
 */
import net from 'node:net';
import { Writer } from './opcua-encoding.js';
import { Liar } from './opcua-liar.js';

export type Misbehaviour =
  /** Takes the connection and says nothing. */
  | 'silent'
  /** Acknowledges, and says nothing to the request for a channel. */
  | 'silent-after-acknowledge'
  /** Answers with bytes that are no message. */
  | 'garbage'
  /** Acknowledges, then sends bytes that are no message. */
  | 'garbage-after-acknowledge'
  /** Announces a chunk of 4 GB. */
  | 'oversized'
  /** Ends the connection as soon as it is asked for a channel. */
  | 'closes'
  /** The error message of 7.1.2.5. */
  | 'error'
  /** Opens a channel and a session, and does there what its liar is told. */
  | 'serves';

const HEADER_BYTES = 8;

/** Message header: type, chunk, and length with the header. */
export function message(type: string, body: Buffer, length = HEADER_BYTES + body.length): Buffer {
  return Buffer.concat([Buffer.from(type, 'ascii'), new Writer().u32(length).buffer, body]);
}

/** Acknowledge (7.1.2.4): version, buffers, and no limits. */
function acknowledge(): Buffer {
  return message('ACKF', new Writer().u32(0).u32(65_535).u32(65_535).u32(0).u32(0).buffer);
}

function error(code: number, reason: string): Buffer {
  return message('ERRF', new Writer().u32(code).text(reason).buffer);
}

export class BytePeer {
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();
  behaviour: Misbehaviour = 'silent';
  /** What `garbage` sends. */
  garbage: Buffer = Buffer.alloc(0);
  /** What is behind the session, one for all connections. */
  readonly liar: Liar;

  private constructor() {
    this.liar = new Liar(() => this.url);
    this.#server = net.createServer((socket) => this.#accept(socket));
  }

  static async start(): Promise<BytePeer> {
    const peer = new BytePeer();
    await new Promise<void>((resolve) => peer.#server.listen(0, '127.0.0.1', resolve));
    return peer;
  }

  get url(): string {
    return `opc.tcp://127.0.0.1:${(this.#server.address() as net.AddressInfo).port}`;
  }

  /** Connections open now. */
  get open(): number {
    return this.#sockets.size;
  }

  /** Connections taken so far. */
  accepted = 0;

  #accept(socket: net.Socket): void {
    this.accepted += 1;
    this.#sockets.add(socket);
    let received = Buffer.alloc(0);
    const channel = this.liar.channel((bytes) => socket.destroyed || socket.write(bytes));
    socket.setNoDelay(true);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      channel.end();
    });
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= HEADER_BYTES && received.length >= received.readUInt32LE(4)) {
        const length = received.readUInt32LE(4);
        const whole = received.subarray(0, length);
        received = received.subarray(length);
        const type = whole.toString('latin1', 0, 3);
        if (this.behaviour === 'serves' && type !== 'HEL') {
          if (type === 'OPN' || type === 'MSG') channel.take(type, whole);
          else socket.end();
        } else this.#answer(socket, type);
      }
    });
  }

  #answer(socket: net.Socket, type: string): void {
    if (type === 'HEL') {
      if (this.behaviour === 'silent') return;
      socket.write(this.behaviour === 'garbage' ? this.garbage : acknowledge());
      return;
    }
    if (type !== 'OPN') return;
    if (this.behaviour === 'garbage-after-acknowledge') socket.write(this.garbage);
    else if (this.behaviour === 'oversized') socket.write(message('OPNF', Buffer.alloc(64), 0xffffffff));
    else if (this.behaviour === 'error')
      socket.write(error(0x80130000, 'not today')); // BadSecurityChecksFailed
    else if (this.behaviour === 'closes') socket.end();
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
