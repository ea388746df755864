/**
 * An EtherNet/IP session over one socket (CIP Volume 2, chapter 2): one request in flight, matched by its sender context or, on a connection,
 * by its sequence.
 *
 * Invariants: a reply without its request (late, doubled, foreign) is discarded and ends the connection (decisions D-IO-02), so that no value is
 * ever taken for another's; every request is answered, by the device, by its time-out or by the end of the connection; nothing that arrives
 * throws out of an event of the socket; no more is kept of what arrives than one frame of bounded length.
 */
import type { Duplex } from 'node:stream';
import { commands, registerSession, sendRRData, sendUnitData, unregisterSession } from 'st-ethernet-ip/dist/enip/encapsulation/index.js';
import { inside } from '../../vocabulary/assert.js';
import type { Clock } from '../../vocabulary/clock.js';
import type { DurationMs, MonoMs, WallMs } from '../../vocabulary/times.js';
import type { Exchange } from '../device-answers.js';
import { Signal } from '../signal.js';
import { type CipReply, parseItems, parseReply } from './reply.js';
import { SERVICE } from './request.js';
import { encapsulationStatusText } from './status.js';

const HEADER_BYTES = 24;
const CONTEXT_AT = 12;
/** Of a prepared connected message: header, interface, count, address item, head of the data item. */
const SEQUENCE_AT = HEADER_BYTES + 6 + 2 + 8 + 4;
/** The largest answer that is read: a connection of 4002 bytes, its items, and some. */
const DATA_BYTES_MAX = 8192;
const TIMER_EARLY_MS = 1; // timers of Node may fire up to a millisecond early
const ITEM = { null: 0x00, connected: 0xa1, connectedData: 0xb1, unconnectedData: 0xb2 } as const;
const PROTOCOL_VERSION = 1;
/** What the time-out of a message holds in seconds. */
const SECONDS_MAX = 0xffff;

export type Answer = { readonly ok: true; readonly reply: CipReply } | { readonly ok: false; readonly reason: 'silent' | 'lost'; readonly message: string };
/** `data`: behind the header; of a message that of its data item, without the sequence. */
type Settled = { readonly ok: true; readonly frame: Buffer; readonly data: Buffer } | Extract<Answer, { ok: false }>;

/** A message that is sent again and again: everything but what tells one sending from another. */
export interface Prepared {
  readonly frame: Buffer;
  readonly service: number;
  readonly isConnected: boolean;
  readonly isRouted: boolean;
}

export interface Connection {
  /** On our messages. */
  readonly originatorToTarget: number;
  /** On those of the device. */
  readonly targetToOriginator: number;
}

interface Job {
  readonly frame: Buffer;
  readonly command: number;
  readonly connection: Connection | undefined;
  readonly settle: (settled: Settled) => void;
}

interface Flight extends Job {
  readonly context: number;
  readonly sequence: number;
  readonly sentMonoMs: MonoMs;
}

/** The last request and what came of it. */
interface Told {
  readonly sent: Buffer;
  readonly atMs: WallMs;
  readonly sentMonoMs: MonoMs;
  received: Buffer | undefined;
  roundTripMs: DurationMs;
}

const hex = (bytes: Buffer): string => bytes.toString('hex').replace(/..(?!$)/g, '$& ');

export class EnipSession {
  readonly #socket: Duplex;
  readonly #clock: Clock;
  readonly #timeoutMs: DurationMs;
  /** What answers of this connection carry, beside the number of their request. */
  readonly #mark: number;
  readonly #ended = new Signal();
  readonly #urgent: Job[] = [];
  readonly #waiting: Job[] = [];
  #flight: Flight | undefined;
  #told: Told | undefined;
  #cancelTimer: (() => void) | undefined;
  #context = 0;
  #sequence = 0;
  #session = 0;
  #connection: Connection | undefined;
  #farewell: Buffer[] = [];
  #partial: Buffer = Buffer.alloc(0);

  constructor(socket: Duplex, timeoutMs: DurationMs, clock: Clock, mark: number) {
    this.#socket = socket;
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
    this.#mark = mark;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.#end(error.message));
    socket.on('close', () => this.#end('the device closed the connection'));
    socket.on('end', () => this.#end('the device closed the connection'));
  }

  get lost(): Promise<string> {
    return this.#ended.promise;
  }

  /** Messages go over a connection. */
  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  /** @throws Error with a sentence when the device gives no session. */
  async register(): Promise<void> {
    const settled = await this.#ask({ frame: registerSession(), command: commands.RegisterSession, connection: undefined }, true);
    if (!settled.ok) throw new Error(settled.message);
    this.#session = settled.frame.readUInt32LE(4);
    this.#farewell = [unregisterSession(this.#session)];
  }

  /** From now on messages go over the connection; `closing` is sent before the session ends. */
  useConnection(connection: Connection, closing: Prepared): void {
    this.#connection = connection;
    this.#farewell = [closing.frame, unregisterSession(this.#session)];
  }

  /** `message` as the device gets it: over the connection, or by itself. `isRouted`: it goes through Unconnected Send. */
  prepare(message: Buffer, service: number, isRouted: boolean): Prepared {
    const connection = isRouted ? undefined : this.#connection;
    const frame = connection
      ? sendUnitData(this.#session, message, connection.originatorToTarget, 0)
      : sendRRData(this.#session, message, Math.min(Math.ceil(this.#timeoutMs / 1000), SECONDS_MAX));
    return { frame, service, isConnected: connection !== undefined, isRouted };
  }

  async request(prepared: Prepared, urgent: boolean): Promise<Answer> {
    const command = prepared.isConnected ? commands.SendUnitData : commands.SendRRData;
    const settled = await this.#ask({ frame: prepared.frame, command, connection: prepared.isConnected ? this.#connection : undefined }, urgent);
    if (!settled.ok) return settled;
    const reply = parseReply(settled.data);
    if (!reply) return this.#refuse('the device sent an answer that is malformed');
    const isOfRoute = prepared.isRouted && reply.service === SERVICE.unconnectedSend && reply.status !== 0;
    if (reply.service !== prepared.service && !isOfRoute)
      return this.#refuse(`the device answered service 0x${reply.service.toString(16)} to a request of service 0x${prepared.service.toString(16)}`);
    return { ok: true, reply };
  }

  lastExchange(): Exchange | undefined {
    const told = this.#told;
    return told && { sent: hex(told.sent), received: told.received ? hex(told.received) : '', atMs: told.atMs, roundTripMs: told.roundTripMs };
  }

  /** What the device says cannot be trusted: nothing more is taken from this connection. */
  #refuse(message: string): Answer {
    this.#end(message);
    return { ok: false, reason: 'lost', message };
  }

  /** Lets go in good order: connection, session, socket. */
  close(): void {
    const farewell = this.#ended.reason === undefined && this.#session !== 0 ? Buffer.concat(this.#farewell) : undefined;
    this.#end('the connection was closed here', farewell);
  }

  #ask(job: Omit<Job, 'settle'>, urgent: boolean): Promise<Settled> {
    return new Promise((settle) => {
      if (this.#ended.reason !== undefined) {
        settle({ ok: false, reason: 'lost', message: this.#ended.reason });
        return;
      }
      (urgent ? this.#urgent : this.#waiting).push({ ...job, settle });
      this.#send();
    });
  }

  #send(): void {
    if (this.#flight) return;
    const job = this.#urgent.shift() ?? this.#waiting.shift();
    if (!job) return;
    this.#context = (this.#context + 1) >>> 0;
    const frame = Buffer.from(job.frame); // the one before may still lie in the socket
    frame.writeUInt32LE(this.#context, CONTEXT_AT);
    frame.writeUInt32LE(this.#mark, CONTEXT_AT + 4);
    if (job.connection) {
      this.#sequence = (this.#sequence + 1) & 0xffff;
      frame.writeUInt16LE(this.#sequence, SEQUENCE_AT);
    }
    const sentMonoMs = this.#clock.monoMs();
    this.#flight = { ...job, context: this.#context, sequence: this.#sequence, sentMonoMs };
    this.#told = { sent: frame, atMs: this.#clock.wallMs(), sentMonoMs, received: undefined, roundTripMs: 0 };
    this.#startTimer(this.#timeoutMs);
    this.#socket.write(frame);
  }

  #startTimer(ms: DurationMs): void {
    // a thread that stood still may have the answer in its socket: it is read before anybody is called silent
    this.#cancelTimer = this.#clock.after(ms, () => void setImmediate(() => this.#giveUpDue()));
  }

  #giveUpDue(): void {
    if (!this.#flight) return;
    const leftMs = this.#flight.sentMonoMs + this.#timeoutMs - this.#clock.monoMs();
    if (leftMs <= TIMER_EARLY_MS) this.#settle({ ok: false, reason: 'silent', message: `no answer within ${this.#timeoutMs} ms` });
    else if (this.#ended.reason === undefined) {
      this.#cancelTimer?.();
      this.#startTimer(leftMs);
    }
  }

  #settle(settled: Settled): void {
    const flight = this.#flight;
    if (!flight) return;
    this.#flight = undefined;
    this.#cancelTimer?.();
    if (this.#told) this.#told.roundTripMs = this.#clock.monoMs() - this.#told.sentMonoMs;
    flight.settle(settled);
    if (this.#ended.reason === undefined) this.#send();
  }

  #receive(chunk: Buffer): void {
    let rest = this.#partial.length > 0 ? Buffer.concat([this.#partial, chunk]) : chunk;
    while (rest.length >= HEADER_BYTES && this.#ended.reason === undefined) {
      const bytes = HEADER_BYTES + rest.readUInt16LE(2);
      if (bytes > HEADER_BYTES + DATA_BYTES_MAX) {
        this.#end(`the device announced a message of ${bytes - HEADER_BYTES} bytes, which is not EtherNet/IP`);
        return;
      }
      if (rest.length < bytes) break;
      this.#frame(rest.subarray(0, bytes));
      rest = rest.subarray(bytes);
    }
    this.#partial = this.#ended.reason === undefined && rest.length > 0 ? Buffer.from(rest) : Buffer.alloc(0); // a copy, so that the received slab is not kept alive
  }

  #frame(frame: Buffer): void {
    const command = frame.readUInt16LE(0);
    if (command === commands.NOP) return;
    if (this.#told && this.#flight) this.#told.received = frame;
    const data = this.#flight ? this.#dataOf(frame, command, this.#flight) : 'the device answered a request that nobody waits for any more';
    if (typeof data === 'string') this.#end(data);
    else this.#settle({ ok: true, frame, data });
  }

  /** What a frame answers to what is in flight, or why it is no answer to it. */
  #dataOf(frame: Buffer, command: number, flight: Flight): Buffer | string {
    if (command !== flight.command) return `the device answered command 0x${command.toString(16)} to command 0x${flight.command.toString(16)}`;
    const isOpening = command === commands.RegisterSession;
    if (!flight.connection && (frame.readUInt32LE(CONTEXT_AT) !== flight.context || frame.readUInt32LE(CONTEXT_AT + 4) !== this.#mark))
      return 'the device answered with the sender context of another request';
    const status = frame.readUInt32LE(8);
    if (status !== 0) return encapsulationStatusText(status);
    const session = frame.readUInt32LE(4);
    if (isOpening ? session === 0 : session !== this.#session) return `the device answered in session ${session}, not in ${this.#session}`;
    if (frame.readUInt32LE(20) !== 0) return 'the device sent an answer with options, which there are none of';
    const data = frame.subarray(HEADER_BYTES);
    if (!isOpening) return dataOfItems(data, flight.connection, flight.sequence);
    return data.length === 4 && data.readUInt16LE(0) === PROTOCOL_VERSION ? data : 'the device speaks another version of the protocol';
  }

  #end(reason: string, farewell?: Buffer): void {
    if (this.#ended.reason !== undefined) return;
    this.#ended.raise(reason);
    if (farewell) this.#leave(farewell);
    else this.#socket.destroy();
    const lost: Settled = { ok: false, reason: 'lost', message: reason };
    this.#settle(lost);
    for (const queue of [this.#urgent, this.#waiting]) while (queue.length > 0) inside(queue.splice(0, 1), 0, 'the queue has a first job').settle(lost);
  }

  /** The last words go out before the socket is destroyed, and are not waited for longer than any answer. */
  #leave(farewell: Buffer): void {
    const destroy = (): void => {
      cancel();
      this.#socket.destroy();
    };
    const cancel = this.#clock.after(this.#timeoutMs, destroy);
    this.#socket.end(farewell, destroy);
    this.#socket.once('close', cancel);
  }
}

/** The message in the items of an answer, or why they are none: those of a connection name it and the sequence of the request. */
function dataOfItems(bytes: Buffer, connection: Connection | undefined, sequence: number): Buffer | string {
  const items = parseItems(bytes);
  if (!items) return 'the device sent an answer of the wrong length';
  const { addressType, address, dataType, data } = items;
  const isOfKind = connection
    ? addressType === ITEM.connected && address.length === 4 && dataType === ITEM.connectedData && data.length >= 2
    : addressType === ITEM.null && address.length === 0 && dataType === ITEM.unconnectedData;
  if (!isOfKind) return 'the device sent an answer of another kind';
  if (!connection) return data;
  if (address.readUInt32LE(0) !== connection.targetToOriginator) return 'the device answered on another connection';
  return data.readUInt16LE(0) === sequence ? data.subarray(2) : 'the device answered with the sequence of another request';
}
