/** What an alarm says of its limit and of the value that it came with. */
import type { Alarm } from '../../data/types.js';
import { t, word, words } from '../../common/strings.js';
import { measuredText, recordText, unitText } from '../../common/text.js';
import { isOfNumber, isOfSwitch, tagOf } from '../../plant/alarm.js';

const said = words({ en: { then: (value: string) => `came at ${value}` }, de: { then: (value: string) => `kam bei ${value}` } });

function measured(alarm: Alarm): string {
  return isOfNumber(alarm) ? unitText(tagOf(alarm)?.engUnits ?? '') : '';
}

export function limitText(alarm: Alarm): string {
  const setpoint = isOfSwitch(alarm) ? '' : isOfNumber(alarm) ? recordText(alarm.setpoint, true) : word(alarm.setpoint);
  return [t.conditions[alarm.conditionType] ?? alarm.conditionType, setpoint, measured(alarm)].filter((part) => part !== '').join(' ');
}

/** The value of the moment in which it came; '' where the condition says all of it. */
export function valueThen(alarm: Alarm): string {
  if (alarm.value === '' || isOfSwitch(alarm) || alarm.conditionType === 'StateEquals') return '';
  return `${isOfNumber(alarm) ? measuredText(Number(alarm.value), Number(alarm.setpoint)) : word(alarm.value)} ${measured(alarm)}`.trim();
}

/** The same, said to be that. */
export function thenText(alarm: Alarm): string {
  const value = valueThen(alarm);
  return value === '' ? '' : said.then(value);
}
