/**
 * A device of the field over Modbus TCP, with actuators behind its outputs: what is written to a holding register or a coil shows in the
 * input register or discrete input of the same offset, as the wiring has it. Written for tests after the Modbus specification, without the library of the product.
 */
import net from 'node:net';

/** How the field is wired: `healthy`, or one named fault for all of its loops. */
export type Wiring = 'healthy' | 'wrong-channel' | 'inverted' | 'scaled' | 'stuck';

const POINTS = 32;
/** Full scale of the numbers. */
export const FULL = 1000;

export class FieldDevice {
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();
  readonly holding = new Uint16Array(POINTS);
  readonly coils = new Uint8Array(POINTS);
  readonly input = new Uint16Array(POINTS);
  readonly discrete = new Uint8Array(POINTS);
  /** Each write of a holding register or coil, in the order of their coming. */
  readonly writes: { readonly table: 'holding' | 'coil'; readonly offset: number; readonly value: number }[] = [];
  wiring: Wiring;
  /** The actuator moves by itself, against no order: noise of a reading. */
  tremble = 0;
  /** Ms until an actuator has moved. */
  delayMs = 0;
  /** Answers nothing: a cable that was pulled without a word. */
  isMute = false;
  /** Refuses each write (exception 4, device failure): a switch at the device that is not on remote. */
  isLocked = false;
  /** Takes each write and answers none. */
  isSilentToWrites = false;

  constructor(wiring: Wiring) {
    this.wiring = wiring;
    this.#server = net.createServer((socket) => this.#accept(socket));
    this.#move();
  }

  static async start(wiring: Wiring = 'healthy'): Promise<FieldDevice> {
    const device = new FieldDevice(wiring);
    await new Promise<void>((resolve) => device.#server.listen(0, '127.0.0.1', resolve));
    return device;
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Pulls the plug. */
  async kill(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #accept(socket: net.Socket): void {
    this.#sockets.add(socket);
    let received = Buffer.alloc(0);
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 7 && received.length >= 6 + received.readUInt16BE(4)) {
        const length = 6 + received.readUInt16BE(4);
        const request = received.subarray(0, length);
        received = received.subarray(length);
        if (this.isMute) continue;
        const pdu = request.subarray(7);
        const body = this.isLocked && isWrite(pdu) ? Buffer.from([(pdu[0] ?? 0) + 0x80, 4]) : this.#answer(pdu);
        if (this.isSilentToWrites && isWrite(pdu)) continue;
        const head = Buffer.from(request.subarray(0, 7));
        head.writeUInt16BE(body.length + 1, 4);
        socket.write(Buffer.concat([head, body]));
      }
    });
  }

  #answer(pdu: Buffer): Buffer {
    const code = pdu[0] ?? 0;
    // what it does not know may be shorter than a read: who it is, for one
    if (pdu.length < 5) return Buffer.from([code + 0x80, 1]);
    const offset = pdu.readUInt16BE(1);
    const second = pdu.readUInt16BE(3);
    if (code >= 1 && code <= 4 && offset + second > POINTS) return Buffer.from([code + 0x80, 2]);
    switch (code) {
      case 1:
        return bits(code, this.coils, offset, second);
      case 2:
        return bits(code, this.discrete, offset, second);
      case 3:
        return registers(code, this.holding, offset, second, 0);
      case 4:
        return registers(code, this.input, offset, second, this.tremble);
      case 5:
        this.#write('coil', offset, second === 0 ? 0 : 1);
        return pdu.subarray(0, 5);
      case 6:
        this.#write('holding', offset, second);
        return pdu.subarray(0, 5);
      case 15:
        for (let at = 0; at < second; at += 1) this.#write('coil', offset + at, ((pdu[6 + (at >> 3)] ?? 0) >> (at & 7)) & 1);
        return pdu.subarray(0, 5);
      case 16:
        for (let at = 0; at < second; at += 1) this.#write('holding', offset + at, pdu.readUInt16BE(6 + 2 * at));
        return pdu.subarray(0, 5);
      default:
        return Buffer.from([code + 0x80, 1]);
    }
  }

  #write(table: 'holding' | 'coil', offset: number, value: number): void {
    if (offset >= POINTS) return;
    this.writes.push({ table, offset, value });
    (table === 'coil' ? this.coils : this.holding)[offset] = value;
    if (this.delayMs > 0) setTimeout(() => this.#move(), this.delayMs).unref();
    else this.#move();
  }

  /** The actuators go where the wiring leads. */
  #move(): void {
    for (let at = 0; at < POINTS; at += 1) {
      const value = this.holding[at] ?? 0;
      const coil = this.coils[at] ?? 0;
      if (this.wiring === 'stuck') continue;
      const to = this.wiring === 'wrong-channel' ? (at + 1) % POINTS : at;
      this.input[to] = this.wiring === 'inverted' ? FULL - value : this.wiring === 'scaled' ? value * 10 : value;
      this.discrete[to] = this.wiring === 'inverted' ? 1 - coil : coil;
    }
  }
}

const isWrite = (pdu: Buffer): boolean => [5, 6, 15, 16].includes(pdu[0] ?? 0);

function bits(code: number, from: Uint8Array, offset: number, count: number): Buffer {
  const bytes = Buffer.alloc(Math.ceil(count / 8));
  for (let at = 0; at < count; at += 1) if (from[offset + at]) bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (1 << (at & 7));
  return Buffer.concat([Buffer.from([code, bytes.length]), bytes]);
}

let up = false;

function registers(code: number, from: Uint16Array, offset: number, count: number, tremble: number): Buffer {
  const bytes = Buffer.alloc(2 * count);
  up = !up;
  for (let at = 0; at < count; at += 1) bytes.writeUInt16BE(Math.max(0, (from[offset + at] ?? 0) + (up ? tremble : 0)), 2 * at);
  return Buffer.concat([Buffer.from([code, bytes.length]), bytes]);
}
