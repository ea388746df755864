/** What the historian holds of a batch (decisions 8.2, Q-MES-16): its units over its time. */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { Refusal } from '../../platform/base/refusal.js';
import type { History } from '../../platform/history/history.js';
import type { AlarmEvent } from '../alarms/alarm-event.js';

export type BatchHistorian = Pick<History, 'distinctJson' | 'gapsJson' | 'eventsJson' | 'tagsJson'>;

export const RecordedTag = v.strictObject({
  address: v.string(),
  unit: v.string(),
  samples: v.number(),
  from: v.string(),
  to: v.string(),
});
export type RecordedTag = ToldBy<typeof RecordedTag>;

/** A time in which nothing was recorded of a tag, or of all tags of the unit (`address` empty). */
export const RecordedGap = v.strictObject({
  site: v.string(),
  unit: v.string(),
  address: v.string(),
  from: v.string(),
  to: v.string(),
  cause: v.string(),
  bounds: v.string(),
});
export type RecordedGap = ToldBy<typeof RecordedGap>;

nameSchemas({ RecordedTag, RecordedGap });

export interface BatchHistory {
  readonly tags: readonly RecordedTag[];
  readonly gaps: readonly RecordedGap[];
  readonly alarms: readonly AlarmEvent[];
}

export interface HistorySpan {
  readonly site: string;
  readonly units: readonly string[];
  /** '' before the batch has started: then nothing was recorded of it. */
  readonly from: string;
  /** '' while it runs. */
  readonly to: string;
}

const PAGE_LENGTH = 10_000; // decisions 8.9, largest page of the historian

export async function readHistory(history: BatchHistorian, { site, units, from, to }: HistorySpan): Promise<BatchHistory> {
  if (from === '' || units.length === 0) return { tags: [], gaps: [], alarms: [] };
  const fromMs = Date.parse(from);
  const query = { span: { site, units }, fromMs, ...(to === '' ? {} : { toMs: Date.parse(to) + 1 }), order: 'asc', limit: PAGE_LENGTH } as const;
  const [tags, gaps, alarms] = await Promise.all([
    readAll<DistinctTag>((cursor) => history.distinctJson({ ...query, ...cursor })),
    readAll<RecordedGap>((cursor) => history.gapsJson({ ...query, ...cursor })),
    readAll<AlarmEvent>((cursor) => history.eventsJson('alarms', { ...query, ...cursor })),
  ]);
  return {
    tags: tags.map(({ address, unit, samples, firstTs, lastTs }) => ({
      address,
      unit,
      samples,
      from: later(firstTs ?? '', from),
      to: to === '' ? (lastTs ?? '') : earlier(lastTs ?? '', to),
    })),
    gaps,
    alarms,
  };
}

interface DistinctTag {
  readonly dataType: string;
  readonly address: string;
  readonly unit: string;
  readonly samples: number;
  readonly firstTs: string | null;
  readonly lastTs: string | null;
}

/** Everything recorded of one tag while the batch ran, oldest first. */
export interface RecordedSeries {
  readonly address: string;
  readonly unit: string;
  readonly dataType: string;
  readonly samples: readonly { readonly ts: string; readonly value: number | string | boolean | null; readonly quality: string }[];
}

/** More do not fit into one document; the historian's own lists give them page by page. */
const SAMPLES_MAX = 200_000;

/**
 * Recorded values of all tags; tags without a value in the span are left out.
 * @throws Refusal 422 when there are more than a document can hold.
 */
export async function readSeries(history: BatchHistorian, { site, units, from, to }: HistorySpan): Promise<RecordedSeries[]> {
  if (from === '' || units.length === 0) return [];
  const query = { span: { site, units }, fromMs: Date.parse(from), ...(to === '' ? {} : { toMs: Date.parse(to) + 1 }), order: 'asc', limit: PAGE_LENGTH } as const;
  const tags = await readAll<DistinctTag>((cursor) => history.distinctJson({ ...query, ...cursor }));
  const all: RecordedSeries[] = [];
  let count = 0;
  for (const { address, unit, dataType } of tags) {
    const samples = await readAll<RecordedSeries['samples'][number]>((cursor) => history.tagsJson({ ...query, unit, addresses: [address], ...cursor }), SAMPLES_MAX - count);
    count += samples.length;
    if (samples.length > 0) all.push({ address, unit, dataType, samples });
  }
  return all;
}

async function readAll<Item = unknown>(read: (cursor: { cursor?: string }) => Promise<Uint8Array>, countMax = Number.POSITIVE_INFINITY): Promise<Item[]> {
  const all: Item[] = [];
  let cursor: string | undefined;
  do {
    const page = JSON.parse(new TextDecoder().decode(await read(cursor === undefined ? {} : { cursor }))) as { items: Item[]; nextCursor: string | null };
    all.push(...page.items);
    if (all.length > countMax) throw tooManySamples();
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return all;
}

/** Times are RFC 3339 in UTC with milliseconds, so text compares as time does. */
function later(a: string, b: string): string {
  return a > b ? a : b;
}

function earlier(a: string, b: string): string {
  return a < b ? a : b;
}

function tooManySamples(): Refusal {
  return new Refusal('unprocessable', `more than ${SAMPLES_MAX} values were recorded of this batch; read them from the historian, or export the record without historian=true`, {
    code: 'too_many_samples',
    field: 'historian',
  });
}
