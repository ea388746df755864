/** Manifests: what is applied at once, exported, and moved from one box to another. */
import { type RouteDeps, routeSet } from '../../platform/http/route.js';
import { applyRoutes } from './routes.js';

export function joinApply(parts: RouteDeps<typeof applyRoutes>) {
  return { routes: [routeSet(applyRoutes, parts)] };
}
