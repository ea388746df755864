/** Accounts, sessions, keys and roles as they are asked for; what they decide is decided by `Access` from the first request on. */
import { type RouteDeps, routeSet } from '../../platform/http/route.js';
import { ACCESS_ROUTES } from './routes.js';

export function joinAccess(parts: RouteDeps<typeof ACCESS_ROUTES>) {
  return { routes: [routeSet(ACCESS_ROUTES, parts)] };
}
