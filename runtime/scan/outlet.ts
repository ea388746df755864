/**
 * What the charts and networks of one unit tell the gateway, within bounds: a chart can say thousands of things in a scan,
 * and each of them is a change on disk, a fact of a record and a frame to every client, for all units of the box.
 *
 * Messages and events beyond the bound are counted and not sent; one message with the count says so, at once when it begins
 * and then now and then. Reports of which only the last one matters are held until there is room: none is lost, only
 * passed over by a later one. State changes, answers, signals, requests and alarm edges pass always.
 *
 * Invariant: nothing here flows back into a chart, so what a replay runs does not depend on it (ADR 0016).
 */
import type { MonoMs, WallMs } from '../vocabulary/times.js';
import type { UnitOutbound } from '../port.js';

/** Of MESSAGE; the bucket holds what one scan may say at once. A person reads a few in a minute. */
const MESSAGES_PER_SCAN = 100;
const MESSAGES_PER_S = 50;
/** Of the engine itself: step time-outs, cancelled prompts, faults of exception charts; a flood of messages leaves them their room. */
const EVENTS_PER_SCAN = 100;
const EVENTS_PER_S = 50;
/** Reports of charts that only moved on, and of networks: each makes the gateway look at the whole batch. */
const REPORTS_PER_SCAN = 100;
const REPORTS_PER_S = 20;
/** Between two messages about what was not sent. */
const ANNOUNCE_MS = 10_000;

type Report = Extract<UnitOutbound, { readonly type: 'phase' | 'network' | 'overrides' }>;

/** So many at once, and so many in a second of the monotonic clock. */
class Bucket {
  readonly #size: number;
  readonly #perMs: number;
  #left: number;
  #atMonoMs = Number.NEGATIVE_INFINITY;

  constructor(size: number, perS: number) {
    this.#size = size;
    this.#perMs = perS / 1000;
    this.#left = size;
  }

  refill(monoMs: MonoMs): void {
    this.#left = Math.min(this.#size, this.#left + Math.max(0, monoMs - this.#atMonoMs) * this.#perMs);
    this.#atMonoMs = monoMs;
  }

  take(): boolean {
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}

export class Outlet {
  readonly #post: (message: UnitOutbound) => void;
  readonly #messages = new Bucket(MESSAGES_PER_SCAN, MESSAGES_PER_S);
  readonly #events = new Bucket(EVENTS_PER_SCAN, EVENTS_PER_S);
  readonly #reports = new Bucket(REPORTS_PER_SCAN, REPORTS_PER_S);
  /** The last report of each phase and network that waits. */
  readonly #held = new Map<string, Report>();
  /** By phase, since the last message about them. */
  readonly #unsaid = new Map<string, number>();
  #announcedMonoMs = Number.NEGATIVE_INFINITY;
  /** Messages and events that were not sent, since the runtime began. */
  shed = 0;

  constructor(post: (message: UnitOutbound) => void) {
    this.#post = post;
  }

  /** A scan begins. */
  begin(monoMs: MonoMs): void {
    this.#messages.refill(monoMs);
    this.#events.refill(monoMs);
    this.#reports.refill(monoMs);
  }

  tell(message: UnitOutbound): void {
    switch (message.type) {
      case 'message':
        return this.#within(this.#messages, message, message.phase);
      case 'event':
      case 'alarm':
      case 'prompt-cancelled':
        return this.#within(this.#events, message, message.phase);
      case 'shadow-trip':
        return this.#within(this.#events, message, '');
      case 'phase':
        return this.#report(`phase/${message.phase}`, message, message.cause !== '');
      case 'network':
        return this.#report(`network/${message.network}`, message, false);
      case 'overrides':
        return this.#report('overrides', message, false);
      default:
        this.#post(message);
    }
  }

  #within(bucket: Bucket, message: UnitOutbound, phase: string): void {
    if (bucket.take()) return this.#post(message);
    this.shed += 1;
    this.#unsaid.set(phase, (this.#unsaid.get(phase) ?? 0) + 1);
  }

  /** Where one waits, the next takes its place, so that reports arrive in their order. */
  #report(name: string, report: Report, isUrgent: boolean): void {
    const room = this.#reports.take();
    if (isUrgent || room) {
      this.#held.delete(name);
      this.#post(report);
    } else this.#held.set(name, report);
  }

  /** A scan ends: sends what has room now, and says what was not said. */
  end(monoMs: MonoMs, wallMs: WallMs): void {
    if (this.#held.size > 0) this.#release(false);
    if (this.#unsaid.size > 0 && monoMs - this.#announcedMonoMs >= ANNOUNCE_MS) this.#announce(monoMs, wallMs);
  }

  /** The unit has a new plan or stops: nothing waits any longer. */
  flush(monoMs: MonoMs, wallMs: WallMs): void {
    this.#release(true);
    if (this.#unsaid.size > 0) this.#announce(monoMs, wallMs);
  }

  /** A phase goes, or begins anew. */
  forget(phase: string): void {
    this.#held.delete(`phase/${phase}`);
  }

  #release(all: boolean): void {
    for (const [name, report] of this.#held) {
      if (!all && !this.#reports.take()) return;
      this.#held.delete(name);
      this.#post(report);
    }
  }

  #announce(monoMs: MonoMs, wallMs: WallMs): void {
    this.#announcedMonoMs = monoMs;
    for (const [phase, count] of this.#unsaid) {
      const text = `${count} more messages and events were not kept: a unit tells ${MESSAGES_PER_SCAN} in a scan and ${MESSAGES_PER_S} in a second at most`;
      if (phase !== '') this.#post({ type: 'message', phase, step: '', severity: 'Warning', text, atMs: wallMs });
    }
    this.#unsaid.clear();
  }
}
