/** Alarms that came of one thing, as the gateway tells it of each; what it knows nothing of stands alone. */
import { computed } from '@preact/signals';
import { arrivals, floodOf } from '../data/alarm-rate.js';
import { alarms } from '../data/plant.js';
import type { Alarm } from '../data/types.js';
import { nowMs } from '../common/clock.js';
import { word, words } from '../common/strings.js';
import { annunciated, inOrder, SEVERITIES, sourceName, urgency } from './alarm.js';

export interface AlarmGroup {
  /** Name of the alarm that came first, which may have gone; of groups by unit that of the unit. */
  readonly key: string;
  readonly title: string;
  readonly worst: Alarm;
  /** In the order in which they came. */
  readonly alarms: readonly Alarm[];
}

export const reasonWords = words({
  en: { definition: 'follows from it', device: 'its I/O is lost', command: 'commanded by it', source: 'same source' },
  de: { definition: 'folgt daraus', device: 'I/O verloren', command: 'dadurch kommandiert', source: 'selbe Quelle' },
});

function cameFirst(a: Alarm, b: Alarm): number {
  return inOrder(a.activatedAt, b.activatedAt) || inOrder(a.name, b.name);
}

function groupsOf(found: readonly Alarm[], keyOf: (alarm: Alarm) => string, titleOf: (key: string, first: Alarm) => string): AlarmGroup[] {
  const members = new Map<string, Alarm[]>();
  for (const alarm of found) {
    const key = keyOf(alarm);
    const known = members.get(key);
    if (known) known.push(alarm);
    else members.set(key, [alarm]);
  }
  const groups = [...members].flatMap(([key, own]) => {
    own.sort((a, b) => Number(b.name === key) - Number(a.name === key) || cameFirst(a, b)); // the cause is the first, whatever the clock said
    const [first] = own;
    const [worst] = [...own].sort(urgency);
    return first && worst ? [{ key, title: titleOf(key, first), worst, alarms: own }] : [];
  });
  return groups.sort(
    (a, b) => SEVERITIES.indexOf(a.worst.severity) - SEVERITIES.indexOf(b.worst.severity) || (a.alarms[0] && b.alarms[0] ? cameFirst(a.alarms[0], b.alarms[0]) : 0),
  );
}

/** The worst group first, of equals the one that began first. */
export function byCause(found: readonly Alarm[]): AlarmGroup[] {
  const known = new Map(alarms.peek().map((alarm) => [alarm.name, alarm]));
  return groupsOf(
    found,
    ({ cause, name }) => cause?.alarm ?? name,
    (key, first) => {
      const root = known.get(key) ?? first;
      return [(root.unit || sourceName(root)).toUpperCase(), root.message || root.name].join(': ');
    },
  );
}

export function byUnit(found: readonly Alarm[]): AlarmGroup[] {
  return groupsOf(
    found,
    ({ unit }) => unit,
    (key) => key.toUpperCase() || '–',
  );
}

/** When alarms came, ascending. */
export const came = computed(() => arrivals(alarms.value));
const counted = computed(() => floodOf(came.value, nowMs.value));
const begun = computed(() => counted.value?.sinceMs);
/** Undefined while there is none. It may end by itself: it is looked at each second. */
export const flood = computed(() => (begun.value === undefined || came.value.length === 0 ? undefined : counted.peek()));

/** Of a flood: the alarm that it began with, and what came after it. */
export const floodStory = computed(() => {
  const now = flood.value;
  if (!now) return undefined;
  const members = alarms.value.filter(({ shelved, activatedAt }) => !shelved && Date.parse(activatedAt) >= now.sinceMs).sort(cameFirst);
  const [first] = members;
  if (!first) return undefined;
  const own = members.filter(({ cause }) => cause?.alarm === first.name).length;
  const [other] = byCause(members.filter(({ name, cause }) => name !== first.name && cause?.alarm !== first.name)).filter((group) => group.alarms.length > 1);
  return { first, count: members.length - 1, own, other: other && { title: other.title, count: other.alarms.length } };
});

/** How many there are of each severity that call for somebody. */
export function countsOf(found: readonly Alarm[]): readonly { readonly severity: Alarm['severity']; readonly count: number; readonly text: string }[] {
  const shown = annunciated(found);
  return SEVERITIES.flatMap((severity) => {
    const count = shown.filter((alarm) => alarm.severity === severity).length;
    return count === 0 ? [] : [{ severity, count, text: `${count} ${word(severity)}` }];
  });
}
