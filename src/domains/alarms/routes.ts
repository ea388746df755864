/**
 * Alarms as they are read (contract 2, Alarms; decisions Q-ALARM-07, D-ALARM-01). They are made by the system or restored by
 * apply, never created over these routes.
 */
import type { Clock } from '../../platform/base/clock.js';
import { missing } from '../../platform/base/refusal.js';
import { type Query, routesFor } from '../../platform/http/route.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { Alarm, type AlarmSpec, type AlarmStatus } from './kind.js';
import { isActive, isShelved } from './counts.js';

export interface AlarmRouteDeps {
  readonly store: Store;
  readonly clock: Clock;
}

type AlarmResource = Resource<AlarmSpec, AlarmStatus>;

const route = routesFor<AlarmRouteDeps>();
const FAMILY = '/api/v1/sites/{site}/alarms';

export const alarmRoutes = [
  route({
    method: 'GET',
    path: FAMILY,
    action: 'alarm:list',
    tier: 'read',
    reply: 'array of alarms, sorted by name',
    summary: 'Alarms of the site; query state, severity, type, source, unit, definition, shelved, active',
    handle: ({ params, query }, { store, clock }) =>
      store
        .list(Alarm, params.site)
        .map((alarm) => alarmDto(alarm, clock.wallMs()))
        .filter((alarm) => matches(alarm, query)),
  }),
  route({
    method: 'GET',
    path: `${FAMILY}/{name}`,
    action: 'alarm:read',
    tier: 'read',
    reply: 'alarm',
    summary: 'One alarm',
    exists: ({ site, name }, { store }) => void requireAlarm(store, site, name),
    handle: ({ params }, { store, clock }) => alarmDto(requireAlarm(store, params.site, params.name), clock.wallMs()),
  }),
];

function requireAlarm(store: Store, site: string, name: string): AlarmResource {
  const alarm = store.get(Alarm, site, name);
  if (!alarm) throw missing('Alarm', name);
  return alarm;
}

type AlarmDto = ReturnType<typeof alarmDto>;

/** `shelved` is judged against the present time; `shelvedUntil` may outlive its shelf. */
function alarmDto({ metadata, spec, status }: AlarmResource, nowMs: number) {
  return {
    name: metadata.name,
    source: spec.source,
    type: spec.type,
    severity: spec.severity,
    state: status.state,
    message: spec.message,
    definitionRef: spec.definitionRef,
    conditionType: spec.conditionType,
    setpoint: spec.setpoint,
    value: status.value,
    acknowledgedBy: status.acknowledgedBy,
    shelved: isShelved(status, nowMs),
    shelvedUntil: status.shelvedUntil,
    unit: status.unit,
    occurrences: status.occurrences,
    activatedAt: status.activatedAt || metadata.createdAt,
    clearedAt: status.clearedAt || null,
    acknowledgedAt: status.acknowledgedAt || null,
    shelvedBy: status.shelvedBy,
    priority: status.priority,
    evaluable: true,
    origin: status.origin,
  };
}

function matches(alarm: AlarmDto, query: Query): boolean {
  const is = (name: string, value: string): boolean => query.get(name) === undefined || (query.get(name) as string).split(',').includes(value);
  const flag = (name: string, value: boolean): boolean => query.get(name) === undefined || query.get(name) === String(value);
  return (
    is('state', alarm.state) &&
    is('severity', alarm.severity) &&
    is('type', alarm.type) &&
    is('source', alarm.source) &&
    is('unit', alarm.unit) &&
    is('definition', alarm.definitionRef) &&
    flag('shelved', alarm.shelved) &&
    flag('active', isActive(alarm.state))
  );
}
