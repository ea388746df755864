/**
 * The failure `alarm-exception` (decisions 3.5): an alarm whose definition has an exceptionAction commands the root of the
 * work, and that root cannot be restarted while the alarm is active. The failure is kept with the root; whether it is
 * active is read from the alarms whenever the root is looked at, so nothing has to be told that an alarm has cleared.
 */
import { told } from '../../../../runtime/vocabulary/told.js';
import type { StoreReader } from '../../../platform/store/kind.js';
import { isActive } from '../../alarms/kind.js';
import { Alarm } from '../../alarms/kind.js';
import type { ElementFailure } from '../../runs/failures.js';

export const ALARM_EXCEPTION = 'alarm-exception';
/** The command does nothing there, but the failure counts: column HF of decisions 3.1 stays. */
const HELD_ALREADY: readonly string[] = ['already-holding', 'already-held'];

/** Whether an alarm whose command was judged so leaves a failure. */
export function leavesFailure(rule: string | undefined): boolean {
  return rule === undefined || HELD_ALREADY.includes(rule);
}

/** The failure of a root that one more alarm has commanded; one that the root cannot go on from stays. */
export function commandedByAlarm(before: ElementFailure | undefined, alarm: string, at: string, read: StoreReader, site: string): ElementFailure {
  if (before?.class === 'fail') return before;
  const alarms = [...new Set([...(before?.alarms ?? []), alarm])];
  const since = before?.alarms ? before.since : at;
  return seenNow({ class: 'hold', rule: ALARM_EXCEPTION, message: '', step: '', since, active: false, auditRecordRef: '', alarms }, read, site);
}

/** The same failure, active while one of its alarms is. It names those that stand, or what has held when none does. */
export function seenNow<Failure extends ElementFailure | undefined>(failure: Failure, read: StoreReader, site: string): Failure {
  if (!failure?.alarms) return failure;
  const standing = failure.alarms.filter((alarm) => {
    const found = read.get(Alarm, site, alarm);
    return found !== undefined && isActive(found.status.state);
  });
  const active = standing.length > 0;
  const named = active ? standing : failure.message === '' ? failure.alarms : [];
  if (named.length === 0) return active === failure.active ? failure : { ...failure, active };
  const message = named.map((alarm) => textOf(alarm, read, site)).join('; ');
  if (active === failure.active && message === failure.message) return failure;
  const texts = named.map((alarm) => read.get(Alarm, site, alarm)?.spec.message || alarm).join('; ');
  return { ...failure, active, message, told: told('alarms-hold', { alarms: named.join(', '), texts }) };
}

function textOf(alarm: string, read: StoreReader, site: string): string {
  const message = read.get(Alarm, site, alarm)?.spec.message ?? '';
  return `alarm ${alarm}${message === '' ? '' : `: ${message}`}`;
}
