/** Puts the HTTP side together: row table, barriers, server. `main.ts` and the tests build the gateway with it alike. */
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';
import type { Store } from '../store/store.js';
import type { Authenticator } from './authenticator.js';
import { type PersistedNonce, Nonces } from './nonces.js';
import { pageRoutes } from './pages.js';
import { Pipeline } from './pipeline.js';
import { RateLimiter } from './rate-limit.js';
import type { RouteColumns, RouteSet } from './route.js';
import { type LooseRoutes, RouteTable } from './route-table.js';
import { type HttpServer, startServer } from './server.js';
import { TrustedProxies } from './source-ip.js';
import type { StreamConnections } from './stream-port.js';

export interface GatewaySettings {
  readonly httpPort: number;
  readonly listen: string;
  readonly tlsCertFile: string | null;
  readonly tlsKeyFile: string | null;
  readonly trustedProxies: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly bodyBytesMax: number;
  readonly reasonLengthMin: number;
  readonly antiReplayEnabled: boolean;
  readonly antiReplayWindowMs: number;
  readonly antiReplayEntriesMax: number;
  readonly rateLimitEnabled: boolean;
  readonly rateLimitPerSecond: number;
  readonly rateLimitBurst: number;
  readonly streamsPerSourceMax: number;
  readonly tokenInQuery: boolean;
}

export interface GatewayOptions {
  readonly settings: GatewaySettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Store;
  /** Nonces of the window, as `store.open` returned them. */
  readonly earlierNonces: readonly PersistedNonce[];
  readonly authenticator: Authenticator;
  /** Where the parts have added their rows; probes and pages are added here. */
  readonly table?: RouteTable;
  /** @deprecated Further rows: they are added to the table as their part joins. */
  readonly routes?: readonly (RouteSet | LooseRoutes)[];
  readonly siteExists: (site: string) => boolean;
  /** `/readyz`: everything is up and writes are accepted. */
  readonly ready: () => boolean;
  /** Requests are served; a full disk ends `ready`, not this. As `ready` when left out. */
  readonly started?: () => boolean;
  /** Folder of the built consoles. */
  readonly consoleFolder: string;
  readonly connections?: StreamConnections;
  /** @deprecated Called with every row before the first request is taken; the table is asked instead. */
  readonly useRoutes?: (rows: readonly RouteColumns[]) => void;
}

export interface Gateway {
  readonly server: HttpServer;
  /** Every row that is served, pages included. */
  readonly rows: readonly RouteColumns[];
  /** For the alarm `system-nonce-store` and `system/health`. */
  readonly nonces: Nonces | undefined;
}

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { settings, clock, log, connections } = options;
  const table = options.table ?? new RouteTable();
  for (const set of options.routes ?? []) table.add(set);
  table.add(pageRoutes(options.consoleFolder, options.ready, options.started ?? options.ready, () => options.store.refusedBecause));
  options.useRoutes?.(table.rows);
  const nonces = settings.antiReplayEnabled ? new Nonces(clock, settings.antiReplayWindowMs, settings.antiReplayEntriesMax) : undefined;
  nonces?.load(options.earlierNonces);
  const pipeline = new Pipeline(
    {
      clock,
      rows: table,
      rateLimiter: new RateLimiter({ enabled: settings.rateLimitEnabled, requestsPerSecond: settings.rateLimitPerSecond, burst: settings.rateLimitBurst }, clock),
      streams: { connections, perSourceMax: settings.streamsPerSourceMax, tokenInQuery: settings.tokenInQuery },
      allowedOrigins: settings.allowedOrigins,
      authenticator: options.authenticator,
      nonces,
      store: options.store,
      siteExists: options.siteExists,
      ready: options.started ?? options.ready,
      bodyBytesMax: settings.bodyBytesMax,
      reasonLengthMin: settings.reasonLengthMin,
    },
    log,
  );
  const server = await startServer({
    host: settings.listen,
    port: settings.httpPort,
    ...(settings.tlsCertFile && settings.tlsKeyFile ? { tls: { certFile: settings.tlsCertFile, keyFile: settings.tlsKeyFile } } : {}),
    pipeline,
    trustedProxies: new TrustedProxies(settings.trustedProxies),
    allowedOrigins: settings.allowedOrigins,
    ...(connections ? { connections } : {}),
    log,
  });
  return { server, rows: table.rows, nonces };
}
