/** The demonstration plant and the speed of plant time. */
import type { Clock } from '../../platform/base/clock.js';
import type { Log } from '../../platform/base/log.js';
import { routeSet } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import type { SettingsOf } from '../../settings.js';
import type { AppliedKinds } from '../apply/kinds.js';
import type { SigningKeys } from '../signatures/signature.js';
import { DemoPlant } from './demo.js';
import { demoRoutes } from './routes.js';
import type { PlantTimeScale } from './time-scale.js';

export interface DemoJoinParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly keys: SigningKeys;
  readonly settings: Omit<SettingsOf<'demo'>, 'demoDir'>;
  readonly production: boolean;
  /** Of the manifests. */
  readonly folder: string;
  readonly scale: PlantTimeScale;
  readonly kinds: AppliedKinds;
}

export function joinDemo({ store, clock, log, keys, settings, production, folder, scale, kinds }: DemoJoinParts) {
  const demo = new DemoPlant({ store, clock, keys, kinds, enabled: settings.demoEnabled, production, folder });
  return {
    routes: [routeSet(demoRoutes, { demo, timeScale: () => scale.value, setTimeScale: (value: number) => scale.set(value) })],
    /** The plant that is there goes before the one that is shown. */
    async start(): Promise<void> {
      if (!settings.demoEnabled || production) return;
      await demo
        .provisionOnce()
        .catch((fault: unknown) => log.warn({ fault: (fault as Error).message }, 'the demonstration plant could not be brought up to date and stays as it is'));
    },
  };
}
