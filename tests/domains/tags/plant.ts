/**
 * A small plant behind the real pipeline, store, ledger and server: two control modules, a program and two units, one of
 * them without a runtime. The unit runtime is a link over a real tag table, so that tests decide what it answers.
 */
import { STORED_KINDS } from '../../../src/domains/index.js';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import * as v from 'valibot';
import type { TagPlan, UnitOutbound } from '../../../runtime/port.js';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import { QUALITY, type QualityCode } from '../../../runtime/vocabulary/quality.js';
import { TagTable } from '../../../runtime/vocabulary/tag-table.js';
import { printTime } from '../../../runtime/language/time-text.js';
import type { AlarmSpec, AlarmStatus } from '../../../src/domains/alarms/kind.js';
import { ControlModule, ControlModuleTemplate } from '../../../src/domains/control-modules/kind.js';
import { ControlProgram } from '../../../src/domains/logic/kind.js';
import { Site, Unit } from '../../../src/domains/plant/kind.js';
import { publishAlarms } from '../../../src/domains/alarms/alarm-channel.js';
import { TagCatalog } from '../../../src/domains/tags/catalog.js';
import { ModuleHealths } from '../../../src/domains/control-modules/health-channel.js';
import { tagRoutes } from '../../../src/domains/tags/routes.js';
import { streamRoutes } from '../../../src/domains/streams/live-transports.js';
import { publishTags } from '../../../src/domains/tags/tag-sources.js';
import { writeFrame } from '../../../src/domains/tags/write-frame.js';
import type { UnitLink, UnitRuntimes, WriteResult } from '../../../src/domains/placement/runtimes.js';
import { type Clock, systemClock } from '../../../src/platform/base/clock.js';
import { Refusal } from '../../../src/platform/base/refusal.js';
import type { Authenticator } from '../../../src/platform/http/authenticator.js';
import type { Caller } from '../../../src/platform/http/caller.js';
import { Nonces } from '../../../src/platform/http/nonces.js';
import { Pipeline } from '../../../src/platform/http/pipeline.js';
import { RateLimiter } from '../../../src/platform/http/rate-limit.js';
import { routeSet } from '../../../src/platform/http/route.js';
import { RouteTable } from '../../../src/platform/http/route-table.js';
import { startServer } from '../../../src/platform/http/server.js';
import { TrustedProxies } from '../../../src/platform/http/source-ip.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import type { Ledger, LedgerTransaction } from '../../../src/platform/ledger/protocol.js';
import type { UnchainedAudit } from '../../../src/platform/store/audit-record.js';
import type { Kind } from '../../../src/platform/store/kind.js';
import { Store } from '../../../src/platform/store/store.js';
import { Hub } from '../../../src/platform/stream/hub.js';
import type { ClientFrames } from '../../../src/platform/stream/websocket.js';
import { person, ScriptedSessions } from '../../platform/stream/scripted.js';
import { at } from '../../support/at.js';
import type { Places } from '../../../src/platform/stream/filter.js';
import { BodyRoom } from '../../../src/platform/http/body-room.js';
import { BodyTurns } from '../../../src/platform/http/body-turns.js';
import { YamlBodies } from '../../../src/platform/http/yaml-body.js';

/** An alarm of v101, as a definition has just raised it. */
export const HOT_ALARM: { readonly spec: AlarmSpec; readonly status: AlarmStatus } = {
  spec: {
    source: 'ControlModule/v101',
    type: 'Process',
    severity: 'High',
    message: 'too hot',
    definitionRef: '',
    conditionType: 'TagHigh',
    setpoint: '80',
    value: '81',
  },
  status: {
    state: 'ActiveUnacknowledged',
    unit: 'rx101',
    value: '81',
    priority: 500,
    occurrences: 1,
    activatedAt: '',
    clearedAt: '',
    acknowledgedAt: '',
    acknowledgedBy: '',
    shelvedUntil: '',
    shelvedBy: '',
    origin: 'definition',
  },
};

const TAGS: TagPlan[] = [
  ...['v101', 'v102'].flatMap((module) => [
    tag(module, 'cmd', 'BOOL', true),
    tag(module, 'sp', 'REAL', true, { engMin: 0, engMax: 120 }),
    tag(module, 'pv', 'REAL', false),
    tag(module, 'count', 'INT', true),
    tag(module, 'text', 'STRING', true),
    tag(module, 'delay', 'TIME', true),
    tag(module, 'raw', 'REAL', true, { engMin: 0, engMax: 4095 }),
  ]),
  tag('mix', 'level', 'REAL', false),
  tag('mix', 'target', 'REAL', true),
];

function tag(network: string, name: string, type: TagPlan['type'], writable: boolean, bounds: { engMin?: number; engMax?: number } = {}): TagPlan {
  return { address: `${network}.${name}`, network, name, type, writable, ...bounds, cyclic: true, binding: { kind: 'stored', initial: null } };
}

/** A runtime that takes what it is given, unless told otherwise. */
export class BoardLink implements UnitLink {
  readonly site = 'north';
  readonly unit = 'rx101';
  epoch = 1;
  ready = true;
  message = '';
  startedAtMs = 0;
  startedMonoMs = 0;
  realtime = { granted: false, reason: '' };
  timeScale = 1;
  planRevision = 1;
  tags: readonly TagPlan[] = TAGS;
  readonly written: { readonly address: string; readonly value: Value }[] = [];
  /** Scripted answer of the next write. */
  answer: WriteResult | undefined;
  onWrite: (() => void) | undefined;
  readonly #table = new TagTable(TAGS.length);
  readonly #values = new Float64Array(TAGS.length);
  readonly #stamps = new Float64Array(TAGS.length);
  readonly #quality = new Uint8Array(TAGS.length);
  readonly #copy = { values: new Float64Array(TAGS.length), stamps: new Float64Array(TAGS.length), quality: new Uint8Array(TAGS.length) };
  readonly #texts: string[] = [''];

  tagIndex(address: string): number {
    return this.tags.findIndex((candidate) => candidate.address === address);
  }

  set(address: string, value: Value, atMs = Date.UTC(2026, 0, 31), quality: QualityCode = QUALITY.Good): void {
    const index = this.tagIndex(address);
    this.#values[index] = typeof value === 'string' ? this.#texts.push(value) - 1 : Number(value);
    this.#stamps[index] = atMs;
    this.#quality[index] = quality;
    this.#table.publish(this.#values, this.#stamps, this.#quality);
  }

  refresh(): boolean {
    return this.#table.snapshot(this.#copy.values, this.#copy.stamps, this.#copy.quality);
  }

  reading(index: number) {
    const atMs = at(this.#copy.stamps, index);
    const raw = at(this.#copy.values, index);
    const quality = this.#copy.quality[index] as QualityCode;
    if (atMs === 0) return { value: null, quality: QUALITY.Uncertain, atMs };
    const { type } = at(this.tags, index);
    const value = type === 'BOOL' ? raw !== 0 : type === 'STRING' ? at(this.#texts, raw) : type === 'TIME' ? printTime(raw) : raw;
    return { value, quality, atMs };
  }

  statistics() {
    return { scanCount: 0, heartbeatAtMs: 0, heartbeatMonoMs: 0, lastScanUs: 0, maxScanUs: 0, latenessUs: 0, maxLatenessUs: 0, missed: 0, overruns: 0 };
  }

  networkScans(): number {
    return 0;
  }

  networkHash(): string {
    return '';
  }

  alarmPlan(): undefined {
    return undefined;
  }

  async resetDevices() {
    return { ok: false, message: 'no devices here', blocks: [] };
  }

  async write(address: string, value: Value): Promise<WriteResult> {
    this.onWrite?.();
    this.written.push({ address, value });
    const answer = this.answer ?? { ok: true, message: 'written' };
    this.answer = undefined;
    if (answer.ok) this.set(address, value);
    return answer;
  }

  async inspect(): Promise<unknown> {
    return undefined;
  }

  loadPhase(): void {}
  send(): void {}
}

export class BoardRuntimes implements UnitRuntimes {
  readonly board = new BoardLink();
  readonly #messageListeners: ((link: UnitLink, message: UnitOutbound) => void)[] = [];
  readonly #listeners: ((link: UnitLink, what: 'ready' | 'down' | 'plan') => void)[] = [];

  link(site: string, unit: string): UnitLink | undefined {
    return site === this.board.site && unit === this.board.unit ? this.board : undefined;
  }

  links(): readonly UnitLink[] {
    return [this.board];
  }

  onMessage(listener: (link: UnitLink, message: UnitOutbound) => void): void {
    this.#messageListeners.push(listener);
  }

  say(message: UnitOutbound): void {
    for (const listener of this.#messageListeners) listener(this.board, message);
  }

  onChange(listener: (link: UnitLink, what: 'ready' | 'down' | 'plan') => void): void {
    this.#listeners.push(listener);
  }

  tell(what: 'ready' | 'down' | 'plan'): void {
    this.board.ready = what !== 'down';
    for (const listener of this.#listeners) listener(this.board, what);
  }
}

/** Tokens are names of callers. */
export class NamedCallers implements Authenticator {
  readonly anonymous = person({ actions: [] });
  readonly freshTokenRequired = true;
  readonly callers = new Map<string, Caller>();
  readonly touched: string[] = [];

  authenticate(authorization: string | undefined): Caller {
    return this.authenticateQuery(authorization?.replace(/^(Bearer|ApiKey) /, '') ?? '');
  }

  authenticateQuery(token: string): Caller {
    const caller = this.callers.get(token);
    if (!caller) throw new Refusal('unauthenticated', 'no such token', { code: 'invalid_token' });
    return caller;
  }

  touch(caller: Caller): void {
    this.touched.push(caller.accountId);
  }
}

function put<Spec, Status>(kind: Kind<Spec, Status>, name: string, spec: unknown, site = 'north', labels: Record<string, string> = {}) {
  return { kind, site, name, spec: v.parse(kind.spec, spec), labels };
}

const TEMPLATE_TAGS = [
  { name: 'cmd', dataType: 'Boolean', accessLevel: 'readwrite', role: 'command', trueLabel: 'Open', falseLabel: 'Close' },
  { name: 'sp', dataType: 'Float', accessLevel: 'readwrite', engMin: '0', engMax: '120', engUnits: 'degC', role: 'setpoint' },
  { name: 'pv', dataType: 'Float' },
  { name: 'count', dataType: 'Integer', accessLevel: 'readwrite' },
  { name: 'text', dataType: 'String', accessLevel: 'readwrite' },
  { name: 'delay', dataType: 'Time', accessLevel: 'readwrite' },
  { name: 'raw', dataType: 'Float', accessLevel: 'readwrite', channel: 'io-1:4x00001/2', engMin: '0', engMax: '4095' },
];

/** Everything the tests engineer, as one change. */
export const PLANT = [
  put(Site, 'north', {}, ''),
  put(Site, 'south', {}, ''),
  put(Unit, 'rx101', { processCellName: 'train' }),
  put(Unit, 'away', { processCellName: 'train' }),
  put(ControlModuleTemplate, 'valve', { moduleType: 'valve', tags: TEMPLATE_TAGS }, ''),
  put(ControlModule, 'v101', { templateRef: 'valve', parentName: 'rx101', mode: 'Manual' }, 'north', { 'lineside.io/equipment-module': 'dosing' }),
  put(ControlModule, 'v102', { templateRef: 'valve', parentName: 'rx101', tags: [{ name: 'raw', channel: 'io-1:4x00003' }] }),
  put(ControlModule, 'v900', { templateRef: 'valve', parentName: 'away' }),
  put(ControlProgram, 'mix', {
    unitRef: 'rx101',
    scanInterval: '100ms',
    variables: [
      { name: 'level', dataType: 'REAL', direction: 'output' },
      { name: 'target', dataType: 'REAL', direction: 'input' },
    ],
  }),
];

export interface Plant {
  readonly store: Store;
  readonly runtimes: BoardRuntimes;
  readonly link: BoardLink;
  readonly hub: Hub;
  readonly healths: ModuleHealths;
  readonly sessions: ScriptedSessions;
  readonly callers: NamedCallers;
  readonly audits: UnchainedAudit[];
  readonly url: string;
  request(
    method: string,
    route: string,
    options?: { readonly token?: string; readonly body?: unknown; readonly headers?: Record<string, string> },
  ): Promise<{ readonly status: number; readonly body: any; readonly headers: Headers }>;
  stop(): Promise<void>;
}

export interface PlantOptions {
  readonly clock?: Clock;
  readonly modeCheckDeviceTags?: boolean;
  /** Runs before each commit is handed to the disk. */
  readonly beforeCommit?: (transaction: LedgerTransaction) => Promise<void>;
  readonly frames?: Partial<ClientFrames>;
  readonly perSourceMax?: number;
}

export async function startPlant(options: PlantOptions = {}): Promise<Plant> {
  const clock = options.clock ?? systemClock;
  const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-tags-'));
  const disk = await openLedger(dataDir);
  const ledger: Ledger = {
    load: (windowMs) => disk.load(windowMs),
    commit: async (transaction) => {
      await options.beforeCommit?.(transaction);
      return disk.commit(transaction);
    },
    probe: () => disk.probe(),
    close: () => disk.close(),
  };
  const store = new Store(ledger, clock, undefined, STORED_KINDS);
  await store.open(600_000);
  await store.write({ puts: PLANT });
  const audits: UnchainedAudit[] = [];
  store.watchAudit((record) => audits.push(record));
  const runtimes = new BoardRuntimes();
  const catalog = new TagCatalog(store);
  const deps = { store, catalog, runtimes, clock, modeCheckDeviceTags: options.modeCheckDeviceTags ?? false };
  const places: Places = {
    hasSite: (site) => store.get(Site, '', site) !== undefined,
    hasUnit: (site, unit) => (site === undefined ? store.list(Unit).some(({ metadata }) => metadata.name === unit) : store.get(Unit, site, unit) !== undefined),
  };
  const sessions = new ScriptedSessions();
  const hub = new Hub({ clock, sessions, places, recorded: () => store.recorded });
  runtimes.board.set('v101.sp', 20);
  publishTags({ hub, runtimes, catalog, store });
  publishAlarms({ hub, store, clock });
  const healths = new ModuleHealths({ hub, store, runtimes, clock });
  const frames: ClientFrames = {
    write: (frame, caller, sourceIP) => writeFrame(deps, frame, caller, sourceIP),
    command: async ({ command }) => ({ ok: true, message: `${command} recorded` }),
    ...options.frames,
  };
  const callers = new NamedCallers();
  callers.callers.set('all', person());
  callers.callers.set('south', person({ sites: ['south'] }));
  callers.callers.set('reader', person({ actions: ['stream:connect', 'tag:read', 'tag:browse', 'controlmodule:read-tag'] }));
  callers.callers.set('lsk_key', { ...person(), kind: 'apiKey', sessionId: null });
  const faults: unknown[] = [];
  const streamDeps = { webSocket: { hub, clock, sessions, frames, onFault: (fault: unknown) => faults.push(fault) }, sse: { hub, clock, places }, places };
  const pipeline = new Pipeline(
    {
      clock,
      rows: new RouteTable([routeSet(tagRoutes, deps), routeSet(streamRoutes, streamDeps)]),
      rateLimiter: new RateLimiter({ enabled: false, requestsPerSecond: 1, burst: 1 }, clock),
      streams: { connections: hub, perSourceMax: options.perSourceMax ?? 10, tokenInQuery: true },
      allowedOrigins: [],
      authenticator: callers,
      nonces: new Nonces(clock, 600_000, 10_000),
      store,
      siteExists: places.hasSite,
      ready: () => true,
      bodyBytesMax: 1_048_576,
      reasonLengthMin: 10,
      yaml: new YamlBodies(),
      bodyRoom: new BodyRoom(),
      bodyTurns: new BodyTurns(),
    },
    pino({ level: 'silent' }),
  );
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    pipeline,
    trustedProxies: new TrustedProxies([]),
    allowedOrigins: [],
    connections: hub,
    log: pino({ level: 'silent' }),
  });
  const url = `http://127.0.0.1:${server.port}`;
  let nonce = 0;
  return {
    store,
    runtimes,
    link: runtimes.board,
    hub,
    healths,
    sessions,
    callers,
    audits,
    url,
    async request(method, route, { token = 'all', body, headers = {} } = {}) {
      const response = await fetch(`${url}${route}`, {
        method,
        headers: {
          ...(token === '' ? {} : { Authorization: `Bearer ${token}` }),
          ...(method === 'GET' ? {} : { 'X-DCS-Nonce': `nonce-${nonce++}-${process.pid}` }),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text), headers: response.headers };
    },
    async stop() {
      await server.stop();
      hub.stop();
      await ledger.close();
      rmSync(dataDir, { recursive: true, force: true });
      if (faults.length > 0) throw faults[0];
    },
  };
}
