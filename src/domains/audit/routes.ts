/** The audit trail (contract 2, Tags and audit; contract 3, Additional routes; decisions Q-TAG-16, Q-AUTH-14). Nothing here writes. */
import { auditSequence } from '../../platform/base/audit-name.js';
import { invalid, missing } from '../../platform/base/refusal.js';
import { readLogQuery, readTime } from '../../platform/http/log-query.js';
import { ok, type Query, rendered, type Route, routesFor } from '../../platform/http/route.js';
import type { AuditFilter } from '../../platform/ledger/audit-filter.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';

export interface AuditRouteDeps {
  readonly queries: Pick<LedgerQueries, 'auditPageJson' | 'auditRecord' | 'auditOf' | 'verify'>;
}

const FILTERS = ['action', 'category', 'result', 'kind', 'name', 'accountId', 'correlationID'] as const;
const TEXT_LENGTH_MAX = 200;
const route = routesFor<AuditRouteDeps>();

export const AUDIT_ROUTES: readonly Route<AuditRouteDeps>[] = [
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/audit',
    action: 'audit:read',
    tier: 'read',
    summary: 'Audit trail of a site, newest first; query from, to, action, category, result, kind, name, accountId, correlationID, q (text in a record), order, limit, cursor',
    reply: '{items: AuditRecord[], nextCursor}',
    handle: async ({ params, query }, { queries }) => rendered(await queries.auditPageJson({ ...filterOf(query), ...readLogQuery(query), site: params.site })),
  }),
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/audit/correlation/{correlationID}',
    action: 'audit:read-correlation',
    tier: 'read',
    summary: 'Everything that one request brought about, oldest first',
    reply: 'AuditRecord[]',
    handle: async ({ params }, { queries }) => ok(await queries.auditOf({ site: params.site, targets: [], correlationIDs: [params.correlationID] })),
  }),
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/audit/{name}',
    action: 'audit:read',
    tier: 'read',
    summary: 'One audit record',
    reply: 'AuditRecord',
    async handle({ params }, { queries }) {
      const sequence = auditSequence(params.name);
      const record = sequence === undefined ? undefined : await queries.auditRecord(sequence, { site: params.site });
      if (!record) throw missing('AuditRecord', params.name);
      return ok(record);
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/audit',
    action: 'audit:list',
    tier: 'read',
    summary: 'Audit trail of the plant, newest first; query as for a site, and site',
    reply: '{items: AuditRecord[], nextCursor}',
    async handle({ query, caller }, { queries }) {
      const site = query.get('site');
      return rendered(await queries.auditPageJson({ ...filterOf(query), ...readLogQuery(query), ...(site ? { site } : {}), sites: caller.sites }));
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/audit/verify',
    action: 'audit:verify',
    tier: 'supervise',
    summary: 'Recomputes the audit chain',
    reply: '{ok, checked, firstSequence, lastSequence, headHash, checkedAt, problems}',
    async handle({ query }, { queries }) {
      const fromMs = readTime(query, 'from');
      const toMs = readTime(query, 'to');
      return ok(await queries.verify({ ...(fromMs === undefined ? {} : { fromMs }), ...(toMs === undefined ? {} : { toMs }) }));
    },
  }),
];

/** @throws Refusal `invalid_query` for a text that is longer than any in a record need be. */
function filterOf(query: Query): AuditFilter {
  const text = query.get('q') ?? '';
  if (text.length > TEXT_LENGTH_MAX) throw invalid('invalid_query', 'q', `q must be a text of up to ${TEXT_LENGTH_MAX} characters`);
  return { ...Object.fromEntries(FILTERS.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : []))), ...(text === '' ? {} : { text }) };
}
