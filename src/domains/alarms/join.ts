/**
 * Alarms: those of the definitions, judged in the scan and here, and those of the product itself. What they command is given by the
 * part that commands; what stands of the appliance is told by the parts that know it.
 */
import type { Clock } from '../../platform/base/clock.js';
import type { ContainedFaults } from '../../platform/base/contained-faults.js';
import type { Log } from '../../platform/base/log.js';
import type { Nonces } from '../../platform/http/nonces.js';
import { routeSet } from '../../platform/http/route.js';
import { ReconcileLoop } from '../../platform/reconcile/loop.js';
import type { Loops } from '../../platform/reconcile/loops.js';
import { on } from '../../platform/reconcile/wakes.js';
import type { Store } from '../../platform/store/store.js';
import type { ChannelHub } from '../../platform/stream/hub.js';
import type { SettingsOf, SettingValues } from '../../settings.js';
import type { LocalProbes } from '../placement/local-probes.js';
import type { UnitRuntimes } from '../placement/runtimes.js';
import { publishAlarms } from './alarm-channel.js';
import { Site } from '../plant/kind.js';
import { AlarmRegister, type AlarmRegisterParts } from './alarm-register.js';
import { DefinitionReconciler } from './definition-reconciler.js';
import { alarmDefinitionRoutes } from './definition-routes.js';
import { type CommandGiver, ExceptionCommands } from './exception-commands.js';
import { Alarm, type CommandTarget } from './kind.js';
import { AlarmReconciler } from './reconciler.js';
import { type AlarmRouteDeps, alarmRoutes } from './routes.js';
import { controllerKey, signalKey, SYSTEM_ALARM_WAKES, SystemAlarmReconciler } from './system-alarm-reconciler.js';
import type { SystemFacts, TroubleEnds, Troubles } from './system-conditions.js';
import { definitionWakes } from './wakes.js';

export interface AlarmParts extends Pick<AlarmRouteDeps, 'facts' | 'history' | 'timeScale'> {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly runtimes: UnitRuntimes;
  /** The historian's copy of the events; absent without a historian. */
  readonly record: AlarmRegisterParts['record'];
  readonly commands: CommandGiver;
  readonly probes: Pick<LocalProbes, 'moduleState' | 'onModule'>;
  /** All that look at something: what they can no longer look at is an alarm. */
  readonly loops: Pick<Loops, 'watchTrouble' | 'faultOf'>;
  /** Of the audit trail. */
  readonly archive: Pick<SystemFacts, 'archiveFault' | 'archiveDamage'>;
  readonly storageLow: () => boolean;
  readonly contained: Pick<ContainedFaults, 'tooMany' | 'last'>;
  /** Absent where the barrier is off. */
  readonly nonces: Pick<Nonces, 'nearlyFull'> | undefined;
  readonly troubles: Troubles;
  readonly troubleEnds: TroubleEnds;
  readonly settings: SettingsOf<'alarms'> & Pick<SettingValues, 'historianIntervalMinMs' | 'reasonLengthMin'>;
}

export function joinAlarms(parts: AlarmParts) {
  const { store, clock, log, runtimes, probes, loops, timeScale, settings, troubles, troubleEnds, archive, contained, nonces } = parts;
  const register = new AlarmRegister({ store, clock, record: parts.record });
  const exceptions = new ExceptionCommands(store, parts.commands);
  const definitions = new DefinitionReconciler({
    store,
    clock,
    runtimes,
    register,
    timeScale,
    exceptions,
    lostChanged: (site, module) => systemLoop.wake(site, signalKey(module)),
    toldState: (site, module) => probes.moduleState(site, module)?.state,
  });
  const system = new SystemAlarmReconciler({
    store,
    clock,
    register,
    facts: {
      storageLow: parts.storageLow,
      archiveFault: archive.archiveFault,
      archiveDamage: archive.archiveDamage,
      containedFault: () => (contained.tooMany ? contained.last : null),
      nonceStoreNearlyFull: () => nonces?.nearlyFull ?? false,
      lostTags: (site, module) => definitions.lostTags(site, module),
      trouble: (topic) => troubles[topic](),
      troubleEnd: (topic) => troubleEnds[topic]?.(),
      lookFault: (site, kind, name) => loops.faultOf(site, `${kind}/${name}`),
    },
  });
  const { resolvedRetentionMs } = settings;
  const definitionLoop = new ReconcileLoop(definitions, clock, log, definitionWakes(store));
  const alarmLoop = new ReconcileLoop(new AlarmReconciler({ store, clock, register, exceptions, resolvedRetentionMs }), clock, log, [on(Alarm)]);
  const systemLoop = new ReconcileLoop(system, clock, log, SYSTEM_ALARM_WAKES);
  runtimes.onMessage((unit, message) => definitions.take(unit, message));
  runtimes.onMessage((unit, message) => system.take(unit, message, (site, name) => systemLoop.wake(site, name)));
  runtimes.onChange((unit, what) => definitions.linkChanged(unit, what));
  loops.watchTrouble((site, source) => {
    // what concerns no site in particular is an alarm of each: there is no other list that somebody would see
    const sites = site === '' ? store.list(Site).map(({ metadata }) => metadata.name) : [site];
    for (const each of sites) systemLoop.wake(each, controllerKey(source));
  });
  // while nothing can be written, no change of the store tells the alarms on states of modules
  probes.onModule(() => !store.accepting && definitionLoop.wakeAll());
  const isEvaluable = (site: string, definition: string): boolean => definitions.isEvaluable(site, definition);
  const { facts, history } = parts;
  return {
    routes: [
      routeSet(alarmDefinitionRoutes, { store }),
      routeSet(alarmRoutes, {
        store,
        clock,
        register,
        facts,
        isEvaluable,
        shelveMaxMs: settings.maxShelveDurationMs,
        reasonLengthMin: settings.reasonLengthMin,
        history,
        timeScale,
        intervalMinMs: settings.historianIntervalMinMs,
      }),
    ],
    reconcilers: [definitionLoop, alarmLoop, systemLoop],
    /** A command of an alarm was pushed aside by a person: it is due again while its alarm stands. */
    again: (site: string, alarm: string, target: CommandTarget): void => exceptions.again(site, alarm, target),
    publish: (hub: ChannelHub): void => publishAlarms({ hub, store, clock }),
  };
}
