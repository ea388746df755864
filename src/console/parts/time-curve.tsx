/** The curve of a value as a row of a time bar: what it was, its limits dashed, and dotted what it was in another batch. */
import { words } from '../common/strings.js';

export interface CurveLine {
  /** In the order of time; null where nothing is known. A value is what it last was. */
  readonly points: readonly (readonly [atMs: number, value: number | null])[];
  /** Of what it is; empty for the value itself. */
  readonly name: string;
}

export interface TimeCurve {
  readonly lines: readonly CurveLine[];
  readonly min: number;
  readonly max: number;
  readonly limits: readonly { readonly at: number; readonly text: string }[];
  readonly valueText: (value: number) => string;
}

const said = words({ en: { none: 'not recorded' }, de: { none: 'nicht aufgezeichnet' } });

export const CURVE_PX = 92;
const EDGE_PX = 4;
const TEXT_PX = 18;
/** Room for the text of a limit. */
const COLUMN_PX = 140;
const WIDE = 1000;

interface CurveLinesProps {
  readonly curve: TimeCurve;
  readonly fromMs: number;
  readonly toMs: number;
}

export function CurveLines({ curve: { lines, min, max, limits }, fromMs, toMs }: CurveLinesProps) {
  const y = (value: number): number => CURVE_PX - EDGE_PX - ((value - min) / (max - min || 1)) * (CURVE_PX - 2 * EDGE_PX);
  const shown = textsApart(
    limits.filter(({ at }) => at >= min && at <= max).map(({ at, text }) => ({ text, lineY: y(at), textY: y(at) + TEXT_PX > CURVE_PX ? y(at) - 4 : y(at) + 14 })),
  );
  return (
    <>
      <rect class="time-curve-ground" width="100%" height={CURVE_PX - 2} />
      {shown.map(({ text, lineY, textY, column }) => (
        <g key={text}>
          <line class="time-limit" x1="0" x2="100%" y1={lineY} y2={lineY} />
          <text class="time-limit-text" x={6 + column * COLUMN_PX} y={textY}>
            {text}
          </text>
        </g>
      ))}
      <svg viewBox={`0 0 ${WIDE} ${CURVE_PX}`} width="100%" height={CURVE_PX} preserveAspectRatio="none" class="time-curves">
        {lines.map(({ points, name }) => (
          <path
            key={name}
            class={name === '' ? 'time-curve' : 'time-curve time-curve-other'}
            d={pathOf(points, (atMs) => ((atMs - fromMs) / (toMs - fromMs)) * WIDE, y)}
            data-points={points.length}
          />
        ))}
      </svg>
    </>
  );
}

interface LimitText {
  readonly text: string;
  readonly lineY: number;
  readonly textY: number;
}

/** Of limits that lie close the texts stand side by side. */
function textsApart(limits: readonly LimitText[]): (LimitText & { readonly column: number })[] {
  const placed: (LimitText & { readonly column: number })[] = [];
  for (const limit of limits) {
    const near = placed.filter(({ textY }) => Math.abs(textY - limit.textY) < TEXT_PX).map(({ column }) => column);
    const column = Array.from({ length: near.length + 1 }, (_, at) => at).find((at) => !near.includes(at)) ?? 0;
    placed.push({ ...limit, column });
  }
  return placed;
}

/** Stepped: what is recorded are changes, and no ramp leads to the next. */
function pathOf(points: CurveLine['points'], x: (atMs: number) => number, y: (value: number) => number): string {
  let way = '';
  let isOpen = false;
  for (const [atMs, value] of points) {
    const at = Math.min(WIDE, Math.max(0, x(atMs))).toFixed(1);
    if (value === null) {
      if (isOpen) way += `H${at}`;
      isOpen = false;
    } else {
      way += isOpen ? `H${at}V${y(value).toFixed(1)}` : `M${at} ${y(value).toFixed(1)}`;
      isOpen = true;
    }
  }
  return way;
}

/** Of each line what it was then. */
export function curveText({ lines, valueText }: TimeCurve, atMs: number): string {
  return lines.map(({ name, points }) => `${name} ${told(points.findLast(([at]) => at <= atMs)?.[1] ?? null, valueText)}`.trim()).join(', ');
}

function told(value: number | null, valueText: (value: number) => string): string {
  return value === null ? said.none : valueText(value);
}
