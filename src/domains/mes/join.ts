/** The plant and its production as an MES sees them (ISA-95); it writes through the routes only. */
import { routeSet } from '../../platform/http/route.js';
import { type MesRouteDeps, mesRoutes } from './routes.js';

export function joinMes(parts: MesRouteDeps) {
  return { routes: [routeSet(mesRoutes, parts)] };
}
