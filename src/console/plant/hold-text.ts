/** Why a batch is held, in a few words: what a person has written, or what was found, with the number that people know in the place of the names of its elements. */
import type { BatchItem } from '../data/types.js';
import { ruleText } from './rule-words.js';
import { toldText } from './told-words.js';

export function holdText({ name, batchID, heldBy }: Pick<BatchItem, 'name' | 'batchID' | 'heldBy'>): string {
  if (!heldBy) return '';
  const text = heldBy.reason || toldText(heldBy) || ruleText(heldBy.rule) || heldBy.rule;
  return text.replace(new RegExp(`\\b${name}[a-z0-9-]*`, 'g'), batchID);
}
