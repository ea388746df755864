/** A gateway that serves signatures over a small plant. */
import type { Test } from 'tap';
import { Site, Unit } from '../../../src/domains/plant/kind.js';
import { type SignatureDeps, signatureRoutes } from '../../../src/domains/signatures/routes.js';
import type { SigningKeys } from '../../../src/domains/signatures/signature.js';
import { signatureStateRoutes } from '../../../src/domains/signatures/state-routes.js';
import { routeSet } from '../../../src/platform/http/route.js';
import { openDeviceKeys } from '../../../src/platform/ledger/keys.js';
import { type LedgerQueries, openQueries } from '../../../src/platform/ledger/queries.js';
import type { Kind } from '../../../src/platform/store/kind.js';
import { startGatewayTest } from '../../support/gateway.js';
import { PLANT } from '../tags/plant.js';

export const TARGET = { kind: 'Unit', name: 'rx101', site: 'north' };
export const GOOD = { target: TARGET, meaning: 'Reviewed', reason: 'checked against protocol 7' };

export async function startSigning(t: Pick<Test, 'teardown'>) {
  let deps: SignatureDeps | undefined;
  const parts: { queries?: LedgerQueries; keys?: SigningKeys } = {};
  const test = await startGatewayTest({
    routes: ({ store, clock }) => {
      deps = {
        store,
        clock,
        refusalToSign: () => undefined,
        kinds: [Site, Unit] as unknown as Kind[],
        keys: undefined as unknown as SigningKeys,
        queries: undefined as unknown as LedgerQueries,
      };
      Object.defineProperty(deps, 'keys', { get: () => parts.keys });
      Object.defineProperty(deps, 'queries', { get: () => (parts.queries ??= openQueries(test.dataDir, () => store.recorded)) });
      t.teardown(() => parts.queries?.close());
      return [routeSet(signatureRoutes, deps), routeSet(signatureStateRoutes, deps)];
    },
  });
  const keys: SigningKeys = { ...openDeviceKeys(test.dataDir), algorithm: 'HMAC-SHA256', authMode: 'local' };
  parts.keys = keys;
  await test.store.write({ puts: PLANT });
  return { test, keys };
}
