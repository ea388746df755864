/** Loop checks and cable acceptances of I/O modules, and the way back of outputs that an earlier life of the gateway has left. */
import { routeSet } from '../../platform/http/route.js';
import type { SettingValues } from '../../settings.js';
import { CableAcceptances } from './cable-acceptances.js';
import { cableRoutes } from './cable-routes.js';
import type { CableDeps } from './cable-run.js';
import { type ChecksDeps, LoopChecks } from './checks.js';
import { loopCheckRoutes } from './routes.js';

export interface LoopCheckParts extends Omit<ChecksDeps, 'outputs'>, Pick<CableDeps, 'image'> {
  readonly settings: Pick<SettingValues, 'outputs'>;
}

export function joinLoopChecks({ store, clock, probes, keys, lapsed, queries, settings, image }: LoopCheckParts) {
  const checks = new LoopChecks({ store, clock, probes, keys, lapsed, queries, outputs: settings.outputs });
  const acceptances = new CableAcceptances({ store, clock, probes, keys, image });
  return {
    routes: [routeSet(loopCheckRoutes, { store, keys, checks }), routeSet(cableRoutes, { store, keys, acceptances })],
    start: (): void => {
      checks.start();
      acceptances.start();
    },
    stop: async (): Promise<void> => {
      await Promise.all([checks.stop(), acceptances.stop()]);
    },
  };
}
