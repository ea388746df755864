/**
 * A line of Modbus RTU, serial or over TCP (Modbus over Serial Line V1.02): one request at a time, for all units and modules on it. A frame has no
 * number, so an answer is known by its unit and function alone.
 *
 * Invariants: what comes while nobody waits is discarded; a frame with a wrong checksum is no answer; after a time-out a unit is asked nothing else
 * until each of its late answers has come or would be too late, so that none is taken for the answer to another request: a repetition is a request of
 * its own, and its answer comes too; units that answer go before those that are silent, so that a silent one delays the others by one time-out at most.
 * That holds over a line that is closed and opened again (`LateAnswers`).
 * What cannot be known: an answer that is later than `LATE_TIMEOUTS` from a unit that was never late before (docs/adr/0060).
 */
import type { Duplex } from 'node:stream';
import type { Clock } from '../../vocabulary/clock.js';
import type { DurationMs, MonoMs, WallMs } from '../../vocabulary/times.js';
import { Signal } from '../signal.js';
import { answerLength, isSound, pduOf, RTU_BYTES_MAX, rtuFrame } from './rtu-frame.js';
import { EXCEPTION_FLAG, type Reply } from './transport.js';
import type { WireRecord } from './wire-record.js';

export interface RtuJob {
  readonly unit: number;
  readonly pdu: Buffer;
  readonly timeoutMs: number;
  readonly isUrgent: boolean;
  readonly record: WireRecord;
  readonly settle: (reply: Reply) => void;
}

interface Waiting extends RtuJob {
  readonly sinceMonoMs: MonoMs;
}

interface Flight {
  readonly job: Waiting;
  readonly frame: Buffer;
  readonly atMs: WallMs;
  readonly sentMonoMs: MonoMs;
  cancel: () => void;
}

/** Answers of a unit that may come late: of one request and its repetitions, which a device answers in their order. */
interface Owed {
  readonly pdu: Buffer;
  /** When each of them was sent; none that was too late before the last time-out. */
  readonly sentMonoMs: MonoMs[];
  /** So long after the last request an answer may come. */
  lateMaxMs: DurationMs;
  /** Longest time-out of them. */
  timeoutMs: DurationMs;
  /** One of them was answered: it is not repeated any more. */
  isAnswered: boolean;
}

/** What a wire still owes, and how late its units are: of the wire and not of the line, which is closed and opened again while a unit is answering. */
export class LateAnswers {
  readonly owed = new Map<number, Owed>();
  /** By unit: how long a late answer took; less with each one that is in time. */
  readonly lateMs = new Map<number, number>();
}

export interface LineTraits {
  /** Silence between two frames. */
  readonly gapMs: number;
  /** Whether a frame that is none ends the connection; a serial line is read on until it is silent. */
  readonly endsOnGarbage: boolean;
  /** Lets go of the wire. */
  close(): void;
}

const BROADCAST_UNIT = 0;
/** Time that units have to carry out a broadcast (serial line guide, 2.4.1: 100 to 200 ms). */
const TURNAROUND_MS = 100;
/** An answer may be so many time-outs late, counted from its request; from a unit that was later before, twice as late as that. */
const LATE_TIMEOUTS = 2;
/** No unit is believed to be later than so many time-outs: one that comes and goes looks later each time, by the requests that it has never heard. */
const LATENESS_TIMEOUTS_MAX = 5;
/** A request to a silent unit waits so many of its time-outs for others, then it has its turn. */
const TURN_TIMEOUTS = 4;
/** So much of its lateness is left of a unit with each answer that comes in time. */
const LATENESS_LEFT = 0.9;
const LATENESS_MS_MIN = 1;

const untilOf = ({ sentMonoMs, lateMaxMs }: Owed): MonoMs => (sentMonoMs.at(-1) ?? 0) + lateMaxMs;

export class RtuLine {
  readonly #stream: Duplex;
  readonly #clock: Clock;
  readonly #traits: LineTraits;
  readonly #waiting: Waiting[] = [];
  /** Units whose last request was answered; the others are silent, or nobody knows them yet. */
  readonly #answering = new Set<number>();
  readonly #owed: Map<number, Owed>;
  readonly #lateMs: Map<number, number>;
  readonly ended = new Signal();
  #flight: Flight | undefined;
  #heardMonoMs: MonoMs = 0;
  #cancelPump: (() => void) | undefined;
  #partial: Buffer = Buffer.alloc(0);
  /** Of the bytes since the last request, none can be believed. */
  #isGarbled = false;
  /** Longest time-out of the modules on the line. */
  timeoutMsMax = 0;

  constructor(stream: Duplex, traits: LineTraits, clock: Clock, { owed, lateMs } = new LateAnswers()) {
    this.#stream = stream;
    this.#owed = owed;
    this.#lateMs = lateMs;
    this.#traits = traits;
    this.#clock = clock;
    stream.on('data', (chunk: Buffer) => this.#receive(chunk));
    stream.on('error', (error: Error) => this.end(error.message));
    stream.on('close', () => this.end('the device closed the connection'));
  }

  request(job: RtuJob): void {
    if (this.ended.reason !== undefined) {
      job.settle({ ok: false, reason: 'lost', message: this.ended.reason });
      return;
    }
    this.#waiting.push({ ...job, sinceMonoMs: this.#clock.monoMs() });
    this.#pump();
  }

  /** Requests of a module that leaves the line are not sent any more. */
  withdraw(record: WireRecord, reason: string): void {
    for (const job of this.#waiting.filter((row) => row.record === record)) {
      this.#waiting.splice(this.#waiting.indexOf(job), 1);
      job.settle({ ok: false, reason: 'lost', message: reason });
    }
  }

  end(reason: string): void {
    if (this.ended.reason !== undefined) return;
    this.ended.raise(reason);
    this.#cancelPump?.();
    const flight = this.#flight;
    this.#flight = undefined;
    flight?.cancel();
    if (flight) this.#owe(flight);
    this.#traits.close();
    const reply: Reply = { ok: false, reason: 'lost', message: reason };
    flight?.job.settle(reply);
    for (const job of this.#waiting.splice(0)) job.settle(reply);
  }

  // -------------------------------------------------------------- requests

  #pump(): void {
    if (this.#flight || this.ended.reason !== undefined || this.#waiting.length === 0) return;
    this.#cancelPump?.(); // what came meanwhile may go at once
    this.#cancelPump = undefined;
    const nowMs = this.#clock.monoMs();
    const quietInMs = this.#heardMonoMs + this.#traits.gapMs - nowMs;
    const job = quietInMs > 0 ? undefined : this.#next(nowMs);
    if (quietInMs > 0) this.#giveUpOnNoise(nowMs);
    if (job) this.#send(job, nowMs);
    else if (this.#waiting.length > 0) this.#pumpIn(quietInMs > 0 ? quietInMs : this.#settledInMs(nowMs));
  }

  /** Bytes that never end leave no gap to speak in: who has waited as long as for silent units is told so. */
  #giveUpOnNoise(nowMs: MonoMs): void {
    for (const job of this.#waiting.filter(({ sinceMonoMs, timeoutMs }) => nowMs - sinceMonoMs >= TURN_TIMEOUTS * timeoutMs)) {
      this.#waiting.splice(this.#waiting.indexOf(job), 1);
      job.settle({ ok: false, reason: 'silent', message: 'the line is never quiet, so that nothing can be asked: noise, or a device that sends without end' });
    }
  }

  #pumpIn(delayMs: number): void {
    this.#cancelPump = this.#clock.after(Math.max(delayMs, 1), () => {
      this.#cancelPump = undefined;
      this.#pump();
    });
  }

  /** Units that answer before silent ones, writes before reads, else in the order they came; undefined: all wait for a late answer. */
  #next(nowMs: MonoMs): Waiting | undefined {
    let best: Waiting | undefined;
    let bestRank = Number.POSITIVE_INFINITY;
    for (const job of this.#waiting) {
      const owed = this.#owed.get(job.unit);
      if (owed && untilOf(owed) > nowMs && (owed.isAnswered || !owed.pdu.equals(job.pdu))) continue;
      const rank = this.#isLast(job, nowMs) * 2 + Number(!job.isUrgent);
      if (rank < bestRank) [best, bestRank] = [job, rank];
    }
    if (best) this.#waiting.splice(this.#waiting.indexOf(best), 1);
    return best;
  }

  #isLast({ unit, sinceMonoMs, timeoutMs }: Waiting, nowMs: MonoMs): 0 | 1 {
    return !this.#answering.has(unit) && nowMs - sinceMonoMs < TURN_TIMEOUTS * timeoutMs ? 1 : 0;
  }

  #settledInMs(nowMs: MonoMs): number {
    let ms = Number.POSITIVE_INFINITY;
    for (const { unit } of this.#waiting) {
      const owed = this.#owed.get(unit);
      ms = Math.min(ms, (owed ? untilOf(owed) : nowMs) - nowMs);
    }
    return ms;
  }

  #send(job: Waiting, nowMs: MonoMs): void {
    const owed = this.#owed.get(job.unit);
    if (owed && untilOf(owed) <= nowMs) this.#owed.delete(job.unit);
    this.#partial = Buffer.alloc(0);
    this.#isGarbled = false;
    const frame = rtuFrame(job.unit, job.pdu);
    const isBroadcast = job.unit === BROADCAST_UNIT;
    const flight: Flight = { job, frame, atMs: this.#clock.wallMs(), sentMonoMs: nowMs, cancel: () => {} };
    this.#flight = flight;
    const due = (): void => (isBroadcast ? this.#carriedOut(flight) : this.#silence(flight));
    const cancelTimer = this.#clock.after(isBroadcast ? TURNAROUND_MS : job.timeoutMs, () => {
      // a thread that stood still may have the answer in its port: that is read first
      const look = setImmediate(due);
      flight.cancel = () => clearImmediate(look);
    });
    flight.cancel = cancelTimer;
    this.#stream.write(frame);
  }

  /** Nobody answers a broadcast: a write was sent to all, a read asks nobody. */
  #carriedOut(flight: Flight): void {
    const { pdu } = flight.job;
    const isRead = (pdu[0] ?? 0) <= 4 || pdu[0] === 43;
    this.#settle(
      flight,
      isRead ? { ok: false, reason: 'silent', message: 'unit 0 is all units of the line at once: it can be written, nobody answers a read' } : { ok: true, pdu },
      undefined,
    );
  }

  #silence(flight: Flight): void {
    const { unit, timeoutMs } = flight.job;
    this.#answering.delete(unit);
    this.#owe(flight);
    const message = this.#isGarbled
      ? `what came within ${timeoutMs} ms is no sound answer: wrong baud rate, parity or wiring, or two units of one number`
      : `no answer within ${timeoutMs} ms`;
    this.#settle(flight, { ok: false, reason: 'silent', message }, undefined);
  }

  /** It may be answered yet. */
  #owe(flight: Flight): void {
    const { unit, pdu } = flight.job;
    if (unit === BROADCAST_UNIT) return;
    const owed: Owed = this.#owed.get(unit) ?? { pdu, sentMonoMs: [], lateMaxMs: 0, timeoutMs: 0, isAnswered: false };
    this.#alsoOwed(owed, flight);
    this.#owed.set(unit, owed);
  }

  #settle(flight: Flight, reply: Reply, received: Buffer | undefined): void {
    if (this.#flight !== flight) return;
    this.#flight = undefined;
    flight.cancel();
    flight.job.record.note(flight.frame, received ?? (this.#partial.length > 0 ? this.#partial : undefined), flight.atMs, this.#clock.monoMs() - flight.sentMonoMs);
    flight.job.settle(reply);
    this.#pump();
  }

  // -------------------------------------------------------------- answers

  #receive(chunk: Buffer): void {
    this.#heardMonoMs = this.#clock.monoMs();
    if (this.#isGarbled || this.ended.reason !== undefined) return;
    this.#partial = this.#partial.length > 0 ? Buffer.concat([this.#partial, chunk]) : Buffer.from(chunk);
    while (this.#partial.length > 0 && this.ended.reason === undefined && !this.#isGarbled) {
      const length = answerLength(this.#partial);
      if (length === 0 || (length === undefined && this.#partial.length > RTU_BYTES_MAX)) return this.#garbled('bytes that are no answer of Modbus RTU');
      if (length === undefined || this.#partial.length < length) return;
      const frame = this.#partial.subarray(0, length);
      if (!isSound(frame)) return this.#garbled('a frame with a wrong checksum');
      this.#partial = this.#partial.subarray(length);
      this.#frame(frame);
    }
  }

  #frame(frame: Buffer): void {
    const flight = this.#flight;
    const unit = frame.readUInt8(0);
    const code = frame.readUInt8(1) & ~EXCEPTION_FLAG;
    const owed = this.#owed.get(unit);
    if (flight && unit === flight.job.unit && code === flight.job.pdu[0]) {
      this.#answering.add(unit);
      if (owed) this.#answeredOneOf(owed, flight);
      else this.#inTime(unit);
      this.#settle(flight, { ok: true, pdu: pduOf(frame) }, frame);
      return;
    }
    if (owed && code === owed.pdu[0]) {
      this.#answering.add(unit); // late, but it is there
      this.#late(owed, unit);
      if (owed.sentMonoMs.length === 0) this.#owed.delete(unit);
      this.#pump();
      return;
    }
    this.#garbled(`an answer of unit ${unit}, function ${code}, which nobody has asked`);
  }

  /** The answer to the repetition, or that to the request before it: the other one may come still. */
  #answeredOneOf(owed: Owed, flight: Flight): void {
    this.#late(owed, flight.job.unit);
    owed.isAnswered = true;
    this.#alsoOwed(owed, flight);
  }

  /** A unit that is away is asked for days: what came too late by now is not owed any more. */
  #alsoOwed(owed: Owed, { job, sentMonoMs }: Flight): void {
    owed.lateMaxMs = Math.max(LATE_TIMEOUTS * job.timeoutMs, 2 * (this.#lateMs.get(job.unit) ?? 0));
    owed.timeoutMs = Math.max(owed.timeoutMs, job.timeoutMs);
    owed.sentMonoMs.push(sentMonoMs);
    const nowMs = this.#clock.monoMs();
    while ((owed.sentMonoMs[0] ?? nowMs) + owed.lateMaxMs + job.timeoutMs <= nowMs) owed.sentMonoMs.shift();
  }

  #late(owed: Owed, unit: number): void {
    const nowMs = this.#clock.monoMs();
    const lateMs = Math.min(nowMs - (owed.sentMonoMs.shift() ?? nowMs), LATENESS_TIMEOUTS_MAX * owed.timeoutMs);
    this.#lateMs.set(unit, lateMs);
    owed.lateMaxMs = Math.max(owed.lateMaxMs, 2 * lateMs);
  }

  #inTime(unit: number): void {
    const lateMs = this.#lateMs.get(unit);
    if (lateMs === undefined) return;
    if (lateMs < LATENESS_MS_MIN) this.#lateMs.delete(unit);
    else this.#lateMs.set(unit, LATENESS_LEFT * lateMs);
  }

  #garbled(what: string): void {
    if (this.#traits.endsOnGarbage) this.end(`the device sent ${what}`);
    else this.#isGarbled = this.#flight !== undefined;
    if (!this.#flight) this.#partial = Buffer.alloc(0);
  }
}
