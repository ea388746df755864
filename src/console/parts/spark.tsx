/** The last minutes of a value, as one path: what it last was it stays, so that no ramp leads to the next. */
import type { Limit, PointerLook, Range } from './bar.js';
import './spark.css';

interface SparkProps {
  /** Ascending, of any unit. */
  readonly times: readonly number[];
  /** Null where nobody knows it: the line breaks there. */
  readonly values: readonly (number | null)[];
  readonly range: Range;
  readonly band?: Range | undefined;
  readonly limits?: readonly Limit[];
  readonly look?: PointerLook;
  readonly label: string;
}

const WIDTH = 100;
const HEIGHT = 28;
/** Above and below the range: what lies on its edge is drawn whole. */
const EDGE = 3;
const NONE: readonly Limit[] = [];

export function Spark({ times, values, range, band, limits = NONE, look = 'normal', label }: SparkProps) {
  const y = (value: number): number => round(EDGE + (1 - Math.min(1, Math.max(0, (value - range.min) / (range.max - range.min)))) * (HEIGHT - 2 * EDGE));
  const last = values.at(-1);
  return (
    <svg class={`spark spark-${look.toLowerCase()}`} height={HEIGHT} role="img" aria-label={label}>
      {band && <rect class="spark-band" width="100%" y={y(band.max)} height={y(band.min) - y(band.max)} />}
      {limits.map(({ at, isTrip }) => (
        <line key={`${at} ${isTrip}`} class="spark-limit" x2="100%" y1={y(at)} y2={y(at)} />
      ))}
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width="100%" height={HEIGHT} preserveAspectRatio="none">
        <path class="spark-line" d={pathOf(times, values, y)} />
      </svg>
      {typeof last === 'number' && <circle class="spark-end" cx="100%" cy={y(last)} r="2.5" />}
    </svg>
  );
}

function pathOf(times: readonly number[], values: readonly (number | null)[], y: (value: number) => number): string {
  const [from = 0, to = 1] = [times[0], times.at(-1)];
  const wide = Math.max(to - from, Number.MIN_VALUE);
  let drawn = false;
  let path = '';
  values.forEach((value, at) => {
    const x = round((((times[at] ?? to) - from) / wide) * WIDTH);
    if (value === null) path += drawn ? `H${x}` : '';
    else path += drawn ? `H${x}V${y(value)}` : `M${x} ${y(value)}`;
    drawn = value !== null;
  });
  return path;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
