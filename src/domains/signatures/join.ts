/** Signatures that people give over the content of a resource. */
import { routeSet } from '../../platform/http/route.js';
import { type SignatureDeps, signatureRoutes } from './routes.js';
import { signatureStateRoutes } from './state-routes.js';

export function joinSignatures(parts: SignatureDeps) {
  return { routes: [routeSet(signatureRoutes, parts), routeSet(signatureStateRoutes, parts)] };
}
