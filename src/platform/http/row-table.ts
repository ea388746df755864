/** The route table with what is derived from each row once: scope, fence, and what its audit records carry. */
import { auditReason } from '../base/refusal.js';
import type { AuditAction } from '../store/audit-record.js';
import type { RowFacts } from './exchange.js';
import type { Route } from './route.js';
import { type BoundRoute, type Match, type Params, Router, type RouteSet } from './router.js';

const FENCED_PREFIX = '/api/v1/mes/sites/{site}/';
const NAMESPACE_PREFIX = 'site-';

export class RowTable {
  readonly #router: Router;
  readonly #facts = new Map<BoundRoute, RowFacts>();

  constructor(sets: readonly RouteSet[]) {
    this.#router = new Router(sets);
    for (const bound of this.#router.routes) this.#facts.set(bound, deriveFacts(bound));
  }

  match(path: string): Match {
    return this.#router.match(path);
  }

  factsOf(bound: BoundRoute): RowFacts {
    return this.#facts.get(bound) as RowFacts;
  }

  get rows(): readonly Route[] {
    return this.#router.routes.map(({ row }) => row);
  }
}

export function isFenced(row: Route): boolean {
  return row.path.startsWith(FENCED_PREFIX);
}

function deriveFacts(bound: BoundRoute): RowFacts {
  const { row } = bound;
  const siteOf = siteReader(row.path);
  const action = row.audit?.action ?? auditAction(row);
  const category = row.audit?.category ?? row.action.split(':')[0];
  const kind = auditReason(category.replace(/-/g, '_'));
  return {
    bound,
    mutating: row.method !== 'GET',
    siteOf: siteOf ?? (() => ''),
    scoped: siteOf !== undefined,
    fenced: isFenced(row),
    public: row.tier === 'none',
    api: row.path.startsWith('/api/'),
    draft: (params, site) => ({ action, category, target: row.audit?.target?.(params) ?? { kind, name: nameOf(params), site } }),
  };
}

/** Which parameter names a site: `{site}`, the name of a site itself, or a namespace `site-{name}`. */
function siteReader(path: string): ((params: Params) => string) | undefined {
  if (path.includes('{site}')) return (params) => params.site;
  if (path.startsWith('/api/v1/sites/{name}')) return (params) => params.name;
  if (path.includes('{namespace}')) {
    return ({ namespace }) => (namespace.startsWith(NAMESPACE_PREFIX) ? namespace.slice(NAMESPACE_PREFIX.length) : namespace);
  }
  return undefined;
}

function auditAction(row: Route): AuditAction {
  const verb = row.action.split(':')[1];
  if (verb === 'create') return 'Create';
  if (verb === 'update' || row.method === 'PUT') return 'Update';
  if (verb === 'delete' || row.method === 'DELETE') return 'Delete';
  return 'Request';
}

/** The innermost thing the path names. */
function nameOf(params: Params): string {
  if (params.name !== undefined) return params.name;
  const names = Object.keys(params).filter((name) => name !== 'site');
  return names.length === 0 ? '' : params[names[names.length - 1]];
}
