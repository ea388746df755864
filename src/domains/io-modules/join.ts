/** I/O modules: what their probes serve, what their outputs may be driven to, and what a simulation holds over a restart. */
import { ChannelHolds } from './channel-holds.js';
import type { Clock } from '../../platform/base/clock.js';
import type { Log } from '../../platform/base/log.js';
import { routeSet } from '../../platform/http/route.js';
import { ReconcileLoop } from '../../platform/reconcile/loop.js';
import { on, whenConfigured } from '../../platform/reconcile/wakes.js';
import type { Store } from '../../platform/store/store.js';
import type { SettingValues } from '../../settings.js';
import type { LocalProbes } from '../placement/local-probes.js';
import { IOModule, SimulationPreset } from './kind.js';
import { IOModuleReconciler } from './reconciler.js';
import { ioModuleRoutes } from './routes.js';
import { secretsIn } from './secrets.js';
import { ContentsKeeper } from './simulation-contents.js';

export interface IOModuleParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly probes: LocalProbes;
  readonly timeScale: () => number;
  readonly onTimeScale: (listener: (value: number) => void) => void;
  /** Of this box, as a device names whom it belongs to. */
  readonly deviceId: string;
  /** Build of the probes. */
  readonly build: string;
  readonly settings: Pick<SettingValues, 'outputs' | 'modeCheckDeviceTags' | 'secretsDir'>;
}

export function joinIOModules({ store, clock, log, probes, timeScale, onTimeScale, deviceId, build, settings }: IOModuleParts) {
  probes.setTimeScale(timeScale());
  onTimeScale((value) => probes.setTimeScale(value));
  const contents = new ContentsKeeper({ store, probes, clock, timeScale });
  const modules = new IOModuleReconciler({ store, probes, clock, contents, box: { setting: settings.outputs, deviceId } });
  probes.onModule((site, module, state) => modules.moduleChanged(site, module, state));
  probes.onResumed((site, module, resumed) => modules.outputsResumed(site, module, resumed));
  // what could not be told while nothing could be written
  store.watchReload(() => modules.catchUp());
  const wokenBy = [
    on(IOModule, whenConfigured, 'all'),
    on(IOModule, whenConfigured, ({ resource }) => [modules.keyOf(resource)]), // also the probe that it is served by no more
    on(SimulationPreset, whenConfigured, 'all'),
  ];
  return {
    routes: [
      routeSet(ioModuleRoutes(secretsIn(settings.secretsDir)), {
        store,
        clock,
        probes,
        ioModules: modules,
        modeCheckDeviceTags: settings.modeCheckDeviceTags,
        holds: new ChannelHolds(),
        image: build,
      }),
    ],
    reconcilers: [new ReconcileLoop(modules, clock, log, wokenBy)],
    /** Images of a site's modules, for the units that read them. */
    image: (site: string) => (module: string) => modules.image(site, module),
    start: (): void => contents.start(),
    stop: (): Promise<void> => contents.stop(),
  };
}
