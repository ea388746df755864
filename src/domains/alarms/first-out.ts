/**
 * Which alarm another one came of (ISA-18.2, first-out): found when it is raised, from what the model says and from what stands then, and kept with it,
 * so that a page groups alarms without guessing. What nothing is known of stands alone: alarms that merely came close after each other are not joined.
 */
import type { StoreReader } from '../../platform/store/kind.js';
import type { Store } from '../../platform/store/store.js';
import { Batch } from '../batches/kind.js';
import { ControlModule } from '../control-modules/kind.js';
import { resolvedModuleOf } from '../control-modules/modules.js';
import { Unit } from '../plant/kind.js';
import { presentHold } from '../runs/holds.js';
import { alarmIndex } from './alarm-index.js';
import { Alarm, type AlarmCause, AlarmDefinition, type AlarmResource, type AlarmSpec, type AlarmStatus, type EXCEPTION_ACTIONS, isActive } from './kind.js';

/** States of a unit that a command of an alarm leads to. */
const STATES_AFTER: Readonly<Record<(typeof EXCEPTION_ACTIONS)[number], readonly string[]>> = {
  Hold: ['Holding', 'Held'],
  Stop: ['Stopping', 'Stopped'],
  Abort: ['Aborting', 'Aborted'],
};

/**
 * @param alarm that is raised now. @param unit it is about; '' of several.
 * @param own name of the alarm where it comes back, which is not the cause of itself.
 */
export function causeOf(store: Store, site: string, alarm: AlarmSpec, unit: string, own = ''): AlarmCause | undefined {
  const index = alarmIndex(store);
  const follows = alarm.definitionRef === '' ? [] : (store.get(AlarmDefinition, site, alarm.definitionRef)?.spec.follows ?? []);
  const kinds = [
    { by: 'definition', found: () => follows.flatMap((name) => index.ofDefinition(site, name)) },
    {
      by: 'device',
      found: () =>
        devicesOf(store, site, alarm.source)
          .flatMap((device) => index.about(site, `IOModule/${device}`))
          .filter(stands),
    },
    { by: 'command', found: () => commandersOf(store, site, alarm, unit) },
    { by: 'source', found: () => (isOfBox(alarm.source) ? [] : index.about(site, alarm.source).filter(stands)) },
  ] as const;
  for (const { by, found } of kinds) {
    const first = firstOf(found().filter((each) => !isResolved(each) && !comesOf(store, each, own)));
    if (first) return { alarm: rootOf(store, site, first), by };
  }
  return undefined;
}

/** The status of an alarm that comes back: what explained it before is no matter. */
export function explainedAnew(store: Store, site: string, name: string, spec: AlarmSpec, status: AlarmStatus): AlarmStatus {
  const { cause: _before, ...bare } = status;
  const cause = causeOf(store, site, spec, status.unit, name);
  return cause ? { ...bare, cause } : bare;
}

/** Alarms of the box itself share their source and nothing else: a certificate that ends explains no full disk. */
function isOfBox(source: string): boolean {
  return source.startsWith('System/');
}

/** What has cleared, and only waits to be acknowledged, explains nothing that comes later by itself: it may be days old. */
function stands({ status }: AlarmResource): boolean {
  return isActive(status.state);
}

function isResolved({ status }: AlarmResource): boolean {
  return status.state === 'ClearedAcknowledged';
}

/** Whether it is the other alarm, or has come of it, over however many. */
function comesOf(store: Store, { metadata: { site, name }, status }: AlarmResource, other: string): boolean {
  const seen = new Set([name]);
  for (let cause = status.cause?.alarm; cause !== undefined && !seen.has(cause); cause = store.get(Alarm, site, cause)?.status.cause?.alarm) seen.add(cause);
  return seen.has(other);
}

/** The one that came first. */
function firstOf(found: readonly AlarmResource[]): AlarmResource | undefined {
  let first: AlarmResource | undefined;
  for (const alarm of found) if (!first || isBefore(alarm, first)) first = alarm;
  return first;
}

/** By the number of its event, which no clock that was set changes; by time where a release before has not kept it, or an apply has made the alarm. */
function isBefore(a: AlarmResource, b: AlarmResource): boolean {
  const [first, second] = [a.status.activation, b.status.activation];
  if (first !== undefined && second !== undefined) return first < second;
  return (a.status.activatedAt || a.metadata.createdAt) < (b.status.activatedAt || b.metadata.createdAt);
}

/** What the first came of itself, while that stands. */
function rootOf(store: Store, site: string, first: AlarmResource): string {
  const { cause } = first.status;
  const root = cause && store.get(Alarm, site, cause.alarm);
  return root && !isResolved(root) ? cause.alarm : first.metadata.name;
}

function devicesOf(read: StoreReader, site: string, source: string): readonly string[] {
  const module = source.startsWith(`${ControlModule.kind}/`) ? read.get(ControlModule, site, source.slice(ControlModule.kind.length + 1)) : undefined;
  return module ? (resolvedModuleOf(read, module)?.ioModules ?? []) : [];
}

/**
 * Alarms that commanded the unit into the state that this one is about. The batch on the unit says which alarm holds it, on whatever unit that came;
 * before it has said so, and for its other states, one that came after the batch last went on.
 */
function commandersOf(store: Store, site: string, { conditionType, setpoint }: AlarmSpec, unit: string): readonly AlarmResource[] {
  if (conditionType !== 'StateEquals' || unit === '') return [];
  const batch = store.get(Batch, site, store.get(Unit, site, unit)?.status.allocatedTo ?? '');
  const hold = STATES_AFTER.Hold.includes(setpoint) ? presentHold(batch?.status.holds) : undefined;
  if (hold) return [store.get(Alarm, site, hold.alarm) ?? []].flat();
  const wentOnAt = batch ? batch.status.holds?.at(-1)?.until || batch.status.startedAt : '';
  return store
    .list(Alarm, site)
    .filter(
      ({ status: { unit: of, exceptionAction, activatedAt } }) => of === unit && exceptionAction && STATES_AFTER[exceptionAction].includes(setpoint) && activatedAt >= wentOnAt,
    );
}
