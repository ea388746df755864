/** What somebody has typed for a tag, judged as far as a page can before it is asked once more; the gateway judges it again and names the field. */
import { isNumeric, type TagData, type TagDescriptor } from '../data/types.js';
import { t } from './strings.js';
import { recordText, typedNumber } from './text.js';

export interface Entered {
  readonly value: Exclude<TagData, null>;
  /** What is wrong with it; empty where nothing is. */
  readonly fault: string;
}

export function enteredValue({ dataType, engMin, engMax }: Pick<TagDescriptor, 'dataType' | 'engMin' | 'engMax'>, text: string): Entered {
  if (dataType === 'Boolean') return { value: text === 'true', fault: text === '' ? t.choose : '' };
  if (dataType === 'String') return { value: text, fault: '' }; // letter by letter, and none is a text too
  if (!isNumeric(dataType)) return { value: text.trim(), fault: text.trim() === '' ? t.choose : '' };
  const typed = typedNumber(text);
  const value = Number(typed);
  if (typed === undefined) return { value, fault: t.notNumber };
  if (dataType !== 'Float' && !Number.isSafeInteger(value)) return { value, fault: t.notWhole };
  const isOutside = (engMin !== '' && value < Number(engMin)) || (engMax !== '' && value > Number(engMax));
  return { value, fault: isOutside ? t.outside(recordText(engMin, true), recordText(engMax, true)) : '' };
}
