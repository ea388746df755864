/** How many alarms stand, for overviews (decisions Q-TAG-15). */
import type { Terms } from '../../platform/base/term.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { ALARM_SEVERITIES, isActive, type AlarmSpec, type AlarmStatus } from './kind.js';
import { unstoredAlarms } from './unstored-alarms.js';

type AlarmResource = Resource<AlarmSpec, AlarmStatus>;

export type Shelf = Pick<AlarmStatus, 'shelvedUntil' | 'shelvedBy' | 'shelf' | 'shelfReason'>;

export function isShelved(status: Shelf, terms: Terms): boolean {
  return shelfLeftMs(status, terms) > 0;
}

export function shelfLeftMs({ shelvedUntil, shelf }: Shelf, terms: Terms): number {
  return terms.remainingMs({ until: shelvedUntil, term: shelf });
}

/** What an alarm takes over from the one that was shelved before it. */
export function shelfOf(status: Shelf | undefined): Shelf {
  if (!status) return { shelvedUntil: '', shelvedBy: '' };
  const { shelvedUntil, shelvedBy, shelf, shelfReason } = status;
  return { shelvedUntil, shelvedBy, ...(shelf ? { shelf } : {}), ...(shelfReason ? { shelfReason } : {}) };
}

export function unshelved({ shelf: _shelf, shelfReason: _reason, ...status }: AlarmStatus): AlarmStatus {
  return { ...status, shelvedUntil: '', shelvedBy: '' };
}

export function alarmView(store: Store): AlarmView {
  const alarms = unstoredAlarms(store);
  const count = (alarms: readonly AlarmResource[]): AlarmCounts => {
    const active = alarms.filter((alarm) => isActive(alarm.status.state));
    const bySeverity = Object.fromEntries(ALARM_SEVERITIES.map((severity) => [severity, active.filter((alarm) => alarm.spec.severity === severity).length]));
    return {
      active: active.length,
      unacknowledged: alarms.filter((alarm) => alarm.status.state.endsWith('Unacknowledged')).length,
      shelved: alarms.filter((alarm) => isShelved(alarm.status, store.terms)).length,
      bySeverity,
      highestSeverity: ALARM_SEVERITIES.findLast((severity) => (bySeverity[severity] ?? 0) > 0) ?? '',
    };
  };
  return {
    ofUnit: (site, unit) => count(alarms.list(site).filter((alarm) => alarm.status.unit === unit)),
    ofSite: (site) => count(alarms.list(site)),
  };
}
/** Alarm counts of a unit or site, given by the alarm domain. */

export interface AlarmCounts {
  readonly active: number;
  readonly unacknowledged: number;
  readonly shelved: number;
  readonly bySeverity: Readonly<Record<string, number>>;
  readonly highestSeverity: string;
}
export interface AlarmView {
  ofUnit(site: string, unit: string): AlarmCounts;
  ofSite(site: string): AlarmCounts;
}
