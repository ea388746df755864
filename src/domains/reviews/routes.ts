/**
 * Periodic reviews (ADR 0131): of the audit trail of a time, and of who has which access. Who reviews signs the outcome with a meaning of its own;
 * what was reviewed is named so exactly that nobody can say later it was something else.
 */
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { conflict, invalid, missing, Refusal } from '../../platform/base/refusal.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { type Caller, mayVisit } from '../../platform/http/caller.js';
import { readInstant } from '../../platform/http/instant-field.js';
import { readLogQuery, readWord } from '../../platform/http/log-query.js';
import { LOG, parameters, word } from '../../platform/http/parameters.js';
import { logPage, type ToldBy } from '../../platform/http/replies.js';
import { created, type RequestContext, type Route, routesFor } from '../../platform/http/route.js';
import { timePage } from '../../platform/http/time-page.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import type { Put, Store } from '../../platform/store/store.js';
import { Site } from '../plant/kind.js';
import { freshness, proofOf } from '../signatures/freshness.js';
import { sign, type SigningKeys } from '../signatures/signature.js';
import { wordsOf } from '../signatures/state.js';
import { accessList, lastUses, type RightsOf } from './access-list.js';
import { DueReview, dueReviews, type ReviewIntervals } from './due.js';
import {
  AccessEntry,
  AccessList,
  KeyAccess,
  PanelAccess,
  PeriodicReview,
  REVIEW_OUTCOMES,
  REVIEW_TYPES,
  ReviewContent,
  type ReviewResource,
  type ReviewSpec,
  type TrailScope,
} from './kind.js';
import { REVIEW_CATEGORY, reviewProblems, toldOfReview } from './verify.js';

export interface ReviewDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly keys: SigningKeys;
  readonly queries: Pick<LedgerQueries, 'auditPage' | 'verify' | 'verifyArchives'>;
  readonly settings: ReviewIntervals;
  readonly rightsOf: RightsOf;
}

const PATH = '/api/v1/reviews';
const REMARKS_MAX = 4000;
const route = routesFor<ReviewDeps>();
const audit = { action: 'Sign', category: REVIEW_CATEGORY, target: () => ({ kind: PeriodicReview.kind, name: '', site: '' }) } as const;

const judgement = { outcome: v.picklist(REVIEW_OUTCOMES), remarks: v.pipe(v.string(), v.trim(), v.minLength(1, 'must say what was found'), v.maxLength(REMARKS_MAX)) };
const TrailReview = v.strictObject({ site: v.optional(v.string(), ''), from: v.string(), to: v.string(), ...judgement });
const AccessReview = v.strictObject({ digest: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be the 64 hex digits of the list that was reviewed')), ...judgement });

const ReviewItem = v.strictObject({
  id: v.string(),
  ...ReviewContent.entries,
  reviewedBy: v.strictObject({ accountId: v.string(), displayName: v.string() }),
  reviewedAt: v.string(),
  meaning: v.string(),
  signature: v.string(),
  /** Who, when, with which meaning and why, in one sentence. */
  words: v.string(),
});
type ReviewItem = ToldBy<typeof ReviewItem>;
const ReviewDetail = v.strictObject({
  ...ReviewItem.entries,
  /** Accounts, keys and panels as they were reviewed; null for whoever may not list accounts, and of a review of the trail. */
  list: v.nullable(AccessList),
  valid: v.boolean(),
  problems: v.array(v.string()),
  auditRecordRef: v.string(),
});

/** The list with what is told beside it. */
const AccessNow = v.strictObject({
  users: v.array(AccessEntry),
  apiKeys: v.array(v.strictObject({ ...KeyAccess.entries, lastUsedAt: v.nullable(v.string()) })),
  panels: v.array(v.strictObject({ ...PanelAccess.entries, lastContactAt: v.nullable(v.string()) })),
  digest: v.string(),
});

nameSchemas({ TrailReview, AccessReview, AccessNow, ReviewItem, ReviewDetail });

export const reviewRoutes: readonly Route<ReviewDeps>[] = [
  route({
    method: 'POST',
    path: `${PATH}/audit-trail`,
    action: 'review:audit-trail',
    tier: 'supervise',
    ...freshness,
    body: TrailReview,
    reply: { 201: ReviewItem },
    errors: { 400: ['unknown_reference'], 403: ['site_scope'] },
    summary: 'Sign the review of the audit trail of a time, of one site or of the whole appliance',
    audit,
    async handle(context, deps) {
      const { site, outcome, remarks } = context.body;
      requireScope(context.caller, site, deps.store);
      const [from, to] = [readInstant(context.body.from, 'from'), readInstant(context.body.to, 'to')];
      if (from >= to) throw invalid('invalid_field', 'to', 'to must be after from');
      if (to > deps.clock.wallMs()) throw invalid('invalid_field', 'to', 'to lies ahead: what has not happened yet is not reviewed');
      const trail = await trailScope(deps.queries, site, from, to);
      context.judgeAgain();
      requireScope(context.caller, site, deps.store);
      return signReview(context, deps, { type: 'audit-trail', outcome, remarks, trail });
    },
  }),
  route({
    method: 'GET',
    path: `${PATH}/user-access/list`,
    action: 'review:access-list',
    tier: 'admin',
    reply: AccessNow,
    summary: 'Who has which access now: accounts, API keys, panels; and the digest of that list, which its review names',
    handle: (_, deps) => accessNow(deps),
  }),
  route({
    method: 'POST',
    path: `${PATH}/user-access`,
    action: 'review:user-access',
    tier: 'admin',
    ...freshness,
    body: AccessReview,
    reply: { 201: ReviewItem },
    errors: { 403: ['site_scope'], 409: ['shown_digest_differs'] },
    summary: 'Sign the review of who has which access; with the digest of the list that was looked at, which is kept',
    audit,
    handle(context, deps) {
      requireScope(context.caller, '', deps.store);
      const { digest: shown, outcome, remarks } = context.body;
      const { list, digest } = accessList(deps.store, deps.rightsOf);
      if (shown !== digest)
        throw conflict('shown_digest_differs', `the access of users has the digest ${digest} now, and what was shown to you had ${shown}: look at it again`, {
          shown,
          present: digest,
        });
      const { users, apiKeys, panels } = list;
      const access = { users: users.length, apiKeys: apiKeys.length, panels: panels.length, digest };
      return signReview(context, deps, { type: 'user-access', outcome, remarks, access }, list);
    },
  }),
  route({
    method: 'GET',
    path: PATH,
    action: 'review:list',
    tier: 'supervise',
    query: parameters({ ...LOG, type: word(REVIEW_TYPES) }),
    reply: logPage(ReviewItem),
    summary: 'Periodic reviews, newest first; query type, from, to, order, limit, cursor',
    handle({ query, caller }, { store }) {
      const type = readWord(query, 'type', REVIEW_TYPES);
      const { fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY, ...paging } = readLogQuery(query);
      const entries = store
        .list(PeriodicReview)
        .filter((review) => isSeen(caller, review) && (type === undefined || review.spec.content.type === type))
        .map((review) => ({ atMs: Date.parse(review.spec.record.signedAt) || 0, name: review.metadata.name, item: itemOf(review) }))
        .filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
        .sort((a, b) => b.atMs - a.atMs || (a.name < b.name ? -1 : 1));
      const { items, nextCursor } = timePage('reviews', entries, paging);
      return { items: [...items], nextCursor };
    },
  }),
  route({
    method: 'GET',
    path: `${PATH}/{id}`,
    action: 'review:read',
    tier: 'supervise',
    reply: ReviewDetail,
    summary: 'One periodic review, whether it still is what was signed, and the list of users as it was',
    async handle({ params, caller }, { store, queries, keys }) {
      const review = store.get(PeriodicReview, '', params.id);
      if (!review || !isSeen(caller, review)) throw missing('review', params.id);
      const { told, unreadable } = await toldOfReview(queries, params.id);
      const problems = reviewProblems(review, told, unreadable, keys);
      const list = caller.may('user:list') ? (review.spec.list ?? null) : null;
      return { ...itemOf(review), list, valid: problems.length === 0, problems, auditRecordRef: told?.name ?? '' };
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/review-dates',
    action: 'review:dates',
    tier: 'supervise',
    reply: v.strictObject({ items: v.array(DueReview) }),
    summary: 'When each periodic review is due; empty where the settings `reviews.…` ask for none',
    handle: ({ caller }, { store, settings }) => ({ items: dueReviews(store, settings).filter(({ site }) => site === '' || mayVisit(caller, site)) }),
  }),
];

/** '' is the whole appliance: for whoever sees all sites. @throws Refusal 403, 400. */
function requireScope(caller: Caller, site: string, store: Store): void {
  if (site === '' ? caller.sites !== null : !mayVisit(caller, site)) {
    throw new Refusal('forbidden', site === '' ? 'the whole appliance is reviewed by who sees all sites: name a site' : `site ${site} is outside your scope`, {
      code: 'site_scope',
      site,
    });
  }
  if (site !== '' && !store.get(Site, '', site)) throw invalid('unknown_reference', 'site', `site ${site} does not exist`);
}

function isSeen(caller: Caller, { spec: { content } }: ReviewResource): boolean {
  const site = content.trail?.site ?? '';
  return site === '' ? caller.sites === null : mayVisit(caller, site);
}

function accessNow({ store, rightsOf }: ReviewDeps): ToldBy<typeof AccessNow> {
  const { list, digest } = accessList(store, rightsOf);
  const used = lastUses(store);
  return {
    users: list.users,
    apiKeys: list.apiKeys.map((key) => ({ ...key, lastUsedAt: used.apiKeys.get(key.name) ?? null })),
    panels: list.panels.map((panel) => ({ ...panel, lastContactAt: used.panels.get(panel.name) ?? null })),
    digest,
  };
}

/** How much of the chain was looked at, live and archived, and whether it holds at this moment. */
async function trailScope(queries: ReviewDeps['queries'], site: string, fromMs: number, toMs: number): Promise<TrailScope> {
  const before = await queries.auditPage({ toMs: fromMs, order: 'asc', limit: 1, ...(site === '' ? {} : { site }) });
  const [first, last] = await Promise.all([queries.auditPage({ fromMs, toMs, order: 'asc', limit: 1 }), queries.auditPage({ fromMs, toMs, order: 'desc', limit: 1 })]);
  const live = await queries.verify({ fromMs, toMs });
  const archived = live.archivedTo > 0 ? await queries.verifyArchives({ fromMs, toMs }) : undefined;
  return {
    site,
    from: timestamp(fromMs),
    to: timestamp(toMs),
    records: live.checked + (archived?.checked ?? 0),
    fromBegin: before.items.length === 0 && (before.unreadable ?? []).length === 0, // what nobody can read may be of before
    firstSequence: first.items[0]?.sequence ?? 0, // a file of the archive is verified whole, and may begin earlier
    lastSequence: last.items[0]?.sequence ?? 0,
    headHash: live.headHash,
    chainOk: live.problems.length === 0 && (archived?.problems.length ?? 0) === 0,
  };
}

async function signReview(
  context: Pick<RequestContext<unknown, unknown>, 'caller' | 'correlationID' | 'audit'>,
  { store, clock, keys }: ReviewDeps,
  content: ToldBy<typeof ReviewContent>,
  list?: AccessList,
) {
  const { caller, correlationID } = context;
  const id = randomUUID();
  const { trail, access, type, outcome, remarks } = content;
  const { record, digest } = sign(
    {
      meaning: `${type}-review`,
      signatory: caller,
      reason: remarks,
      signedAt: timestamp(clock.wallMs()),
      subject: { apiVersion: 'record.lineside.io/v1alpha1', kind: PeriodicReview.kind, namespace: '', name: id, revision: 1, digest: canonicalDigest(content) },
      content: { action: 'review', outcome, proof: proofOf(caller), ...(trail ? { trail } : {}), ...(access ? { access } : {}) },
    },
    keys,
  );
  const spec: ReviewSpec = { content, ...(list ? { list } : {}), record, digest, correlationID };
  const target = { kind: PeriodicReview.kind, name: id, site: '' };
  await store.write({
    puts: [{ kind: PeriodicReview, site: '', name: id, spec, status: { from: store.terms.now() } } as Put],
    audits: [
      context.audit({
        site: trail?.site ?? '',
        target,
        operatorReason: remarks,
        details: { type, outcome, ...(trail ?? {}), ...(access ?? {}) },
        signature: { ...record, digest },
      }),
    ],
  });
  return created(itemOf({ metadata: { name: id }, spec }), `${PATH}/${id}`);
}

function accessCounts(access: ReviewContent['access']): string {
  return `${access?.users ?? 0} accounts, ${access?.apiKeys ?? 0} API keys and ${access?.panels ?? 0} panels`;
}

/** What was looked at and what came of it, before who has signed that. */
function reviewed({ trail, access, outcome }: ReviewSpec['content']): string {
  const what = trail
    ? `audit trail of ${trail.site === '' ? 'the whole box' : `site ${trail.site}`} from ${trail.from} to ${trail.to} (${trail.records} records${trail.site === '' ? '' : ' of all sites'}, the chain ${trail.chainOk ? 'holds' : 'does not hold'})`
    : `access of ${accessCounts(access)}`;
  return `review of the ${what}: ${outcome}`;
}

function itemOf({ metadata: { name }, spec: { content, record, digest } }: Pick<ReviewResource, 'spec'> & { readonly metadata: { readonly name: string } }): ReviewItem {
  const { accountId, displayName } = record.signer;
  return {
    id: name,
    ...content,
    reviewedBy: { accountId, displayName },
    reviewedAt: record.signedAt,
    meaning: record.meaning,
    signature: digest,
    words: `${reviewed(content)}; ${wordsOf(record, 'Valid', '')}`,
  };
}
