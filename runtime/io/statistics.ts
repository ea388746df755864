/**
 * What a probe counts of the way to one device (ADR 0076, 0096): polls and how long they took, what came by itself, errors by kind, connections, and by channel
 * samples and the age of the last good one. Counted where it happens, told when somebody asks.
 *
 * Invariant: counting a poll allocates nothing; what is asked for is made then.
 */
import type { ArrivalCounts, ErrorCounts, ProbeStatistics } from '../port.js';
import { inside } from '../vocabulary/assert.js';
import type { MonoMs, WallMs } from '../vocabulary/times.js';
import type { BadKind, ReadOutcome } from './driver.js';
import { ERROR_KINDS, ROUND_TRIP_UP_TO_MS } from './statistics-words.js';

/** What the last counted read has delivered of a channel; beyond these `BAD` and the place of the kind. */
const NOTHING = 0;
const GOOD = 1;
const BAD = 2;

const KINDS = ERROR_KINDS.length;
const PLACE: Readonly<Record<BadKind, number>> = { silent: 0, refused: 1, lost: 2, malformed: 3 };

interface Counted {
  readonly channel: number;
}

/** Takes what is delivered of channels. */
export interface SampleCounts {
  good(channel: number, monoMs: MonoMs): void;
  bad(channel: number, kind: BadKind): void;
}

/** Of one list of channels: a poll of before goes on counting into its own when the module gets others. */
export class ChannelCounts implements SampleCounts {
  readonly goods: Float64Array;
  /** By channel, then by the place of the kind: samples. */
  readonly errors: Float64Array;
  readonly lastGoodMonoMs: Float64Array;
  readonly delivered: Uint8Array;

  constructor(channels: number) {
    this.goods = new Float64Array(channels);
    this.errors = new Float64Array(channels * KINDS);
    this.lastGoodMonoMs = new Float64Array(channels);
    this.delivered = new Uint8Array(channels);
  }

  /** A poll begins. */
  begin(points: readonly Counted[]): void {
    for (const { channel } of points) this.delivered[channel] = NOTHING;
  }

  good(channel: number, monoMs: MonoMs): void {
    this.delivered[channel] = GOOD;
    raise(this.goods, channel);
    this.lastGoodMonoMs[channel] = monoMs;
  }

  /** Samples flow, and its last one holds. */
  confirmed(channel: number, monoMs: MonoMs): void {
    if (this.delivered[channel] === GOOD) this.lastGoodMonoMs[channel] = monoMs;
  }

  bad(channel: number, kind: BadKind): void {
    this.delivered[channel] = BAD + PLACE[kind];
  }
}

export class ModuleStatistics {
  readonly #sinceMs: WallMs;
  /** By the place of the kind: polls in which it was met. */
  readonly #errors = new Float64Array(KINDS);
  /** One more than the bounds: the last is of what took longer. */
  readonly #roundTrips = new Float64Array(ROUND_TRIP_UP_TO_MS.length + 1);
  readonly #met = new Uint8Array(KINDS);
  #channels: ChannelCounts;
  #polls = 0;
  #latePolls = 0;
  #connects = 0;
  #failedConnects = 0;
  #sumMs = 0;
  #maxMs = 0;
  /** Kinds met since the last message of a subscription, or the last read beside it. */
  readonly #arrivedBad = new Uint8Array(KINDS);
  #arrivals: { -readonly [Count in keyof ArrivalCounts]: number } | null = null;

  constructor(channels: number, sinceMs: WallMs) {
    this.#sinceMs = sinceMs;
    this.#channels = new ChannelCounts(channels);
  }

  get channels(): ChannelCounts {
    return this.#channels;
  }

  /** The channels are others: what was counted of them is over, what was counted of the module goes on. */
  renew(channels: number): void {
    this.#channels = new ChannelCounts(channels);
  }

  connected(): void {
    this.#connects += 1;
  }

  connectFailed(): void {
    this.#failedConnects += 1;
  }

  /** It has not ended when the next one was due. */
  late(): void {
    this.#latePolls += 1;
  }

  /** A poll has ended. What it did not deliver, or delivered as Bad, while the device was silent or lost, was so because of that. */
  end(counts: ChannelCounts, points: readonly Counted[], outcome: ReadOutcome, tookMs: number): void {
    this.#polls += 1;
    this.#met.fill(0);
    const failed = outcome.status === 'answered' ? undefined : PLACE[outcome.isMalformed ? 'malformed' : outcome.status];
    if (failed === undefined) this.#took(tookMs);
    else this.#met[failed] = 1;
    for (const { channel } of points) {
      const delivered = inside(counts.delivered, channel, 'what is counted is a channel of the module');
      if (delivered === GOOD || (delivered === NOTHING && failed === undefined)) continue;
      const place = failed ?? delivered - BAD;
      this.#met[place] = 1;
      raise(counts.errors, channel * KINDS + place);
    }
    for (let place = 0; place < KINDS; place += 1) if (this.#met[place] === 1) raise(this.#errors, place);
  }

  /** Between two polls: what was followed has become Bad by that. A poll on its way ends as lost by itself. */
  connectionLost(points: readonly Counted[]): void {
    this.#ended(points, 'lost');
  }

  // -------------------------------------------------------------- what comes by itself

  /** Samples are not polled but come. @returns what counts them as they come, until the channels are others. */
  follow(): SampleCounts {
    this.#arrivals ??= { notifications: 0, keepAlives: 0, proofs: 0, rereads: 0 };
    const counts = this.#channels;
    return {
      good: (channel, monoMs) => counts.good(channel, monoMs),
      bad: (channel, kind) => {
        counts.bad(channel, kind);
        raise(counts.errors, channel * KINDS + PLACE[kind]);
        this.#arrivedBad[PLACE[kind]] = 1;
      },
    };
  }

  heard(isKeepAlive: boolean): void {
    if (!this.#arrivals) return;
    this.#arrivals[isKeepAlive ? 'keepAlives' : 'notifications'] += 1;
    this.#raiseArrived();
  }

  proven(points: readonly Counted[], monoMs: MonoMs): void {
    if (this.#arrivals) this.#arrivals.proofs += 1;
    for (const { channel } of points) this.#channels.confirmed(channel, monoMs);
  }

  /** A read beside the subscription has ended; what it has delivered was counted as it came. */
  asked(what: 'reread' | 'sign', outcome: ReadOutcome, tookMs: number): void {
    this.#polls += 1;
    if (what === 'reread' && this.#arrivals) this.#arrivals.rereads += 1;
    if (outcome.status === 'answered') this.#took(tookMs);
    else this.#arrivedBad[PLACE[outcome.isMalformed ? 'malformed' : outcome.status]] = 1;
    this.#raiseArrived();
  }

  /** Nothing proves any more that samples flow: what was Good has become Bad by that. */
  silenced(points: readonly Counted[]): void {
    this.#ended(points, 'silent');
  }

  #raiseArrived(): void {
    for (let place = 0; place < KINDS; place += 1) if (this.#arrivedBad[place] === 1) raise(this.#errors, place);
    this.#arrivedBad.fill(0);
  }

  #ended(points: readonly Counted[], kind: BadKind): void {
    const { errors, delivered } = this.#channels;
    raise(this.#errors, PLACE[kind]);
    for (const { channel } of points) {
      if (delivered[channel] !== GOOD) continue;
      delivered[channel] = BAD + PLACE[kind];
      raise(errors, channel * KINDS + PLACE[kind]);
    }
  }

  #took(tookMs: number): void {
    let bucket = 0;
    while (bucket < ROUND_TRIP_UP_TO_MS.length && tookMs > inside(ROUND_TRIP_UP_TO_MS, bucket, 'the loop ends behind the last bound')) bucket += 1;
    raise(this.#roundTrips, bucket);
    this.#sumMs += tookMs;
    this.#maxMs = Math.max(this.#maxMs, tookMs);
  }

  report(nowMonoMs: MonoMs): ProbeStatistics {
    const { lastGoodMonoMs, goods, errors } = this.#channels;
    return {
      sinceMs: this.#sinceMs,
      polls: this.#polls,
      latePolls: this.#latePolls,
      reconnects: Math.max(0, this.#connects - 1),
      failedConnects: this.#failedConnects,
      errors: countsOf(this.#errors, 0),
      roundTrip: { sumMs: this.#sumMs, maxMs: this.#maxMs, counts: [...this.#roundTrips] },
      arrivals: this.#arrivals && { ...this.#arrivals },
      channels: [...lastGoodMonoMs].map((goodMonoMs, channel) => ({
        lastGoodAgeMs: goodMonoMs === 0 ? null : Math.max(0, nowMonoMs - goodMonoMs),
        good: inside(goods, channel, 'each channel has its count'),
        errors: countsOf(errors, channel * KINDS),
      })),
    };
  }
}

function raise(counts: Float64Array, place: number): void {
  counts[place] = inside(counts, place, 'what is counted has its count') + 1;
}

function countsOf(counts: Float64Array, from: number): ErrorCounts {
  const of = (kind: BadKind): number => inside(counts, from + PLACE[kind], 'each kind has a count');
  return { silent: of('silent'), refused: of('refused'), lost: of('lost'), malformed: of('malformed') };
}
