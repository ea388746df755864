/** For whom a component of the product did what the trail has of it. */
import type { AuditRecord } from '../../data/types.js';

/** Correlation -> display name of who asked: the first in the list that is no component of the product. */
export type Askers = ReadonlyMap<string, string>;

export function askersOf(records: readonly AuditRecord[]): Askers {
  const askers = new Map<string, string>();
  for (const { correlationID, actorType, displayName } of records) if (actorType !== 'component' && !askers.has(correlationID)) askers.set(correlationID, displayName);
  return askers;
}

/** Who asked a component of the product for what it did: the person whose request it belongs to. Empty of what a person did. */
export function askedBy({ actorType, correlationID }: AuditRecord, askers: Askers): string {
  return actorType === 'component' ? (askers.get(correlationID) ?? '') : '';
}
