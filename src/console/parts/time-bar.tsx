/**
 * Rows of spans, marks and curves on one axis of time, with a cursor: the next hours of the units, and the steps of a batch. All of it is one target: a finger
 * or the arrow keys move the cursor, and the line below says what is there, so that nothing depends on how wide a span is.
 */
import { useComputed, useSignal, type ReadonlySignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { words } from '../common/strings.js';
import { type Severity, SeverityShape } from './badge.js';
import { CURVE_PX, CurveLines, curveText, type TimeCurve } from './time-curve.js';
import './time-bar.css';

export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
  readonly text: string;
  /** `step`: an element at work; `waits`: it has asked somebody; `open`: nobody knows yet whether or when. */
  readonly look: 'ran' | 'step' | 'waits' | 'held' | 'planned' | 'open';
}

export interface TimeMark {
  readonly atMs: number;
  readonly text: string;
  readonly severity?: Severity;
}

export interface TimeRow {
  readonly name: string;
  /** Where several rows have one name, or none. */
  readonly id?: string;
  readonly spans: readonly TimeSpan[];
  readonly marks?: readonly TimeMark[];
  readonly curve?: TimeCurve;
}

interface TimeBarProps {
  readonly label: string;
  readonly rows: readonly TimeRow[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly nowMs?: number;
  /** Moments that go through all rows. */
  readonly lines?: readonly number[];
  /** A time of the axis as people read it. */
  readonly timeText: (atMs: number) => string;
  readonly testid: string;
}

const said = words({
  en: { hint: 'Touch it, or use the arrow keys', nothing: 'nothing' },
  de: { hint: 'Berühren, oder mit den Pfeiltasten', nothing: 'nichts' },
});

export const HEAD_PX = 22;
export const ROW_PX = 24;
const MINUTE_MS = 60_000;
const TICKS_MIN = [1 / 60, 1 / 12, 1 / 6, 1 / 4, 1 / 2, 1, 5, 10, 15, 30, 60, 120, 240, 480, 1440];
const TICKS_MAX = 8;
/** Of the axis: what begins behind it would stick out. */
const TEXT_MAX = 94;
/** As far to the right on a phone. */
const NARROW_TEXT_MAX = 75;
/** Of the axis: that of a mark. */
const MARK_WIDTH = 2;
/** Of the axis, at a touch of a key. */
const STEP = 1 / 100;
const LEAP = 1 / 10;

export function TimeBar({ label, rows, fromMs, toMs, nowMs, lines, timeText, testid }: TimeBarProps) {
  const cursorMs = useSignal<number | undefined>(undefined);
  const told = useMemo(
    () =>
      (atMs: number): string =>
        `${timeText(atMs)}: ${thereAt(rows, atMs, Math.min(MINUTE_MS, (toMs - fromMs) * STEP)) || said.nothing}`,
    [rows, timeText, fromMs, toMs],
  );
  const valueNow = useComputed(() => Math.round(cursorMs.value ?? nowMs ?? fromMs));
  const valueText = useComputed(() => told(cursorMs.value ?? nowMs ?? fromMs));
  const put = (atMs: number): void => {
    cursorMs.value = Math.min(toMs, Math.max(fromMs, atMs));
  };
  const press = (event: KeyboardEvent): void => {
    const from = cursorMs.peek() ?? nowMs ?? fromMs;
    const step = (toMs - fromMs) * (event.shiftKey ? LEAP : STEP);
    const leap = (toMs - fromMs) * LEAP;
    const to = {
      ArrowLeft: from - step,
      ArrowDown: from - step,
      ArrowRight: from + step,
      ArrowUp: from + step,
      PageDown: from - leap,
      PageUp: from + leap,
      Home: fromMs,
      End: toMs,
    }[event.key];
    if (to === undefined || event.altKey || event.ctrlKey) return;
    event.preventDefault();
    put(to);
  };
  const touch = (event: PointerEvent): void => {
    if (event.type === 'pointermove' && event.buttons === 0) return;
    const { left, width } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    put(fromMs + ((event.clientX - left) / width) * (toMs - fromMs));
  };
  return (
    <div class="time-bar" data-testid={testid}>
      <ul class="time-names" aria-hidden="true">
        {rows.map((row) => (
          <li key={keyOf(row)} style={{ height: `${heightOf(row)}px` }}>
            {row.name}
          </li>
        ))}
      </ul>
      <div
        class="time-plot"
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={fromMs}
        aria-valuemax={toMs}
        aria-valuenow={valueNow}
        aria-valuetext={valueText}
        onKeyDown={press}
        onPointerDown={touch}
        onPointerMove={touch}
        data-testid={`${testid}-plot`}
      >
        <Plot rows={rows} fromMs={fromMs} toMs={toMs} nowMs={nowMs} lines={lines} timeText={timeText} cursorMs={cursorMs} />
      </div>
      <p class="time-told" role="status" data-testid={`${testid}-told`}>
        <Told cursorMs={cursorMs} told={told} />
      </p>
    </div>
  );
}

interface PlotProps extends Pick<TimeBarProps, 'rows' | 'fromMs' | 'toMs' | 'timeText'> {
  readonly nowMs?: number | undefined;
  readonly lines?: readonly number[] | undefined;
  readonly cursorMs?: ReadonlySignal<number | undefined>;
}

const keyOf = ({ id, name }: TimeRow): string => id ?? name;
const heightOf = ({ curve }: TimeRow): number => (curve ? CURVE_PX : ROW_PX);

export function Plot({ rows, fromMs, toMs, nowMs, lines = [], timeText, cursorMs }: PlotProps) {
  const x = (atMs: number): number => Math.min(100, Math.max(0, ((atMs - fromMs) / (toMs - fromMs)) * 100));
  const isShown = (atMs: number): boolean => atMs >= fromMs && atMs <= toMs;
  const tops = rows.map((_row, at) => HEAD_PX + rows.slice(0, at).reduce((sum, row) => sum + heightOf(row), 0));
  const height = HEAD_PX + rows.reduce((sum, row) => sum + heightOf(row), 0);
  return (
    <svg height={height} aria-hidden="true">
      {ticksOf(fromMs, toMs).map((atMs, place) => (
        <svg key={atMs} x={`${x(atMs)}%`}>
          <line class="time-tick" y1={HEAD_PX - 4} y2={height} />
          {x(atMs) <= TEXT_MAX && (
            <text class={place % 3 === 0 && x(atMs) <= NARROW_TEXT_MAX ? 'time-text' : 'time-text time-text-wide'} x="3" y="13">
              {timeText(atMs)}
            </text>
          )}
        </svg>
      ))}
      {rows.map(({ spans, marks = [], curve, ...row }, at) => (
        <svg key={keyOf({ spans, ...row })} y={tops[at]} height={curve ? CURVE_PX : ROW_PX}>
          {curve && <CurveLines curve={curve} fromMs={fromMs} toMs={toMs} />}
          {spans
            .filter((span) => span.toMs > fromMs && span.fromMs < toMs)
            .map((span) => (
              <Span key={`${span.fromMs} ${span.text}`} span={span} from={x(span.fromMs)} to={x(span.toMs)} />
            ))}
          {marksApart(
            marks.filter(({ atMs }) => isShown(atMs)),
            x,
          ).map(({ mark, more }) => (
            <svg key={`${mark.atMs} ${mark.text}`} class="time-mark" x={`${x(mark.atMs)}%`}>
              {mark.severity === undefined ? <path d="M0 2L5 11L0 20L-5 11Z" /> : <MarkShape severity={mark.severity} />}
              {more > 0 && (
                <text class="time-more" x="12" y="16">
                  +{more}
                </text>
              )}
            </svg>
          ))}
        </svg>
      ))}
      {lines.filter(isShown).map((atMs) => (
        <line key={atMs} class="time-line" x1={`${x(atMs)}%`} x2={`${x(atMs)}%`} y1={HEAD_PX - 4} y2={height} />
      ))}
      {nowMs !== undefined && isShown(nowMs) && <line class="time-now" x1={`${x(nowMs)}%`} x2={`${x(nowMs)}%`} y1={HEAD_PX - 8} y2={height} />}
      {cursorMs && <Cursor cursorMs={cursorMs} x={x} height={height} />}
    </svg>
  );
}

/** Marks that would lie over each other are one, the last of them, with how many more: the line below says all. */
function marksApart(marks: readonly TimeMark[], x: (atMs: number) => number): { readonly mark: TimeMark; readonly more: number }[] {
  const found: { mark: TimeMark; more: number }[] = [];
  for (const mark of marks.toReversed()) {
    const over = found.find((each) => Math.abs(x(each.mark.atMs) - x(mark.atMs)) < MARK_WIDTH);
    if (over) over.more += 1;
    else found.push({ mark, more: 0 });
  }
  return found.toReversed();
}

function MarkShape({ severity }: { readonly severity: Severity }) {
  return (
    <g transform="translate(-9 2) scale(0.82)">
      <SeverityShape severity={severity} />
    </g>
  );
}

function Span({ span: { text, look }, from, to }: { readonly span: TimeSpan; readonly from: number; readonly to: number }) {
  return (
    <svg class={`time-span time-${look}`} x={`${from}%`} y="2" width={`${to - from}%`} height={ROW_PX - 4}>
      <rect x="0.5" y="0.5" width="100%" height={ROW_PX - 5} />
      <text x="6" y="15">
        {text}
      </text>
    </svg>
  );
}

function Cursor({ cursorMs, x, height }: { readonly cursorMs: ReadonlySignal<number | undefined>; readonly x: (atMs: number) => number; readonly height: number }) {
  const at = cursorMs.value;
  return at === undefined ? null : <line class="time-cursor" x1={`${x(at)}%`} x2={`${x(at)}%`} y2={height} />;
}

function Told({ cursorMs, told }: { readonly cursorMs: ReadonlySignal<number | undefined>; readonly told: (atMs: number) => string }) {
  return <>{cursorMs.value === undefined ? said.hint : told(cursorMs.value)}</>;
}

/** A mark has no length: it is there for a while before and after. */
function thereAt(rows: readonly TimeRow[], atMs: number, nearMs: number): string {
  const found = rows.flatMap(({ name, spans, marks = [], curve }) => {
    const texts = [
      ...(curve ? [curveText(curve, atMs)] : []),
      ...spans.filter((span) => span.fromMs <= atMs && atMs < span.toMs).map(({ text }) => text),
      ...marks.filter((mark) => Math.abs(mark.atMs - atMs) <= nearMs).map(({ text }) => text),
    ];
    return texts.length === 0 ? [] : [`${name} ${texts.join(', ')}`.trim()];
  });
  return found.join('; ');
}

/** At full hours and the like of the panel's own time zone. */
function ticksOf(fromMs: number, toMs: number): number[] {
  const stepMs = (TICKS_MIN.find((minutes) => (toMs - fromMs) / (minutes * MINUTE_MS) <= TICKS_MAX) ?? 1440) * MINUTE_MS;
  const zoneMs = new Date(fromMs).getTimezoneOffset() * MINUTE_MS;
  const first = Math.ceil((fromMs - zoneMs) / stepMs) * stepMs + zoneMs;
  return Array.from({ length: Math.max(0, Math.ceil((toMs - first) / stepMs)) }, (_, at) => first + at * stepMs);
}
