/** Units: the plans that their runtimes execute, what these tell, and what is recorded of them. */
import path from 'node:path';
import type { Part } from '../../platform/base/parts.js';
import type { LogLines } from '../../platform/base/log-lines.js';
import type { Log } from '../../platform/base/log.js';
import type { Clock } from '../../platform/base/clock.js';
import { type RouteDeps, routeSet } from '../../platform/http/route.js';
import { ReconcileLoop } from '../../platform/reconcile/loop.js';
import { on, whenConfigured } from '../../platform/reconcile/wakes.js';
import type { Store } from '../../platform/store/store.js';
import type { ChannelHub } from '../../platform/stream/hub.js';
import type { SettingsOf, SettingValues } from '../../settings.js';
import { alarmView } from '../alarms/counts.js';
import { AlarmDefinition } from '../alarms/kind.js';
import { unitsConcerned } from '../alarms/sources.js';
import { ControlModule, ControlModuleTemplate } from '../control-modules/kind.js';
import { touchesPlan } from '../control-modules/modules.js';
import { IOModule } from '../io-modules/kind.js';
import { ControlProgram, FunctionBlockType } from '../logic/kind.js';
import type { LocalRuntimes } from '../placement/local-runtimes.js';
import { Unit } from '../plant/kind.js';
import type { TagDeps } from '../tags/write.js';
import { startControllerPulse } from './controller-pulse.js';
import { UnitJournal } from './journal.js';
import { publishModel } from './model-revision.js';
import { keepOverrides } from './overrides.js';
import { overviewRoutes } from './overview-routes.js';
import { UnitReconciler, type UnitReconcilerParts } from './reconciler.js';
import { madeBy } from './recording-file.js';
import { recordingRoutes } from './recording-routes.js';
import { Recordings } from './recordings.js';
import { type RuntimeSettingValues, runtimeSettings } from './runtime-settings.js';
import { runtimeRoutes } from './runtime-routes.js';
import { unitRoutes } from './unit-routes.js';
import { unitOf } from '../plant/unit-of.js';

export interface RecordingParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly dataDir: string;
  readonly storageLow: () => boolean;
  readonly product: Parameters<typeof madeBy>[0];
  readonly settings: SettingsOf<'runtime.recording'>;
}

/** A part of its own, which ends behind the runtimes: their last messages are recorded too. */
export function openRecordings({ clock, log, dataDir, storageLow, product, settings }: RecordingParts): Part & { readonly recordings: Recordings } {
  const recordings = new Recordings({
    folder: path.join(dataDir, 'recordings'),
    clock,
    log,
    settings: { durationMaxMs: settings.recordingDurationMaxMs, bytesMax: settings.recordingBytesMax, keep: settings.recordingsKept },
    storageLow,
    madeBy: madeBy(product),
  });
  return { recordings, stop: () => recordings.close() };
}

export interface UnitParts extends RouteDeps<typeof unitRoutes>, Pick<UnitReconcilerParts, 'image' | 'timeScale' | 'build'> {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly logLines: LogLines;
  readonly runtimes: LocalRuntimes;
  readonly tags: TagDeps;
  readonly recordings: Recordings;
  readonly onTimeScale: (listener: () => void) => void;
  readonly settings: RuntimeSettingValues & SettingsOf<'runtime.recording'> & Pick<SettingValues, 'nodeName'>;
}

export function joinUnits(parts: UnitParts) {
  const { store, clock, log, logLines, runtimes, timeScale, build, tags, recordings, settings } = parts;
  const units = new UnitReconciler({ ...parts, settings: runtimeSettings(settings) });
  const journal = new UnitJournal({ store, runtimes, clock, log });
  keepOverrides({ store, runtimes, clock });
  // one listener each: what one of them throws does not keep the message from the next
  runtimes.onMessage((link, message) => units.take(link, message));
  runtimes.onMessage((link, message) => recordings.take(link, message));
  runtimes.onChange((link, what) => units.linkChanged(link, what));
  runtimes.onChange((link, what) => what === 'down' && recordings.linkDown(link));
  const ofUnit = (site: string, unit: string | undefined) => (unit ? [{ site, name: unit }] : []);
  const loop = new ReconcileLoop(units, clock, log, [
    on(Unit, whenConfigured),
    on(ControlModule, touchesPlan, ({ resource, before }) =>
      [resource, before].flatMap((module) => ofUnit(resource.metadata.site, module && unitOf(store, module.metadata.site, module.spec))),
    ),
    on(ControlProgram, touchesPlan, ({ resource, before }) => [resource, before].flatMap((program) => ofUnit(resource.metadata.site, program?.spec.unitRef))),
    on(AlarmDefinition, whenConfigured, ({ resource, before }) =>
      [resource, before].flatMap((definition) =>
        definition ? unitsConcerned(definition.spec, store, resource.metadata.site).flatMap((unit) => ofUnit(resource.metadata.site, unit)) : [],
      ),
    ),
    on(ControlModuleTemplate, whenConfigured, 'all'),
    on(FunctionBlockType, whenConfigured, 'all'),
    on(IOModule, whenConfigured, 'all'),
  ]);
  // plans depend on what the store does not tell of
  parts.onTimeScale(() => loop.wakeAll());
  // what could not be written while nothing could be
  store.watchReload(() => units.catchUp());
  let stopPulse = (): void => undefined;
  return {
    routes: [
      routeSet(unitRoutes, parts),
      routeSet(overviewRoutes, { store, runtimes, alarms: alarmView(store), nowMs: () => clock.wallMs() }),
      routeSet(runtimeRoutes, { store, runtimes, tags, journal, logLines, timeScale, nodeName: settings.nodeName, image: build }),
      routeSet(recordingRoutes, { store, runtimes, recordings, secondsMax: settings.recordingDurationMaxMs / 1000 }),
    ],
    reconcilers: [loop],
    publish: (hub: ChannelHub): void => publishModel({ hub, store, clock }),
    start(): void {
      units.begin();
      stopPulse = startControllerPulse(clock, () => runtimes.links(), settings.orphanTimeoutMs);
      journal.start();
    },
    stop(): void {
      stopPulse();
      journal.stop();
    },
  };
}
