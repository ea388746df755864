/** Curves of tags: their past from the historian, their present from the stream (decisions 8.9). */
import { csvCell } from '../common/save-file.js';
import { get } from './api.js';
import { boxNowMs } from './box-clock.js';
import { onTag, site, watchTags } from './plant.js';
import { can } from './session.js';
import type { HistoryGap, HistorySample, LogPage, Quality, TagData } from './types.js';

/** One curve. */
export interface Pen {
  readonly unit: string;
  readonly address: string;
  readonly label: string;
  readonly engUnits: string;
  /** What its axis shows at least: scaled to its own noise every curve fills the picture. */
  readonly range?: { readonly min: number; readonly max: number } | undefined;
  /** What the historian records as a change (decisions 8.9); 0 or absent: each. */
  readonly step?: number;
}

/**
 * Times in seconds since 1970, ascending; null where the value was not good: the line breaks there. In between a value
 * stays what it last was, because the historian records changes only.
 */
export interface Curve {
  readonly times: number[];
  readonly values: (number | null)[];
  /** Of a long range: least and greatest value of each bucket, whose mean is the value; an average alone hides a peak. */
  readonly band: { readonly lows: (number | null)[]; readonly highs: (number | null)[] } | undefined;
  /** Length of a bucket; 0 when each sample is a point. */
  readonly bucketMs: number;
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

const SAMPLES_MAX = 10_000;
/** A curve has no more points than a screen has columns. */
const POINTS_MAX = 1200;
const RAW_MS_MAX = 20 * 60_000;
/** The historian records a tag at least so often (decisions 8.9): so far before a span lies the value it begins with. */
const SAMPLE_AT_LEAST_MS = 60_000;
/** It records a tag at most so often. */
const SAMPLE_AT_MOST_S = 1;
/** After a longer silence the recorder was not there. */
const SILENCE_S_MAX = 65;

/** What is shown of a length of time: samples, or buckets of so many milliseconds. */
export function bucketOf(lengthMs: number): number {
  return lengthMs > RAW_MS_MAX ? Math.ceil(lengthMs / POINTS_MAX / 1000) * 1000 : 0;
}

export function emptyCurve(lengthMs: number): Curve {
  const bucketMs = bucketOf(lengthMs);
  return { times: [], values: [], band: bucketMs > 0 ? { lows: [], highs: [] } : undefined, bucketMs };
}

/** A pen whose curve could not be read, and why. */
export interface PenFault {
  readonly pen: Pen;
  readonly fault: unknown;
}

export interface ReadCurves {
  /** One per pen; that of a pen that could not be read is empty. */
  readonly curves: readonly Curve[];
  readonly faults: readonly PenFault[];
}

/**
 * Curves of a span from the historian. One that cannot be read takes none of the others away.
 * @param lengthMs of the whole of which the span is a part: its points are as far apart. @param known the gaps of the span, where somebody has
 * asked for them. @throws where none can be read.
 */
export async function readCurves(pens: readonly Pen[], span: Span, lengthMs = span.toMs - span.fromMs, known = readGaps(span)): Promise<ReadCurves> {
  const [found, gaps] = await Promise.all([Promise.allSettled(pens.map((pen) => readCurve(pen, span, lengthMs))), known]);
  const faults = pens.flatMap((pen, at): PenFault[] => {
    const one = found[at];
    return one?.status === 'rejected' ? [{ pen, fault: one.reason }] : [];
  });
  if (faults[0] && faults.length === pens.length) throw faults[0].fault;
  const curves = pens.map(({ unit, address }, at) => {
    const one = found[at];
    if (one?.status !== 'fulfilled') return emptyCurve(lengthMs);
    breakLine(
      one.value,
      gaps.filter((gap) => gap.unit === unit && (gap.address === '' || gap.address === address)),
    );
    return one.value;
  });
  return { curves, faults };
}

async function readCurve(pen: Pen, { fromMs, toMs }: Span, lengthMs: number): Promise<Curve> {
  const curve = emptyCurve(lengthMs);
  const { times, values, band, bucketMs } = curve;
  if (!band) {
    for (const { ts, value, quality } of await samplesOf(pen, fromMs - SAMPLE_AT_LEAST_MS, toMs, 'none', 0)) add(curve, Date.parse(ts) / 1000, value, quality);
    return curve;
  }
  // a bucket that is cut by the beginning would be averaged from its rest
  const fromBucketMs = Math.floor(fromMs / bucketMs) * bucketMs;
  const [means = [], ...others] = await Promise.all((['avg', 'min', 'max', 'last'] as const).map((aggregate) => samplesOf(pen, fromBucketMs, toMs, aggregate, bucketMs)));
  const [lows, highs, lasts] = others.map((samples) => new Map(samples.map(({ ts, value }) => [ts, numberOf(value)])));
  const put = (at: number, value: number | null, low: number | null | undefined, high: number | null | undefined): void => {
    times.push(at);
    values.push(value);
    band.lows.push(low ?? null);
    band.highs.push(high ?? null);
  };
  means.forEach(({ ts, value }, index) => {
    const at = Date.parse(ts) / 1000;
    const end = at + bucketMs / 1000;
    const next = means[index + 1]?.ts;
    put(at, numberOf(value), lows?.get(ts), highs?.get(ts)); // of the good samples in it; null when it had none
    const last = lasts?.get(ts) ?? null;
    if (end < (next === undefined ? toMs : Date.parse(next)) / 1000) put(end, last, last, last); // no change was recorded: what it last was holds, not the mean
  });
  return curve;
}

async function samplesOf(
  { unit, address }: Pen,
  fromMs: number,
  toMs: number,
  aggregate: 'none' | 'avg' | 'min' | 'max' | 'last',
  bucketMs: number,
): Promise<readonly HistorySample[]> {
  const query = new URLSearchParams({
    site: site.peek(),
    unit,
    address,
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    limit: String(SAMPLES_MAX),
    order: 'asc',
    ...(aggregate === 'none' ? {} : { aggregate, interval: `${bucketMs / 1000}s` }),
  });
  const { items } = await get<LogPage<HistorySample>>(`/api/v1/historian/tags?${query}`, { background: true });
  return items;
}

/** Times the historian knows it has nothing of: a restart, a full disk, a clock that was set. */
export async function readGaps({ fromMs, toMs }: Span): Promise<readonly HistoryGap[]> {
  if (!can('historian:gaps')) return [];
  const query = new URLSearchParams({ site: site.peek(), from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString(), limit: String(SAMPLES_MAX) });
  return (await get<LogPage<HistoryGap>>(`/api/v1/historian/gaps?${query}`, { background: true })).items;
}

/** Ends the line where nothing was recorded: at the gaps that are declared, and after a silence no recorder keeps. */
function breakLine(curve: Curve, gaps: readonly HistoryGap[]): void {
  const { times, bucketMs } = curve;
  const silenceS = SILENCE_S_MAX + bucketMs / 1000;
  const starts = gaps.map(({ from, to }) => ({ from: Date.parse(from) / 1000, to: Date.parse(to) / 1000 }));
  for (let at = times.length - 1; at > 0; at -= 1) {
    const before = times[at - 1] as number;
    const after = times[at] as number;
    const lastOf = before + bucketMs / 1000;
    const gap = starts.find(({ from, to }) => from < after && to > lastOf && to - from > 1 && after > lastOf);
    if (gap) breakAt(curve, at, gap.from > lastOf ? gap.from : undefined, Math.max(lastOf, Math.min(gap.from, after)));
    else if (after - before > silenceS) breakAt(curve, at, bucketMs > 0 ? undefined : before + SAMPLE_AT_LEAST_MS / 1000, (lastOf + after) / 2);
  }
}

/** @param holdsTo until then a value that did not change was recorded; undefined where its point is the last that is known. */
function breakAt(curve: Curve, at: number, holdsTo: number | undefined, time: number): void {
  const { values, band } = curve;
  if (holdsTo === undefined) return insert(curve, at, time, null, null, null);
  insert(curve, at, holdsTo + 0.001, null, null, null);
  insert(curve, at, holdsTo, values[at - 1] ?? null, band?.lows[at - 1] ?? null, band?.highs[at - 1] ?? null);
}

function insert({ times, values, band }: Curve, at: number, time: number, value: number | null, low: number | null, high: number | null): void {
  times.splice(at, 0, time);
  values.splice(at, 0, value);
  band?.lows.splice(at, 0, low);
  band?.highs.splice(at, 0, high);
}

/** What it was at a moment: what it last was, with least and greatest of its bucket; undefined before the curve begins. */
export function valueAt({ times, values, band }: Curve, atMs: number): { readonly value: number | null; readonly low?: number | null; readonly high?: number | null } | undefined {
  let [first, end] = [0, times.length];
  while (first < end) {
    const middle = (first + end) >> 1;
    if ((times[middle] as number) * 1000 <= atMs) first = middle + 1;
    else end = middle;
  }
  const at = first - 1;
  if (at < 0) return undefined;
  const value = values[at] ?? null;
  return band ? { value, low: band.lows[at] ?? null, high: band.highs[at] ?? null } : { value };
}

/** Switches are drawn as 0 and 1. */
function numberOf(value: TagData): number | null {
  return typeof value === 'number' ? value : typeof value === 'boolean' ? Number(value) : null;
}

/**
 * Points that do not go forward in time are left out. @param step what is less is no change: a live curve looks as it will when it is read from the historian.
 */
function add(curve: Curve, at: number, value: TagData, quality: Quality, step = 0): void {
  const good = quality === 'Good' ? numberOf(value) : null;
  const { times, values, band, bucketMs } = curve;
  if (band) return addToBucket(curve, Math.floor((at * 1000) / bucketMs) * (bucketMs / 1000), good);
  const last = times.at(-1);
  if (last !== undefined && at <= last) return;
  const before = values.at(-1);
  if (step > 0 && last !== undefined && typeof before === 'number' && good !== null) {
    const isSame = Math.abs(good - before) < step && at - last < SAMPLE_AT_LEAST_MS / 1000;
    if (isSame || at - last < SAMPLE_AT_MOST_S) return;
  }
  times.push(at);
  values.push(good);
}

/** Samples in the last bucket of a curve; what the historian told of it counts as one. */
const counts = new WeakMap<Curve, number>();

function addToBucket(curve: Curve, at: number, good: number | null): void {
  const { times, values, band } = curve;
  const last = times.length - 1;
  const lastAt = times[last];
  if (!band || (lastAt !== undefined && at < lastAt)) return;
  const mean = values[last];
  if (at !== lastAt) {
    times.push(at);
    values.push(good);
    band.lows.push(good);
    band.highs.push(good);
    counts.set(curve, good === null ? 0 : 1);
  } else if (good !== null) {
    const count = counts.get(curve) ?? 1;
    values[last] = typeof mean === 'number' ? (mean * count + good) / (count + 1) : good;
    band.lows[last] = Math.min(band.lows[last] ?? good, good);
    band.highs[last] = Math.max(band.highs[last] ?? good, good);
    counts.set(curve, count + 1);
  }
}

/** Follows the pens on the stream. @param curves one per pen, extended in place and cut at the left. @returns ends it. */
export function follow(pens: readonly Pen[], curves: readonly Curve[], windowMs: number): () => void {
  const index = new Map(pens.map(({ unit, address }, at) => [`${unit} ${address}`, at]));
  const units = [...new Set(pens.map(({ unit }) => unit))];
  const ends = units.map((unit) =>
    watchTags(
      unit,
      pens.filter((pen) => pen.unit === unit).map(({ address }) => address.replace(/[*?[\]]/g, '?')),
    ),
  );
  ends.push(
    onTag(({ unit, address, value, quality, ts }) => {
      const curve = curves[index.get(`${unit} ${address}`) ?? -1];
      if (!curve || ts === null) return; // never written: it has no place in time
      add(curve, Date.parse(ts) / 1000, value, quality, pens[index.get(`${unit} ${address}`) ?? -1]?.step);
      cut(curve, boxNowMs() / 1000 - windowMs / 1000 - 5);
    }),
  );
  return () => {
    for (const end of ends) end();
  };
}

/** Puts what the historian has before what the stream told meanwhile, so that nothing is lost between the two. */
export function prepend(live: Curve, past: Curve): void {
  const lastS = past.times.at(-1);
  let known = 0;
  while (lastS !== undefined && known < live.times.length && (live.times[known] as number) <= lastS) known += 1;
  live.times.splice(0, known, ...past.times);
  live.values.splice(0, known, ...past.values);
  live.band?.lows.splice(0, known, ...(past.band?.lows ?? []));
  live.band?.highs.splice(0, known, ...(past.band?.highs ?? []));
}

/** A curve with its end read anew: from where that begins on it takes the place of what was known. */
export function withEnd(known: Curve, end: Curve): Curve {
  const first = end.times[0];
  if (first === undefined) return known;
  const at = known.times.findIndex((time) => time >= first);
  const joined = <Item>(before: readonly Item[], after: readonly Item[]): Item[] => [...(at < 0 ? before : before.slice(0, at)), ...after];
  const band = known.band && end.band ? { lows: joined(known.band.lows, end.band.lows), highs: joined(known.band.highs, end.band.highs) } : undefined;
  return { times: joined(known.times, end.times), values: joined(known.values, end.values), band, bucketMs: known.bucketMs };
}

/** Keeps the last point before the window, so that the line enters it from the left. */
function cut({ times, values, band }: Curve, from: number): void {
  let gone = 0;
  while (gone + 1 < times.length && (times[gone + 1] as number) < from) gone += 1;
  if (gone < 200) return; // not for each sample
  for (const list of [times, values, band?.lows, band?.highs]) list?.splice(0, gone);
}

/** A table of all curves: one line for each time at which one of them has a value. Curves with a band have three columns. */
export function csvOf(pens: readonly Pen[], curves: readonly Curve[], { fromMs, toMs }: Span): string {
  const rows = new Map<number, (number | null | undefined)[]>();
  const heads: string[] = [];
  curves.forEach(({ times, values, band }, pen) => {
    const { address, engUnits } = pens[pen] as Pen;
    const columns = [
      { name: address, list: values },
      ...(band
        ? [
            { name: `${address} min`, list: band.lows },
            { name: `${address} max`, list: band.highs },
          ]
        : []),
    ];
    for (const { name, list } of columns) {
      const column = heads.push(csvCell(engUnits === '' ? name : `${name} [${engUnits}]`)) - 1;
      times.forEach((at, point) => {
        if (at * 1000 < fromMs || at * 1000 > toMs) return;
        let row = rows.get(at);
        if (!row) rows.set(at, (row = []));
        row[column] = list[point] ?? null;
      });
    }
  });
  const lines = [...rows].sort(([a], [b]) => a - b).map(([at, row]) => [new Date(at * 1000).toISOString(), ...heads.map((_head, column) => row[column] ?? '')].join(','));
  return `${[['timestamp', ...heads].join(','), ...lines].join('\r\n')}\r\n`;
}
