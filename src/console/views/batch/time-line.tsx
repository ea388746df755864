/** The batch on one axis of time: its elements unit by unit with where they waited and stood, alarms, people, and the curves below. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type BatchCurve, type BatchCurves, limitsOfTag, penKey, pensFor, readBatchCurves } from '../../data/batch-curves.js';
import { alarmSeverities, severitiesCutAt } from '../../data/batch-alarms.js';
import { boxNowMs } from '../../data/box-clock.js';
import { type Spell, alarmOf, chainOf } from '../../data/happened.js';
import { events } from '../../data/history.js';
import { Latest } from '../../data/latest.js';
import type { OtherBatch } from '../../data/other-batch.js';
import { alarms, tagList } from '../../data/plant.js';
import { timeline } from '../../data/procedure.js';
import { unitRows, wholeSpans } from '../../data/run-rows.js';
import { can } from '../../data/session.js';
import type { Pen } from '../../data/trend.js';
import type { BatchDetail, BatchEvent, TagDescriptor } from '../../data/types.js';
import { narrow, view } from '../../data/view.js';
import { Fault } from '../../common/fault.js';
import { penFaultText } from '../../plant/pen-fault.js';
import { faultText } from '../../common/fault-text.js';
import { t, word, words } from '../../common/strings.js';
import { clockText, numberText, unitText, zoneText } from '../../common/text.js';
import { isSeverity } from '../../parts/badge.js';
import { TimeBar, type TimeMark, type TimeRow } from '../../parts/time-bar.js';
import { TimeWindow, type Window, zoomIn, zoomOut } from '../../parts/time-window.js';
import { Compare } from './compare.js';

const said = words({
  en: {
    title: 'Time line',
    span: (from: string, to: string, all: string, until: string, zone: string) => `${from} to ${to} of ${all} to ${until} ${zone}`,
    now: 'now',
    whole: 'Whole batch',
    cause: 'First cause',
    closer: 'Closer',
    wider: 'Wider',
    window: 'Part of the batch that is shown',
    alarms: 'Alarms',
    people: 'People',
    addPen: 'Add a value …',
    remove: (pen: string) => `Take ${pen} away`,
    cut: (count: number) => `The box kept more events of alarms than are read: severities are known of ${count} of them, other marks stand without.`,
    otherCurves: (batch: string, why: string) => `Curves of ${batch} could not be read: ${why}`,
    limits: { high: 'high', trip: 'high-high', low: 'low', lowTrip: 'low-low' },
  },
  de: {
    title: 'Zeitleiste',
    span: (from: string, to: string, all: string, until: string, zone: string) => `${from} bis ${to} von ${all} bis ${until} ${zone}`,
    now: 'jetzt',
    whole: 'Ganze Charge',
    cause: 'Erste Ursache',
    closer: 'Näher',
    wider: 'Weiter',
    window: 'Gezeigter Teil der Charge',
    alarms: 'Alarme',
    people: 'Personen',
    addPen: 'Wert hinzufügen …',
    remove: (pen: string) => `${pen} wegnehmen`,
    cut: (count: number) => `Die Box hat mehr Alarmereignisse, als gelesen werden: von ${count} ist die Schwere bekannt, andere Marken stehen ohne sie.`,
    otherCurves: (batch: string, why: string) => `Die Kurven von ${batch} waren nicht zu lesen: ${why}`,
    limits: { high: 'hoch', trip: 'sehr hoch', low: 'tief', lowTrip: 'sehr tief' },
  },
});

/** The window opens on so much about the first cause: most of it before. */
const WINDOW_MS_MAX = 7 * 60_000;
const WINDOW_MS_MIN = 60_000;
const WINDOW_PART = 1 / 4;
const BEFORE_PART = 0.55;
const SEVERITIES: readonly string[] = ['', 'Low', 'Medium', 'High', 'Critical'];
const PENS_MAX = 4;
const LINES_MAX = 6;
/** While the batch runs the axis grows, and curves are read again. */
const GROWS_MS = 5000;
/** Until a window that is moved comes to rest. */
const RESTS_MS = 250;

/** What somebody asked to see; a new object for each touch. */
export interface Moment {
  readonly atMs: number;
}

interface TimeLineProps {
  readonly batch: BatchDetail;
  readonly spell: Spell | undefined;
  readonly moment: Moment | undefined;
  readonly compared: OtherBatch | undefined;
}

export function TimeLine({ batch, spell, moment, compared }: TimeLineProps) {
  const [nowMs, setNowMs] = useState(boxNowMs);
  const [chosen, setChosen] = useState<Window | undefined>(undefined);
  const isOver = batch.endedAt !== '';
  useEffect(() => {
    if (isOver) return;
    const timer = window.setInterval(() => !document.hidden && setNowMs(boxNowMs()), GROWS_MS);
    return () => clearInterval(timer);
  }, [isOver]);
  const line = timeline.value;
  const startMs = Date.parse(line?.from || batch.startedAt);
  const endMs = Math.max(startMs + 1000, isOver ? Date.parse(batch.endedAt) : nowMs);
  const whole = { fromMs: startMs, toMs: endMs };
  const chain = spell ? chainOf(spell) : [];
  const firstMs = chain[0] ? Date.parse(chain[0].ts) : undefined;
  const shown = chosen ?? (firstMs === undefined ? whole : aboutOf(whole, firstMs));
  useEffect(() => setChosen(undefined), [spell?.from, batch.name]);
  useEffect(() => {
    if (moment) setChosen(aboutOf(whole, moment.atMs));
  }, [moment]);
  const tags = useMemo(() => tagList.value.filter(({ unit, dataType }) => batch.units.includes(unit) && dataType !== 'String'), [tagList.value, batch.units.join()]);
  const pens = pensOf(tags, spell, batch);
  const { curves, fault } = useCurves(batch, pens, shown, compared);
  const marks = useMemo(() => {
    const known = severities();
    return { alarms: events.value.flatMap((event) => alarmMark(event, known)).sort(worstLast), people: events.value.flatMap(personMark) };
  }, [events.value, alarms.value, alarmSeverities.value]);
  if (!line) return <p class="empty">{batch.startedAt === '' ? t.notStarted : t.reading}</p>;
  const rows: readonly TimeRow[] = [
    ...unitRows(line, events.value, nowMs, word).map(({ unit, spans }, at, all) => ({
      id: `${unit} ${at}`,
      name: all[at - 1]?.unit === unit ? '' : unit.toUpperCase(),
      spans,
    })),
    { name: said.alarms, spans: [], marks: marks.alarms },
    { name: said.people, spans: [], marks: marks.people },
    ...curves.map((curve) => curveRow(curve, tags, compared?.batch.batchID ?? '')),
  ];
  return (
    <section class="panel run-line" aria-labelledby="time-line-title" data-testid="time-line" data-from={Math.round(shown.fromMs)} data-to={Math.round(shown.toMs)}>
      <header class="page-head">
        <h3 id="time-line-title">{said.title}</h3>
        <span class="hint number">
          {said.span(
            clockText(shown.fromMs),
            clockText(shown.toMs),
            clockText(whole.fromMs),
            isOver ? clockText(whole.toMs) : said.now,
            zoneText(batch.startedAt || new Date(nowMs).toISOString()),
          )}
        </span>
        <div class="page-filters">
          {firstMs !== undefined && (
            <button type="button" class="button" onClick={() => setChosen(aboutOf(whole, firstMs))} data-testid="line-cause">
              {said.cause}
            </button>
          )}
          <button type="button" class="button" onClick={() => setChosen(whole)} data-testid="line-whole">
            {said.whole}
          </button>
          <button type="button" class="button" aria-label={said.closer} onClick={() => setChosen(zoomIn(whole, shown))} data-testid="line-closer">
            +
          </button>
          <button type="button" class="button" aria-label={said.wider} onClick={() => setChosen(zoomOut(whole, shown))} data-testid="line-wider">
            −
          </button>
          <AddPen tags={tags} pens={pens} />
          <Compare batch={batch} />
        </div>
      </header>
      <TimeWindow
        label={said.window}
        row={{ name: t.batch, spans: wholeSpans(line, nowMs, word) }}
        whole={whole}
        window={shown}
        timeText={clockText}
        onMove={setChosen}
        testid="whole-line"
      />
      <TimeBar
        label={said.title}
        rows={rows}
        fromMs={shown.fromMs}
        toMs={shown.toMs}
        {...(isOver ? {} : { nowMs })}
        lines={chain.slice(0, LINES_MAX).map(({ ts }) => Date.parse(ts))}
        timeText={clockText}
        testid="line"
      />
      {severitiesCutAt.value > 0 && (
        <p class="hint" role="status" data-testid="severities-cut">
          {said.cut(severitiesCutAt.value)}
        </p>
      )}
      <Fault text={fault} testid="curves-error" />
    </section>
  );
}

function aboutOf(whole: Window, atMs: number): Window {
  const length = whole.toMs - whole.fromMs;
  const width = Math.min(length, Math.max(WINDOW_MS_MIN, Math.min(WINDOW_MS_MAX, length * WINDOW_PART)));
  const fromMs = Math.max(whole.fromMs, Math.min(atMs - width * BEFORE_PART, whole.toMs - width));
  return { fromMs, toMs: fromMs + width };
}

/** Those of the address; while nobody has chosen, what the first cause is about. */
function pensOf(tags: readonly TagDescriptor[], spell: Spell | undefined, batch: BatchDetail): readonly Pen[] {
  const { pens: named } = view.value.query;
  const byKey = new Map(tags.map((tag) => [penKey(tag), tag]));
  const cause = spell && chainOf(spell).find(({ equipment }) => equipment !== '');
  const units = [...(spell ? chainOf(spell).map(({ unit }) => unit) : []), ...batch.units];
  const found = named === undefined ? pensFor(units, cause?.equipment ?? '', tags) : named.split(',').flatMap((key) => byKey.get(key) ?? []);
  return found.slice(0, PENS_MAX).map(({ unit, address, engUnits }) => ({ unit, address, label: address.toUpperCase(), engUnits }));
}

function narrowPens(pens: readonly Pen[]): void {
  narrow({ pens: pens.length === 0 ? 'none' : pens.map(penKey).join(',') });
}

function AddPen({ tags, pens }: { readonly tags: readonly TagDescriptor[]; readonly pens: readonly Pen[] }) {
  if (!can('historian:tags')) return null;
  const keys = pens.map(penKey);
  return (
    <>
      {pens.map((pen) => (
        <button
          type="button"
          class="chip"
          key={penKey(pen)}
          aria-label={said.remove(pen.label)}
          onClick={() => narrowPens(pens.filter((each) => each !== pen))}
          data-testid={`pen-${pen.address}`}
        >
          {pen.label} ×
        </button>
      ))}
      {pens.length < PENS_MAX && (
        <select
          class="select"
          aria-label={said.addPen}
          value=""
          onChange={(event) => {
            const tag = tags.find((each) => penKey(each) === event.currentTarget.value);
            if (tag) narrowPens([...pens, { unit: tag.unit, address: tag.address, label: tag.address, engUnits: tag.engUnits }]);
          }}
          data-testid="add-pen"
        >
          <option value="">{said.addPen}</option>
          {tags
            .filter((tag) => !keys.includes(penKey(tag)))
            .map((tag) => (
              <option key={penKey(tag)} value={penKey(tag)}>
                {tag.address.toUpperCase()}
              </option>
            ))}
        </select>
      )}
    </>
  );
}

interface ShownCurves {
  readonly curves: readonly BatchCurve[];
  /** In words; what could be read is shown beside it. */
  readonly fault: string;
}

/** Of the window once it rests; while the batch runs and the window reaches the present, what came since. */
function useCurves(batch: BatchDetail, pens: readonly Pen[], shown: Window, compared: OtherBatch | undefined): ShownCurves {
  const [curves, setCurves] = useState<readonly BatchCurve[]>([]);
  const [fault, setFault] = useState('');
  const [latest] = useState(() => new Latest());
  const known = useRef<{ readonly of: string; readonly read: BatchCurves } | undefined>(undefined);
  const of = JSON.stringify([batch.name, pens.map(penKey), compared?.batch.name]);
  const question = JSON.stringify([of, Math.round(shown.fromMs / 1000), Math.round(shown.toMs / 1000)]);
  useEffect(() => {
    const wanted = can('historian:tags') ? pens : [];
    const timer = window.setTimeout(() => {
      const before = known.current?.of === of ? known.current.read : undefined;
      latest
        .read(
          () => readBatchCurves(batch, wanted, shown, compared, before),
          (read) => {
            const isWhole = read.otherFault === undefined && read.faults.length === 0;
            known.current = isWhole ? { of, read } : undefined; // else it is asked for anew
            setCurves(read.curves);
            const other = read.otherFault === undefined ? '' : said.otherCurves(compared?.batch.batchID ?? '', faultText(read.otherFault));
            setFault([penFaultText(read.faults), other].filter((text) => text !== '').join(' '));
          },
        )
        .catch((refused: unknown) => setFault(faultText(refused)));
    }, RESTS_MS);
    return () => clearTimeout(timer);
  }, [question]);
  useEffect(() => () => latest.forget(), []);
  return { curves, fault };
}

/** By the name of the alarm: of those that are gone the historian knows it. */
function severities(): ReadonlyMap<string, string> {
  return new Map([...alarmSeverities.value, ...alarms.value.map(({ name, severity }) => [name, severity] as const)]);
}

function alarmMark({ eventType, value, ts, message, told }: BatchEvent, known: ReadonlyMap<string, string>): TimeMark[] {
  if (eventType !== 'Alarm' || value !== 'ActiveUnacknowledged') return [];
  const alarm = alarmOf(told);
  const severity = known.get(alarm) ?? '';
  return [{ atMs: Date.parse(ts), text: told?.parts.message || alarm || message, ...(isSeverity(severity) ? { severity } : {}) }];
}

/** Of marks in one place the worst is seen. */
function worstLast(a: TimeMark, b: TimeMark): number {
  return SEVERITIES.indexOf(a.severity ?? '') - SEVERITIES.indexOf(b.severity ?? '');
}

function personMark({ person, ts, eventType, eventSubType, value, message }: BatchEvent): TimeMark[] {
  if (!person || (eventType !== 'Operator' && eventSubType !== 'State Command' && eventSubType !== 'Mode Change')) return [];
  const what = eventSubType === 'State Command' ? word(value) : [message, value].filter((part) => part !== '').join(' ');
  return [{ atMs: Date.parse(ts), text: `${person.displayName}: ${what}` }];
}

/** Beyond what was measured, so that a limit that was nearly reached is in sight. */
const NEAR = 3;
const NEAR_PART = 0.35;
const MARGIN = 0.08;

function curveRow({ pen, own, other }: BatchCurve, tags: readonly TagDescriptor[], otherID: string): TimeRow {
  const tag = tags.find((each) => penKey(each) === penKey(pen));
  const known = [...own.values, ...(other?.values ?? [])].filter((value) => value !== null);
  const [least, most] = known.length > 0 ? [Math.min(...known), Math.max(...known)] : [0, 1];
  const near = Math.max((most - least) * NEAR, Math.abs(most) * NEAR_PART, 1);
  const limits = (tag ? limitsOfTag(tag) : []).filter(({ at }) => at >= least - near && at <= most + near);
  const [low, high] = [Math.min(least, ...limits.map(({ at }) => at)), Math.max(most, ...limits.map(({ at }) => at))];
  const margin = Math.max((high - low) * MARGIN, 0.05);
  const unit = unitText(pen.engUnits);
  const valueText = (value: number): string => `${numberText(value, high - low)} ${unit}`.trim();
  const line = (name: string, { times, values }: typeof own) => ({ name, points: times.map((at, point) => [at * 1000, values[point] ?? null] as const) });
  return {
    id: `pen ${penKey(pen)}`,
    name: `${pen.label} ${unit}`.trim(),
    spans: [],
    curve: {
      lines: [...(other ? [line(otherID, other)] : []), line('', own)],
      min: low - margin,
      max: high + margin,
      limits: limits.map(({ at, isHigh, isTrip }) => ({
        at,
        text: `${said.limits[isHigh ? (isTrip ? 'trip' : 'high') : isTrip ? 'lowTrip' : 'low']} ${numberText(at, undefined)}`,
      })),
      valueText,
    },
  };
}
