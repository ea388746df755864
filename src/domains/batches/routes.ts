/** Batches (contract 3, Recipes and records; decisions Q-RECIPE-27 to 33). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { oneOf } from '../../platform/http/alternatives.js';
import { conflict, invalid } from '../../platform/base/refusal.js';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { checkResourceName } from '../../platform/base/resource-name.js';
import { clearable, LabelChange, merge } from '../../platform/http/clearing.js';
import { crudRoutes } from '../../platform/http/crud.js';
import { decode } from '../../platform/http/json-body.js';
import { listReply } from '../../platform/http/paged-list.js';
import { checkReason } from '../../platform/http/reason.js';
import { checkIfMatch, etagOf } from '../../platform/http/revision.js';
import { readLogQuery } from '../../platform/http/log-query.js';
import { LIST, LOG, parameters } from '../../platform/http/parameters.js';
import { factPage, type ToldBy } from '../../platform/http/replies.js';
import { created, done, ok, rendered, routesFor } from '../../platform/http/route.js';
import { absent } from '../../platform/store/absent.js';
import { Labels, writtenKeys } from '../../platform/store/envelope.js';
import { pastRows } from '../../platform/store/past-rows.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Change, Put, Store } from '../../platform/store/store.js';
import { freeMap } from '../../platform/store/free-map.js';
import { checkTexts } from '../../platform/store/texts.js';
import { CoordinationBlock, SyncBarrier } from '../coordination/kind.js';
import { requireSite } from '../plant/kind.js';
import { elementsOf, refuseAtWork, removalOf, unitOf } from '../procedures/removal.js';
import type { UnitRuntimes } from '../placement/runtimes.js';
import { begunAnew } from './tree/coordination.js';
import { batchName, checkBatch, checkWorkOrderID, withNormalTime, withRecipeDefaults } from './creation/creation.js';
import { BatchBody as BatchView, batchDto, BatchItem, batchItem } from './reading/dto.js';
import { BatchMessage, ExecutionEvent, PROMPT_CANCELLED, type StateEntry, streamOf } from '../runs/execution-log.js';
import { type HandDeps, writtenByHand } from '../tags/written-by-hand.js';
import { boundOf, type FactReader, factsOf } from '../runs/facts.js';
import { Batch, BatchSpec, type BatchStatus, isFinalBatch } from './kind.js';
import { LIST_QUERY, listedBatch, listingOf } from './reading/list.js';
import { Preflight, preflight } from './start/preflight.js';
import { reassigned, type Wishes } from './start/reassign.js';
import { type Looked, namedByStart } from './start/start-conditions.js';
import { restartCheck } from './start/restart-check.js';
import { batchOf, wholeOf } from './past-run.js';
import { batchRules } from './rules.js';

export interface BatchRouteDeps {
  readonly store: Store;
  readonly runtimes: UnitRuntimes;
  readonly clock: Clock;
  readonly facts: FactReader;
  readonly queries: HandDeps['queries'];
  readonly production: boolean;
  storageLow(): boolean;
  readonly reasonLengthMin: number;
}

/** Of a stream of a batch; `recorded` of one that has ended: whether it is what was recorded. */
function streamPage<const Item extends v.GenericSchema>(item: Item) {
  return v.strictObject({ ...factPage(item).entries, recorded: v.optional(v.boolean()) });
}
const Events = streamPage(ExecutionEvent);
const Messages = streamPage(BatchMessage);

const Lane = v.strictObject({
  kind: v.string(),
  name: v.string(),
  path: v.string(),
  unit: v.string(),
  /** `to` is '' while the state lasts. */
  spans: v.array(v.strictObject({ state: v.string(), from: v.string(), to: v.string() })),
});
const Marker = v.strictObject({ ts: v.string(), type: v.string(), label: v.string(), ref: v.string() });
const Timeline = v.strictObject({ batch: v.string(), from: v.string(), to: v.string(), lanes: v.array(Lane), markers: v.array(Marker) });
export type Timeline = ToldBy<typeof Timeline>;

nameSchemas({ BatchEvents: Events, BatchMessages: Messages, TimelineLane: Lane, TimelineMarker: Marker, BatchTimeline: Timeline });

type BatchResource = Resource<BatchSpec, BatchStatus>;

const route = routesFor<BatchRouteDeps>();
const Flat = v.partial(BatchSpec);
/** The word of the MES for `equipment`, taken in its place (D-C-12). */
const REQUESTED = { requestedEquipment: v.optional(freeMap(v.string())) };
/** `{name?, spec}` or the members of spec flat; a mixture is refused (D-RECIPE-01). */
const BatchBody = eitherForm('BatchCreate', v.optional(Labels), { ...Flat.entries, ...REQUESTED });
const BatchChange = eitherForm(
  'BatchUpdate',
  LabelChange,
  { ...Object.fromEntries(Object.entries(BatchSpec.entries).map(([member, schema]) => [member, clearable(schema)])), ...REQUESTED },
  { reason: v.optional(v.string()) },
);

const OfBatch = v.strictObject({ batch: v.string(), command: v.optional(v.picklist(['Start', 'Restart', 'Resume']), 'Start') });
/** Of a batch that there is, or of one that is only thought of. */
const PreflightBody = oneOf<v.GenericSchema>([OfBatch, BatchBody], (input) =>
  typeof input === 'object' && input !== null && 'batch' in input ? OfBatch : BatchBody,
) as v.GenericSchema<unknown, Record<string, unknown>>;

nameSchemas({ PreflightOfBatch: OfBatch });

function eitherForm(name: string, labels: v.GenericSchema, members: v.ObjectEntries, beside: v.ObjectEntries = {}): v.GenericSchema<unknown, Record<string, unknown>> {
  const batchName = v.optional(v.string());
  const nested = v.strictObject({ name: batchName, labels, ...beside, spec: v.strictObject(members) });
  const flat = v.strictObject({ name: batchName, labels, ...beside, ...members });
  nameSchemas({ [name]: flat, [`${name}Nested`]: nested });
  return oneOf<v.GenericSchema>([nested, flat], (input) => (typeof input === 'object' && input !== null && 'spec' in input ? nested : flat)) as v.GenericSchema<
    unknown,
    Record<string, unknown>
  >;
}

interface Written {
  readonly name: string | undefined;
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** Of a change of the units of a held batch. */
  readonly reason: unknown;
  readonly spec: Record<string, unknown>;
}

function split(body: Record<string, unknown>): Written {
  const { name, labels, reason, spec, ...flat } = body;
  const { requestedEquipment, ...members } = (spec ?? flat) as Record<string, unknown>;
  if (requestedEquipment !== undefined && members.equipment !== undefined)
    throw invalid('invalid_field', 'requestedEquipment', 'send either requestedEquipment or equipment, not both');
  if (requestedEquipment !== undefined) members.equipment = requestedEquipment;
  return { name: name as string | undefined, labels: labels as Written['labels'], reason, spec: members };
}

function requireBatch(store: Store, site: string, name: string): BatchResource {
  const batch = store.get(Batch, site, name);
  if (!batch) throw absent(store, Batch, site, name);
  return batch;
}

const here = ({ site, name }: { readonly site: string; readonly name: string }, { store }: BatchRouteDeps): void => void requireBatch(store, site, name);
const target = ({ site, name }: { readonly site: string; readonly name: string }) => ({ kind: 'Batch', name, site });

export const batchRoutes = [
  ...crudRoutes(batchRules, {
    read: 'read',
    write: 'operate',
    dto: (batch, read, deps: BatchRouteDeps) => batchDto(batch, read, deps),
    reply: BatchView,
    only: ['read'],
    derives: true,
    rows: { read: { past: wholeOf } },
  }),
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/batches',
    action: 'batch:list',
    tier: 'read',
    query: parameters({ ...LIST, ...LIST_QUERY }),
    reply: v.array(BatchItem),
    summary: 'List batches; query state, search, name, batchID, workOrderID, order (name, recent), limit, cursor',
    handle: async ({ params, path, query }, deps) =>
      listReply(
        { path, query },
        {
          ...(await listingOf(deps.store, params.site, query)),
          kept: Object.keys(LIST_QUERY) as (keyof typeof LIST_QUERY)[],
          render: (batch) => batchItem(batch, deps),
        },
      ),
  }),
  route({
    method: 'POST',
    path: '/api/v1/sites/{site}/batches',
    action: 'batch:create',
    tier: 'operate',
    body: BatchBody,
    reply: BatchView,
    errors: { 400: ['invalid_name', 'reserved_key', 'unknown_reference', 'out_of_range'], 409: ['batch_id_in_use', 'already_exists', 'chart_invalid', 'recipe_not_effective'] },
    summary: 'Create a batch; it waits in Pending for an operator',
    audit: { action: 'Create', category: 'batch' },
    exists: ({ site }, { store }) => void requireSite(store, site),
    handle: async ({ params, body, audit }, deps) => {
      const { store, production } = deps;
      const written = split(body);
      const decoded = decodeSpec(written.spec);
      checkTexts(decoded, undefined);
      const name = written.name ?? batchName(params.site, decoded.batchID);
      checkResourceName(name);
      const labels = writtenKeys(written.labels, {}, 'labels');
      const spec = withRecipeDefaults(store, params.site, decoded);
      checkWorkOrderID(spec, '');
      checkBatch(store, params.site, name, spec, production);
      const known = listedBatch(store, params.site, name);
      if (known?.spec.batchID === spec.batchID) throw conflict('batch_id_in_use', `batchID ${spec.batchID} is used by batch ${name}`, { batch: name });
      if (known) throw conflict('already_exists', `Batch ${name} exists already`, { kind: 'Batch', name });
      const { resources } = await store.write({
        puts: [{ kind: Batch, site: params.site, name, spec, ...(labels ? { labels } : {}) } as Put],
        audits: [audit({ target: { kind: 'Batch', name, site: params.site }, result: 'Success', after: spec })],
      });
      const batch = resources[0] as BatchResource;
      return created(batchDto(batch, store, deps), `/api/v1/sites/${params.site}/batches/${name}`, { ETag: etagOf(batch.metadata.resourceVersion) });
    },
  }),
  route({
    method: 'PUT',
    path: '/api/v1/sites/{site}/batches/{name}',
    action: 'batch:update',
    tier: 'operate',
    body: BatchChange,
    reply: BatchView,
    errors: {
      400: ['reserved_key', 'unknown_reference', 'out_of_range', 'reason_too_short', 'reason_too_long'],
      409: ['record_sealed', 'batch_started', 'batch_id_in_use', 'chart_invalid', 'recipe_not_effective', 'unit_procedure_begun', 'allocation_unavailable'],
    },
    summary: 'Change a pending batch; of a held one the units of what has not begun; otherwise only its description',
    audit: { action: 'Update', category: 'batch', target },
    past: wholeOf,
    exists: here,
    served: ({ site, name }, deps) => {
      const batch = requireBatch(deps.store, site, name);
      return { body: batchDto(batch, deps.store, deps), checkRead: (ifMatch) => checkIfMatch(ifMatch, batch.metadata.resourceVersion) };
    },
    handle: async ({ params, body, header, audit, caller }, deps) => {
      const { store, clock } = deps;
      let changed = judgedChange(deps, params, body, header('if-match'));
      const brought = pastRows(store).bring(batchOf(params));
      if (brought) {
        (await brought)(); // the request holds it, and it is written in this turn
        changed = judgedChange(deps, params, body, header('if-match'));
      }
      const { batch, spec, labels, wishes, reason } = changed;
      const { accountId, displayName } = caller;
      const by = { at: timestamp(clock.wallMs()), person: { accountId, displayName }, reason, auditRecordRef: store.nextAuditName(0) };
      const units = wishes && reassigned(deps, batch, wishes, by);
      await store.write({
        puts: [
          { kind: Batch, site: params.site, name: params.name, spec, ...(units ? { status: units.status } : {}), ...(labels ? { labels } : {}) } as Put,
          ...(units?.puts ?? []),
        ],
        facts: units?.facts ?? [],
        audits: [audit({ result: 'Success', target: target(params), before: batch.spec, after: spec, ...(wishes ? { operatorReason: reason } : {}) })],
      });
      const stored = requireBatch(store, params.site, params.name);
      return ok(batchDto(stored, store, deps), { ETag: etagOf(stored.metadata.resourceVersion) });
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/sites/{site}/batches/{name}',
    action: 'batch:delete',
    tier: 'engineer',
    errors: { 409: ['batch_started', 'record_pending', 'element_active', 'legal_hold'] },
    summary: 'Withdraw a pending batch; in development mode also remove a final one',
    audit: { action: 'Delete', category: 'batch', target },
    past: wholeOf,
    exists: here,
    handle: async ({ params, header, audit }, { store, production }) => {
      let batch = requireRemovable(store, params, header('if-match'), production);
      const brought = pastRows(store).bring(wholeOf(params));
      if (brought) {
        (await brought)(); // the request holds it, and it is written in this turn
        batch = requireRemovable(store, params, header('if-match'), production);
      }
      await store.write({ ...withdrawal(store, batch), audits: [audit({ result: 'Success', target: target(params), before: batch.spec })] });
      return done();
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/sites/{site}/batches/preflight',
    action: 'batch:preflight',
    tier: 'read',
    body: PreflightBody,
    reply: Preflight,
    summary:
      'What would keep a batch from starting, and who can lift it; of a held one with command Restart, of a paused one with Resume: what is to be put right first, and what has been',
    computes: true,
    exists: ({ site }, { store }) => void requireSite(store, site),
    handle: async ({ params, body }, deps) => {
      const lent = typeof body.batch === 'string' ? pastRows(deps.store).lend(wholeOf({ site: params.site, name: body.batch })) : undefined;
      if (lent) await lent;
      return preflightOf(deps, params.site, body);
    },
  }),
  ...(['events', 'messages'] as const).map((stream) =>
    route({
      method: 'GET',
      path: `/api/v1/sites/{site}/batches/{name}/${stream}`,
      action: `batch:${stream}`,
      tier: 'read',
      query: parameters(LOG),
      reply: stream === 'events' ? Events : Messages,
      summary: `The ${stream} of a batch, newest first; of one that has ended, whether they are what was recorded`,
      past: batchOf,
      exists: here as never,
      handle: async ({ params, query }, { facts, store }) => {
        const { site, name } = params as { site: string; name: string };
        const batch = requireBatch(store, site, name);
        const asked = readLogQuery(query);
        const judged = isFinalBatch(batch.status.phase);
        return rendered(await facts.factPageJson(streamOf(stream, site, name), { ...asked, ...boundOf(stream, batch, asked), timeMember: 'ts', judged }));
      },
    }),
  ),
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/batches/{name}/timeline',
    action: 'batch:timeline',
    tier: 'read',
    reply: Timeline,
    summary: 'States of all elements over time',
    past: batchOf,
    exists: here,
    handle: async ({ params: { site, name } }, { store, facts }) => {
      const batch = requireBatch(store, site, name);
      const [states, events] = await Promise.all([factsOf<StateEntry>(facts, 'states', batch), factsOf<ExecutionEvent>(facts, 'events', batch)]);
      return timeline(batch, states, events);
    },
  }),
];

function decodeSpec(spec: Record<string, unknown>): BatchSpec {
  for (const field of ['batchID', 'masterRecipeRef']) if (spec[field] === undefined || spec[field] === '') throw invalid('missing_field', field, `field ${field} is required`);
  return withNormalTime(decode(BatchSpec as v.GenericSchema<unknown, BatchSpec>, spec));
}

/** What a change of a batch makes of it. @throws Refusal of one that it does not take as it stands. */
function judgedChange(
  { store, production, reasonLengthMin }: BatchRouteDeps,
  params: { readonly site: string; readonly name: string },
  body: Record<string, unknown>,
  ifMatch: string | undefined,
): {
  readonly batch: BatchResource;
  readonly spec: BatchSpec;
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** Units that a held batch is to have instead, and why. */
  readonly wishes: Wishes | undefined;
  readonly reason: string;
} {
  const batch = requireBatch(store, params.site, params.name);
  const { spec: asked, name, labels: given, reason } = split(body);
  const change = batch.status.phase === 'Held' ? withOtherUnits(batch, asked) : asked;
  if (name !== undefined && name !== params.name) throw invalid('invalid_field', 'name', 'a Batch cannot be renamed: name must be as in the path, or left out');
  const members = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  const decoded = decodeSpec(merge({ ...batch.spec }, members));
  checkTexts(decoded, batch.spec);
  const spec = batch.status.phase === 'Pending' ? withRecipeDefaults(store, params.site, decoded) : decoded;
  const labels = writtenKeys(given, batch.metadata.labels, 'labels');
  checkWorkOrderID(spec, batch.spec.workOrderID);
  checkIfMatch(ifMatch, batch.metadata.resourceVersion);
  if (batch.status.recordRef !== '' && sealed(store, batch)) throw conflict('record_sealed', `the record of batch ${params.name} is sealed`);
  const changed = Object.keys(members).filter((member) => JSON.stringify(spec[member as keyof BatchSpec]) !== JSON.stringify(batch.spec[member as keyof BatchSpec]));
  const wishes = batch.status.phase === 'Held' ? wishesOf(batch, asked) : undefined;
  const free = ['description', ...(wishes ? ['equipment'] : [])];
  const fixed = batch.status.phase === 'Pending' ? changed.filter((member) => member === 'batchID') : changed.filter((member) => !free.includes(member));
  const [field] = fixed;
  if (field !== undefined) throw conflict('batch_started', `${field} of batch ${params.name} cannot be changed while it is ${batch.status.phase}`, { field });
  if (batch.status.phase === 'Pending') checkBatch(store, params.site, params.name, spec, production);
  return { batch, spec, labels, wishes, reason: wishes ? checkReason(reason, reasonLengthMin) : '' };
}

/** A held batch keeps the units that nobody names; '' lets go of the one that somebody had named (D-C-12). */
function withOtherUnits({ spec }: BatchResource, change: Record<string, unknown>): Record<string, unknown> {
  if (typeof change.equipment !== 'object' || change.equipment === null) return change;
  const equipment = Object.fromEntries(Object.entries({ ...spec.equipment, ...change.equipment }).filter(([, unit]) => unit !== ''));
  return { ...change, equipment };
}

/** Undefined where everything named is so already. */
function wishesOf({ status }: BatchResource, { equipment }: Record<string, unknown>): Wishes | undefined {
  const named = Object.entries((equipment ?? {}) as Wishes);
  const wishes = named.filter(([capability, unit]) => status.allocations.find((each) => each.capability === capability)?.unit !== unit);
  return wishes.length === 0 ? undefined : Object.fromEntries(wishes);
}

/** @throws Refusal of a batch that has begun, where that is not to be removed, and of one that something still works with. */
function requireRemovable(store: Store, { site, name }: { readonly site: string; readonly name: string }, ifMatch: string | undefined, production: boolean): BatchResource {
  const batch = requireBatch(store, site, name);
  checkIfMatch(ifMatch, batch.metadata.resourceVersion);
  const { phase } = batch.status;
  if (phase !== 'Pending' && (production || !isFinalBatch(phase)))
    throw conflict('batch_started', `batch ${name} is ${phase}: it is the production record; end it with Stop or Abort`, { phase });
  if (phase !== 'Pending' && batch.status.recordRef === '') throw conflict('record_pending', `the record of batch ${name}, which stays, is being made; ask again in a moment`);
  refuseAtWork(elementsOf(store, site, name)); // phases may go on after the settle deadline (decisions 3.3)
  const held = unitOf(store, site, name);
  if (held) throw conflict('element_active', `batch ${name} still has unit ${held}; it is being reset`, { unit: held });
  return batch;
}

function sealed(store: Store, batch: BatchResource): boolean {
  const kind = { kind: 'BatchRecord' };
  const { site } = batch.metadata;
  const past = store.pastEntry<{ readonly phase: string }>(kind, site, batch.status.recordRef);
  const record = store.get(kind as never, site, batch.status.recordRef) as Resource<unknown, { readonly phase?: string }> | undefined;
  return (past?.entry.phase ?? record?.status.phase) === 'Finalized';
}

/** The batch and what was made for it, with the copies of its signals and barriers; its record stays, and so does what a person wrote. */
function withdrawal(store: Store, batch: BatchResource): Pick<Change, 'puts' | 'removes'> {
  const { site, name, uid } = batch.metadata;
  const copies = [...store.list(CoordinationBlock, site), ...store.list(SyncBarrier, site)].filter(({ metadata }) => metadata.ownerReferences.some((owner) => owner.uid === uid));
  const { puts, removes = [] } = removalOf(store, site, [...elementsOf(store, site, name), ...copies]);
  return { puts: [...(puts ?? []), ...begunAnew(store, site, name)], removes: [{ kind: 'Batch', site, name }, { kind: 'ControlRecipe', site, name }, ...removes] };
}

/** Of a batch by its name, or of what would become one. */
async function preflightOf(deps: BatchRouteDeps, site: string, body: Record<string, unknown>): Promise<Preflight> {
  const judged = async (looked: Looked, spec: BatchSpec): Promise<Preflight> => {
    await pastRows(deps.store).lend(namedByStart(deps, site, looked, spec));
    return preflight(deps, site, looked, spec);
  };
  if (typeof body.batch === 'string') {
    const batch = requireBatch(deps.store, site, body.batch);
    if (body.command !== 'Restart' && body.command !== 'Resume') return judged(batch.metadata, batch.spec);
    const byHand = await writtenByHand(
      deps,
      site,
      batch.status.allocations.map(({ unit }) => unit),
    );
    return restartCheck(deps, requireBatch(deps.store, site, body.batch), body.command, byHand); // as it is by now
  }
  const spec = withRecipeDefaults(deps.store, site, decodeSpec(split(body).spec));
  return judged({ name: batchName(site, spec.batchID) }, spec);
}

function timeline(batch: BatchResource, states: readonly StateEntry[], events: readonly ExecutionEvent[]): Timeline {
  const lanes = new Map<string, v.InferOutput<typeof Lane>>();
  for (const entry of states) {
    const lane = lanes.get(entry.name + entry.kind) ?? { kind: entry.kind, name: entry.name, path: entry.path, unit: entry.unit, spans: [] };
    const last = lane.spans.at(-1);
    if (last) last.to = entry.ts;
    lane.spans.push({ state: entry.state, from: entry.ts, to: '' });
    lanes.set(entry.name + entry.kind, lane);
  }
  return { batch: batch.metadata.name, from: batch.status.startedAt, to: batch.status.endedAt, lanes: [...lanes.values()], markers: events.flatMap(markerOf) };
}

/** What stands out between the states: commands, prompts and their answers, alarms, restarts of the system. */
function markerOf(event: ExecutionEvent): ToldBy<typeof Marker>[] {
  const { ts, value, message } = event;
  const mark = (type: string, label: string) => [{ ts, type, label, ref: event.auditRecordRef || event.element.name }];
  switch (`${event.eventType}/${event.eventSubType}`) {
    case 'Procedural Execution/State Command':
      return mark('Command', event.previousValue === '' ? value : `${value} rejected: ${event.previousValue}`);
    case 'Operator/Prompt':
      return event.previousValue === PROMPT_CANCELLED ? mark(PROMPT_CANCELLED, `${value}: ${message}`) : mark('Prompt', value);
    case 'Operator/Prompt Response':
      return mark('PromptResponse', `${message}: ${value}`);
    case 'Alarm/Process':
      return mark('Alarm', `${value} ${message}`.trim());
    case 'General/System':
      return mark('System', message);
    default:
      return [];
  }
}
