/** What a rehearsal has seen, as it is answered; every list has an end, and what came after it is counted. */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { ElementOutput } from '../procedures/kind.js';
import { UnfiredTransition, UnreachedStep } from './coverage.js';

export const TimelineEntry = v.strictObject({
  /** Seconds since Start. */
  ts: v.number(),
  /** Kind of the element. */
  element: v.string(),
  path: v.string(),
  state: v.string(),
  cause: v.string(),
  /** Present when a step of the running chart became active. */
  step: v.optional(v.string()),
});
export type TimelineEntry = ToldBy<typeof TimelineEntry>;

export const RehearsedPrompt = v.strictObject({
  atSeconds: v.number(),
  path: v.string(),
  step: v.string(),
  type: v.string(),
  text: v.string(),
  resultKey: v.string(),
  answer: v.string(),
  from: v.picklist(['answers', 'default']),
  message: v.string(),
});
export type RehearsedPrompt = ToldBy<typeof RehearsedPrompt>;

export const RehearsalCheck = v.strictObject({
  check: v.string(),
  ok: v.boolean(),
  message: v.string(),
});
export type RehearsalCheck = ToldBy<typeof RehearsalCheck>;

export const RehearsedAlarm = v.strictObject({
  /** Module of the alarm block. */
  module: v.optional(v.string()),
  /** Step path of the phase. */
  element: v.optional(v.string()),
  severity: v.picklist(['Medium', 'High']),
  message: v.string(),
  atSeconds: v.number(),
});
export type RehearsedAlarm = ToldBy<typeof RehearsedAlarm>;

nameSchemas({ RehearsalTimelineEntry: TimelineEntry, RehearsedPrompt, RehearsalCheck, RehearsedAlarm });

export const REHEARSAL_OUTCOMES = ['Complete', 'Stopped', 'Aborted', 'Failed', 'Held', 'Paused', 'TimeLimit', 'WallLimit', 'NotStarted'] as const;
export type RehearsalOutcome = (typeof REHEARSAL_OUTCOMES)[number];

/** Told while it runs. */
export interface RehearsalProgress {
  /** Plant time since Start, in s. */
  readonly progress: number;
}

export const RehearsalFindings = v.strictObject({
  /** It is Complete, and every check holds. */
  ok: v.boolean(),
  outcome: v.picklist(REHEARSAL_OUTCOMES),
  plantSeconds: v.number(),
  blockedBecause: v.string(),
  timeline: v.array(TimelineEntry),
  prompts: v.array(RehearsedPrompt),
  checks: v.array(RehearsalCheck),
  outputs: v.array(v.strictObject({ ...ElementOutput.entries, element: v.string() })),
  alarms: v.array(RehearsedAlarm),
  unreachedSteps: v.array(UnreachedStep),
  unfiredTransitions: v.array(UnfiredTransition),
  assumptions: v.array(v.string()),
  /** Entries left out, by list. */
  truncated: v.record(v.string(), v.number()),
});
export type RehearsalFindings = ToldBy<typeof RehearsalFindings>;

/** Entries of a list in the answer; a batch of the size of the demonstration has about 200. */
export const ENTRIES_MAX = 2000;

/** Keeps the first entries and counts the others. */
export class BoundedList<T> {
  readonly items: T[] = [];
  omitted = 0;

  add(item: T): void {
    if (this.items.length < ENTRIES_MAX) this.items.push(item);
    else this.omitted += 1;
  }

  static of<T>(items: Iterable<T>): BoundedList<T> {
    const list = new BoundedList<T>();
    for (const item of items) list.add(item);
    return list;
  }
}
