/** What the appliance says of itself: version, health, and its interface. */
import { type Clock, timestamp } from '../../platform/base/clock.js';
import type { ContainedFaults } from '../../platform/base/contained-faults.js';
import type { FatalFaults } from '../../platform/base/fatal-faults.js';
import { isLoopback } from '../../platform/base/ip-address.js';
import type { Log } from '../../platform/base/log.js';
import type { Nonces } from '../../platform/http/nonces.js';
import { routeSet } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import type { ServedCertificate, ServedView } from '../../platform/tls/served-certificate.js';
import type { Settings } from '../../settings.js';
import type { LockOuts } from '../access/lockouts.js';
import { TROUBLE_TOPICS, type Troubles } from '../alarms/system-conditions.js';
import type { LocalRuntimes } from '../placement/local-runtimes.js';
import type { LocalProbes } from '../placement/local-probes.js';
import type { Backups } from './backups.js';
import { IORestart } from './io-restart.js';
import type { Restoration } from './restoration.js';
import { RESTORE_ROUTES } from './restore-routes.js';
import { type BoxHealth, SYSTEM_ROUTES, type SystemView, type TlsHealth } from './routes.js';
import { SERVICE_ROUTES } from './service-routes.js';

export interface SystemParts extends Pick<SystemView, 'product' | 'deviceId' | 'startedAtMs' | 'rows'> {
  readonly store: Store;
  readonly log: Log;
  readonly settings: Pick<Settings, 'authMode' | 'operatingMode' | 'antiReplayEnabled' | 'withoutEffect' | 'listen'>;
  readonly clock: Clock;
  readonly runtimes: LocalRuntimes;
  readonly probes: LocalProbes;
  /** Absent where the barrier is off. */
  readonly nonces: Nonces | undefined;
  readonly troubles: Troubles;
  /** By which earlier starts have ended. */
  readonly faults: Pick<FatalFaults, 'last'>;
  /** By the last verification. */
  readonly evidence: { readonly summary: ReturnType<SystemView['integrity']> };
  readonly contained: Pick<ContainedFaults, 'view'>;
  readonly lockOuts: Pick<LockOuts, 'locked'>;
  readonly backups: Backups;
  readonly restoration: Restoration;
  readonly syslog: SystemView['syslog'];
  readonly box: BoxParts;
  /** What is the matter with signing in, in sentences. */
  readonly accessNotes: () => readonly string[];
  /** Absent where the gateway speaks plain HTTP. */
  readonly tls: Pick<ServedCertificate, 'view'> | undefined;
}

/** The hardware profile of the box, how much of it the plant takes, and what somebody should know of both. */
export interface BoxParts {
  readonly profile: Pick<BoxHealth, 'title' | 'verified' | 'limits'> & { readonly name: string };
  readonly by: BoxHealth['by'];
  readonly notes: readonly string[];
  size(): NonNullable<BoxHealth['used']>;
  /** What of the plant is beyond the profile, as sentences. */
  beyond(): readonly string[];
}

export function joinSystem(parts: SystemParts) {
  const {
    product,
    deviceId,
    startedAtMs,
    rows,
    store,
    log,
    settings,
    clock,
    runtimes,
    probes,
    nonces,
    troubles,
    faults,
    evidence,
    contained,
    lockOuts,
    box,
    backups,
    restoration,
    syslog,
    accessNotes,
    tls,
  } = parts;
  const openInClear = tls ? '' : inClear(settings);
  if (openInClear !== '') log.warn(openInClear);
  const system: SystemView = {
    product,
    deviceId,
    startedAtMs,
    authMode: settings.authMode,
    operatingMode: settings.operatingMode,
    antiReplay: { enabled: settings.antiReplayEnabled, entries: () => nonces?.size ?? 0, nearlyFull: () => nonces?.nearlyFull ?? false },
    settingsWithoutEffect: settings.withoutEffect,
    troubles: () => TROUBLE_TOPICS.flatMap((topic) => troubles[topic]()?.message ?? []),
    tls: () => tlsHealth(tls?.view()),
    notes: () => [openInClear, ...accessNotes(), ...(tls?.view().notes ?? []), faults.last, ...box.notes, ...box.beyond()].filter((note) => note !== ''),
    backup: () => backups.view,
    syslog,
    box: () => boxHealth(box),
    integrity: () => evidence.summary,
    storageAccepting: () => store.accepting,
    contained: () => contained.view(),
    lockedNames: () => (settings.authMode === 'local' ? lockOuts.locked().length : 0),
    runtimes: () => runtimes.links().map(({ site, unit, ready, message }) => ({ site, unit, ready, message })),
    realtime: () => runtimes.realtime,
    rows,
  };
  const io = new IORestart({ store, probes, log });
  const routes = [routeSet(SYSTEM_ROUTES, { system, store }), routeSet(SERVICE_ROUTES, { store, clock, io, backups }), routeSet(RESTORE_ROUTES, { restoration })];
  return { routes, start: () => backups.start(), stop: () => backups.stop() };
}

function boxHealth({ profile: { name, title, verified, limits }, by, size }: BoxParts): BoxHealth {
  return { profile: name, title, verified, by, limits: { ...limits }, used: size() };
}

function tlsHealth(view: ServedView | undefined): TlsHealth {
  if (!view) return { on: false, source: 'none', sha256: '', subject: '', issuer: '', names: [], notBefore: '', notAfter: '' };
  const { sha256, subject, issuer, names, notBeforeMs, notAfterMs } = view.facts;
  return { on: true, source: view.kind, sha256, subject, issuer, names: [...names], notBefore: timestamp(notBeforeMs), notAfter: timestamp(notAfterMs) };
}

/** Empty where nobody but this machine hears, or nobody understands. */
function inClear({ operatingMode, listen }: SystemParts['settings']): string {
  const isHeard = operatingMode === 'production' && !isLoopback(listen);
  return isHeard ? `no certificate (gateway.tls.certFile, gateway.tls.selfSigned): passwords and tokens travel in clear to ${listen}` : '';
}
