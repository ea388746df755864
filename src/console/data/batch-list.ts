/** The batches of the site: what matters now, and every other one that is searched for. */
import { signal } from '@preact/signals';
import { getList, type ListPage } from './api.js';
import { ofPart } from './plant-parts.js';
import { reader } from './plant-readers.js';
import { atSite, BACKGROUND } from './site.js';
import { FINAL } from './states.js';
import { coalesced } from './timers.js';
import type { BatchItem } from './types.js';

/** What matters now: the first page of the batches of the site, open ones first. The others are searched for. */
export const batches = signal<readonly BatchItem[]>([], ofPart('batches'));
/** How many there are, and the address of the next page. */
export const batchCount = signal(0);
export const batchesNext = signal('');

/** Of the list of batches; a panel shows a dozen. */
const BATCHES_PAGE = 60;

export type BatchSet = 'all' | 'open' | 'ended';
const STATES_OF: Readonly<Record<BatchSet, string>> = {
  all: '',
  open: 'Pending,Running,Pausing,Paused,Holding,Held,Restarting,Stopping,Aborting',
  ended: FINAL.join(),
};

/** The gateway searches, filters, sorts and counts. @param next address of a further page; empty for the first. */
export function findBatches(search: string, set: BatchSet, next = ''): Promise<ListPage<BatchItem>> {
  const query = new URLSearchParams({ order: 'recent', limit: String(BATCHES_PAGE) });
  for (const [name, value] of Object.entries({ search: search.trim(), state: STATES_OF[set] })) if (value !== '') query.set(name, value);
  return getList<BatchItem>(next === '' ? atSite(`batches?${query}`) : next, BACKGROUND);
}

export const readBatches = reader(
  () => findBatches('', 'all'),
  ({ items, next, total }) => {
    batches.value = items;
    batchCount.value = total;
    batchesNext.value = next;
  },
  'batches',
);

export const readBatchesSoon = coalesced(120, () => readBatches());
