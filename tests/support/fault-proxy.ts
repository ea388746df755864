/** A TCP proxy that treats its connections badly on demand: half-open, reset, single bytes, held and doubled replies. */
import net from 'node:net';

export type ProxyMode =
  | 'pass'
  /** Both sides stay connected, nothing is passed on: a pulled cable, a frozen device. */
  | 'half-open'
  /** Every reply byte travels alone. */
  | 'bytes'
  /** Replies are kept until `release`. */
  | 'hold'
  /** Every reply arrives twice. */
  | 'double'
  /** What `rewrite` makes of a reply arrives in its place: a device that lies. */
  | 'rewrite';

interface Pair {
  readonly near: net.Socket;
  readonly far: net.Socket;
}

export class FaultProxy {
  readonly #server: net.Server;
  readonly #pairs = new Set<Pair>();
  #held: { readonly pair: Pair; readonly chunk: Buffer }[] = [];
  #refusing = false;
  mode: ProxyMode = 'pass';
  /** For mode `rewrite`: of one piece of a reply as it comes from the device. */
  rewrite: (chunk: Buffer) => Buffer = (chunk) => chunk;
  /** Time that each reply is late, in mode `pass`. */
  delayMs = 0;
  /** Told of each piece that goes on to the device, with the number of its connection, 1 for the first. */
  delivered: (request: Buffer, connection: number) => void = () => {};
  /** Connections accepted so far. */
  accepted = 0;
  /** Connections refused so far. */
  refused = 0;

  constructor(targetPort: () => number) {
    this.#server = net.createServer((near) => this.#accept(near, targetPort()));
  }

  /** `host`: another address of the loopback than the device has. */
  static async start(targetPort: () => number, host = '127.0.0.1'): Promise<FaultProxy> {
    const proxy = new FaultProxy(targetPort);
    await new Promise<void>((resolve) => proxy.#server.listen(0, host, resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  /** Connections open now. */
  get open(): number {
    return this.#pairs.size;
  }

  #accept(near: net.Socket, port: number): void {
    if (this.#refusing) {
      this.refused += 1;
      near.resetAndDestroy();
      return;
    }
    this.accepted += 1;
    const connection = this.accepted;
    const far = net.connect({ host: '127.0.0.1', port, noDelay: true });
    const pair: Pair = { near, far };
    near.setNoDelay(true);
    this.#pairs.add(pair);
    near.on('data', (chunk) => {
      if (this.mode === 'half-open') return;
      this.delivered(chunk, connection);
      far.write(chunk);
    });
    far.on('data', (chunk) => this.#back(pair, chunk));
    for (const side of [near, far]) {
      side.on('error', () => {});
      side.on('close', () => {
        this.#pairs.delete(pair);
        near.destroy();
        far.destroy();
      });
    }
  }

  #back(pair: Pair, chunk: Buffer): void {
    const { near } = pair;
    if (this.mode === 'half-open') return;
    if (this.mode === 'hold') this.#held.push({ pair, chunk });
    else if (this.mode === 'bytes') this.#trickle(near, chunk, 0);
    else if (this.mode === 'double') near.write(Buffer.concat([chunk, chunk]));
    else if (this.mode === 'rewrite') near.write(this.rewrite(Buffer.from(chunk)));
    else if (this.delayMs > 0) setTimeout(() => !near.destroyed && near.write(chunk), this.delayMs);
    else near.write(chunk);
  }

  #trickle(near: net.Socket, chunk: Buffer, at: number): void {
    if (at >= chunk.length || near.destroyed) return;
    near.write(chunk.subarray(at, at + 1), () => setImmediate(() => this.#trickle(near, chunk, at + 1)));
  }

  /** Lets the held replies go. */
  release(): void {
    this.mode = 'pass';
    for (const { pair, chunk } of this.#held.splice(0)) if (!pair.near.destroyed) pair.near.write(chunk);
  }

  /** Resets every connection. */
  reset(): void {
    for (const { near } of this.#pairs) near.resetAndDestroy();
  }

  refuse(refusing: boolean): void {
    this.#refusing = refusing;
  }

  async stop(): Promise<void> {
    for (const { near, far } of this.#pairs) {
      near.destroy();
      far.destroy();
    }
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
