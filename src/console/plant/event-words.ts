/** What an event of the journal says beside who and where, in the order in which it is read; a number with its unit of measure. */
import type { BatchEvent } from '../data/types.js';
import { word } from '../common/strings.js';
import { readingText, recordText, unitText } from '../common/text.js';
import { causeText, type Told, toldText } from './told-words.js';

type Event = Pick<BatchEvent, 'eventType' | 'eventSubType' | 'value' | 'previousValue' | 'message' | 'told'>;

/** Sentences that say all of a change, its values too. */
const SAY_ALL: readonly Told['code'][] = ['bypass-set', 'bypass-ended', 'fault-reset', 'channels-released'];
/** Of what the box itself says the value belongs to the sentence. */
const WITH_VALUE: readonly Told['code'][] = ['prompt-cancelled', 'result-delivered'];

export function partsOf(event: Event): string[] {
  const { eventSubType, value, previousValue, message, told } = event;
  // one part: a change is read from what it was to what it is
  if (eventSubType === 'Modification' && !(told && SAY_ALL.includes(told.code)))
    return [
      `${toldText(event)}: ${[previousValue, value]
        .filter((part) => part !== '')
        .map(valueText)
        .join(' → ')}`,
    ];
  if (eventSubType === 'Mode Change') return [message, `${word(previousValue)} → ${word(value)}`].filter((part) => part !== '');
  if (told?.code === 'material') return [toldText(event), `${quantityText(value)} ${unitText(told.parts.engUnits ?? '')}`.trim(), previousValue].filter((part) => part !== '');
  if (told) return [...(WITH_VALUE.includes(told.code) ? [value] : []), toldText(event)].filter((part) => part !== '');
  if (value === 'HoldCause') return [causeText({ message: message || previousValue })];
  const parts = [message, value && word(value), previousValue];
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
