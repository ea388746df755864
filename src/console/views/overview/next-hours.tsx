/** The next four hours: a row of each unit, with what has it until when and what comes then; below the same as a list, for whoever cannot see it and on paper. */
import { useMemo } from 'preact/hooks';
import { plan } from '../../data/plan.js';
import type { Plan } from '../../data/types.js';
import { words } from '../../common/strings.js';
import { minuteText, momentText } from '../../common/text.js';
import { TimeBar, type TimeRow, type TimeSpan } from '../../parts/time-bar.js';

const said = words({
  en: {
    label: 'Next four hours of the units',
    ifRestarted: (batch: string) => `${batch} if it goes on now`,
    waits: (text: string) => `${text}, waits for the unit`,
    open: 'end open',
    noExperience: 'No experience yet: no batch of this version of the recipe has been completed.',
    more: (count: number) => `${count} more wait behind them.`,
    none: 'The plan has not been read.',
    list: 'As a list',
    free: 'free',
  },
  de: {
    label: 'Nächste vier Stunden der Teilanlagen',
    ifRestarted: (batch: string) => `${batch}, falls es jetzt weitergeht`,
    waits: (text: string) => `${text}, wartet auf die Teilanlage`,
    open: 'Ende offen',
    noExperience: 'Noch keine Erfahrung: von dieser Version des Rezepts ist noch keine Charge fertig geworden.',
    more: (count: number) => `${count} weitere warten dahinter.`,
    none: 'Die Planung ist noch nicht gelesen.',
    list: 'Als Liste',
    free: 'frei',
  },
});

const BEFORE_MS = 30 * 60_000;
const LOOKS: Readonly<Record<Plan['units'][number]['spans'][number]['state'], TimeSpan['look']>> = {
  Ended: 'ran',
  Running: 'ran',
  Held: 'held',
  Expected: 'planned',
  Planned: 'planned',
  Open: 'open',
};
const hour = (atMs: number): string => minuteText(new Date(atMs).toISOString());

export function NextHours() {
  const found = plan.value;
  const rows = useMemo(() => (found ? rowsOf(found) : []), [found]);
  if (!found) return <p class="empty">{said.none}</p>;
  const nowMs = Date.parse(found.asOf);
  const unknown = found.batches.filter(({ expectedSeconds }) => expectedSeconds === null);
  return (
    <div class="next-hours" data-testid="next-hours">
      <TimeBar label={said.label} rows={rows} fromMs={nowMs - BEFORE_MS} toMs={Date.parse(found.until)} nowMs={nowMs} timeText={hour} testid="plan" />
      {unknown.length > 0 && (
        <p class="hint" data-testid="no-experience">
          {unknown
            .map(({ batchID }) => batchID)
            .slice(0, 4)
            .join(', ')}
          : {said.noExperience}
        </p>
      )}
      {found.notPlanned > 0 && <p class="hint">{said.more(found.notPlanned)}</p>}
      <details class="next-list">
        <summary>{said.list}</summary>
        <ul data-testid="plan-list">
          {found.units.map(({ unit, spans }) => (
            <li key={unit}>
              <strong>{unit.toUpperCase()}</strong> {spans.length === 0 ? said.free : spans.map((span) => lineOf(span)).join('; ')}
            </li>
          ))}
        </ul>
      </details>
    </div>
  );
}

type Span = Plan['units'][number]['spans'][number];

function textOf({ batchID, step, state, waits }: Span): string {
  const text = state === 'Open' ? said.ifRestarted(batchID) : `${batchID} ${step}`;
  return waits ? said.waits(text) : text;
}

function lineOf(span: Span): string {
  return `${textOf(span)} ${momentText(span.from)} – ${span.to === '' ? said.open : momentText(span.to)}`;
}

function rowsOf({ units, until }: Plan): TimeRow[] {
  return units.map(({ unit, spans }) => ({
    name: unit.toUpperCase(),
    spans: spans.map((span) => ({ fromMs: Date.parse(span.from), toMs: Date.parse(span.to === '' ? until : span.to), text: textOf(span), look: LOOKS[span.state] })),
  }));
}
