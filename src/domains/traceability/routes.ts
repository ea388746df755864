/** Where a lot went and what went into it (ROUTE-03; decisions 8.4, 8.5; ADR 0147). Nothing here writes. */
import type { Clock } from '../../platform/base/clock.js';
import { decodeCursor, encodeCursor } from '../../platform/base/cursor.js';
import { invalid, Refusal } from '../../platform/base/refusal.js';
import { Turns } from '../../platform/base/slices.js';
import type { Turnstile } from '../../platform/base/turnstile.js';
import { readLimit } from '../../platform/http/log-query.js';
import { parameters, text, whole } from '../../platform/http/parameters.js';
import { inPieces, type Query, type Reply, type Route, routesFor } from '../../platform/http/route.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import { absent } from '../../platform/store/absent.js';
import type { Store } from '../../platform/store/store.js';
import { Batch, type MaterialUse } from '../batches/kind.js';
import { batchOf } from '../batches/past-run.js';
import { materialOf } from '../batches/phases/materials.js';
import { requireSite } from '../plant/kind.js';
import { type ExecutionEvent, streamOf } from '../runs/execution-log.js';
import { boundOf } from '../runs/facts.js';
import { BatchMaterials, Genealogy, LotTrace } from './bodies.js';
import { batchIDOf, graphOf } from './graph.js';
import { type MaterialReader, SiteUses } from './uses.js';
import type { Direction } from './walk.js';

export interface TraceDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly facts: MaterialReader & Pick<LedgerQueries, 'factPage'>;
  /** A trace asks the query thread again and again: a few at a time do, so that others are answered between them. */
  readonly turns: Turnstile;
}

const NODES_MAX = 5000;
const DEPTH = 20; // decisions 8.5, as the next
const DEPTH_MAX = 50;
const CURSOR = 'trace';
const EVENTS_PER_PAGE = 5000;
/** Some 100 kB of JSON. */
const ITEMS_PER_PIECE = 500;

const TRACE = {
  depth: whole(1, DEPTH_MAX, `entries from the lot to what is farthest; ${DEPTH} unless asked otherwise`),
  limit: whole(1, NODES_MAX, `nodes of a page; ${NODES_MAX} unless asked otherwise`),
  cursor: text('of the page before'),
};
const ERRORS = { 404: ['unknown_lot'], 503: ['past_busy'] };
const ofSite = ({ site }: { readonly site: string }, { store }: TraceDeps): void => void requireSite(store, site);
const route = routesFor<TraceDeps>();

export const traceRoutes: readonly Route<TraceDeps>[] = [
  ...(['forward', 'backward'] as const).map((direction) =>
    route({
      method: 'GET',
      path: `/api/v1/sites/{site}/trace/lot/{lotID}/${direction}`,
      action: `trace:lot-${direction}`,
      tier: 'read',
      query: parameters(TRACE),
      reply: LotTrace,
      errors: ERRORS,
      summary:
        direction === 'forward'
          ? 'Where a lot went: the batches that took it, the lots they made, and so on; query depth, limit, cursor'
          : 'What went into a lot: the batches that made it, the lots they took, and so on; query depth, limit, cursor',
      exists: ofSite,
      handle: ({ params, query }, deps) => trace(deps, params, query, [direction], { direction }),
    }),
  ),
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/trace/genealogy/{lotID}',
    action: 'trace:genealogy',
    tier: 'read',
    query: parameters(TRACE),
    reply: Genealogy,
    errors: ERRORS,
    summary: 'What went into a lot, and where it went; query depth, limit, cursor',
    exists: ofSite,
    handle: ({ params, query }, deps) => trace(deps, params, query, ['backward', 'forward'], {}),
  }),
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/trace/batch/{name}/materials',
    action: 'trace:batch-materials',
    tier: 'read',
    reply: BatchMaterials,
    errors: { 404: ['not_found', 'unreadable_row'] },
    summary: 'What a batch has consumed and produced so far',
    past: batchOf,
    exists: ofSite,
    async handle({ params: { site, name } }, { store, facts }): Promise<BatchMaterials> {
      const uses = await materialsOf(store, facts, site, name);
      if (uses.length === 0 && !store.get(Batch, site, name)) throw absent(store, Batch, site, name);
      const of = (wanted: string): MaterialUse[] => uses.filter(({ eventSubType }) => eventSubType === wanted).map(useOf);
      return { batch: name, batchID: batchIDOf(store, site, name), inputs: of('Consume'), outputs: of('Produce') };
    },
  }),
];

async function trace(
  { store, clock, facts, turns }: TraceDeps,
  { site, lotID }: { readonly site: string; readonly lotID: string },
  query: Query<keyof typeof TRACE>,
  directions: readonly Direction[],
  told: { readonly direction?: Direction },
): Promise<Reply<never>> {
  const depth = readDepth(query);
  const limit = readLimit(query, NODES_MAX, NODES_MAX);
  const cursor = query.get('cursor');
  const [moment, from] = cursor ? decodeCursor(CURSOR, cursor, 2) : [undefined, 0];
  return turns.through(async () => {
    const upTo = moment ?? (await facts.lastFactRow()); // all pages are of the moment of the first one
    const uses = new SiteUses(facts, site, upTo);
    const material = await uses.materialOfLot(lotID);
    if (material === undefined) throw new Refusal('missing', `no batch of site ${site} has consumed or produced a lot ${lotID}`, { code: 'unknown_lot' });
    const start = Math.max(0, from);
    const { isFull, isDeeper, ...graph } = await graphOf(store, uses, { site, lot: lotID, material, directions, depth, from: start, to: start + limit });
    const end = { truncated: isFull || isDeeper, nextCursor: isFull ? encodeCursor(CURSOR, upTo, start + limit) : null };
    return inPieces(bodyOf({ lotID, material, ...told, depth }, graph, end, clock));
  });
}

/** A JSON object: what is told of the whole, then the lists one after the other. */
async function* bodyOf(head: object, lists: Readonly<Record<string, readonly object[]>>, end: object, clock: Clock): AsyncGenerator<string, void> {
  const turns = new Turns(clock);
  yield JSON.stringify(head).slice(0, -1);
  for (const [name, items] of Object.entries(lists)) {
    yield `,${JSON.stringify(name)}:[`;
    for (let at = 0; at < items.length; at += ITEMS_PER_PIECE) {
      if (turns.isOver) await turns.next();
      const text = JSON.stringify(items.slice(at, at + ITEMS_PER_PIECE)).slice(1, -1);
      yield at === 0 ? text : `,${text}`;
    }
    yield ']';
  }
  yield `,${JSON.stringify(end).slice(1)}`;
}

/** @throws Refusal `invalid_query`. */
function readDepth(query: Query<'depth'>): number {
  const text = query.get('depth') ?? '';
  if (text === '') return DEPTH;
  const depth = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (depth < 1 || depth > DEPTH_MAX) throw invalid('invalid_query', 'depth', `depth must be a whole number from 1 to ${DEPTH_MAX}`);
  return depth;
}

/** Of a name that an order gave twice, what happened to the last one. */
async function materialsOf(store: Store, facts: TraceDeps['facts'], site: string, name: string): Promise<readonly ExecutionEvent[]> {
  const batch = store.get(Batch, site, name);
  const bound = batch ? boundOf('events', batch, {}) : {};
  const all: ExecutionEvent[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await facts.factPage<ExecutionEvent>(streamOf('events', site, name), {
      ...bound,
      timeMember: 'ts',
      equals: { eventType: 'Material' },
      order: 'asc',
      limit: EVENTS_PER_PAGE,
      cursor,
    });
    all.push(...page.items);
    if (page.nextCursor === null) return all;
    cursor = page.nextCursor;
  }
}

function useOf({ message, previousValue, value, element, unit: unitName, ts, auditRecordRef }: ExecutionEvent): MaterialUse {
  const { material, unit } = materialOf(message);
  return { material, lotID: previousValue, quantity: value, unit, element: element.path, unitName, at: ts, auditRecordRef };
}
