/** An alarm as it is read (contract 2, Alarm; decisions D-ALARM-01). */
import type { Query } from '../../platform/http/route.js';
import type { AlarmResource } from './alarm-book.js';
import { isActive, isShelved } from './counts.js';

export type AlarmDto = ReturnType<typeof alarmDto>;

/** `shelved` is judged against the present time; `shelvedUntil` may outlive its shelf. */
export function alarmDto({ metadata, spec, status }: AlarmResource, nowMs: number, evaluable: boolean) {
  return {
    name: metadata.name,
    source: spec.source,
    type: spec.type,
    severity: spec.severity,
    state: status.state,
    message: spec.message,
    definitionRef: spec.definitionRef,
    conditionType: spec.conditionType,
    setpoint: spec.setpoint,
    value: status.value,
    acknowledgedBy: status.acknowledgedBy,
    shelved: isShelved(status, nowMs),
    shelvedUntil: status.shelvedUntil,
    unit: status.unit,
    occurrences: status.occurrences,
    activatedAt: status.activatedAt || metadata.createdAt,
    clearedAt: status.clearedAt || null,
    acknowledgedAt: status.acknowledgedAt || null,
    shelvedBy: status.shelvedBy,
    priority: status.priority,
    evaluable,
    origin: status.origin,
  };
}

/** Filters of the list (decisions Q-ALARM-07); lists of words are separated by commas. */
export function matches(alarm: AlarmDto, query: Query): boolean {
  const is = (name: string, value: string): boolean => query.get(name) === undefined || (query.get(name) as string).split(',').includes(value);
  const flag = (name: string, value: boolean): boolean => query.get(name) === undefined || query.get(name) === String(value);
  return (
    is('state', alarm.state) &&
    is('severity', alarm.severity) &&
    is('type', alarm.type) &&
    is('source', alarm.source) &&
    is('unit', alarm.unit) &&
    is('definition', alarm.definitionRef) &&
    flag('shelved', alarm.shelved) &&
    flag('active', isActive(alarm.state))
  );
}
