/** What a person does to alarms, and their history (contract 2, Alarms; decisions Q-ALARM-05, Q-ALARM-07). */
import { effect, signal } from '@preact/signals';
import { ApiError, get, post, remove, type RequestOptions } from './api.js';
import { boxNowMs } from './box-clock.js';
import { logPage, type Page } from './listed.js';
import { alarms, atSite, readAlarmSoon, site } from './plant.js';
import { can } from './session.js';
import type { Alarm, AlarmEvent, AlarmMetrics } from './types.js';

function at(where: string, name: string, verb: string): string {
  return `/api/v1/sites/${encodeURIComponent(where)}/alarms/${encodeURIComponent(name)}/${verb}`;
}

/** Alarms of two sites may have one name. */
const keyOf = (where: string, name: string): string => `${where}/${name}`;

/** Acknowledged from here, and the page does not know yet what became of it: shown at once, before the answer. */
const acknowledging = signal<ReadonlySet<string>>(new Set());

export function isAcknowledging({ name }: Pick<Alarm, 'name'>): boolean {
  return acknowledging.value.has(keyOf(site.value, name));
}

const answered = new Map<string, string>();

function note(key: string, isUnderWay: boolean): void {
  const next = new Set(acknowledging.peek());
  if (isUnderWay) next.add(key);
  else next.delete(key);
  acknowledging.value = next;
}

/** What is read after the answer says what became of it; the alarms of a site that is not shown are read whole when it is. */
effect(() => {
  const shown = site.value;
  const states = new Map(alarms.value.map(({ name, state }) => [keyOf(shown, name), state]));
  for (const [key, state] of answered) {
    if (states.get(key) === state) continue; // one that is gone has no state any more
    answered.delete(key);
    note(key, false);
  }
});

/**
 * Recorded; the verdict of the alarm controller comes on the stream (contract 2, Alarms).
 * @param comment what was done; it stands in the history.
 * @param where its site.
 */
export async function acknowledge({ name, state }: Alarm, comment = '', where = site.peek()): Promise<void> {
  const key = keyOf(where, name);
  note(key, true);
  try {
    await post(at(where, name, 'acknowledge'), comment === '' ? undefined : { comment });
    if (where === site.peek()) answered.set(key, state);
    else note(key, false);
  } catch (fault) {
    note(key, false);
    throw fault;
  }
  readAlarmSoon(name);
}

/** What was done in earlier times, newest first. */
export async function lastTimes(definition: string, options?: RequestOptions): Promise<readonly AlarmEvent[]> {
  if (definition === '' || !can('alarm:history')) return [];
  const { items } = await logPage<AlarmEvent>(atSite('alarmevents'), { definition, event: 'Acknowledged', limit: '50' }, '', options);
  return items.filter(({ comment }) => comment !== undefined);
}

/** A few at a time, of the site that is shown now; what is refused of one is told, and the others are done. */
export async function acknowledgeAll(found: readonly Alarm[]): Promise<void> {
  const waiting = [...found];
  const where = site.peek(); // another one may be chosen before the last is sent
  const faults: unknown[] = [];
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      await acknowledge(next, '', where).catch((fault: unknown) => {
        if (!(fault instanceof ApiError && fault.status === 409)) faults.push(fault); // 409: somebody else has, or it is resolved
      });
    }
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  if (faults.length > 0) throw faults[0];
}

export async function shelve({ name }: Alarm, duration: string, reason: string): Promise<void> {
  await post(at(site.peek(), name, 'shelve'), { duration, ...(reason === '' ? {} : { reason }) });
  readAlarmSoon(name);
}

export async function unshelve({ name }: Alarm): Promise<void> {
  await post(at(site.peek(), name, 'unshelve'));
  readAlarmSoon(name);
}

/** Of a definition that is no more. */
export async function removeAlarm({ name }: Alarm): Promise<void> {
  await remove(atSite(`alarms/${encodeURIComponent(name)}`));
  readAlarmSoon(name);
}

/** Newest first where `order` asks nothing else. @param question parameters of the route. @param cursor of the page before; empty for the first. */
export function alarmEventPage(question: Readonly<Record<string, string>>, cursor: string, options?: RequestOptions): Promise<Page<AlarmEvent>> {
  return logPage<AlarmEvent>(atSite('alarmevents'), question, cursor, options);
}

/** Of the time up to now. */
export function readMetrics(unit: string, windowMs: number): Promise<AlarmMetrics> {
  const query = new URLSearchParams({ from: new Date(boxNowMs() - windowMs).toISOString(), ...(unit === '' ? {} : { unit }) });
  return get<AlarmMetrics>(`/api/v1/sites/${encodeURIComponent(site.peek())}/alarmmetrics?${query}`);
}
