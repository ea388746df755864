/**
 * The clients of the streams bench, in a process of their own so that their work is not the server's. They read and discard;
 * where asked they check that every number arrives, or tell how old each new value was when it came.
 */
import { fork, type ChildProcess } from 'node:child_process';
import net from 'node:net';
import { fileURLToPath } from 'node:url';
import { at } from '../support/at.js';

export interface OpenSockets {
  readonly group: string;
  readonly port: number;
  readonly path: string;
  readonly count: number;
  /** First frame of each WebSocket; '' sends none. */
  readonly hello: string;
  readonly transport: 'websocket' | 'sse';
  /** `numbers`: look at the seq of every frame. `ages`: values are the microsecond of their writing. */
  readonly look: 'none' | 'numbers' | 'ages';
}

export interface SinkReport {
  /** By connection: frames read, and numbers that were left out. Only of a group that looks at numbers. */
  readonly frames: readonly number[];
  readonly lost: readonly number[];
  /** Microseconds from writing to reading, of each value at its first arrival. */
  readonly agesUs: readonly number[];
}

type Order =
  | { readonly do: 'open'; readonly sockets: OpenSockets }
  | { readonly do: 'stop'; readonly group: string; readonly index: number }
  | { readonly do: 'report'; readonly group: string };

/** The bench's side. */
export class Sink {
  readonly #process: ChildProcess = fork(fileURLToPath(import.meta.url), ['sink']);

  open(sockets: OpenSockets): Promise<unknown> {
    return this.#ask({ do: 'open', sockets });
  }

  /** One connection stops reading, and stays. */
  stop(group: string, index: number): Promise<unknown> {
    return this.#ask({ do: 'stop', group, index });
  }

  report(group: string): Promise<SinkReport> {
    return this.#ask({ do: 'report', group }) as Promise<SinkReport>;
  }

  close(): void {
    this.#process.kill();
  }

  #ask(order: Order): Promise<unknown> {
    const answer = new Promise<unknown>((resolve) => this.#process.once('message', resolve));
    this.#process.send(order);
    return answer;
  }
}

/** Microseconds of the clock that all processes and threads of a machine share. */
export function sharedUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

// ---------------------------------------------------------------------- in the sink process

const SEQ_FROM = '{"seq":'.length;
const SEQ_WIDTH = 12;

class Reader {
  readonly socket: net.Socket;
  frames = 0;
  lost = 0;
  readonly agesUs: number[] = [];
  #seq = 0;
  #rest: Buffer = Buffer.alloc(0);
  readonly #last = new Map<string, number>();

  constructor(sockets: OpenSockets, opened: () => void) {
    const { port, path, hello, transport, look } = sockets;
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
    this.socket = net.connect(port, '127.0.0.1', () => this.socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${transport === 'sse' ? '' : upgrade}\r\n`));
    this.socket.on('error', () => undefined);
    this.socket.once('data', (head) => {
      if (!/^HTTP\/1\.1 (101|200)/.test(head.toString('latin1', 0, 12))) throw new Error(`not opened: ${head.toString('latin1', 0, 300)}`);
      if (hello !== '') this.socket.write(masked(hello));
      this.socket.on('data', look === 'none' ? () => undefined : (chunk) => this.#read(chunk, look));
      opened();
    });
  }

  #read(chunk: Buffer, look: OpenSockets['look']): void {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    const nowUs = look === 'ages' ? sharedUs() : 0;
    let at = 0;
    for (;;) {
      if (at + 4 > bytes.length) break;
      const short = (bytes[at + 1] as number) & 0x7f;
      const from = at + (short < 126 ? 2 : 4);
      const end = from + (short < 126 ? short : bytes.readUInt16BE(at + 2));
      if (short === 127) throw new Error('no frame of this bench is that long');
      if (end > bytes.length) break;
      if (((bytes[at] as number) & 0x0f) === 1) {
        this.#number(bytes, from + SEQ_FROM);
        if (look === 'ages') this.#age(bytes.toString('latin1', from, end), nowUs);
      }
      at = end;
    }
    this.#rest = at === bytes.length ? Buffer.alloc(0) : Buffer.from(bytes.subarray(at));
  }

  #number(bytes: Buffer, from: number): void {
    let seq = 0;
    for (let at = from; at < from + SEQ_WIDTH; at += 1) {
      const digit = bytes[at] as number;
      if (digit !== 32) seq = seq * 10 + digit - 48;
    }
    this.frames += 1;
    this.lost += seq - this.#seq - 1;
    this.#seq = seq;
  }

  #age(text: string, nowUs: number): void {
    const frame = JSON.parse(text) as { readonly type: string; readonly address?: string; readonly value?: number; readonly replay?: boolean };
    if (frame.type !== 'tag' || frame.address === undefined || typeof frame.value !== 'number') return;
    const before = this.#last.get(frame.address);
    this.#last.set(frame.address, frame.value);
    if (before !== undefined && before !== frame.value && frame.replay !== true) this.agesUs.push(nowUs - frame.value);
  }
}

function masked(text: string): Buffer {
  const body = Buffer.from(text);
  if (body.length > 125) throw new Error('too long for this sink');
  return Buffer.concat([Buffer.from([0x81, 0x80 | body.length, 0, 0, 0, 0]), body]);
}

if (process.argv[2] === 'sink') {
  const groups = new Map<string, Reader[]>();
  process.on('message', (order: Order) => {
    if (order.do === 'open') {
      let left = order.sockets.count;
      const opened = (): void => {
        left -= 1;
        if (left === 0) process.send?.('open');
      };
      groups.set(
        order.sockets.group,
        Array.from({ length: order.sockets.count }, () => new Reader(order.sockets, opened)),
      );
      return;
    }
    const readers = groups.get(order.group) ?? [];
    if (order.do === 'stop') {
      at(readers, order.index).socket.pause();
      process.send?.('stopped');
      return;
    }
    process.send?.({ frames: readers.map(({ frames }) => frames), lost: readers.map(({ lost }) => lost), agesUs: readers.flatMap(({ agesUs }) => agesUs) } satisfies SinkReport);
  });
}
