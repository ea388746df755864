/** Loop checks of I/O modules, and the way back of outputs that an earlier life of the gateway has left. */
import { routeSet } from '../../platform/http/route.js';
import type { SettingValues } from '../../settings.js';
import { type ChecksDeps, LoopChecks } from './checks.js';
import { loopCheckRoutes } from './routes.js';

export interface LoopCheckParts extends Omit<ChecksDeps, 'outputs'> {
  readonly settings: Pick<SettingValues, 'outputs'>;
}

export function joinLoopChecks({ store, clock, probes, keys, settings }: LoopCheckParts) {
  const checks = new LoopChecks({ store, clock, probes, keys, outputs: settings.outputs });
  return {
    routes: [routeSet(loopCheckRoutes, { store, keys, checks })],
    start: (): void => checks.start(),
    stop: (): Promise<void> => checks.stop(),
  };
}
