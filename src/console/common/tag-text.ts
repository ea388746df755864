/** The value of a tag as people read it: a number with its unit, the label of a switch, or what is wrong with it. */
import type { TagDescriptor, TagValue } from '../data/types.js';
import { t, word } from './strings.js';
import { numberText, unitText } from './text.js';

export function tagText(tag: TagDescriptor, { value, quality }: TagValue): string {
  if (quality !== 'Good' && value === null) return t.qualities[quality] ?? quality;
  const text = plainText(tag, value);
  return quality === 'Good' ? text : `${text} (${t.qualities[quality] ?? quality})`;
}

function plainText(tag: TagDescriptor, value: TagValue['value']): string {
  if (typeof value === 'number') {
    const max = Math.max(Math.abs(Number.parseFloat(tag.engMin) || 0), Math.abs(Number.parseFloat(tag.engMax) || 0));
    return `${numberText(value, max > 0 ? max : undefined)} ${unitText(tag.engUnits)}`.trim();
  }
  if (typeof value === 'boolean') return switchText(tag, value);
  return value === null ? '–' : word(value);
}

export function switchText({ trueLabel, falseLabel }: TagDescriptor, value: boolean): string {
  const label = value ? trueLabel : falseLabel;
  return label === '' ? (value ? t.on : t.off) : word(label);
}
