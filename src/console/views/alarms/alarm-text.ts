/** What an alarm says of its limit and of the value that it came with. */
import { definitions, tagList } from '../../data/plant.js';
import { measuredIn } from '../../data/module-tags.js';
import type { Alarm, AlarmDefinition, TagDescriptor } from '../../data/types.js';
import { t, word, words } from '../../common/strings.js';
import { measuredText, recordText, unitText } from '../../common/text.js';
import { isOfNumber, isOfSwitch, sourceName } from '../../plant/alarm.js';

const said = words({ en: { then: (value: string) => `came at ${value}` }, de: { then: (value: string) => `kam bei ${value}` } });

export function definitionOf({ definitionRef }: Pick<Alarm, 'definitionRef'>): AlarmDefinition | undefined {
  return definitions.value.find(({ name }) => name === definitionRef);
}

/** The tag that the alarm watches; undefined of states, and of what engineering took away. */
export function tagOf(alarm: Alarm): TagDescriptor | undefined {
  const name = definitionOf(alarm)?.tagName ?? '';
  const source = sourceName(alarm);
  return name === '' ? undefined : tagList.value.find(({ controlModule, name: own }) => controlModule === source && own === name);
}

function measured(alarm: Alarm): string {
  return isOfNumber(alarm) ? unitText(measuredIn(sourceName(alarm), tagList.value)) : '';
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
