/** What a trend is given, and how its colours are found: shared by those who draw it. */
import type uPlot from 'uplot';
import type { Curve, Pen } from '../data/trend.js';

export interface TrendPlotProps {
  readonly pens: readonly Pen[];
  readonly curves: readonly Curve[];
  /** Follows the present with this width; undefined: the span. */
  readonly windowMs: number | undefined;
  readonly span: { readonly fromMs: number; readonly toMs: number };
  readonly legend: boolean;
  /** Moments that something happened in. */
  readonly marks?: readonly TrendMark[];
  /** Lines across, in the scale of a pen. */
  readonly limits?: readonly TrendLimit[];
  /** Two moments that somebody compares. */
  readonly cursors?: { readonly a: number | undefined; readonly b: number | undefined };
  /** Somebody has zoomed or moved the picture; without it nobody can. */
  readonly onSpan?: (fromMs: number, toMs: number) => void;
  /** Somebody has touched a moment, or taken both back. */
  readonly onPick?: (atMs: number | undefined, which?: 'a' | 'b') => void;
  /** What is under the cursor, one reading per pen; null when it is elsewhere. */
  readonly onCursor?: (at: number | null, readings: readonly Reading[]) => void;
}

/** What a hand works on. It outlives each picture: curves of other pens come while somebody drags. */
export interface Hand {
  readonly element: HTMLElement;
  readonly plot: () => uPlot | null;
  readonly props: () => TrendPlotProps;
  /** Where the hand has moved the picture to, until somebody is told: so long it does not follow the present. */
  readonly held: { current: Scale | null };
}

/** Seconds since 1970, as uPlot has them. */
export interface Scale {
  readonly min: number;
  readonly max: number;
}

export interface TrendMark {
  readonly atMs: number;
  readonly text: string;
  readonly kind: 'alarm' | 'phase' | 'batch';
}

export interface TrendLimit {
  readonly pen: number;
  readonly at: number;
  readonly isTrip: boolean;
}

/** Undefined before the curve begins, null where it is broken; low and high of a bucket, where the curve has a band. */
export interface Reading {
  readonly value: number | null | undefined;
  readonly low?: number | null | undefined;
  readonly high?: number | null | undefined;
}

/** A token of the theme, as it looks now. */
export function colour(name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}
