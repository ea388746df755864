/** I/O modules: what their probes serve, what their outputs may be driven to, and what a simulation holds over a restart. */
import { noticeKeeper } from './box-notices.js';
import type { Clock } from '../../platform/base/clock.js';
import type { Log } from '../../platform/base/log.js';
import { routeSet } from '../../platform/http/route.js';
import { ReconcileLoop } from '../../platform/reconcile/loop.js';
import { on, whenConfigured } from '../../platform/reconcile/wakes.js';
import type { Store } from '../../platform/store/store.js';
import type { Settings } from '../../settings.js';
import type { LocalProbes } from '../placement/local-probes.js';
import { Credentials } from './credentials.js';
import { IOModule, SimulationPreset } from './kind.js';
import type { OutputsOfBox } from './outputs.js';
import { IOModuleReconciler } from './reconciler.js';
import { ioModuleRoutes } from './routes.js';
import { Secret } from './secret-kind.js';
import { secretRoutes } from './secret-routes.js';
import type { DeviceSecrets } from './secrets.js';
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
  readonly secrets: DeviceSecrets;
  /** Whether this box writes outputs at all, as it is at that moment. */
  readonly outputsOfBox: () => OutputsOfBox;
  readonly settings: Pick<Settings, 'modeCheckDeviceTags' | 'dataDir' | 'operatingMode'>;
}

export function joinIOModules({ store, clock, log, probes, timeScale, onTimeScale, deviceId, build, secrets, outputsOfBox, settings }: IOModuleParts) {
  probes.setTimeScale(timeScale());
  onTimeScale((value) => probes.setTimeScale(value));
  const contents = new ContentsKeeper({ store, probes, clock, timeScale });
  const credentials = new Credentials(secrets);
  const security = { dataDir: settings.dataDir, isDevelopment: settings.operatingMode === 'development' };
  const box = {
    get setting() {
      return outputsOfBox();
    },
    deviceId,
  };
  const modules = new IOModuleReconciler({ store, probes, clock, contents, credentials, box, security });
  probes.onModule((site, module, state) => modules.moduleChanged(site, module, state));
  probes.onResumed((site, module, resumed) => modules.outputsResumed(site, module, resumed));
  store.watch(IOModule, ({ type, resource: { metadata } }) => {
    if (type === 'remove') modules.forget(metadata.site, metadata.name);
  });
  const notice = noticeKeeper({ store, log });
  probes.onNotice(notice);
  // what could not be told while nothing could be written
  store.watchReload(() => modules.catchUp());
  const wokenBy = [
    on(IOModule, whenConfigured, 'all'),
    on(IOModule, whenConfigured, ({ resource }) => [modules.keyOf(resource)]), // also the probe that it is served by no more
    on(SimulationPreset, whenConfigured, 'all'),
    on(Secret, whenConfigured, ({ resource }) => modules.keysOfSecret(resource)),
  ];
  return {
    routes: [
      routeSet(ioModuleRoutes(secrets, probes), {
        store,
        clock,
        probes,
        ioModules: modules,
        modeCheckDeviceTags: settings.modeCheckDeviceTags,
        image: build,
      }),
      routeSet(secretRoutes, { store, secrets }),
    ],
    reconcilers: [new ReconcileLoop(modules, clock, log, wokenBy)],
    /** What a module signs in with, for whoever connects to its device beside its probe. */
    credentials,
    /** Keeps what a driver has done to the box itself. */
    notice,
    /** What of this box counts for the security of devices. */
    security,
    /** Images of a site's modules, for the units that read them. */
    image: (site: string) => (module: string) => modules.image(site, module),
    start: (): void => contents.start(),
    stop: (): Promise<void> => contents.stop(),
  };
}
