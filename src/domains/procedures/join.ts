/** Templates of procedures and the elements that run after them. */
import { type RouteDeps, routeSet } from '../../platform/http/route.js';
import { procedureRoutes } from './routes.js';

export function joinProcedures(parts: RouteDeps<typeof procedureRoutes>) {
  return { routes: [routeSet(procedureRoutes, parts)] };
}
