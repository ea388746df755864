/** Rehearsals of recipes on a copy of the plant; nothing of the plant is touched. */
import type { Clock } from '../../platform/base/clock.js';
import type { Log } from '../../platform/base/log.js';
import { routeSet } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import type { SettingValues } from '../../settings.js';
import { type RuntimeSettingValues, runtimeSettings } from '../units/runtime-settings.js';
import type { OrderParts } from './order.js';
import { Rehearsals } from './rehearsals.js';
import { rehearsalRoutes } from './routes.js';

export interface RehearsalParts extends Pick<OrderParts, 'image'> {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: RuntimeSettingValues & Pick<SettingValues, 'runtimeHeapMaxMb' | 'holdPropagation' | 'settleDeadlineMs' | 'reasonLengthMin'>;
}

export function joinRehearsal({ store, clock, log, image, settings }: RehearsalParts) {
  const rehearsals = new Rehearsals({ clock, log, heapMb: settings.runtimeHeapMaxMb });
  const { holdPropagation, resumeCancelsPause, settleDeadlineMs, reasonLengthMin } = settings;
  return {
    /** Ends before the gateway does: a request waits for it. */
    rehearsals,
    routes: [
      routeSet(rehearsalRoutes, {
        store,
        rehearsals,
        image,
        runtime: runtimeSettings(settings),
        tree: { holdPropagation, resumeCancelsPause, settleDeadlineMs, reasonLengthMin },
        nowMs: () => clock.wallMs(),
      }),
    ],
  };
}
