/** Each transition of each alarm of the site with its time and who did it, newest first: filtered, narrowed to one alarm, printed. */
import { site, units } from '../../data/plant.js';
import { alarmEventPage } from '../../data/alarms.js';
import type { AlarmEvent } from '../../data/types.js';
import { addressOf, narrow, view } from '../../data/view.js';
import { PrintedChoice } from '../../common/printed-choice.js';
import { printPage } from '../../common/printing.js';
import { SpanFields } from '../../common/span-fields.js';
import { t, word, words } from '../../common/strings.js';
import { fullMomentText, instantOf } from '../../common/text.js';
import { useLog } from '../../common/use-log.js';
import { type Column, Table } from '../../parts/table.js';
import { eventValueText, SEVERITIES, sourceName } from '../../plant/alarm.js';
import { SeverityBadge } from '../../parts/badge.js';
import type { ViewDefinition } from '../../frame/view-definition.js';
import { historySection } from './history-words.js';
import { RecordsOfSpan } from './records-of-span.js';

const text = words({
  en: { title: 'Alarm events', everyEvent: 'Every event', nothing: 'No event fits this choice.', only: (alarm: string) => `Only ${alarm}`, source: 'Source' },
  de: { title: 'Alarmereignisse', everyEvent: 'Jedes Ereignis', nothing: 'Kein Ereignis passt zu dieser Auswahl.', only: (alarm: string) => `Nur ${alarm}`, source: 'Quelle' },
});

export const alarmLogView: ViewDefinition = { name: 'alarmlog', action: 'alarm:history', ofSite: true, section: historySection, title: () => text.title, component: AlarmLogView };

const EVENTS: readonly AlarmEvent['event'][] = ['Activated', 'Cleared', 'Acknowledged', 'Shelved', 'Unshelved', 'Suppressed', 'Unsuppressed', 'Deleted'];

const COLUMNS: readonly Column<AlarmEvent>[] = [
  { key: 'time', title: t.time, cell: ({ timestamp }) => fullMomentText(timestamp), sort: 'time' },
  { key: 'severity', title: t.severity, cell: ({ severity }) => <SeverityBadge severity={severity} past /> },
  { key: 'event', title: t.event, cell: ({ event }) => word(event) },
  { key: 'message', title: t.message, cell: ({ message, alarm }) => message || alarm, isText: true },
  { key: 'source', title: text.source, cell: (event) => sourceName(event) },
  { key: 'unit', title: t.unit, cell: ({ unit }) => unit.toUpperCase() },
  { key: 'value', title: t.value, cell: (event) => eventValueText(event), isNumber: true },
  { key: 'who', title: t.who, cell: ({ displayName }) => displayName ?? '' },
];

function AlarmLogView() {
  const { query } = view.value;
  const { severity = '', unit = '', event = '', alarm = '', from = '', to = '', order = 'desc' } = query;
  const question = { severity, unit, event, alarm, from: instantOf(from), to: instantOf(to), order };
  const rows = useLog((cursor) => alarmEventPage(question, cursor), [site.value, ...Object.values(question)]);
  return (
    <section class="panel page" aria-labelledby="alarmlog-title" data-testid="alarmlog-view">
      <header class="page-head">
        <h2 id="alarmlog-title">{text.title}</h2>
        {alarm !== '' && (
          <button type="button" class="chip" aria-pressed="true" onClick={() => narrow({ alarm: '' })} data-testid="alarmlog-only">
            {text.only(alarm)} <span aria-hidden="true">✕</span>
          </button>
        )}
        <div class="page-filters">
          <Choice name="severity" label={t.severity} every={t.everySeverity} value={severity} options={SEVERITIES.map((each) => [each, word(each)])} />
          <Choice name="unit" label={t.unit} every={t.everyUnit} value={unit} options={units.value.map(({ name }) => [name, name.toUpperCase()])} />
          <Choice name="event" label={t.event} every={text.everyEvent} value={event} options={EVENTS.map((each) => [each, word(each)])} />
          <SpanFields from={from} to={to} />
          <RecordsOfSpan from={from} to={to} />
          <button type="button" class="button" onClick={printPage} data-testid="alarmlog-print">
            {t.print}
          </button>
        </div>
      </header>
      <PrintedChoice
        facts={[
          [t.severity, word(severity)],
          [t.unit, unit.toUpperCase()],
          [t.event, word(event)],
          [t.alarms, alarm],
          [t.from, fullMomentText(question.from)],
          [t.to, fullMomentText(question.to)],
        ]}
      />
      <Table
        label={text.title}
        columns={COLUMNS}
        rows={rows}
        keyOf={({ sequence }) => String(sequence)}
        hrefOf={(each) => addressOf('alarmlog', '', { ...query, alarm: each.alarm })}
        sorting={{ by: 'time', order: order === 'asc' ? 'asc' : 'desc' }}
        onSort={({ order: next }) => narrow({ order: next })}
        empty={text.nothing}
        testid="alarmlog"
      />
    </section>
  );
}

interface ChoiceProps {
  readonly name: 'severity' | 'unit' | 'event';
  readonly label: string;
  readonly every: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
}

function Choice({ name, label, every, value, options }: ChoiceProps) {
  return (
    <select class="select" aria-label={label} value={value} onChange={(event) => narrow({ [name]: event.currentTarget.value })} data-testid={`alarmlog-${name}`}>
      <option value="">{every}</option>
      {options.map(([each, said]) => (
        <option key={each} value={each}>
          {said}
        </option>
      ))}
    </select>
  );
}
