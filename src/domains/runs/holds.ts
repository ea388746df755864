/**
 * Why work is held, and was (decisions 3.5): the first cause with who, when and why, noted when the hold begins and kept after
 * it has passed. What comes later while it is held joins its failures and never takes the place of the first. Pure.
 */
import * as v from 'valibot';
import { told, withTold } from '../../../runtime/vocabulary/told.js';
import { ToldSchema } from './told-schema.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { Actor } from '../../platform/store/audit-record.js';
import type { ElementFailure } from './failures.js';
import { ElementRef } from './execution-log.js';

/** Who gave a command, as it is served. */
export const CommandGiver = v.strictObject({
  kind: v.picklist(['person', 'apiKey', 'component']),
  accountId: v.string(),
  displayName: v.string(),
});
export type CommandGiver = ToldBy<typeof CommandGiver>;

export const Hold = v.strictObject({
  /** Failure rule; `Hold` when it was commanded. */
  rule: v.string(),
  message: v.string(),
  /** Missing in what a release before this one has kept. */
  told: v.optional(ToldSchema),
  /** What the person has written. */
  reason: v.string(),
  by: CommandGiver,
  /** The alarm whose exceptionAction it was; '' for none. */
  alarm: v.string(),
  /** Where it came from; null when it was given to the whole. */
  element: v.nullable(ElementRef),
  since: v.string(),
  /** '' while it lasts. */
  until: v.string(),
});
export type Hold = ToldBy<typeof Hold>;

nameSchemas({ CommandGiver, Hold });

/** Holds kept with the work; the events have them all. */
const HOLDS_MAX = 50;
/** Failures that came after the first. */
const FURTHER_MAX = 10;

const SYSTEM: CommandGiver = { kind: 'component', accountId: 'component:system', displayName: 'system' };

export function giverOf({ actorType, accountId, displayName, component }: Actor): CommandGiver {
  return { kind: actorType === 'human' ? 'person' : actorType, accountId, displayName: displayName || component || accountId };
}

/** A Hold that was obeyed. */
export interface GivenHold {
  readonly by: Actor;
  readonly reason: string;
  readonly alarm?: string;
}

export interface LocatedFailure {
  readonly failure: ElementFailure;
  readonly element: ElementRef;
}

export function holdCause(at: string, given: GivenHold | undefined, first: LocatedFailure | undefined, rule: string): Hold {
  const open = { reason: '', alarm: '', element: null, since: at, until: '' };
  if (given && given.alarm === undefined) {
    const [by, { reason }] = [giverOf(given.by), given];
    return { ...open, rule: 'Hold', message: `Hold by ${by.displayName}`, told: told('held-by', { who: by.displayName, reason }), reason, by };
  }
  const by = given ? giverOf(given.by) : SYSTEM;
  const alarm = given?.alarm ?? '';
  if (!first && rule === 'runtime-restart') return { ...open, rule, message: 'the runtime or the appliance was restarted', told: told('restarted', {}), by, alarm };
  if (!first) return { ...open, rule: rule || 'unknown', message: '', by, alarm };
  const { failure, element } = first;
  return { ...open, rule: failure.rule, message: failure.message, ...withTold(failure.told), by, alarm, element, since: failure.since < at ? failure.since : at };
}

/** The hold that lasts; undefined when none does. */
export function presentHold(holds: readonly Hold[] | undefined): Hold | undefined {
  const last = holds?.at(-1);
  return last?.until === '' ? last : undefined;
}

/** Begins a hold, or ends the one that lasts; the same list when nothing changes. */
export function withHold(holds: readonly Hold[] | undefined, isHeld: boolean, at: string, cause: () => Hold): readonly Hold[] | undefined {
  const present = presentHold(holds);
  if (isHeld === (present !== undefined)) return holds;
  if (!present) return [...(holds ?? []), cause()].slice(-HOLDS_MAX);
  return [...(holds ?? []).slice(0, -1), { ...present, until: at }];
}

/** First cause first: the one that stood first stays, what has come since follows; one entry for each rule and message. */
export function inOrder(found: readonly ElementFailure[], before: ElementFailure | undefined): readonly ElementFailure[] {
  const sorted = [...found].sort((a, b) => Number(isSame(b, before)) - Number(isSame(a, before)) || (a.since < b.since ? -1 : a.since > b.since ? 1 : 0));
  return sorted.filter((failure, at) => sorted.findIndex(({ rule, message }) => rule === failure.rule && message === failure.message) === at).slice(0, 1 + FURTHER_MAX);
}

function isSame(failure: ElementFailure, before: ElementFailure | undefined): boolean {
  return before !== undefined && failure.rule === before.rule && failure.since === before.since;
}

/** What keeps Restart from going on. */
export function activeFailures({ failure, furtherFailures = [] }: Failures): readonly ElementFailure[] {
  return [...(failure ? [failure] : []), ...furtherFailures].filter(({ active }) => active);
}

export function hasActiveFailure(of: Failures): boolean {
  return activeFailures(of).length > 0;
}

interface Failures {
  readonly failure?: ElementFailure | undefined;
  readonly furtherFailures?: readonly ElementFailure[] | undefined;
}

/** The first cause of the hold that lasts. */
export function heldBy(holds: readonly Hold[] | undefined): { readonly heldBy?: Omit<Hold, 'until'> } {
  const hold = presentHold(holds);
  if (!hold) return {};
  const { until: _lasts, ...cause } = hold;
  return { heldBy: cause };
}
