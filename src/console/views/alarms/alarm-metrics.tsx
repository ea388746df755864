/** How well the alarms serve the people who answer them (ISA-18.2, clause 16), each number beside its goal. */
import { useEffect, useState } from 'preact/hooks';
import { readMetrics } from '../../data/alarms.js';
import { site } from '../../data/plant.js';
import type { AlarmMetrics } from '../../data/types.js';
import { Chips } from '../../common/chips.js';
import { ReadFault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { t, word } from '../../common/strings.js';
import { numberText, secondsText } from '../../common/text.js';

const HOUR_MS = 3_600_000;
const WINDOWS = { '8h': 8 * HOUR_MS, '24h': 24 * HOUR_MS, '7d': 168 * HOUR_MS, '30d': 720 * HOUR_MS } as const;
type Window = keyof typeof WINDOWS;
const WINDOW_NAMES = Object.keys(WINDOWS) as Window[];

/** ISA-18.2-2016, table 7: what one operator can bear. */
const GOALS = { average: 1, peak: 10, share: 0.01, chattering: 0, stale: 5 } as const;

export function AlarmMetricsPanel({ unit }: { readonly unit: string }) {
  const [window, setWindow] = useState<Window>('24h');
  const [found, setFound] = useState<AlarmMetrics | null>(null);
  const [fault, setFault] = useState('');
  useEffect(() => {
    let current = true;
    readMetrics(unit, WINDOWS[window]).then(
      (metrics) => {
        if (!current) return;
        setFound(metrics);
        setFault('');
      },
      (refused: unknown) => current && setFault(faultText(refused)),
    );
    return () => {
      current = false;
    };
  }, [unit, window, site.value]);
  return (
    <>
      <Chips
        label={t.duration}
        value={window}
        options={WINDOW_NAMES.map((each) => [each, each.replace('h', ' h').replace('d', ` ${t.ago.d}`)])}
        onChoose={setWindow}
        testid="metrics"
      />
      <ReadFault text={fault} />
      {found && <Numbers found={found} />}
    </>
  );
}

function Numbers({ found }: { readonly found: AlarmMetrics }) {
  const { rate, standing, chattering, timeToAcknowledge } = found;
  const percent = (share: number): string => `${numberText(share * 100, 100)} %`;
  return (
    <div class="metrics scroll" tabIndex={0} role="group" aria-label={t.alarmTabs.metrics} data-testid="alarm-metrics" data-activations={found.activations}>
      <ul class="metric-numbers">
        <Number label={t.metric.activations} value={String(found.activations)} />
        <Number label={t.metric.average} value={numberText(rate.average, 10)} goal={`≤ ${GOALS.average}`} missed={rate.average > GOALS.average} />
        <Number label={t.metric.peak} value={String(rate.peak)} goal={`≤ ${GOALS.peak}`} missed={rate.peak > GOALS.peak} />
        <Number label={t.metric.flood} value={percent(rate.floodShare)} goal={`< ${GOALS.share * 100} %`} missed={rate.floodShare >= GOALS.share} />
        <Number label={t.metric.chattering} value={String(chattering.count)} goal={String(GOALS.chattering)} missed={chattering.count > GOALS.chattering} />
        <Number label={t.metric.stale} value={standing ? String(standing.stale) : '–'} goal={`< ${GOALS.stale}`} missed={standing !== null && standing.stale >= GOALS.stale} />
        <Number label={t.metric.standing} value={standing ? `${standing.active} / ${standing.unacknowledged}` : '–'} />
        <Number label={t.metric.answer} value={timeToAcknowledge.medianSeconds === null ? '–' : secondsText(timeToAcknowledge.medianSeconds)} />
        <Number label={t.metric.shelved} value={`${found.shelved.now} / ${found.shelved.events}`} />
      </ul>
      <Shares title={t.metric.frequent} rows={found.mostFrequent.alarms.map(({ alarm, activations, share }) => ({ name: alarm, activations, share }))} />
      <Shares title={t.severity} rows={found.bySeverity.map(({ severity, activations, share }) => ({ name: word(severity), activations, share }))} />
    </div>
  );
}

interface NumberProps {
  readonly label: string;
  readonly value: string;
  readonly goal?: string;
  readonly missed?: boolean;
}

function Number({ label, value, goal = '', missed = false }: NumberProps) {
  return (
    <li class={missed ? 'metric metric-missed' : 'metric'}>
      <span class="hint">{label}</span>
      <strong class="number">{value}</strong>
      {goal !== '' && (
        <span class="hint number">
          {t.goal} {goal}
        </span>
      )}
    </li>
  );
}

function Shares({ title, rows }: { readonly title: string; readonly rows: readonly { readonly name: string; readonly activations: number; readonly share: number }[] }) {
  return (
    <section class="metric-shares" aria-label={title}>
      <h3>{title}</h3>
      {rows.length === 0 && <p class="empty">{t.none}</p>}
      <ul class="lines">
        {rows.map(({ name, activations, share }) => (
          <li class="line" key={name}>
            <span class="line-name">{name}</span>
            <svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
              <rect class="bar-ground" width="100" height="8" />
              <rect class="bar-value" width={100 * share} height="8" />
            </svg>
            <span class="line-value number">{activations}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
