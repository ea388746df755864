/** Alarms: what is active now and what it came of, and what was (ISA-18.2). The choice stands in the address, so that it can be sent to a colleague. */
import { alarms, units } from '../../data/plant.js';
import { can } from '../../data/session.js';
import { narrow, view } from '../../data/view.js';
import { t, word, words } from '../../common/strings.js';
import { SEVERITIES } from '../../plant/alarm.js';
import { Segments } from '../../parts/segments.js';
import { ActiveAlarms } from './active-alarms.js';
import { AlarmHistory } from './alarm-history.js';
import { AlarmMetricsPanel } from './alarm-metrics.js';
import { isAlarmListed, type AlarmBy } from './listing.js';
import './alarms.css';

const TABS = ['cause', 'unit', 'time', 'shelved', 'history', 'metrics'] as const;
type Tab = (typeof TABS)[number];

const said = words({
  en: { cause: 'By cause', unit: 'By unit', time: 'By time', shelved: 'Shelved' },
  de: { cause: 'Nach Ursache', unit: 'Nach Teilanlage', time: 'Nach Zeit', shelved: 'Zurückgestellt' },
});

export function AlarmsView() {
  const { query } = view.value;
  const filter = { severity: query.severity ?? '', unit: query.unit ?? '' };
  const tabs = TABS.filter((each) => (each !== 'history' && each !== 'metrics') || can('alarm:history'));
  const tab = tabs.find((each) => each === query.by) ?? 'cause';
  const isNow = tab !== 'history' && tab !== 'metrics';
  const textOf = (each: Tab): string => {
    if (each === 'history' || each === 'metrics') return t.alarmTabs[each];
    const count = each === 'shelved' || each === 'time' ? ` ${alarms.value.filter((alarm) => isAlarmListed(alarm, each)).length}` : '';
    return `${said[each]}${count}`;
  };
  return (
    <section class="panel page alarm-desk" aria-labelledby="alarms-title" data-testid="alarms-view">
      <header class="page-head">
        <h2 id="alarms-title" class="visually-hidden">
          {t.alarms}
        </h2>
        <Segments label={t.alarms} value={tab} options={tabs.map((each) => [each, textOf(each)])} onChoose={(by) => narrow({ by: by === 'cause' ? '' : by })} testid="alarm-tab" />
        <div class="page-filters">
          {isNow && (
            <input
              type="search"
              class="select"
              aria-label={t.alarmSearch}
              placeholder={t.search}
              value={query.q ?? ''}
              onInput={(event) => narrow({ q: event.currentTarget.value })}
              data-testid="alarm-search"
            />
          )}
          {tab !== 'metrics' && (
            <Choice
              label={t.severity}
              value={filter.severity}
              every={t.everySeverity}
              options={SEVERITIES.map((each) => [each, word(each)])}
              onChoose={(severity) => narrow({ severity })}
              testid="filter-severity"
            />
          )}
          <Choice
            label={t.unit}
            value={filter.unit}
            every={t.everyUnit}
            options={units.value.map(({ name }) => [name, name.toUpperCase()])}
            onChoose={(unit) => narrow({ unit })}
            testid="filter-unit"
          />
        </div>
      </header>
      {isNow && <ActiveAlarms by={tab as AlarmBy} {...filter} search={query.q ?? ''} chosen={query.alarm ?? ''} />}
      {tab === 'history' && <AlarmHistory filter={filter} />}
      {tab === 'metrics' && <AlarmMetricsPanel unit={filter.unit} />}
    </section>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly every: string;
  readonly options: readonly (readonly [string, string])[];
  readonly onChoose: (value: string) => void;
  readonly testid: string;
}

function Choice({ label, value, every, options, onChoose, testid }: ChoiceProps) {
  return (
    <select class="select" aria-label={label} value={value} onChange={(event) => onChoose(event.currentTarget.value)} data-testid={testid}>
      <option value="">{every}</option>
      {options.map(([name, text]) => (
        <option key={name} value={name}>
          {text}
        </option>
      ))}
    </select>
  );
}
