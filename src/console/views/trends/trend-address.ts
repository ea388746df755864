/**
 * What the trend desk shows, as it stands in the address: `tags=rx101 tic101.pv,rx101 li101.pv&window=30m`, or `from` and `to` of the past, and the
 * moments `a` and `b` that are compared. An address without tags shows those that this panel showed last.
 */
import { keepHere, keptHere } from '../../common/kept-here.js';
import { narrow, type ViewQuery } from '../../data/view.js';

export const PENS_MAX = 6;
const MINUTE_MS = 60_000;
export const WINDOWS = {
  '5m': 5 * MINUTE_MS,
  '30m': 30 * MINUTE_MS,
  '2h': 120 * MINUTE_MS,
  '12h': 720 * MINUTE_MS,
  '2d': 2880 * MINUTE_MS,
  '7d': 10_080 * MINUTE_MS,
  '28d': 40_320 * MINUTE_MS,
} as const;
export type Window = keyof typeof WINDOWS;
export const WINDOW_NAMES = Object.keys(WINDOWS) as Window[];
const KEY = 'lineside.trends';

/** The pens of this panel survive a reload. */
function storedKeys(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(keptHere(KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter((each): each is string => typeof each === 'string').slice(0, PENS_MAX) : [];
  } catch {
    return [];
  }
}

export interface Looked {
  /** `unit address`, in the order of the pens. */
  readonly keys: readonly string[];
  /** How much is shown. */
  readonly windowMs: number;
  /** How far back the right edge is; 0 follows the present. */
  readonly endMs: number;
  readonly a: number | undefined;
  readonly b: number | undefined;
}

export function lookedAt(query: ViewQuery): Looked {
  const at = (text: string | undefined): number | undefined => {
    const ms = Date.parse(text ?? '');
    return Number.isFinite(ms) ? ms : undefined;
  };
  const keys = query.tags === undefined ? storedKeys() : [...new Set(query.tags.split(',').filter((key) => key !== ''))].slice(0, PENS_MAX);
  const [fromMs, toMs] = [at(query.from), at(query.to)];
  const both = { keys, a: at(query.a), b: at(query.b) };
  if (fromMs !== undefined && toMs !== undefined && toMs > fromMs) return { ...both, windowMs: toMs - fromMs, endMs: toMs };
  return { ...both, windowMs: windowMsOf(query.window ?? ''), endMs: 0 };
}

function windowMsOf(text: string): number {
  if (Object.hasOwn(WINDOWS, text)) return WINDOWS[text as Window];
  const seconds = /^(\d{1,8})s$/.exec(text);
  return seconds && Number(seconds[1]) > 0 ? Number(seconds[1]) * 1000 : WINDOWS['5m'];
}

export function nameOf(windowMs: number): Window | undefined {
  return WINDOW_NAMES.find((name) => WINDOWS[name] === windowMs);
}

export function choosePens(keys: readonly string[]): void {
  keepHere(KEY, JSON.stringify(keys));
  narrow({ tags: keys.join(',') });
}

/** @param endMs 0: follow the present. */
export function lookAt(endMs: number, windowMs: number): void {
  if (endMs === 0) narrow({ from: '', to: '', window: nameOf(windowMs) ?? `${Math.max(1, Math.round(windowMs / 1000))}s` });
  else narrow({ from: new Date(endMs - windowMs).toISOString(), to: new Date(endMs).toISOString(), window: '' });
}

export function compare(cursors: { readonly a: number | undefined; readonly b: number | undefined }): void {
  const text = (ms: number | undefined): string => (ms === undefined ? '' : new Date(ms).toISOString());
  narrow({ a: text(cursors.a), b: text(cursors.b) });
}
