/**
 * Whether the rows of `state.db` are the ones that the ledger wrote (ADR 0018). The audit trail has its chain; every other
 * table is covered here: a MAC for each resource, a chain for each stream of facts, and one seal over all of them that says
 * what there has to be, so that a row that was removed, or put back as it once was, is missed as well.
 *
 * The sums in the seal follow from what is written, never from what is found: a row that was changed past the ledger does not
 * fit any more, and still does not fit after the ledger has written over it.
 */
import { createHmac, hash as digest, timingSafeEqual } from 'node:crypto';
import { assert } from '../base/assert.js';
import type Database from '../base/sqlite.js';
import { isStored, ShortMac } from './chain.js';
import { countIn, COUNT_MAX } from './counts.js';
import { digestOfGaps } from './gaps.js';
import type { ChainEnd } from './head-file.js';
import { keyOf } from '../store/resource.js';

export const MAC_BYTES = 32;
const SEAL_KEY = 'seal';
const BROKEN_MAX = 100; // sentences the seal remembers
const MARK_LENGTH_MAX = 100; // of one that anybody may have written

export interface ResourceRow {
  readonly kind: string;
  readonly site: string;
  readonly name: string;
  readonly version: number;
  readonly body: string;
  /** The run with which it is past; '' or absent: present. */
  readonly past?: string;
  /** What is known of it without reading it; '' for most. */
  readonly entry?: string;
}

type RowKey = Pick<ResourceRow, 'kind' | 'site' | 'name'>;

/** What has to be in the tables. Sums are the XOR of keyed MACs, so nobody without the key can make a row that is not missed. */
export interface Seal {
  readonly resources: string;
  readonly rows: number;
  /** How many of them are past; absent in a seal of before they were counted. */
  readonly past?: number;
  /** What tells at a start that marks of the past are those that were set; absent in a seal of before it was kept. */
  readonly marks?: { readonly rows: string; readonly streams: string; readonly entries: number };
  readonly resourceVersion: number;
  /** XOR of the last links of the streams. */
  readonly streams: string;
  readonly nonces: string;
  readonly heads: number;
  /** Last record that the index of the audit trail covers. */
  readonly spansTo: number;
  /** When rows that were there without seals were taken over as they were; '' when there were none. */
  readonly adoptedAt: string;
  /** Rows and facts that were taken over. */
  readonly madeBefore: number;
  /** What the ledger found not to be its own before it wrote over it; one sentence each. */
  readonly broken: readonly string[];
  /** Digest of the list of gaps (gaps.ts); absent in a seal of before it was kept. */
  readonly gaps?: string;
  /** How far the file `audit-head` had come, synced, when this was written: it never names less. Absent until a start has synced one. */
  readonly head?: ChainEnd;
  /** No span of the index reaches into the archive (archive-cut.ts); absent in a seal of a version that did not take the archived part off. */
  readonly areSpansCut?: true;
}

/** The MACs of rows; the same key as that of the audit trail, each in a form of its own. */
export class RowMacs {
  readonly #mac: ShortMac;

  constructor(key: Buffer) {
    this.#mac = new ShortMac(createHmac('sha256', key).update('row-seals').digest());
  }

  /** A past row has a form of its own: what was sealed before there was a past stays as it is, and a mark that is set or moved by hand is found. */
  resource({ kind, site, name, version, body, past = '', entry = '' }: ResourceRow): Buffer {
    if (past !== '' || entry !== '') return this.#of(`resource-past\n${JSON.stringify([kind, site, name, version, past, entry])}\n${body}`);
    return this.#of(`resource\n${JSON.stringify([kind, site, name, version])}\n${body}`);
  }

  /** The link before the first fact of a stream. */
  origin(stream: string): Buffer {
    return this.#of(`stream\n${stream}`);
  }

  fact(before: Buffer, sequence: number, body: string): Buffer {
    return this.#of(`fact\n${before.toString('hex')}\n${sequence}\n${body}`);
  }

  /** Of a stream that ends with its run; `link` is the last of its chain. */
  pastStream(stream: string, past: string, link: Buffer): Buffer {
    return this.#of(`stream-past\n${JSON.stringify([stream, past])}\n${link.toString('hex')}`);
  }

  nonces(newest: number, entries: string): Buffer {
    return this.#of(`nonces\n${newest}\n${entries}`);
  }

  /** `value` of the row of the seal. */
  sealed(seal: Seal): string {
    const text = JSON.stringify(seal);
    return JSON.stringify({ seal, mac: this.#of(`seal\n${text}`).toString('hex') });
  }

  /** Null when it is not one of this appliance, letter by letter. */
  opened(value: string): Seal | null {
    try {
      const { seal } = JSON.parse(value) as { seal: Seal };
      const [given, expected] = [Buffer.from(value), Buffer.from(this.sealed(seal))];
      return given.length === expected.length && timingSafeEqual(given, expected) ? seal : null;
    } catch {
      return null;
    }
  }

  #of(text: string): Buffer {
    return Buffer.from(this.#mac.ofHash(digest('sha256', text, 'hex')));
  }
}

export const GAPS_CHANGED = 'the list of what starts have found wrong, and of who has acknowledged it, is not what was recorded';

/** Whether the list of gaps is the one that was recorded: what it explains is explained by it only then. */
export function areGapsRecorded(database: Database.Database, key: Buffer): boolean {
  const seal = new RowMacs(key).opened(storedSeal(database) ?? '');
  return seal !== null && (seal.gaps === undefined || seal.gaps === digestOfGaps(database));
}

/** What the file `audit-head` had reached when the seal was written; null where no seal says so. */
export function sealedHead(database: Database.Database, key: Buffer): ChainEnd | null {
  return new RowMacs(key).opened(storedSeal(database) ?? '')?.head ?? null;
}

/** @returns undefined without a row. */
export function storedSeal(database: Database.Database): string | undefined {
  return database.prepare('SELECT value FROM meta WHERE key = ?').pluck().get(SEAL_KEY) as string | undefined;
}

/** A start reads what these are made of all the same, so that comparing them costs it nothing. */
export interface Marks {
  /** XOR of what stands for each row that is present. */
  readonly rows: Buffer;
  /** The same of the streams. */
  readonly streams: Buffer;
  /** How many rows have an entry of the past. */
  entries: number;
}

interface Sums {
  readonly resources: Buffer;
  readonly streams: Buffer;
  readonly nonces: Buffer;
  rows: number;
  /** Undefined until they were counted. */
  past: number | undefined;
  /** Undefined until a start has read them. */
  marks: Marks | undefined;
  heads: number;
  resourceVersion: number;
  spansTo: number;
  adoptedAt: string;
  madeBefore: number;
  broken: readonly string[];
  /** Undefined until a start has read it. */
  gaps: string | undefined;
  head: ChainEnd | undefined;
  areSpansCut: boolean;
}

/** The writing side, on the ledger thread. Everything is called inside the transaction that writes the rows. */
export class RowSeals {
  readonly #macs: RowMacs;
  readonly #sql: ReturnType<typeof prepareAll>;
  /** MACs of resources that this process has written or looked at. */
  readonly #gaps: () => string;
  readonly #known = new Map<string, Buffer>();
  readonly #links = new Map<string, Buffer>();
  #sums: Sums;
  /** As it is on disk. */
  #durable: Sums;
  #changed = false;

  /** @param once whether a seal was ever written here: then one that is not there was taken away. */
  constructor(database: Database.Database, key: Buffer, once: boolean) {
    this.#macs = new RowMacs(key);
    this.#sql = prepareAll(database);
    this.#gaps = () => digestOfGaps(database);
    const stored = storedSeal(database);
    const seal = stored === undefined ? null : this.#macs.opened(stored);
    if (seal) this.#sums = sumsOf(seal);
    else {
      this.#sums = nothing();
      database.transaction(() => this.#adopt(once || stored !== undefined))();
    }
    this.#durable = copyOf(this.#sums);
    this.#readLinks();
    const version = this.#sql.getMeta.get('resourceVersion') as string | undefined;
    if (seal && Number(version ?? 0) !== seal.resourceVersion)
      this.#note(`the last resource version was ${version ?? 'missing'} at the start, and ${seal.resourceVersion} was written`);
    if (this.#sums.gaps === undefined) this.sealGaps();
    else if (this.#sums.gaps !== this.#gaps()) this.#note(GAPS_CHANGED);
  }

  /** The list of gaps was written. */
  sealGaps(): void {
    this.#sums.gaps = this.#gaps();
    this.#changed = true;
  }

  /** What the file `audit-head` has reached, never less than before. */
  get head(): ChainEnd | undefined {
    return this.#sums.head;
  }

  /** @param head is on disk in the file `audit-head`. */
  headReached(head: ChainEnd): void {
    if (head.sequence <= (this.#sums.head?.sequence ?? 0)) return;
    this.#sums.head = head;
    this.#changed = true;
  }

  get areSpansCut(): boolean {
    return this.#sums.areSpansCut;
  }

  /** No span of the index reaches into the archive, and none ever will. */
  spansCut(): void {
    this.#sums.areSpansCut = true;
    this.#changed = true;
  }

  /** No version that was ever given is given again. */
  get resourceVersion(): number {
    return this.#sums.resourceVersion;
  }

  /** Last record that the index has to cover. */
  get spansTo(): number {
    return this.#sums.spansTo;
  }

  /** @returns the MAC of the row. */
  put(row: ResourceRow): Buffer {
    const id = keyOf(row);
    const before = this.#macOf(row, id);
    const mac = this.#macs.resource(row);
    if (before) mix(this.#sums.resources, before);
    else this.#sums.rows += 1;
    mix(this.#sums.resources, mac);
    this.#mixMarks('rows', before, mac);
    this.#known.set(id, mac);
    this.#sums.resourceVersion = row.version;
    this.#changed = true;
    return mac;
  }

  /** Whether a row belongs to a run that has ended: nobody may write it. */
  isPast(ref: RowKey): boolean {
    if (this.#known.has(keyOf(ref))) return false;
    const past = this.#sql.pastOf.get(ref.kind, ref.site, ref.name) as string | undefined;
    return past !== undefined && past !== '';
  }

  /**
   * A row becomes part of the past of a run, or with '' present again. Its body is not written, so what is found there is
   * compared with what was recorded: a new MAC must not make good what somebody has changed.
   * @returns its MAC; undefined without a row.
   */
  mark(ref: RowKey, past: string, entry: string): Buffer | undefined {
    const row = this.#sql.resource.get(ref.kind, ref.site, ref.name) as FoundRow | undefined;
    if (!row) return undefined;
    const id = keyOf(ref);
    const { kind, site, name } = ref;
    const found = this.#macs.resource({ kind, site, name, ...row });
    const known = this.#known.get(id);
    if (!isStored(row.mac, found) || (known && !known.equals(found)))
      this.#note(`${titleOf(ref)} was not what was recorded when its run ${past === '' ? 'came back from the past' : 'became past'}`);
    const mac = this.#macs.resource({ kind, site, name, version: row.version, body: row.body, past, entry });
    mix(this.#sums.resources, known ?? found);
    mix(this.#sums.resources, mac);
    if (this.#sums.past !== undefined) this.#sums.past += Number(past !== '') - Number(row.past !== '');
    if (this.#sums.marks) this.#sums.marks.entries += Number(entry !== '') - Number(row.entry !== '');
    this.#mixMarks('rows', row.past === '' ? (known ?? found) : undefined, past === '' ? mac : undefined);
    if (past === '') this.#known.set(id, mac);
    else this.#known.delete(id);
    this.#changed = true;
    return mac;
  }

  /** The same of a stream of facts. @returns what stands for it in the table; undefined without the stream. */
  markStream(stream: string, past: string): Buffer | undefined {
    const row = this.#sql.stream.get(stream) as FoundStream | undefined;
    if (!row) return undefined;
    const isBack = past === '' && row.past !== '';
    const before = isBack ? row.mac : (this.#links.get(stream) ?? macIn(row.mac));
    const link = isBack || !before ? this.#linkOf(stream) : before;
    if (isBack && !isStored(row.mac, this.#macs.pastStream(stream, row.past, link)))
      this.#note(`the entries of ${stream} were not what was recorded when its run came back from the past`);
    const mac = past === '' ? link : this.#macs.pastStream(stream, past, link);
    if (before) mix(this.#sums.streams, before);
    mix(this.#sums.streams, mac);
    this.#mixMarks('streams', row.past === '' ? before : null, past === '' ? mac : null);
    if (past === '') this.#links.set(stream, link);
    else this.#links.delete(stream);
    this.#changed = true;
    return mac;
  }

  #linkOf(stream: string): Buffer {
    let link = this.#macs.origin(stream);
    for (const { sequence, body } of this.#sql.factsOf.iterate(stream) as IterableIterator<{ sequence: number; body: string }>) link = this.#macs.fact(link, sequence, body);
    return link;
  }

  remove(ref: RowKey): void {
    const id = keyOf(ref);
    const before = this.#macOf(ref, id);
    if (!before) return;
    if (!this.isPast(ref)) this.#mixMarks('rows', before, undefined);
    mix(this.#sums.resources, before);
    this.#sums.rows -= 1;
    this.#known.delete(id);
    this.#changed = true;
  }

  /** @returns the link of the stream after the fact. */
  fact(stream: string, sequence: number, body: string): Buffer {
    const before = this.#links.get(stream);
    const link = this.#macs.fact(before ?? this.#macs.origin(stream), sequence, body);
    if (before) mix(this.#sums.streams, before);
    mix(this.#sums.streams, link);
    this.#mixMarks('streams', before, link);
    this.#links.set(stream, link);
    this.#changed = true;
    return link;
  }

  #mixMarks(of: 'rows' | 'streams', before: Buffer | null | undefined, now: Buffer | null | undefined): void {
    const sum = this.#sums.marks?.[of];
    if (sum && before) mix(sum, before);
    if (sum && now) mix(sum, now);
  }

  /** What the seal misses where a start has read this of the rows that are present; all zero where it misses nothing, and without a seal of it. */
  missedRows(sum: Buffer): Buffer {
    return difference(sum, this.#sums.marks?.rows);
  }

  /** The same of streams. @param others Of those that are marked as past, some that may be present: of these what was recorded as present counts. */
  missedStreams(others: readonly string[] = []): Buffer {
    const sum = this.presentStreams;
    for (const stream of others) if (this.isPresentStream(stream)) mix(sum, this.#linkOf(stream));
    return difference(sum, this.#sums.marks?.streams);
  }

  /** But for its mark, if it has one, it is what was recorded. */
  isPresentStream(stream: string): boolean {
    const row = this.#sql.stream.get(stream) as FoundStream | undefined;
    return row !== undefined && isStored(row.mac, this.#linkOf(stream));
  }

  /** How many entries of the past there have to be; undefined in a seal of before they were counted. */
  get entries(): number | undefined {
    return this.#sums.marks?.entries;
  }

  /** From now on the marks are compared with these: what was wrong with them is told. */
  sealMarks(marks: Marks, past = this.#sums.past): void {
    this.#sums.marks = marks;
    this.#sums.past = past;
    this.#changed = true;
  }

  /**
   * A mark that the ledger has not set is to go, and the row is present: it is named from now on. One that is as it was recorded but
   * for its mark fits its seal again; of any other one the sum stays wrong.
   * @returns its MAC; undefined without such a row.
   */
  unmark(ref: RowKey): Buffer | undefined {
    const row = this.#sql.resource.get(ref.kind, ref.site, ref.name) as FoundRow | undefined;
    if (!row || (row.past === '' && row.entry === '')) return undefined;
    const { kind, site, name } = ref;
    const mac = this.#macs.resource({ kind, site, name, version: row.version, body: row.body });
    if (!isStored(row.mac, mac)) {
      mix(this.#sums.resources, this.#macs.resource({ kind, site, name, ...row }));
      mix(this.#sums.resources, mac);
    }
    this.#note(`${titleOf(ref)} ${wrongMark(row.past)}`);
    this.#known.set(keyOf(ref), mac);
    return mac;
  }

  /** The same of a stream of facts. */
  unmarkStream(stream: string): Buffer | undefined {
    const row = this.#sql.stream.get(stream) as FoundStream | undefined;
    if (!row || row.past === '') return undefined;
    const link = this.#linkOf(stream);
    if (row.mac) mix(this.#sums.streams, row.mac);
    mix(this.#sums.streams, link);
    this.#note(`the stream ${stream} ${wrongMark(row.past)}`);
    this.#links.set(stream, link);
    return link;
  }

  /** What would stand for a row as it lies in the table. */
  macOf(row: ResourceRow): Buffer {
    return this.#macs.resource(row);
  }

  /** Of a row as it lies in the table: the mark is the one that was recorded. */
  isGenuine({ mac, ...row }: ResourceRow & { readonly mac: Buffer | null }): boolean {
    return isStored(mac, this.#macs.resource(row));
  }

  /** XOR of what stands for the streams that are present. */
  get presentStreams(): Buffer {
    const sum = Buffer.alloc(MAC_BYTES);
    for (const link of this.#links.values()) mix(sum, link);
    return sum;
  }

  /** A group of nonces that is written, or forgotten. */
  nonces(newest: number, entries: string): void {
    mix(this.#sums.nonces, this.#macs.nonces(newest, entries));
    this.#changed = true;
  }

  /** Signed heads of the audit trail that were written (or, below zero, archived). */
  heads(count: number): void {
    if (count === 0) return;
    this.#sums.heads += count;
    this.#changed = true;
  }

  /** Writes the seal when something has changed it; last in the transaction. */
  write(spansTo: number): void {
    if (spansTo !== this.#sums.spansTo) {
      this.#sums.spansTo = spansTo;
      this.#changed = true;
    }
    if (this.#changed) this.#sql.setMeta.run(SEAL_KEY, this.#macs.sealed(sealOf(this.#sums)));
  }

  committed(): void {
    if (!this.#changed) return;
    this.#changed = false;
    this.#durable = copyOf(this.#sums);
  }

  /** What was to be written is not, and never will be. */
  rolledBack(): void {
    if (!this.#changed) return;
    this.#changed = false;
    this.#sums = copyOf(this.#durable);
    this.#known.clear();
    this.#readLinks();
  }

  /** What the stored row takes out of the sum; undefined when there is no row. For one that is not ours that is not what it brought in, so the sum stays wrong. */
  #macOf(ref: RowKey, id: string): Buffer | undefined {
    const known = this.#known.get(id);
    if (known) return known;
    const row = this.#sql.resource.get(ref.kind, ref.site, ref.name) as FoundRow | undefined;
    if (!row) return undefined;
    const mac = this.#macs.resource({ kind: ref.kind, site: ref.site, name: ref.name, ...row });
    if (!isStored(row.mac, mac)) this.#note(`${titleOf(ref)} was not what was recorded when it was written over`);
    return mac;
  }

  /** Resources that were ever recorded and not removed, present and past. */
  get rows(): number {
    return this.#sums.rows;
  }

  /** How many of them are past. `count` is asked once, of data that were sealed before this was counted. */
  pastRows(count: () => number): number {
    return (this.#sums.past ??= count());
  }

  /** Something that is wrong and is told by every verification from now on; it is written with the next seal. */
  tell(sentence: string): void {
    this.#note(sentence);
  }

  #note(sentence: string): void {
    const { broken } = this.#sums;
    if (broken.length < BROKEN_MAX) this.#sums.broken = [...broken, `${new Date().toISOString()}: ${sentence}`];
    this.#changed = true;
  }

  #readLinks(): void {
    this.#links.clear();
    for (const { stream, mac } of this.#sql.streams.all() as { stream: string; mac: unknown }[]) {
      const link = macIn(mac);
      if (link) this.#links.set(stream, link);
    }
  }

  /**
   * Takes over what is there without a seal: a database of a version that knew none, or a new one.
   * @param lost there was a seal and it is not there, or not genuine: what is there counts as it is, and it stays told.
   */
  #adopt(lost: boolean): void {
    const sums = this.#sums;
    const adopted: [number, Buffer][] = [];
    for (const row of this.#sql.allResources.iterate() as IterableIterator<ResourceRow & { id: number; mac: Buffer | null }>) {
      const mac = this.#macs.resource(row);
      if (!lost) adopted.push([row.id, mac]);
      mix(sums.resources, mac);
      sums.rows += 1;
    }
    for (const [id, mac] of adopted) this.#sql.setMac.run(mac, id);
    sums.madeBefore = sums.rows + this.#adoptFacts(lost);
    for (const { newest, entries } of this.#sql.allNonces.all() as { newest: number; entries: string }[]) mix(sums.nonces, this.#macs.nonces(newest, entries));
    sums.heads = this.#sql.heads.get() as number;
    sums.resourceVersion = countIn(this.#sql.getMeta.get('resourceVersion')) ?? (this.#sql.highestVersion.get(COUNT_MAX) as number);
    sums.spansTo = this.#sql.spansTo.get() as number;
    sums.gaps = this.#gaps();
    sums.adoptedAt = sums.madeBefore === 0 ? '' : new Date().toISOString();
    if (lost) sums.broken = [`${new Date().toISOString()}: the seal of the stored state was missing or not genuine`];
    this.#sql.setMeta.run(SEAL_KEY, this.#macs.sealed(sealOf(sums)));
  }

  #adoptFacts(lost: boolean): number {
    const links = new Map<string, Buffer>();
    let count = 0;
    for (const { stream, sequence, body } of this.#sql.allFacts.iterate() as IterableIterator<{ stream: string; sequence: number; body: string }>) {
      links.set(stream, this.#macs.fact(links.get(stream) ?? this.#macs.origin(stream), sequence, body));
      count += 1;
    }
    const pasts = new Map((this.#sql.pastStreams.all() as { stream: string; past: string }[]).map(({ stream, past }) => [stream, past]));
    for (const [stream, link] of links) {
      const past = pasts.get(stream);
      const mac = past === undefined ? link : this.#macs.pastStream(stream, past, link);
      if (!lost) this.#sql.setLink.run(mac, stream);
      mix(this.#sums.streams, mac);
    }
    return count;
  }
}

function nothing(): Sums {
  return {
    resources: Buffer.alloc(MAC_BYTES),
    streams: Buffer.alloc(MAC_BYTES),
    nonces: Buffer.alloc(MAC_BYTES),
    rows: 0,
    past: undefined,
    marks: undefined,
    heads: 0,
    resourceVersion: 0,
    spansTo: 0,
    adoptedAt: '',
    madeBefore: 0,
    broken: [],
    gaps: undefined,
    head: undefined,
    areSpansCut: false,
  };
}

function copyOf(sums: Sums): Sums {
  const marks = sums.marks && { ...sums.marks, rows: Buffer.from(sums.marks.rows), streams: Buffer.from(sums.marks.streams) };
  return { ...sums, marks, resources: Buffer.from(sums.resources), streams: Buffer.from(sums.streams), nonces: Buffer.from(sums.nonces) };
}

function sumsOf(seal: Seal): Sums {
  const marks = seal.marks && { ...seal.marks, rows: Buffer.from(seal.marks.rows, 'hex'), streams: Buffer.from(seal.marks.streams, 'hex') };
  return {
    ...seal,
    past: seal.past,
    gaps: seal.gaps,
    head: seal.head,
    areSpansCut: seal.areSpansCut === true,
    marks,
    resources: Buffer.from(seal.resources, 'hex'),
    streams: Buffer.from(seal.streams, 'hex'),
    nonces: Buffer.from(seal.nonces, 'hex'),
  };
}

function sealOf({ resources, streams, nonces, rows, past, marks, heads, resourceVersion, spansTo, adoptedAt, madeBefore, broken, gaps, head, areSpansCut }: Sums): Seal {
  return {
    resources: resources.toString('hex'),
    rows,
    ...(past === undefined ? {} : { past }),
    ...(marks === undefined ? {} : { marks: { rows: marks.rows.toString('hex'), streams: marks.streams.toString('hex'), entries: marks.entries } }),
    resourceVersion,
    streams: streams.toString('hex'),
    nonces: nonces.toString('hex'),
    heads,
    spansTo,
    adoptedAt,
    madeBefore,
    broken,
    ...(gaps === undefined ? {} : { gaps }),
    ...(head === undefined ? {} : { head }),
    ...(areSpansCut ? { areSpansCut } : {}),
  };
}

function macIn(stored: unknown): Buffer | null {
  return Buffer.isBuffer(stored) ? stored : null;
}

/** A MAC as it lies in the table may have been edited to another length: the sum is wrong then, and the verification tells. */
function difference(found: Buffer, sealed: Buffer | undefined): Buffer {
  const missed = Buffer.alloc(MAC_BYTES);
  if (!sealed) return missed;
  mix(missed, found);
  mix(missed, sealed);
  return missed;
}

export function mix(sum: Buffer, mac: Buffer): void {
  assert(sum.length === MAC_BYTES, 'a sum over MACs is as long as one');
  for (let at = 0; at < MAC_BYTES; at += 1) sum[at] = (sum[at] as number) ^ (mac[at] ?? 0);
}

/** As it lies in the table. */
type FoundRow = Pick<Required<ResourceRow>, 'version' | 'body' | 'past' | 'entry'> & { readonly mac: Buffer | null };

interface FoundStream {
  readonly mac: Buffer | null;
  readonly past: string;
}

/** As it is told of a row or a stream that is present all the same. */
export function wrongMark(past: string): string {
  return `was marked as past${past === '' ? '' : ` ('${past.slice(0, MARK_LENGTH_MAX)}')`}, and nobody has recorded that it is: it is present`;
}

function titleOf({ kind, site, name }: RowKey): string {
  return `${kind} ${name}${site === '' ? '' : ` of site ${site}`}`;
}

function prepareAll(database: Database.Database) {
  return {
    getMeta: database.prepare('SELECT value FROM meta WHERE key = ?').pluck(),
    setMeta: database.prepare('INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value'),
    resource: database.prepare('SELECT version, body, mac, past, past_entry AS entry FROM resources WHERE kind = ? AND site = ? AND name = ?'),
    pastOf: database.prepare('SELECT past FROM resources WHERE kind = ? AND site = ? AND name = ?').pluck(),
    allResources: database.prepare('SELECT rowid AS id, kind, site, name, version, body, mac, past, past_entry AS entry FROM resources'),
    highestVersion: database.prepare('SELECT COALESCE(MAX(version), 0) FROM resources WHERE version <= ?').pluck(),
    setMac: database.prepare('UPDATE resources SET mac = ? WHERE rowid = ?'),
    allFacts: database.prepare('SELECT stream, sequence, body FROM facts ORDER BY stream, sequence'),
    setLink: database.prepare('UPDATE streams SET mac = ? WHERE stream = ?'),
    streams: database.prepare("SELECT stream, mac FROM streams WHERE past = ''"),
    stream: database.prepare('SELECT mac, past FROM streams WHERE stream = ?'),
    pastStreams: database.prepare("SELECT stream, past FROM streams WHERE past <> ''"),
    factsOf: database.prepare('SELECT sequence, body FROM facts WHERE stream = ? ORDER BY sequence'),
    allNonces: database.prepare('SELECT newest, entries FROM nonce_groups'),
    heads: database.prepare('SELECT COUNT(*) FROM audit_heads').pluck(),
    spansTo: database.prepare('SELECT COALESCE(MAX(last), 0) FROM audit_spans').pluck(),
  };
}
