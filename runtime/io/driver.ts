/**
 * The seam between the probe and a field protocol (decisions 7, contract 3 "I/O module").
 *
 * A driver is one object (`protocol`, `options`, `parseAddress`, `parseChannel`, `connect`) and one link (`read`,
 * `write`, `lost`, `close`, and what only some devices can: `discover`, `call`, `lastExchange`). Whatever the device does is data: `connect` may reject, nothing else does. The probe
 * calls the link; a link never calls the probe except through the sink of a running read.
 */
import type { ProbeChannel, ProbeModule } from '../port.js';
import type { Clock } from '../vocabulary/clock.js';
import type { Value } from '../vocabulary/data-types.js';
import type { ChannelType, DriverDescription } from './description.js';
import type { CallOutcome, Discovery, Exchange } from './device-answers.js';
import type { ERROR_KINDS } from './statistics-words.js';

export type { CallOutcome };

/** One address of a read or write, in the words of its driver. */
export interface Point {
  readonly address: string;
  readonly dataType: ChannelType;
}

/** Why there is no value (statistics-words.ts). */
export type BadKind = (typeof ERROR_KINDS)[number];

/**
 * Where a read delivers. `position` is the index of the point in the array that was given to `read`.
 * Calls come between `begin` and `end`, without an await in between: the sink may be a process image.
 */
export interface SampleSink {
  begin(): void;
  /** BOOL as 0 or 1. */
  number(position: number, value: number): void;
  /** A whole number beyond 2^53, without loss of digits. */
  integer(position: number, value: bigint): void;
  text(position: number, value: string): void;
  /** `kind` is counted: `refused` where nothing is said. */
  bad(position: number, message: string, kind?: BadKind): void;
  /** After its value: the device gives it with a reservation. */
  uncertain?(position: number, message: string): void;
  /** After its value: wall ms at which the device took it; absent: its arrival. */
  taken?(position: number, wallMs: number): void;
  end(): void;
}

/** As the device keeps them, in ms. */
export interface ArrivalIntervals {
  /** Longest time between two proofs that samples flow, or between two samples of one point. */
  readonly proofMs: number;
  /** Longest time from the taking of a sample to its arrival. */
  readonly delayMs: number;
}

/** What a subscription tells beside its samples. */
export interface ArrivalListener {
  /** Samples flow: what was delivered as Good and did not come again has not changed. */
  proven(): void;
  /** What the device made of the intervals that it was asked for. */
  revised(intervals: ArrivalIntervals): void;
  /** They do not, and why: nothing is known until `proven`. */
  silent(message: string): void;
  /** A message of the subscription has come and its samples are delivered; a keep-alive has none. */
  heard(isKeepAlive: boolean): void;
  /** The device was asked beside the subscription: for every point, because something was missed, or for a sign of life. */
  asked(what: 'reread' | 'sign', outcome: ReadOutcome, tookMs: number): void;
}

/**
 * `answered`: the device spoke, if only to refuse; `silent`: a request ran into its time-out; `lost`: no connection, `isMalformed` where it was given
 * up because of what came.
 */
export type ReadOutcome =
  | { readonly status: 'answered' }
  | { readonly status: 'silent'; readonly message: string; readonly isMalformed?: never }
  | { readonly status: 'lost'; readonly message: string; readonly isMalformed?: true };

/** `isUnknown`: it was on its way and nobody has answered, so that the device may have taken it. */
export type WriteOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: 'unreachable' | 'refused' | 'invalid' | 'withheld'; readonly message: string; readonly isUnknown?: boolean };

/** Why an order may not go to its device any more; undefined: it may. */
export type Barred = () => Extract<WriteOutcome, { ok: false }> | undefined;

export interface Link {
  /** Delivers every point exactly once or, when a request ran into its time-out, at least once as bad. */
  read(points: readonly Point[], sink: SampleSink): Promise<ReadOutcome>;
  /**
   * Writes go before waiting reads and in the order given (write-turns.ts). `barred` is asked when its turn comes, and again before each request that
   * changes the device and follows an answer or a time-out: what is barred then is not sent, however long the order has waited. What it says is the
   * outcome, the very object, where nothing was sent before; else a copy that `isUnknown`. A value that goes in parts is not left half written.
   */
  write(point: Point, value: Value, barred?: Barred): Promise<WriteOutcome>;
  /**
   * How long a read that begins now may wait for its turn and be answered, in ms: a queue on this side is not the silence of the device. Absent or less
   * than the time-out: the time-out of the module.
   */
  readonly patienceMs?: number;
  /** Points of different lanes have nothing to wait for in common (units behind one gateway); absent: one lane. */
  lane?(point: Point): string;
  /**
   * Delivers the points as their samples arrive, until the result is called; absent: they are read. The link tells within 3 s that no
   * samples flow, and makes them flow again.
   */
  readonly subscribe?: (points: readonly Point[], sink: SampleSink, listener: ArrivalListener) => () => Promise<void>;
  /**
   * What the device says of itself and of the channels configured; absent: each of them is read once (`discovery.ts`).
   * @throws Error with a sentence for the operator when the device does not answer.
   */
  discover?(channels: readonly ProbeChannel[], timeoutMs: number): Promise<Discovery>;
  /** Calls a method or service of the device; only of a protocol that `hasServices`. */
  call?(objectId: string, methodId: string, args: readonly Value[], timeoutMs: number): Promise<CallOutcome>;
  /** The last request and its answer; undefined before the first. Made when it is asked for: nothing is written down meanwhile. */
  lastExchange?(): Exchange | undefined;
  /** Resolves once with the reason when the connection is gone, also after `close`. */
  readonly lost: Promise<string>;
  close(): Promise<void>;
}

export interface Driver extends DriverDescription {
  /** @throws Error with a sentence for the operator when the device cannot be reached. */
  connect(module: ProbeModule, clock: Clock): Promise<Link>;
}
