/** The history of alarms: one fact per transition or change of a flag (decisions Q-ALARM-07), kept beside the audit trail. */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { Actor } from '../../platform/store/audit-record.js';
import { ALARM_SEVERITIES, ALARM_STATES, ALARM_TYPES, type AlarmSpec, type AlarmStatus } from './kind.js';
import { ALARM_EVENT_WORDS, type AlarmEventWord } from './transitions.js';

export const AlarmEvent = v.strictObject({
  sequence: v.number(),
  timestamp: v.string(),
  site: v.string(),
  alarm: v.string(),
  definitionRef: v.string(),
  source: v.string(),
  unit: v.string(),
  type: v.picklist(ALARM_TYPES),
  severity: v.picklist(ALARM_SEVERITIES),
  event: v.picklist(ALARM_EVENT_WORDS),
  state: v.picklist(ALARM_STATES),
  message: v.string(),
  value: v.string(),
  /** Under a shelf, so nobody was called (ISA-18.2); absent when not. */
  shelved: v.optional(v.literal(true)),
  /** Who did it; absent when the alarm controller did. */
  accountId: v.optional(v.string()),
  displayName: v.optional(v.string()),
  /** What the person said with it: of an acknowledgement the comment, of a shelf the reason. */
  comment: v.optional(v.string()),
  /** Of an activation: the alarm that it came of. */
  cause: v.optional(v.string()),
});
export type AlarmEvent = ToldBy<typeof AlarmEvent>;

nameSchemas({ AlarmEvent });

/** Stream name of the ledger. */
export function alarmStream(site: string): string {
  return `alarms/${site}`;
}

export interface AlarmFact {
  readonly site: string;
  readonly name: string;
  readonly spec: AlarmSpec;
  readonly status: AlarmStatus;
  readonly event: AlarmEventWord;
  readonly at: string;
  readonly shelved: boolean;
  readonly by?: Pick<Actor, 'accountId' | 'displayName'>;
  readonly comment?: string;
}

export function alarmEvent({ site, name, spec, status, event, at, shelved, by, comment }: AlarmFact, sequence: number): AlarmEvent {
  return {
    sequence,
    timestamp: at,
    site,
    alarm: name,
    definitionRef: spec.definitionRef,
    source: spec.source,
    unit: status.unit,
    type: spec.type,
    severity: spec.severity,
    event,
    state: status.state,
    message: spec.message,
    value: status.value,
    ...(shelved ? { shelved: true as const } : {}),
    ...(by ? { accountId: by.accountId, displayName: by.displayName } : {}),
    ...(comment ? { comment } : {}),
    ...(event === 'Activated' && status.cause ? { cause: status.cause.alarm } : {}),
  };
}
