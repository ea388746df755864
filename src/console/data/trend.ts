/** Curves of tags: their past from the historian, their present from the stream (decisions 8.9). */
import { get } from './api.js';
import { onTag, site, watchTags } from './plant.js';
import type { LogPage, Quality, TagData } from './types.js';

/** One curve. */
export interface Pen {
  readonly unit: string;
  readonly address: string;
  readonly label: string;
  readonly engUnits: string;
}

/** Times in seconds since 1970, ascending; null where the value was not good: the line breaks there. */
export interface Curve {
  readonly times: number[];
  readonly values: (number | null)[];
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

interface HistorySample {
  readonly ts: string;
  readonly value: TagData;
  readonly quality: Quality;
}

const SAMPLES_MAX = 10_000;
/** A curve has no more points than a screen has columns. */
const POINTS_MAX = 1200;
const RAW_MS_MAX = 20 * 60_000;

export async function readCurve({ unit, address }: Pen, { fromMs, toMs }: Span): Promise<Curve> {
  const query = new URLSearchParams({
    site: site.peek(),
    unit,
    address,
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    limit: String(SAMPLES_MAX),
    order: 'asc',
  });
  const lengthMs = toMs - fromMs;
  if (lengthMs > RAW_MS_MAX) {
    query.set('aggregate', 'avg');
    query.set('interval', `${Math.ceil(lengthMs / POINTS_MAX / 1000)}s`);
  }
  const { items } = await get<LogPage<HistorySample>>(`/api/v1/historian/tags?${query}`, { background: true });
  const curve: Curve = { times: [], values: [] };
  for (const { ts, value, quality } of items) add(curve, Date.parse(ts) / 1000, value, quality);
  return curve;
}

/** Switches are drawn as 0 and 1. Points that do not go forward in time are left out. */
function add({ times, values }: Curve, at: number, value: TagData, quality: Quality): void {
  const last = times.at(-1);
  if (last !== undefined && at <= last) return;
  times.push(at);
  values.push(quality !== 'Good' ? null : typeof value === 'number' ? value : typeof value === 'boolean' ? Number(value) : null);
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
      if (!curve) return;
      add(curve, Date.parse(ts) / 1000, value, quality);
      cut(curve, Date.now() / 1000 - windowMs / 1000 - 5);
    }),
  );
  return () => {
    for (const end of ends) end();
  };
}

/** Keeps the last point before the window, so that the line enters it from the left. */
function cut({ times, values }: Curve, from: number): void {
  let gone = 0;
  while (gone + 1 < times.length && (times[gone + 1] as number) < from) gone += 1;
  if (gone < 200) return; // not for each sample
  times.splice(0, gone);
  values.splice(0, gone);
}

/** A table of all curves: one line for each time at which one of them has a value. */
export function csvOf(pens: readonly Pen[], curves: readonly Curve[], { fromMs, toMs }: Span): string {
  const rows = new Map<number, (number | null | undefined)[]>();
  curves.forEach(({ times, values }, column) => {
    times.forEach((at, point) => {
      if (at * 1000 < fromMs || at * 1000 > toMs) return;
      let row = rows.get(at);
      if (!row) rows.set(at, (row = pens.map(() => undefined)));
      row[column] = values[point] ?? null;
    });
  });
  const head = ['timestamp', ...pens.map(({ address, engUnits }) => quoted(engUnits === '' ? address : `${address} [${engUnits}]`))].join(',');
  const lines = [...rows].sort(([a], [b]) => a - b).map(([at, row]) => [new Date(at * 1000).toISOString(), ...row.map((value) => value ?? '')].join(','));
  return `${[head, ...lines].join('\r\n')}\r\n`;
}

/** A cell that starts like a formula is one to a spreadsheet. */
function quoted(text: string): string {
  return `"${text.replace(/"/g, '""').replace(/^([=+\-@])/, "'$1")}"`;
}
