/** What an event of the journal says beside who and where, in the order in which it is read; a number with its unit of measure. */
import type { BatchEvent } from '../data/types.js';
import { word } from '../common/strings.js';
import { recordText, unitText } from '../common/text.js';

/** `monomer (kg)`: what it was, and what its quantity is counted in. */
const MATERIAL = /^(.*) \(([^()]*)\)$/;

type Told = Pick<BatchEvent, 'eventType' | 'eventSubType' | 'value' | 'previousValue' | 'message'>;

export function partsOf({ eventType, eventSubType, value, previousValue, message }: Told): string[] {
  // one part: a change is read from what it was to what it is
  if (eventSubType === 'Mode Change') return [message, `${word(previousValue)} → ${word(value)}`].filter((part) => part !== '');
  const [, material, unit = ''] = (eventType === 'Material' && MATERIAL.exec(message)) || [];
  const parts = material === undefined ? [message, value && word(value), previousValue] : [material, `${recordText(value, true)} ${unitText(unit)}`.trim(), previousValue];
  return [...new Set(parts)].filter((part) => part !== ''); // a prompt without a text of its own is called as what it asks for
}
