/**
 * Which alarm another one came of (ISA-18.2, first-out): found when it is raised, from what the model says and from what stands then, and kept with it,
 * so that a page groups alarms without guessing. What nothing is known of stands alone: alarms that merely came close after each other are not joined.
 */
import type { StoreReader } from '../../platform/store/kind.js';
import type { Store } from '../../platform/store/store.js';
import { ControlModule } from '../control-modules/kind.js';
import { resolvedModuleOf } from '../control-modules/modules.js';
import { alarmIndex } from './alarm-index.js';
import { Alarm, type AlarmCause, AlarmDefinition, type AlarmResource, type AlarmSpec, type EXCEPTION_ACTIONS } from './kind.js';

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
    { by: 'device', found: () => devicesOf(store, site, alarm.source).flatMap((device) => index.about(site, `IOModule/${device}`)) },
    { by: 'command', found: () => commandersOf(store, site, alarm, unit) },
    { by: 'source', found: () => index.about(site, alarm.source) },
  ] as const;
  for (const { by, found } of kinds) {
    const first = firstOf(found().filter(({ metadata, status }) => metadata.name !== own && status.cause?.alarm !== own && status.state !== 'ClearedAcknowledged'));
    if (first) return { alarm: rootOf(store, site, first), by };
  }
  return undefined;
}

/** The one that came first. */
function firstOf(found: readonly AlarmResource[]): AlarmResource | undefined {
  let first: AlarmResource | undefined;
  for (const alarm of found) if (!first || alarm.status.activatedAt < first.status.activatedAt) first = alarm;
  return first;
}

/** What the first came of itself, while that stands. */
function rootOf(store: Store, site: string, first: AlarmResource): string {
  const { cause } = first.status;
  const root = cause && store.get(Alarm, site, cause.alarm);
  return root && root.status.state !== 'ClearedAcknowledged' ? cause.alarm : first.metadata.name;
}

function devicesOf(read: StoreReader, site: string, source: string): readonly string[] {
  const module = source.startsWith(`${ControlModule.kind}/`) ? read.get(ControlModule, site, source.slice(ControlModule.kind.length + 1)) : undefined;
  return module ? (resolvedModuleOf(read, module)?.ioModules ?? []) : [];
}

/** Alarms that commanded the unit into the state that this one is about. */
function commandersOf(store: Store, site: string, { conditionType, setpoint }: AlarmSpec, unit: string): readonly AlarmResource[] {
  if (conditionType !== 'StateEquals' || unit === '') return [];
  return store
    .list(Alarm, site)
    .filter(
      ({ status }) => status.unit === unit && status.exceptionAction !== undefined && status.exceptionAction !== '' && STATES_AFTER[status.exceptionAction].includes(setpoint),
    );
}
