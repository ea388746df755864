/** The boxes in the cabinets: what is configured of them, and what their modules tell of them. */
import { routeSet } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import { controllerRoutes } from './routes.js';

export function joinControllers(parts: { readonly store: Store }) {
  return { routes: [routeSet(controllerRoutes, parts)] };
}
