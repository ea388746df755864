/** Manifests: what is applied at once, exported, and moved from one box to another. */
import { type RouteDeps, routeSet } from '../../platform/http/route.js';
import type { OutputsOfBox } from '../io-modules/outputs.js';
import type { Secrets } from '../io-modules/secret-kind.js';
import { applyRoutes } from './routes.js';
import { schemaRoutes } from './schema-routes.js';
import { snapshotRoutes } from './snapshot-routes.js';

export interface ApplyParts extends Omit<RouteDeps<typeof snapshotRoutes>, 'box'> {
  readonly outputsOfBox: () => OutputsOfBox;
  readonly secrets: Secrets;
}

export function joinApply({ outputsOfBox, secrets, ...parts }: ApplyParts) {
  const box = {
    get outputs() {
      return outputsOfBox();
    },
    secrets,
  };
  return { routes: [routeSet(applyRoutes, { ...parts, box }), routeSet(snapshotRoutes, { ...parts, box }), routeSet(schemaRoutes, parts)] };
}
