/** What the appliance says about itself (decisions Q-VER-01, Q-NONCE-06, Q-AUTH-11). */
import { timestamp } from '../../platform/base/clock.js';
import { type ContainedView, FAULTS_MAX } from '../../platform/base/contained-faults.js';
import { openApiDocument } from '../../platform/http/openapi.js';
import { type Route, routesFor } from '../../platform/http/route.js';

export interface RuntimeHealth {
  readonly site: string;
  readonly unit: string;
  readonly ready: boolean;
  readonly message: string;
}

/** What `main.ts` tells the system routes; everything is read at the time of the request. */
export interface SystemView {
  readonly product: { readonly version: string; readonly commit: string };
  readonly deviceId: string;
  readonly startedAtMs: number;
  readonly authMode: 'local' | 'oidc' | 'none';
  readonly operatingMode: string;
  readonly antiReplay: { readonly enabled: boolean; entries(): number; nearlyFull(): boolean };
  /** Settings that somebody has set and that do nothing in this version, as sentences. */
  readonly settingsWithoutEffect: readonly string[];
  /** False while the ledger refuses commits. */
  storageAccepting(): boolean;
  /** Faults of ours that were contained where they happened, since the start. */
  contained(): ContainedView;
  /** User names that are locked after failed passwords, for an address or everywhere. */
  lockedNames(): number;
  runtimes(): readonly RuntimeHealth[];
  /** Priority of the scan threads; why not, when the machine refused it. */
  realtime(): { readonly granted: boolean; readonly reason: string };
  /** Every row that is served. */
  rows(): readonly Route[];
}

export interface SystemDeps {
  readonly system: SystemView;
}

const route = routesFor<SystemDeps>();
const API_VERSION = 'v1';

export const SYSTEM_ROUTES: readonly Route<SystemDeps>[] = [
  route({
    method: 'GET',
    path: '/api/v1/version',
    action: 'version:read',
    tier: 'read',
    summary: 'Product, version and device',
    handle: (_, { system }) => ({
      apiVersion: API_VERSION,
      product: 'Lineside',
      version: system.product.version,
      commit: system.product.commit,
      deviceId: system.deviceId,
      startedAt: timestamp(system.startedAtMs),
    }),
  }),
  route({
    method: 'GET',
    path: '/api/v1/openapi.json',
    action: 'openapi:read',
    tier: 'read',
    summary: 'This interface as an OpenAPI document',
    handle: (_, { system }) => openApiDocument(system.rows(), { title: 'Lineside', version: API_VERSION }),
  }),
  route({
    method: 'GET',
    path: '/api/v1/system/health',
    action: 'system:health',
    tier: 'read',
    summary: 'Health of the parts of the appliance',
    handle: (_, { system }) => health(system),
  }),
];

function health(system: SystemView): Record<string, unknown> {
  const runtimes = system.runtimes();
  const warnings: string[] = [];
  if (system.authMode === 'none') warnings.push('authentication is off: every request has administrator rights');
  if (!system.antiReplay.enabled) warnings.push('anti-replay protection is off');
  if (system.antiReplay.nearlyFull()) warnings.push('the memory of request nonces is nearly full');
  if (!system.storageAccepting()) warnings.push('the storage refuses writes: nothing can be changed until it accepts them again');
  const contained = system.contained();
  if (contained.recent > FAULTS_MAX) warnings.push(`faults of the product itself are contained again and again, last: ${contained.seams.at(-1)?.seam ?? ''}`);
  const locked = system.lockedNames();
  if (locked > 0) warnings.push(`${locked} user ${locked === 1 ? 'name is' : 'names are'} locked after failed passwords: an administrator sees which in auth/lockouts`);
  const realtime = system.realtime();
  if (runtimes.length > 0 && !realtime.granted) warnings.push(`scan threads run without real-time priority: ${realtime.reason}`);
  warnings.push(...system.settingsWithoutEffect.map((note) => `setting ${note}`));
  const down = runtimes.filter(({ ready }) => !ready);
  return {
    status: system.storageAccepting() && down.length === 0 ? 'ok' : 'degraded',
    authMode: system.authMode,
    operatingMode: system.operatingMode,
    antiReplay: { enabled: system.antiReplay.enabled, entries: system.antiReplay.entries() },
    storage: { accepting: system.storageAccepting() },
    contained,
    runtimes,
    realtime,
    warnings,
  };
}
