/** An alarm among the events of a batch (decisions 8.3), whether it came while the batch had the unit or stood there before. */
import { told } from '../../../runtime/vocabulary/told.js';
import { executionEvent, type ExecutionEvent, type PendingFact } from './execution-log.js';

export interface AlarmOfRun {
  readonly site: string;
  readonly batch: string;
  readonly unit: string;
  readonly at: string;
  /** What has happened; `Standing` of one that stood before. */
  readonly event: string;
  /** Since when it stood; '' for one that has just come. */
  readonly since?: string;
  readonly name: string;
  readonly spec: { readonly source: string; readonly message: string };
  readonly status: { readonly state: string };
  readonly by?: NonNullable<ExecutionEvent['person']>;
}

export function alarmExecutionEvent({ site, batch, unit, at, event, since = '', name, spec, status, by }: AlarmOfRun): PendingFact {
  return executionEvent(site, batch, at, {
    eventType: 'Alarm',
    eventSubType: 'Process',
    unit,
    equipment: spec.source.slice(spec.source.indexOf('/') + 1),
    value: status.state,
    message: `${event}${since === '' ? '' : ` since ${since}`}: alarm ${name}${spec.message ? `, ${spec.message}` : ''}`,
    told: told('alarm-event', { event, alarm: name, message: spec.message, since }),
    ...(by ? { person: { accountId: by.accountId, displayName: by.displayName } } : {}),
  });
}
