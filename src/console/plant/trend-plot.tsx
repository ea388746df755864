/** The drawing of curves with uPlot. Loaded when the first curve is shown, so that the first view does not wait for it. */
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { boxNowMs } from '../data/box-clock.js';
import type { Curve, Pen } from '../data/trend.js';
import { look } from '../common/look.js';
import { locale } from '../common/language.js';
import { t } from '../common/strings.js';
import { unitText } from '../common/text.js';
import { axisRange } from './axis-range.js';
import { DASHES, PEN_COLOURS, PenLine } from './pen-line.js';
import { colour, type Hand, type Reading, type Scale, type TrendPlotProps } from './trend-props.js';
import { moveByHand } from './trend-hands.js';
import { drawOver } from './trend-over.js';
import './trend.css';

const REDRAW_MS = 500;
/** The values of all pens first, then low and high of those with a band. */
function aligned(curves: readonly Curve[]): uPlot.AlignedData {
  const bands = curves.flatMap(({ times, band }) => (band ? [[times, band.lows, band.highs]] : []));
  return uPlot.join([...curves.map(({ times, values }) => [times, values]), ...bands] as uPlot.AlignedData[]) as uPlot.AlignedData;
}

/** Numbers of the pens that have a band. */
function banded(curves: readonly Curve[]): number[] {
  return curves.flatMap(({ band }, pen) => (band ? [pen] : []));
}

/**
 * The picture is made anew only when other pens are drawn: curves that are read again while a hand moves it, or while somebody reads, are put into it.
 */
export function TrendPlot(props: TrendPlotProps) {
  const { pens, curves, windowMs, span, legend, marks, limits, cursors } = props;
  const box = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | null>(null);
  const held = useRef<Scale | null>(null);
  /** Where the cursor stood in px when another span was chosen; -1: elsewhere. */
  const left = useRef(-1);
  const now = useRef(props);
  now.current = props;
  const bands = banded(curves);
  const structure = JSON.stringify([pens, bands]);
  useEffect(() => {
    const element = box.current;
    if (!element || pens.length === 0) return;
    const options = optionsOf(pens, bands, element, (at, readings) => now.current.onCursor?.(at, readings));
    options.hooks = { ...options.hooks, draw: [(plot) => drawOver(plot, now.current)] };
    const plot = new uPlot(options, aligned(curves), element);
    drawn.current = plot;
    const sized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: element.clientHeight }));
    sized.observe(element);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const recolour = (): void => plot.redraw(false);
    dark.addEventListener('change', recolour);
    const unlook = look.subscribe(recolour);
    return () => {
      drawn.current = null;
      sized.disconnect();
      dark.removeEventListener('change', recolour);
      unlook();
      plot.destroy();
      now.current.onCursor?.(null, []); // values of these curves are not read as those of the next
    };
  }, [structure]);
  useEffect(() => {
    const draw = (): void => {
      const plot = drawn.current;
      if (!plot) return;
      plot.setData(aligned(curves), false);
      const toMs = windowMs === undefined ? span.toMs : boxNowMs();
      plot.setScale('x', held.current ?? { min: (windowMs === undefined ? span.fromMs : toMs - windowMs) / 1000, max: toMs / 1000 });
    };
    draw();
    const timer = windowMs === undefined ? 0 : window.setInterval(() => !document.hidden && draw(), REDRAW_MS);
    return () => window.clearInterval(timer);
  }, [structure, curves, windowMs, span.fromMs, span.toMs]);
  useEffect(() => {
    const plot = drawn.current;
    if (!plot) return;
    left.current = plot.cursor.left ?? -1;
    plot.setCursor({ left: -1, top: -1 }); // until the curves of this span are there, nothing is read from them
  }, [windowMs, span.fromMs, span.toMs]);
  useEffect(() => {
    const plot = drawn.current;
    if (plot && left.current >= 0 && box.current?.matches(':hover')) plot.setCursor({ left: left.current, top: plot.over.clientHeight / 2 });
    left.current = -1;
  }, [curves]);
  useEffect(() => drawn.current?.redraw(false), [marks, limits, cursors?.a, cursors?.b]);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const hand = { element, plot: () => drawn.current, props: () => now.current, held };
    const ends = [readByHand(hand), moveByHand(hand)];
    return () => ends.forEach((end) => end());
  }, []);
  return (
    <div class="trend">
      <div class="trend-plot" ref={box} tabIndex={0} role="group" aria-label={t.trendKeys} data-testid="trend-plot" data-bands={bands.length} />
      {legend && <Legend pens={pens} />}
    </div>
  );
}

const STEP_PX = 4;
const LEAP_PX = 40;

/** The cursor without a mouse: a finger that moves over the curves, or the arrow keys. @returns ends it. */
function readByHand({ element, plot: plotNow, props }: Hand): () => void {
  const put = (plot: uPlot, left: number): void => plot.setCursor({ left: Math.min(plot.over.clientWidth, Math.max(0, left)), top: plot.over.clientHeight / 2 });
  const press = (event: KeyboardEvent): void => {
    const plot = plotNow();
    if (!plot) return;
    const width = plot.over.clientWidth;
    const shown = plot.cursor.left ?? -1;
    const from = shown < 0 ? width : shown;
    const to = { ArrowLeft: from - (event.shiftKey ? LEAP_PX : STEP_PX), ArrowRight: from + (event.shiftKey ? LEAP_PX : STEP_PX), Home: 0, End: width }[event.key];
    if (to === undefined) return pick(plot, event);
    if (event.altKey || event.ctrlKey) return;
    event.preventDefault();
    put(plot, to);
  };
  const pick = (plot: uPlot, event: KeyboardEvent): void => {
    const { onPick } = props();
    const left = plot.cursor.left ?? -1;
    if (!onPick || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === 'Escape') onPick(undefined);
    else if ((event.key === 'a' || event.key === 'b') && left >= 0) onPick(Math.round(plot.posToVal(left, 'x') * 1000), event.key);
    else return;
    event.preventDefault();
  };
  const touch = (event: PointerEvent): void => {
    const plot = plotNow();
    if (plot && event.pointerType !== 'mouse' && plot.over.contains(event.target as Node)) put(plot, event.clientX - plot.over.getBoundingClientRect().left);
  };
  element.addEventListener('keydown', press);
  element.addEventListener('pointerdown', touch);
  element.addEventListener('pointermove', touch);
  return () => {
    element.removeEventListener('keydown', press);
    element.removeEventListener('pointerdown', touch);
    element.removeEventListener('pointermove', touch);
  };
}

const penColour = (pen: number): string => colour(PEN_COLOURS[pen % PEN_COLOURS.length] as string);

/** From the least to the greatest value of each bucket, in the colour of the pen: dim, so that six can lie over each other. */
const BAND_ALPHA = 0.22;

/** @param bands pens whose low and high follow the values of all pens. */
function optionsOf(pens: readonly Pen[], bands: readonly number[], element: HTMLElement, onCursor: TrendPlotProps['onCursor']): uPlot.Options {
  const lowSeries = (band: number): number => 1 + pens.length + 2 * band;
  const units = [...new Set(pens.map(({ engUnits }) => engUnits))];
  const grid = { stroke: () => colour('--line'), width: 1 };
  const time = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
  return {
    width: element.clientWidth,
    height: element.clientHeight,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { size: 8 } },
    scales: {
      x: { time: true, auto: false },
      ...Object.fromEntries(
        units.map((unit) => [
          `y ${unit}`,
          {
            auto: true,
            range: (_plot: uPlot, min: number | null, max: number | null) =>
              axisRange(
                pens.filter(({ engUnits }) => engUnits === unit),
                min,
                max,
              ),
          },
        ]),
      ),
    },
    axes: [
      { stroke: () => colour('--muted'), grid, ticks: grid, values: (_plot, splits) => splits.map((at) => time.format(at * 1000)), space: 90 },
      ...units.map((unit, at) => ({
        scale: `y ${unit}`,
        label: unitText(unit),
        labelSize: unit === '' ? 0 : 18,
        size: 46,
        side: at % 2 === 0 ? (3 as const) : (1 as const),
        stroke: () => colour('--muted'),
        grid: at === 0 ? grid : { show: false },
        ticks: grid,
      })),
    ],
    series: [
      {},
      ...pens.map((pen, at) => ({
        label: pen.label,
        scale: `y ${pen.engUnits}`,
        stroke: () => penColour(at),
        width: 2,
        dash: DASHES[at % DASHES.length] ?? [],
        points: { show: false },
        ...steps,
      })),
      ...bands.flatMap((pen) =>
        ['min', 'max'].map((end) => ({ label: `${pens[pen]?.label} ${end}`, scale: `y ${pens[pen]?.engUnits}`, width: 0, points: { show: false }, ...steps })),
      ),
    ],
    bands: bands.map((pen, at) => {
      const low = lowSeries(at);
      return { series: [low + 1, low] as [number, number], fill: () => penColour(pen).replace(/^rgb\((.*)\)$/, `rgba($1, ${BAND_ALPHA})`) };
    }),
    hooks: {
      setCursor: [
        (plot) => {
          const at = plot.cursor.idx;
          if (at === null || at === undefined || (plot.cursor.left ?? -1) < 0) return onCursor?.(null, []);
          onCursor?.(
            plot.data[0][at] ?? null,
            pens.map((_pen, pen) => readingOf(plot, pen, bands.indexOf(pen) < 0 ? undefined : lowSeries(bands.indexOf(pen)), at)),
          );
        },
      ],
    },
  };
}

/** The historian records changes: a value is what it last was, and no ramp leads to the next. */
const stepped = uPlot.paths.stepped?.({ align: 1 });
const steps = stepped === undefined ? {} : { paths: stepped };

function readingOf({ data }: uPlot, pen: number, low: number | undefined, at: number): Reading {
  const of = (series: number): number | null | undefined => lastBefore(data[series] as (number | null | undefined)[], at);
  return low === undefined ? { value: of(pen + 1) } : { value: of(pen + 1), low: of(low), high: of(low + 1) };
}

/** Each curve has its own times; what it last was is what it is. */
function lastBefore(values: readonly (number | null | undefined)[], from: number): number | null | undefined {
  for (let at = from; at >= 0; at -= 1) if (values[at] !== undefined) return values[at];
  return undefined;
}

function Legend({ pens }: { readonly pens: readonly Pen[] }) {
  return (
    <ul class="trend-legend">
      {pens.map((pen, at) => (
        <li key={`${pen.unit} ${pen.address}`}>
          <PenLine at={at} /> {pen.label}
        </li>
      ))}
    </ul>
  );
}
