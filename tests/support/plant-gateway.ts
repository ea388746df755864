/** A gateway that serves the engineering domains over the real store, ledger and pipeline. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { APPLIED_KINDS } from '../../src/domains/index.js';
import { alarmDefinitionRoutes } from '../../src/domains/alarms/definition-routes.js';
import type { Box } from '../../src/domains/apply/differs.js';
import { applyRoutes } from '../../src/domains/apply/routes.js';
import { snapshotRoutes } from '../../src/domains/apply/snapshot-routes.js';
import { Snapshots } from '../../src/domains/apply/snapshots.js';
import { schemaRoutes } from '../../src/domains/apply/schema-routes.js';
import { controlModuleRoutes } from '../../src/domains/control-modules/routes.js';
import { DemoPlant } from '../../src/domains/demo/demo.js';
import { demoRoutes } from '../../src/domains/demo/routes.js';
import { joinChangeControl } from '../../src/domains/change-control/join.js';
import { controllerRoutes } from '../../src/domains/edge-controllers/routes.js';
import { ioModuleRoutes } from '../../src/domains/io-modules/routes.js';
import { secretsIn } from '../../src/domains/io-modules/secrets.js';
import { logicRoutes } from '../../src/domains/logic/routes.js';
import { plantRoutes } from '../../src/domains/plant/routes.js';
import { procedureRoutes } from '../../src/domains/procedures/routes.js';
import { recipeRoutes } from '../../src/domains/recipes/routes.js';
import type { SigningKeys } from '../../src/domains/signatures/signature.js';
import { openDeviceKeys } from '../../src/platform/ledger/keys.js';
import { openQueries } from '../../src/platform/ledger/queries.js';
import { type BoundRoute, type RouteSet, routeSet } from '../../src/platform/http/route.js';
import { pastRows } from '../../src/platform/store/past-rows.js';
import type { Store } from '../../src/platform/store/store.js';
import { type GatewayTest, startGatewayTest } from './gateway.js';
import type { TestClock } from './test-clock.js';
import type { LocalProbes } from '../../src/domains/placement/local-probes.js';
import { absent, NO_RUNTIMES } from './absent.js';
import { testLog } from './test-log.js';
import { unitRoutes } from '../../src/domains/units/unit-routes.js';
import { elementRoutes } from '../../src/domains/batches/element-routes.js';

export interface PlantOptions {
  readonly production?: boolean;
  readonly demoEnabled?: boolean;
  readonly approveRequiresValid?: boolean;
  readonly snapshotsKept?: number;
  /** What apply knows of the box beside the store. */
  readonly box?: Box;
  /** Change requests, with their settings. */
  readonly changeControl?: { readonly enforce?: boolean; readonly selfApproval?: boolean; readonly expiryHours?: number; readonly pastAfterMs?: number };
  /** Rows of further domains. */
  readonly more?: (parts: { readonly store: Store; readonly clock: TestClock }) => readonly RouteSet[];
}

const DEMO_DIR = fileURLToPath(new URL('../../demo', import.meta.url));

export interface PlantGateway extends GatewayTest {
  readonly keys: SigningKeys;
  /** What was told of requests that are not what was signed. */
  readonly mismatches: readonly string[];
  restart(): Promise<PlantGateway>;
}

export async function startPlantGateway(options: PlantOptions = {}): Promise<PlantGateway> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-gateway-'));
  const opened: { keys?: SigningKeys } = { keys: { algorithm: 'HMAC-SHA256', authMode: 'local', ...openDeviceKeys(dataDir) } };
  const mismatches: string[] = [];
  /** Of the appliance that runs: what stands beside its rows. */
  const beside: { stop(): Promise<void> }[] = [];
  let timeScale = 1;
  const test = await startGatewayTest({
    dataDir,
    sites: [],
    routes: ({ store, clock }) => {
      const production = options.production ?? false;
      const signing = {
        get keys(): SigningKeys {
          if (!opened.keys) throw new Error('the gateway is not open yet');
          return opened.keys;
        },
      };
      const parts = { store, clock, kinds: APPLIED_KINDS, production, enabled: options.demoEnabled ?? true, folder: DEMO_DIR };
      const demo = new DemoPlant(Object.defineProperty(parts, 'keys', { get: () => signing.keys }) as ConstructorParameters<typeof DemoPlant>[0]);
      const deps = {
        deviceId: 'd'.repeat(32),
        ...(options.box ? { box: options.box } : {}),
        store,
        clock,
        production,
        kinds: APPLIED_KINDS,
        snapshots: new Snapshots({ store, kinds: APPLIED_KINDS, clock, dataDir, settings: { snapshotsKept: options.snapshotsKept ?? 2 } }),
        runtimes: NO_RUNTIMES,
        probes: absent<LocalProbes>('probes'),
        ioModules: { image: () => undefined },
        modeCheckDeviceTags: false,
        image: '',
        get keys(): SigningKeys {
          return signing.keys;
        },
        bypassDefaultMs: 3_600_000,
        bypassMaxMs: 86_400_000,
        approveRequiresValid: options.approveRequiresValid ?? false,
        demo,
        timeScale: () => timeScale,
        setTimeScale: (value: number) => {
          timeScale = value;
        },
      };
      const rows = [
        ...plantRoutes,
        ...unitRoutes,
        ...controllerRoutes,
        ...controlModuleRoutes,
        ...ioModuleRoutes(secretsIn('/nonexistent'), { nextAttempt: () => undefined }),
        ...logicRoutes,
        ...recipeRoutes,
        ...elementRoutes,
        ...procedureRoutes,
        ...alarmDefinitionRoutes,
        ...applyRoutes,
        ...snapshotRoutes,
        ...schemaRoutes,
        ...demoRoutes,
      ];
      const more = options.more?.({ store, clock: clock as TestClock }) ?? [];
      if (!options.changeControl) return [routeSet(rows, deps), ...more];
      const { enforce = false, selfApproval = false, expiryHours = 168, pastAfterMs: recordPastAfterMs = 0 } = options.changeControl;
      const queries = openQueries(dataDir, () => store.recorded);
      pastRows(store).connect(queries);
      const set = { routes: [] as BoundRoute[] };
      const changes = joinChangeControl({
        ...deps,
        log: testLog(),
        queries,
        secrets: secretsIn('/nonexistent'),
        settings: {
          outputs: 'live',
          recordPastAfterMs,
          authMode: 'local',
          changeControlEnforced: enforce,
          selfApprovalAllowed: selfApproval,
          changeRequestExpiryHours: expiryHours,
        },
        rows: () => set.routes.map(({ row }) => row),
        deletes: (action) => set.routes.find(({ row }) => row.method === 'DELETE' && row.action === action),
        report: ({ name, problem }) => void mismatches.push(`${name}: ${problem}`),
      });
      set.routes.push(...routeSet(rows, { ...deps, ...changes.gate }).routes, ...changes.routes.flatMap(({ routes }) => routes));
      for (const loop of changes.reconcilers) {
        loop.connect(store);
        loop.start();
      }
      beside.push({
        async stop() {
          for (const loop of changes.reconcilers) await loop.stop();
          await queries.close();
        },
      });
      return [set, ...more];
    },
  });
  return whole(test, opened.keys as SigningKeys, mismatches, beside);
}

function whole(test: GatewayTest, keys: SigningKeys, mismatches: readonly string[], beside: { stop(): Promise<void> }[]): PlantGateway {
  const ended = async (): Promise<void> => {
    for (const each of beside.splice(0)) await each.stop();
  };
  const { stop, restart } = test;
  return Object.assign(test, {
    keys,
    mismatches,
    async stop() {
      await ended();
      await stop.call(test);
    },
    async restart() {
      await ended();
      return whole(await restart.call(test), keys, mismatches, beside);
    },
  });
}
