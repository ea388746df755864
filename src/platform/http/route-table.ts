/**
 * The route table with what is derived from each row once: scope, fence, and what its audit records carry. The parts of the
 * gateway add their rows as they join; what is made of all rows (the action table of the roles, openapi.json) is asked
 * for when the table is whole.
 */
import { assert } from '../base/assert.js';
import { auditReason } from '../base/refusal.js';
import type { AuditAction } from '../store/audit-record.js';
import type { RowFacts } from './exchange.js';
import { listsOf, parametersOf } from './parameters.js';
import type { BoundRoute, Params, RouteColumns, RouteSet } from './route.js';
import { type Match, Router } from './router.js';

const FENCED_PREFIX = '/api/v1/mes/sites/{site}/';
const NAMESPACE_PREFIX = 'site-';

export class RouteTable {
  readonly #router = new Router();
  readonly #facts = new Map<BoundRoute, RowFacts>();
  #whole = false;

  constructor(sets: readonly RouteSet[] = []) {
    for (const set of sets) this.add(set);
  }

  add(set: RouteSet): void {
    for (const bound of set.routes) {
      assert(!this.#whole || bound.row.action === '-', `${bound.row.method} ${bound.row.path} comes after the table of actions was made`);
      this.#router.add(bound);
      this.#facts.set(bound, deriveFacts(bound));
    }
  }

  /** A page is meant also with a slash behind it, as people type addresses; the interface knows no such address. */
  match(path: string): Match {
    const match = this.#router.match(path);
    if (match.found !== 'nothing' || !path.endsWith('/') || path.startsWith('/api/')) return match;
    return this.#router.match(path.slice(0, -1));
  }

  /** The row that deletes a resource by its name, by its action; undefined where there is none. */
  deletes(action: string): BoundRoute | undefined {
    return this.#router.routes.find(({ row }) => row.method === 'DELETE' && row.action === action && row.path.endsWith('/{name}'));
  }

  factsOf(bound: BoundRoute): RowFacts {
    return this.#facts.get(bound) as RowFacts;
  }

  /** Every row. Whoever makes something of all of them has all: from then on only pages are added, which have no action. */
  get rows(): readonly RouteColumns[] {
    this.#whole = true;
    return this.#router.routes.map(({ row }) => row);
  }
}

/** `lineside routes`: one line per row, `method\tpath\taction\ttier`, sorted by path, then method. */
export function printRoutes(rows: readonly RouteColumns[]): string {
  const lines = rows.map(({ method, path, action, tier }) => ({ key: `${path}\t${method}`, line: [method, path, action, tier].join('\t') }));
  lines.sort((a, b) => (a.key < b.key ? -1 : 1));
  return lines.map(({ line }) => `${line}\n`).join('');
}

export function isFenced(row: RouteColumns): boolean {
  return row.path.startsWith(FENCED_PREFIX);
}

function deriveFacts(bound: BoundRoute): RowFacts {
  const { row } = bound;
  const siteOf = siteReader(row.path);
  const action = row.audit?.action ?? auditAction(row);
  const category = row.audit?.category ?? domainOf(row.action);
  const kind = auditReason(category.replace(/-/g, '_'));
  return {
    bound,
    mutating: row.method !== 'GET',
    siteOf: siteOf ?? (() => ''),
    scoped: siteOf !== undefined,
    fenced: isFenced(row),
    public: row.tier === 'none',
    api: row.path.startsWith('/api/'),
    parameters: Object.keys(parametersOf(row).entries),
    listParameters: listsOf(parametersOf(row)),
    strayParameters: strayParameters(row),
    draft: (params, site) => ({ action, category, target: row.audit?.target?.(params) ?? { kind, name: nameOf(params), site } }),
  };
}

/** Pages, assets and probes are asked for with what a browser or a monitor adds; the sign-in of another issuer comes back with its own. */
function strayParameters({ method, path }: RouteColumns): RowFacts['strayParameters'] {
  if (!path.startsWith('/api/v1/') || path === '/api/v1/auth/oidc/callback') return 'any';
  return method === 'GET' && path.startsWith('/api/v1/mes/') ? 'ignored' : 'refused';
}

/** Which parameter names a site: `{site}`, the name of a site itself, or a namespace `site-{name}`. */
function siteReader(path: string): ((params: Params) => string) | undefined {
  if (path.includes('{site}')) return ({ site }) => site as string; // the path names it
  if (path.startsWith('/api/v1/sites/{name}')) return ({ name }) => name as string;
  if (path.includes('{namespace}')) {
    return (params) => {
      const namespace = params.namespace as string;
      return namespace.startsWith(NAMESPACE_PREFIX) ? namespace.slice(NAMESPACE_PREFIX.length) : namespace;
    };
  }
  return undefined;
}

function auditAction(row: RouteColumns): AuditAction {
  const verb = row.action.split(':')[1];
  if (verb === 'create') return 'Create';
  if (verb === 'update' || row.method === 'PUT') return 'Update';
  if (verb === 'delete' || row.method === 'DELETE') return 'Delete';
  return 'Request';
}

/** The innermost thing the path names. */
function nameOf(params: Params): string {
  if (params.name !== undefined) return params.name;
  const last = Object.keys(params)
    .filter((name) => name !== 'site')
    .at(-1);
  return last === undefined ? '' : (params[last] ?? '');
}

/** `unit` of `unit:create`. */
export function domainOf(action: string): string {
  return action.split(':', 1)[0] as string; // a split has a first part
}
