/** A gateway with the demonstration plant, the MES interface, batches and records; only the wire to the units is the test's. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { APPLIED_KINDS, STORED_KINDS } from '../../../src/domains/index.js';
import { batchRoutes } from '../../../src/domains/batches/routes.js';
import { commandRoutes } from '../../../src/domains/commands/routes.js';
import { DemoPlant } from '../../../src/domains/demo/demo.js';
import { demoRoutes } from '../../../src/domains/demo/routes.js';
import { mesRoutes } from '../../../src/domains/mes/routes.js';
import { recordRoutes } from '../../../src/domains/records/routes.js';
import { recipeRoutes } from '../../../src/domains/recipes/routes.js';
import { signatureRoutes } from '../../../src/domains/signatures/routes.js';
import type { Settings } from '../../../src/settings.js';
import type { UnitLink, UnitRuntimes } from '../../../src/domains/placement/runtimes.js';
import { openDeviceKeys } from '../../../src/platform/ledger/keys.js';
import { type LedgerQueries, openQueries } from '../../../src/platform/ledger/queries.js';
import { type Answer, type Client, type GatewayTest, type RequestOptions, startGatewayTest } from '../../support/gateway.js';
import { routeSet } from '../../../src/platform/http/route.js';

const DEMO_DIR = fileURLToPath(new URL('../../../demo', import.meta.url));
export const MES = '/api/v1/mes/sites/demo';
export const SITE = '/api/v1/sites/demo';

export interface MesClient {
  get(target: string, options?: RequestOptions): Promise<Answer>;
  post(target: string, body?: unknown, options?: RequestOptions): Promise<Answer>;
  delete(target: string): Promise<Answer>;
}

export interface MesPlant extends GatewayTest {
  readonly mes: MesClient;
  readonly operator: Client;
  readonly queries: LedgerQueries;
  /** What went to the units, oldest first. */
  readonly sent: { readonly unit: string; readonly message: unknown }[];
}

export async function startMesPlant(settings: Partial<Settings> = {}): Promise<MesPlant> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-mes-'));
  const sent: MesPlant['sent'] = [];
  const link = (site: string, unit: string): UnitLink => ({ site, unit, ready: true, send: (message: unknown) => sent.push({ unit, message }) }) as unknown as UnitLink;
  const runtimes: UnitRuntimes = { link, links: () => [], onMessage: () => undefined, onChange: () => undefined };
  const opened: { queries?: LedgerQueries } = {};
  const test = await startGatewayTest({
    dataDir,
    sites: [],
    settings,
    routes: ({ store, clock, access }) => {
      const keys = { ...openDeviceKeys(dataDir), algorithm: 'HMAC-SHA256', authMode: 'local' } as const;
      const queries = openQueries(dataDir);
      opened.queries = queries;
      const demo = new DemoPlant({ store, clock, keys, kinds: APPLIED_KINDS, enabled: true, production: false, folder: DEMO_DIR });
      const deps = {
        store,
        clock,
        runtimes,
        keys,
        queries,
        facts: queries,
        kinds: STORED_KINDS,
        refusalToSign: () => undefined,
        production: true,
        history: undefined,
        reasonLengthMin: 10,
        wake: () => undefined,
        holdPropagation: 'batch',
        resumeCancelsPause: false,
        settleDeadlineMs: 60_000,
        storageLow: () => false,
        demo,
        timeScale: () => 1,
        setTimeScale: () => undefined,
        beside: access.beside.bind(access),
      } as const;
      return [routeSet([...mesRoutes, ...recordRoutes, ...batchRoutes, ...commandRoutes, ...recipeRoutes, ...signatureRoutes, ...demoRoutes], deps)];
    },
  });
  const admin = await test.as('admin');
  const provisioned = await admin.post('/api/v1/demo/provision');
  if (provisioned.status !== 200) throw new Error(provisioned.text);
  const made = await admin.post('/api/v1/mes/apikeys', { name: 'erp', site: 'demo' });
  if (made.status !== 201) throw new Error(made.text);
  const { key } = made.body as { key: string };
  const mes: MesClient = {
    get: (target, options) => test.request('GET', target, { key, ...options }),
    post: (target, body, options) => test.request('POST', target, { key, body, ...options }),
    delete: (target) => test.request('DELETE', target, { key }),
  };
  const operator = await test.as('lead-operator');
  const stop = async (): Promise<void> => {
    await opened.queries?.close();
    await test.stop();
  };
  return Object.assign(test, { mes, operator, queries: opened.queries as LedgerQueries, sent, stop: stopOnce(stop, test) });
}

/** The gateway's own stop is replaced by one that closes the query thread first. */
function stopOnce(stop: () => Promise<void>, test: GatewayTest): () => Promise<void> {
  const own = test.stop.bind(test);
  return async () => {
    test.stop = own;
    await stop();
  };
}
