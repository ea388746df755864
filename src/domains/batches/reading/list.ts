/**
 * The list of batches as a reader of a panel asks for it: only those in some states, only those that hold a text, and with
 * `order=recent` what matters now first: open ones by priority, then pending ones, then the past, newest first. The past stands in
 * these orders already (`Batch.pastOrders`), and what is present is put among it: a page makes what it shows.
 *
 * A page is of its own moment. By name each batch comes once, whatever happens between two pages. With `order=recent` what moves between two
 * pages moves over the place that was reached: a batch that ends comes again among those that have ended, and one that starts, comes back or
 * gets a higher priority may be passed over. What has ended stays in its place, so that pages of the past alone repeat and leave out nothing.
 */
import type { BatchState } from '../../../../runtime/vocabulary/states.js';
import { Interleaved, made, type Sorted } from '../../../platform/base/sorted.js';
import { readChoice, readChoices, wordsOf } from '../../../platform/http/log-query.js';
import { compareKeys, sortedBy, type SortKey } from '../../../platform/http/paged-list.js';
import { text, texts, word, words } from '../../../platform/http/parameters.js';
import type { Query } from '../../../platform/http/route.js';
import type { StoreReader } from '../../../platform/store/kind.js';
import type { Resource } from '../../../platform/store/resource.js';
import type { Store } from '../../../platform/store/store.js';
import type { PastEntry, PastList } from '../../../platform/store/past-index.js';
import { asShown } from '../recovery/unrecovered.js';
import { Batch, BATCH_STATES, type BatchSpec, type BatchStatus, isFinalBatch, type ListedBatch, msOf, type PastBatch, saysWhatItIs } from '../kind.js';

type BatchResource = Resource<BatchSpec, BatchStatus>;

const ORDERS = ['name', 'recent'] as const;
/** Parameters that the way on to the next page keeps. */
export const LIST_QUERY = {
  state: words(BATCH_STATES),
  search: text(),
  name: texts(),
  batchID: text('exactly'),
  workOrderID: text('exactly'),
  order: word(ORDERS),
};
/** By which the past finds one without looking at all of it. */
const EXACT = ['batchID', 'workOrderID'] as const;

/** Those of one batchID. */
export function batchesOf(read: StoreReader, batchID: string, site?: string): readonly ListedBatch[] {
  const present = read.list(Batch, site).filter(({ spec }) => spec.batchID === batchID);
  return [...present, ...read.pastIndex<PastBatch>(Batch, site, ['batchID', batchID]).filter(saysWhat).map(listedOf)];
}

/** Those that the MES asks for by one ID: work orders, and batches that were made at the plant. */
export function pastBatchesOfOrder(read: StoreReader, site: string, id: string): readonly ListedBatch[] {
  return read.pastIndex<PastBatch>(Batch, site, ['found by order', id]).map(listedOf);
}

/** One of them by its name. */
export function listedBatch(read: StoreReader, site: string, name: string): ListedBatch | undefined {
  return read.get(Batch, site, name) ?? pastBatchNamed(read, site, name);
}

function pastBatchNamed(read: StoreReader, site: string, name: string): ListedBatch | undefined {
  const [past] = read.pastIndex<PastBatch>(Batch, site, ['name', name]).filter(saysWhat);
  return past && listedOf(past);
}

function saysWhat({ entry }: PastEntry<PastBatch>): boolean {
  return saysWhatItIs(entry);
}

/** What nobody asks for is not read of it. */
function listedOf({ site, name, entry }: PastEntry<PastBatch>): ListedBatch {
  return {
    get metadata() {
      const { uid, labels, generation, createdAt, updatedAt } = entry;
      return { name, site, uid, labels, generation, createdAt, updatedAt };
    },
    spec: entry,
    status: entry,
  };
}

/** In a list of one moment it is still what it was when something of it has come back or left since. */
export function isPresent(batch: ListedBatch): batch is BatchResource {
  return 'kind' in batch;
}

/** Of a site, by name, in one moment. */
export function listedBatches(store: Store, site: string): Sorted<ListedBatch> {
  const past = store.pastOrder<PastBatch>(Batch, site, 'listed');
  const present = store.list(Batch, site);
  return together(present, past, ({ metadata }) => past.before(metadata.name));
}

/** Of a site, the newest first, those of one instant by name, in one moment. */
export function newestBatches(store: Store, site: string): Sorted<ListedBatch> {
  const past = store.pastOrder<PastBatch>(Batch, site, 'created');
  const present = store.list(Batch, site).map((batch) => ({ batch, value: -msOf(batch.metadata.createdAt) }));
  present.sort((a, b) => a.value - b.value); // by name already
  return new Interleaved<ListedBatch>(
    present.map(({ batch }) => batch),
    present.map(({ batch, value }) => past.before(batch.metadata.name, value)),
    made(past, listedOf),
  );
}

/** @param present in the order of the past */
function together(present: readonly ListedBatch[], past: PastList<PastBatch>, before: (batch: ListedBatch) => number): Sorted<ListedBatch> {
  return new Interleaved(present, present.map(before), made(past, listedOf));
}

/** As it is shown: only what is present may be shown otherwise than it is stored. */
export function shownPhase(store: Store, batch: ListedBatch): BatchState {
  return isPresent(batch) ? asShown(store, batch).status.phase : batch.status.phase;
}

export interface BatchListing<Items = Sorted<ListedBatch>> {
  readonly list: string;
  readonly items: Items;
  readonly keyOf: (batch: ListedBatch) => SortKey;
}

/**
 * What is asked for, in one moment: what is past of it is looked at in slices where it is filtered, and stays what it was.
 * @throws Refusal `invalid_query` for a word there is not.
 */
export async function listingOf(store: Store, site: string, query: Query<keyof typeof LIST_QUERY>): Promise<BatchListing> {
  const { states, names, exact, wanted, isRecent } = readAsked(query);
  const phaseOf = (batch: ListedBatch): BatchState => shownPhase(store, batch);
  const named = [...new Set(names)].sort().flatMap((name) => (store.isPresent({ kind: Batch.kind, site, name }) ? [] : (pastBatchNamed(store, site, name) ?? [])));
  if (names)
    return batchListing(
      sortedBy([...store.list(Batch, site), ...named], ({ metadata }) => [metadata.name]),
      query,
      phaseOf,
    );
  const [asked] = exact;
  if (asked) {
    const past = store.pastIndex<PastBatch>(Batch, site, asked).filter((entry) => saysWhat(entry) && !store.isPresent({ kind: Batch.kind, site, name: entry.name }));
    return batchListing(
      sortedBy([...store.list(Batch, site), ...past.map(listedOf)], ({ metadata }) => [metadata.name]),
      query,
      phaseOf,
    );
  }
  const all = store.pastOrder<PastBatch>(Batch, site, isRecent ? 'recent' : 'listed');
  const present = batchListing(store.list(Batch, site), query, phaseOf);
  const past = await all.where({
    ...(states ? { oneOf: [['phase', states]] } : {}),
    ...(wanted === '' ? {} : { holding: { members: SEARCHED, text: wanted } }),
  });
  const before = (batch: ListedBatch): number => {
    if (!isRecent) return past.before(batch.metadata.name);
    return isFinalBatch(batch.status.phase) ? past.before(batch.metadata.name, endedBefore(batch)) : 0;
  };
  return { ...present, items: together(present.items, past, before) };
}

function readAsked(query: Query<keyof typeof LIST_QUERY>) {
  return {
    states: readChoices(query, 'state', BATCH_STATES),
    names: wordsOf(query, 'name')?.split(','),
    exact: EXACT.flatMap((member) => (query.get(member) ? [[member, query.get(member) ?? ''] as const] : [])),
    wanted: (query.get('search') ?? '').trim().toLowerCase(),
    isRecent: readChoice(query, 'order', ORDERS) === 'recent',
  };
}

/** @param batches sorted by name. @param phaseOf as it is shown. @throws Refusal `invalid_query` for a word there is not. */
export function batchListing(
  batches: readonly ListedBatch[],
  query: Query<keyof typeof LIST_QUERY>,
  phaseOf = (batch: ListedBatch): BatchState => batch.status.phase,
): BatchListing<readonly ListedBatch[]> {
  const { states, names, exact, wanted, isRecent } = readAsked(query);
  const found = batches.filter(
    (batch) =>
      (!states || states.includes(phaseOf(batch) as (typeof BATCH_STATES)[number])) &&
      (!names || names.includes(batch.metadata.name)) &&
      exact.every(([member, id]) => batch.spec[member] === id) &&
      holds(batch, wanted),
  );
  if (!isRecent) return { list: 'batches', items: found, keyOf: ({ metadata }) => [metadata.name] };
  const keyed = found.map((batch) => ({ batch, key: recency(batch) })).sort((a, b) => compareKeys(a.key, b.key));
  return { list: 'batches-recent', items: keyed.map(({ batch }) => batch), keyOf: recency };
}

/** Of a past one, which has all of them. */
const SEARCHED = ['batchID', 'masterRecipeRef', 'workOrderID', 'lotID', 'description', 'name'];

function holds({ metadata, spec }: ListedBatch, wanted: string): boolean {
  if (wanted === '') return true;
  return [spec.batchID, spec.masterRecipeRef, spec.workOrderID, spec.lotID, spec.description, metadata.name].some((text) => text.toLowerCase().includes(wanted));
}

function recency({ metadata, spec, status }: ListedBatch): SortKey {
  const { name, createdAt } = metadata;
  if (isFinalBatch(status.phase)) return [2, endedBefore({ metadata, status }), '', name];
  return [status.phase === 'Pending' ? 1 : 0, -spec.priority, createdAt, name];
}

/** The later the lower. */
function endedBefore({ metadata, status }: Pick<ListedBatch, 'metadata' | 'status'>): number {
  return -msOf(status.endedAt || metadata.createdAt);
}
