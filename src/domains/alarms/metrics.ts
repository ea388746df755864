/**
 * How well the alarms of a site serve the people who answer them: the performance metrics of ISA-18.2-2016, clause 16
 * (monitoring and assessment), counted from the history of alarms. They judge what people were called to: an activation
 * under a shelf called nobody, so it is counted apart; when its shelf ends and nobody has acknowledged it, it asks from then
 * on. What stands is told for the end of the window.
 *
 * Events come in the order of their times; nothing but counts and the open spells of single alarms is kept of them.
 */
import type { WallMs } from '../../platform/base/times.js';
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { timestamp } from '../../platform/base/clock.js';
import type { Terms } from '../../platform/base/term.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { AlarmEvent } from './alarm-event.js';
import { isShelved } from './counts.js';
import { isActive, type AlarmResource } from './kind.js';
import { ALARM_SEVERITIES } from './kind.js';
import type { Standing } from './standing-then.js';

/** The interval in which ISA-18.2 counts alarms, and how many of them one person can answer in it. */
export const PERIOD_MS = 600_000;
const PERIOD_ALARMS_MAX = 10;
/** A flood begins above the one and ends below the other (ISA-18.2, definition of alarm flood). */
const FLOOD_ENDS_BELOW = 5;
/** Standing longer than this makes an alarm stale (ISA-18.2, clause 16, stale alarms). */
export const STALE_MS = 86_400_000;
/** An alarm that comes so often in so short a time chatters (ISA-18.2, clause 16, chattering alarms). */
const CHATTER_ACTIVATIONS = 3;
const CHATTER_MS = 60_000;
/** The ten most frequent, as ISA-18.2 lists them; as many of the chattering and stale ones. */
const LISTED_MAX = 10;

export interface MetricsWindow {
  /** Wall ms: from inclusive, to exclusive. */
  readonly fromMs: WallMs;
  readonly toMs: WallMs;
}

const NamedCount = v.strictObject({
  /** The definition, or the name without its number of an alarm that has none. */
  alarm: v.string(),
  activations: v.number(),
  share: v.number(),
});

const Rate = v.strictObject({
  periodSeconds: v.number(),
  periods: v.number(),
  average: v.number(),
  peak: v.number(),
  periodsAboveTen: v.number(),
  shareAboveTen: v.number(),
  floodShare: v.number(),
  /** Those without an activation are left out. */
  filled: v.array(v.strictObject({ at: v.string(), activations: v.number() })),
});

const StandingReport = v.strictObject({
  asOf: v.string(),
  active: v.number(),
  unacknowledged: v.number(),
  stale: v.number(),
  /** `since` is null where its activation is older than what was looked at. */
  staleAlarms: v.array(v.strictObject({ alarm: v.string(), severity: v.picklist(ALARM_SEVERITIES), since: v.nullable(v.string()) })),
});

const TimeToAcknowledge = v.strictObject({
  acknowledged: v.number(),
  unacknowledged: v.number(),
  medianSeconds: v.nullable(v.number()),
  p95Seconds: v.nullable(v.number()),
});

export const AlarmReport = v.strictObject({
  from: v.string(),
  to: v.string(),
  activations: v.number(),
  clearings: v.number(),
  rate: Rate,
  /** Null where it cannot be told: more has come since than can be looked at. */
  standing: v.nullable(StandingReport),
  chattering: v.strictObject({
    count: v.number(),
    /** `episodes`: how often it began to chatter. */
    alarms: v.array(v.strictObject({ alarm: v.string(), episodes: v.number() })),
  }),
  mostFrequent: v.strictObject({ alarms: v.array(NamedCount), share: v.number() }),
  bySeverity: v.array(v.strictObject({ severity: v.picklist(ALARM_SEVERITIES), activations: v.number(), share: v.number() })),
  timeToAcknowledge: TimeToAcknowledge,
  shelved: v.strictObject({ events: v.number(), activations: v.number(), now: v.number() }),
  suppressed: v.strictObject({ events: v.number(), now: v.number() }),
});
export type AlarmReport = ToldBy<typeof AlarmReport>;

nameSchemas({ AlarmCount: NamedCount, AlarmRate: Rate, StandingReport, TimeToAcknowledge, AlarmReport });

/** The last activations of an alarm, oldest first: as many as make a chatter. */
interface Recent {
  readonly timesMs: readonly number[];
  readonly chatters: boolean;
}

export class AlarmMetrics {
  readonly #window: MetricsWindow;
  readonly #periods: Uint32Array;
  readonly #byAlarm = new Map<string, number>();
  readonly #bySeverity = new Map<string, number>();
  readonly #recent = new Map<string, Recent>();
  readonly #chattering = new Map<string, number>();
  /** When an alarm that nobody has acknowledged yet first asked for it. */
  readonly #unanswered = new Map<string, number>();
  readonly #answeredAfterMs: number[] = [];
  readonly #events = { activated: 0, underShelf: 0, cleared: 0, shelved: 0, suppressed: 0 };

  constructor(window: MetricsWindow) {
    this.#window = window;
    this.#periods = new Uint32Array(Math.max(1, Math.ceil((window.toMs - window.fromMs) / PERIOD_MS)));
  }

  take(event: AlarmEvent): void {
    const atMs = Date.parse(event.timestamp);
    switch (event.event) {
      case 'Activated':
        if (event.shelved) this.#events.underShelf += 1;
        else this.#activated(event, atMs);
        return;
      case 'Unshelved':
        if (event.state === 'ActiveUnacknowledged') this.#asks(event.alarm, atMs);
        return;
      case 'Acknowledged':
        return this.#acknowledged(event.alarm, atMs);
      case 'Cleared':
        this.#events.cleared += 1;
        return;
      case 'Shelved':
        this.#events.shelved += 1;
        return;
      case 'Suppressed':
        this.#events.suppressed += 1;
        return;
      default:
        return;
    }
  }

  #activated({ alarm, definitionRef, severity }: AlarmEvent, atMs: WallMs): void {
    const cause = causeOf(alarm, definitionRef);
    this.#events.activated += 1;
    const period = Math.floor((atMs - this.#window.fromMs) / PERIOD_MS);
    this.#periods[period] = (this.#periods[period] ?? 0) + 1;
    this.#byAlarm.set(cause, (this.#byAlarm.get(cause) ?? 0) + 1);
    this.#bySeverity.set(severity, (this.#bySeverity.get(severity) ?? 0) + 1);
    this.#asks(alarm, atMs);
    this.#watchChatter(cause, atMs);
  }

  #asks(alarm: string, atMs: WallMs): void {
    if (!this.#unanswered.has(alarm)) this.#unanswered.set(alarm, atMs);
  }

  /** A chatter that goes on is one episode. */
  #watchChatter(cause: string, atMs: WallMs): void {
    const before = this.#recent.get(cause);
    const timesMs = [...(before?.timesMs ?? []), atMs].slice(-CHATTER_ACTIVATIONS);
    const [firstMs = atMs] = timesMs;
    const chatters = timesMs.length === CHATTER_ACTIVATIONS && atMs - firstMs <= CHATTER_MS;
    if (chatters && !before?.chatters) this.#chattering.set(cause, (this.#chattering.get(cause) ?? 0) + 1);
    this.#recent.set(cause, { timesMs, chatters });
  }

  #acknowledged(alarm: string, atMs: WallMs): void {
    const sinceMs = this.#unanswered.get(alarm);
    if (sinceMs === undefined) return; // it was raised before the window
    this.#unanswered.delete(alarm);
    this.#answeredAfterMs.push(Math.max(0, atMs - sinceMs));
  }

  /** `alarms`: those there are now. `then`: those that stood at the end of the window, when that is past; null when that cannot be told. */
  report(alarms: readonly AlarmResource[], terms: Terms, then: readonly Standing[] | null = present(alarms)): AlarmReport {
    const { fromMs, toMs } = this.#window;
    const { activated, underShelf, cleared, shelved, suppressed } = this.#events;
    const top = this.#mostFrequent();
    return {
      from: timestamp(fromMs),
      to: timestamp(toMs),
      activations: activated,
      clearings: cleared,
      rate: this.#rate(),
      standing: then && standing(then, toMs),
      chattering: {
        count: this.#chattering.size,
        alarms: [...this.#chattering]
          .map(([alarm, episodes]) => ({ alarm, episodes }))
          .sort((a, b) => b.episodes - a.episodes || (a.alarm < b.alarm ? -1 : 1))
          .slice(0, LISTED_MAX),
      },
      mostFrequent: { alarms: top, share: share(sum(top.map((each) => each.activations)), activated) },
      bySeverity: ALARM_SEVERITIES.map((severity) => {
        const activations = this.#bySeverity.get(severity) ?? 0;
        return { severity, activations, share: share(activations, activated) };
      }),
      timeToAcknowledge: this.#timeToAcknowledge(),
      shelved: { events: shelved, activations: underShelf, now: alarms.filter(({ status }) => isShelved(status, terms)).length },
      suppressed: { events: suppressed, now: alarms.filter(({ status }) => status.suppressed === true).length },
    };
  }

  #rate(): ToldBy<typeof Rate> {
    const { fromMs, toMs } = this.#window;
    const count = this.#periods.length;
    const peak = this.#periods.reduce((most, each) => Math.max(most, each), 0);
    const above = this.#periods.filter((each) => each > PERIOD_ALARMS_MAX).length;
    const filled: { readonly at: string; readonly activations: number }[] = [];
    let isFlood = false;
    let flooded = 0;
    this.#periods.forEach((each, n) => {
      if (each > 0) filled.push({ at: timestamp(fromMs + n * PERIOD_MS), activations: each });
      isFlood = each > PERIOD_ALARMS_MAX || (isFlood && each >= FLOOD_ENDS_BELOW);
      if (isFlood) flooded += 1;
    });
    return {
      periodSeconds: PERIOD_MS / 1000,
      periods: count,
      average: rounded((this.#events.activated * PERIOD_MS) / Math.max(toMs - fromMs, 1)),
      peak,
      periodsAboveTen: above,
      shareAboveTen: share(above, count),
      floodShare: share(flooded, count),
      filled,
    };
  }

  #mostFrequent(): ToldBy<typeof NamedCount>[] {
    return [...this.#byAlarm]
      .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
      .slice(0, LISTED_MAX)
      .map(([alarm, activations]) => ({ alarm, activations, share: share(activations, this.#events.activated) }));
  }

  #timeToAcknowledge(): ToldBy<typeof TimeToAcknowledge> {
    const sorted = this.#answeredAfterMs.toSorted((a, b) => a - b);
    const at = (part: number): number | null => {
      const ms = sorted[Math.ceil(part * sorted.length) - 1];
      return ms === undefined ? null : ms / 1000;
    };
    return { acknowledged: sorted.length, unacknowledged: this.#unanswered.size, medianSeconds: at(0.5), p95Seconds: at(0.95) };
  }
}

/** Alarms of one definition are one alarm of ISA-18.2; system alarms differ in their number only. */
function causeOf(alarm: string, definitionRef: string): string {
  return definitionRef === '' ? alarm.replace(/-\d+$/, '') : definitionRef;
}

function present(alarms: readonly AlarmResource[]): Standing[] {
  return alarms.map(({ metadata, spec, status }) => ({
    alarm: metadata.name,
    severity: spec.severity,
    state: status.state,
    since: status.activatedAt || metadata.createdAt,
  }));
}

function standing(alarms: readonly Standing[], atMs: WallMs): ToldBy<typeof StandingReport> {
  const active = alarms.filter(({ state }) => isActive(state));
  const stale = active
    .filter(({ since }) => since === null || atMs - Date.parse(since) > STALE_MS)
    .map(({ alarm, severity, since }) => ({ alarm, severity, since }))
    .sort((a, b) => ((a.since ?? '') < (b.since ?? '') ? -1 : 1));
  return {
    asOf: timestamp(atMs),
    active: active.length,
    unacknowledged: alarms.filter(({ state }) => state.endsWith('Unacknowledged')).length,
    stale: stale.length,
    staleAlarms: stale.slice(0, LISTED_MAX),
  };
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : rounded(part / whole);
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
