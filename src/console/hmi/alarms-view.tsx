/** Alarms: what is active now, and what was (ISA-18.2). Shape and word carry the severity too, not only colour. */
import { useState } from 'preact/hooks';
import { acknowledge, unshelve } from '../data/alarms.js';
import { alarms, stale, tagList, units } from '../data/plant.js';
import { measuredIn } from '../data/module-tags.js';
import { can } from '../data/session.js';
import type { Alarm } from '../data/types.js';
import { addressOf } from '../data/view.js';
import { Chips } from '../common/chips.js';
import { Fault } from '../common/fault.js';
import { t, word } from '../common/strings.js';
import { momentText, recordText, unitText } from '../common/text.js';
import { useSend } from '../common/use-send.js';
import { useStill } from '../common/use-still.js';
import { isOfNumber, isUnacknowledged, SEVERITIES, SeverityMark, sourceName, urgency } from './alarm.js';
import { AlarmHistory } from './alarm-history.js';
import { AlarmMetricsPanel } from './alarm-metrics.js';
import { ShelveDialog } from './shelve-dialog.js';

const TABS = ['now', 'history', 'metrics'] as const;
type Tab = (typeof TABS)[number];

const SHOWN = ['open', 'unacknowledged', 'shelved', 'all'] as const;
type Shown = (typeof SHOWN)[number];

const IS_SHOWN: Readonly<Record<Shown, (alarm: Alarm) => boolean>> = {
  open: ({ shelved, state }) => !shelved && state !== 'ClearedAcknowledged',
  unacknowledged: (alarm) => !alarm.shelved && isUnacknowledged(alarm),
  shelved: ({ shelved }) => shelved,
  all: () => true,
};

export interface AlarmFilter {
  readonly severity: string;
  readonly unit: string;
}

export function AlarmsView() {
  const [tab, setTab] = useState<Tab>('now');
  const [filter, setFilter] = useState<AlarmFilter>({ severity: '', unit: '' });
  const tabs = TABS.filter((each) => each === 'now' || can('alarm:history'));
  return (
    <section class="panel page" aria-labelledby="alarms-title" data-testid="alarms-view">
      <header class="page-head">
        <h2 id="alarms-title">{t.alarms}</h2>
        <Chips label={t.alarms} value={tab} options={tabs.map((each) => [each, t.alarmTabs[each]])} onChoose={setTab} testid="alarm-tab" />
        <FilterFields filter={filter} hasSeverity={tab !== 'metrics'} onChange={setFilter} />
      </header>
      {tab === 'now' && <ActiveAlarms filter={filter} />}
      {tab === 'history' && <AlarmHistory filter={filter} />}
      {tab === 'metrics' && <AlarmMetricsPanel unit={filter.unit} />}
    </section>
  );
}

interface FilterFieldsProps {
  readonly filter: AlarmFilter;
  /** The metrics are of all severities; they tell each of them. */
  readonly hasSeverity: boolean;
  readonly onChange: (filter: AlarmFilter) => void;
}

function FilterFields({ filter, hasSeverity, onChange }: FilterFieldsProps) {
  return (
    <div class="page-filters">
      {hasSeverity && (
        <select
          class="select"
          aria-label={t.severity}
          value={filter.severity}
          onChange={(event) => onChange({ ...filter, severity: event.currentTarget.value })}
          data-testid="filter-severity"
        >
          <option value="">{t.everySeverity}</option>
          {SEVERITIES.map((severity) => (
            <option key={severity} value={severity}>
              {word(severity)}
            </option>
          ))}
        </select>
      )}
      <select class="select" aria-label={t.unit} value={filter.unit} onChange={(event) => onChange({ ...filter, unit: event.currentTarget.value })} data-testid="filter-unit">
        <option value="">{t.everyUnit}</option>
        {units.value.map(({ name }) => (
          <option key={name} value={name}>
            {name.toUpperCase()}
          </option>
        ))}
      </select>
    </div>
  );
}

function ActiveAlarms({ filter }: { readonly filter: AlarmFilter }) {
  const [shown, setShown] = useState<Shown>('open');
  const [shelving, setShelving] = useState<Alarm | null>(null);
  const sending = useSend();
  const still = useStill(alarms.value);
  const matching = alarms.value.filter(({ severity, unit }) => (filter.severity === '' || severity === filter.severity) && (filter.unit === '' || unit === filter.unit));
  const rows = matching.filter(IS_SHOWN[shown]).sort(urgency);
  const hidden = alarms.value.filter(IS_SHOWN.open).length;
  return (
    <>
      <Chips
        label={t.show}
        value={shown}
        options={SHOWN.map((each) => [each, `${t.alarmSets[each]} ${matching.filter(IS_SHOWN[each]).length}`])}
        onChoose={setShown}
        testid="alarm-set"
      />
      <Fault text={sending.fault} testid="alarm-error" />
      {!can('alarm:acknowledge') && <p class="hint">{t.commandNotAllowed}</p>}
      {rows.length === 0 && (
        <p class="empty" role="status" data-testid="alarms-none">
          {stale.value ? t.alarmsUnknown : hidden === 0 ? t.noAlarms : t.noAlarmsHere(hidden)}
        </p>
      )}
      <ul class="alarm-rows scroll" data-testid="alarm-rows" tabIndex={0} aria-label={t.alarms} {...still}>
        {rows.map((alarm) => (
          <Row key={alarm.name} alarm={alarm} busy={sending.busy} onAct={(act) => void sending.run(act)} onShelve={() => setShelving(alarm)} />
        ))}
      </ul>
      {shelving && <ShelveDialog key={shelving.name} alarm={shelving} onClose={() => setShelving(null)} />}
    </>
  );
}

interface RowProps {
  readonly alarm: Alarm;
  readonly busy: boolean;
  readonly onAct: (act: () => Promise<void>) => void;
  readonly onShelve: () => void;
}

function Row({ alarm, busy, onAct, onShelve }: RowProps) {
  const source = sourceName(alarm);
  const isNumber = isOfNumber(alarm);
  const unit = isNumber ? unitText(measuredIn(source, tagList.value)) : '';
  const told = (text: string): string => (isNumber ? recordText(text, true) : word(text));
  const limits = [t.conditions[alarm.conditionType] ?? alarm.conditionType, told(alarm.setpoint), unit].filter((part) => part !== '').join(' ');
  return (
    <li class={isUnacknowledged(alarm) ? 'alarm-row alarm-new' : 'alarm-row'} data-testid={`alarm-${alarm.name}`} data-state={alarm.state} data-shelved={String(alarm.shelved)}>
      <SeverityMark severity={alarm.severity} />
      <span class="alarm-text">
        <strong>{alarm.message || alarm.name}</strong>
        <span class="hint">
          {source.toUpperCase()} · {limits} {alarm.value !== '' && <>({`${told(alarm.value)} ${unit}`.trim()})</>}
        </span>
      </span>
      <span class="alarm-when">
        <time class="number">{momentText(alarm.activatedAt)}</time>
        <span class="hint">
          {word(alarm.state)}
          {alarm.acknowledgedBy !== '' && ` · ${alarm.acknowledgedBy}`}
        </span>
        {alarm.shelved && (
          <span class="hint">
            {t.shelvedUntil(momentText(alarm.shelvedUntil))} · {alarm.shelvedBy}
          </span>
        )}
      </span>
      <span class="alarm-actions">
        {alarm.unit !== '' && (
          <a class="button" href={addressOf('unit', alarm.unit)}>
            {alarm.unit.toUpperCase()}
          </a>
        )}
        {isUnacknowledged(alarm) && (
          <button
            type="button"
            class="button primary"
            disabled={busy || !can('alarm:acknowledge')}
            onClick={() => onAct(() => acknowledge(alarm))}
            data-testid={`acknowledge-${alarm.name}`}
          >
            {t.acknowledge}
          </button>
        )}
        {alarm.state === 'ActiveAcknowledged' && !alarm.shelved && (
          <button type="button" class="button" disabled={busy || !can('alarm:shelve')} onClick={onShelve} data-testid={`shelve-${alarm.name}`}>
            {t.shelve}
          </button>
        )}
        {alarm.shelved && (
          <button type="button" class="button" disabled={busy || !can('alarm:unshelve')} onClick={() => onAct(() => unshelve(alarm))} data-testid={`unshelve-${alarm.name}`}>
            {t.unshelve}
          </button>
        )}
      </span>
    </li>
  );
}
