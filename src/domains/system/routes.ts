/** What the appliance says about itself (decisions Q-VER-01, Q-NONCE-06, Q-AUTH-11). */
import type { WallMs } from '../../platform/base/times.js';
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { timestamp } from '../../platform/base/clock.js';
import { type ContainedView, FAULTS_MAX } from '../../platform/base/contained-faults.js';
import { openApiDocument } from '../../platform/http/openapi.js';
import { type Caller, mayVisit } from '../../platform/http/caller.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { rendered, type Route, type RouteColumns, routesFor } from '../../platform/http/route.js';
import { Required, Text } from '../../platform/store/fields.js';
import { withoutText } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { SyslogHealth } from '../audit/bodies.js';
import { discardRow } from './stored-data.js';

const AUTH_MODES = ['local', 'oidc', 'none'] as const;

export const VersionBody = v.strictObject({
  apiVersion: v.string(),
  product: v.string(),
  version: v.string(),
  commit: v.string(),
  deviceId: v.string(),
  startedAt: v.string(),
});

const BoxHealth = v.strictObject({
  /** Name of the hardware profile. */
  profile: v.string(),
  title: v.string(),
  /** False: a draft that nobody has tried on such a box. */
  verified: v.boolean(),
  by: v.picklist(['machine', 'setting']),
  limits: v.strictObject({ units: v.number(), tags: v.number(), streams: v.number(), scanIntervalMinMs: v.number(), historianDiskShare: v.number() }),
  /** Of all sites; null for whoever does not see all of them. */
  used: v.nullable(v.strictObject({ units: v.number(), tags: v.number(), streams: v.number() })),
});

/** What the gateway speaks, and the certificate that new connections get; empty texts with plain HTTP. */
const TlsHealth = v.strictObject({
  on: v.boolean(),
  source: v.picklist(['none', 'files', 'self-signed', 'acme']),
  /** Fingerprint of the certificate, lower-case hexadecimal. */
  sha256: v.string(),
  subject: v.string(),
  issuer: v.string(),
  names: v.array(v.string()),
  notBefore: v.string(),
  notAfter: v.string(),
});

const RuntimeHealth = v.strictObject({ site: v.string(), unit: v.string(), ready: v.boolean(), message: v.string() });

export const HealthBody = v.strictObject({
  status: v.picklist(['ok', 'degraded']),
  authMode: v.picklist(AUTH_MODES),
  operatingMode: v.string(),
  antiReplay: v.strictObject({ enabled: v.boolean(), entries: v.number() }),
  storage: v.strictObject({
    accepting: v.boolean(),
    /** Rows that could not be used as they were read; `kept`: the resource is there all the same. */
    unfit: v.array(v.strictObject({ kind: v.string(), site: v.string(), name: v.string(), fault: v.string(), kept: v.boolean() })),
  }),
  /** Of the last verification of all evidence; null before the first. */
  integrity: v.strictObject({ ok: v.nullable(v.boolean()), checkedAt: v.string(), problems: v.number() }),
  contained: v.strictObject({
    total: v.number(),
    recent: v.number(),
    seams: v.array(v.strictObject({ seam: v.string(), count: v.number(), lastAt: v.string(), message: v.string() })),
  }),
  backup: v.strictObject({
    /** Whether the box makes backups by itself. */
    configured: v.boolean(),
    running: v.boolean(),
    /** Of the last one; null before the first. */
    ok: v.nullable(v.boolean()),
    lastAt: v.string(),
    message: v.string(),
  }),
  syslog: SyslogHealth,
  box: BoxHealth,
  tls: TlsHealth,
  runtimes: v.array(RuntimeHealth),
  realtime: v.strictObject({ granted: v.boolean(), reason: v.string() }),
  warnings: v.array(v.string()),
});
export type HealthBody = ToldBy<typeof HealthBody>;

/** What is told of it here is what a reader of any such document may rely on. */
const InterfaceBody = v.looseObject({
  openapi: v.string(),
  info: v.looseObject({ title: v.string(), version: v.string() }),
  paths: v.record(v.string(), v.record(v.string(), v.looseObject({ operationId: v.string() }))),
  components: v.looseObject({}),
});

nameSchemas({ VersionBody, BoxHealth, TlsHealth, RuntimeHealth, HealthBody, InterfaceBody });

export type RuntimeHealth = ToldBy<typeof RuntimeHealth>;
export type BoxHealth = ToldBy<typeof BoxHealth>;
export type TlsHealth = ToldBy<typeof TlsHealth>;

/** What `main.ts` tells the system routes; everything is read at the time of the request. */
export interface SystemView {
  readonly product: { readonly version: string; readonly commit: string };
  readonly deviceId: string;
  readonly startedAtMs: WallMs;
  readonly authMode: (typeof AUTH_MODES)[number];
  readonly operatingMode: string;
  readonly antiReplay: { readonly enabled: boolean; entries(): number; nearlyFull(): boolean };
  /** Settings that somebody has set and that do nothing in this version, as sentences. */
  readonly settingsWithoutEffect: readonly string[];
  /** What stands as an alarm of the storage and the threads, in words. */
  troubles(): readonly string[];
  /** What the last verification of all evidence found. */
  integrity(): { readonly ok: boolean | null; readonly checkedAt: string; readonly problems: number };
  /** What whoever installed the appliance should know and nobody has to be called for. */
  notes(): readonly string[];
  /** False while the ledger refuses commits. */
  storageAccepting(): boolean;
  /** Faults of ours that were contained where they happened, since the start. */
  contained(): ContainedView;
  /** User names that are locked after failed passwords, for an address or everywhere. */
  lockedNames(): number;
  runtimes(): readonly RuntimeHealth[];
  /** What the last backup came to. */
  backup(): HealthBody['backup'];
  /** Where the audit trail is sent to, and how far it is. */
  syslog(): HealthBody['syslog'];
  /** Its hardware profile, and how much of it the plant takes. */
  box(): BoxHealth;
  tls(): TlsHealth;
  /** Priority of the scan threads; why not, when the machine refused it. */
  realtime(): { readonly granted: boolean; readonly reason: string };
  /** Every row that is served. */
  rows(): readonly RouteColumns[];
}

export interface SystemDeps {
  readonly system: SystemView;
  readonly store: Store;
}

const route = routesFor<SystemDeps>();
const API_VERSION = 'v1';

/** The rows do not change after the start, and to describe them takes as long as thousands of other reads: once for each gateway. */
const interfaceTexts = new WeakMap<SystemView, string>();

function interfaceText(system: SystemView): string {
  const known = interfaceTexts.get(system);
  if (known !== undefined) return known;
  const text = JSON.stringify(openApiDocument(system.rows(), { title: 'Lineside', version: API_VERSION }));
  interfaceTexts.set(system, text);
  return text;
}

export const SYSTEM_ROUTES: readonly Route<SystemDeps>[] = [
  route({
    method: 'GET',
    path: '/api/v1/version',
    action: 'version:read',
    tier: 'read',
    reply: VersionBody,
    summary: 'Product, version and device',
    handle: (_, { system }): ToldBy<typeof VersionBody> => ({
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
    reply: InterfaceBody,
    summary: 'This interface as an OpenAPI document',
    handle: (_, { system }) => rendered(interfaceText(system)),
  }),
  route({
    method: 'GET',
    path: '/api/v1/system/health',
    action: 'system:health',
    tier: 'read',
    reply: HealthBody,
    summary: 'Health of the parts of the appliance',
    handle: ({ caller }, { system, store }) => health(system, store, caller),
  }),
  route({
    method: 'POST',
    path: '/api/v1/system/stored-data/discard',
    action: 'system:discard-stored-data',
    tier: 'admin',
    summary: 'Removes a row of the store that cannot be read, as health names it; a resource that can be read is deleted through its own route',
    reply: v.strictObject({ discarded: v.strictObject({ kind: v.string(), site: v.string(), name: v.string() }) }),
    reason: 'policy',
    errors: { 404: ['not_found'], 409: ['legal_hold'] },
    body: v.strictObject({ kind: Required, site: Text, name: Required, reason: Required }),
    audit: { action: 'Delete', category: 'system', target: () => ({ kind: 'StoredData', name: '', site: '' }) },
    async handle({ body: { kind, site, name, reason }, audit }, { store }) {
      await discardRow(store, { kind, site, name }, (entry) => audit({ ...entry, operatorReason: reason }));
      return { discarded: { kind, site, name } };
    },
  }),
];

/** A confined caller hears of his sites and of the appliance as a whole, not what is the matter at other sites. */
function health(system: SystemView, store: Store, caller: Caller): HealthBody {
  const runtimes = system.runtimes().filter(({ site }) => mayVisit(caller, site));
  const warnings: string[] = [];
  if (system.authMode === 'none') warnings.push('authentication is off: every request has administrator rights');
  if (!system.antiReplay.enabled) warnings.push('anti-replay protection is off');
  if (system.antiReplay.nearlyFull()) warnings.push('the memory of request nonces is nearly full');
  if (!system.storageAccepting()) warnings.push(`the storage refuses writes: nothing can be changed until it accepts them again (${store.refusedBecause})`);
  const everywhere = caller.sites === null;
  const seen = system.contained();
  const contained = everywhere ? seen : { ...seen, seams: [] };
  if (contained.recent > FAULTS_MAX)
    warnings.push(`faults of the product itself are contained again and again, last: ${contained.seams.at(-1)?.seam ?? 'one that whoever sees all sites is told'}`);
  const locked = system.lockedNames();
  if (locked > 0) warnings.push(`${locked} user ${locked === 1 ? 'name is' : 'names are'} locked after failed passwords: an administrator sees which in auth/lockouts`);
  const troubles = system.troubles();
  if (everywhere) warnings.push(...troubles, ...system.notes());
  else if (troubles.length > 0) warnings.push(`${troubles.length} of the conditions of the appliance need somebody who sees all sites`);
  const realtime = system.realtime();
  if (runtimes.length > 0 && !realtime.granted) warnings.push(`scan threads run without real-time priority: ${realtime.reason}`);
  warnings.push(...system.settingsWithoutEffect.map((note) => `setting ${note}`));
  const down = runtimes.filter(({ ready }) => !ready);
  return {
    status: system.storageAccepting() && down.length === 0 && troubles.length === 0 ? 'ok' : 'degraded',
    authMode: system.authMode,
    operatingMode: system.operatingMode,
    antiReplay: { enabled: system.antiReplay.enabled, entries: system.antiReplay.entries() },
    storage: { accepting: system.storageAccepting(), unfit: store.faults.filter(({ site }) => mayVisit(caller, site)).map(withoutText) },
    integrity: system.integrity(),
    backup: everywhere ? system.backup() : { ...system.backup(), message: '' },
    contained,
    syslog: everywhere ? system.syslog() : { ...system.syslog(), receiver: '', gaps: [], message: '' },
    box: everywhere ? system.box() : { ...system.box(), used: null },
    tls: system.tls(),
    runtimes,
    realtime,
    warnings,
  };
}
