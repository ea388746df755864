/** An alarm among the events of a batch (decisions 8.3), whether it came while the batch had the unit or stood there before. */
import { executionEvent, type ExecutionEvent, type PendingFact } from './execution-log.js';

export interface AlarmOfRun {
  readonly site: string;
  readonly batch: string;
  readonly unit: string;
  readonly at: string;
  /** What has happened, as the message begins. */
  readonly said: string;
  readonly name: string;
  readonly spec: { readonly source: string; readonly message: string };
  readonly status: { readonly state: string };
  readonly by?: NonNullable<ExecutionEvent['person']>;
}

export function alarmExecutionEvent({ site, batch, unit, at, said, name, spec, status, by }: AlarmOfRun): PendingFact {
  return executionEvent(site, batch, at, {
    eventType: 'Alarm',
    eventSubType: 'Process',
    unit,
    equipment: spec.source.slice(spec.source.indexOf('/') + 1),
    value: status.state,
    message: `${said}: alarm ${name}${spec.message ? `, ${spec.message}` : ''}`,
    ...(by ? { person: { accountId: by.accountId, displayName: by.displayName } } : {}),
  });
}
