/** What an event of the journal says beside who and where, in the order in which it is read; a number with its unit of measure. */
import type { BatchEvent } from '../data/types.js';
import { word } from '../common/strings.js';
import { readingText, recordText, unitText } from '../common/text.js';
import { boxText } from './box-words.js';
import { causeText, ruleText } from './rule-words.js';

/** `monomer (kg)`: what it was, and what its quantity is counted in. */
const MATERIAL = /^(.*) \(([^()]*)\)$/;

type Told = Pick<BatchEvent, 'eventType' | 'eventSubType' | 'value' | 'previousValue' | 'message'>;

export function partsOf({ eventType, eventSubType, value, previousValue, message }: Told): string[] {
  if (value === 'HoldCause') return [ruleText(previousValue) === '' ? boxText(message) : causeText(`${previousValue}: ${message}`)];
  if (value === 'RuntimeRestart' || value === 'ApplianceRestart') return [boxText(message)];
  if (eventType === 'Alarm') return [boxText(message)];
  // one part: a change is read from what it was to what it is
  if (eventSubType === 'Modification')
    return [
      `${boxText(message)}: ${[previousValue, value]
        .filter((part) => part !== '')
        .map(valueText)
        .join(' → ')}`,
    ];
  if (eventSubType === 'Mode Change') return [message, `${word(previousValue)} → ${word(value)}`].filter((part) => part !== '');
  const [, material, unit = ''] = (eventType === 'Material' && MATERIAL.exec(message)) || [];
  const parts = material === undefined ? [message, value && word(value), previousValue] : [material, `${quantityText(value)} ${unitText(unit)}`.trim(), previousValue];
  return [...new Set(parts)].filter((part) => part !== ''); // a prompt without a text of its own is called as what it asks for
}

/** What was computed is told as a reading is, every digit of it stands in the file and in the record; what a recipe or a person gave stands as it was given. */
function quantityText(value: string): string {
  const [, fraction = ''] = value.split('.');
  return fraction.length > FRACTION_GIVEN_MAX ? readingText(Number(value)) : recordText(value, true);
}

/** Nobody gives more digits behind the sign; a number with more was computed. */
const FRACTION_GIVEN_MAX = 4;

function valueText(value: string): string {
  return /^-?\d+(\.\d+)?$/.test(value) ? quantityText(value) : word(value);
}
