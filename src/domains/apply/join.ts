/** Manifests: what is applied at once, exported, and moved from one box to another. */
import { type RouteDeps, routeSet } from '../../platform/http/route.js';
import type { SettingValues } from '../../settings.js';
import { secretsIn } from '../io-modules/secrets.js';
import { applyRoutes } from './routes.js';
import { schemaRoutes } from './schema-routes.js';

export interface ApplyParts extends Omit<RouteDeps<typeof applyRoutes>, 'box'> {
  readonly settings: Pick<SettingValues, 'outputs' | 'secretsDir'>;
}

export function joinApply({ settings, ...parts }: ApplyParts) {
  const box = { outputs: settings.outputs, secrets: secretsIn(settings.secretsDir) };
  return { routes: [routeSet(applyRoutes, { ...parts, box }), routeSet(schemaRoutes, parts)] };
}
