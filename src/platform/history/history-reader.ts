/**
 * The reading side of the historian, on its thread: it sees blocks and open blocks alike, so an answer includes what
 * arrived a moment ago. Answers are JSON text, at most `limit` rows each (decisions 8.9).
 *
 * Aggregates are per bucket of `interval`, aligned to the epoch, over the Good samples in it (OPC UA part 13: Average,
 * Minimum, Maximum, Start, End, Count); a bucket without samples is not a row. Whole blocks answer from their columns.
 *
 * Samples of a tag come by time, those of one instant in the order they were recorded. Where the clock was set back, blocks of
 * a tag overlap: `overlap.ts` merges those, and passes all others on as they are.
 */
import type { WallMs } from '../base/times.js';
import { encodeCursor } from '../base/cursor.js';
import type Database from '../base/sqlite.js';
import { columnsOf, countOf, decodeBlock, decodeBlockInto, hasValue, type Samples } from './block-codec.js';
import type { HistoryStore, TagState } from './history-store.js';
import { mergeOrdered, type Timed } from './merge.js';
import { BLOCK_MS, type Summary, summarise } from './open-block.js';
import { apart, firstAtOrAfter, type Placed, together } from './overlap.js';
import { timeText } from './time-text.js';
import type { Aggregate, HistoryFilter, Span, TagFilter, TagValuesFilter } from './words.js';

/** Blocks per statement: few for the newest values, many for a long range. Upwards the last one waits for the next statement. */
const FIRST_READ_BLOCKS = { down: 2, up: 4 } as const;
const NEXT_READ_BLOCKS = 64;
/** Tags of a list that are counted in one go: some 100 ms of years of them. */
const COUNTED_TAGS = 4;

/** A block as its samples are read from it. */
interface SamplesRow {
  /** Rises in the order of recording. */
  readonly number: number;
  readonly t0: number;
  readonly t1: number;
  readonly data: Buffer;
}

/** One that may answer from its columns. */
interface BlockRow extends SamplesRow, Summary {
  readonly n: number;
}

/** The place of a block in the order of its tag. */
type Place = Pick<SamplesRow, 't0' | 'number'>;

/** Reads blocks of a tag upwards or downwards: with the columns that are wanted, because each costs as much as ten samples. */
interface Blocks<Row> {
  readonly up: Database.Statement<unknown[], Row>;
  readonly down: Database.Statement<unknown[], Row>;
}

/** A part of a block, or the whole of it, that lies in one bucket. */
interface Piece extends Summary {
  readonly bucket: number;
  readonly samples: number;
}

interface Extent {
  readonly firstTs: number;
  readonly lastTs: number;
  readonly samples: number;
}

interface ValueRow extends Timed {
  readonly text: string;
}

interface Range {
  /** Inclusive. */
  readonly fromMs: WallMs;
  /** Inclusive. */
  readonly throughMs: number;
  readonly descending: boolean;
  /** So many samples of the instant it begins with, in its direction, were on the page before: that was cut between them. */
  readonly served: number;
}

export class HistoryReader {
  readonly #store: HistoryStore;
  readonly #qualityWords: readonly string[];
  readonly #ofSamples: Blocks<SamplesRow>;
  readonly #ofSummaries: Blocks<BlockRow>;
  readonly #reachBefore: Database.Statement;
  readonly #blocksCut: Database.Statement;
  readonly #bounds: Database.Statement;
  readonly #reachIn: Database.Statement;
  readonly #samplesBegun: Database.Statement;
  readonly #samplesStored: Database.Statement;
  readonly #statements = new Map<string, Database.Statement>();
  readonly #beat: () => void;

  /** `beat` is called again and again within a long read; what is read must not change in it. What it throws ends the read. */
  constructor(store: HistoryStore, qualityWords: readonly string[], beat: () => void = () => undefined) {
    this.#beat = beat;
    this.#store = store;
    this.#qualityWords = qualityWords;
    const prepare = (text: string): Database.Statement => store.database.prepare(text);
    const blocks = <Row extends SamplesRow>(columns: string): Blocks<Row> => {
      const select = `SELECT ${columns} FROM blocks WHERE tag = ? AND t1 >= ?`;
      return {
        up: store.database.prepare<unknown[], Row>(`${select} AND (t0, rowid) > (?, ?) AND t0 <= ? ORDER BY t0, rowid LIMIT ?`),
        down: store.database.prepare<unknown[], Row>(`${select} AND (t0, rowid) < (?, ?) AND t0 >= ? ORDER BY t0 DESC, rowid DESC LIMIT ?`),
      };
    };
    this.#ofSamples = blocks('rowid AS number, t0, t1, data');
    this.#ofSummaries = blocks('rowid AS number, t0, t1, n, good, min, max, sum, first, last, data');
    this.#reachBefore = prepare('SELECT MAX(t1) FROM blocks WHERE tag = :tag AND t0 > :t0 - :length AND t0 <= :t0 AND (t0 < :t0 OR rowid < :number)').pluck();
    this.#blocksCut = prepare('SELECT t0, n, data FROM blocks WHERE tag = ? AND t0 BETWEEN ? AND ? AND t1 >= ?');
    this.#bounds = prepare(
      `SELECT (SELECT MIN(t0) FROM blocks WHERE tag = :tag AND t0 BETWEEN :from AND :through), (SELECT MAX(t0) FROM blocks WHERE tag = :tag AND t0 BETWEEN :from AND :through)`,
    ).raw();
    this.#reachIn = prepare('SELECT MAX(t1) FROM blocks WHERE tag = ? AND t0 BETWEEN ? AND ? AND t1 <= ?').pluck();
    this.#samplesBegun = prepare('SELECT COALESCE(SUM(n), 0) FROM blocks WHERE tag = ? AND t0 BETWEEN ? AND ?').pluck();
    this.#samplesStored = prepare('SELECT samples FROM tags WHERE id = ?').pluck();
  }

  tagValues(filter: TagValuesFilter): string {
    const descending = filter.order === 'desc';
    const sequences = this.#chosen(filter).map((state) => {
      const range = rangeOf(filter, state.tag.id);
      return filter.aggregate === 'none' ? this.#rawRows(state, range) : this.#bucketRows(state, range, filter.aggregate, filter.intervalMs);
    });
    const rows: ValueRow[] = [];
    for (const row of mergeOrdered(sequences, descending)) {
      rows.push(row);
      if (rows.length > filter.limit) break;
    }
    return pageText(
      rows.map((row) => row.text),
      filter.limit,
      () => {
        const last = rows[filter.limit - 1] as ValueRow;
        return encodeCursor('tags', last.at, last.rank, servedOf(rows, last, filter));
      },
    );
  }

  /**
   * Counting a long range takes some ms a tag, and the thread has the ring to empty meanwhile: only what the page shows is
   * looked at, and `pause` is awaited after a few tags. The cursor is the place of the next tag in their order.
   */
  async tagsDistinct(filter: TagFilter, pause: () => Promise<void>): Promise<string> {
    const candidates = this.#chosen(filter)
      .map((state) => ({ state, key: `${state.tag.site}/${state.tag.unit}/${state.tag.address}` }))
      .sort((a, b) => compare(a.key, b.key));
    const items: string[] = [];
    let at = wholeCount(filter.beyond?.[0] ?? 0);
    let next = at;
    for (; at < candidates.length && items.length <= filter.limit; at += 1) {
      const { state } = candidates[at] as (typeof candidates)[number];
      const within = this.#extentOf(state, filter);
      if (within) {
        if (items.length === filter.limit) next = at;
        const { id: _id, ...tag } = state.tag;
        items.push(JSON.stringify({ ...tag, firstTs: iso(within.firstTs), lastTs: iso(within.lastTs), samples: within.samples }));
      }
      if (at % COUNTED_TAGS === COUNTED_TAGS - 1) await pause();
    }
    return pageText(items, filter.limit, () => encodeCursor('distinct', next));
  }

  events(list: 'states' | 'alarms', filter: HistoryFilter): string {
    const { texts, values } = placeCondition(filter, filter.span?.batchID);
    texts.push('list = ?');
    values.push(list);
    if (filter.fromMs !== undefined) add(texts, values, 'at >= ?', filter.fromMs);
    if (filter.toMs !== undefined) add(texts, values, 'at < ?', filter.toMs);
    const rows = this.#page(`SELECT id, at, body FROM events`, 'at', texts, values, filter) as { id: number; at: number; body: string }[];
    return pageText(
      rows.map((row) => row.body),
      filter.limit,
      () => {
        const last = lastOf(rows, filter);
        return encodeCursor(list, last.at, last.id);
      },
    );
  }

  gaps(filter: TagFilter): string {
    const { texts, values } = placeCondition(filter);
    if (filter.fromMs !== undefined) add(texts, values, 'to_at >= ?', filter.fromMs);
    if (filter.toMs !== undefined) add(texts, values, 'from_at < ?', filter.toMs);
    if (filter.addresses && filter.addresses.length > 0) add(texts, values, "address IN (SELECT value FROM json_each(?) UNION SELECT '')", JSON.stringify(filter.addresses));
    const rows = this.#page('SELECT * FROM gaps', 'from_at', texts, values, filter) as {
      id: number;
      from_at: number;
      to_at: number;
      site: string;
      unit: string;
      address: string;
      cause: string;
      bounds: string;
    }[];
    const items = rows.map(({ site, unit, address, from_at, to_at, cause, bounds }) => JSON.stringify({ site, unit, address, from: iso(from_at), to: iso(to_at), cause, bounds }));
    return pageText(items, filter.limit, () => {
      const last = lastOf(rows, filter);
      return encodeCursor('gaps', last.from_at, last.id);
    });
  }

  /**
   * All samples of one tag in a range, oldest first; undefined for a tag that was never recorded. A module that was moved has been
   * recorded of each of its units: one of them alone would look like a time without samples.
   */
  series(site: string, address: string, fromMs: WallMs, toMs: WallMs): Samples | undefined {
    const states = [...this.#store.tags.values()].filter(({ tag }) => tag.site === site && tag.address === address);
    const last = states.at(-1);
    if (!last) return undefined;
    // what was of another type is no value of this tag
    return together(states.filter(({ tag }) => tag.dataType === last.tag.dataType).map((state) => this.#seriesOf(state, fromMs, toMs)));
  }

  #seriesOf(state: TagState, fromMs: WallMs, toMs: WallMs): Samples {
    const throughMs = toMs - 1;
    const parts: { readonly block: SamplesRow | Samples; readonly from: number; readonly count: number }[] = [];
    let count = 0;
    for (const block of this.#blocks(state, { fromMs, throughMs, descending: false, served: 0 }, this.#ofSamples)) {
      const part =
        'data' in block && isWithin(block, fromMs, throughMs)
          ? { block, from: 0, count: countOf(block.data) }
          : cutOut('data' in block ? decodeBlock(block.data, block.t0) : block, fromMs, toMs);
      parts.push(part);
      count += part.count;
    }
    const found = columnsOf(count);
    let at = 0;
    for (const { block, from, count } of parts) {
      if ('data' in block) decodeBlockInto(found, at, block.data, block.t0);
      else {
        found.times.set(block.times.subarray(from, from + count), at);
        found.values.set(block.values.subarray(from, from + count), at);
        found.codes.set(block.codes.subarray(from, from + count), at);
      }
      at += count;
    }
    return found;
  }

  /** Oldest and newest sample and how many there are. */
  extent(): { oldest: string | null; newest: string | null; samples: number } {
    let oldest = Number.POSITIVE_INFINITY;
    let newest = Number.NEGATIVE_INFINITY;
    let samples = 0;
    for (const state of this.#store.tags.values()) {
      samples += state.samples;
      if (state.firstTs !== null && state.firstTs < oldest) oldest = state.firstTs;
      if (state.lastTs !== null && state.lastTs > newest) newest = state.lastTs;
    }
    return { oldest: Number.isFinite(oldest) ? iso(oldest) : null, newest: Number.isFinite(newest) ? iso(newest) : null, samples };
  }

  /** What was recorded of a tag in the range asked for, by the same bounds as `tags` lists it; undefined when nothing was. */
  #extentOf(state: TagState, { fromMs = Number.MIN_SAFE_INTEGER, toMs = Number.MAX_SAFE_INTEGER }: TagFilter): Extent | undefined {
    const { tag, firstTs, lastTs, samples } = state;
    const [first, last] = [firstTs ?? 0, lastTs ?? 0];
    if (first >= fromMs && last < toMs) return { firstTs: first, lastTs: last, samples };
    if (last < fromMs || first >= toMs) return undefined;
    const throughMs = toMs - 1;
    const cutBy = (from: number, through: number, reach: number) => this.#blocksCut.all(tag.id, from, through, reach) as Pick<BlockRow, 't0' | 'n' | 'data'>[];
    const before = cutBy(fromMs - BLOCK_MS, fromMs - 1, fromMs);
    const beyond = cutBy(Math.max(fromMs, throughMs - BLOCK_MS), throughMs, toMs);
    const parts: Extent[] = [];
    const cut: Samples[] = [...[...before, ...beyond].map(({ data, t0 }) => decodeBlock(data, t0)), state.block];
    const [begin, end] = this.#bounds.get({ tag: tag.id, from: fromMs, through: throughMs }) as [number | null, number];
    if (begin !== null) {
      const whole = this.#samplesBegunIn(tag.id, fromMs, throughMs, first, last) - beyond.reduce((sum, { n }) => sum + n, 0);
      // the one that reaches furthest begins within the length of a block of the last one that begins
      const reach = this.#reachIn.get(tag.id, Math.max(fromMs, end - BLOCK_MS), end, throughMs) as number | null;
      if (whole > 0) parts.push({ samples: whole, firstTs: begin, lastTs: reach ?? begin });
    }
    for (const each of cut) {
      const from = firstAtOrAfter(each, fromMs);
      const to = firstAtOrAfter(each, toMs);
      if (to > from) parts.push({ samples: to - from, firstTs: each.times[from] as number, lastTs: each.times[to - 1] as number });
    }
    if (parts.length === 0) return undefined;
    return {
      samples: parts.reduce((sum, part) => sum + part.samples, 0),
      firstTs: Math.min(...parts.map((part) => part.firstTs)),
      lastTs: Math.max(...parts.map((part) => part.lastTs)),
    };
  }

  /** Of the blocks that begin in the range: counted themselves, or those around them where they are fewer. */
  #samplesBegunIn(tag: number, fromMs: WallMs, throughMs: number, firstMs: number, lastMs: number): number {
    const count = (from: number, through: number): number => this.#samplesBegun.get(tag, from, through) as number;
    const spanMs = Math.min(lastMs, throughMs) - Math.max(firstMs, fromMs);
    if (spanMs * 2 <= lastMs - firstMs) return count(fromMs, throughMs);
    return (this.#samplesStored.get(tag) as number) - count(Number.MIN_SAFE_INTEGER, fromMs - 1) - count(throughMs + 1, Number.MAX_SAFE_INTEGER);
  }

  #chosen(filter: TagFilter): TagState[] {
    const wanted = filter.addresses && filter.addresses.length > 0 ? new Set(filter.addresses) : null;
    return [...this.#store.tags.values()].filter(({ tag, samples }) => samples > 0 && isInPlace(filter, tag.site, tag.unit) && (!wanted || wanted.has(tag.address)));
  }

  /** What may hold samples of the range, in its direction, each part wholly before the next: blocks, and merged samples of those that overlap. */
  *#blocks<Row extends SamplesRow>(state: TagState, range: Range, read: Blocks<Row>): Generator<Row | Samples> {
    const { block, storedThroughMs, tag } = state;
    const isOpenWanted = block.count > 0 && block.t0 <= range.throughMs && block.t1 >= range.fromMs;
    const isOpenFirst = range.descending && isOpenWanted && block.t0 > storedThroughMs;
    if (isOpenFirst) yield block;
    const stored = range.descending ? this.#storedDown(tag.id, range, read) : this.#storedUp(tag.id, range, read);
    yield* apart(stored, isOpenWanted && !isOpenFirst ? block : undefined, range.descending);
  }

  /** By their end they are not ordered: the edge looks back as far as a block may be long. */
  *#storedDown<Row extends SamplesRow>(tag: number, { fromMs, throughMs }: Range, { down }: Blocks<Row>): Generator<Placed<Row>> {
    let beyond: Place = { t0: throughMs, number: Number.MAX_SAFE_INTEGER };
    for (let count: number = FIRST_READ_BLOCKS.down; ; count = NEXT_READ_BLOCKS) {
      const rows = down.all(tag, fromMs, beyond.t0, beyond.number, fromMs - BLOCK_MS, count);
      this.#beat();
      const last = rows.at(-1);
      if (!last) return;
      beyond = last;
      const reaches = new Float64Array(rows.length).fill(Number.NEGATIVE_INFINITY);
      for (let index = rows.length - 2; index >= 0; index -= 1) reaches[index] = Math.max(reaches[index + 1] as number, (rows[index + 1] as Row).t1);
      let isKnown = rows.length < count;
      let unread = isKnown ? Number.NEGATIVE_INFINITY : last.t0 + BLOCK_MS - 1;
      for (let index = 0; index < rows.length; index += 1) {
        const block = rows[index] as Row;
        if (!isKnown && block.t0 <= unread) {
          const reach = this.#reachBefore.get({ tag, t0: last.t0, length: BLOCK_MS, number: last.number }) as number | null;
          unread = reach ?? last.t0 - 1; // what begins earlier ends before it
          isKnown = true;
        }
        yield { block, edge: Math.max(reaches[index] as number, unread) };
      }
      if (rows.length < count) return;
    }
  }

  *#storedUp<Row extends SamplesRow>(tag: number, { fromMs, throughMs }: Range, { up }: Blocks<Row>): Generator<Placed<Row>> {
    let block: Row | undefined;
    for (let count: number = FIRST_READ_BLOCKS.up; ; count = NEXT_READ_BLOCKS) {
      const beyond: Place = block ?? { t0: fromMs - BLOCK_MS, number: 0 };
      const rows = up.all(tag, fromMs, beyond.t0, beyond.number, throughMs, count);
      this.#beat();
      for (const row of rows) {
        if (block) yield { block, edge: row.t0 };
        block = row;
      }
      if (rows.length < count) break;
    }
    if (block) yield { block, edge: Number.POSITIVE_INFINITY };
  }

  *#rawRows(state: TagState, range: Range): Generator<ValueRow> {
    const prefix = prefixOf(state);
    let skip = range.served;
    for (const block of this.#blocks(state, range, this.#ofSamples)) {
      const samples = 'data' in block ? decodeBlock(block.data, block.t0) : block;
      const from = firstAtOrAfter(samples, range.fromMs);
      const to = firstAtOrAfter(samples, range.throughMs + 1);
      const begin = skip === 0 ? 0 : Math.min(skip, range.descending ? to - firstAtOrAfter(samples, range.throughMs) : firstAtOrAfter(samples, range.fromMs + 1) - from);
      skip -= begin;
      for (let step = begin; step < to - from; step += 1) {
        const index = range.descending ? to - 1 - step : from + step;
        const code = samples.codes[index] as number;
        const value = hasValue(code) ? this.#valueText(state, samples.values[index] as number) : 'null';
        const at = samples.times[index] as number;
        yield { at, rank: state.tag.id, text: `${prefix}"ts":"${new Date(at).toISOString()}","value":${value},"quality":${JSON.stringify(this.#qualityWord(code))}}` };
      }
    }
  }

  *#bucketRows(state: TagState, range: Range, aggregate: Aggregate, intervalMs: number): Generator<ValueRow> {
    const prefix = prefixOf(state);
    const row = (pieces: readonly Piece[]): ValueRow => {
      const samples = pieces.reduce((sum, piece) => sum + piece.samples, 0);
      const good = pieces.reduce((sum, piece) => sum + piece.good, 0);
      const ordered = range.descending ? pieces.toReversed() : pieces;
      const at = (pieces[0] as Piece).bucket * intervalMs; // a row is of one piece at least
      const quality = good === 0 ? 'Bad' : good < samples ? 'Uncertain' : this.#qualityWord(0);
      return {
        at,
        rank: state.tag.id,
        text: `${prefix}"ts":"${new Date(at).toISOString()}","value":${this.#aggregateText(state, aggregate, ordered, good)},"quality":"${quality}"}`,
      };
    };
    let current: Piece[] = [];
    for (const block of this.#blocks(state, range, this.#ofSummaries)) {
      for (const piece of this.#pieces(block, range, intervalMs)) {
        if (current[0] && current[0].bucket !== piece.bucket) {
          yield row(current);
          current = [];
        }
        current.push(piece);
      }
    }
    if (current.length > 0) yield row(current);
  }

  *#pieces(block: BlockRow | Samples, range: Range, intervalMs: number): Generator<Piece> {
    if ('data' in block && isWithin(block, range.fromMs, range.throughMs) && Math.floor(block.t0 / intervalMs) === Math.floor(block.t1 / intervalMs)) {
      yield { ...block, bucket: Math.floor(block.t0 / intervalMs), samples: block.n };
      return;
    }
    const samples = 'data' in block ? decodeBlock(block.data, block.t0) : block;
    const from = firstAtOrAfter(samples, range.fromMs);
    const to = firstAtOrAfter(samples, range.throughMs + 1);
    const pieces: Piece[] = [];
    for (let first = from; first < to; ) {
      const bucket = Math.floor((samples.times[first] as number) / intervalMs);
      const end = Math.min(to, firstAtOrAfter(samples, (bucket + 1) * intervalMs));
      pieces.push({ ...summarise(samples, first, end), bucket, samples: end - first });
      first = end;
    }
    yield* range.descending ? pieces.toReversed() : pieces;
  }

  /** `pieces` oldest first. */
  #aggregateText(state: TagState, aggregate: Aggregate, pieces: readonly Piece[], good: number): string {
    if (aggregate === 'count') return String(good);
    const filled = pieces.filter((piece) => piece.good > 0);
    if (filled.length === 0) return 'null';
    if (aggregate === 'first') return this.#valueText(state, filled[0]?.first as number);
    if (aggregate === 'last') return this.#valueText(state, filled.at(-1)?.last as number);
    if (state.tag.dataType === 'String') return 'null'; // a text has no average and no extremes
    if (aggregate === 'avg') return JSON.stringify(filled.reduce((sum, piece) => sum + piece.sum, 0) / good);
    const values = filled.map((piece) => (aggregate === 'min' ? piece.min : piece.max) as number);
    return this.#valueText(state, aggregate === 'min' ? Math.min(...values) : Math.max(...values));
  }

  /** Values in the form of decisions Q-TAG-01. */
  #valueText(state: TagState, value: number): string {
    switch (state.tag.dataType) {
      case 'Boolean':
        return value === 0 ? 'false' : 'true';
      case 'String':
        return JSON.stringify(this.#store.texts.get(value) ?? null);
      case 'Time':
        return JSON.stringify(timeText(value));
      default:
        return JSON.stringify(value);
    }
  }

  #qualityWord(code: number): string {
    return this.#qualityWords[code >> 1] ?? 'Bad';
  }

  #page(select: string, column: string, texts: string[], values: (string | number)[], filter: HistoryFilter): unknown[] {
    const down = filter.order === 'desc';
    if (filter.beyond) {
      texts.push(`(${column}, id) ${down ? '<' : '>'} (?, ?)`);
      values.push(...filter.beyond);
    }
    const direction = down ? 'DESC' : 'ASC';
    const where = texts.length === 0 ? '1' : texts.join(' AND ');
    return this.#prepare(`${select} WHERE ${where} ORDER BY ${column} ${direction}, id ${direction} LIMIT ?`).all(...values, filter.limit + 1);
  }

  #prepare(text: string): Database.Statement {
    let statement = this.#statements.get(text);
    if (!statement) this.#statements.set(text, (statement = this.#store.database.prepare(text)));
    return statement;
  }
}

/** Whether all samples of a block lie in a range. */
function isWithin({ t0, t1 }: SamplesRow, fromMs: WallMs, throughMs: number): boolean {
  return t0 >= fromMs && t1 <= throughMs;
}

/** The samples of a part that lie in a range. */
function cutOut(block: Samples, fromMs: WallMs, toMs: WallMs): { readonly block: Samples; readonly from: number; readonly count: number } {
  const from = firstAtOrAfter(block, fromMs);
  return { block, from, count: firstAtOrAfter(block, toMs) - from };
}

/** The range that is left for a tag after the page before; ties at one instant go on with the rest of the tag, then with the next. */
function rangeOf(filter: TagValuesFilter, tag: number): Range {
  let fromMs = filter.fromMs ?? Number.MIN_SAFE_INTEGER;
  let throughMs = (filter.toMs ?? Number.MAX_SAFE_INTEGER) - 1;
  const descending = filter.order === 'desc';
  let served = 0;
  if (filter.beyond) {
    const [at, rank, count] = filter.beyond as readonly [number, number, number]; // as many as the list gives its cursors
    const isRaw = filter.aggregate === 'none';
    // in a paged aggregate the bucket itself was served whole, its samples lie behind its beginning
    const bucketMs = isRaw ? 1 : filter.intervalMs;
    const isServed = tag < rank || (tag === rank && !isRaw);
    if (tag === rank && isRaw) served = wholeCount(count);
    if (descending) throughMs = Math.min(throughMs, isServed ? at - 1 : at + bucketMs - 1);
    else fromMs = Math.max(fromMs, isServed ? at + bucketMs : at);
  }
  return { fromMs, throughMs, descending, served };
}

/** The last row that the page shows; asked for only where there is a further one. */
function lastOf<Row>(rows: readonly Row[], { limit }: HistoryFilter): Row {
  return rows[limit - 1] as Row;
}

/** Of a number in a cursor, which somebody may have made up. */
function wholeCount(given: number): number {
  return Math.max(0, Math.trunc(given));
}

/** How many rows of the last one's tag and instant were given so far, on this page and those before. */
function servedOf(rows: readonly ValueRow[], { at, rank }: ValueRow, { limit, beyond }: TagValuesFilter): number {
  let count = 0;
  while (count < limit && rows[limit - 1 - count]?.at === at && rows[limit - 1 - count]?.rank === rank) count += 1;
  const isWholePage = count === limit && beyond?.[0] === at && beyond[1] === rank;
  return isWholePage ? count + wholeCount(beyond[2] as number) : count;
}

function isInPlace(
  filter: { readonly site?: string; readonly sites?: readonly string[] | null; readonly unit?: string; readonly span?: Span },
  site: string,
  unit: string,
): boolean {
  if (filter.site !== undefined && site !== filter.site) return false;
  if (filter.sites && !filter.sites.includes(site)) return false;
  if (filter.unit !== undefined && unit !== filter.unit) return false;
  return !filter.span || (site === filter.span.site && filter.span.units.includes(unit));
}

/** `batchID`: of a list whose rows name their batch. */
function placeCondition(filter: HistoryFilter, batchID?: string): { texts: string[]; values: (string | number)[] } {
  const texts: string[] = [];
  const values: (string | number)[] = [];
  if (filter.site !== undefined) add(texts, values, 'site = ?', filter.site);
  if (filter.sites) add(texts, values, 'site IN (SELECT value FROM json_each(?))', JSON.stringify(filter.sites));
  if (filter.unit !== undefined) add(texts, values, 'unit = ?', filter.unit);
  if (filter.span) {
    add(texts, values, 'site = ?', filter.span.site);
    const units = 'unit IN (SELECT value FROM json_each(?))';
    add(texts, values, batchID === undefined ? units : `(${units} OR (unit = '' AND body ->> '$.batchID' = ?))`, JSON.stringify(filter.span.units));
    if (batchID !== undefined) values.push(batchID);
  }
  return { texts, values };
}

function add(texts: string[], values: (string | number)[], text: string, value: string | number): void {
  texts.push(text);
  values.push(value);
}

function prefixOf({ tag: { site, unit, address, tag } }: TagState): string {
  return `${JSON.stringify({ site, unit, address, tag }).slice(0, -1)},`;
}

/** `items` holds one more than the page when something follows. */
function pageText(items: readonly string[], limit: number, cursor: () => string): string {
  const nextCursor = items.length > limit ? cursor() : null;
  return `{"configured":true,"items":[${items.slice(0, limit).join(',')}],"nextCursor":${JSON.stringify(nextCursor)}}`;
}

function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
