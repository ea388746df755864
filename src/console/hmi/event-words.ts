/** What an event of the journal says beside who and where, in the order in which it is read; a number with its unit of measure. */
import type { BatchEvent } from '../data/types.js';
import { word } from '../common/strings.js';
import { recordText, unitText } from '../common/text.js';

/** `monomer (kg)`: what it was, and what its quantity is counted in. */
const MATERIAL = /^(.*) \(([^()]*)\)$/;

export function partsOf({ eventType, value, previousValue, message }: Pick<BatchEvent, 'eventType' | 'value' | 'previousValue' | 'message'>): string[] {
  const [, material, unit = ''] = (eventType === 'Material' && MATERIAL.exec(message)) || [];
  const parts = material === undefined ? [message, value && word(value), previousValue] : [material, `${recordText(value, true)} ${unitText(unit)}`.trim(), previousValue];
  return [...new Set(parts)].filter((part) => part !== ''); // a prompt without a text of its own is called as what it asks for
}
