/** What a person does to alarms, and their history (contract 2, Alarms; decisions Q-ALARM-05, Q-ALARM-07). */
import { ApiError, get, post } from './api.js';
import { boxNowMs } from './box-clock.js';
import { readAlarmSoon, site } from './plant.js';
import type { Alarm, AlarmEvent, AlarmMetrics, LogPage } from './types.js';

const HISTORY_MAX = 200;

function at(name: string, verb: string): string {
  return `/api/v1/sites/${encodeURIComponent(site.peek())}/alarms/${encodeURIComponent(name)}/${verb}`;
}

/** Recorded; the verdict of the alarm controller comes on the stream (contract 2, Alarms). */
export async function acknowledge({ name }: Alarm): Promise<void> {
  await post(at(name, 'acknowledge'));
  readAlarmSoon(name);
}

/** A few at a time; what is refused of one is told, and the others are done. */
export async function acknowledgeAll(found: readonly Alarm[]): Promise<void> {
  const waiting = [...found];
  const faults: unknown[] = [];
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      await acknowledge(next).catch((fault: unknown) => {
        if (!(fault instanceof ApiError && fault.status === 409)) faults.push(fault); // 409: somebody else has, or it is resolved
      });
    }
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  if (faults.length > 0) throw faults[0];
}

export async function shelve({ name }: Alarm, duration: string): Promise<void> {
  await post(at(name, 'shelve'), { duration });
  readAlarmSoon(name);
}

export async function unshelve({ name }: Alarm): Promise<void> {
  await post(at(name, 'unshelve'));
  readAlarmSoon(name);
}

export interface HistoryFilter {
  readonly severity: string;
  readonly unit: string;
}

/** Newest first. @param cursor of the page before; empty for the first. */
export function readHistory({ severity, unit }: HistoryFilter, cursor: string): Promise<LogPage<AlarmEvent>> {
  const query = new URLSearchParams({ limit: String(HISTORY_MAX) });
  for (const [name, value] of Object.entries({ severity, unit, cursor })) if (value !== '') query.set(name, value);
  return get<LogPage<AlarmEvent>>(`/api/v1/sites/${encodeURIComponent(site.peek())}/alarmevents?${query}`);
}

/** Of the time up to now. */
export function readMetrics(unit: string, windowMs: number): Promise<AlarmMetrics> {
  const query = new URLSearchParams({ from: new Date(boxNowMs() - windowMs).toISOString(), ...(unit === '' ? {} : { unit }) });
  return get<AlarmMetrics>(`/api/v1/sites/${encodeURIComponent(site.peek())}/alarmmetrics?${query}`);
}
