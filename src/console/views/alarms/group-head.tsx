import { can } from '../../data/session.js';
import type { Alarm } from '../../data/types.js';
import { t, words } from '../../common/strings.js';
import { momentText } from '../../common/text.js';
import { sourceName } from '../../plant/alarm.js';
import type { AlarmGroup } from '../../plant/alarm-groups.js';
import { reasonWords } from '../../plant/alarm-groups.js';
import { GreyButton } from '../../parts/grey-button.js';
import { SeverityBadge } from '../../parts/badge.js';

const said = words({
  en: {
    alarms: (count: number) => `${count} alarms`,
    span: (first: string, last: string) => `first ${first}, last ${last}`,
    acknowledge: (count: number) => `Acknowledge ${count}`,
    open: 'Open the group: what is acknowledged has been seen',
  },
  de: {
    alarms: (count: number) => `${count} Alarme`,
    span: (first: string, last: string) => `zuerst ${first}, zuletzt ${last}`,
    acknowledge: (count: number) => `${count} quittieren`,
    open: 'Öffnen Sie die Gruppe: was quittiert wird, ist gesehen',
  },
});

interface HeadProps {
  readonly group: AlarmGroup;
  readonly line: number;
  readonly isOpen: boolean;
  /** Of the group, what one touch acknowledges. */
  readonly open: readonly Alarm[];
  readonly onToggle: (isOpen: boolean) => void;
  readonly onAcknowledge: (alarms: readonly Alarm[]) => void;
}

export function GroupHead({ group: { key, title, worst, alarms }, line, isOpen, open, onToggle, onAcknowledge }: HeadProps) {
  const [first, last] = [alarms[0], alarms.at(-1)];
  const at = (alarm: Alarm | undefined): string => (alarm ? `${sourceName(alarm).toUpperCase()} ${momentText(alarm.activatedAt)}` : '');
  const reasons = [...new Set(alarms.flatMap(({ cause }) => (cause ? [reasonWords[cause.by]] : [])))];
  const name = said.acknowledge(open.length);
  return (
    <li class="alarm-row alarm-group" data-line={line} data-testid="alarm-group-head" data-group={key} data-open={String(isOpen)}>
      <button type="button" class="alarm-main" aria-expanded={isOpen} onClick={() => onToggle(!isOpen)} data-testid={`group-${key}`}>
        <span class="alarm-chevron" aria-hidden="true">
          {isOpen ? '▾' : '▸'}
        </span>
        <SeverityBadge severity={worst.severity} hasWord={false} />
        <span class="alarm-text">
          <strong class="alarm-line">{title}</strong>
          <span class="hint alarm-line">
            {said.span(at(first), at(last))}
            {reasons.length > 0 && `; ${reasons.join(', ')}`}
          </span>
        </span>
        <span class="alarm-size">{said.alarms(alarms.length)}</span>
      </button>
      <span class="alarm-actions">
        {open.length > 0 &&
          can('alarm:acknowledge') &&
          (isOpen ? (
            <button type="button" class="button" onClick={() => onAcknowledge(open)} data-testid={`acknowledge-group-${key}`}>
              {name}
            </button>
          ) : (
            <GreyButton name={t.acknowledge} missing={[{ text: said.open }]} testid={`acknowledge-group-${key}`} />
          ))}
      </span>
    </li>
  );
}
