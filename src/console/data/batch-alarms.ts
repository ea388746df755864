/** How severe the alarms of the batch that is open were: of those that are resolved and gone the historian knows it (decisions 8.9). */
import { effect, signal } from '@preact/signals';
import { get } from './api.js';
import { detail } from './batch.js';
import { Latest } from './latest.js';
import { site } from './plant.js';
import { can } from './session.js';
import type { AlarmEvent, LogPage } from './types.js';

const LIMIT = 5000;

/** By the name of the alarm. */
export const alarmSeverities = signal<ReadonlyMap<string, string>>(new Map());
/** Of how many events the severities are known, where the batch had more; 0 where all were read. */
export const severitiesCutAt = signal(0);

/** For as long as somebody looks. @returns ends it. */
export function watchBatchAlarms(): () => void {
  const latest = new Latest();
  let read = '';
  const end = effect(() => {
    const id = detail.value?.batchID ?? '';
    const question = `${site.value} ${id}`; // two sites may have a batch of one number
    if (question === read) return;
    read = question;
    latest.forget();
    alarmSeverities.value = new Map();
    severitiesCutAt.value = 0;
    if (id === '' || !can('historian:batch-alarms')) return;
    const query = new URLSearchParams({ site: site.peek(), limit: String(LIMIT) });
    const ask = () => get<LogPage<AlarmEvent>>(`/api/v1/historian/batch/${encodeURIComponent(id)}/alarms?${query}`, { background: true });
    const take = ({ items, nextCursor }: LogPage<AlarmEvent>): void => {
      severitiesCutAt.value = nextCursor === null ? 0 : items.length;
      alarmSeverities.value = new Map(items.map(({ alarm, severity }) => [alarm, severity]));
    };
    void latest.read(ask, take).catch(() => undefined); // marks without a severity are marks all the same
  });
  return () => {
    end();
    latest.forget();
  };
}
