/**
 * The alarms whose exceptionAction has commanded a batch since it was last started (decisions 3.5): each with the value that decides it and
 * what that has to be for the alarm to clear. The batch cannot be restarted while one of them is active; those that have cleared are told as lifted.
 */
import { clearsAt } from '../../../../runtime/vocabulary/alarm-set.js';
import { told } from '../../../../runtime/vocabulary/told.js';
import { QUALITY } from '../../../../runtime/vocabulary/quality.js';
import type { Resource } from '../../../platform/store/resource.js';
import type { Store } from '../../../platform/store/store.js';
import { Alarm, isActive } from '../../alarms/kind.js';
import type { UnitLink, UnitRuntimes } from '../../placement/runtimes.js';
import type { BatchSpec, BatchStatus } from '../kind.js';
import type { Blocker, DecidedBy } from './conditions.js';

export function alarmsOfHold(store: Store, runtimes: UnitRuntimes, { status, metadata: { site } }: Resource<BatchSpec, BatchStatus>): Blocker[] {
  const named = [...(status.failure ? [status.failure] : []), ...(status.furtherFailures ?? [])].flatMap(({ alarms = [] }) => alarms);
  return [...new Set(named)].map((name): Blocker => {
    const alarm = store.get(Alarm, site, name);
    const message = `alarm ${name}${alarm?.spec.message ? `: ${alarm.spec.message}` : ''}`;
    const said = { message, element: name, told: told('alarm', { alarm: name, message: alarm?.spec.message ?? '' }) };
    const liftedBy = { tier: 'operate', action: 'put that right; the batch can go on when the alarm has cleared' } as const;
    if (!alarm) return { ...said, liftedBy, isLifted: true }; // resolved, and its retention is over
    const { unit, state } = alarm.status;
    const decidedBy = decidedNow(runtimes.link(site, unit), alarm.spec.definitionRef);
    const row = { ...said, about: { kind: Alarm.kind, name, unit }, liftedBy, ...(decidedBy ? { decidedBy } : {}) };
    return isActive(state) ? row : { ...row, isLifted: true };
  });
}

/** Undefined where no tag decides it, or its value is not known now. */
function decidedNow(link: UnitLink | undefined, definition: string): DecidedBy | undefined {
  const plan = link?.ready ? link.alarmPlan(definition) : undefined;
  if (!link || !plan) return undefined;
  const back = clearsAt(plan);
  const index = link.tagIndex(plan.address);
  if (!back || index < 0 || !link.refresh()) return undefined;
  const { value, quality, atMs } = link.reading(index);
  if (atMs === 0 || quality === QUALITY.Bad) return undefined;
  return { address: plan.address, value: String(value), wanted: back.wanted, limit: String(back.limit) };
}
