/** Overview of a site and of the plant (contract 2, Tags; decisions Q-TAG-15). */
import * as v from 'valibot';
import { timestamp } from '../../platform/base/clock.js';
import { mayVisit } from '../../platform/http/caller.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { routesFor } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import { requireSite, Site } from '../plant/kind.js';
import { type OverviewDeps, SiteOverview, siteOverview } from './overview.js';

const PlantOverview = v.strictObject({ asOf: v.string(), sites: v.array(SiteOverview) });
export type PlantOverview = ToldBy<typeof PlantOverview>;

const route = routesFor<OverviewDeps & { readonly store: Store }>();

export const overviewRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/overview',
    action: 'overview:read',
    tier: 'read',
    reply: SiteOverview,
    summary: 'Units, batches and alarms of a site',
    exists: ({ site }, { store }) => void requireSite(store, site),
    handle: ({ params }, deps) => siteOverview(params.site, deps),
  }),
  route({
    method: 'GET',
    path: '/api/v1/overview',
    action: 'overview:read',
    tier: 'read',
    reply: PlantOverview,
    summary: 'All sites the caller may see',
    handle: ({ caller }, deps) => ({
      asOf: timestamp(deps.nowMs()),
      sites: deps.store
        .list(Site, '')
        .filter((site) => mayVisit(caller, site.metadata.name))
        .map((site) => siteOverview(site.metadata.name, deps)),
    }),
  }),
];
