/**
 * Walks a route table on a running gateway and says which rows break a rule that holds for every row (contract 1, Errors;
 * decisions Q-ERR-06). A rule is one function over a row; what it returns is what was wrong.
 */
import { randomUUID } from 'node:crypto';
import { TIERS, type Tier } from '../../src/platform/http/tiers.js';
import type { RouteColumns } from '../../src/platform/http/route.js';
import type { Answer, Client, GatewayTest, RequestOptions } from './gateway.js';

/** What a walk needs of the gateway it runs on. */
export interface WalkTarget {
  readonly bodyBytesMax: number;
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** Somebody with these groups (without prefix), signed in; the same groups give the same client. */
  as(...groups: string[]): Promise<Client>;
  /** Moves the wall clock on. */
  age(ms: number): void;
  /** Audit records of these requests, by correlation id. */
  auditsOf(correlationIDs: ReadonlySet<string>): Promise<ReadonlyMap<string, readonly AuditView[]>>;
}

export interface AuditView {
  readonly correlationID: string;
  readonly result: string;
  readonly reason?: string;
}

export function targetOf(test: GatewayTest): WalkTarget {
  return {
    bodyBytesMax: test.settings.bodyBytesMax,
    request: test.request,
    as: test.as,
    age: (ms) => test.clock.advance(ms),
    async auditsOf() {
      const found = new Map<string, AuditView[]>();
      for (const audit of test.audits) found.set(audit.correlationID, [...(found.get(audit.correlationID) ?? []), audit as AuditView]);
      return found;
    },
  };
}

export interface WalkOptions {
  readonly test: WalkTarget;
  readonly rows: readonly RouteColumns[];
  /** A site that exists, and one it is not. */
  readonly site: string;
  readonly foreignSite: string;
  /** Path parameters of resources that exist, so that the walk gets past the existence step; `x` where it has none. */
  readonly params?: (row: RouteColumns) => Readonly<Record<string, string>> | undefined;
  /** Query without which the row refuses before it looks at the syntax of the body. */
  readonly query?: (row: RouteColumns) => string | undefined;
  /** Rows whose body takes any member (generic apply). */
  readonly freeBody?: (row: RouteColumns) => boolean;
}

export interface WalkResult {
  /** Rule -> rows that break it. */
  readonly broken: ReadonlyMap<string, readonly string[]>;
  /** Rule -> how many rows it was tried on. */
  readonly tried: ReadonlyMap<string, number>;
  /** Rows whose body rules could not be tried because the resource of the path does not exist. */
  readonly unreached: readonly string[];
}

const GROUP_OF: Readonly<Record<Tier, string>> = {
  read: 'viewer',
  operate: 'operator',
  'operate-lead': 'lead-operator',
  engineer: 'engineer',
  supervise: 'supervisor',
  admin: 'admin',
};

type Rule = (walk: Walk, row: RouteColumns) => Promise<string | undefined | 'skip'>;

export async function walkRoutes(options: WalkOptions): Promise<WalkResult> {
  const walk = new Walk(options);
  await walk.prepare();
  const broken = new Map<string, string[]>();
  const tried = new Map<string, number>();
  for (const row of options.rows) {
    if (!row.path.startsWith('/api/')) continue;
    for (const [name, rule] of Object.entries(RULES)) {
      const wrong = await rule(walk, row);
      if (wrong === 'skip') continue;
      tried.set(name, (tried.get(name) ?? 0) + 1);
      if (wrong !== undefined) broken.set(name, [...(broken.get(name) ?? []), `${row.method} ${row.path}: ${wrong}`]);
    }
  }
  const unrecorded = await walk.unrecordedRefusals();
  tried.set(AUDITED, walk.refusals.size);
  if (unrecorded.length > 0) broken.set(AUDITED, unrecorded);
  return { broken, tried, unreached: [...walk.unreached] };
}

const AUDITED = 'D-AUDIT-02: a refused write is on record';

class Walk {
  readonly options: WalkOptions;
  readonly unreached = new Set<string>();
  /** Refusals that must be on record: correlation id -> row and reason. */
  readonly refusals = new Map<string, { readonly row: string; readonly reason: string }>();
  key = '';
  nobody!: Client;
  confined!: Client;
  admin!: Client;
  usedNonce = '';

  constructor(options: WalkOptions) {
    this.options = options;
  }

  async prepare(): Promise<void> {
    const { test, site, foreignSite } = this.options;
    this.admin = await test.as('admin');
    this.nobody = await test.as(); // no group at all
    this.confined = await test.as('supervisor', `site-${foreignSite}`);
    this.key = (await this.admin.post('/api/v1/mes/apikeys', { name: `walk-${randomUUID().slice(0, 8)}`, site })).body.key;
    this.usedNonce = randomUUID();
    await this.admin.post('/api/v1/mes/apikeys', {}, { nonce: this.usedNonce });
  }

  path(row: RouteColumns): string {
    const params: Record<string, string> = { site: this.options.site, namespace: `site-${this.options.site}`, ...this.options.params?.(row) };
    if (row.path.startsWith('/api/v1/sites/{name}')) params.name = this.options.site;
    return row.path.replace(/\{(\w+)(?:\.\.\.)?\}/g, (_: string, name: string) => encodeURIComponent(params[name] ?? 'x'));
  }

  send(row: RouteColumns, more: RequestOptions, query?: string): Promise<Answer> {
    return this.options.test.request(row.method, query === undefined ? this.path(row) : `${this.path(row)}?${query}`, more);
  }

  /** A refusal that must be found in the audit trail when the walk is over. */
  recordRefusal(row: RouteColumns, answer: Answer, reason: string): void {
    if (row.method === 'GET' || row.computes) return;
    this.refusals.set(String(answer.headers['x-correlation-id']), { row: `${row.method} ${row.path}`, reason });
  }

  async unrecordedRefusals(): Promise<string[]> {
    const found = await this.options.test.auditsOf(new Set(this.refusals.keys()));
    return [...this.refusals].flatMap(([id, { row, reason }]) => {
      const results = (found.get(id) ?? []).map((record) => `${record.result} ${record.reason}`);
      return results.includes(`Rejected ${reason}`) ? [] : [`${row}: no record Rejected ${reason}, only [${results.join(', ')}]`];
    });
  }

  /** As somebody who may do it: an administrator with a fresh token; a key where only a key may. */
  sendAllowed(row: RouteColumns, more: RequestOptions, query?: string): Promise<Answer> {
    return this.send(row, { ...(row.tier === 'none' ? {} : row.apiKey === 'only' ? { key: this.key } : { token: this.admin.token }), ...more }, query);
  }

  /** A body rule needs a row that takes a body and a resource that exists. */
  async tryBody(row: RouteColumns, more: RequestOptions): Promise<Answer | undefined> {
    if (row.method === 'GET' || row.bodyMedia) return undefined;
    const answer = await this.sendAllowed(row, more, this.options.query?.(row));
    if (answer.status !== 404) return answer;
    this.unreached.add(`${row.method} ${row.path}`);
    return undefined;
  }
}

function isFenced(row: RouteColumns): boolean {
  return row.path.startsWith('/api/v1/mes/sites/{site}/');
}

function namesSite(row: RouteColumns): boolean {
  return row.path.includes('{site}') || row.path.includes('{namespace}') || row.path.startsWith('/api/v1/sites/{name}');
}

function expect(answer: Answer, status: number, body: { code?: string; error?: string } = {}): string | undefined {
  if (answer.status !== status) return `${answer.status} instead of ${status}: ${answer.text.slice(0, 120)}`;
  if (body.code !== undefined && answer.body?.code !== body.code) return `code ${answer.body?.code} instead of ${body.code}`;
  if (body.error !== undefined && answer.body?.error !== body.error) return `error ${answer.body?.error}`;
  if (status >= 400 && (typeof answer.body?.error !== 'string' || answer.body.status !== status)) return `not an error body: ${answer.text.slice(0, 120)}`;
  return answer.headers['x-correlation-id'] ? undefined : 'no X-Correlation-ID';
}

const RULES: Readonly<Record<string, Rule>> = {
  'AUTH-26: no credential is 401, before the nonce': async (walk, row) => {
    if (row.tier === 'none') return 'skip';
    return expect(await walk.send(row, { nonce: null }), 401, { code: 'unauthenticated' });
  },
  'AUTH-08: an API key outside its fence is 403, before the nonce': async (walk, row) => {
    if (isFenced(row)) return 'skip';
    const answer = await walk.send(row, { key: walk.key, nonce: null });
    walk.recordRefusal(row, answer, 'ApiKeyFence');
    return expect(answer, 403, { code: 'api_key_fence' });
  },
  'AUTH-22: a foreign site is 403, before the nonce': async (walk, row) => {
    if (row.tier === 'none' || !namesSite(row)) return 'skip';
    const answer = await walk.send(row, { token: walk.confined.token, nonce: null });
    walk.recordRefusal(row, answer, 'SiteScope');
    return expect(answer, 403, { code: 'site_scope' });
  },
  'NONCE-05: a missing nonce is 400, before permission and body': async (walk, row) => {
    if (row.method === 'GET') return 'skip';
    return expect(await walk.send(row, { ...(row.tier === 'none' ? {} : { token: walk.nobody.token }), nonce: null, raw: '{broken' }), 400, {
      error: 'missing required X-DCS-Nonce header',
    });
  },
  'NONCE-06: a used nonce is 409, before permission and body': async (walk, row) => {
    if (row.method === 'GET') return 'skip';
    return expect(await walk.send(row, { ...(row.tier === 'none' ? {} : { token: walk.nobody.token }), nonce: walk.usedNonce, raw: '{broken' }), 409, {
      error: 'duplicate request nonce',
    });
  },
  'AUTH-37: a caller without the action is 403, before freshness, existence and body': async (walk, row) => {
    if (row.tier === 'none' || row.tier === 'self') return 'skip';
    const below = row.tier === 'custom' ? undefined : TIERS[TIERS.indexOf(row.tier) - 1];
    const client = below === undefined ? walk.nobody : await walk.options.test.as(GROUP_OF[below]);
    const answer = await walk.send(row, { token: client.token, ...(row.method === 'GET' ? {} : { raw: '{broken' }) });
    walk.recordRefusal(row, answer, 'ActionMissing');
    return expect(answer, 403, { code: 'action_missing' });
  },
  'ERR-06: broken JSON is 400': async (walk, row) => {
    const answer = await walk.tryBody(row, { raw: '{broken' });
    if (!answer) return 'skip';
    walk.recordRefusal(row, answer, 'InvalidJson');
    return expect(answer, 400, { code: 'invalid_json' });
  },
  'ERR-06: an unknown field is 400 naming it': async (walk, row) => {
    if (walk.options.freeBody?.(row)) return 'skip';
    const answer = await walk.tryBody(row, { body: { noSuchField: 1 } });
    if (!answer) return 'skip';
    return expect(answer, 400, { code: 'unknown_field' }) ?? (answer.body.field === 'noSuchField' ? undefined : `field ${answer.body.field}`);
  },
  'Q-MES-06: a wrong query is refused after the media type': async (walk, row) => {
    if (row.queryRule === undefined) return 'skip';
    const query = await walk.sendAllowed(row, { raw: '{broken' });
    const media = await walk.sendAllowed(row, { raw: '{broken', headers: { 'Content-Type': 'text/plain' } });
    return expect(query, 400, { code: 'invalid_query' }) ?? expect(media, 415, { code: 'unsupported_media_type' });
  },
  'Q-ERR-08: another media type is 415, before the syntax': async (walk, row) => {
    const answer = await walk.tryBody(row, { raw: '{broken', headers: { 'Content-Type': 'text/plain' } });
    return answer ? expect(answer, 415, { code: 'unsupported_media_type' }) : 'skip';
  },
  'Q-ERR-07: too large a body is 413, before the media type': async (walk, row) => {
    if (row.bodyBytesMax !== undefined) return 'skip';
    const { bodyBytesMax } = walk.options.test;
    if (bodyBytesMax > 100_000) return 'skip';
    const answer = await walk.tryBody(row, { raw: 'x'.repeat(bodyBytesMax + 1), headers: { 'Content-Type': 'text/plain' } });
    return answer ? expect(answer, 413, { code: 'payload_too_large' }) : 'skip';
  },
};

/** AUTH-24, AUTH-25, Q-ERR-06: run after the token of the walker has aged; existence and body do not matter. */
export async function walkFreshToken({ test, rows, site, params }: WalkOptions): Promise<string[]> {
  const admin = await test.as('admin');
  test.age(300_001);
  const wrong: string[] = [];
  for (const row of rows) {
    if (row.freshToken !== true) continue;
    const walk = new Walk({ test, rows, site, foreignSite: '', ...(params ? { params } : {}) });
    const answer = await walk.send(row, { token: admin.token, raw: '{broken' });
    const problem = expect(answer, 401, { code: 'reauthentication_required' });
    if (problem) wrong.push(`${row.method} ${row.path}: ${problem}`);
  }
  return wrong;
}
