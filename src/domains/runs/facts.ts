/** Reading the append-only facts of a batch back from the ledger, in the order in which they were written. */
import type { FactQuery, LedgerQueries } from '../../platform/ledger/queries.js';
import type { Resource } from '../../platform/store/resource.js';
import { type BatchStream, streamOf } from './execution-log.js';
import type { BatchStatus } from '../batches/kind.js';

export type FactReader = Pick<LedgerQueries, 'facts' | 'factPageJson'>;

type OfBatch = Resource<unknown, Pick<BatchStatus, 'factsBefore'>>;

/**
 * Facts of one kind, oldest first. They are kept by the name of the batch: an order that was withdrawn and sent again has the
 * same name, and what happened to the first is no history of the second (decisions Q-MES-08). Their numbers tell them apart:
 * a clock that is put back while a batch runs dates what happens to it before its creation. `damaged` is told of those that cannot be read.
 */
export async function factsOf<Fact>(
  reader: FactReader,
  stream: BatchStream,
  { metadata: { site, name, createdAt }, status }: OfBatch,
  damaged?: (entries: readonly number[]) => void,
): Promise<readonly Fact[]> {
  const all = await reader.facts<Fact>(streamOf(stream, site, name), status.factsBefore?.[stream], damaged);
  return status.factsBefore ? all : since(all, createdAt);
}

/** What restricts a page of a stream to what happened to the batch; `asked`: what the reader restricts it to. */
export function boundOf(stream: BatchStream, { metadata, status }: OfBatch, asked: Pick<FactQuery, 'fromMs'>): Pick<FactQuery, 'after' | 'fromMs'> {
  if (status.factsBefore) return { after: status.factsBefore[stream] };
  return { fromMs: Math.max(asked.fromMs ?? 0, Date.parse(metadata.createdAt)) };
}

/** Of a batch that release 0.1.0 made. Times are RFC 3339 in UTC with milliseconds, so text compares as time does. */
function since<Fact>(facts: readonly Fact[], createdAt: string): readonly Fact[] {
  return facts.filter((fact) => timeOf(fact) >= createdAt);
}

function timeOf(fact: unknown): string {
  const { ts, timestamp } = fact as { readonly ts?: string; readonly timestamp?: string };
  return ts ?? timestamp ?? '';
}
