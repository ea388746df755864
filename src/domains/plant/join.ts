/** The hierarchy of the plant: enterprise, sites, areas, process cells and units. */
import { type RouteDeps, routeSet } from '../../platform/http/route.js';
import { Site } from './kind.js';
import { plantRoutes } from './routes.js';

export function joinPlant(parts: RouteDeps<typeof plantRoutes>) {
  const { store } = parts;
  return {
    routes: [routeSet(plantRoutes, parts)],
    siteExists: (site: string): boolean => store.get(Site, '', site) !== undefined,
    siteNames: (): readonly string[] => store.list(Site, '').map(({ metadata }) => metadata.name),
  };
}
