/** The demonstration plant and the speed of plant time. */
import type { Clock } from '../../platform/base/clock.js';
import type { Log } from '../../platform/base/log.js';
import { routeSet } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import type { SettingsOf, SettingValues } from '../../settings.js';
import type { SigningKeys } from '../signatures/signature.js';
import { DemoPlant } from './demo.js';
import { demoRoutes } from './routes.js';
import { PlantTimeScale } from './time-scale.js';

export interface DemoJoinParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly keys: SigningKeys;
  readonly settings: Omit<SettingsOf<'demo'>, 'demoDir'> & Pick<SettingValues, 'timeScale'>;
  readonly production: boolean;
  /** Of the manifests. */
  readonly folder: string;
}

export function joinDemo({ store, clock, log, keys, settings, production, folder }: DemoJoinParts) {
  const scale = new PlantTimeScale({ store, log, production, initial: settings.timeScale });
  const demo = new DemoPlant({ store, clock, keys, enabled: settings.demoEnabled, production, folder });
  const timeScale = (): number => scale.value;
  return {
    timeScale,
    onTimeScale: (listener: (value: number) => void) => scale.onChange(listener),
    routes: [routeSet(demoRoutes, { demo, timeScale, setTimeScale: (value: number) => scale.set(value) })],
    /** The plant that is there goes before the one that is shown. */
    async start(): Promise<void> {
      if (!settings.demoEnabled || production) return;
      await demo
        .provisionOnce()
        .catch((fault: unknown) => log.warn({ fault: (fault as Error).message }, 'the demonstration plant could not be brought up to date and stays as it is'));
    },
  };
}
