/** Puts the HTTP side together: row table, barriers, server. `main.ts` and the tests build the gateway with it alike. */
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';
import { pastRows } from '../store/past-rows.js';
import type { Store } from '../store/store.js';
import type { Authenticator } from './authenticator.js';
import { BodyRoom } from './body-room.js';
import { BodyTurns } from './body-turns.js';
import { documentRoutes, openDocuments } from './documents.js';
import type { Nonces } from './nonces.js';
import { pageRoutes } from './pages.js';
import { Pipeline } from './pipeline.js';
import { RateLimiter } from './rate-limit.js';
import type { RouteTable } from './route-table.js';
import { type HttpServer, type ServerTls, startServer } from './server.js';
import { TrustedProxies } from './source-ip.js';
import type { StreamConnections, StreamsMax } from './stream-port.js';
import { YamlBodies } from './yaml-body.js';

export interface GatewaySettings {
  readonly httpPort: number;
  readonly listen: string;
  readonly plainHttp: 'off' | 'loopback';
  readonly plainHttpPort: number;
  readonly trustedProxies: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly bodyBytesMax: number;
  readonly reasonLengthMin: number;
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
  /** Those that were admitted; absent where the barrier is off. */
  readonly nonces: Nonces | undefined;
  readonly authenticator: Authenticator;
  /** Absent where the gateway speaks plain HTTP. */
  readonly tls?: ServerTls | undefined;
  /** Where the parts have added their rows; probes and pages are added here. */
  readonly table: RouteTable;
  readonly siteExists: (site: string) => boolean;
  /** `/readyz`: everything is up and writes are accepted. */
  readonly ready: () => boolean;
  /** Requests are served; a full disk ends `ready`, not this. As `ready` when left out. */
  readonly started?: () => boolean;
  /** Folder of the built consoles. */
  readonly consoleFolder: string;
  /** Folder of the built documents. */
  readonly documentsFolder: string;
  readonly connections?: StreamConnections;
  readonly streamsMax?: StreamsMax;
}

export async function startGateway(options: GatewayOptions): Promise<HttpServer> {
  const { settings, clock, log, table, nonces, connections } = options;
  table.add(pageRoutes(options.consoleFolder, options.ready, options.started ?? options.ready, () => options.store.refusedBecause));
  table.add(documentRoutes(openDocuments(options.documentsFolder)));
  const pipeline = new Pipeline(
    {
      clock,
      rows: table,
      rateLimiter: new RateLimiter({ enabled: settings.rateLimitEnabled, requestsPerSecond: settings.rateLimitPerSecond, burst: settings.rateLimitBurst }, clock),
      streams: { connections, perSourceMax: settings.streamsPerSourceMax, max: options.streamsMax, tokenInQuery: settings.tokenInQuery },
      allowedOrigins: settings.allowedOrigins,
      authenticator: options.authenticator,
      nonces,
      store: options.store,
      siteExists: options.siteExists,
      past: pastRows(options.store),
      ready: options.started ?? options.ready,
      bodyBytesMax: settings.bodyBytesMax,
      reasonLengthMin: settings.reasonLengthMin,
      yaml: new YamlBodies(clock),
      bodyRoom: new BodyRoom(),
      bodyTurns: new BodyTurns(),
    },
    log,
  );
  return startServer({
    host: settings.listen,
    port: settings.httpPort,
    ...(options.tls ? { tls: options.tls, plainPort: settings.plainHttp === 'loopback' ? settings.plainHttpPort : undefined } : {}),
    pipeline,
    trustedProxies: new TrustedProxies(settings.trustedProxies),
    allowedOrigins: settings.allowedOrigins,
    ...(connections ? { connections } : {}),
    log,
  });
}
