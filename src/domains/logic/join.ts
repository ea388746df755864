/** Control programs and types of function blocks. */
import { type RouteDeps, routeSet } from '../../platform/http/route.js';
import { logicRoutes } from './routes.js';

export function joinLogic(parts: RouteDeps<typeof logicRoutes>) {
  return { routes: [routeSet(logicRoutes, parts)] };
}
