/**
 * A gateway on loopback with the real ledger, store, access and pipeline; only the clock is the test's. `request` is raw
 * enough to send what a decent client would not.
 */
import { STORED_KINDS } from '../../src/domains/index.js';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { Access, type AccessOptions } from '../../src/domains/access/access.js';
import { ACCESS_ROUTES } from '../../src/domains/access/routes.js';
import { SYSTEM_ROUTES, type SystemView } from '../../src/domains/system/routes.js';
import type { Clock } from '../../src/platform/base/clock.js';
import { startGateway } from '../../src/platform/http/gateway.js';
import { openNonces } from '../../src/platform/http/nonces.js';
import { type RouteColumns, type RouteSet, routeSet } from '../../src/platform/http/route.js';
import { RouteTable } from '../../src/platform/http/route-table.js';
import type { HttpServer, ServerTls } from '../../src/platform/http/server.js';
import type { StreamConnections, StreamsMax } from '../../src/platform/http/stream-port.js';
import { openDeviceKeys } from '../../src/platform/ledger/keys.js';
import { openLedger } from '../../src/platform/ledger/ledger.js';
import type { UnchainedAudit } from '../../src/platform/store/audit-record.js';
import { component } from '../../src/platform/store/audit-record.js';
import type { Kind } from '../../src/platform/store/kind.js';
import { Store } from '../../src/platform/store/store.js';
import { readSettings, type Settings } from '../../src/settings.js';
import { CHECKS, checkAnswer, tellInterface } from './answer-check.js';
import { TestClock } from './test-clock.js';

export interface GatewayTest {
  readonly url: string;
  readonly port: number;
  readonly clock: TestClock;
  readonly store: Store;
  readonly access: Access;
  readonly gateway: { readonly server: HttpServer; readonly rows: readonly RouteColumns[] };
  readonly settings: Settings;
  readonly dataDir: string;
  /** Audit records since the start, oldest first. */
  readonly audits: UnchainedAudit[];
  /** Commissioning code of the console, when one was shown. */
  code(): string | undefined;
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** Makes an account with the groups (without prefix) and signs it in; the same groups give the same client. */
  as(...groups: string[]): Promise<Client>;
  addSite(name: string): Promise<void>;
  stop(): Promise<void>;
  /** Stops the process side and opens the same data again, with other options where they are given. */
  restart(more?: GatewayTestOptions): Promise<GatewayTest>;
}

export interface RequestOptions {
  readonly token?: string | undefined;
  readonly key?: string | undefined;
  /** `null` sends none; a fresh one when absent and the method needs it. */
  readonly nonce?: string | null;
  readonly body?: unknown;
  /** Sent as it is. */
  readonly raw?: string | Buffer;
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any;
}

/** Somebody signed in. */
export interface Client {
  readonly token: string;
  readonly username: string;
  readonly password: string;
  readonly sessionId: string;
  get(path: string, options?: RequestOptions): Promise<Answer>;
  post(path: string, body?: unknown, options?: RequestOptions): Promise<Answer>;
  put(path: string, body?: unknown, options?: RequestOptions): Promise<Answer>;
  delete(path: string, options?: RequestOptions): Promise<Answer>;
}

/** What a test site is when the plant kinds are not under test. */
const TestSite = { kind: 'Site' } as unknown as Kind;

export interface GatewayTestOptions {
  /** Rows under test; a function gets the store they work on. */
  readonly routes?: readonly RouteSet[] | ((parts: { store: Store; clock: Clock; access: Access }) => readonly RouteSet[]);
  /** Flags, for example `['--auth-mode', 'none']`. */
  readonly argv?: readonly string[];
  readonly settings?: Partial<Settings>;
  readonly dataDir?: string;
  readonly clock?: TestClock;
  readonly connections?: StreamConnections;
  readonly streamsMax?: StreamsMax;
  readonly ready?: () => boolean;
  readonly consoleFolder?: string;
  readonly documentsFolder?: string;
  /** Under TLS; with `plainHttp: 'loopback'` the requests of the test go beside it. */
  readonly tls?: ServerTls;
  /** Sites that exist besides stored ones. */
  readonly sites?: readonly string[];
  readonly access?: Partial<AccessOptions>;
  /** Not where the cost of a request is measured: thousands of records that somebody holds are copied by the collector again and again. */
  readonly keepsAudits?: boolean;
  /** Open streams of a session. */
  readonly streamsOf?: (sessionId: string) => number;
  /** What `system/health` is told instead. */
  readonly health?: Partial<SystemView>;
}

/** Cheap hashes: the cost itself is tested once. */
const TEST_COST = { ln: 4, r: 8, p: 1 };
export const PASSWORD = 'correct horse battery';

export async function startGatewayTest(options: GatewayTestOptions = {}): Promise<GatewayTest> {
  const dataDir = options.dataDir ?? mkdtempSync(path.join(tmpdir(), 'lineside-gateway-'));
  const clock = options.clock ?? new TestClock();
  const settings: Settings = { ...readSettings(options.argv ?? [], {}, dataDir), httpPort: 0, listen: '127.0.0.1', ...options.settings };
  const keys = openDeviceKeys(dataDir);
  const ledger = await openLedger(dataDir);
  const store = new Store(ledger, clock, undefined, STORED_KINDS);
  const earlierNonces = await store.open(settings.antiReplayWindowMs);
  const audits: UnchainedAudit[] = [];
  if (options.keepsAudits ?? true) store.watchAudit((record) => audits.push(record));
  const table = new RouteTable();
  const time = { now: () => ({ wallMs: clock.wallMs(), bootID: 'one boot', bootMs: clock.monoMs() }), synchronised: () => true };
  const access = new Access({
    siteExists: (site) => siteExists(site),
    siteNames: () => [...sites],
    store,
    clock,
    time,
    keys,
    settings,
    log: pino({ level: 'silent' }),
    rows: () => table.rows,
    hashCost: TEST_COST,
    served: { speaksTls: true, port: () => port },
    ...options.access,
  });
  const sites = new Set(options.sites ?? ['north', 'south']);
  const siteExists = (site: string) => sites.has(site) || store.get(TestSite, '', site) !== undefined;
  const given = typeof options.routes === 'function' ? options.routes({ store, clock, access }) : (options.routes ?? []);
  const system = {
    product: { version: '0.0.0-test', commit: 'test' },
    deviceId: keys.deviceId,
    startedAtMs: clock.wallMs(),
    authMode: settings.authMode,
    operatingMode: settings.operatingMode,
    antiReplay: { enabled: settings.antiReplayEnabled, entries: () => 0, nearlyFull: () => false },
    settingsWithoutEffect: settings.withoutEffect,
    backup: () => ({ configured: false, running: false, ok: null, lastAt: '', message: '' }),
    syslog: () => ({ configured: false, state: 'off' as const, receiver: '', sent: 0, confirmed: 0, lag: 0, gaps: [], message: '' }),
    integrity: () => ({ ok: null, checkedAt: '', problems: 0 }),
    troubles: () => [],
    notes: () => access.notes,
    storageAccepting: () => store.accepting,
    contained: () => ({ total: 0, recent: 0, seams: [] }),
    lockedNames: () => access.lockOuts.locked().length,
    box: () => ({
      profile: 'none',
      title: 'no box',
      verified: true,
      by: 'machine' as const,
      limits: { units: 1, tags: 1, streams: 1, scanIntervalMinMs: 10, historianDiskShare: 0.5 },
      used: { units: 0, tags: 0, streams: 0 },
    }),
    tls: () => ({ on: false, source: 'none' as const, sha256: '', subject: '', issuer: '', names: [], notBefore: '', notAfter: '' }),
    runtimes: () => [],
    realtime: () => ({ granted: false, reason: 'no unit runs here' }),
    rows: () => table.rows,
    ...options.health,
  };
  const ready = options.ready ?? (() => true);
  const streamsOf = options.streamsOf ?? (() => 0);
  for (const set of [routeSet(ACCESS_ROUTES, { access, siteExists, streamsOf }), routeSet(SYSTEM_ROUTES, { system, store }), ...given]) table.add(set);
  const starts = async (): Promise<HttpServer> => {
    access.checkRoles();
    return startGateway({
      settings,
      clock,
      log: pino({ level: process.env.LINESIDE_LOG_LEVEL ?? 'error', base: null }),
      store,
      nonces: openNonces(settings, clock, earlierNonces),
      authenticator: access.authenticator,
      table,
      siteExists,
      ready,
      consoleFolder: options.consoleFolder ?? path.join(dataDir, 'no-console'),
      documentsFolder: options.documentsFolder ?? path.join(dataDir, 'no-documents'),
      ...(options.tls ? { tls: options.tls } : {}),
      ...(options.connections ? { connections: options.connections } : {}),
      ...(options.streamsMax ? { streamsMax: options.streamsMax } : {}),
    });
  };
  const server = await starts().catch(async (fault: unknown) => {
    access.stop();
    await ledger.close();
    rmSync(dataDir, { recursive: true, force: true });
    throw fault;
  });
  const port = server.plainPort ?? server.port;
  const gateway = { server, rows: table.rows };
  tellInterface(port, gateway.rows);
  const clients = new Map<string, Client>();
  let stopped = false;

  async function close(): Promise<void> {
    if (stopped) return;
    stopped = true;
    await gateway.server.stop();
    access.stop();
    await ledger.close();
  }

  const test: GatewayTest = {
    url: `http://127.0.0.1:${port}`,
    port,
    clock,
    store,
    access,
    gateway,
    settings,
    dataDir,
    audits,
    code: () => access.commissioningCode || undefined,
    request: (method, target, more) => send(port, method, target, more),
    async as(...groups) {
      const known = clients.get(groups.join());
      if (known) return known;
      const client = await signIn(test, groups);
      clients.set(groups.join(), client);
      return client;
    },
    async addSite(name) {
      sites.add(name);
    },
    async stop() {
      await close();
      rmSync(dataDir, { recursive: true, force: true });
    },
    async restart(more = {}) {
      await close();
      return startGatewayTest({ ...options, ...more, dataDir, clock });
    },
  };
  return test;
}

/** The account is made in the store, as an administrator would have left it; signing in goes over HTTP. */
/** A session of its own; `as` gives the one that a group has already. */
export async function signIn(test: GatewayTest, groups: readonly string[]): Promise<Client> {
  const username = `user-${randomUUID().slice(0, 8)}`;
  await makeAccount(test, username, groups);
  const answer = await test.request('POST', '/api/v1/auth/login', { body: { username, password: PASSWORD } });
  if (answer.status !== 200) throw new Error(`sign-in failed: ${answer.text}`);
  return clientOf(test, username, answer.body.accessToken, answer.body.sessionId);
}

export async function makeAccount(test: GatewayTest, username: string, groups: readonly string[], more: Record<string, unknown> = {}): Promise<void> {
  const { Account } = await import('../../src/domains/access/kind.js');
  const { PasswordHasher } = await import('../../src/domains/access/passwords.js');
  const passwordHash = await new PasswordHasher(TEST_COST).hash(PASSWORD);
  const spec = {
    accountId: randomUUID(),
    username,
    displayName: username,
    email: '',
    groups: groups.map((group) => `${test.settings.groupPrefix}-${group}`),
    passwordHash,
    enabled: true,
    mustChangePassword: false,
    passwordChangedAt: new Date(test.clock.wallMs()).toISOString(),
    retired: false,
    ...more,
  };
  await test.store.write({
    puts: [{ kind: Account, site: '', name: username.toLowerCase(), spec }],
    audits: [
      {
        site: '',
        actor: component('test'),
        action: 'Create',
        category: 'auth',
        target: { kind: 'User', name: username, site: '' },
        result: 'Success',
        correlationID: randomUUID(),
      },
    ],
  });
}

export function clientOf(test: Pick<GatewayTest, 'request'>, username: string, token: string, sessionId: string): Client {
  return {
    token,
    username,
    password: PASSWORD,
    sessionId,
    get: (target, more) => test.request('GET', target, { token, ...more }),
    post: (target, body, more) => test.request('POST', target, { token, body, ...more }),
    put: (target, body, more) => test.request('PUT', target, { token, body, ...more }),
    delete: (target, more) => test.request('DELETE', target, { token, ...more }),
  };
}

const NEEDS_NONCE = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** One raw request on a connection of its own. */
export function send(port: number, method: string, target: string, { token, key, nonce, body, raw, headers }: RequestOptions = {}): Promise<Answer> {
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const fields: Record<string, string | string[]> = {};
  if (token !== undefined) fields.Authorization = `Bearer ${token}`;
  if (key !== undefined) fields.Authorization = `ApiKey ${key}`;
  if (nonce === undefined ? NEEDS_NONCE.has(method) : nonce !== null) fields['X-DCS-Nonce'] = nonce ?? randomUUID();
  if (payload !== undefined) {
    fields['Content-Type'] = 'application/json';
    if (headers?.['Transfer-Encoding'] === undefined) fields['Content-Length'] = String(Buffer.byteLength(payload));
  }
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ host: '127.0.0.1', port, method, path: target, headers: { ...fields, ...headers }, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        if (CHECKS) checkAnswer(port, { method, target, status: incoming.statusCode ?? 0, mediaType: incoming.headers['content-type'] ?? '', text });
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, body: parse(text) });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(payload);
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
