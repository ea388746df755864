/** Why a batch is held, in the words of the gateway, with the number that people know in the place of the names of its elements. */
import type { BatchItem } from '../data/types.js';

export function holdText({ name, batchID, heldBy }: Pick<BatchItem, 'name' | 'batchID' | 'heldBy'>): string {
  if (!heldBy) return '';
  const text = heldBy.reason || heldBy.message || heldBy.rule;
  return text.replace(new RegExp(`\\b${name}[a-z0-9-]*`, 'g'), batchID);
}
