/**
 * The writing side of the historian, on its thread: ring -> journal -> open block -> block in `historian.db`.
 *
 * Invariant: a sample that left the ring is in the journal, and stays there until its block is in the database and the
 * database is synced. When the disk refuses, the ring is left alone: it fills, and the gateway declares the gap.
 */
import path from 'node:path';
import { type Clock, systemClock } from '../base/clock.js';
import type { MonoMs, WallMs } from '../base/times.js';
import type Database from '../base/sqlite.js';
import { DataFileFault, obstacleOf } from '../base/data-file.js';
import { encodeBlock, type Scaling } from './block-codec.js';
import { putAside } from '../base/put-aside.js';
import { isHistoryLost, markHistoryBegun } from './begun-mark.js';
import { Journal, oddParts, putJournalAside } from './journal.js';
import { BLOCK_MS, OpenBlock, type Summary, summarise } from './open-block.js';
import { NewerHistory, openHistoryDatabase } from './schema.js';
import { RetentionTime } from '../base/retention-time.js';
import { RING_FAULT, SampleRing, SLOT_BYTES } from './sample-ring.js';
import type { Gap, HeldHistory, HistoryEvent, HistoryOpened, HistoryStart, KnownTag, ToHistory } from './words.js';

const DATABASE = 'historian.db';
const BLOCKS_PER_COMMIT = 200;
const PRUNE_BLOCKS = 2000;
/** Kept while the disk refuses; of those beyond, the oldest are a declared gap. */
const EVENTS_WAITING_MAX = 100_000;
const DAY_MS = 86_400_000;
const ROTATE_MS = BLOCK_MS;
/** A number of a text is given to samples for a day at most (history.ts), and a sample may wait in its block. */
const TEXT_USED_MS = 2 * DAY_MS;
/** Beyond it there is no time that could be served (ECMA-262, 21.4.1.1). */
const INSTANT_MAX_MS = 8.64e15;

/** What is known of the samples of a tag. The open block rises in time: its ends are told from it, not kept again for each sample. */
export class TagState {
  readonly tag: KnownTag;
  scaling: Scaling | undefined;
  readonly block = new OpenBlock();
  /** No sample in a block is earlier; null when there is no block. */
  storedFromMs: number | null;
  /** No sample in a block is later. The open block begins before it when the clock was set back. */
  storedThroughMs: number;
  /** Samples in blocks. */
  stored: number;
  /** Journal number of the last sample that is in a block. */
  persisted: number;

  constructor(tag: KnownTag, scaling: Scaling | undefined, blocks: BlocksOfTag) {
    this.tag = tag;
    this.scaling = scaling;
    this.storedFromMs = blocks.firstTs;
    this.storedThroughMs = blocks.lastTs ?? Number.NEGATIVE_INFINITY;
    this.stored = blocks.samples;
    this.persisted = blocks.persisted;
  }

  get firstTs(): number | null {
    const { block, storedFromMs } = this;
    return block.count > 0 && (storedFromMs === null || block.t0 < storedFromMs) ? block.t0 : storedFromMs;
  }

  get lastTs(): number | null {
    const { block, storedThroughMs } = this;
    if (block.count > 0 && block.t1 > storedThroughMs) return block.t1;
    return this.storedFromMs === null ? null : storedThroughMs;
  }

  /** Samples in blocks and in the open block. */
  get samples(): number {
    return this.stored + this.block.count;
  }
}

/** The columns of a tag's row that its blocks change. */
interface BlocksOfTag {
  readonly firstTs: number | null;
  readonly lastTs: number | null;
  readonly samples: number;
  readonly persisted: number;
}

const NO_BLOCKS: BlocksOfTag = { firstTs: null, lastTs: null, samples: 0, persisted: -1 };

interface ClosedBlock extends Summary {
  readonly state: TagState;
  readonly t0: number;
  readonly t1: number;
  readonly n: number;
  readonly data: Uint8Array;
  readonly firstNumber: number;
  readonly lastNumber: number;
}

/**
 * Opens the store; one that is damaged is kept under another name, with its journal, and a new one begun, as where it is missing: lost
 * history stops nobody. What is only out of reach stays where it is, so that the next start serves it again. Of a part of the
 * journal or the WAL that is no file only that goes: the database is whole without it.
 *
 * @throws Error for a disk that refuses, a file that somebody holds, or one of a newer version.
 */
export function openHistoryStore(start: HistoryStart): HistoryStore {
  const at = new Date().toISOString();
  const partsLost = [`${DATABASE}-wal`, `${DATABASE}-shm`, ...oddParts(start.dataDir)].flatMap((name) => oddPartAside(start.dataDir, name, at));
  try {
    const obstacle = obstacleOf(path.join(start.dataDir, DATABASE), { to: 'write' });
    if (obstacle) throw new DataFileFault(obstacle, 'put it right and start again');
    const missing = isHistoryLost(start.dataDir, DATABASE);
    const store = new HistoryStore(start, missing ? { name: '', fault: 'it is missing' } : null, systemClock, partsLost);
    markHistoryBegun(start.dataDir);
    return store;
  } catch (fault) {
    if (isOutOfReach(fault)) throw fault;
    const name = putAside(start.dataDir, DATABASE, at);
    putJournalAside(start.dataDir, at);
    const is = fault instanceof DataFileFault ? `${fault.obstacle.file} ${fault.obstacle.is}` : (fault as Error).message;
    return new HistoryStore(start, { name, fault: is }, systemClock, partsLost);
  }
}

/** @returns what was done, in a sentence; nothing where it is a file, or none. */
function oddPartAside(dataDir: string, name: string, at: string): string[] {
  const obstacle = obstacleOf(path.join(dataDir, name), { to: 'write' });
  if (!obstacle) return [];
  if (obstacle.isOutOfReach) throw new DataFileFault(obstacle, 'put it right and start again');
  return [`${name} ${obstacle.is}: it is kept as ${putAside(dataDir, name, at)}, and what that part of the history had held is missing`];
}

/** What SQLite, or the operating system (`errno`), says when the bytes of the file are not at fault. */
const OUT_OF_REACH = /^SQLITE_(FULL|BUSY|LOCKED|READONLY|CANTOPEN|IOERR|PERM|AUTH|NOMEM|PROTOCOL)/;

function isOutOfReach(fault: unknown): boolean {
  if (fault instanceof DataFileFault) return fault.obstacle.isOutOfReach;
  const { code, errno } = fault as { readonly code?: unknown; readonly errno?: unknown };
  return fault instanceof NewerHistory || typeof errno === 'number' || (typeof code === 'string' && OUT_OF_REACH.test(code));
}

export class HistoryStore {
  readonly database: Database.Database;
  readonly tags = new Map<number, TagState>();
  readonly texts = new Map<number, string>();
  readonly #start: HistoryStart;
  readonly #ring: SampleRing;
  readonly #journal: Journal;
  readonly #sql: ReturnType<typeof prepareAll>;
  readonly #lastOfUnit = new Map<string, number>();
  #closed: ClosedBlock[] = [];
  #events: HistoryEvent[] = [];
  #gaps: Gap[] = [];
  /** Of events that were lost, by unit. */
  readonly #lostEvents = new Map<string, Gap>();
  #newTags: KnownTag[] = [];
  #newTexts: (readonly [number, string, number])[] = [];
  /** What the database was told last. */
  #synchronous: 'FULL' | 'NORMAL' | '' = '';
  #error = '';
  #writtenTotal = 0;
  #unknownTotal = 0;
  #replayed = 0;
  /** Records of the journal that are none of ours. */
  #unreadable = 0;
  #rotatedMonoMs = performance.now();
  /** What is in the journal and in no open block yet, because a read was going on. */
  #unspread: { readonly piece: Uint8Array; readonly first: number }[] = [];
  /** The values of `tags` by id: a lookup per sample. */
  readonly #byId: (TagState | undefined)[] = [];

  readonly #aside: HistoryOpened['aside'];
  readonly #partsLost: readonly string[];
  readonly #time: RetentionTime;

  constructor(start: HistoryStart, aside: HistoryOpened['aside'] = null, clock: Pick<Clock, 'wallMs' | 'monoMs'> = systemClock, partsLost: readonly string[] = []) {
    this.#start = start;
    this.#aside = aside;
    this.#partsLost = partsLost;
    this.database = openHistoryDatabase(path.join(start.dataDir, DATABASE));
    this.#sql = prepareAll(this.database);
    this.#ring = new SampleRing(start.ringCapacity, start.ring);
    this.#journal = new Journal(start.dataDir);
    this.#readTags();
    this.#replay();
    this.#rememberUnits();
    this.#time = new RetentionTime(clock, this.#newestMs());
  }

  get opened(): HistoryOpened {
    const nextTextId = 1 + Math.max(0, ...[...this.texts.keys()].slice(-1), this.#sql.lastText.get() as number);
    return {
      tags: [...this.tags.values()].map((state) => state.tag),
      nextTextId,
      replayed: this.#replayed,
      aside: this.#aside,
      partsLost: [...this.#partsLost, ...this.#lostInJournal],
    };
  }

  get #lostInJournal(): string[] {
    return this.#unreadable === 0 ? [] : [`${this.#unreadable} samples of its journal cannot be read and are missing`];
  }

  get error(): string {
    return this.#error;
  }

  get writtenTotal(): number {
    return this.#writtenTotal;
  }

  /** Bytes of database and journal. */
  get sizeBytes(): number {
    return this.#databaseBytes() + this.#journal.bytes;
  }

  /** A message without an answer. */
  take(message: ToHistory): void {
    switch (message.type) {
      case 'tag':
        return this.#takeTag(message.tag, message.scaling);
      case 'text':
        if (this.texts.has(message.id)) return; // it is told of again where a thread has ended
        this.texts.set(message.id, message.text);
        this.#newTexts.push([message.id, message.text, Math.round(this.#time.latestMs)]);
        return;
      case 'event':
        this.#events.push(message.event);
        if (this.#events.length > EVENTS_WAITING_MAX) this.#loseOldest();
        return;
      case 'gap':
        this.#gaps.push(message.gap);
        return;
      case 'held':
        this.#hold(message.held);
    }
  }

  #hold(held: readonly HeldHistory[]): void {
    this.#sql.noneHeld.run();
    for (const { site, units, fromMs, toMs } of held) for (const unit of units.length === 0 ? [''] : units) this.#sql.putHeld.run(site, unit, fromMs, toMs);
  }

  /** A tenth at a time: the list is moved once for many events. */
  #loseOldest(): void {
    for (const { site, unit, atMs } of this.#events.splice(0, EVENTS_WAITING_MAX / 10)) {
      const known = this.#lostEvents.get(`${site}/${unit}`);
      this.#lostEvents.set(`${site}/${unit}`, {
        site,
        unit,
        address: '',
        fromMs: Math.min(atMs, known?.fromMs ?? atMs),
        toMs: Math.max(atMs, known?.toMs ?? atMs),
        cause: 'StorageFull',
        bounds: 'Containing',
      });
    }
  }

  /** Ring to journal to open blocks; `beforeReading` lets the caller take the announcements of what is in the ring. */
  drain(beforeReading: () => void): void {
    if (this.#error !== '' && !this.#recover()) return;
    const earlier = this.#unspread;
    this.#unspread = [];
    for (const { piece, first } of earlier) this.#spread(piece, first);
    this.#emptyRing(beforeReading, (piece, first) => this.#spread(piece, first));
    if (this.#closed.length >= BLOCKS_PER_COMMIT) this.commit();
  }

  /**
   * Ring to journal only, while a long read goes on: what it reads stays as it is, and yet the ring does not fill, for what has no
   * place there is lost. The open blocks get it with the next `drain`.
   */
  keepUp(beforeReading: () => void): void {
    if (this.#error !== '') return;
    this.#emptyRing(beforeReading, (piece, first) => this.#unspread.push({ piece: piece.slice(), first }));
  }

  #emptyRing(beforeReading: () => void, take: (piece: Uint8Array, first: number) => void): void {
    const pieces = this.#ring.pieces();
    beforeReading();
    for (const piece of pieces) {
      const first = this.#journal.next;
      try {
        this.#journal.append(piece);
      } catch (fault) {
        return this.#fail(fault);
      }
      take(piece, first);
      this.#ring.advance(piece.length / SLOT_BYTES);
    }
  }

  sync(): void {
    try {
      this.#journal.sync();
    } catch (fault) {
      this.#fail(fault);
    }
  }

  /** Blocks, events and announcements into the database. */
  commit(): void {
    const needsSync = this.#events.length + this.#gaps.length + this.#lostEvents.size + this.#newTags.length + this.#newTexts.length > 0;
    if (!needsSync && this.#closed.length === 0) return;
    try {
      this.#commitWith(needsSync ? 'FULL' : 'NORMAL');
      this.#sql.begin.run();
      for (const tag of this.#newTags) this.#sql.putTag.run(tag.id, tag.site, tag.unit, tag.address, tag.tag, tag.dataType);
      for (const [id, text, atMs] of this.#newTexts) this.#sql.putText.run(id, text, atMs);
      for (const event of this.#events) this.#sql.putEvent.run(event.list, event.atMs, event.site, event.unit, JSON.stringify(event.body));
      for (const gap of [...this.#gaps, ...this.#lostEvents.values()]) this.#sql.putGap.run(gap.fromMs, gap.toMs, gap.site, gap.unit, gap.address, gap.cause, gap.bounds);
      this.#writeBlocks();
      this.#sql.commit.run();
    } catch (fault) {
      if (this.database.inTransaction) this.database.exec('ROLLBACK');
      return this.#fail(fault);
    }
    this.#closed = [];
    this.#events = [];
    this.#gaps = [];
    this.#lostEvents.clear();
    this.#newTags = [];
    this.#newTexts = [];
  }

  /** Said again only when it changes: SQLite compiles the pragma each time. */
  #commitWith(synchronous: 'FULL' | 'NORMAL'): void {
    if (synchronous === this.#synchronous) return;
    this.#synchronous = '';
    this.database.pragma(`synchronous = ${synchronous}`);
    this.#synchronous = synchronous;
  }

  /** Every minute or so: end blocks that nothing is added to, start a new journal file, forget what is too old. */
  maintain(nowMs = this.#time.nowMs): void {
    const monoMs = performance.now();
    for (const state of this.tags.values()) {
      if (state.block.count > 0 && monoMs - state.block.touchedMonoMs >= BLOCK_MS) this.#close(state);
    }
    this.commit();
    if (this.#error !== '') return;
    try {
      if (monoMs - this.#rotatedMonoMs >= ROTATE_MS) this.rotate();
      this.#forget(nowMs);
    } catch (fault) {
      this.#fail(fault);
    }
  }

  /** A new journal file; files whose samples are all in synced blocks go. */
  rotate(): void {
    this.#rotatedMonoMs = performance.now();
    this.#journal.rotate();
    const [{ busy, log, checkpointed }] = this.database.pragma('wal_checkpoint(PASSIVE)') as [{ busy: number; log: number; checkpointed: number }];
    if (busy === 0 && log === checkpointed) this.#journal.removeBefore(this.#oldestUnpersisted());
  }

  close(): void {
    this.commit();
    this.sync();
    this.#journal.close();
    this.database.close();
  }

  #readTags(): void {
    for (const { firstTs, lastTs, samples, persisted, ...tag } of this.#sql.tags.all() as (KnownTag & BlocksOfTag)[]) {
      this.#place(new TagState(tag, undefined, { firstTs, lastTs, samples, persisted }));
    }
    for (const [id, text] of this.#sql.texts.raw().all() as [number, string][]) this.texts.set(id, text);
  }

  #replay(): void {
    const highest = Math.max(-1, ...[...this.tags.values()].map((state) => state.persisted));
    const monoMs = performance.now();
    this.#journal.replay((number, tag, code, atMs, value) => {
      const state = this.tags.get(tag);
      if (!state || number <= state.persisted) return;
      if (!Number.isSafeInteger(atMs) || Math.abs(atMs) > INSTANT_MAX_MS || !Number.isFinite(value)) {
        this.#unreadable += 1;
        return;
      }
      this.#add(state, number, code, atMs, value, monoMs);
      this.#replayed += 1;
    });
    this.#journal.startAt(Math.max(highest + 1, this.#journal.next));
    this.commit();
  }

  /** Of what was recorded before this start; null when nothing was. */
  #newestMs(): number | null {
    let newest = (this.#sql.lastEvent.get() as number | undefined) ?? null;
    for (const { lastTs } of this.tags.values()) if (lastTs !== null && lastTs > (newest ?? Number.NEGATIVE_INFINITY)) newest = lastTs;
    return newest;
  }

  /** The last sample that was taken of each unit before this start, by its number: the first new one ends a declared gap. */
  #rememberUnits(): void {
    const newest = new Map<string, { readonly number: number; readonly state: TagState }>();
    for (const state of this.tags.values()) {
      const { tag, block, lastTs, persisted } = state;
      const unit = `${tag.site}/${tag.unit}`;
      const number = block.count > 0 ? block.lastNumber : persisted;
      if (lastTs !== null && number > (newest.get(unit)?.number ?? -1)) newest.set(unit, { number, state });
    }
    for (const [unit, { state }] of newest) this.#lastOfUnit.set(unit, this.#lastTaken(state));
    if (this.#aside) return; // all of it is a gap already
    for (const { site, unit, sinceMs } of this.#start.units ?? []) if (!this.#lastOfUnit.has(`${site}/${unit}`)) this.#lastOfUnit.set(`${site}/${unit}`, sinceMs);
  }

  /** Time of the sample that was taken last: of another the time may be later, when the clock was set back. */
  #lastTaken({ tag, block, lastTs }: TagState): number {
    return block.count > 0 ? block.t1 : ((this.#sql.newestOfTag.get(tag.id) as number | undefined) ?? (lastTs as number));
  }

  #takeTag(tag: KnownTag, scaling: Scaling | undefined): void {
    const known = this.tags.get(tag.id);
    if (known) {
      known.scaling = scaling;
      return;
    }
    this.#place(new TagState(tag, scaling, NO_BLOCKS));
    this.#newTags.push(tag);
  }

  #place(state: TagState): void {
    const { id } = state.tag;
    this.tags.set(id, state);
    while (this.#byId.length <= id) this.#byId.push(undefined);
    this.#byId[id] = state;
  }

  #spread(piece: Uint8Array, firstNumber: number): void {
    const monoMs = performance.now();
    const byId = this.#byId;
    const slots = piece.length / SLOT_BYTES;
    const words = new Uint32Array(piece.buffer, piece.byteOffset, slots * 6);
    const floats = new Float64Array(piece.buffer, piece.byteOffset, slots * 3);
    for (let slot = 0; slot < slots; slot += 1) {
      const state = byId[words[slot * 6] as number];
      if (state) this.#add(state, firstNumber + slot, words[slot * 6 + 1] as number, floats[slot * 3 + 1] as number, floats[slot * 3 + 2] as number, monoMs);
      else this.#unknownTotal += 1;
    }
    this.#writtenTotal += slots;
  }

  #add(state: TagState, number: number, code: number, atMs: WallMs, value: number, monoMs: MonoMs): void {
    const { block } = state;
    if (block.isComplete(atMs)) this.#close(state);
    if (this.#lastOfUnit.size > 0) this.#endRestartGap(state.tag, atMs);
    block.push(number, code, atMs, value, monoMs);
  }

  #endRestartGap(tag: KnownTag, atMs: WallMs): void {
    const unit = `${tag.site}/${tag.unit}`;
    const lastMs = this.#lastOfUnit.get(unit);
    if (lastMs === undefined) return;
    this.#lastOfUnit.delete(unit);
    // set back in between: it began there, and how long it took nobody knows here
    const rest = atMs > lastMs ? ({ toMs: atMs, bounds: 'Containing' } as const) : ({ toMs: lastMs, bounds: 'Overlapping' } as const);
    this.#gaps.push({ site: tag.site, unit: tag.unit, address: '', fromMs: lastMs, cause: 'RuntimeRestart', ...rest });
  }

  #close(state: TagState): void {
    const { block } = state;
    this.#closed.push({
      ...summarise(block),
      state,
      t0: block.t0,
      t1: block.t1,
      n: block.count,
      data: encodeBlock(block, state.scaling),
      firstNumber: block.firstNumber,
      lastNumber: block.lastNumber,
    });
    if (state.storedFromMs === null || block.t0 < state.storedFromMs) state.storedFromMs = block.t0; // the clock may have been set back
    if (block.t1 > state.storedThroughMs) state.storedThroughMs = block.t1;
    state.stored += block.count;
    block.clear();
  }

  /** The closed blocks, and once for each tag what its row says of them. */
  #writeBlocks(): void {
    const touched = new Set<TagState>();
    for (const { state, t0, t1, n, good, min, max, sum, first, last, data, lastNumber } of this.#closed) {
      this.#sql.putBlock.run(state.tag.id, t0, t1, n, good, min, max, sum, first, last, data);
      state.persisted = lastNumber;
      touched.add(state);
    }
    for (const { tag, storedFromMs, storedThroughMs, stored, persisted } of touched) this.#sql.setTag.run(storedFromMs, storedThroughMs, stored, persisted, tag.id);
  }

  #oldestUnpersisted(): number {
    let oldest = this.#journal.next;
    for (const { block } of this.tags.values()) if (block.count > 0 && block.firstNumber < oldest) oldest = block.firstNumber;
    for (const block of this.#closed) if (block.firstNumber < oldest) oldest = block.firstNumber;
    for (const { first } of this.#unspread) if (first < oldest) oldest = first;
    return oldest;
  }

  /** Retention by age and by size, the oldest day first (decisions 8.9). */
  #forget(nowMs: WallMs): void {
    const { retentionMs, bytesMax } = this.#start.limits;
    let cutoffMs = nowMs - retentionMs;
    if (this.#databaseBytes() > bytesMax) {
      const oldest = this.#sql.oldestBlock.get() as number | undefined;
      if (oldest !== undefined) cutoffMs = Math.max(cutoffMs, (Math.floor(oldest / DAY_MS) + 1) * DAY_MS);
    }
    for (let removed = PRUNE_BLOCKS; removed === PRUNE_BLOCKS; ) removed = this.#removeBlocks(cutoffMs);
    this.#sql.pruneEvents.run(cutoffMs);
    this.#sql.pruneGaps.run(cutoffMs);
    for (const id of this.#sql.pruneTexts.all(Math.min(cutoffMs, nowMs) - TEXT_USED_MS, TEXT_USED_MS) as number[]) this.texts.delete(id);
  }

  #removeBlocks(cutoffMs: number): number {
    const removed = this.#sql.pruneBlocks.all(cutoffMs, PRUNE_BLOCKS) as { tag: number; n: number }[];
    const touched = new Set<number>();
    for (const { tag, n } of removed) {
      const state = this.tags.get(tag);
      if (!state) continue;
      state.stored -= n;
      touched.add(tag);
    }
    for (const tag of touched) {
      const state = this.tags.get(tag) as TagState;
      const [oldest, newest] = this.#sql.boundsOfTag.get({ tag, length: BLOCK_MS }) as [number | null, number | null];
      state.storedFromMs = oldest;
      state.storedThroughMs = newest ?? Number.NEGATIVE_INFINITY;
      this.#sql.setTag.run(oldest, newest, state.stored, state.persisted, tag); // what is open is told by the journal
    }
    return removed.length;
  }

  #databaseBytes(): number {
    const pragma = (name: string): number => this.database.pragma(name, { simple: true }) as number;
    return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
  }

  #fail(fault: unknown): void {
    this.#error = (fault as Error).message;
    this.#ring.fault = RING_FAULT.storage;
  }

  /** Tries the disk again with what waits. */
  #recover(): boolean {
    this.#error = '';
    try {
      this.#journal.sync();
    } catch (fault) {
      this.#fail(fault);
      return false;
    }
    this.commit();
    if (this.error !== '') return false;
    this.#ring.fault = RING_FAULT.none;
    return true;
  }
}

/** Of a row with a site, a unit and a time: whether something holds it. */
function heldBy(site: string, unit: string, from: string, to: string): string {
  return `EXISTS (SELECT 1 FROM temp.held h WHERE h.site IN ('', ${site}) AND (h.unit = '' OR h.unit = ${unit} OR ${unit} = '') AND ${to} >= h.from_at AND ${from} <= h.to_at)`;
}

function prepareAll(database: Database.Database) {
  database.exec('CREATE TEMP TABLE IF NOT EXISTS held (site TEXT NOT NULL, unit TEXT NOT NULL, from_at INTEGER NOT NULL, to_at INTEGER NOT NULL)');
  const free = `blocks b LEFT JOIN tags t ON t.id = b.tag WHERE NOT ${heldBy('t.site', 't.unit', 'b.t0', 'b.t1')}`;
  return {
    noneHeld: database.prepare('DELETE FROM temp.held'),
    putHeld: database.prepare('INSERT INTO temp.held (site, unit, from_at, to_at) VALUES (?, ?, ?, ?)'),
    begin: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
    tags: database.prepare('SELECT id, site, unit, address, tag, dataType, firstTs, lastTs, samples, persisted FROM tags'),
    texts: database.prepare('SELECT id, text FROM texts'),
    lastEvent: database.prepare('SELECT at FROM events ORDER BY id DESC LIMIT 1').pluck(),
    lastText: database.prepare('SELECT COALESCE(MAX(id), 0) FROM texts').pluck(),
    putTag: database.prepare('INSERT INTO tags (id, site, unit, address, tag, dataType) VALUES (?, ?, ?, ?, ?, ?)'),
    putText: database.prepare('INSERT INTO texts (id, text, at) VALUES (?, ?, ?)'),
    putEvent: database.prepare('INSERT INTO events (list, at, site, unit, body) VALUES (?, ?, ?, ?, ?)'),
    putGap: database.prepare('INSERT INTO gaps (from_at, to_at, site, unit, address, cause, bounds) VALUES (?, ?, ?, ?, ?, ?, ?)'),
    putBlock: database.prepare('INSERT INTO blocks (tag, t0, t1, n, good, min, max, sum, first, last, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'),
    setTag: database.prepare('UPDATE tags SET firstTs = ?, lastTs = ?, samples = ?, persisted = ? WHERE id = ?'),
    oldestBlock: database.prepare(`SELECT b.t0 FROM ${free} ORDER BY b.t0 LIMIT 1`).pluck(),
    newestOfTag: database.prepare('SELECT t1 FROM blocks WHERE tag = ? ORDER BY rowid DESC LIMIT 1').pluck(),
    // the one that ends last began within the length of a block of the one that began last
    boundsOfTag: database
      .prepare(
        `SELECT (SELECT MIN(t0) FROM blocks WHERE tag = :tag),
           (SELECT MAX(t1) FROM blocks WHERE tag = :tag AND t0 >= (SELECT MAX(t0) FROM blocks WHERE tag = :tag) - :length)`,
      )
      .raw(),
    pruneBlocks: database.prepare(`DELETE FROM blocks WHERE rowid IN (SELECT b.rowid FROM ${free} AND b.t0 < ? LIMIT ?) RETURNING tag, n`),
    pruneEvents: database.prepare(`DELETE FROM events WHERE at < ? AND NOT ${heldBy('events.site', 'events.unit', 'events.at', 'events.at')}`),
    pruneGaps: database.prepare(`DELETE FROM gaps WHERE to_at < ? AND NOT ${heldBy('gaps.site', 'gaps.unit', 'gaps.from_at', 'gaps.to_at')}`),
    // the last one stays: numbers are counted on from it, and one that is given twice would change what old samples say
    pruneTexts: database
      .prepare(
        `DELETE FROM texts WHERE at < ? AND id < (SELECT MAX(id) FROM texts)
         AND NOT EXISTS (SELECT 1 FROM temp.held h WHERE texts.at <= h.to_at AND texts.at + ? >= h.from_at) RETURNING id`,
      )
      .pluck(),
  };
}
