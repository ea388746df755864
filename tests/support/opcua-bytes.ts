/**
 * A peer that speaks the first words of OPC UA by hand, from OPC 10000-6 chapters 6 and 7, and then misbehaves: silence, garbage, lengths that
 * cannot be. No library is behind it.
 */
import net from 'node:net';

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
  | 'error';

const HEADER_BYTES = 8;

/** Message header: type, chunk, and length with the header. */
function message(type: string, body: Buffer, length = HEADER_BYTES + body.length): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(type, 0, 'ascii');
  header.writeUInt32LE(length >>> 0, 4);
  return Buffer.concat([header, body]);
}

/** Acknowledge (7.1.2.4): version, buffers, and no limits. */
function acknowledge(): Buffer {
  const body = Buffer.alloc(20);
  body.writeUInt32LE(0, 0);
  body.writeUInt32LE(65_535, 4);
  body.writeUInt32LE(65_535, 8);
  return message('ACKF', body);
}

function error(code: number, reason: string): Buffer {
  const text = Buffer.from(reason);
  const body = Buffer.alloc(8 + text.length);
  body.writeUInt32LE(code >>> 0, 0);
  body.writeInt32LE(text.length, 4);
  text.copy(body, 8);
  return message('ERRF', body);
}

export class BytePeer {
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();
  behaviour: Misbehaviour = 'silent';
  /** What `garbage` sends. */
  garbage: Buffer = Buffer.alloc(0);

  private constructor() {
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

  #accept(socket: net.Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => this.#answer(socket, chunk.toString('latin1', 0, 3)));
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
