/** Where and when a batch ran: what `historian/batch/{batchID}/...` is restricted to (decisions 8.9). */
import type { StoreReader } from '../../platform/store/kind.js';
import { wallSpan } from '../batches/reading/clock-span.js';
import { Batch, type ClockSpan } from '../batches/kind.js';
import { BatchRecord } from '../records/kind.js';

export interface BatchSpan {
  readonly site: string;
  readonly units: readonly string[];
  /** Null before the batch started. */
  readonly fromMs: number | null;
  /** Null while it runs. */
  readonly toMs: number | null;
}

/** One span per site that knows the id: from the batch, or from its record when the batch itself is gone. */
export function batchSpans(store: StoreReader, batchID: string): readonly BatchSpan[] {
  const spans = new Map<string, BatchSpan>();
  for (const { metadata, spec } of store.list(BatchRecord)) {
    const { batch, equipment } = spec;
    if (batch.batchID !== batchID) continue;
    spans.set(metadata.site, { site: metadata.site, units: unique(equipment.map((each) => each.unit)), ...instants(wallSpan(batch)) });
  }
  for (const { metadata, spec, status } of store.list(Batch)) {
    if (spec.batchID !== batchID) continue;
    const units = status.allocations.flatMap((allocation) => (allocation.unit === '' ? [] : [allocation.unit]));
    spans.set(metadata.site, { site: metadata.site, units: unique(units), ...instants(wallSpan(status)) });
  }
  return [...spans.values()];
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
