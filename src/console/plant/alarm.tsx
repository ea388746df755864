/** What every view of an alarm shares. */
import { computed, untracked } from '@preact/signals';
import { tagNamed } from '../data/module-tags.js';
import { alarms, definitions, tagList } from '../data/plant.js';
import type { Alarm, AlarmDefinition, AlarmEvent, TagDescriptor } from '../data/types.js';
import { word } from '../common/strings.js';
import { measuredText, unitText } from '../common/text.js';

export function isUnacknowledged({ state }: Alarm): boolean {
  return state.endsWith('Unacknowledged');
}

/** Limits of a measurement compare numbers; the other conditions tell a state or a word (contract 2, Alarm definition). */
export function isOfNumber({ conditionType }: Pick<Alarm, 'conditionType'>): boolean {
  return conditionType.startsWith('TagHigh') || conditionType.startsWith('TagLow') || conditionType === 'TagDeviation';
}

/** A switch that is on, or missing: the word for the condition says all of it. */
export function isOfSwitch({ conditionType }: Pick<Alarm, 'conditionType'>): boolean {
  return conditionType === 'TagTrue' || conditionType === 'TagFalse';
}

/** `ControlModule/li101` as people call it. */
export function sourceName({ source }: Pick<Alarm, 'source'>): string {
  return source.slice(source.lastIndexOf('/') + 1);
}

type Raised = Pick<Alarm, 'source' | 'definitionRef'>;

export function definitionOf({ definitionRef }: Pick<Raised, 'definitionRef'>): AlarmDefinition | undefined {
  return definitions.value.find(({ name }) => name === definitionRef);
}

/** The tag that the alarm watches; undefined of states, and of what engineering took away: nobody knows then in what its limit is measured. */
export function tagOf(alarm: Raised): TagDescriptor | undefined {
  return tagNamed(sourceName(alarm), definitionOf(alarm)?.tagName ?? '', tagList.value);
}

export const SEVERITIES = ['Critical', 'High', 'Medium', 'Low'] as const;

/**
 * The worst first, of the same severity those nobody has acknowledged, of them those that stand before those that have cleared, then
 * by priority; of equals the one that came first: in a flood it is the cause, and those that follow must not push it out of sight (ISA-18.2, first-out).
 */
export function urgency(a: Alarm, b: Alarm): number {
  return rank(a) - rank(b) || b.priority - a.priority || inOrder(a.activatedAt, b.activatedAt) || inOrder(a.name, b.name);
}

/** Of timestamps and names, which have no letters of a language: thousands are sorted at each change. */
export function inOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function newest(a: Alarm, b: Alarm): number {
  return inOrder(b.activatedAt, a.activatedAt) || urgency(a, b);
}

function rank(alarm: Alarm): number {
  return SEVERITIES.indexOf(alarm.severity) * 4 + (isUnacknowledged(alarm) ? 0 : 2) + (alarm.state.startsWith('Cleared') ? 1 : 0);
}

/** What calls for somebody: active or not acknowledged, and not shelved (contract 2, Alarm), the worst first. */
export function annunciated(found: readonly Alarm[]): readonly Alarm[] {
  let sorted = sortedOf.get(found);
  if (!sorted) sortedOf.set(found, (sorted = found.filter((alarm) => !alarm.shelved && alarm.state !== 'ClearedAcknowledged').sort(urgency)));
  return sorted;
}

/** The banner and every tile ask for the same list. */
const sortedOf = new WeakMap<readonly Alarm[], readonly Alarm[]>();

/** As the gateway writes a number: conditions that tell none have a word or a sentence. */
const NUMBER = /^-?\d+(\.\d+)?(e[+-]\d+)?$/;

/** A state in words, or a number with the unit of what was measured. */
export function eventValueText(event: AlarmEvent): string {
  if (!NUMBER.test(event.value)) return word(event.value);
  return `${measuredText(Number(event.value))} ${unitText(untracked(() => tagOf(event))?.engUnits ?? '')}`.trim();
}

/** The worst alarm that stands on a value, by its module: one that came and went is not worn by the value any more. */
export const standingOn = computed(() => {
  const worst = new Map<string, Alarm>();
  for (const alarm of annunciated(alarms.value)) {
    const module = sourceName(alarm);
    if (alarm.state.startsWith('Active') && isOfNumber(alarm) && !worst.has(module)) worst.set(module, alarm);
  }
  return worst;
});
