/** Batch records (contract 3, Batch record; decisions 8.1, 8.2, Q-RECIPE-28, Q-RECIPE-34 to 38). */
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { invalid } from '../../platform/base/refusal.js';
import { readChoice, readLogQuery } from '../../platform/http/log-query.js';
import { etagOf } from '../../platform/http/revision.js';
import { LOG, flag, parameters, text, word } from '../../platform/http/parameters.js';
import { logPage, type ToldBy } from '../../platform/http/replies.js';
import { created, ok, type Query, type Route, routesFor } from '../../platform/http/route.js';
import { timePage } from '../../platform/http/time-page.js';
import { longXmlReply } from '../../platform/http/xml.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import { absent } from '../../platform/store/absent.js';
import { refOf } from '../../platform/store/resource.js';
import type { Change, Put, Store } from '../../platform/store/store.js';
import { Batch } from '../batches/kind.js';
import { wholeOf } from '../batches/past-run.js';
import { holdsOf } from '../legal-holds/holds.js';
import { requireSite } from '../plant/kind.js';
import { ControlRecipe } from '../recipes/kind.js';
import { readSeries } from './batch-history.js';
import { batchProductionRecord, type RecordDocument } from './batchml.js';
import { ConsolidatedRecord, consolidatedRecord, historySpan, type RecordSources, signatureStates } from './consolidated.js';
import { RecordBody, recordBody, RecordItem, recordItem } from './dto.js';
import { executedElements } from './executed-elements.js';
import { BatchRecord, type BatchRecordStatus, RecordComment, type RecordResource, Review } from './kind.js';
import { compareRecord, refusalToSign, type Trail, trailOfRecord } from './open-records.js';
import { broughtBack, newestRecords, recordOf } from './past-records.js';
import { compareSealed, finalize, refuseSealed, refuseUnsettled, sealCheck } from './seal.js';
import { SealVerification, verifySeals } from './sealed-records.js';

export interface RecordRouteDeps extends RecordSources {
  readonly store: Store;
  readonly clock: Clock;
}

const COMMENT_LENGTH_MAX = 4000; // decisions Q-RECIPE-28
const PHASES = ['', 'Open', 'Reviewed', 'Finalized'] as const;
const PATH = '/api/v1/sites/{site}/batchrecords/{name}';
const route = routesFor<RecordRouteDeps>();

function requireRecord(store: Store, site: string, name: string): RecordResource {
  const record = store.get(BatchRecord, site, name);
  if (!record) throw absent(store, BatchRecord, site, name);
  return record;
}

/** Present again, where it was past, and read, judged and written in one turn: of two at once neither writes over the other. */
async function changeOpen<Told>(
  store: Store,
  { site, name }: { readonly site: string; readonly name: string },
  change: (record: RecordResource) => { readonly status: BatchRecordStatus; readonly audits: NonNullable<Change['audits']>; readonly told: Told },
): Promise<Told> {
  refuseSealed(requireRecord(store, site, name));
  await broughtBack(store, site, name);
  const record = requireRecord(store, site, name);
  refuseSealed(record);
  const { status, audits, told } = change(record);
  await store.write({ puts: [putStatus(record, status)], audits });
  return told;
}

const here = ({ site, name }: { readonly site: string; readonly name: string }, { store }: RecordRouteDeps): void => void requireRecord(store, site, name);
const target = ({ site, name }: { readonly site: string; readonly name: string }) => ({ kind: 'BatchRecord', name, site });

const RECORDS = { ...LOG, phase: word(PHASES), productID: text(), search: text('that number, order, lot, recipe or product holds') };
/** `total`: of all pages. */
const RecordPage = v.strictObject({ ...logPage(RecordItem).entries, total: v.number() });

export const recordRoutes: readonly Route<RecordRouteDeps>[] = [
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/batchrecords',
    action: 'batchrecord:list',
    tier: 'read',
    query: parameters(RECORDS),
    reply: RecordPage,
    summary: 'Batch records, the latest ended first; query search, phase, productID, from, to, order, limit, cursor',
    exists: ({ site }, { store }) => void requireSite(store, site),
    handle: ({ params, query }, { store }) => listRecords(store, params.site, query),
  }),
  route({
    method: 'GET',
    path: PATH,
    action: 'batchrecord:read',
    tier: 'read',
    reply: RecordBody,
    summary: 'One batch record; of a sealed one, whether it still is what was signed',
    past: recordOf,
    exists: here,
    handle: async ({ params }, { store, queries, keys }) => {
      const record = requireRecord(store, params.site, params.name);
      const { site, name } = params;
      const sealed = record.status.phase === 'Finalized';
      const trail = await trailOfRecord(queries, site, name);
      const seal = sealed ? sealCheck(compareSealed(record, trail, keys)) : undefined;
      const beside = { signatures: signatureStates(trail, { store, keys }), legalHolds: holdsOf(store, refOf(record)), ...(seal ? { seal } : {}) };
      const body = recordBody(record, beside);
      return ok(body, { ETag: etagOf(canonicalDigest(body)) }); // signatures and holds change what is told of it, and not the record
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/batchrecord-seals',
    action: 'batchrecord:verify',
    tier: 'supervise',
    reply: SealVerification,
    summary: 'Whether every record that was sealed is still there as it was signed',
    exists: ({ site }, { store }) => void requireSite(store, site),
    handle: ({ params }, { store, queries, keys, clock }) => verifySeals({ store, queries, keys }, params.site, timestamp(clock.wallMs())),
  }),
  route({
    method: 'POST',
    path: `${PATH}/finalize`,
    action: 'batchrecord:finalize',
    tier: 'supervise',
    summary: 'Sign and seal a batch record; nothing of it can be changed afterwards',
    reply: v.strictObject({ name: v.string(), phase: v.literal('Finalized'), actionBy: v.string(), actionAt: v.string(), reason: v.string(), signature: v.string() }),
    errors: { 409: ['record_sealed', 'record_not_settled', 'record_changed', 'evidence_mismatch', 'archive_unreadable'] },
    body: v.strictObject({ reason: v.optional(v.string(), '') }),
    reason: 'nonempty',
    freshToken: true,
    audit: { action: 'Sign', category: 'batch-record', target },
    past: recordOf,
    exists: here,
    handle: async ({ params, body, caller, audit }, { store, queries, clock, keys }) => {
      const { site, name } = params;
      let record = await requireSealable(store, queries, site, name);
      if (store.pastEntry(BatchRecord, site, name)) await broughtBack(store, site, name);
      while (record !== requireRecord(store, site, name)) record = await requireSealable(store, queries, site, name); // others may have been faster
      const at = timestamp(clock.wallMs());
      const { status, signature } = finalize(record, caller, body.reason, at, keys);
      await store.write({
        puts: [putStatus(record, status)],
        audits: [
          audit({
            target: target(params),
            operatorReason: body.reason,
            before: { phase: record.status.phase },
            after: { phase: status.phase, digest: status.digest },
            signature: { ...signature.record, digest: signature.digest },
          }),
        ],
      });
      return { name: params.name, phase: 'Finalized' as const, actionBy: caller.displayName, actionAt: at, reason: body.reason, signature: signature.digest };
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/review`,
    action: 'batchrecord:review',
    tier: 'supervise',
    summary: 'Accept or reject a batch record before it is sealed',
    reply: v.strictObject({ name: v.string(), phase: v.literal('Reviewed'), review: Review }),
    errors: { 409: ['record_sealed'] },
    body: v.strictObject({ outcome: v.picklist(['Accepted', 'Rejected']), comment: v.optional(v.pipe(v.string(), v.maxLength(COMMENT_LENGTH_MAX)), '') }),
    freshToken: true,
    audit: { action: 'Update', category: 'batch-record', target },
    past: recordOf,
    exists: here,
    handle: ({ params, body, caller, audit }, { store, clock }) =>
      changeOpen(store, params, (record) => {
        const review = { outcome: body.outcome, comment: body.comment, by: caller.displayName, at: timestamp(clock.wallMs()) };
        const status: BatchRecordStatus = { ...record.status, phase: 'Reviewed', review };
        const audits = [
          audit({ target: target(params), operatorReason: body.comment, before: { phase: record.status.phase }, after: { phase: status.phase }, details: { review } }),
        ];
        return { status, audits, told: { name: params.name, phase: 'Reviewed' as const, review } };
      }),
  }),
  route({
    method: 'POST',
    path: `${PATH}/comments`,
    action: 'batchrecord:comment',
    tier: 'supervise',
    summary: 'Comment on a batch record',
    reply: { 201: RecordComment },
    errors: { 409: ['record_sealed'] },
    body: v.strictObject({ text: v.pipe(v.string(), v.trim(), v.minLength(1, 'must not be empty'), v.maxLength(COMMENT_LENGTH_MAX)), reference: v.optional(v.string(), '') }),
    audit: { action: 'Update', category: 'batch-record', target },
    past: recordOf,
    exists: here,
    handle: async ({ params, body, caller, audit }, { store, clock }) => {
      const comment = await changeOpen(store, params, ({ status }) => {
        const told = { id: randomUUID(), text: body.text, reference: body.reference, by: caller.displayName, at: timestamp(clock.wallMs()) };
        return { status: { ...status, comments: [...status.comments, told] }, audits: [audit({ target: target(params), details: { comment: told } })], told };
      });
      return created(comment, `/api/v1/sites/${encodeURIComponent(params.site)}/batchrecords/${encodeURIComponent(params.name)}`);
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/batches/{name}/record',
    action: 'batch:record',
    tier: 'read',
    query: parameters({ historian: flag('with the recorded values; XML only') }),
    reply: ConsolidatedRecord,
    errors: { 422: ['too_many_samples'] },
    summary: 'Everything that is on record about a batch, also before its end',
    past: (params) => [...wholeOf(params), ...recordOf(params)],
    exists: ({ site, name }, { store }) => {
      if (store.get(Batch, site, name) || store.get(BatchRecord, site, name)) return;
      const noRecord = absent(store, BatchRecord, site, name);
      throw noRecord.context.code === 'unreadable_row' ? noRecord : absent(store, Batch, site, name);
    },
    formats: ['b2mml', 'xml', 'b2mml-mesa'],
    handle: async ({ params, query, format }, deps) => {
      const withHistory = readChoice(query, 'historian', ['false', 'true']) === 'true';
      const record = await consolidatedRecord(deps, params.site, params.name);
      if (format === 'json') return ok(record, { ETag: etagOf(record.integrity.digest) });
      return longXmlReply(batchProductionRecord(await documentOf(deps, params.site, record, withHistory)), format);
    },
  }),
];

/** As it is now, and as the audit trail tells of it. @throws Refusal 409. */
async function requireSealable(store: Store, queries: RecordRouteDeps['queries'], site: string, name: string): Promise<RecordResource> {
  refuseSealed(requireRecord(store, site, name));
  let record: RecordResource;
  let trail: Trail;
  do {
    record = requireRecord(store, site, name);
    trail = await trailOfRecord(queries, site, name);
  } while (record !== requireRecord(store, site, name)); // sealed meanwhile, or repaired
  refuseSealed(record);
  refuseUnsettled(record);
  const refusal = refusalToSign(record, compareRecord(record, trail), 'sealed');
  if (refusal) throw refusal;
  return record;
}

async function documentOf({ store, clock, history }: RecordRouteDeps, site: string, record: ConsolidatedRecord, withHistory: boolean): Promise<RecordDocument> {
  const { name } = record.batch;
  const resource = store.get(BatchRecord, site, name);
  return {
    record,
    resource,
    site,
    exportedAt: timestamp(clock.wallMs()),
    state: resource?.status.outcome ?? store.get(Batch, site, name)?.status.phase ?? '',
    controlRecipe: store.get(ControlRecipe, site, record.recipe.controlRecipe)?.spec,
    elements: executedElements(store, site, name, record.phaseHistory),
    series: withHistory && history ? await readSeries(history, historySpan(site, record)) : [],
  };
}

function putStatus({ metadata }: RecordResource, status: BatchRecordStatus): Put {
  return { kind: BatchRecord, site: metadata.site, name: metadata.name, status } as Put;
}

/** `from` and `to` bound the end of the batch. */
async function listRecords(store: Store, site: string, query: Query<keyof typeof RECORDS>): Promise<ToldBy<typeof RecordPage>> {
  const { fromMs, toMs, ...paging } = readLogQuery(query);
  if (fromMs !== undefined && toMs !== undefined && fromMs > toMs) throw invalid('invalid_query', 'to', 'to must not be before from');
  const question = { fromMs, toMs, phase: readChoice(query, 'phase', PHASES), productID: query.get('productID') ?? '', search: query.get('search') ?? '' };
  const found = await newestRecords(store, site, question);
  const { items, nextCursor } = timePage('batchrecords', found, paging);
  return { total: found.length, items: items.map((each) => recordItem(each, holdsOf(store, { kind: BatchRecord.kind, site, name: each.name }))), nextCursor };
}
