/**
 * The alarms of a batch (decisions 8.1): what was raised on its units while it held them, and what stood there when it got
 * them (batches/start/standing-alarms.ts). Every event of such an alarm is also a fact of the batch, so that the record needs
 * neither the alarm, which is gone a day after it was resolved, nor a search through the history of the site.
 */
import { streamOf } from '../runs/execution-log.js';
import type { AlarmEvent } from './alarm-event.js';
import type { BatchAlarm, StandingAlarmFact } from './kind.js';

export interface BatchAlarmFact extends AlarmEvent {
  readonly exceptionAction: string;
}

/** Stream name of the ledger. */
export function batchAlarmStream(site: string, batch: string): string {
  return streamOf('alarms', site, batch);
}

/**
 * One entry per alarm, in the order in which the batch met them. Batches that began with an earlier release were not told what stood
 * before them: later events of such an alarm are none of theirs.
 */
export function batchAlarms(facts: readonly (BatchAlarmFact | StandingAlarmFact)[]): BatchAlarm[] {
  const alarms = new Map<string, BatchAlarm>();
  for (const fact of facts) {
    if (fact.event === 'Standing') {
      // of several units the first; one that came while the batch had the unit is its own
      if (!alarms.has(fact.alarm)) alarms.set(fact.alarm, stood(fact));
      continue;
    }
    const known = alarms.get(fact.alarm);
    if (!known && fact.event !== 'Activated') continue;
    alarms.set(fact.alarm, followed(known ?? raised(fact), fact));
  }
  return [...alarms.values()];
}

function stood({
  timestamp,
  alarm,
  definitionRef,
  source,
  severity,
  message,
  raisedAt,
  acknowledgedAt,
  acknowledgedBy,
  clearedAt,
  exceptionAction,
}: StandingAlarmFact): BatchAlarm {
  return { name: alarm, definitionRef, source, severity, message, raisedAt, acknowledgedAt, acknowledgedBy, clearedAt, exceptionAction, standingAt: timestamp };
}

function raised({ alarm, definitionRef, source, severity, message, timestamp, exceptionAction }: BatchAlarmFact): BatchAlarm {
  return { name: alarm, definitionRef, source, severity, message, raisedAt: timestamp, acknowledgedAt: '', acknowledgedBy: '', clearedAt: '', exceptionAction };
}

function followed(entry: BatchAlarm, { event, timestamp, displayName = '' }: BatchAlarmFact): BatchAlarm {
  switch (event) {
    case 'Activated':
      return { ...entry, clearedAt: '' };
    case 'Acknowledged':
      return { ...entry, acknowledgedAt: timestamp, acknowledgedBy: displayName };
    case 'Cleared':
    case 'Suppressed':
      return { ...entry, clearedAt: timestamp };
    default:
      return entry;
  }
}
