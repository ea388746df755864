/** Other batches of the same recipe, to lay one beside the batch that is open: what it took, and its curves from its own beginning. */
import { get, getList } from './api.js';
import { atSite } from './plant.js';
import type { BatchDetail, BatchItem, Timeline } from './types.js';

const LISTED_MAX = 50;

export interface OtherBatch {
  readonly batch: BatchDetail;
  readonly timeline: Timeline;
}

/** The last ones that have started, newest first. */
export async function batchesLike({ name, recipe }: BatchDetail): Promise<readonly BatchItem[]> {
  const query = new URLSearchParams({ order: 'recent', limit: String(LISTED_MAX), search: recipe.name });
  const { items } = await getList<BatchItem>(atSite(`batches?${query}`), { background: true });
  return items.filter((each) => each.name !== name && each.masterRecipeRef === recipe.name && each.startedAt !== '');
}

export async function readOther(name: string): Promise<OtherBatch> {
  const at = atSite(`batches/${encodeURIComponent(name)}`);
  const [batch, timeline] = await Promise.all([get<BatchDetail>(at, { background: true }), get<Timeline>(`${at}/timeline`, { background: true })]);
  return { batch, timeline };
}

/** The unit that had the same task in the other batch; the same unit where it had none. */
export function unitThere(unit: string, here: BatchDetail, there: BatchDetail): string {
  const capability = here.allocations.find((each) => each.unit === unit)?.capability;
  return there.allocations.find((each) => each.capability === capability && each.unit !== '')?.unit ?? unit;
}
