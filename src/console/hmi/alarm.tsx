/** What every view of an alarm shares. */
import type { Alarm } from '../data/types.js';
import { word } from '../common/strings.js';

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

export const SEVERITIES = ['Critical', 'High', 'Medium', 'Low'] as const;

/**
 * The worst first, of the same severity those nobody has acknowledged, of them those that stand before those that have cleared, then
 * by priority; of equals the one that came first: in a flood it is the cause, and those that follow must not push it out of sight (ISA-18.2, first-out).
 */
export function urgency(a: Alarm, b: Alarm): number {
  return rank(a) - rank(b) || b.priority - a.priority || a.activatedAt.localeCompare(b.activatedAt) || a.name.localeCompare(b.name);
}

export function newest(a: Alarm, b: Alarm): number {
  return b.activatedAt.localeCompare(a.activatedAt) || urgency(a, b);
}

function rank(alarm: Alarm): number {
  return SEVERITIES.indexOf(alarm.severity) * 4 + (isUnacknowledged(alarm) ? 0 : 2) + (alarm.state.startsWith('Cleared') ? 1 : 0);
}

/** What calls for somebody: active or not acknowledged, and not shelved (contract 2, Alarm), the worst first. */
export function annunciated(found: readonly Alarm[]): Alarm[] {
  return found.filter((alarm) => !alarm.shelved && alarm.state !== 'ClearedAcknowledged').sort(urgency);
}

/** @param past without colour: what was does not call for anybody. */
export function SeverityMark({ severity, past = false }: { readonly severity: string; readonly past?: boolean }) {
  return (
    <span class={past ? 'severity-past' : `severity severity-${severity.toLowerCase()}`}>
      <span aria-hidden="true">{{ Critical: '■', High: '▲', Medium: '◆' }[severity] ?? '●'}</span> {word(severity)}
    </span>
  );
}
