/** Where and when a batch ran: what `historian/batch/{batchID}/...` is restricted to (decisions 8.9). */
import type { Store } from '../../platform/store/store.js';
import { wallSpan } from '../batches/reading/clock-span.js';
import { Batch, type ClockSpan } from '../batches/kind.js';
import { type ListedRecord, listedRecords, readRecord } from '../records/past-records.js';

export interface BatchSpan {
  readonly site: string;
  readonly units: readonly string[];
  /** Null before the batch started. */
  readonly fromMs: number | null;
  /** Null while it runs. */
  readonly toMs: number | null;
}

/** One span per site that knows the id: from the batch, or from its record when the batch itself is gone. */
export async function batchSpans(store: Store, batchID: string): Promise<readonly BatchSpan[]> {
  const spans = new Map<string, BatchSpan>();
  for (const { site, name } of listedRecords(store)
    .filter(({ entry }) => entry.batchID === batchID)
    .sort(byName)) {
    const record = await readRecord(store, site, name);
    if (!record) continue;
    const { batch, equipment } = record.spec;
    spans.set(site, { site, units: unique(equipment.map((each) => each.unit)), ...instants(wallSpan(batch)) });
  }
  for (const { metadata, spec, status } of store.list(Batch)) {
    if (spec.batchID !== batchID) continue;
    const units = status.allocations.flatMap((allocation) => (allocation.unit === '' ? [] : [allocation.unit]));
    spans.set(metadata.site, { site: metadata.site, units: unique(units), ...instants(wallSpan(status)) });
  }
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
