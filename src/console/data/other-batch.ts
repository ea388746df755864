/** Other batches of the same recipe, to lay one beside the batch that is open: what it took, and its curves from its own beginning. */
import { get, getList } from './api.js';
import { atSite } from './plant.js';
import type { BatchDetail, BatchItem, Timeline } from './types.js';

const LISTED_MAX = 50;

export interface OtherBatch {
  readonly batch: BatchDetail;
  /** Undefined where it could not be read; then `timelineFault` says why. */
  readonly timeline: Timeline | undefined;
  readonly timelineFault: unknown;
}

/** The last ones that have started, newest first. */
export async function batchesLike({ name, recipe }: BatchDetail): Promise<readonly BatchItem[]> {
  const query = new URLSearchParams({ order: 'recent', limit: String(LISTED_MAX), search: recipe.name });
  const { items } = await getList<BatchItem>(atSite(`batches?${query}`), { background: true });
  return items.filter((each) => each.name !== name && each.masterRecipeRef === recipe.name && each.startedAt !== '');
}

/** @throws ApiError where the batch itself cannot be read. */
export async function readOther(name: string): Promise<OtherBatch> {
  const at = atSite(`batches/${encodeURIComponent(name)}`);
  let timelineFault: unknown;
  const ofTimeline = get<Timeline>(`${at}/timeline`, { background: true }).catch((fault: unknown) => void (timelineFault = fault));
  const [batch, timeline] = await Promise.all([get<BatchDetail>(at, { background: true }), ofTimeline]);
  return { batch, timeline: timeline ?? undefined, timelineFault };
}

/** The unit that had the same task in the other batch; the same unit where it had none. */
export function unitThere(unit: string, here: BatchDetail, there: BatchDetail): string {
  const capability = here.allocations.find((each) => each.unit === unit)?.capability;
  return there.allocations.find((each) => each.capability === capability && each.unit !== '')?.unit ?? unit;
}
