/**
 * The last frame of every object of one event channel: what a new subscriber is shown first (contract 2, Events 2 and 3).
 * It is this process's memory, not plant history. A frame with a retention is forgotten when that has passed, a deleted
 * object at once.
 */
import type { MonoMs } from '../base/times.js';
import type { ChannelEvent } from './channel.js';
import { type Filter, seesPlace } from './filter.js';
import { type EventMembers, membersOf } from './frames.js';

export interface KnownEvent extends EventMembers {
  readonly site: string;
  readonly unit: string;
}

interface Kept {
  readonly event: KnownEvent;
  /** Monotonic ms; Infinity for ever. */
  readonly forgetAtMonoMs: MonoMs;
}

export class LastKnown {
  readonly #kept = new Map<string, Kept>();

  get size(): number {
    return this.#kept.size;
  }

  /** Takes note of an event; returns its rendered members, or undefined when there is nothing to publish. */
  note(event: ChannelEvent, eventId: number, nowMonoMs: MonoMs): KnownEvent | undefined {
    const key = `${event.site}\n${event.key}`;
    const type = typeof event.frame.type === 'string' ? event.frame.type : '';
    const known: KnownEvent = { eventId, type, body: membersOf(event.frame), site: event.site, unit: event.unit };
    this.#kept.delete(key); // re-inserted at the end: the map stays in eventId order
    if (!event.forget) this.#kept.set(key, { event: known, forgetAtMonoMs: event.retainMs === undefined ? Infinity : nowMonoMs + event.retainMs });
    return type === '' ? undefined : known;
  }

  /** Events the filter sees whose number is above `since`, in the order of their numbers. */
  select(filter: Filter, since: number, nowMonoMs: MonoMs): KnownEvent[] {
    const found: KnownEvent[] = [];
    for (const [key, { event, forgetAtMonoMs }] of this.#kept) {
      if (forgetAtMonoMs <= nowMonoMs) this.#kept.delete(key);
      else if (event.eventId > since && seesPlace(filter, event.site, event.unit)) found.push(event);
    }
    return found;
  }

  /** Forgets what has lapsed. */
  sweep(nowMonoMs: MonoMs): void {
    for (const [key, { forgetAtMonoMs }] of this.#kept) if (forgetAtMonoMs <= nowMonoMs) this.#kept.delete(key);
  }
}
