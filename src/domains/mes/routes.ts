/** The MES interface (contract 1, MES; decisions Q-MES-01 to Q-MES-30): plant and production in ISA-95 terms, as JSON or B2MML. */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { conflict, invalid, missing } from '../../platform/base/refusal.js';
import { made, type Sorted } from '../../platform/base/sorted.js';
import { readChoice, readLimit, readTime } from '../../platform/http/log-query.js';
import { eachOf, listPage } from '../../platform/http/paged-list.js';
import { etagOf } from '../../platform/http/revision.js';
import { instant, parameters, required, text, whole, word } from '../../platform/http/parameters.js';
import { created, done, ok, type Query, type Reply, type RequestContext, type Route, routesFor } from '../../platform/http/route.js';
import { type XmlElement, type XmlFormat, xmlReply } from '../../platform/http/xml.js';
import { type Entry, timePage } from '../../platform/http/time-page.js';
import { absent } from '../../platform/store/absent.js';
import { pastRows } from '../../platform/store/past-rows.js';
import type { Put, Store } from '../../platform/store/store.js';
import { checkTexts } from '../../platform/store/texts.js';
import { workOrderBatchName } from '../batches/creation/creation.js';
import { Batch, FINAL_BATCH_STATES, msOf } from '../batches/kind.js';
import { batchOf } from '../batches/past-run.js';
import { newestBatches } from '../batches/reading/list.js';
import { requirePhase } from '../commands/prompt-response.js';
import { requireSite, Unit } from '../plant/kind.js';
import { MasterRecipe } from '../recipes/kind.js';
import type { RecordSources } from '../records/consolidated.js';
import { type ListedRecord, newestRecords, readRecord, requireStored } from '../records/past-records.js';
import type { UnitRuntimes } from '../placement/runtimes.js';
import { type Envelope, pendingResultsXml, productDefinitionsXml, productionCapabilityXml, productionPerformanceXml, productionScheduleXml } from './b2mml.js';
import {
  EquipmentStatus,
  equipmentStatus,
  ProductDefinition,
  productDefinition,
  ProductionCapability,
  productionCapability,
  ProductionSummary,
  productionSummary,
  WorkOrder,
  workOrder,
  workOrderWithStatus,
} from './dto.js';
import { Delivered, DeliveryBody, deliverResult, PendingResult, pendingResults } from './external-results.js';
import { listedContent, type ProductionContent, productionContent, ProductionRecord, productionRecord, requireProductionRecord } from './performance.js';
import { batchSpecOf } from './rules.js';
import { type BatchResource, checkOrder, completed, findOrder, isLocal, OrderBody, orderRequest, orderStatus, refuseDifferent, requireOrder } from './work-orders.js';

export interface MesRouteDeps extends RecordSources {
  readonly store: Store;
  readonly clock: Clock;
  readonly runtimes: UnitRuntimes;
  readonly production: boolean;
}

const PREFIX = '/api/v1/mes/sites/{site}';
const LIST_LENGTH_MAX = 1000; // decisions Q-MES-16
const read = { method: 'GET', action: 'mes:read', tier: 'read', formats: ['b2mml', 'xml', 'b2mml-mesa'] } as const;
const PAGE = { limit: whole(1, LIST_LENGTH_MAX, 'entries of a page'), cursor: text(), format: word(['json', ...read.formats]) };
const PERFORMANCE = { ...PAGE, from: instant(), to: instant(), state: word(FINAL_BATCH_STATES) };
const route = routesFor<MesRouteDeps>();

const inSite = ({ site }: { readonly site: string }, { store }: MesRouteDeps): void => void requireSite(store, site);

export const mesRoutes: readonly Route<MesRouteDeps>[] = [
  route({
    ...read,
    path: `${PREFIX}/product-definitions`,
    query: parameters(PAGE),
    reply: v.array(ProductDefinition),
    summary: 'Effective master recipes; query limit, cursor',
    exists: inSite,
    handle: async (context, deps) => {
      // by name, as a list of resources is: recipes come and go between two pages
      const items = effectiveRecipes(deps.store, context.params.site);
      const page = listPage(context, { list: 'product-definitions', items, keyOf: ({ metadata }) => [metadata.name], kept: ['format'] });
      const definitions = await eachOf(page.items, (recipe) => productDefinition(recipe, deps.store));
      return answer(context, deps, definitions, (envelope) => productDefinitionsXml(definitions, envelope), page.headers);
    },
  }),
  route({
    ...read,
    path: `${PREFIX}/product-definitions/{name}`,
    reply: ProductDefinition,
    summary: 'One effective master recipe',
    exists: ({ site, name }, { store }) => void requireEffective(store, site, name),
    handle: (context, deps) => {
      const definition = productDefinition(requireEffective(deps.store, context.params.site, context.params.name), deps.store);
      return answer(context, deps, definition, (envelope) => productDefinitionsXml([definition], envelope));
    },
  }),
  route({
    ...read,
    path: `${PREFIX}/production-capability`,
    reply: ProductionCapability,
    summary: 'All units of the site and how many are available',
    exists: inSite,
    handle: (context, deps) => {
      const capability = productionCapability(context.params.site, timestamp(deps.clock.wallMs()), deps.store, deps.runtimes);
      return answer(context, deps, capability, (envelope) => productionCapabilityXml(capability.equipment, envelope));
    },
  }),
  route({
    ...read,
    path: `${PREFIX}/equipment/{name}/status`,
    reply: EquipmentStatus,
    summary: 'Status of one unit',
    exists: ({ site, name }, { store }) => void requireUnit(store, site, name),
    handle: (context, deps) => {
      const status = equipmentStatus(requireUnit(deps.store, context.params.site, context.params.name), deps.store, deps.runtimes);
      return answer(context, deps, status, (envelope) => productionCapabilityXml([status], envelope));
    },
  }),
  route({
    method: 'POST',
    path: `${PREFIX}/work-orders`,
    action: 'mes:create-work-order',
    tier: 'operate',
    body: OrderBody,
    reply: { 200: WorkOrder, 201: WorkOrder },
    errors: { 400: ['unknown_reference', 'out_of_range'], 403: ['test_key'], 409: ['work_order_mismatch', 'already_exists', 'batch_id_in_use', 'chart_invalid'] },
    summary: 'Submit a work order; its batch waits for an operator to start it',
    audit: { action: 'Create', category: 'work-order' },
    exists: inSite,
    query: parameters({ dispatch: required(word(['immediate'])) }),
    queryRule: requireDispatch,
    handle: async ({ params, body, caller, audit }, { store, clock, production }) => {
      const { site } = params;
      checkTexts(body, undefined);
      const request = completed(store, site, orderRequest(body));
      const known = findOrder(store, site, request.workOrderID);
      if (known && !isLocal(known)) {
        const { name } = known.metadata;
        await pastRows(store).during(batchOf({ site, name }), () => refuseDifferent(requireOrdered(store, site, name), request));
        await store.write({ audits: [audit({ action: 'Request', target: { kind: 'Batch', name, site }, details: { workOrderID: request.workOrderID, resubmission: true } })] });
        return ok(workOrder(known));
      }
      const name = workOrderBatchName(request.workOrderID);
      checkOrder(store, site, name, request, production);
      const spec = batchSpecOf(request);
      const status = orderStatus(store, site, request, caller.displayName, timestamp(clock.wallMs()));
      const { resources } = await store.write({
        puts: [{ kind: Batch, site, name, spec, status } as Put],
        audits: [audit({ target: { kind: 'Batch', name, site }, after: spec, details: { workOrderID: request.workOrderID } })],
      });
      return created(workOrder(resources[0] as BatchResource), orderPath(site, request.workOrderID));
    },
  }),
  route({
    ...read,
    path: `${PREFIX}/work-orders`,
    query: parameters(PAGE),
    reply: { 200: v.array(WorkOrder), 204: 'Nothing that the MESA form has a word for' },
    summary: 'One entry per batch of the site, newest first',
    exists: inSite,
    handle: async (context, deps) => {
      const entries = made(newestBatches(deps.store, context.params.site), (batch) => ({ atMs: msOf(batch.metadata.createdAt), name: batch.metadata.name, item: batch }));
      const { items, link } = timedPage('work-orders', entries, context.query, context.path, []);
      const orders = await eachOf(items, (batch) => workOrderWithStatus(deps.store, batch));
      if (isInexpressible(context, orders)) return done(link);
      return answer(context, deps, orders, (envelope) => productionScheduleXml(orders, envelope), { ...link, ETag: tagOf(orders, context.format) });
    },
  }),
  route({
    ...read,
    path: `${PREFIX}/work-orders/{id}`,
    reply: WorkOrder,
    summary: 'One work order',
    exists: ({ site, id }, { store }) => void requireOrder(store, site, id),
    handle: (context, deps) => {
      const order = workOrderWithStatus(deps.store, requireOrder(deps.store, context.params.site, context.params.id));
      return answer(context, deps, order, (envelope) => productionScheduleXml([order], envelope), { ETag: tagOf(order, context.format) });
    },
  }),
  route({
    method: 'DELETE',
    path: `${PREFIX}/work-orders/{id}`,
    action: 'mes:delete-work-order',
    tier: 'operate',
    errors: { 403: ['test_key'], 409: ['not_a_work_order', 'work_order_started', 'legal_hold'] },
    summary: 'Withdraw a work order that has not been started',
    audit: { action: 'Delete', category: 'work-order', target: ({ site, id }) => ({ kind: 'Batch', name: workOrderBatchName(id), site }) },
    exists: ({ site, id }, { store }) => void requireOrder(store, site, id),
    handle: async ({ params, audit }, { store }) => {
      const { site, id } = params;
      const order = requireOrder(store, site, id);
      const { name } = order.metadata;
      if (isLocal(order)) throw conflict('not_a_work_order', `${id} is batch ${name} made at the plant; delete it there`);
      const { phase } = order.status;
      if (phase !== 'Pending')
        throw conflict('work_order_started', `work order ${id} is ${phase}: its batch is the production record; end a running batch with Stop or Abort`, { phase });
      await store.write({ removes: [{ kind: 'Batch', site, name }], audits: [audit({ target: { kind: 'Batch', name, site }, before: order.spec, details: { workOrderID: id } })] });
      return done();
    },
  }),
  route({
    ...read,
    path: `${PREFIX}/production-performance`,
    query: parameters(PERFORMANCE),
    reply: { 200: v.array(ProductionSummary), 204: 'Nothing that the MESA form has a word for' },
    summary: 'Finished batches, the latest first',
    exists: inSite,
    handle: async (context, deps) => {
      const { query } = context;
      const [fromMs, toMs] = [readTime(query, 'from'), readTime(query, 'to')];
      const state = readChoice(query, 'state', ['', ...FINAL_BATCH_STATES]);
      const entries = await newestRecords(deps.store, context.params.site, { fromMs, toMs, outcome: state });
      const { items, link } = timedPage('production-performance', entries, query, context.path, ['from', 'to', 'state']);
      if (isInexpressible(context, items)) return done(link);
      if (context.format === 'json') return ok(items.map(productionSummary), link);
      const contents = await contentsOf(deps.store, items);
      return xmlAnswer(context.params.site, context.format, deps, (envelope) => productionPerformanceXml(contents, envelope), link);
    },
  }),
  route({
    ...read,
    path: `${PREFIX}/production-performance/{batchID}`,
    reply: ProductionRecord,
    errors: { 404: ['no_production_record'] },
    summary: 'The consolidated production record of one batch',
    exists: ({ site, batchID }, { store }) => void requireProductionRecord(store, site, batchID),
    handle: async (context, deps) => {
      const { site, batchID } = context.params;
      const { name } = requireProductionRecord(deps.store, site, batchID);
      const record = await requireStored(deps.store, site, name);
      if (context.format === 'json') return productionRecord(deps, record);
      return xmlAnswer(site, context.format, deps, (envelope) => productionPerformanceXml([productionContent(record)], envelope));
    },
  }),
  route({
    ...read,
    formats: ['b2mml', 'xml'],
    path: `${PREFIX}/external-results/pending`,
    reply: v.strictObject({ items: v.array(PendingResult) }),
    summary: 'Phases that wait for a measurement made elsewhere',
    exists: inSite,
    handle: (context, deps) => {
      const items = pendingResults(deps.store, context.params.site);
      return answer(context, deps, { items }, () => pendingResultsXml(items), { ETag: tagOf(items, context.format) });
    },
  }),
  route({
    method: 'POST',
    path: `${PREFIX}/phases/{name}/external-result`,
    action: 'mes:deliver-external-result',
    tier: 'operate',
    apiKey: 'only',
    body: DeliveryBody,
    summary: 'Deliver the measurement that a phase waits for',
    past: ({ site = '', name = '' }) => [{ kind: 'Phase', site, name }],
    reply: Delivered,
    errors: { 400: ['result_key_mismatch', 'invalid_value', 'out_of_range'], 403: ['test_key'], 409: ['no_pending_result'] },
    audit: { action: 'ExternalResult', category: 'external-result', target: ({ site, name }) => ({ kind: 'Phase', name, site }) },
    exists: ({ site, name }, { store }) => void requirePhase(store, site, name),
    handle: ({ params, body, caller, correlationID, audit }, deps) =>
      deliverResult(deps, { site: params.site, phase: params.name, delivery: body, caller, correlationID, audit: (entry) => audit(entry) }),
  }),
];

/** Of one that cannot be read any more what the list keeps of it: the list has it, whatever the format. */
async function contentsOf(store: Store, listed: readonly ListedRecord[]): Promise<ProductionContent[]> {
  const contents: ProductionContent[] = [];
  for (const each of listed) {
    const record = await readRecord(store, each.site, each.name);
    contents.push(record ? productionContent(record) : listedContent(each));
  }
  return contents;
}

function effectiveRecipes(store: Store, site: string) {
  return store.list(MasterRecipe, site).filter((recipe) => recipe.status.phase === 'Effective');
}

function requireEffective(store: Store, site: string, name: string) {
  const recipe = effectiveRecipes(store, site).find((candidate) => candidate.metadata.name === name);
  if (!recipe) throw missing('product definition', name);
  return recipe;
}

function requireUnit(store: Store, site: string, name: string) {
  const unit = store.get(Unit, site, name);
  if (!unit) throw missing('Unit', name);
  return unit;
}

/** What was listed and is read now. @throws Refusal 404 of one whose row cannot be used any more. */
function requireOrdered(store: Store, site: string, name: string): BatchResource {
  const batch = store.get(Batch, site, name);
  if (!batch) throw absent(store, Batch, site, name);
  return batch;
}

/** @throws Refusal 400 naming `dispatch` (contract 1, Rules 1). */
function requireDispatch(query: Query): void {
  const all = query.all('dispatch');
  if (all.length === 1 && all[0] === 'immediate') return;
  throw invalid('invalid_query', 'dispatch', 'query parameter dispatch is required and must be immediate');
}

function orderPath(site: string, id: string): string {
  return `/api/v1/mes/sites/${encodeURIComponent(site)}/work-orders/${encodeURIComponent(id)}`;
}

interface TimedPage<Item> {
  readonly items: readonly Item[];
  readonly link: Readonly<Record<string, string>>;
}

/** A bare array of what grows with time; a further page is announced by a Link header (decisions Q-MES-16). */
function timedPage<Item, Name extends string>(
  list: string,
  entries: Sorted<Entry<Item>>,
  query: Query<'limit' | 'cursor' | 'format' | Name>,
  path: string,
  kept: readonly Name[],
): TimedPage<Item> {
  const cursor = query.get('cursor') ?? '';
  const limit = readLimit(query, LIST_LENGTH_MAX, LIST_LENGTH_MAX);
  const { items, nextCursor } = timePage(list, entries, { order: 'desc', limit, ...(cursor === '' ? {} : { cursor }) });
  if (nextCursor === null) return { items, link: {} };
  const next = new URLSearchParams({ limit: String(limit), cursor: nextCursor });
  for (const name of [...kept, 'format'] as const) if (query.get(name)) next.set(name, query.get(name) as string);
  return { items, link: { Link: `<${path}?${next}>; rel="next"` } };
}

type ReadContext = RequestContext<{ readonly site: string }, unknown, never>;

/** JSON, or XML in the form that was asked for. */
function answer<Body>(
  { format, params }: ReadContext,
  deps: MesRouteDeps,
  body: Body,
  render: (envelope: Envelope) => XmlElement,
  headers: Readonly<Record<string, string>> = {},
): Reply<Body> {
  if (format === 'json') return ok(body, headers);
  return xmlAnswer(params.site, format, deps, render, headers);
}

function xmlAnswer(
  site: string,
  format: XmlFormat,
  { clock }: MesRouteDeps,
  render: (envelope: Envelope) => XmlElement,
  headers: Readonly<Record<string, string>> = {},
): Reply<never> {
  return xmlReply(render({ site, publishedAt: timestamp(clock.wallMs()), format }), format, headers);
}

/** The MESA form knows no schedule without a request and no performance without a response (decisions Q-MES-28): 204. */
function isInexpressible({ format }: ReadContext, items: readonly unknown[]): boolean {
  return format === 'b2mml-mesa' && items.length === 0;
}

/** An MES polls; what has not changed is answered 304 (decisions Q-MES-27). */
function tagOf(body: unknown, format: string): string {
  return etagOf(
    createHash('sha256')
      .update(`${format}${JSON.stringify(body)}`)
      .digest('hex')
      .slice(0, 24),
  );
}
