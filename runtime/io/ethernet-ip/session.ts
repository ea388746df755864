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
/** A device that keeps its connection alive says nothing so often within a second. */
const IDLE_FRAMES_MAX = 32;
const IDLE_WITHIN_MS = 1000;
/** What the time-out of a message holds in seconds. */
const SECONDS_MAX = 0xffff;

export type Answer = { readonly ok: true; readonly reply: CipReply } | { readonly ok: false; readonly reason: 'silent' | 'lost'; readonly message: string };
/** `data`: behind the header; of a message that of its data item, without the sequence. */
type Settled = { readonly ok: true; readonly frame: Buffer; readonly data: Buffer } | Extract<Answer, { ok: false }>;

/** A message that is sent again and again: made once, and told from one sending to another by what is written into it. */
export interface Prepared {
  /** Belongs to the session. */
  frame: Buffer;
  readonly service: number;
  readonly command: number;
  readonly connection: Connection | undefined;
  readonly isRouted: boolean;
  /** Its last sending was not answered: it may still lie in the socket. */
  isUnderway: boolean;
}

export interface Connection {
  /** On our messages. */
  readonly originatorToTarget: number;
  /** On those of the device. */
  readonly targetToOriginator: number;
}

interface Job {
  readonly prepared: Prepared;
  readonly settle: (settled: Settled) => void;
}

const unsent = (frame: Buffer, service: number, command: number): Prepared => ({ frame, service, command, connection: undefined, isRouted: false, isUnderway: false });

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
  #flight: Job | undefined;
  /** The last request and what came of it. */
  #sent: Buffer | undefined;
  #sentAtMs: WallMs = 0;
  #sentMonoMs: MonoMs = 0;
  #received: Buffer | undefined;
  #roundTripMs: DurationMs = 0;
  /** One for all requests, one after the other: it looks how long the one in flight has been so. */
  #cancelTimer: (() => void) | undefined;
  #context = 0;
  #sequence = 0;
  #session = 0;
  #connection: Connection | undefined;
  #farewell: Buffer[] = [];
  #partial: Buffer = Buffer.alloc(0);
  /** Frames that say nothing (NOP), since when. */
  #idleFrames = 0;
  #idleMonoMs: MonoMs = 0;

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
    const settled = await this.#ask(unsent(registerSession(), 0, commands.RegisterSession), true);
    if (!settled.ok) throw new Error(settled.message);
    this.#session = settled.frame.readUInt32LE(4);
    this.#farewell = [unregisterSession(this.#session)];
  }

  /** What the device at the address says to List Identity (CIP Volume 2, 2-4.2); empty where it does not know the command. */
  async listIdentity(): Promise<{ readonly ok: true; readonly data: Buffer } | Extract<Answer, { ok: false }>> {
    const frame = Buffer.alloc(HEADER_BYTES);
    frame.writeUInt16LE(commands.ListIdentity, 0);
    const settled = await this.#ask(unsent(frame, 0, commands.ListIdentity), false);
    return settled.ok ? { ok: true, data: settled.data } : settled;
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
    return { frame, service, command: connection ? commands.SendUnitData : commands.SendRRData, connection, isRouted, isUnderway: false };
  }

  async request(prepared: Prepared, urgent: boolean): Promise<Answer> {
    const settled = await this.#ask(prepared, urgent);
    if (!settled.ok) return settled;
    const reply = parseReply(settled.data);
    if (!reply) return this.#refuse('the device sent an answer that is malformed');
    const isOfRoute = prepared.isRouted && reply.service === SERVICE.unconnectedSend && reply.status !== 0;
    if (reply.service !== prepared.service && !isOfRoute)
      return this.#refuse(`the device answered service 0x${reply.service.toString(16)} to a request of service 0x${prepared.service.toString(16)}`);
    return { ok: true, reply };
  }

  lastExchange(): Exchange | undefined {
    return this.#sent && { sent: hex(this.#sent), received: this.#received ? hex(this.#received) : '', atMs: this.#sentAtMs, roundTripMs: this.#roundTripMs };
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

  #ask(prepared: Prepared, urgent: boolean): Promise<Settled> {
    return new Promise((settle) => {
      if (this.#ended.reason !== undefined) {
        settle({ ok: false, reason: 'lost', message: this.#ended.reason });
        return;
      }
      (urgent ? this.#urgent : this.#waiting).push({ prepared, settle });
      this.#send();
    });
  }

  #send(): void {
    if (this.#flight) return;
    const job = this.#urgent.shift() ?? this.#waiting.shift();
    if (!job) return;
    const { prepared } = job;
    if (prepared.isUnderway) prepared.frame = Buffer.from(prepared.frame);
    prepared.isUnderway = true;
    const { frame, connection } = prepared;
    this.#context = (this.#context + 1) >>> 0;
    frame.writeUInt32LE(this.#context, CONTEXT_AT);
    frame.writeUInt32LE(this.#mark, CONTEXT_AT + 4);
    if (connection) {
      this.#sequence = (this.#sequence + 1) & 0xffff;
      frame.writeUInt16LE(this.#sequence, SEQUENCE_AT);
    }
    this.#flight = job;
    this.#sent = frame;
    this.#sentAtMs = this.#clock.wallMs();
    this.#sentMonoMs = this.#clock.monoMs();
    this.#received = undefined;
    this.#roundTripMs = 0;
    if (!this.#cancelTimer) this.#startTimer(this.#timeoutMs);
    this.#socket.write(frame);
  }

  #startTimer(ms: DurationMs): void {
    // a thread that stood still may have the answer in its socket: it is read before anybody is called silent
    this.#cancelTimer = this.#clock.after(ms, () => void setImmediate(() => this.#giveUpDue()));
  }

  #giveUpDue(): void {
    this.#cancelTimer = undefined;
    if (!this.#flight || this.#ended.reason !== undefined) return;
    const leftMs = this.#sentMonoMs + this.#timeoutMs - this.#clock.monoMs();
    if (leftMs > TIMER_EARLY_MS) this.#startTimer(leftMs);
    else this.#settle({ ok: false, reason: 'silent', message: `no answer within ${this.#timeoutMs} ms` });
  }

  #settle(settled: Settled): void {
    const flight = this.#flight;
    if (!flight) return;
    this.#flight = undefined;
    if (settled.ok) flight.prepared.isUnderway = false;
    this.#roundTripMs = this.#clock.monoMs() - this.#sentMonoMs;
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
    if (command === commands.NOP) return this.#idle();
    if (this.#flight) this.#received = frame;
    const data = this.#flight ? this.#dataOf(frame, command, this.#flight.prepared) : 'the device answered a request that nobody waits for any more';
    if (typeof data === 'string') this.#end(data);
    else this.#settle({ ok: true, frame, data });
  }

  #idle(): void {
    const nowMonoMs = this.#clock.monoMs();
    if (nowMonoMs - this.#idleMonoMs > IDLE_WITHIN_MS) {
      this.#idleMonoMs = nowMonoMs;
      this.#idleFrames = 0;
    }
    this.#idleFrames += 1;
    if (this.#idleFrames > IDLE_FRAMES_MAX) this.#end(`the device sent more than ${IDLE_FRAMES_MAX} frames without a meaning (NOP) within a second`);
  }

  /** What a frame answers to what is in flight, or why it is no answer to it. */
  #dataOf(frame: Buffer, command: number, { command: asked, connection }: Prepared): Buffer | string {
    if (command !== asked) return `the device answered command 0x${command.toString(16)} to command 0x${asked.toString(16)}`;
    const isOpening = command === commands.RegisterSession;
    const isOfNoSession = command === commands.ListIdentity;
    if (!connection && (frame.readUInt32LE(CONTEXT_AT) !== this.#context || frame.readUInt32LE(CONTEXT_AT + 4) !== this.#mark))
      return 'the device answered with the sender context of another request';
    const status = frame.readUInt32LE(8);
    if (isOfNoSession) return status === 0 ? frame.subarray(HEADER_BYTES) : Buffer.alloc(0);
    if (status !== 0) return encapsulationStatusText(status);
    const session = frame.readUInt32LE(4);
    if (isOpening ? session === 0 : session !== this.#session) return `the device answered in session ${session}, not in ${this.#session}`;
    if (frame.readUInt32LE(20) !== 0) return 'the device sent an answer with options, which there are none of';
    const data = frame.subarray(HEADER_BYTES);
    if (!isOpening) return dataOfItems(data, connection, this.#sequence);
    return data.length === 4 && data.readUInt16LE(0) === PROTOCOL_VERSION ? data : 'the device speaks another version of the protocol';
  }

  #end(reason: string, farewell?: Buffer): void {
    if (this.#ended.reason !== undefined) return;
    this.#ended.raise(reason);
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
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
