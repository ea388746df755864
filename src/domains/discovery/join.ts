/** Discovery of OPC UA servers. */
import type { BoxNotice } from '../../../runtime/port.js';
import type { Clock } from '../../platform/base/clock.js';
import type { Log } from '../../platform/base/log.js';
import { routeSet } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import type { SettingValues } from '../../settings.js';
import type { Credentials } from '../io-modules/credentials.js';
import type { BoxSecurity } from '../io-modules/device-security.js';
import type { OutputsOfBox } from '../io-modules/outputs.js';
import { Explorer } from './explorer.js';
import { discoveryRoutes } from './routes.js';
import { ServerScope } from './scope.js';

export interface DiscoveryParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly credentials: Credentials;
  readonly security: BoxSecurity;
  readonly notice: (notice: BoxNotice) => void;
  readonly outputsOfBox: () => OutputsOfBox;
  readonly settings: Pick<SettingValues, 'modeCheckDeviceTags'>;
}

export function joinDiscovery({ store, clock, log, credentials, security, notice, outputsOfBox, settings }: DiscoveryParts) {
  const explorer = new Explorer({ clock, log, notice });
  const { modeCheckDeviceTags } = settings;
  const deps = {
    store,
    explorer,
    scope: new ServerScope({ store, explorer, clock }),
    credentials,
    security,
    get outputs() {
      return outputsOfBox();
    },
    modeCheckDeviceTags,
  };
  return {
    routes: [routeSet(discoveryRoutes, deps)],
    stop: (): Promise<void> => explorer.stop(),
  };
}
