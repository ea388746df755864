/** Reading the append-only facts of a batch back from the ledger. */
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import type { Resource } from '../../platform/store/resource.js';
import { type FactStream, streamOf } from './execution-log.js';

export type FactReader = Pick<LedgerQueries, 'facts' | 'factPageJson'>;

/**
 * Facts of one kind, oldest first. They are kept by the name of the batch: an order that was withdrawn and sent again has the
 * same name, and what happened to the first is no history of the second (decisions Q-MES-08).
 */
export async function factsOf<Fact extends { readonly ts: string }>(
  reader: FactReader,
  stream: FactStream,
  { metadata: { site, name, createdAt } }: Resource,
): Promise<readonly Fact[]> {
  const all = await reader.facts<Fact>(streamOf(stream, site, name));
  return since(all, createdAt, (fact) => fact.ts);
}

/** Times are RFC 3339 in UTC with milliseconds, so text compares as time does; what happens is written in its order. */
export function since<Fact>(facts: readonly Fact[], createdAt: string, timeOf: (fact: Fact) => string): readonly Fact[] {
  return facts.length === 0 || timeOf(facts[0]) >= createdAt ? facts : facts.filter((fact) => timeOf(fact) >= createdAt);
}
