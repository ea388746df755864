/**
 * Modbus TCP client (Modbus Messaging on TCP/IP Implementation Guide V1.0b): one socket, matched transaction ids.
 *
 * Invariants: one request in flight per unit; a reply without its request (late, doubled, foreign) is discarded and
 * ends the connection (decisions D-IO-02), so that no value is ever taken for another's; every request is answered,
 * by the device, by its time-out or by the end of the connection; the socket is destroyed exactly once.
 */
import { assert } from '../../vocabulary/assert.js';
import net from 'node:net';
import type { Clock } from '../../vocabulary/clock.js';
import type { MonoMs } from '../../vocabulary/times.js';
import { Signal } from '../signal.js';
import type { Exchange } from '../device-answers.js';
import type { WallMs } from '../../vocabulary/times.js';
import { EXCEPTION_FLAG, type Reply, type Transport } from './transport.js';
import { WireRecord } from './wire-record.js';

const HEADER_BYTES = 7;
const TIMER_EARLY_MS = 1; // timers of Node may fire up to a millisecond early
const PDU_BYTES_MAX = 253; // Modbus Application Protocol V1.1b3, 4.1

interface Job {
  readonly unit: number;
  readonly pdu: Buffer;
  readonly settle: (reply: Reply) => void;
}

interface Flight extends Job {
  readonly frame: Buffer;
  readonly sentMonoMs: MonoMs;
  readonly atMs: WallMs;
}

interface Lane {
  busy: boolean;
  readonly urgent: Job[];
  readonly waiting: Job[];
}

export interface MbapTarget {
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
}

export class MbapClient implements Transport {
  readonly #socket: net.Socket;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #ended = new Signal();
  readonly #record = new WireRecord();
  readonly #lanes = new Map<number, Lane>();
  readonly #flights = new Map<number, Flight>();
  /** One timer for all flights: they have one time-out, so the oldest is due first. */
  #cancelTimer: (() => void) | undefined;
  #transaction = 0;
  #partial: Buffer = Buffer.alloc(0);

  constructor(socket: net.Socket, timeoutMs: number, clock: Clock) {
    this.#socket = socket;
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.#end(error.message));
    socket.on('close', () => this.#end('the device closed the connection'));
  }

  get lost(): Promise<string> {
    return this.#ended.promise;
  }

  request(unit: number, pdu: Buffer, urgent: boolean): Promise<Reply> {
    return new Promise((settle) => {
      if (this.#ended.reason !== undefined) {
        settle({ ok: false, reason: 'lost', message: this.#ended.reason });
        return;
      }
      const lane = this.#lane(unit);
      (urgent ? lane.urgent : lane.waiting).push({ unit, pdu, settle });
      this.#send(lane);
    });
  }

  /** Behind a request of somebody else, a poll has its own time-out from its sending on. */
  get patienceMs(): number {
    return this.#flights.size > 0 ? 2 * this.#timeoutMs : 0;
  }

  get lastExchange(): Exchange | undefined {
    return this.#record.last;
  }

  close(): void {
    this.#end('the connection was closed here');
  }

  #lane(unit: number): Lane {
    const lane = this.#lanes.get(unit) ?? { busy: false, urgent: [], waiting: [] };
    this.#lanes.set(unit, lane);
    return lane;
  }

  #send(lane: Lane): void {
    if (lane.busy) return;
    const job = lane.urgent.shift() ?? lane.waiting.shift();
    if (!job) return;
    lane.busy = true;
    const id = this.#nextTransaction();
    this.#cancelTimer ??= this.#clock.after(this.#timeoutMs, () => this.#lookOnceMore());
    const frame = Buffer.allocUnsafe(HEADER_BYTES + job.pdu.length);
    frame.writeUInt16BE(id, 0);
    frame.writeUInt16BE(0, 2);
    frame.writeUInt16BE(job.pdu.length + 1, 4);
    frame[6] = job.unit;
    job.pdu.copy(frame, HEADER_BYTES);
    this.#flights.set(id, { unit: job.unit, pdu: job.pdu, settle: job.settle, frame, sentMonoMs: this.#clock.monoMs(), atMs: this.#clock.wallMs() });
    this.#socket.write(frame);
  }

  #nextTransaction(): number {
    assert(this.#flights.size < 0x10000, 'one request in flight per unit leaves transaction numbers free');
    do this.#transaction = (this.#transaction + 1) & 0xffff;
    while (this.#flights.has(this.#transaction));
    return this.#transaction;
  }

  /** A thread that stood still may have the answers in its socket: they are read before anybody is called silent. */
  #lookOnceMore(): void {
    setImmediate(() => this.#giveUpDue());
  }

  #giveUpDue(): void {
    this.#cancelTimer = undefined;
    const nowMs = this.#clock.monoMs() + TIMER_EARLY_MS;
    const due = [...this.#flights].filter(([, flight]) => flight.sentMonoMs + this.#timeoutMs <= nowMs).map(([id]) => id);
    for (const id of due) this.#settle(id, { ok: false, reason: 'silent', message: `no answer within ${this.#timeoutMs} ms` }, undefined);
    const [next] = this.#flights.values();
    if (next && this.#ended.reason === undefined) this.#cancelTimer ??= this.#clock.after(next.sentMonoMs + this.#timeoutMs - this.#clock.monoMs(), () => this.#lookOnceMore());
  }

  #settle(id: number, reply: Reply, received: Buffer | undefined): void {
    const flight = this.#flights.get(id);
    if (!flight) return;
    this.#flights.delete(id);
    this.#record.note(flight.frame, received, flight.atMs, this.#clock.monoMs() - flight.sentMonoMs);
    const lane = this.#lane(flight.unit);
    assert(lane.busy, 'a request in flight keeps its lane busy');
    lane.busy = false;
    flight.settle(reply);
    if (this.#ended.reason === undefined) this.#send(lane);
  }

  #receive(chunk: Buffer): void {
    let rest = this.#partial.length > 0 ? Buffer.concat([this.#partial, chunk]) : chunk;
    while (rest.length >= HEADER_BYTES && this.#ended.reason === undefined) {
      const length = rest.readUInt16BE(4);
      if (rest.readUInt16BE(2) !== 0 || length < 3 || length > PDU_BYTES_MAX + 1) {
        this.#end('the device sent a frame that is not Modbus TCP', true);
        return;
      }
      if (rest.length < HEADER_BYTES - 1 + length) break;
      this.#frame(rest.subarray(0, HEADER_BYTES - 1 + length));
      rest = rest.subarray(HEADER_BYTES - 1 + length);
    }
    this.#partial = Buffer.from(rest); // a copy, so that the received slab is not kept alive by a few bytes
  }

  #frame(frame: Buffer): void {
    const id = frame.readUInt16BE(0);
    const flight = this.#flights.get(id);
    if (!flight) {
      this.#end(`the device answered transaction ${id}, which nobody waits for any more`, true);
      return;
    }
    const pdu = frame.subarray(HEADER_BYTES);
    if (frame[6] !== flight.unit || (pdu.readUInt8(0) & ~EXCEPTION_FLAG) !== flight.pdu[0]) {
      this.#end(`the device answered unit ${frame[6]}, function ${pdu[0]} to a request for unit ${flight.unit}, function ${flight.pdu[0]}`, true);
      return;
    }
    this.#settle(id, { ok: true, pdu }, frame);
  }

  #end(reason: string, isMalformed = false): void {
    if (this.#ended.reason !== undefined) return;
    this.#ended.raise(reason);
    this.#cancelTimer?.();
    this.#socket.destroy();
    const reply: Reply = { ok: false, reason: 'lost', message: reason, isMalformed };
    for (const id of [...this.#flights.keys()]) this.#settle(id, reply, undefined);
    for (const lane of this.#lanes.values()) {
      for (const job of [...lane.urgent.splice(0), ...lane.waiting.splice(0)]) job.settle(reply);
    }
  }
}

/** @throws Error when nobody accepts a connection within the time-out; no socket is left behind. */
export function connectSocket(target: MbapTarget, clock: Clock): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host: target.host, port: target.port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 10_000 });
    const fail = (error: Error): void => {
      cancel();
      socket.on('error', () => {}); // a second error of a socket that was given up says nothing new
      socket.destroy();
      reject(error);
    };
    const cancel = clock.after(target.timeoutMs, () => fail(new Error(`${target.host}:${target.port} does not answer within ${target.timeoutMs} ms`)));
    socket.once('error', fail);
    socket.once('connect', () => {
      cancel();
      socket.off('error', fail);
      resolve(socket);
    });
  });
}

/** @throws Error when the device does not accept a connection within its time-out. */
export async function connectMbap(target: MbapTarget, clock: Clock): Promise<MbapClient> {
  return new MbapClient(await connectSocket(target, clock), target.timeoutMs, clock);
}
