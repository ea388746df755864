/** The history of alarms: one fact per transition or change of a flag (decisions Q-ALARM-07), kept beside the audit trail. */
import type { Actor } from '../../platform/store/audit-record.js';
import type { AlarmSpec, AlarmState, AlarmStatus } from './kind.js';
import type { AlarmEventWord } from './transitions.js';

export interface AlarmEvent {
  readonly sequence: number;
  readonly timestamp: string;
  readonly site: string;
  readonly alarm: string;
  readonly definitionRef: string;
  readonly source: string;
  readonly unit: string;
  readonly type: string;
  readonly severity: string;
  readonly event: AlarmEventWord;
  readonly state: AlarmState;
  readonly message: string;
  readonly value: string;
  /** Under a shelf, so nobody was called (ISA-18.2); absent when not. */
  readonly shelved?: true;
  /** Who did it; absent when the alarm controller did. */
  readonly accountId?: string;
  readonly displayName?: string;
}

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
}

export function alarmEvent({ site, name, spec, status, event, at, shelved, by }: AlarmFact, sequence: number): AlarmEvent {
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
  };
}
