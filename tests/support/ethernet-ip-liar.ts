/** A device of EtherNet/IP made by hand (CIP Volume 2, chapter 2) that answers each service as it is told, well or badly; without a route. */
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';

const HEADER_BYTES = 24;
const REGISTER = 0x65;
const SEND = 0x6f;
const SESSION = 7;
/** Behind the header: interface, time-out, count, empty address item, head of the data item. */
const MESSAGE_AT = HEADER_BYTES + 6 + 2 + 4 + 4;
const NO_SUCH_SERVICE = 0x08;

export interface LyingReply {
  readonly status: number;
  readonly data: Buffer;
}

export class EthernetIpLiar {
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();
  /** By service; one that is left out is not known. */
  readonly answers = new Map<number, () => LyingReply>();
  /** Messages taken, by service. */
  readonly taken = new Map<number, number>();

  private constructor(server: net.Server) {
    this.#server = server;
    server.on('connection', (socket) => this.#serve(socket));
  }

  static async start(): Promise<EthernetIpLiar> {
    const server = net.createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new EthernetIpLiar(server);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Frames of command 0, which say nothing. */
  flood(count: number): void {
    for (const socket of this.#sockets) socket.write(Buffer.alloc(count * HEADER_BYTES));
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #serve(socket: net.Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
    let rest: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= HEADER_BYTES && rest.length >= HEADER_BYTES + rest.readUInt16LE(2)) {
        const bytes = HEADER_BYTES + rest.readUInt16LE(2);
        this.#take(socket, rest.subarray(0, bytes));
        rest = rest.subarray(bytes);
      }
    });
  }

  #take(socket: net.Socket, frame: Buffer): void {
    const command = frame.readUInt16LE(0);
    if (command === REGISTER) this.#reply(socket, frame, frame.subarray(HEADER_BYTES));
    if (command !== SEND) return;
    const service = frame.readUInt8(MESSAGE_AT);
    this.taken.set(service, (this.taken.get(service) ?? 0) + 1);
    const { status, data } = this.answers.get(service)?.() ?? { status: NO_SUCH_SERVICE, data: Buffer.alloc(0) };
    const message = Buffer.concat([Buffer.from([service | 0x80, 0, status, 0]), data]);
    const items = Buffer.alloc(16);
    items.writeUInt16LE(2, 6);
    items.writeUInt16LE(0xb2, 12);
    items.writeUInt16LE(message.length, 14);
    this.#reply(socket, frame, Buffer.concat([items, message]));
  }

  #reply(socket: net.Socket, frame: Buffer, data: Buffer): void {
    const header = Buffer.from(frame.subarray(0, HEADER_BYTES)); // command and sender context are those of the request
    header.writeUInt16LE(data.length, 2);
    header.writeUInt32LE(SESSION, 4);
    socket.write(Buffer.concat([header, data]));
  }
}
