/** Process modules at run time: what their services show, and what charts command them. */
import { routeSet } from '../../platform/http/route.js';
import { mtpRoutes } from './routes.js';
import { MtpServices, type ServiceParts } from './services.js';

export function joinMtp(parts: ServiceParts) {
  const services = new MtpServices(parts);
  return { routes: [routeSet(mtpRoutes, { store: parts.store, services })], services };
}
