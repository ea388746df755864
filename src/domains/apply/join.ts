/** Manifests: what is applied at once, exported, and moved from one box to another. */
import { type RouteDeps, routeSet } from '../../platform/http/route.js';
import type { SettingValues } from '../../settings.js';
import type { Secrets } from '../io-modules/secret-kind.js';
import { applyRoutes } from './routes.js';
import { schemaRoutes } from './schema-routes.js';

export interface ApplyParts extends Omit<RouteDeps<typeof applyRoutes>, 'box'> {
  readonly settings: Pick<SettingValues, 'outputs'>;
  readonly secrets: Secrets;
}

export function joinApply({ settings, secrets, ...parts }: ApplyParts) {
  const box = { outputs: settings.outputs, secrets };
  return { routes: [routeSet(applyRoutes, { ...parts, box }), routeSet(schemaRoutes, parts)] };
}
