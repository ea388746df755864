/** The audit trail (contract 2, Audit; contract 3, Additional routes; decisions Q-TAG-16, Q-AUTH-14). Nothing here changes a record. */
import { type Clock, timestamp } from '../../platform/base/clock.js';
import type { WallMs } from '../../platform/base/times.js';
import * as v from 'valibot';
import { auditSequence } from '../../platform/base/audit-name.js';
import { invalid, missing, Refusal } from '../../platform/base/refusal.js';
import { readLimit, readLogQuery, readTime, readWord } from '../../platform/http/log-query.js';
import { listReply } from '../../platform/http/paged-list.js';
import { LIST, LOG, instant, parameters, text, word } from '../../platform/http/parameters.js';
import { type Entry, timePage } from '../../platform/http/time-page.js';
import { factPage } from '../../platform/http/replies.js';
import { type Query, rendered, type Route, routesFor, streamed } from '../../platform/http/route.js';
import type { AuditFilter } from '../../platform/ledger/audit-filter.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import { AUDIT_ACTIONS, AUDIT_RESULTS } from '../../platform/store/audit-record.js';
import type { Store } from '../../platform/store/store.js';
import type { AuditAnchors } from './anchors.js';
import { type ArchiveIntegrity, INTEGRITY_KIND, INTEGRITY_STREAM } from './archive-integrity.js';
import { auditBackup, NDJSON } from './backup.js';
import { ArchivedVerification, ArchiveRun, AuditPage, AuditRecordBody, Gaps, GapsPage, PublicKey, VerificationBody } from './bodies.js';
import { type AuditGaps, GAP_KIND } from './gaps.js';
import type { SigningKeys } from '../signatures/signature.js';

export interface AuditRouteDeps {
  readonly store: Pick<Store, 'accepting' | 'write' | 'auditSequence'>;
  readonly queries: Pick<LedgerQueries, 'auditPageJson' | 'auditRecord' | 'auditOf' | 'verify' | 'verifyArchives' | 'factPageJson' | 'auditLines' | 'missingArchives'>;
  readonly integrity: ArchiveIntegrity;
  readonly anchors: Pick<AuditAnchors, 'check'>;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly keys: Pick<SigningKeys, 'privateKey' | 'publicKey' | 'kid'>;
  readonly gaps: Pick<AuditGaps, 'all' | 'acknowledge'>;
}

const FILTERS = ['category', 'kind', 'name', 'accountId', 'correlationID'] as const;
const TEXT_LENGTH_MAX = 200;
const GAPS_LENGTH_MAX = 1000;
const RANGE = { from: instant(), to: instant() };
const TRAIL = {
  ...LOG,
  action: word(AUDIT_ACTIONS),
  result: word(AUDIT_RESULTS),
  category: text(),
  kind: text(),
  name: text(),
  accountId: text(),
  correlationID: text(),
  q: text('text in a record'),
};
const route = routesFor<AuditRouteDeps>();

export const AUDIT_ROUTES: readonly Route<AuditRouteDeps>[] = [
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/audit',
    action: 'audit:read',
    tier: 'read',
    query: parameters(TRAIL),
    summary: 'Audit trail of a site, newest first; query from, to, action, category, result, kind, name, accountId, correlationID, q (text in a record), order, limit, cursor',
    reply: AuditPage,
    handle: async ({ params, query }, { queries }) => rendered(await queries.auditPageJson({ ...filterOf(query), ...readLogQuery(query), site: params.site })),
  }),
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/audit/correlation/{correlationID}',
    action: 'audit:read-correlation',
    tier: 'read',
    query: parameters(LIST),
    summary: 'Everything that one request brought about, oldest first; query limit, cursor',
    reply: v.array(AuditRecordBody),
    handle: async (context, { queries }) => {
      const { site, correlationID } = context.params;
      const { items } = await queries.auditOf({ site, targets: [], correlationIDs: [correlationID] });
      return listReply(context, { list: 'correlation', items, keyOf: ({ sequence }) => [sequence], render: (record: AuditRecordBody) => record });
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/audit/{name}',
    action: 'audit:read',
    tier: 'read',
    summary: 'One audit record',
    reply: AuditRecordBody,
    errors: { 404: ['archive_unreadable'] },
    async handle({ params }, { queries }): Promise<AuditRecordBody> {
      const sequence = auditSequence(params.name);
      const record = sequence === undefined ? undefined : await queries.auditRecord(sequence, { site: params.site });
      if (!record) throw missing('AuditRecord', params.name);
      return record;
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/audit',
    action: 'audit:list',
    tier: 'read',
    query: parameters({ ...TRAIL, site: text() }),
    summary: 'Audit trail of the plant, newest first; query as for a site, and site',
    reply: AuditPage,
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
    query: parameters(RANGE),
    summary: 'Recomputes the chain of the live trail; archivedTo says where it begins',
    reply: VerificationBody,
    handle: async ({ query }, { queries, anchors: kept }): Promise<VerificationBody> => {
      const verification = await queries.verify(rangeOf(query));
      const anchors = await kept.check();
      return { ...verification, ok: verification.ok && anchors.problems.length === 0, anchors };
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/audit/gaps',
    action: 'audit:list-gaps',
    tier: 'supervise',
    query: parameters(LIST),
    summary: 'What starts found wrong with the stored past, acknowledged or not; oldest first; query limit, cursor',
    reply: GapsPage,
    handle: ({ query }, { gaps }): GapsPage => gapsPage(gaps.all, query),
  }),
  route({
    method: 'POST',
    path: '/api/v1/audit/gaps/acknowledge',
    action: 'audit:acknowledge-gaps',
    tier: 'admin',
    freshToken: true,
    reason: 'policy',
    body: v.strictObject({ reason: v.string() }),
    audit: { action: 'Sign', category: 'storage', target: () => ({ kind: GAP_KIND, name: '', site: '' }) },
    summary: 'Acknowledges, with a signature, what starts found wrong with the stored past; it stays in every verification',
    reply: Gaps,
    errors: { 409: ['no_gap'] },
    handle: async ({ body, caller, audit }, { gaps }): Promise<Gaps> => ({ items: await gaps.acknowledge(caller, body.reason.trim(), audit) }),
  }),
  route({
    method: 'GET',
    path: '/api/v1/audit/verify-archived',
    action: 'audit:verify-archived',
    tier: 'supervise',
    query: parameters(RANGE),
    summary: 'Recomputes the chain in the files of the archive, and its links to the live trail; with from or to the files that hold such records',
    reply: ArchivedVerification,
    async handle({ query }, { queries }): Promise<ArchivedVerification> {
      const { archives: _, ...verification } = await queries.verifyArchives(rangeOf(query));
      return verification;
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/audit/archive-integrity/latest',
    action: 'audit:archive-integrity-latest',
    tier: 'read',
    summary: 'What the last integrity run over the archive found',
    reply: ArchiveRun,
    errors: { 404: ['not_found'] },
    async handle(_, { integrity }): Promise<ArchiveRun> {
      const run = await integrity.latest();
      if (!run) throw new Refusal('missing', 'there was no integrity run over the audit archive yet', { code: 'not_found' });
      return run;
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/audit/archive-integrity/history',
    action: 'audit:archive-integrity-history',
    tier: 'read',
    query: parameters(LOG),
    summary: 'Integrity runs, newest first; query from, to (of their start), order, limit, cursor',
    reply: factPage(ArchiveRun),
    handle: async ({ query }, { queries }) => rendered(await queries.factPageJson(INTEGRITY_STREAM, { ...readLogQuery(query), timeMember: 'startedAt' })),
  }),
  route({
    method: 'POST',
    path: '/api/v1/audit/archive-integrity/run',
    action: 'audit:run-archive-integrity',
    tier: 'admin',
    audit: { action: 'Execute', category: 'audit-archive', target: () => ({ kind: INTEGRITY_KIND, name: '', site: '' }) },
    summary: 'Checks every file of the archive and keeps the result; one at a time',
    reply: ArchiveRun,
    errors: { 409: ['already_running'] },
    handle: ({ audit }, { integrity }): Promise<ArchiveRun> => integrity.run(audit),
  }),
  route({
    method: 'GET',
    path: '/api/v1/audit/key',
    action: 'audit:read-key',
    tier: 'read',
    summary: 'The public key with which the appliance signs exports of the audit trail, for whoever verifies one elsewhere',
    reply: PublicKey,
    handle: (_, { keys }) => ({ keyId: keys.kid, algorithm: 'Ed25519', publicKey: String(keys.publicKey.export({ type: 'spki', format: 'pem' })) }) as const,
  }),
  route({
    method: 'GET',
    path: '/api/v1/backup/audit',
    action: 'backup:audit',
    tier: 'admin',
    query: parameters(RANGE),
    audit: { action: 'Execute', category: 'backup', target: () => ({ kind: 'AuditTrail', name: '*', site: '' }) },
    summary: 'The audit trail as NDJSON with mac and keyId, oldest first, and a last line {trailer, records, headHash, sha256, … signature}; query from, to',
    reply: 'AuditRecord with mac and keyId, one a line',
    media: [NDJSON],
    errors: { 404: ['archive_unreadable'] },
    async handle({ query, audit }, { queries, store, keys, clock }) {
      const range = rangeOf(query);
      const [file] = await queries.missingArchives(range);
      if (file !== undefined) {
        const message = `${file} is not in the archive folder or cannot be read; put it back, or ask for other times`;
        throw new Refusal('missing', message, { code: 'archive_unreadable', file });
      }
      // that all of it was read is on record, in the copy too; while the storage refuses changes a copy is wanted all the more
      if (store.accepting) await store.write({ audits: [audit({ details: { ...timesOf(query) } })] });
      const headers = { 'Content-Disposition': 'attachment; filename="audit.ndjson"' };
      const seal = { ...keys, exportedAt: timestamp(clock.wallMs()) };
      return streamed(auditBackup(queries, { ...range, last: store.auditSequence }, seal), NDJSON, headers);
    },
  }),
];

/** As they were asked for. */
function timesOf(query: Query<keyof typeof RANGE>): { readonly from?: string | undefined; readonly to?: string | undefined } {
  return { from: query.get('from'), to: query.get('to') };
}

function rangeOf(query: Query<keyof typeof RANGE>): { readonly fromMs?: WallMs; readonly toMs?: WallMs } {
  const fromMs = readTime(query, 'from');
  const toMs = readTime(query, 'to');
  return { ...(fromMs === undefined ? {} : { fromMs }), ...(toMs === undefined ? {} : { toMs }) };
}

/** @throws Refusal `invalid_query` for an action or a result there is not, and for a text that is longer than any in a record need be. */
function filterOf(query: Query<keyof typeof TRAIL>): AuditFilter {
  const text = query.get('q') ?? '';
  if (text.length > TEXT_LENGTH_MAX) throw invalid('invalid_query', 'q', `q must be a text of up to ${TEXT_LENGTH_MAX} characters`);
  // of a word that is none an empty list would say that nothing of the kind happened
  const action = readWord(query, 'action', AUDIT_ACTIONS);
  const result = readWord(query, 'result', AUDIT_RESULTS);
  return {
    ...Object.fromEntries(FILTERS.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : []))),
    ...(action && { action }),
    ...(result && { result }),
    ...(text !== '' && { text }),
  };
}

/**
 * Whole without `limit` and `cursor`, as the lists of resources are, and then as they were noted. A page is of those sorted by time and
 * id: a clock that was set back, or the list that could not be read and has no time, stand elsewhere in the notes.
 */
function gapsPage(all: AuditGaps['all'], query: Query<'limit' | 'cursor'>): GapsPage {
  const cursor = query.get('cursor') ?? '';
  if (cursor === '' && (query.get('limit') ?? '') === '') return { items: all };
  const entries = all
    .map((gap): Entry<(typeof all)[number]> => ({ atMs: Date.parse(gap.foundAt) || 0, name: gap.id, item: gap }))
    .sort((a, b) => b.atMs - a.atMs || (a.name < b.name ? -1 : 1));
  return timePage('audit-gaps', entries, { order: 'asc', limit: readLimit(query, GAPS_LENGTH_MAX), ...(cursor === '' ? {} : { cursor }) });
}
