/** Alarms: what is active now, and what was (ISA-18.2). Shape and word carry the severity too, not only colour. */
import { useState } from 'preact/hooks';
import { acknowledge, acknowledgeAll, unshelve } from '../data/alarms.js';
import { alarms, stale, tagList, units } from '../data/plant.js';
import { measuredIn } from '../data/module-tags.js';
import { can } from '../data/session.js';
import type { Alarm } from '../data/types.js';
import { addressOf } from '../data/view.js';
import { Chips } from '../common/chips.js';
import { Dialog } from '../common/dialog.js';
import { Fault } from '../common/fault.js';
import { t, word, words } from '../common/strings.js';
import { momentText, readingText, recordText, unitText } from '../common/text.js';
import { useSend } from '../common/use-send.js';
import { useStill } from '../common/use-still.js';
import { isOfNumber, isOfSwitch, isUnacknowledged, newest, SEVERITIES, SeverityMark, sourceName, urgency } from './alarm.js';
import { type AlarmFilter, AlarmHistory } from './alarm-history.js';
import { AlarmMetricsPanel } from './alarm-metrics.js';
import { ShelveDialog } from './shelve-dialog.js';
import type { ViewDefinition } from './view-definition.js';

/** More are one touch away: thousands of rows make a panel slow exactly in a flood. */
const ROWS_MAX = 50;

type Order = 'urgency' | 'newest';
type Group = 'none' | 'unit' | 'source';

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

export const alarmsView: ViewDefinition = {
  name: 'alarms',
  action: 'alarm:list',
  title: () => words({ en: 'Alarms', de: 'Alarme' }),
  waiting: { count: () => alarms.value.filter((alarm) => !alarm.shelved && isUnacknowledged(alarm)).length, urgent: true },
  component: AlarmsView,
};

function AlarmsView() {
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
  const [search, setSearch] = useState('');
  const [order, setOrder] = useState<Order>('urgency');
  const [group, setGroup] = useState<Group>('none');
  const [rowsMax, setRowsMax] = useState(ROWS_MAX);
  const [acknowledging, setAcknowledging] = useState<readonly Alarm[] | null>(null);
  const sending = useSend();
  const still = useStill(alarms.value);
  const matching = alarms.value.filter(({ severity, unit }) => (filter.severity === '' || severity === filter.severity) && (filter.unit === '' || unit === filter.unit));
  const wanted = search.trim().toLowerCase();
  const holds = ({ message, name, source, unit }: Alarm): boolean => wanted === '' || [message, name, source, unit].some((text) => text.toLowerCase().includes(wanted));
  const found = matching.filter((alarm) => IS_SHOWN[shown](alarm) && holds(alarm)).sort(order === 'newest' ? newest : urgency);
  const groups = grouped(found, group);
  const rows = groups.flatMap(({ alarms: members }) => members).slice(0, rowsMax);
  const open = rows.filter((alarm) => !alarm.shelved && isUnacknowledged(alarm));
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
      <div class="alarm-tools">
        <input
          type="search"
          aria-label={t.alarmSearch}
          placeholder={t.search}
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
          data-testid="alarm-search"
        />
        <Choice label={t.show} value={order} words={t.alarmOrders} onChoose={setOrder} testid="alarm-order" />
        <Choice label={t.show} value={group} words={t.alarmGroups} onChoose={setGroup} testid="alarm-group" />
        <span class="hint" role="status" data-testid="alarm-count">
          {t.shownOf(rows.length, found.length)}
        </span>
        {rows.length < found.length && (
          <button type="button" class="button" onClick={() => setRowsMax(rowsMax + ROWS_MAX)} data-testid="alarm-more">
            {t.more}
          </button>
        )}
        {open.length > 1 && can('alarm:acknowledge') && (
          <button type="button" class="button" onClick={() => setAcknowledging(open)} data-testid="acknowledge-shown">
            {t.acknowledgeShown(open.length)}
          </button>
        )}
      </div>
      <Fault text={sending.fault} code={sending.code} testid="alarm-error" />
      {!can('alarm:acknowledge') && <p class="hint">{t.commandNotAllowed}</p>}
      {(stale.value || rows.length === 0) && (
        <p class="empty" role="status" data-testid="alarms-none">
          {stale.value ? t.alarmsUnknown : hidden === 0 ? t.noAlarms : t.noAlarmsHere(hidden)}
        </p>
      )}
      <ul class="alarm-rows scroll" data-testid="alarm-rows" tabIndex={0} aria-label={t.alarms} {...still}>
        {rows.map((alarm, at) => [
          group !== 'none' && groupOf(alarm, group) !== (at === 0 ? undefined : groupOf(rows[at - 1] as Alarm, group)) && (
            <li key={`group ${groupOf(alarm, group)}`} class="alarm-group" data-testid="alarm-group-head">
              <strong>{groupOf(alarm, group).toUpperCase() || '–'}</strong>{' '}
              <span class="hint">{t.entries(groups.find(({ name }) => name === groupOf(alarm, group))?.alarms.length ?? 0)}</span>
            </li>
          ),
          <Row key={alarm.name} alarm={alarm} busy={sending.busy} onAct={(act) => void sending.run(act)} onShelve={() => setShelving(alarm)} />,
        ])}
      </ul>
      {acknowledging && <AcknowledgeDialog found={acknowledging} onClose={() => setAcknowledging(null)} />}
      {shelving && <ShelveDialog key={shelving.name} alarm={shelving} onClose={() => setShelving(null)} />}
    </>
  );
}

interface AlarmGroup {
  readonly name: string;
  readonly alarms: readonly Alarm[];
}

function groupOf(alarm: Alarm, group: Group): string {
  return group === 'unit' ? alarm.unit : group === 'source' ? sourceName(alarm) : '';
}

/** The group of the first alarm comes first. */
function grouped(found: readonly Alarm[], group: Group): AlarmGroup[] {
  const groups = new Map<string, Alarm[]>();
  for (const alarm of found) {
    const name = groupOf(alarm, group);
    const members = groups.get(name);
    if (members) members.push(alarm);
    else groups.set(name, [alarm]);
  }
  return [...groups].map(([name, alarms]) => ({ name, alarms }));
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly words: Readonly<Record<T, string>>;
  readonly onChoose: (value: T) => void;
  readonly testid: string;
}

function Choice<T extends string>({ label, value, words, onChoose, testid }: ChoiceProps<T>) {
  return (
    <select class="select" aria-label={label} value={value} onChange={(event) => onChoose(event.currentTarget.value as T)} data-testid={testid}>
      {(Object.keys(words) as T[]).map((each) => (
        <option key={each} value={each}>
          {words[each]}
        </option>
      ))}
    </select>
  );
}

/** What was on the screen when it was asked for, and nothing that came since. */
function AcknowledgeDialog({ found, onClose }: { readonly found: readonly Alarm[]; readonly onClose: () => void }) {
  const sending = useSend();
  const submit = (event: Event): void => {
    event.preventDefault();
    void sending.run(async () => {
      await acknowledgeAll(found);
      onClose();
    });
  };
  return (
    <Dialog title={t.acknowledgeTitle(found.length)} testid="acknowledge-dialog" wide onClose={onClose}>
      <form onSubmit={submit}>
        <Fault text={sending.fault} code={sending.code} testid="acknowledge-error" />
        <p>{t.acknowledgeWords}</p>
        <ul class="acknowledge-list scroll" tabIndex={0} aria-label={t.alarms}>
          {found.map((alarm) => (
            <li key={alarm.name}>
              <SeverityMark severity={alarm.severity} /> {alarm.message || alarm.name} <span class="hint">{(alarm.unit || sourceName(alarm)).toUpperCase()}</span>
            </li>
          ))}
        </ul>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {t.cancel}
          </button>
          <button type="submit" class="button primary" disabled={sending.busy} data-testid="acknowledge-send">
            {sending.busy ? t.sending : t.acknowledge}
          </button>
        </div>
      </form>
    </Dialog>
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
  const isSwitch = isOfSwitch(alarm);
  const limits = [t.conditions[alarm.conditionType] ?? alarm.conditionType, isSwitch ? '' : told(alarm.setpoint), unit].filter((part) => part !== '').join(' ');
  return (
    <li class={isUnacknowledged(alarm) ? 'alarm-row alarm-new' : 'alarm-row'} data-testid={`alarm-${alarm.name}`} data-state={alarm.state} data-shelved={String(alarm.shelved)}>
      <SeverityMark severity={alarm.severity} />
      <span class="alarm-text">
        <strong>{alarm.message || alarm.name}</strong>
        <span class="hint">
          {source.toUpperCase()} · {limits} {alarm.value !== '' && !isSwitch && <>({`${isNumber ? readingText(Number(alarm.value)) : word(alarm.value)} ${unit}`.trim()})</>}
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
