/** Where and when a batch ran: what `historian/batch/{batchID}/...` is restricted to (decisions 8.9). */
import { absent } from '../../platform/store/absent.js';
import { pastRows } from '../../platform/store/past-rows.js';
import type { Store } from '../../platform/store/store.js';
import { batchOf } from '../batches/past-run.js';
import { batchesOf } from '../batches/reading/list.js';
import { wallSpan } from '../batches/reading/clock-span.js';
import { Batch, type ClockSpan } from '../batches/kind.js';
import { BatchRecord } from '../records/kind.js';
import { type ListedRecord, readRecord, recordsOf } from '../records/past-records.js';

export interface BatchSpan {
  readonly site: string;
  readonly units: readonly string[];
  /** Null before the batch started. */
  readonly fromMs: number | null;
  /** Null while it runs. */
  readonly toMs: number | null;
}

/**
 * One span per site that knows the id, of those that are asked for: from the batch, or from its record when the batch itself is gone.
 * Of others nothing is read: how long it takes would tell of them.
 * @throws Refusal 404 where all that is left is a record that cannot be read.
 */
export async function batchSpans(store: Store, batchID: string, isAskedFor: (site: string) => boolean): Promise<readonly BatchSpan[]> {
  const spans = new Map<string, BatchSpan>();
  let lost: ListedRecord | undefined;
  for (const listed of recordsOf(store, batchID)
    .filter(({ site }) => isAskedFor(site))
    .sort(byName)) {
    const { site, name } = listed;
    const record = await readRecord(store, site, name);
    if (!record) {
      lost ??= listed;
      continue;
    }
    const { batch, equipment } = record.spec;
    spans.set(site, { site, units: unique(equipment.map((each) => each.unit)), ...instants(wallSpan(batch)) });
  }
  for (const { metadata: found } of batchesOf(store, batchID)) {
    if (!isAskedFor(found.site)) continue;
    const batch = await pastRows(store).during(batchOf(found), () => store.get(Batch, found.site, found.name));
    if (!batch) continue; // its row cannot be used
    const { metadata, status } = batch;
    const units = status.allocations.flatMap((allocation) => (allocation.unit === '' ? [] : [allocation.unit]));
    spans.set(metadata.site, { site: metadata.site, units: unique(units), ...instants(wallSpan(status)) });
  }
  if (spans.size === 0 && lost) throw absent(store, BatchRecord, lost.site, lost.name);
  return [...spans.values()];
}

function byName(a: ListedRecord, b: ListedRecord): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : a.site < b.site ? -1 : 1;
}

function instants({ from, to }: ClockSpan): Pick<BatchSpan, 'fromMs' | 'toMs'> {
  return { fromMs: timeOf(from), toMs: timeOf(to) };
}

function timeOf(text: string): number | null {
  return text === '' ? null : Date.parse(text);
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}
