/** The state table of alarms (decisions Q-ALARM-02). Shelving is a flag beside the state, so it has no rows here. */
import type { Terms } from '../../platform/base/term.js';
import type { AlarmState, AlarmStatus } from './kind.js';
import { isShelved } from './counts.js';
import { isActive } from './kind.js';

/** `disarmed`: the arming gate closed, or the definition was taken out of service. */
export type AlarmTrigger = 'true' | 'false' | 'disarmed' | 'acknowledge';
export const ALARM_EVENT_WORDS = ['Activated', 'Cleared', 'Acknowledged', 'Shelved', 'Unshelved', 'Suppressed', 'Unsuppressed', 'Deleted'] as const;
export type AlarmEventWord = (typeof ALARM_EVENT_WORDS)[number];

export interface AlarmTransition {
  readonly from: AlarmState;
  readonly on: AlarmTrigger;
  readonly to: AlarmState;
  readonly event: AlarmEventWord;
}

/** A pair that is not listed leaves the alarm as it is. A resolved alarm never comes back: `true` makes a new one. */
export const ALARM_TRANSITIONS: readonly AlarmTransition[] = [
  { from: 'ActiveUnacknowledged', on: 'false', to: 'ClearedUnacknowledged', event: 'Cleared' },
  { from: 'ActiveUnacknowledged', on: 'disarmed', to: 'ClearedUnacknowledged', event: 'Suppressed' },
  { from: 'ActiveUnacknowledged', on: 'acknowledge', to: 'ActiveAcknowledged', event: 'Acknowledged' },
  { from: 'ActiveAcknowledged', on: 'false', to: 'ClearedAcknowledged', event: 'Cleared' },
  { from: 'ActiveAcknowledged', on: 'disarmed', to: 'ClearedAcknowledged', event: 'Suppressed' },
  { from: 'ClearedUnacknowledged', on: 'true', to: 'ActiveUnacknowledged', event: 'Activated' },
  { from: 'ClearedUnacknowledged', on: 'acknowledge', to: 'ClearedAcknowledged', event: 'Acknowledged' },
];

export function alarmTransition(from: AlarmState, on: AlarmTrigger): AlarmTransition | undefined {
  return ALARM_TRANSITIONS.find((row) => row.from === from && row.on === on);
}

/** Rule of the verdict on an acknowledgement that changes nothing (decisions Q-ALARM-04). */
export function acknowledgeRule(state: AlarmState): string {
  return isActive(state) ? 'already-acknowledged' : 'resolved';
}

/** What a transition writes into the status. */
export function moved(status: AlarmStatus, { to, event }: AlarmTransition, at: string): AlarmStatus {
  const next = { ...status, state: to };
  switch (event) {
    case 'Activated':
      return { ...next, occurrences: status.occurrences + 1, activatedAt: at, clearedAt: '' };
    case 'Acknowledged':
      return { ...next, acknowledgedAt: at };
    default:
      return { ...next, clearedAt: at, ...(event === 'Suppressed' ? { suppressed: true } : {}) };
  }
}

export type ShelfVerb = 'shelve' | 'unshelve';

/** Why a shelf cannot be begun or ended now, for the operator; '' when it can. */
export function shelfObstacle(verb: ShelfVerb, name: string, status: AlarmStatus, terms: Terms): string {
  if (verb === 'unshelve') return isShelved(status, terms) ? '' : `alarm ${name} is not shelved`;
  if (status.state === 'ActiveAcknowledged') return '';
  const first = status.state === 'ActiveUnacknowledged' ? '; acknowledge it before shelving' : '; only an active, acknowledged alarm can be shelved';
  return `alarm ${name} is ${status.state}${first}`;
}

/** When an alarm was resolved: the later of its clearing and its acknowledgement. */
export function resolvedAtMs(status: AlarmStatus, updatedAt: string): number {
  const later = status.clearedAt > status.acknowledgedAt ? status.clearedAt : status.acknowledgedAt;
  return Date.parse(later === '' ? updatedAt : later);
}
