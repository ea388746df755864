import { isAcknowledging } from '../../data/alarms.js';
import { can } from '../../data/session.js';
import type { Alarm } from '../../data/types.js';
import { t, word, words } from '../../common/strings.js';
import { momentText } from '../../common/text.js';
import { isUnacknowledged, sourceName } from '../../plant/alarm.js';
import { reasonWords } from '../../plant/alarm-groups.js';
import { SeverityBadge } from '../../parts/badge.js';
import { limitText, thenText } from './alarm-text.js';

const said = words({ en: { first: 'first', recorded: 'acknowledged, being recorded' }, de: { first: 'zuerst', recorded: 'quittiert, wird festgehalten' } });

export interface RowActs {
  readonly onAcknowledge: (alarm: Alarm) => void;
  readonly onShelve: (alarm: Alarm) => void;
  readonly onUnshelve: (alarm: Alarm) => void;
  readonly onChoose: (alarm: Alarm) => void;
}

interface RowProps extends RowActs {
  readonly alarm: Alarm;
  /** Number of its line in the list. */
  readonly line: number;
  readonly isChosen: boolean;
  /** Of a group that is open: it stands in, and its first alarm says so. */
  readonly place: 'alone' | 'first' | 'member';
  readonly busy: boolean;
}

export function AlarmRow({ alarm, line, isChosen, place, busy, onAcknowledge, onShelve, onUnshelve, onChoose }: RowProps) {
  const isSent = isAcknowledging(alarm);
  const why = place === 'first' ? said.first : place === 'member' && alarm.cause ? reasonWords[alarm.cause.by] : '';
  return (
    <li
      class={['alarm-row', isUnacknowledged(alarm) && !isSent ? 'alarm-new' : '', isChosen ? 'alarm-chosen' : '', place === 'alone' ? '' : 'alarm-member'].join(' ')}
      data-line={line}
      data-testid={`alarm-${alarm.name}`}
      data-state={alarm.state}
      data-sent={String(isSent)}
      data-shelved={String(alarm.shelved)}
    >
      <button type="button" class="alarm-main" aria-pressed={isChosen} onClick={() => onChoose(alarm)} data-testid={`choose-${alarm.name}`}>
        <SeverityBadge severity={alarm.severity} hasWord={false} />
        <time class="number alarm-time">{momentText(alarm.activatedAt)}</time>
        <strong class="alarm-source">{sourceName(alarm).toUpperCase()}</strong>
        <span class="alarm-text">
          <span class="alarm-line">{alarm.message || alarm.name}</span>
          <span class="hint alarm-line">
            {[limitText(alarm), thenText(alarm)].filter((part) => part !== '').join(', ')}
            {alarm.shelved && ` · ${t.shelvedUntil(momentText(alarm.shelvedUntil))} · ${[alarm.shelvedBy, alarm.shelveReason ?? ''].filter((part) => part !== '').join(': ')}`}
          </span>
        </span>
        <span class="alarm-when">
          <span class="hint alarm-line">{isSent ? said.recorded : word(alarm.state)}</span>
          <span class="hint alarm-line">{[why, alarm.acknowledgedBy].filter((part) => part !== '').join(' · ')}</span>
        </span>
      </button>
      <span class="alarm-actions">
        {isUnacknowledged(alarm) && !isSent && (
          <button
            type="button"
            class="button primary"
            disabled={!can('alarm:acknowledge')}
            onClick={() => onAcknowledge(alarm)}
            data-jump="acknowledge"
            data-testid={`acknowledge-${alarm.name}`}
          >
            {t.acknowledge}
          </button>
        )}
        {alarm.state === 'ActiveAcknowledged' && !alarm.shelved && (
          <button type="button" class="button" disabled={busy || !can('alarm:shelve')} onClick={() => onShelve(alarm)} data-testid={`shelve-${alarm.name}`}>
            {t.shelve}
          </button>
        )}
        {alarm.shelved && (
          <button type="button" class="button" disabled={busy || !can('alarm:unshelve')} onClick={() => onUnshelve(alarm)} data-testid={`unshelve-${alarm.name}`}>
            {t.unshelve}
          </button>
        )}
      </span>
    </li>
  );
}
