/**
 * The list of batches as a reader of a panel asks for it: only those in some states, only those that hold a text, and with
 * `order=recent` what matters now first: open ones by priority, then pending ones, then the past, newest first.
 */
import type { BatchState } from '../../../../runtime/vocabulary/states.js';
import { readChoice, readChoices, wordsOf } from '../../../platform/http/log-query.js';
import { compareKeys, type SortKey } from '../../../platform/http/paged-list.js';
import { text, texts, word, words } from '../../../platform/http/parameters.js';
import type { Query } from '../../../platform/http/route.js';
import type { Resource } from '../../../platform/store/resource.js';
import { BATCH_STATES, type BatchSpec, type BatchStatus, isFinalBatch } from '../kind.js';

type BatchResource = Resource<BatchSpec, BatchStatus>;

const ORDERS = ['name', 'recent'] as const;
/** Parameters that the way on to the next page keeps. */
export const LIST_QUERY = { state: words(BATCH_STATES), search: text(), name: texts(), order: word(ORDERS) };

export interface BatchListing {
  readonly list: string;
  readonly items: readonly BatchResource[];
  readonly keyOf: (batch: BatchResource) => SortKey;
}

/** @param batches sorted by name. @param phaseOf as it is shown. @throws Refusal `invalid_query` for a word there is not. */
export function batchListing(
  batches: readonly BatchResource[],
  query: Query<keyof typeof LIST_QUERY>,
  phaseOf = (batch: BatchResource): BatchState => batch.status.phase,
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

function holds({ metadata, spec }: BatchResource, wanted: string): boolean {
  if (wanted === '') return true;
  return [spec.batchID, spec.masterRecipeRef, spec.workOrderID, spec.lotID, spec.description, metadata.name].some((text) => text.toLowerCase().includes(wanted));
}

function recency({ metadata, spec, status }: BatchResource): SortKey {
  const { name, createdAt } = metadata;
  if (isFinalBatch(status.phase)) return [2, -Date.parse(status.endedAt || createdAt), '', name];
  return [status.phase === 'Pending' ? 1 : 0, -spec.priority, createdAt, name];
}
