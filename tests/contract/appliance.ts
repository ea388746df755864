/**
 * The whole appliance in this process for tests of the interface: demonstration plant, real threads, local accounts; only
 * the wall clock can be moved. What it holds besides the demonstration is made over HTTP, as a customer would.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Appliance } from '../../src/appliance/appliance.js';
import { startAppliance } from '../../src/main.js';
import { type Clock, systemClock } from '../../src/platform/base/clock.js';
import { readSettings } from '../../src/settings.js';
import { eventually, PATIENCE_MS } from '../support/api-client.js';
import { CHEAP_PASSWORDS } from '../support/cheap-passwords.js';
import { ONE_SCAN_THREAD, ORDINARY_PRIORITY } from '../support/thrifty-threads.js';
import { patientDemo } from '../support/patient-demo.js';
import { UNITS, unmeasured } from '../support/plant.js';
import { tellInterface } from '../support/answer-check.js';
import { type Answer, type Client, clientOf, PASSWORD, type RequestOptions, send } from '../support/gateway.js';
import type { AuditView, WalkTarget } from '../support/walk.js';

export const SITE = 'demo';
export const FOREIGN_SITE = 'south';
export const AT = `/api/v1/sites/${SITE}`;
/** Small enough that a body beyond it costs nothing, large enough for every body of these tests. */
export const BODY_BYTES_MAX = 16_384;
const TIME_SCALE = 5;

/** Real time that can be put forward: both clocks, as when it passes. */
class AgingClock implements Clock {
  #aheadMs = 0;
  wallMs = (): number => systemClock.wallMs() + this.#aheadMs;
  monoMs = (): number => systemClock.monoMs() + this.#aheadMs;
  after = (delayMs: number, call: () => void): (() => void) => systemClock.after(delayMs, call);
  age = (ms: number): void => {
    this.#aheadMs += ms;
  };
}

export class ApplianceTest implements WalkTarget {
  readonly bodyBytesMax = BODY_BYTES_MAX;
  readonly appliance: Appliance;
  readonly #clock: AgingClock;
  readonly #dataDir: string;
  readonly #clients = new Map<string, Promise<Client>>();
  /** The request that made the first administrator. */
  firstAdmin!: Answer;
  admin!: Client;

  private constructor(appliance: Appliance, clock: AgingClock, dataDir: string) {
    this.appliance = appliance;
    this.#clock = clock;
    this.#dataDir = dataDir;
  }

  /** @param environment further settings as `LINESIDE_...` variables. */
  static async start(environment: Readonly<Record<string, string>> = {}): Promise<ApplianceTest> {
    process.env.LINESIDE_LOG_LEVEL ??= 'silent';
    const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-contract-'));
    const clock = new AgingClock();
    const settings = readSettings(
      [],
      {
        LINESIDE_GATEWAY__HTTPPORT: '0',
        LINESIDE_GATEWAY__LISTEN: '127.0.0.1',
        LINESIDE_GATEWAY__OPERATINGMODE: 'development',
        ...CHEAP_PASSWORDS,
        ...ORDINARY_PRIORITY,
        ...ONE_SCAN_THREAD,
        LINESIDE_IO__OUTPUTS: 'live',
        LINESIDE_BACKUP__DIRECTORY: `${dataDir}-backups`,
        LINESIDE_BACKUP__RECIPIENT: 'age1asg00psx02c0y398uzxrs03fagts9pttywerzemqacks9yee24gqcfxt09',
        LINESIDE_GATEWAY__RATELIMIT__ENABLED: 'false',
        LINESIDE_GATEWAY__MAXBODYBYTES: String(BODY_BYTES_MAX),
        LINESIDE_DEMO__ENABLED: 'true',
        LINESIDE_DEMO__DIR: patientDemo(`${dataDir}-demo`),
        LINESIDE_RUNTIME__TIMESCALE: String(TIME_SCALE),
        ...(process.env.PAST_AT_ONCE === '1' ? { LINESIDE_BATCH__PASTAFTER: '1ms', LINESIDE_BATCH__RECORDPASTAFTER: '1ms' } : {}),
        ...environment,
      },
      dataDir,
    );
    const appliance = await startAppliance(settings, { version: '0.0.0-test', commit: '' }, clock);
    tellInterface(appliance.port, appliance.rows);
    const test = new ApplianceTest(appliance, clock, dataDir);
    await test.#commission();
    return test;
  }

  async stop(): Promise<void> {
    await this.appliance.stop();
    for (const folder of [this.#dataDir, `${this.#dataDir}-demo`, `${this.#dataDir}-backups`]) rmSync(folder, { recursive: true, force: true });
  }

  get port(): number {
    return this.appliance.port;
  }

  request(method: string, target: string, options?: RequestOptions): Promise<Answer> {
    return send(this.appliance.port, method, target, options);
  }

  /** Makes an account with the groups (without prefix) and signs it in; the same groups give the same client. */
  as(...groups: string[]): Promise<Client> {
    const key = groups.join();
    let client = this.#clients.get(key);
    if (!client) this.#clients.set(key, (client = this.#makeClient(groups)));
    return client;
  }

  age(ms: number): void {
    this.#clock.age(ms);
  }

  async auditsOf(wanted: ReadonlySet<string>): Promise<ReadonlyMap<string, readonly AuditView[]>> {
    const found = new Map<string, AuditView[]>();
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await this.admin.get(`/api/v1/audit?limit=1000${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
      for (const record of body.items) {
        if (wanted.has(record.correlationID)) found.set(record.correlationID, [...(found.get(record.correlationID) ?? []), record]);
      }
      cursor = body.nextCursor;
    }
    return found;
  }

  /** Asks again until the answer is as wanted; a failure tells what was answered last. */
  async until(what: string, target: string, wanted: (body: Answer['body']) => boolean): Promise<Answer['body']> {
    let last = '';
    const look = async (): Promise<Answer['body']> => {
      const { body, text } = await this.admin.get(target);
      last = text;
      return body !== undefined && wanted(body) ? body : undefined;
    };
    return eventually(what, look, PATIENCE_MS, 20).catch((fault: Error) => {
      throw new Error(`${fault.message}; ${target} is ${last.slice(0, 2000)}`);
    });
  }

  async #commission(): Promise<void> {
    const username = 'first';
    this.firstAdmin = await this.request('POST', '/api/v1/auth/first-admin', { body: { code: this.appliance.commissioningCode, username, password: PASSWORD } });
    if (this.firstAdmin.status !== 201) throw new Error(`first-admin: ${this.firstAdmin.text}`);
    this.admin = await this.signIn(username);
    this.#clients.set('admin', Promise.resolve(this.admin));
    for (const name of UNITS) await this.until(`the runtime of ${name} is ready`, `${AT}/units/${name}`, (unit) => unit.runtimeReady);
    await eventually('the inputs are measured', async () => (await unmeasured((path) => this.admin.get(path))).length === 0, PATIENCE_MS, 20);
  }

  async #makeClient(groups: readonly string[]): Promise<Client> {
    const username = `walker-${this.#clients.size}`;
    const body = { username, password: PASSWORD, displayName: groups.join(' ') || 'nobody', groups: groups.map((group) => `lineside-${group}`), mustChangePassword: false };
    const made = await this.admin.post('/api/v1/auth/users', body);
    if (made.status !== 201) throw new Error(`user ${username}: ${made.text}`);
    return this.signIn(username);
  }

  async signIn(username: string): Promise<Client> {
    const { status, body, text } = await this.request('POST', '/api/v1/auth/login', { body: { username, password: PASSWORD } });
    if (status !== 200) throw new Error(`sign-in of ${username}: ${text}`);
    return clientOf(this, username, body.accessToken, body.sessionId);
  }
}
