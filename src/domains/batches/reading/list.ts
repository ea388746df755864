/**
 * The list of batches as a reader of a panel asks for it: only those in some states, only those that hold a text, and with
 * `order=recent` what matters now first: open ones by priority, then pending ones, then the past, newest first.
 */
import type { BatchState } from '../../../../runtime/vocabulary/states.js';
import { readChoice, readChoices, wordsOf } from '../../../platform/http/log-query.js';
import { compareKeys, type SortKey } from '../../../platform/http/paged-list.js';
import { text, texts, word, words } from '../../../platform/http/parameters.js';
import type { Query } from '../../../platform/http/route.js';
import type { StoreReader } from '../../../platform/store/kind.js';
import type { Resource } from '../../../platform/store/resource.js';
import type { Store } from '../../../platform/store/store.js';
import type { PastEntry } from '../../../platform/store/past-index.js';
import { asShown } from '../recovery/unrecovered.js';
import { Batch, BATCH_STATES, type BatchSpec, type BatchStatus, isFinalBatch, type ListedBatch, type PastBatch } from '../kind.js';

const ORDERS = ['name', 'recent'] as const;
/** Parameters that the way on to the next page keeps. */
export const LIST_QUERY = { state: words(BATCH_STATES), search: text(), name: texts(), order: word(ORDERS) };

/** Present and past, sorted by name; of the past nothing is read. */
export function listedBatches(read: StoreReader, site?: string): readonly ListedBatch[] {
  const present = read.list(Batch, site);
  const past = read.pastIndex<PastBatch>(Batch, site).filter(saysWhatItIs);
  const list: ListedBatch[] = [];
  let next = 0;
  for (const each of past) {
    for (let other = present[next]; other && isBefore(other.metadata, each); other = present[next]) {
      list.push(other);
      next += 1;
    }
    list.push(listedOf(each));
  }
  return next === 0 && list.length === 0 ? present : list.concat(present.slice(next));
}

/** Those of one batchID. */
export function batchesOf(read: StoreReader, batchID: string, site?: string): readonly ListedBatch[] {
  const present = read.list(Batch, site).filter(({ spec }) => spec.batchID === batchID);
  return [...present, ...read.pastIndex<PastBatch>(Batch, site, ['batchID', batchID]).filter(saysWhatItIs).map(listedOf)];
}

/** One of them by its name. */
export function listedBatch(read: StoreReader, site: string, name: string): ListedBatch | undefined {
  const present = read.get(Batch, site, name);
  if (present) return present;
  const [past] = read.pastIndex<PastBatch>(Batch, site, ['name', name]).filter(saysWhatItIs);
  return past && listedOf(past);
}

/** One that is damaged says nothing: it is left out, as the batch of a damaged row is. */
function saysWhatItIs({ entry }: PastEntry<PastBatch>): boolean {
  return (entry.phase as BatchState | undefined) !== undefined;
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

function isBefore(a: { readonly name: string; readonly site: string }, b: { readonly name: string; readonly site: string }): boolean {
  return a.name < b.name || (a.name === b.name && a.site < b.site);
}

/** As it is shown: only what is present may be shown otherwise than it is stored. */
export function shownPhase(store: Store, batch: ListedBatch): BatchState {
  return store.isPresent({ kind: Batch.kind, ...batch.metadata }) ? asShown(store, batch as Resource<BatchSpec, BatchStatus>).status.phase : batch.status.phase;
}

export interface BatchListing {
  readonly list: string;
  readonly items: readonly ListedBatch[];
  readonly keyOf: (batch: ListedBatch) => SortKey;
}

/** @param batches sorted by name. @param phaseOf as it is shown. @throws Refusal `invalid_query` for a word there is not. */
export function batchListing(
  batches: readonly ListedBatch[],
  query: Query<keyof typeof LIST_QUERY>,
  phaseOf = (batch: ListedBatch): BatchState => batch.status.phase,
): BatchListing {
  const states = readChoices(query, 'state', BATCH_STATES);
  const names = wordsOf(query, 'name')?.split(',');
  const wanted = (query.get('search') ?? '').trim().toLowerCase();
  const recent = readChoice(query, 'order', ORDERS) === 'recent';
  const found = batches.filter(
    (batch) => (!states || states.includes(phaseOf(batch) as (typeof BATCH_STATES)[number])) && (!names || names.includes(batch.metadata.name)) && holds(batch, wanted),
  );
  if (!recent) return { list: 'batches', items: found, keyOf: ({ metadata }) => [metadata.name] };
  const keyed = found.map((batch) => ({ batch, key: recency(batch) })).sort((a, b) => compareKeys(a.key, b.key));
  return { list: 'batches-recent', items: keyed.map(({ batch }) => batch), keyOf: recency };
}

function holds({ metadata, spec }: ListedBatch, wanted: string): boolean {
  if (wanted === '') return true;
  return [spec.batchID, spec.masterRecipeRef, spec.workOrderID, spec.lotID, spec.description, metadata.name].some((text) => text.toLowerCase().includes(wanted));
}

function recency({ metadata, spec, status }: ListedBatch): SortKey {
  const { name, createdAt } = metadata;
  if (isFinalBatch(status.phase)) return [2, -Date.parse(status.endedAt || createdAt), '', name];
  return [status.phase === 'Pending' ? 1 : 0, -spec.priority, createdAt, name];
}
