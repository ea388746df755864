/** What the historian holds, as lists (decisions 8.9): which tags, their samples as they were recorded, and the times of which it has nothing. */
import { get } from './api.js';
import { logPage, type Page } from './listed.js';
import { site } from './plant.js';
import { can } from './session.js';
import type { HistoryGap, HistorySample, LogPage, RecordedTag } from './types.js';

const PAGE_MAX = 10_000;
/** The historian looks through all that it holds. */
const ANSWER_MS_MAX = 120_000;
/** What a spreadsheet still opens. */
export const FILE_ROWS_MAX = 500_000;

export interface RecordedQuestion {
  readonly unit: string;
  readonly address: string;
  /** Instants; '' for no bound. */
  readonly from: string;
  readonly to: string;
  readonly order: string;
}

/** Of a sample, or of a time without any. */
export type RecordedRow =
  | { readonly at: string; readonly sample: Pick<HistorySample, 'value' | 'quality'>; readonly gap?: undefined }
  | { readonly at: string; readonly gap: HistoryGap; readonly sample?: undefined };

function read<Item>(path: string, question: Readonly<Record<string, string>>): Promise<LogPage<Item>> {
  const query = new URLSearchParams({ site: site.peek(), limit: String(PAGE_MAX) });
  for (const [name, value] of Object.entries(question)) if (value !== '') query.set(name, value);
  return get<LogPage<Item>>(`/api/v1/historian/${path}?${query}`, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
}

async function readAll<Item>(path: string, question: Readonly<Record<string, string>>, countMax = Number.POSITIVE_INFINITY): Promise<Item[]> {
  const found: Item[] = [];
  for (let cursor: string | null = ''; cursor !== null && found.length < countMax; ) {
    const { items, nextCursor }: LogPage<Item> = await read<Item>(path, { ...question, cursor });
    found.push(...items);
    cursor = nextCursor;
  }
  return found;
}

/** Tags of which something is recorded, those that are engineered no more too. */
export function readRecordedTags(): Promise<readonly RecordedTag[]> {
  return readAll<RecordedTag>('tags/distinct', {});
}

export function samplePage({ unit, address, from, to, order }: RecordedQuestion, cursor: string): Promise<Page<HistorySample>> {
  return logPage<HistorySample>('/api/v1/historian/tags', { site: site.peek(), unit, address, from, to, order }, cursor);
}

export function readGaps({ unit, address, from, to }: RecordedQuestion): Promise<readonly HistoryGap[]> {
  return can('historian:gaps') ? readAll<HistoryGap>('gaps', { unit, address, from, to }) : Promise.resolve([]);
}

/** Of all tags, or of a unit. */
export function gapPage(question: Omit<RecordedQuestion, 'address'>, cursor: string): Promise<Page<HistoryGap>> {
  return logPage<HistoryGap>('/api/v1/historian/gaps', { site: site.peek(), ...question }, cursor);
}

/** Samples with the gaps between them, in the order of the samples. @param isWhole no further samples follow. */
export function withGaps(samples: readonly HistorySample[], gaps: readonly HistoryGap[], order: string, isWhole: boolean): readonly RecordedRow[] {
  const sign = order === 'asc' ? 1 : -1;
  const last = samples.at(-1)?.ts;
  const reached = gaps.filter(({ from }) => isWhole || (last !== undefined && sign * from.localeCompare(last) <= 0));
  const rows: RecordedRow[] = [...samples.map(({ ts, value, quality }) => ({ at: ts, sample: { value, quality } })), ...reached.map((gap) => ({ at: gap.from, gap }))];
  return reached.length === 0 ? rows : rows.sort((a, b) => sign * a.at.localeCompare(b.at));
}

/** All of the span, oldest first. */
export async function readRecorded(question: RecordedQuestion): Promise<readonly RecordedRow[]> {
  const { unit, address, from, to } = question;
  const [samples, gaps] = await Promise.all([readAll<HistorySample>('tags', { unit, address, from, to, order: 'asc' }, FILE_ROWS_MAX), readGaps(question)]);
  return withGaps(samples, gaps, 'asc', samples.length < FILE_ROWS_MAX);
}
