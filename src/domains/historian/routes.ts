/** The historian (contract 3, Additional routes; decisions 8.9, Q-CHANGE-14, Q-AUTH-14). Nothing here writes. */
import { parseDuration } from '../../platform/base/duration-text.js';
import { invalid, missing } from '../../platform/base/refusal.js';
import { type Caller, mayVisit } from '../../platform/http/caller.js';
import { readChoice, readLogQuery } from '../../platform/http/log-query.js';
import { LOG, parameters, text, texts, whole, word } from '../../platform/http/parameters.js';
import { ok, type Query, rendered, type Reply, type Route, routesFor } from '../../platform/http/route.js';
import type { EventQuery, History, TagQuery, TagValuesQuery } from '../../platform/history/history.js';
import { AGGREGATES } from '../../platform/history/words.js';
import type { Store } from '../../platform/store/store.js';
import { batchSpans } from './batch-spans.js';
import { HistorianStatus, Ingest, RecordedAlarms, RecordedGaps, RecordedStates, RecordedTags, Samples } from './bodies.js';

export interface HistorianRouteDeps {
  /** Absent when `historian.enabled` is false. */
  readonly history?: Pick<History, 'tagsJson' | 'distinctJson' | 'eventsJson' | 'gapsJson' | 'status' | 'ingest' | 'retentionMs'> | undefined;
  readonly store: Store;
}

const LIMIT_MAX = 10_000; // decisions 8.9
const INTERVAL_DEFAULT_MS = 60_000;
const NOT_CONFIGURED = { configured: false as const, items: [] as [], nextCursor: null }; // decisions Q-CHANGE-14
const EVENTS = { ...LOG, limit: whole(1, LIMIT_MAX, 'entries of a page'), site: text(), unit: text() };
const TAGS = { ...EVENTS, address: texts('address of a tag; several one by one'), tag: texts('as address') };
const VALUES = { ...TAGS, aggregate: word(AGGREGATES), interval: text('of an aggregate, such as 15m') };
type Reads<Parameters extends object> = Query<keyof Parameters & string>;
const route = routesFor<HistorianRouteDeps>();

export const HISTORIAN_ROUTES: readonly Route<HistorianRouteDeps>[] = [
  route({
    method: 'GET',
    path: '/api/v1/historian/status',
    action: 'historian:status',
    tier: 'read',
    reply: HistorianStatus,
    async handle(_context, { history }): Promise<HistorianStatus> {
      if (!history) return { configured: false };
      const { oldest, newest, samples, sizeBytes, writeRate, lagMs, error } = await history.status();
      return { configured: true, backend: 'sqlite', sizeBytes, oldest, newest, samples, retention: retentionText(history.retentionMs), writeRate, lagMs, error };
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/historian/ingest',
    action: 'historian:ingest',
    tier: 'read',
    query: parameters({ site: text() }),
    reply: Ingest,
    async handle({ caller, query }, { history }): Promise<Ingest> {
      if (!history) return NOT_CONFIGURED;
      const { queues, writtenTotal, droppedTotal } = await history.ingest();
      const site = query.get('site');
      const visible = queues.filter((queue) => mayVisit(caller, queue.site) && (!site || queue.site === site));
      return { configured: true, queues: visible.map(({ site: _site, ...queue }) => queue), writtenTotal, droppedTotal };
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/historian/tags',
    action: 'historian:tags',
    tier: 'read',
    query: parameters(VALUES),
    reply: Samples,
    handle: ({ query, caller }, { history }) => answer(history, (open) => open.tagsJson(valuesQuery(query, caller))),
  }),
  route({
    method: 'GET',
    path: '/api/v1/historian/tags/distinct',
    action: 'historian:tags-distinct',
    tier: 'read',
    query: parameters(TAGS),
    reply: RecordedTags,
    handle: ({ query, caller }, { history }) => answer(history, (open) => open.distinctJson(tagQuery(query, caller))),
  }),
  route({
    method: 'GET',
    path: '/api/v1/historian/alarms',
    action: 'historian:alarms',
    tier: 'read',
    query: parameters(EVENTS),
    reply: RecordedAlarms,
    handle: ({ query, caller }, { history }) => answer(history, (open) => open.eventsJson('alarms', eventQuery(query, caller))),
  }),
  route({
    method: 'GET',
    path: '/api/v1/historian/states',
    action: 'historian:states',
    tier: 'read',
    query: parameters(EVENTS),
    reply: RecordedStates,
    handle: ({ query, caller }, { history }) => answer(history, (open) => open.eventsJson('states', eventQuery(query, caller))),
  }),
  route({
    method: 'GET',
    path: '/api/v1/historian/gaps',
    action: 'historian:gaps',
    tier: 'read',
    query: parameters(TAGS),
    reply: RecordedGaps,
    handle: ({ query, caller }, { history }) => answer(history, (open) => open.gapsJson(tagQuery(query, caller))),
  }),
  route({
    method: 'GET',
    path: '/api/v1/historian/batch/{batchID}/tags',
    action: 'historian:batch-tags',
    tier: 'read',
    query: parameters(VALUES),
    reply: Samples,
    handle: ({ params, query, caller }, deps) =>
      answer(deps.history, async (open) => {
        const values = valuesQuery(query, caller);
        return open.tagsJson({ ...values, ...(await ofBatch(deps, params.batchID, query, caller, values)) });
      }),
  }),
  ...(['alarms', 'states'] as const).map((list) =>
    route({
      method: 'GET',
      path: `/api/v1/historian/batch/{batchID}/${list}`,
      action: `historian:batch-${list}`,
      tier: 'read',
      query: parameters(EVENTS),
      reply: list === 'alarms' ? RecordedAlarms : RecordedStates,
      handle: ({ params, query, caller }, deps) =>
        answer(deps.history, async (open) => {
          const events = eventQuery(query, caller);
          return open.eventsJson(list, { ...events, ...(await ofBatch(deps, params.batchID, query, caller, events)) });
        }),
    }),
  ),
];

type OpenHistory = NonNullable<HistorianRouteDeps['history']>;

async function answer(history: OpenHistory | undefined, query: (history: OpenHistory) => Promise<Uint8Array>): Promise<Reply<typeof NOT_CONFIGURED>> {
  return history ? rendered(await query(history)) : ok(NOT_CONFIGURED);
}

function eventQuery(query: Reads<typeof EVENTS>, caller: Caller): EventQuery {
  const site = query.get('site');
  const unit = query.get('unit');
  return { ...readLogQuery(query, LIMIT_MAX), ...(site ? { site } : {}), ...(unit ? { unit } : {}), sites: caller.sites };
}

function tagQuery(query: Reads<typeof TAGS>, caller: Caller): TagQuery {
  const addresses = [...query.all('address'), ...query.all('tag')].filter((address) => address !== '');
  return { ...eventQuery(query, caller), ...(addresses.length > 0 ? { addresses } : {}) };
}

function valuesQuery(query: Reads<typeof VALUES>, caller: Caller): TagValuesQuery {
  return { ...tagQuery(query, caller), aggregate: readChoice(query, 'aggregate', AGGREGATES), intervalMs: readInterval(query) };
}

function readInterval(query: Query<'interval'>): number {
  const text = query.get('interval');
  if (text === undefined || text === '') return INTERVAL_DEFAULT_MS;
  const ms = parseDuration(text);
  if (ms === null || ms < 1 || !Number.isInteger(ms)) throw invalid('invalid_query', 'interval', 'interval must be a duration of at least 1ms such as 1m or 15m');
  return ms;
}

interface Bounds {
  readonly fromMs?: number;
  readonly toMs?: number;
}

/** The units and the time of a batch, narrowed by `from` and `to` of the query. @throws Refusal 404 for an unknown batch. */
async function ofBatch(
  { store }: HistorianRouteDeps,
  batchID: string,
  query: Query<'site'>,
  caller: Caller,
  bounds: Bounds,
): Promise<Bounds & { readonly span: { readonly site: string; readonly units: readonly string[]; readonly batchID: string } }> {
  const site = query.get('site');
  const spans = await batchSpans(store, batchID, (each) => mayVisit(caller, each) && (!site || each === site));
  const [only] = spans;
  if (!only) throw missing('batch', batchID);
  if (spans.length > 1) throw invalid('invalid_query', 'site', `batch ${batchID} exists in several sites; name one with ?site=`, { allowed: spans.map((span) => span.site) });
  const { site: found, units, fromMs, toMs } = only;
  const span = { site: found, units, batchID };
  if (fromMs === null) return { span, fromMs: 0, toMs: 0 }; // nothing was recorded of a batch that has not started
  return { span, fromMs: Math.max(fromMs, bounds.fromMs ?? fromMs), ...(toMs === null ? {} : { toMs: Math.min(toMs + 1, bounds.toMs ?? Number.MAX_SAFE_INTEGER) }) };
}

/** `400d`, `36h`: the largest unit that says it whole. */
function retentionText(ms: number): string {
  return ms % 86_400_000 === 0 ? `${ms / 86_400_000}d` : ms % 3_600_000 === 0 ? `${ms / 3_600_000}h` : `${ms / 1000}s`;
}
