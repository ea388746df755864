/** How many alarms stand, for overviews (decisions Q-TAG-15). */
import type { Clock } from '../../platform/base/clock.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import type { AlarmCounts, AlarmView } from '../units/overview.js';
import { ALARM_SEVERITIES, type AlarmSpec, type AlarmStatus } from './kind.js';
import { unstoredAlarms } from './unstored-alarms.js';

type AlarmResource = Resource<AlarmSpec, AlarmStatus>;

export function isShelved(status: AlarmStatus, nowMs: number): boolean {
  return status.shelvedUntil !== '' && Date.parse(status.shelvedUntil) > nowMs;
}

export function isActive(state: AlarmStatus['state']): boolean {
  return state === 'ActiveUnacknowledged' || state === 'ActiveAcknowledged';
}

export function alarmView(store: Store, clock: Clock): AlarmView {
  const alarms = unstoredAlarms(store);
  const count = (alarms: readonly AlarmResource[]): AlarmCounts => {
    const active = alarms.filter((alarm) => isActive(alarm.status.state));
    const bySeverity = Object.fromEntries(ALARM_SEVERITIES.map((severity) => [severity, active.filter((alarm) => alarm.spec.severity === severity).length]));
    return {
      active: active.length,
      unacknowledged: alarms.filter((alarm) => alarm.status.state.endsWith('Unacknowledged')).length,
      shelved: alarms.filter((alarm) => isShelved(alarm.status, clock.wallMs())).length,
      bySeverity,
      highestSeverity: ALARM_SEVERITIES.findLast((severity) => bySeverity[severity] > 0) ?? '',
    };
  };
  return {
    ofUnit: (site, unit) => count(alarms.list(site).filter((alarm) => alarm.status.unit === unit)),
    ofSite: (site) => count(alarms.list(site)),
  };
}
