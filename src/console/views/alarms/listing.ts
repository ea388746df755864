/** Which alarms a list shows, and in what lines. */
import type { Alarm } from '../../data/types.js';
import { urgency } from '../../plant/alarm.js';
import { type AlarmGroup, byCause, byUnit } from '../../plant/alarm-groups.js';

export type AlarmBy = 'cause' | 'unit' | 'time' | 'shelved';

export function isAlarmListed({ shelved, state }: Alarm, by: AlarmBy): boolean {
  return by === 'shelved' ? shelved : !shelved && state !== 'ClearedAcknowledged';
}

export interface AlarmFinding {
  readonly by: AlarmBy;
  readonly severity: string;
  readonly unit: string;
  readonly search: string;
}

export function findAlarms(all: readonly Alarm[], { by, severity, unit, search }: AlarmFinding): Alarm[] {
  const wanted = search.trim().toLowerCase();
  return all.filter(
    (alarm) =>
      isAlarmListed(alarm, by) &&
      (severity === '' || alarm.severity === severity) &&
      (unit === '' || alarm.unit === unit) &&
      (wanted === '' || [alarm.message, alarm.name, alarm.source, alarm.unit].some((text) => text.toLowerCase().includes(wanted))),
  );
}

/** A line of the list: the head of a group, or an alarm. */
export type AlarmLine = { readonly group: AlarmGroup; readonly isOpen: boolean } | { readonly alarm: Alarm; readonly place: 'alone' | 'first' | 'member' };

/** @param isOpen whether the alarms of a group are shown. One that stands alone has no head. */
export function linesOf(found: readonly Alarm[], by: AlarmBy, isOpen: (group: AlarmGroup, at: number) => boolean): AlarmLine[] {
  if (by === 'time' || by === 'shelved')
    return [...found].sort(by === 'time' ? (a, b) => b.activatedAt.localeCompare(a.activatedAt) || urgency(a, b) : urgency).map((alarm) => ({ alarm, place: 'alone' as const }));
  const groups = by === 'cause' ? byCause(found) : byUnit(found);
  return groups.flatMap((group, at): AlarmLine[] => {
    const [first] = group.alarms;
    if (first && group.alarms.length === 1 && by === 'cause') return [{ alarm: first, place: 'alone' }];
    const shown = isOpen(group, at);
    return [
      { group, isOpen: shown },
      ...(shown ? group.alarms.map((alarm, place) => ({ alarm, place: place === 0 && by === 'cause' ? ('first' as const) : ('member' as const) })) : []),
    ];
  });
}
