/**
 * The only writer of `state.db`: commits groups of transactions, keeps the audit chain and its heads, and forgets what
 * nobody may ask for any more. Everything here is synchronous and runs on the ledger thread.
 *
 * Invariants: a transaction is on disk whole or not at all; sequences on disk have no gaps of our making; after a refused
 * transaction nothing is committed until the store has loaded again, because what follows was built on it.
 */
import path from 'node:path';
import { type Clock, systemClock } from '../base/clock.js';
import { Stopwatch } from '../base/elapsed.js';
import type Database from '../base/sqlite.js';
import { ArchiveCut } from './archive-cut.js';
import type { ArchiveDraft } from './archive-format.js';
import { AuditIndex } from './audit-index.js';
import { GENESIS_HASH, hexOf, ShortMac, sealAudit, signHead } from './chain.js';
import { CheckpointWatch } from './checkpoint-watch.js';
import { countIn, isNextOf, lastRecords, lostFacts, lostInWords, streamCounts } from './counts.js';
import { FilePlaces } from './file-place.js';
import { acknowledgeGaps, type Finding, type Gap, type GapAcknowledgement, noteFindings, readGaps } from './gaps.js';
import { type ChainEnd, HeadFile, headFileOf, isHeadOfSealedRows, olderHead, readHeadFile, readStreamEnds } from './head-file.js';
import type { DeviceKeys } from './keys.js';
import { MARKER_KEY, parseMarker, readMarkerFile, writeMarkerFile } from './marker.js';
import { type Marked, PastMarks, type WrongMarks } from './past-marks.js';
import { MAC_BYTES, mix, RowSeals, wrongMark } from './row-seals.js';
import { makeIndexesAnew, openStateDatabase } from './schema.js';
import { markSealed, wasSealed } from './sealed-mark.js';
import { ofPastRun, type PastRun } from './protocol.js';
import { keyOf, type Ref, type RowFault } from '../store/resource.js';
import type { LoadedSlice, PastPlace, WireAudit, WireImage, WireTransaction } from './wire.js';

const SEGMENT_RECORDS = 1000; // records between two signed heads
const PAST_PER_SLICE = 500; // entries: some hundred kB
const PRUNE_ROWS = 500; // groups of nonces forgotten per idle moment
const NONCE_MARKS = 16; // in one window: how exactly the age of a group is known
const CHECKPOINT_WAL_BYTES = 16 * 1024 * 1024; // a busy ledger checkpoints itself
const COMMIT_WAL_BYTES = 6 * 4096; // pages that a commit touches beside those it fills
const ROW_BYTES = 320; // of an audit record or a resource beside its body
const STREAMS_TOLD = 64; // how many of those that were written last the head knows
const NOT_LOADED = 'the ledger has to be loaded before it commits';

type WireNonce = WireTransaction['nonces'][number];
type PastColumns = readonly [...PastPlace, run: unknown, bytes: number];

interface Tail {
  resourceVersion: number;
  auditSequence: number;
  auditHead: string;
  /** Of what is present. */
  readonly streams: Map<string, number>;
  /** Streams that leave with their run in this commit. */
  readonly left: Set<string>;
}

export class StateWriter {
  readonly #database: Database.Database;
  readonly #keys: DeviceKeys;
  readonly #mac: ShortMac;
  readonly #headFile: HeadFile;
  readonly #index: AuditIndex;
  readonly #cut: ArchiveCut;
  readonly #seals: RowSeals;
  readonly #marks: PastMarks;
  /** Rows whose mark this process has taken away, each until it is written: whoever has loaded them knows them. */
  readonly #unmarked = new Map<string, RowFault>();
  /** Entries that were handed out since the last load. */
  #entriesRead = new EntriesRead();
  readonly #dataDir: string;
  readonly #findings: Finding[] = [];
  readonly #firstStart: string;
  readonly #places: FilePlaces;
  /** How far the streams had come that were written last, the oldest first. */
  readonly #streamEnds = new Map<string, number>();
  /** Sequence that the copies of the marker name; -1 before they were written. */
  #markedSequence = -1;
  #gaps: readonly Gap[] = [];
  /** What this start found and no start before it. */
  readonly newGaps: readonly Gap[];
  readonly #sql: ReturnType<typeof prepareAll>;
  #tail: Tail;
  /** Why nothing may be committed now; null when commits are accepted. */
  #latched: string | null = NOT_LOADED;
  #signedSequence: number;
  #nonceWindowMs = 0;
  /** Which groups there were how long ago, the oldest first; begun anew with each start. */
  #nonceMarks: { readonly id: number; readonly age: Stopwatch }[] = [];
  /** About how much the WAL has taken since it was last copied. */
  #walBytes = 0;
  readonly #checkpoints: CheckpointWatch;

  /** `found`: what was found wrong before anything was opened (inspect.ts); without it the end of the trail is looked at here. */
  constructor(dataDir: string, keys: DeviceKeys, found?: readonly Finding[], clock: Pick<Clock, 'monoMs'> = systemClock) {
    this.#dataDir = dataDir;
    this.#checkpoints = new CheckpointWatch(clock);
    this.#keys = keys;
    this.#database = openStateDatabase(path.join(dataDir, 'state.db'));
    const gone = makeIndexesAnew(this.#database);
    this.#mac = new ShortMac(keys.auditHmac);
    const wasOnceSealed = wasSealed(dataDir) || isHeadOfSealedRows(headFileOf(dataDir), keys.auditHmac);
    this.#seals = new RowSeals(this.#database, keys.auditHmac, wasOnceSealed);
    for (const { name, fault } of gone) this.#seals.tell(`state.db had lost ${name}: ${fault === undefined ? 'made anew' : `it could not be made anew (${fault})`}`);
    markSealed(dataDir);
    this.#marks = new PastMarks(this.#database, this.#seals);
    this.#index = new AuditIndex(this.#database);
    this.#index.reload(this.#seals.spansTo);
    this.#cut = new ArchiveCut(this.#database, keys, this.#seals);
    this.#sql = prepareAll(this.#database);
    const headFile = headFileOf(dataDir);
    const early = found && this.#noted(found);
    this.#renumber();
    this.#adoptStreamEnds(headFile);
    this.#tail = this.#readTail();
    const marker = parseMarker(this.#sql.getMeta.get(MARKER_KEY));
    const fileMarker = readMarkerFile(dataDir);
    this.#firstStart = marker?.firstStart ?? fileMarker?.firstStart ?? new Date().toISOString();
    this.#adoptHead(readHeadFile(headFile, keys.auditHmac), [marker?.head, fileMarker?.head, this.#seals.head]);
    // noted before any copy of the head or the marker is written anew
    this.newGaps = early ?? this.#noted(this.#findings);
    this.#gaps = readGaps(this.#database);
    this.#signedSequence = Math.min(this.#sql.lastSigned.get() as number, this.#tail.auditSequence);
    this.#headFile = new HeadFile(headFile, this.#mac, keys.auditHmac, { deviceId: keys.deviceId, firstStart: this.#firstStart });
    this.#writeStreamEnds();
    this.#headFile.sync(); // what a loss that was accepted has forgotten is not missed by the next start
    this.mark();
    this.#places = new FilePlaces(['state.db', 'state.db-wal'].map((name) => path.join(dataDir, name)));
  }

  /** What was ever found wrong with the stored past. */
  get gaps(): readonly Gap[] {
    return this.#gaps;
  }

  /** @throws Error when the disk refuses it. */
  acknowledge(ids: readonly string[], by: GapAcknowledgement): void {
    this.#checkPlaces();
    this.#gaps = this.#sealingGaps(() => acknowledgeGaps(this.#database, ids, by));
  }

  #noted(findings: readonly Finding[]): readonly Gap[] {
    return findings.length === 0 ? [] : this.#sealingGaps(() => noteFindings(this.#database, findings, new Date().toISOString()));
  }

  /** The list and the seal that names it, or neither. */
  #sealingGaps<T>(write: () => T): T {
    try {
      this.#sql.begin.run();
      const written = write();
      this.#seals.sealGaps();
      this.#seals.write(this.#index.end);
      this.#sql.commit.run();
      this.#seals.committed();
      return written;
    } catch (fault) {
      this.#rollback();
      throw fault;
    }
  }

  /** Brings the copies of the marker, and what the seal knows of the head, up to the end of the trail: at least every 10 s, and at the end. */
  mark(): void {
    const { auditSequence: sequence, auditHead: hash } = this.#tail;
    if (sequence === this.#markedSequence) return;
    const marker = { deviceId: this.#keys.deviceId, firstStart: this.#firstStart, head: { sequence, hash }, heads: this.#sql.countHeads.get() as number };
    this.#syncHead();
    try {
      this.#sql.begin.run();
      this.#sql.setMeta.run(MARKER_KEY, JSON.stringify(marker));
      if (this.#headFile.synced) this.#seals.headReached(this.#headFile.synced);
      this.#seals.write(this.#index.end);
      this.#sql.commit.run();
      this.#seals.committed();
      writeMarkerFile(this.#dataDir, marker);
      this.#markedSequence = sequence;
    } catch {
      this.#rollback(); // a full disk: they stay behind the database, which is allowed; the next time writes them
    }
  }

  #syncHead(): void {
    try {
      this.#headFile.sync();
    } catch {
      // the seal goes on naming what was synced before; the sync of the next rest tells
    }
  }

  /** Why the WAL is not copied into the database and grows; null while it is. */
  get checkpointTrouble(): string | null {
    return this.#checkpoints.trouble;
  }

  /** The last one has failed. */
  get isCheckpointDue(): boolean {
    return this.#checkpoints.isDue;
  }

  get hasUnsignedRecords(): boolean {
    return this.#tail.auditSequence > this.#signedSequence;
  }

  load(nonceWindowMs: number): WireImage {
    let present = this.#present();
    if (!this.#marks.areRight(present.sum)) {
      this.#mendMarks(present.sum);
      present = this.#present();
    }
    if (this.#seals.entries === undefined) this.#sealMarks(present.sum);
    this.#entriesRead = new EntriesRead();
    this.#tail = { ...this.#readTail(), ...this.#chainEnd() };
    this.#index.reload(this.#seals.spansTo);
    this.#nonceWindowMs = Math.max(this.#nonceWindowMs, nonceWindowMs);
    const image: WireImage = {
      resources: present.columns,
      ...(this.#unmarked.size === 0 ? {} : { unmarked: [...this.#unmarked.values()] }),
      resourceVersion: this.#tail.resourceVersion,
      auditSequence: this.#tail.auditSequence,
      auditHead: this.#tail.auditHead,
      factSequences: [...this.#tail.streams],
      nonces: nonceWindowMs === 0 ? [] : this.#liveNonces(),
    };
    this.#latched = null;
    return image;
  }

  /**
   * The next entries of the past in their order; 'again' where the last of them show that marks are wrong: those are mended, and all that
   * was loaded is to be loaded anew.
   */
  loadPast(after: PastPlace): LoadedSlice | 'again' | undefined {
    // `raw` gives a row as an array of its columns, in the order of the statement; the types of the library know objects
    const next = this.#sql.pastEntries.raw().all(...after, PAST_PER_SLICE) as unknown as readonly PastColumns[];
    const [first] = next;
    if (!first) return this.#areEntriesRight() || !this.#mendMarks(this.#present().sum) ? undefined : 'again';
    const others = next.findIndex(([kind, site]) => kind !== first[0] || site !== first[1]);
    const entries = others === -1 ? next : next.slice(0, others);
    const slice = sliceOf(first, entries, this.#sql.pastTexts.get(...after, entries.length) as Buffer);
    this.#entriesRead.see(slice);
    return slice;
  }

  /** Whether those that were handed out are those that were recorded. */
  #areEntriesRight(): boolean {
    return this.#entriesRead.areAsMany(this.#seals.entries) && this.#entriesRead.ofOthers.every((entry) => this.#marks.isMember(entry));
  }

  /** Marks that nobody of us has set are taken away. @returns whether there were any: fewer are left each time. */
  #mendMarks(sum: Buffer, isLast = false): boolean {
    let wrong: WrongMarks;
    try {
      const found = this.#marks.look(sum);
      this.#sql.begin.run();
      wrong = this.#marks.takeAway(found);
      this.#sealMarks(this.#present().sum);
      this.#seals.write(this.#index.end);
      this.#sql.commit.run();
      this.#seals.committed();
      this.#marks.settled();
    } catch (fault) {
      this.#rollback(); // a full disk, or rows that cannot be looked at: the next load looks, a verification names them, and no start ends by them
      return !isLast && this.#indexedAnew(fault) && this.#mendMarks(this.#present().sum, true);
    }
    this.#tellMarks(wrong);
    return wrong.rows.length + wrong.streams.length > 0;
  }

  /** An index that does not know of a mark keeps it from being taken away. @returns whether the fault was one of an index, and they were made anew. */
  #indexedAnew(fault: unknown): boolean {
    if ((fault as { readonly code?: unknown }).code !== 'SQLITE_CORRUPT_INDEX') return false;
    try {
      this.#database.exec('REINDEX resources; REINDEX streams;');
    } catch {
      return false; // a full disk
    }
    this.#seals.tell('indexes of state.db were not those of their tables; they were made anew');
    return true;
  }

  #tellMarks({ rows }: WrongMarks): void {
    for (const { kind, site, name, past } of rows) this.#unmarked.set(keyOf({ kind, site, name }), { kind, site, name, fault: `the row ${wrongMark(past)}`, kept: true });
  }

  /** What is there is what later starts compare with. */
  #sealMarks(rows: Buffer): void {
    this.#seals.sealMarks({ rows, streams: this.#seals.presentStreams, entries: this.#marks.entries }, this.#marks.past);
  }

  /**
   * By the index that lists what is present; where it and the past are fewer than there were ever recorded, by the table: an index
   * is not compared with its table by any other check, and a unit that it has lost would be gone without a word.
   */
  #present(): Present {
    const listed = presentOf(this.#sql.presentResources, this.#seals);
    if (listed.count + this.#seals.pastRows(() => this.#sql.countPast.get() as number) >= this.#seals.rows) return listed;
    const found = presentOf(this.#sql.presentInTable, this.#seals);
    if (found.count > listed.count) this.#seals.tell(`an index of state.db had lost ${found.count - listed.count} of its rows; they were read from their table`);
    return found;
  }

  /**
   * Commits what `take` gives, and what it gives when asked again, until that is nothing. One answer per transaction, same
   * order: null when it is on disk, else why it never will be.
   */
  commit(take: () => readonly WireTransaction[]): readonly (string | null)[] {
    if (this.#latched !== null) return take().map(() => this.#latched);
    const tail: Tail = { ...this.#tail, streams: new Map(), left: new Set() };
    const answers: (string | null)[] = [];
    const nonces: WireNonce[] = [];
    const written: Ref[] = [];
    let refusal: string | null = null;
    let count = 0;
    try {
      this.#checkPlaces();
      this.#sql.begin.run();
      for (let taken = take(); taken.length > 0; taken = take()) {
        count += taken.length;
        for (const transaction of taken) {
          refusal ??= this.#objection(transaction, tail);
          if (refusal === null) this.#write(transaction, tail, nonces);
          if (refusal === null && this.#unmarked.size > 0) written.push(...rowsOf(transaction));
          answers.push(refusal);
        }
      }
      this.#writeNonces(nonces);
      this.#index.extend(tail.auditSequence);
      if (tail.resourceVersion !== this.#tail.resourceVersion) this.#sql.setMeta.run('resourceVersion', String(tail.resourceVersion));
      this.#signSegment(tail);
      this.#seals.write(this.#index.end);
      this.#sql.commit.run();
      this.#seals.committed();
    } catch (fault) {
      this.#rollback();
      this.#latched = `the disk refused a commit: ${(fault as Error).message}`;
      if (count === 0) count = take().length; // the transaction could not even begin
      return Array.from({ length: count }, () => this.#latched);
    }
    this.#latched = refusal;
    for (const ref of written) this.#unmarked.delete(keyOf(ref));
    this.#adopt(tail);
    return answers;
  }

  /** One durable write that changes nothing. */
  probe(): void {
    this.#checkPlaces();
    try {
      this.#sql.begin.run();
      this.#sql.setMeta.run('probe', String(Date.now()));
      this.#sql.commit.run();
    } catch (fault) {
      this.#rollback();
      throw fault;
    }
  }

  /** Work for a quiet moment: copy the WAL into the database, forget old nonces, sync the head file. */
  rest(): void {
    this.#pruneNonces();
    this.#checkpoint('PASSIVE');
    this.#headFile.sync();
  }

  /** Between groups under load: the WAL must not grow without bound. */
  restIfOverfull(): void {
    if (this.#walBytes < CHECKPOINT_WAL_BYTES) return;
    this.#checkpoint('PASSIVE');
  }

  /** @throws Error when the file does not fit, or the disk refuses the note. */
  noteArchive(draft: ArchiveDraft): void {
    this.#cut.note(draft);
  }

  /** Whether archived records wait to be taken out of the table. */
  get hasArchivedRecords(): boolean {
    return this.#cut.pending;
  }

  /** @throws Error when the disk refuses it; nothing is lost, and the next try does the same. */
  removeArchived(): void {
    this.#walBytes += this.#cut.slice();
    this.restIfOverfull();
  }

  /** Signs the end of the chain when records were written since the last signed head. */
  signEnd(): void {
    if (!this.hasUnsignedRecords) return;
    try {
      this.#sql.begin.run();
      this.#sign(this.#tail);
      this.#seals.write(this.#index.end);
      this.#sql.commit.run();
      this.#seals.committed();
      this.#signedSequence = this.#tail.auditSequence;
    } catch {
      this.#rollback(); // a full disk: the next quiet moment signs
    }
  }

  close(): void {
    this.signEnd();
    this.#markedSequence = -1; // a head may have been signed since
    this.mark();
    this.#checkpoint('TRUNCATE');
    this.#headFile.close();
    this.#database.close();
  }

  /** @throws Error when what is written now would be lost. */
  #checkPlaces(): void {
    const { fault } = this.#places;
    if (fault !== null) throw new Error(fault);
  }

  #objection({ puts, audits, facts }: WireTransaction, tail: Tail): string | null {
    let expected = tail.auditSequence;
    for (const { sequence } of audits) {
      expected += 1;
      if (sequence !== expected) return `audit record ${sequence} came where ${expected} was expected`;
    }
    let version = tail.resourceVersion;
    for (const put of puts) {
      if (put.version <= version) return `resource version ${put.version} came after ${version}`;
      version = put.version;
      if (this.#seals.isPast(put)) return this.#marks.believesRow(put) ? ofPastRun(`${put.kind} ${put.name}`) : ofWrongMark(`${put.kind} ${put.name}`);
    }
    if (facts.length === 0) return null;
    const last = new Map<string, number>();
    for (const fact of facts) {
      const next = (last.get(fact.stream) ?? this.#lastFact(fact.stream, tail)) + 1;
      const past = this.#pastOfStream(fact.stream, tail);
      if (past !== '') return past === undefined || this.#marks.believesStream(fact.stream, past) ? ofPastRun(fact.stream) : ofWrongMark(fact.stream);
      if (fact.sequence !== next) return `entry ${fact.sequence} of ${fact.stream} came where ${next} was expected`;
      last.set(fact.stream, next);
    }
    return null;
  }

  /** '' of one that is present; undefined of one that leaves with this commit. */
  #pastOfStream(stream: string, tail: Tail): string | undefined {
    if (tail.left.has(stream)) return undefined;
    if (tail.streams.has(stream) || this.#tail.streams.has(stream)) return '';
    return String(this.#sql.pastOfStream.get(stream) ?? ''); // asked once for each stream that begins
  }

  #write(transaction: WireTransaction, tail: Tail, nonces: WireNonce[]): void {
    for (const run of transaction.returns) this.#return(run, tail);
    for (const put of transaction.puts) {
      this.#sql.putResource.run(put.kind, put.site, put.name, put.version, put.body, this.#seals.put(put));
      tail.resourceVersion = put.version;
      this.#walBytes += ROW_BYTES + put.body.length;
    }
    for (const ref of transaction.removes) {
      this.#seals.remove(ref);
      this.#sql.removeResource.run(ref.kind, ref.site, ref.name);
    }
    for (const record of transaction.audits) this.#writeAudit(record, tail);
    for (const fact of transaction.facts) {
      this.#sql.putFact.run(fact.stream, fact.sequence, fact.body);
      this.#sql.setStream.run(fact.stream, fact.sequence, this.#seals.fact(fact.stream, fact.sequence, fact.body));
      tail.streams.set(fact.stream, fact.sequence);
      this.#walBytes += ROW_BYTES + fact.body.length;
    }
    for (const nonce of transaction.nonces) nonces.push(nonce);
    for (const past of transaction.pasts) this.#leave(past, tail);
  }

  /** Rows keep their places and get their mark; the database writes each anew with it. */
  #leave({ run, rows, streams }: PastRun, tail: Tail): void {
    for (const { kind, site, name, entry } of rows) {
      const mac = this.#seals.mark({ kind, site, name }, run, entry);
      if (mac) this.#sql.markResource.run(run, entry, mac, kind, site, name);
      this.#walBytes += ROW_BYTES + entry.length;
    }
    for (const stream of streams) {
      const mac = this.#seals.markStream(stream, run);
      if (!mac) continue;
      this.#sql.markStream.run(run, mac, stream);
      tail.left.add(stream);
      this.#walBytes += ROW_BYTES;
    }
  }

  #return(run: string, tail: Tail): void {
    for (const { kind, site, name } of this.#sql.rowsOfRun.all(run) as { kind: string; site: string; name: string }[]) {
      const mac = this.#seals.mark({ kind, site, name }, '', '');
      this.#sql.markResource.run('', '', mac, kind, site, name);
      this.#walBytes += ROW_BYTES;
    }
    for (const { stream, last } of this.#sql.streamsOfRun.all(run) as { stream: string; last: number }[]) {
      this.#sql.markStream.run('', this.#seals.markStream(stream, ''), stream);
      tail.left.delete(stream);
      tail.streams.set(stream, last);
      this.#walBytes += ROW_BYTES;
    }
  }

  #writeAudit(record: WireAudit, tail: Tail): void {
    const { body, hash, hashBytes, mac } = sealAudit(record, tail.auditHead, this.#mac);
    this.#sql.putAudit.run(
      record.sequence,
      record.at,
      record.site,
      record.action,
      record.category,
      record.result,
      record.kind,
      record.name,
      record.account,
      record.correlation,
      body,
      hashBytes,
      mac,
      this.#keys.auditKeyId,
    );
    tail.auditSequence = record.sequence;
    tail.auditHead = hash;
    this.#walBytes += ROW_BYTES + body.length;
  }

  /** The nonces of a group are one row: nobody asks for a single one. */
  #writeNonces(nonces: readonly WireNonce[]): void {
    if (nonces.length === 0) return;
    let newest = 0;
    let entries = '';
    for (const { hash, atMs } of nonces) {
      entries += entries === '' ? `${hash} ${atMs}` : `\n${hash} ${atMs}`;
      if (atMs > newest) newest = atMs;
    }
    this.#sql.putNonces.run(newest, entries);
    this.#seals.nonces(newest, entries);
  }

  #signSegment(tail: Tail): void {
    if (tail.auditSequence - this.#signedSequence < SEGMENT_RECORDS) return;
    this.#sign(tail);
  }

  #sign(tail: Tail): void {
    const head = signHead({ sequence: tail.auditSequence, hash: tail.auditHead, at: new Date().toISOString(), kid: this.#keys.kid }, this.#keys.privateKey);
    const known = this.#sql.headAt.get(head.sequence) !== undefined;
    this.#sql.putHead.run(head.sequence, head.hash, head.at, head.kid, head.signature);
    if (!known) this.#seals.heads(1);
  }

  #adopt(tail: Tail): void {
    const grown = tail.auditSequence > this.#tail.auditSequence;
    if (tail.auditSequence - this.#signedSequence >= SEGMENT_RECORDS) this.#signedSequence = tail.auditSequence;
    for (const [stream, last] of tail.streams) this.#tail.streams.set(stream, last);
    for (const stream of tail.left) this.#tail.streams.delete(stream);
    if (tail.streams.size > 0) this.#tellStreamEnds(tail.streams);
    this.#tail = { ...tail, streams: this.#tail.streams, left: new Set() };
    this.#walBytes += COMMIT_WAL_BYTES;
    if (grown) this.#writeHead();
  }

  #writeHead(): void {
    try {
      this.#headFile.write({ sequence: this.#tail.auditSequence, hash: this.#tail.auditHead });
    } catch {
      // the head stays behind the database, which is allowed; the next commit writes it again
    }
  }

  #tellStreamEnds(streams: ReadonlyMap<string, number>): void {
    for (const [stream, last] of streams) {
      this.#streamEnds.delete(stream);
      this.#streamEnds.set(stream, last);
    }
    for (const stream of this.#streamEnds.keys()) {
      if (this.#streamEnds.size <= STREAMS_TOLD) break;
      this.#streamEnds.delete(stream);
    }
    this.#writeStreamEnds();
  }

  #writeStreamEnds(): void {
    try {
      this.#headFile.writeStreamEnds([...this.#streamEnds]);
    } catch {
      // as of the head: the next commit of facts writes them again
    }
  }

  /**
   * Compares the streams with those that the head file names. Where facts are missing at the end, the stream goes on after them: their
   * numbers are not given again, so that the hole stays visible to every later verification. A database that is new begins anew.
   */
  #adoptStreamEnds(headFile: string): void {
    if (this.#sql.hasPast.get() === 0) return;
    const ends = readStreamEnds(headFile, this.#keys.auditHmac);
    for (const [stream, last] of ends) this.#streamEnds.set(stream, last);
    const lost = lostFacts(this.#database, ends);
    if (lost.length === 0) return;
    for (const { stream, last } of lost) this.#sql.setStreamEnd.run(stream, last);
    const text = `facts that had been written are missing: ${lost.map(lostInWords).join(', ')}`;
    this.#findings.push({ kind: 'loss', text, first: 0, last: 0, covers: [] });
  }

  #lastFact(stream: string, tail: Tail): number {
    return tail.streams.get(stream) ?? this.#tail.streams.get(stream) ?? 0;
  }

  #rollback(): void {
    if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
    this.#seals.rolledBack();
    this.#index.reload(this.#seals.spansTo); // no later seal names a span that is not there
  }

  #readTail(): Tail {
    const { last } = lastRecords(this.#database);
    return {
      resourceVersion: Math.max(countIn(this.#sql.getMeta.get('resourceVersion')) ?? 0, this.#seals.resourceVersion),
      auditSequence: last?.sequence ?? 0,
      auditHead: hexOf(last?.hash) || GENESIS_HASH,
      streams: new Map(streamCounts(this.#database).map(({ stream, counted }) => [stream, counted])),
      left: new Set(),
    };
  }

  /** A last record whose number was damaged gets its own again; that it was is among what this start has noted. */
  #renumber(): void {
    const records = lastRecords(this.#database);
    if (records.misnumbered && isNextOf(records, this.#sql.archivedTo.get() as number)) this.#sql.renumber.run(records.misnumbered.own, records.misnumbered.sequence);
  }

  /** The end of the chain never moves back below what was once on disk. */
  #chainEnd(): Partial<Tail> {
    const onDisk = this.#readTail();
    if (onDisk.auditSequence >= this.#tail.auditSequence) return {};
    return { auditSequence: this.#tail.auditSequence, auditHead: this.#tail.auditHead };
  }

  /**
   * Compares the database with the head file. When records are missing at the end, the chain goes on after the head, so
   * that the hole stays visible to every later verification.
   */
  #adoptHead(headOfFile: ChainEnd | null, copies: readonly (ChainEnd | undefined)[]): void {
    const at = this.#tail.auditSequence;
    const tell = (kind: Finding['kind'], text: string, first: number, last: number, covers: Finding['covers']): void =>
      void this.#findings.push({ kind, text, first, last, covers });
    if (!headOfFile && at > 0) tell('head', 'the file audit-head is missing or not genuine: the end of the audit trail cannot be checked', at, at, ['signature']);
    const reached = this.#seals.head;
    if (headOfFile && reached && headOfFile.sequence < reached.sequence) tell('head', olderHead(headOfFile, reached), reached.sequence, reached.sequence, ['signature']);
    let head = headOfFile;
    for (const copy of copies) if (copy && copy.sequence > (head?.sequence ?? 0)) head = copy;
    if (!head) return;
    if (head.sequence > at) {
      const text = `the audit trail ends at ${at} but had reached ${head.sequence}: ${head.sequence - at} records were removed, or an older copy was put in place`;
      tell('loss', text, at + 1, head.sequence, ['missing']);
      this.#tail.auditSequence = head.sequence;
      this.#tail.auditHead = head.hash;
      return;
    }
    if (head.sequence === 0) return;
    const hash = this.#sql.auditHash.get(head.sequence);
    if (hexOf(hash) !== head.hash) tell('head', `audit record ${head.sequence} is not the one the head file names`, head.sequence, head.sequence, ['signature']);
  }

  /** All that are here: which of them are older than the window no clock that may have been set can say (D-C-07). */
  #liveNonces(): WireImage['nonces'] {
    return (this.#sql.nonces.all() as string[]).flatMap((entries) => entries.split('\n').map(readNonce));
  }

  #pruneNonces(): void {
    if (this.#nonceWindowMs === 0) return;
    const upTo = this.#spentUpTo();
    if (upTo === undefined) return;
    try {
      this.#sql.begin.run();
      const forgotten = this.#sql.pruneNonces.all(PRUNE_ROWS, upTo) as { newest: number; entries: string }[];
      for (const group of forgotten) this.#seals.nonces(group.newest, group.entries);
      this.#seals.write(this.#index.end);
      this.#sql.commit.run();
      this.#seals.committed();
      if (this.#sql.lastNonce.get() === null)
        this.#nonceMarks = []; // an empty table counts from 1 again
      else if (forgotten.length < PRUNE_ROWS) this.#nonceMarks = this.#nonceMarks.filter(({ id }) => id > upTo);
    } catch {
      this.#rollback(); // a full disk: nothing is lost by keeping them
    }
  }

  /** The last group that has been here for a whole window of elapsed time: their own instants say nothing once a clock was set (D-C-07). */
  #spentUpTo(): number | undefined {
    const last = this.#sql.lastNonce.get() as number | null;
    if (last === null) return undefined;
    const mark = this.#nonceMarks.at(-1);
    if (!mark || (mark.id < last && mark.age.elapsedMs >= this.#nonceWindowMs / NONCE_MARKS)) this.#nonceMarks.push({ id: last, age: new Stopwatch(systemClock) });
    return this.#nonceMarks.findLast(({ age }) => age.elapsedMs >= this.#nonceWindowMs)?.id;
  }

  #checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): void {
    try {
      const [{ busy, log, checkpointed }] = this.#database.pragma(`wal_checkpoint(${mode})`) as [{ busy: number; log: number; checkpointed: number }];
      if (busy === 0 && checkpointed >= log) this.#checkpoints.whole();
      else this.#checkpoints.held();
    } catch (fault) {
      this.#checkpoints.refused((fault as Error).message); // a full disk: the WAL keeps what it has
    }
    this.#walBytes = 0; // one that failed is tried again at the next rest, not with every group
  }
}

/** Those that are written, removed, or become past. */
function rowsOf({ puts, removes, pasts }: WireTransaction): readonly Ref[] {
  return [...puts, ...removes, ...pasts.flatMap(({ rows }) => rows)];
}

/** Why a commit was refused: it stays refused until the mark is gone, which the load does that follows. */
function ofWrongMark(title: string): string {
  return `${title} is marked as past, which nobody has recorded`;
}

interface Present {
  /** Kind, site, name and body of one row after the other. */
  readonly columns: readonly unknown[];
  readonly count: number;
  /** XOR of what stands for each. */
  readonly sum: Buffer;
}

function presentOf(statement: Database.Statement, seals: RowSeals): Present {
  const columns: unknown[] = [];
  const sum = Buffer.alloc(MAC_BYTES);
  // as of the entries of the past: `raw` gives columns
  const rows = statement.raw().all() as unknown as readonly [kind: string, site: string, name: string, body: string, version: number, entry: string][];
  for (const [kind, site, name, body, version, entry] of rows) {
    columns.push(kind, site, name, body);
    mix(sum, seals.macOf({ kind, site, name, version, body, entry })); // not the one that is stored: somebody may have made it up, so that a row that is gone is not missed
  }
  return { columns, count: rows.length, sum };
}

/** What a load has read of the entries of the past. */
class EntriesRead {
  #count = 0;
  /** Those that are not of the run that they name. */
  readonly ofOthers: Marked[] = [];

  see({ kind, site, names, runs }: LoadedSlice): void {
    this.#count += names.length;
    for (const [n, past] of runs.entries()) if (past !== '') this.ofOthers.push({ kind, site, name: names[n] as string, past });
  }

  areAsMany(expected: number | undefined): boolean {
    return this.#count === expected;
  }
}

/** As it travels: what the structured clone costs is how many values there are, not the bytes. Of the texts none is made here. */
function sliceOf([kind, site]: PastColumns, entries: readonly PastColumns[], texts: Buffer): LoadedSlice {
  const place = `${String(kind)}/${String(site)}/`;
  const [, , last] = entries.at(-1) ?? [];
  let end = 0;
  return {
    kind: String(kind),
    site: String(site),
    names: entries.map(([, , name]) => String(name)),
    runs: entries.map(([, , name, run]) => (run === place + String(name) ? '' : String(run))),
    texts,
    ends: entries.map(([, , , , bytes]) => (end += bytes)),
    end: [kind, site, last],
  };
}

/** `<hash> <wall ms>`. */
function readNonce(entry: string): WireNonce {
  const at = entry.indexOf(' ');
  return { hash: entry.slice(0, at), atMs: Number(entry.slice(at + 1)) };
}

function prepareAll(database: Database.Database) {
  return {
    begin: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
    getMeta: database.prepare('SELECT value FROM meta WHERE key = ?').pluck(),
    setMeta: database.prepare('INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value'),
    presentResources: database.prepare("SELECT kind, site, name, body, version, past_entry FROM resources INDEXED BY resources_present WHERE past = ''"),
    presentInTable: database.prepare("SELECT kind, site, name, body, version, past_entry FROM resources NOT INDEXED WHERE past = ''"),
    countPast: database.prepare("SELECT COUNT(*) FROM resources INDEXED BY resources_past WHERE past <> ''").pluck(),
    pastEntries: database.prepare(
      "SELECT kind, site, name, past, octet_length(past_entry) FROM resources INDEXED BY resources_past_entry WHERE past_entry <> '' AND (kind, site, name) > (?, ?, ?) ORDER BY kind, site, name LIMIT ?",
    ),
    // one after the other: an aggregate goes through its rows as they come
    pastTexts: database
      .prepare(
        "SELECT CAST(group_concat(past_entry, '') AS BLOB) FROM (SELECT past_entry FROM resources INDEXED BY resources_past_entry WHERE past_entry <> '' AND (kind, site, name) > (?, ?, ?) ORDER BY kind, site, name LIMIT ?)",
      )
      .pluck(),
    pastOfStream: database.prepare('SELECT past FROM streams WHERE stream = ?').pluck(),
    markResource: database.prepare('UPDATE resources SET past = ?, past_entry = ?, mac = ? WHERE kind = ? AND site = ? AND name = ?'),
    markStream: database.prepare('UPDATE streams SET past = ?, mac = ? WHERE stream = ?'),
    rowsOfRun: database.prepare("SELECT kind, site, name FROM resources WHERE past = ? AND past <> ''"),
    streamsOfRun: database.prepare("SELECT stream, last FROM streams WHERE past = ? AND past <> ''"),
    putResource: database.prepare(
      'INSERT INTO resources (kind, site, name, version, body, mac) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kind, site, name) DO UPDATE SET version = excluded.version, body = excluded.body, mac = excluded.mac',
    ),
    removeResource: database.prepare('DELETE FROM resources WHERE kind = ? AND site = ? AND name = ?'),
    renumber: database.prepare('UPDATE audit SET sequence = ? WHERE sequence = ?'),
    archivedTo: database.prepare('SELECT COALESCE(MAX(last), 0) FROM audit_archives').pluck(),
    auditHash: database.prepare('SELECT hash FROM audit WHERE sequence = ?').pluck(),
    putAudit: database.prepare(
      'INSERT INTO audit (sequence, at, site, action, category, result, kind, name, account, correlation, body, hash, mac, key_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    countHeads: database.prepare('SELECT COUNT(*) FROM audit_heads').pluck(),
    lastSigned: database.prepare('SELECT COALESCE(MAX(sequence), 0) FROM audit_heads').pluck(),
    headAt: database.prepare('SELECT 1 FROM audit_heads WHERE sequence = ?').pluck(),
    putHead: database.prepare('INSERT OR REPLACE INTO audit_heads (sequence, hash, at, kid, signature) VALUES (?, ?, ?, ?, ?)'),
    hasPast: database.prepare('SELECT EXISTS (SELECT 1 FROM audit) OR EXISTS (SELECT 1 FROM streams)').pluck(),
    setStreamEnd: database.prepare('INSERT INTO streams (stream, last) VALUES (?, ?) ON CONFLICT (stream) DO UPDATE SET last = excluded.last'),
    setStream: database.prepare('INSERT INTO streams (stream, last, mac) VALUES (?, ?, ?) ON CONFLICT (stream) DO UPDATE SET last = excluded.last, mac = excluded.mac'),
    putFact: database.prepare('INSERT INTO facts (stream, sequence, body) VALUES (?, ?, ?)'),
    putNonces: database.prepare('INSERT INTO nonce_groups (newest, entries) VALUES (?, ?)'),
    nonces: database.prepare('SELECT entries FROM nonce_groups ORDER BY id').pluck(),
    lastNonce: database.prepare('SELECT MAX(id) FROM nonce_groups').pluck(),
    pruneNonces: database.prepare('DELETE FROM nonce_groups WHERE id IN (SELECT id FROM nonce_groups ORDER BY id LIMIT ?) AND id <= ? RETURNING newest, entries'),
  };
}
