/** What the historian keeps of a batch: its units, from the earliest to the latest instant that the clock showed while it ran. */
import { pastRows } from '../../platform/store/past-rows.js';
import type { Store } from '../../platform/store/store.js';
import { Batch } from '../batches/kind.js';
import { BatchRecord } from '../records/kind.js';
import { timeBetween } from './holds.js';
import type { HeldSpan } from './kind.js';

/** Of one without a record yet all of its site, from its beginning on. */
export async function spanOfBatch(store: Store, site: string, name: string): Promise<HeldSpan> {
  const record = await pastRows(store).during([{ kind: BatchRecord.kind, site, name }], () => store.get(BatchRecord, site, name));
  if (!record) return { site, units: [], from: store.get(Batch, site, name)?.metadata.createdAt ?? '', to: '' };
  const units = [...new Set(record.spec.equipment.map(({ unit }) => unit).filter((unit) => unit !== ''))].sort();
  return { site, units, ...timeBetween(record.spec.batch) };
}
