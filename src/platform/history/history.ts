/**
 * The historian as the gateway thread holds it. Samples go through a ring in shared memory and are never waited for;
 * state changes, alarm transitions and gaps go as messages; queries are answered with bytes ready to be sent.
 */
import type { WallMs } from '../base/times.js';
import { mkdirSync } from 'node:fs';
import { systemClock } from '../base/clock.js';
import { decodeCursor } from '../base/cursor.js';
import { damageOf } from '../base/storage-damage.js';
import { Stopwatch } from '../base/elapsed.js';
import { WorkerCalls } from '../base/worker-calls.js';
import type { Scaling } from './block-codec.js';
import { RING_FAULT, SampleRing, SLOT_BYTES } from './sample-ring.js';
import {
  ANSWER_MAX_MS,
  type Aggregate,
  type Gap,
  type HeldHistory,
  type HistoryEvent,
  type HistoryFilter,
  type HistoryLimits,
  type HistoryOpened,
  type HistoryStart,
  type KnownTag,
  type Span,
  type TagFilter,
  type TagIdentity,
  type TagValuesFilter,
  type ToHistory,
} from './words.js';

const RING_CAPACITY = 65_536; // slots: 13 s of 5,000 samples a second
/** What comes meanwhile has its place in the ring. */
const AGAIN_AFTER_MS = 1000;
/** Then a text that comes again gets a new number, so that the store may forget the old one with the samples of its time. */
const TEXT_LIFE_MS = 86_400_000;
const TEXTS_MAX = 10_000; // distinct texts the gateway remembers; older ones get a new number when they come again

export interface HistoryOptions extends HistoryLimits {
  /** Word of each quality code, code 0 the good one. */
  readonly qualityWords: readonly string[];
  /** Slots of the ring, a power of two. */
  readonly ringCapacity?: number;
  /** Units there were before this start. */
  readonly units?: HistoryStart['units'];
  /** Told when the thread ends by itself. */
  readonly died?: ((name: string, fault: string) => void) | undefined;
  /** Settles when all that was written before is on disk: states and alarms are handed in then, and their lists wait for it, so that none lags behind what it explains. */
  readonly recorded?: () => Promise<void>;
}

export interface HistoryPaging {
  readonly order?: 'asc' | 'desc';
  readonly limit?: number;
  /** Opaque; from an earlier page of the same list. */
  readonly cursor?: string | undefined;
}

type Query<Filter> = Omit<Filter, 'order' | 'limit' | 'beyond'> & HistoryPaging;
export type EventQuery = Query<HistoryFilter>;
export type TagQuery = Query<TagFilter>;
export type TagValuesQuery = Omit<Query<TagValuesFilter>, 'aggregate' | 'intervalMs'> & { readonly aggregate?: Aggregate; readonly intervalMs?: number };

export interface HistoryStatus {
  readonly oldest: string | null;
  readonly newest: string | null;
  readonly samples: number;
  readonly sizeBytes: number;
  /** Samples per second. */
  readonly writeRate: number;
  /** How long the oldest sample in the ring has been waiting. */
  readonly lagMs: number;
  readonly error: string;
}

export interface IngestQueue {
  readonly site: string;
  readonly unit: string;
  readonly depth: number;
  readonly capacity: number;
  readonly oldestTs: string | null;
  readonly dropped: number;
}

export interface Series {
  readonly times: Float64Array;
  /** Booleans as 0 and 1, times in ms, texts by number. */
  readonly values: Float64Array;
  /** quality * 2, plus 1 when there is no value. */
  readonly codes: Uint16Array;
}

interface UnitLoss {
  dropped: number;
  /** Wall time of the first sample lost since samples were last taken; null while they are. */
  lostFromMs: number | null;
  cause: 'Overload' | 'StorageFull';
}

export async function openHistory(dataDir: string, options: HistoryOptions): Promise<History> {
  mkdirSync(dataDir, { recursive: true, mode: 0o750 });
  const history = new History(dataDir, options);
  try {
    await history.ready();
  } catch (fault) {
    await history.close(); // nobody holds it: its thread is not started again
    throw fault;
  }
  return history;
}

export class History {
  readonly #ring: SampleRing;
  readonly #calls: WorkerCalls;
  /** By id; ids are from 1. */
  readonly #tags: (KnownTag | undefined)[] = [];
  readonly #ids = new Map<string, number>();
  readonly #scalings = new Map<number, Scaling>();
  readonly #texts = new Map<string, number>();
  readonly #textsSince = new Stopwatch(systemClock);
  readonly #losses = new Map<string, UnitLoss>();
  readonly #recorded: () => Promise<void>;
  /** `historian.retention`. */
  readonly retentionMs: number;
  #held: readonly HeldHistory[] = [];
  #nextTextId = 1;
  #aside: HistoryOpened['aside'] = null;
  #partsLost: readonly string[] = [];

  constructor(dataDir: string, { qualityWords, ringCapacity = RING_CAPACITY, died, recorded = () => Promise.resolve(), units = [], ...limits }: HistoryOptions) {
    this.#recorded = recorded;
    this.#ring = new SampleRing(ringCapacity);
    this.retentionMs = limits.retentionMs;
    const data: HistoryStart = { dataDir, ring: this.#ring.buffer, ringCapacity, limits, qualityWords, units };
    this.#calls = new WorkerCalls({ url: new URL('./history-thread.js', import.meta.url), name: 'historian', data }, undefined, {
      withinMs: ANSWER_MAX_MS,
      died,
      againAfterMs: AGAIN_AFTER_MS,
      began: () => this.#announceAgain(),
    });
  }

  async ready(): Promise<void> {
    const { tags, nextTextId, aside, partsLost } = await this.#calls.call<HistoryOpened>('open', {});
    for (const tag of tags) this.#remember(tag);
    this.#nextTextId = nextTextId;
    this.#aside = aside;
    this.#partsLost = partsLost;
  }

  /** What was put aside beside it at the start, in sentences. */
  get partsLost(): readonly string[] {
    return this.#partsLost;
  }

  /** The history that could not be opened at the start and was put aside; null when it is all there. */
  get aside(): HistoryOpened['aside'] {
    return this.#aside;
  }

  // -------------------------------------------------------------- recording

  /** Number of a tag for `push`; the same for every start. `scaling` lets blocks keep raw counts. */
  tag(identity: TagIdentity, scaling?: Scaling): number {
    const key = keyOf(identity);
    const known = this.#ids.get(key);
    if (known !== undefined && !scaling) return known;
    const id = known ?? Math.max(1, this.#tags.length);
    const { site, unit, address, tag: name, dataType } = identity;
    const tag: KnownTag = { id, site, unit, address, tag: name, dataType };
    this.#remember(tag);
    if (scaling) this.#scalings.set(id, scaling);
    this.#announce(tag);
    return id;
  }

  /** False when the ring is full; the loss is counted, and declared as a gap once it is over. */
  push(id: number, quality: number, atMs: WallMs, value: number | null): boolean {
    const isNull = value === null || !Number.isFinite(value);
    const taken = this.#ring.push(id, quality * 2 + (isNull ? 1 : 0), Math.round(atMs), isNull ? 0 : value + 0);
    if (!taken) this.#lose(id, atMs);
    else if (this.#losses.size > 0) this.#endLoss(id, atMs);
    return taken;
  }

  /** Number of a text for `push` of a tag of type String. */
  text(text: string): number {
    const known = this.#textsSince.elapsedMs < TEXT_LIFE_MS ? this.#texts.get(text) : undefined;
    if (known !== undefined) return known;
    if (this.#texts.size >= TEXTS_MAX || this.#textsSince.elapsedMs >= TEXT_LIFE_MS) this.renumberTexts();
    const id = this.#nextTextId;
    this.#nextTextId += 1;
    this.#texts.set(text, id);
    this.#tell({ type: 'text', id, text });
    return id;
  }

  /** Every text gets a new number when it comes again. After a jump of the wall clock too: its old one is dated before the jump, and samples are not. */
  renumberTexts(): void {
    this.#texts.clear();
    this.#textsSince.restart();
  }

  /** A state change as decisions 8.9 serves it: `{site, ts, kind, name, unit, from, to, cause, actor, batchID}`. */
  recordState(event: Omit<HistoryEvent, 'list'>): void {
    this.#tell({ type: 'event', event: { ...event, list: 'states' } });
  }

  /** An alarm transition: the AlarmEvent of decisions Q-ALARM-07. */
  recordAlarm(event: Omit<HistoryEvent, 'list'>): void {
    this.#tell({ type: 'event', event: { ...event, list: 'alarms' } });
  }

  recordGap(gap: Gap): void {
    this.#tell({ type: 'gap', gap });
  }

  /** What is kept whatever its age and its size, in place of what was told before. */
  hold(held: readonly HeldHistory[]): void {
    this.#held = held;
    this.#tell({ type: 'held', held });
  }

  /** Resolves when everything recorded so far is on disk. */
  flush(): Promise<void> {
    return this.#calls.call('flush', {});
  }

  /** Retention and journal files, at once instead of within the minute. */
  maintain(nowMs: WallMs): Promise<void> {
    return this.#calls.call('maintain', { nowMs });
  }

  // -------------------------------------------------------------- reading

  /** @throws Refusal `storage_damaged` where the database cannot be read. */
  #read<Result>(name: string, request: unknown): Promise<Result> {
    return this.#calls.call<Result>(name, request).catch((fault: unknown) => {
      throw damageOf(fault, 'historian.db') ?? fault;
    });
  }

  /** `{configured, items, nextCursor}` as JSON bytes, like all lists here. @throws Refusal `invalid_query` for a foreign cursor. */
  async tagsJson({ aggregate = 'none', intervalMs = 60_000, ...query }: TagValuesQuery): Promise<Uint8Array> {
    return this.#read('tagValues', { ...filterOf('tags', 3, query), aggregate, intervalMs } satisfies TagValuesFilter);
  }

  async distinctJson(query: TagQuery): Promise<Uint8Array> {
    return this.#read('tagsDistinct', filterOf('distinct', 1, query) satisfies TagFilter);
  }

  async eventsJson(list: 'states' | 'alarms', query: EventQuery): Promise<Uint8Array> {
    const filter = filterOf(list, 2, query);
    await this.#recorded().catch(() => undefined); // what the disk has refused is told to nobody
    return this.#read('events', { list, filter });
  }

  async gapsJson(query: TagQuery): Promise<Uint8Array> {
    return this.#read('gaps', filterOf('gaps', 2, query) satisfies TagFilter);
  }

  /** Samples of one tag, oldest first, from inclusive, to exclusive; undefined when it was never recorded. */
  async series(site: string, address: string, fromMs: WallMs, toMs: WallMs): Promise<Series | undefined> {
    return (await this.#read<Series | null>('series', { site, address, fromMs, toMs })) ?? undefined;
  }

  async status(): Promise<HistoryStatus> {
    const status = await this.#read<Omit<HistoryStatus, 'lagMs'>>('status', {});
    return { ...status, lagMs: this.#lagMs() };
  }

  async ingest(): Promise<{ readonly queues: readonly IngestQueue[]; readonly writtenTotal: number; readonly droppedTotal: number }> {
    const queues = this.#queues();
    const writtenTotal = await this.#calls.call<number>('writtenTotal', {});
    return { queues, writtenTotal, droppedTotal: [...this.#losses.values()].reduce((sum, loss) => sum + loss.dropped, 0) };
  }

  async close(): Promise<void> {
    await this.#calls.close();
  }

  /** A thread has on disk what was announced some seconds ago, and no scaling: samples of a tag that it does not know would be dropped. */
  #announceAgain(): void {
    this.#tell({ type: 'held', held: this.#held });
    for (const tag of this.#tags) if (tag) this.#announce(tag);
    for (const [text, id] of this.#texts) this.#tell({ type: 'text', id, text });
  }

  #announce(tag: KnownTag): void {
    const scaling = this.#scalings.get(tag.id);
    this.#tell({ type: 'tag', tag, ...(scaling ? { scaling } : {}) });
  }

  #tell(message: ToHistory): void {
    this.#calls.tell(message);
  }

  #remember(tag: KnownTag): void {
    while (this.#tags.length < tag.id) this.#tags.push(undefined);
    this.#tags[tag.id] = tag;
    this.#ids.set(keyOf(tag), tag.id);
  }

  #lose(id: number, atMs: WallMs): void {
    const tag = this.#tags[id];
    if (!tag) return;
    const unit = `${tag.site}/${tag.unit}`;
    const loss = this.#losses.get(unit) ?? { dropped: 0, lostFromMs: null, cause: 'Overload' };
    loss.dropped += 1;
    if (loss.lostFromMs === null || this.#ring.fault === RING_FAULT.storage) loss.cause = this.#ring.fault === RING_FAULT.storage ? 'StorageFull' : 'Overload';
    loss.lostFromMs ??= atMs;
    this.#losses.set(unit, loss);
  }

  #endLoss(id: number, atMs: WallMs): void {
    const tag = this.#tags[id];
    const loss = tag && this.#losses.get(`${tag.site}/${tag.unit}`);
    if (!tag || !loss || loss.lostFromMs === null) return;
    this.recordGap({ site: tag.site, unit: tag.unit, address: '', fromMs: loss.lostFromMs, toMs: atMs, cause: loss.cause, bounds: 'Containing' });
    loss.lostFromMs = null;
  }

  #lagMs(): number {
    const { oldestMs } = this.#ring;
    return oldestMs === null ? 0 : Math.max(0, Math.round(Date.now() - oldestMs));
  }

  #queues(): IngestQueue[] {
    const waiting = new Map<string, { depth: number; oldestMs: number }>();
    for (const piece of this.#ring.pieces()) {
      const words = new Uint32Array(piece.buffer, piece.byteOffset, piece.length / 4);
      const floats = new Float64Array(piece.buffer, piece.byteOffset, piece.length / 8);
      for (let slot = 0; slot < piece.length / SLOT_BYTES; slot += 1) {
        const tag = this.#tags[words[slot * 6] as number];
        const unit = tag ? `${tag.site}/${tag.unit}` : '';
        const queue = waiting.get(unit) ?? { depth: 0, oldestMs: floats[slot * 3 + 1] as number };
        queue.depth += 1;
        waiting.set(unit, queue);
      }
    }
    const units = new Map(this.#tags.flatMap((tag) => (tag ? [[`${tag.site}/${tag.unit}`, tag]] : [])));
    return [...units].map(([unit, { site, unit: name }]) => {
      const queue = waiting.get(unit);
      return {
        site,
        unit: name,
        depth: queue?.depth ?? 0,
        capacity: this.#ring.capacity,
        oldestTs: queue ? new Date(queue.oldestMs).toISOString() : null,
        dropped: this.#losses.get(unit)?.dropped ?? 0,
      };
    });
  }
}

const LIMIT_DEFAULT = 100; // decisions Q-ERR-15

function filterOf<Filter extends HistoryPaging & { readonly span?: Span }>(list: string, numbers: number, { cursor, order = 'desc', limit = LIMIT_DEFAULT, ...filter }: Filter) {
  const beyond = cursor === undefined ? {} : { beyond: decodeCursor(list, cursor, numbers) };
  return { ...filter, order, limit, ...beyond };
}

function keyOf({ site, unit, address }: TagIdentity): string {
  return `${site}\n${unit}\n${address}`;
}
