/**
 * Which alarms stood at a moment that is past: what is so now, taken back by the events since. The first event of an alarm
 * after the moment says what it was before; an alarm without one is as it was. So neither an alarm that stood long before
 * any window nor one that is forgotten by now is left out.
 */
import type { WallMs } from '../../platform/base/times.js';
import type { AlarmEvent } from './alarm-event.js';
import { isActive, type AlarmResource } from './kind.js';
import type { AlarmSpec, AlarmState } from './kind.js';
import { ALARM_TRANSITIONS } from './transitions.js';

export interface Standing {
  readonly alarm: string;
  readonly severity: AlarmSpec['severity'];
  readonly state: AlarmState;
  /** RFC 3339; null when its activation is older than what was looked at, and the alarm is forgotten. */
  readonly since: string | null;
}

interface Later {
  readonly state: AlarmState | undefined;
  readonly severity: AlarmSpec['severity'];
}

export class StandingThen {
  readonly #atMs: WallMs;
  /** What each alarm was, by its first event after the moment. */
  readonly #later = new Map<string, Later>();
  /** Last activation before the moment. */
  readonly #since = new Map<string, string>();

  constructor(atMs: WallMs) {
    this.#atMs = atMs;
  }

  /** Events in the order of their times, from before the moment until now. */
  take(event: AlarmEvent): void {
    if (Date.parse(event.timestamp) < this.#atMs) {
      if (event.event === 'Activated') this.#since.set(event.alarm, event.timestamp);
      return;
    }
    if (!this.#later.has(event.alarm)) this.#later.set(event.alarm, { state: before(event, this.#since.has(event.alarm)), severity: event.severity });
  }

  /** Alarms that were active or not acknowledged then. `alarms`: those there are now. */
  standing(alarms: readonly AlarmResource[]): Standing[] {
    const found: Standing[] = [];
    const now = new Map(alarms.map((alarm) => [alarm.metadata.name, alarm]));
    for (const [alarm, { state, severity }] of this.#later) {
      const known = now.get(alarm);
      // one that came back was there before when it is older than the moment
      const then = state ?? (known && this.#isOlder(known.metadata.createdAt) ? 'ClearedUnacknowledged' : undefined);
      if (then && isUnresolved(then)) found.push({ alarm, severity, state: then, since: this.#sinceOf(alarm, known) });
    }
    for (const [alarm, known] of now) {
      const { state } = known.status;
      if (this.#later.has(alarm) || !isUnresolved(state) || !this.#isOlder(known.metadata.createdAt)) continue;
      found.push({ alarm, severity: known.spec.severity, state, since: this.#sinceOf(alarm, known) });
    }
    return found;
  }

  #isOlder(at: string): boolean {
    return Date.parse(at) < this.#atMs;
  }

  #sinceOf(alarm: string, known: AlarmResource | undefined): string | null {
    const present = known ? known.status.activatedAt || known.metadata.createdAt : '';
    return this.#since.get(alarm) ?? (present !== '' && this.#isOlder(present) ? present : null);
  }
}

function isUnresolved(state: AlarmState): boolean {
  return isActive(state) || state === 'ClearedUnacknowledged';
}

/** The state before an event; undefined for an alarm that was not there, as far as the event tells. */
function before({ event, state }: AlarmEvent, wasActivated: boolean): AlarmState | undefined {
  if (event === 'Activated') return wasActivated ? 'ClearedUnacknowledged' : undefined;
  return ALARM_TRANSITIONS.find((row) => row.event === event && row.to === state)?.from ?? state;
}
