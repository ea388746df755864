/** An alarm as it is read (contract 2, Alarm; decisions D-ALARM-01). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { readChoices, readFlag, wordsOf } from '../../platform/http/log-query.js';
import type { Terms } from '../../platform/base/term.js';
import { flag, texts, words } from '../../platform/http/parameters.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { Query } from '../../platform/http/route.js';
import { isShelved } from './counts.js';
import { isActive, type AlarmResource } from './kind.js';
import { ALARM_ORIGINS, ALARM_SEVERITIES, ALARM_STATES, ALARM_TYPES, CAUSE_REASONS } from './kind.js';

export const AlarmBody = v.strictObject({
  name: v.string(),
  source: v.string(),
  type: v.picklist(ALARM_TYPES),
  severity: v.picklist(ALARM_SEVERITIES),
  state: v.picklist(ALARM_STATES),
  message: v.string(),
  definitionRef: v.string(),
  conditionType: v.string(),
  setpoint: v.string(),
  value: v.string(),
  acknowledgedBy: v.string(),
  shelved: v.boolean(),
  shelvedUntil: v.string(),
  unit: v.string(),
  occurrences: v.number(),
  activatedAt: v.string(),
  clearedAt: v.nullable(v.string()),
  acknowledgedAt: v.nullable(v.string()),
  shelvedBy: v.string(),
  priority: v.number(),
  evaluable: v.boolean(),
  origin: v.picklist(ALARM_ORIGINS),
  /** Why it is shelved, where somebody said it. */
  shelveReason: v.optional(v.string()),
  /** The first of the alarms that it came of, and how that is known; absent of one that stands alone. */
  cause: v.optional(v.strictObject({ alarm: v.string(), by: v.picklist(CAUSE_REASONS) })),
});
export type AlarmBody = ToldBy<typeof AlarmBody>;

nameSchemas({ AlarmBody });

/** `shelved` is judged against the present time; `shelvedUntil` may outlive its shelf. */
export function alarmDto({ metadata, spec, status }: AlarmResource, terms: Terms, evaluable: boolean): AlarmBody {
  return {
    name: metadata.name,
    source: spec.source,
    type: spec.type,
    severity: spec.severity,
    state: status.state,
    message: spec.message,
    definitionRef: spec.definitionRef,
    conditionType: spec.conditionType,
    setpoint: spec.setpoint,
    value: status.value,
    acknowledgedBy: status.acknowledgedBy,
    shelved: isShelved(status, terms),
    shelvedUntil: status.shelvedUntil,
    unit: status.unit,
    occurrences: status.occurrences,
    activatedAt: status.activatedAt || metadata.createdAt,
    clearedAt: status.clearedAt || null,
    acknowledgedAt: status.acknowledgedAt || null,
    shelvedBy: status.shelvedBy,
    priority: status.priority,
    evaluable,
    origin: status.origin,
    ...(status.shelfReason ? { shelveReason: status.shelfReason } : {}),
    ...(status.cause ? { cause: status.cause } : {}),
  };
}

/** Parameters of the filter. */
export const ALARM_FILTER = {
  state: words(ALARM_STATES),
  severity: words(ALARM_SEVERITIES),
  type: words(ALARM_TYPES),
  source: texts(),
  unit: texts(),
  definition: texts(),
  shelved: flag(),
  active: flag(),
};

/**
 * Filter of the list (decisions Q-ALARM-07); lists of words are separated by commas, an empty parameter filters nothing.
 *
 * @throws Refusal `invalid_query` for a word there is not: an empty list would say that no such alarm stands.
 */
export function readAlarmFilter(query: Query<keyof typeof ALARM_FILTER>): (alarm: AlarmBody) => boolean {
  const states = readChoices(query, 'state', ALARM_STATES);
  const severities = readChoices(query, 'severity', ALARM_SEVERITIES);
  const types = readChoices(query, 'type', ALARM_TYPES);
  const shelved = readFlag(query, 'shelved');
  const active = readFlag(query, 'active');
  const [source, unit, definition] = (['source', 'unit', 'definition'] as const).map((name) => wordsOf(query, name) || undefined);
  const among = (words: readonly string[] | undefined, word: string): boolean => words === undefined || words.includes(word);
  return (alarm) =>
    among(states, alarm.state) &&
    among(severities, alarm.severity) &&
    among(types, alarm.type) &&
    among(source?.split(','), alarm.source) &&
    among(unit?.split(','), alarm.unit) &&
    among(definition?.split(','), alarm.definitionRef) &&
    (shelved === undefined || shelved === alarm.shelved) &&
    (active === undefined || active === isActive(alarm.state));
}
