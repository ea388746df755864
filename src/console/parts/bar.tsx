/**
 * Where a value lies in the range it works in: pointer from above, setpoint from below, thin ticks of H and L, thick ones of HH and LL. What moves
 * is drawn by a component of its own.
 */
import { computed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { type Live, read } from './live.js';
import type { Severity } from './badge.js';
import './bar.css';

export interface Range {
  readonly min: number;
  readonly max: number;
}

export interface Limit {
  readonly at: number;
  /** HH or LL: what follows is more than a word. */
  readonly isTrip: boolean;
}

/** Of the pointer: in alarm, off its setpoint while nobody is alarmed, or normal. */
export type PointerLook = Severity | 'off' | 'normal';

export interface BarProps {
  readonly range: Range;
  /** Undefined: unknown, or not to be trusted. The bar has no pointer then. */
  readonly value: Live<number | undefined>;
  readonly setpoint?: Live<number | undefined>;
  /** Where it is normal. */
  readonly band?: Live<Range | undefined>;
  readonly limits?: readonly Limit[];
  readonly look?: PointerLook;
  /** For a screen reader; absent where the words beside the bar say all of it. */
  readonly label?: string;
}

const NONE: readonly Limit[] = [];
const TOP = 9;
const HIGH = 7;

function percent(value: number, { min, max }: Range): number {
  return Math.min(100, Math.max(0, ((value - min) / (max - min)) * 100));
}

export function Bar({ range, value, setpoint, band, limits = NONE, look = 'normal', label }: BarProps) {
  return (
    <svg class="bar" height="26" role={label === undefined ? undefined : 'img'} aria-label={label} aria-hidden={label === undefined}>
      <rect class="bar-track" y={TOP} width="100%" height={HIGH} />
      <Band band={band} range={range} />
      {limits.map(({ at, isTrip }) => (
        <line key={`${at} ${isTrip}`} class={isTrip ? 'bar-trip' : 'bar-limit'} x1={`${percent(at, range)}%`} x2={`${percent(at, range)}%`} y1={TOP - 3} y2={TOP + HIGH + 3} />
      ))}
      <Moved class="bar-setpoint" value={setpoint} range={range} path="M0 17L5 25H-5Z" />
      <Moved class={`bar-pointer bar-pointer-${look.toLowerCase()}`} value={value} range={range} path="M-5 0H5L1 8V17H-1V8Z" />
    </svg>
  );
}

interface MovedProps {
  readonly class: string;
  readonly value: Live<number | undefined>;
  readonly range: Range;
  readonly path: string;
}

/** What cannot be seen moves nothing: a thousandth of the bar is less than the dot of a screen. */
function Moved({ class: name, value, range: { min, max }, path }: MovedProps) {
  const place = useMemo(
    () =>
      computed(() => {
        const at = read(value);
        return at === undefined ? undefined : `${percent(at, { min, max }).toFixed(1)}%`;
      }),
    [value, min, max],
  ).value;
  return place === undefined ? null : (
    <svg class={name} x={place}>
      <path d={path} />
    </svg>
  );
}

function Band({ band, range }: { readonly band: Live<Range | undefined>; readonly range: Range }) {
  const normal = read(band);
  if (normal === undefined) return null;
  const from = percent(normal.min, range);
  return <rect class="bar-band" x={`${from}%`} y={TOP} width={`${percent(normal.max, range) - from}%`} height={HIGH} />;
}
