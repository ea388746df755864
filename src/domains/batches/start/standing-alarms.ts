/**
 * What stands on a unit when a batch gets it: an inspector has to see that a limit was passed, or a device was in fault, before the
 * first phase began. Told in the transaction of the allocation, into the alarms of the batch and into its events (decisions 8.1, 8.3).
 */
import type { Resource } from '../../../platform/store/resource.js';
import type { StoreReader } from '../../../platform/store/kind.js';
import { Alarm, isActive, type AlarmSpec, type AlarmStatus, type StandingAlarmFact } from '../../alarms/kind.js';
import { modulesOf, resolvedModuleOf } from '../../control-modules/modules.js';
import { IOModule } from '../../io-modules/kind.js';
import { alarmExecutionEvent } from '../../runs/alarm-event.js';
import { type PendingFact, streamOf } from '../../runs/execution-log.js';

type AlarmResource = Resource<AlarmSpec, AlarmStatus>;

/** Active, or gone and acknowledged by nobody. */
export function standingAlarmFacts(read: StoreReader, site: string, batch: string, unit: string, at: string): PendingFact[] {
  const standing = read.list(Alarm, site).filter(({ status }) => status.state !== 'ClearedAcknowledged');
  if (standing.length === 0) return [];
  const ioModules = ioModulesOf(read, site, unit);
  return standing
    .filter(({ spec, status }) => (status.unit === '' ? ioModules.has(spec.source) : status.unit === unit))
    .sort((a, b) => compare(a.status.activatedAt, b.status.activatedAt))
    .flatMap((alarm) => factsOf(alarm, site, batch, unit, at));
}

function factsOf({ metadata, spec, status }: AlarmResource, site: string, batch: string, unit: string, at: string): PendingFact[] {
  const raisedAt = status.activatedAt || metadata.createdAt;
  const fact: StandingAlarmFact = {
    event: 'Standing',
    timestamp: at,
    alarm: metadata.name,
    definitionRef: spec.definitionRef,
    source: spec.source,
    severity: spec.severity,
    message: spec.message,
    unit,
    state: status.state,
    raisedAt,
    ...(status.state === 'ActiveAcknowledged' ? { acknowledgedAt: status.acknowledgedAt, acknowledgedBy: status.acknowledgedBy } : { acknowledgedAt: '', acknowledgedBy: '' }),
    clearedAt: isActive(status.state) ? '' : status.clearedAt,
    exceptionAction: status.exceptionAction ?? '',
  };
  return [
    { stream: streamOf('alarms', site, batch), body: (id) => ({ sequence: id, ...fact }) },
    alarmExecutionEvent({ site, batch, unit, at, event: 'Standing', since: raisedAt, name: metadata.name, spec, status }),
  ];
}

/** Sources of alarms of several units, as alarms name them: the I/O modules that the unit has tags on. */
function ioModulesOf(read: StoreReader, site: string, unit: string): ReadonlySet<string> {
  return new Set(modulesOf(read, site, unit).flatMap((module) => (resolvedModuleOf(read, module)?.ioModules ?? []).map((name) => `${IOModule.kind}/${name}`)));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
