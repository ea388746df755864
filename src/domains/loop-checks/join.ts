/** Loop checks and cable acceptances of I/O modules, and the way back of outputs that an earlier life of the gateway has left. */
import { routeSet } from '../../platform/http/route.js';
import type { OutputsOfBox } from '../io-modules/outputs.js';
import { CableAcceptances } from './cable-acceptances.js';
import { cableRoutes } from './cable-routes.js';
import type { CableDeps } from './cable-run.js';
import { type ChecksDeps, LoopChecks } from './checks.js';
import { loopCheckRoutes } from './routes.js';

export interface LoopCheckParts extends Omit<ChecksDeps, 'outputs'>, Pick<CableDeps, 'image'> {
  readonly outputsOfBox: () => OutputsOfBox;
}

export function joinLoopChecks({ store, clock, probes, keys, lapsed, queries, outputsOfBox, image }: LoopCheckParts) {
  const deps = {
    store,
    clock,
    probes,
    keys,
    lapsed,
    queries,
    get outputs() {
      return outputsOfBox();
    },
  };
  const checks = new LoopChecks(deps);
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
