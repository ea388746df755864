/**
 * The resource store: an indexed map in memory, loaded from the ledger at start. A change is applied, given the next
 * `resourceVersion`, queued to the ledger together with its audit record in one transaction, and answered when that
 * transaction is on disk. When a commit fails, it and what followed it are taken back at once, the store reloads from disk, the
 * waiting callers are refused with `storage_unavailable`, and mutations stay refused until a probe commit succeeds; control goes on.
 *
 * Invariant: what a caller was answered is on disk; what is in memory is on disk or on its way in the order of writing.
 */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { assert } from '../base/assert.js';
import type { Clock } from '../base/clock.js';
import { timestamp } from '../base/clock.js';
import { contain } from '../base/guarded.js';
import { conflict, Refusal } from '../base/refusal.js';
import { Terms } from '../base/term.js';
import type { WallMs } from '../base/times.js';
import { type Fact, type Ledger, type LedgerTransaction, ofPastRun, type PastRun } from '../ledger/protocol.js';
import { type AuditDraft, auditName, auditOf, type UnchainedAudit } from './audit-record.js';
import type { Applied, Change, Nonce, Past, Returned, StoreEvent } from './change.js';
import { type ClockWitness, momentOf } from './clock-witness.js';
import { changeOf, type Keeping, KeptChanges, type LateChange } from './kept-changes.js';
import type { Kind, Put, StoreReader } from './kind.js';
import { LentRows, type LentWatcher } from './lent-rows.js';
import { type PastEntry, PastIndex, type PastList, type PastSaying } from './past-index.js';
import { PresentRows } from './present-rows.js';
import { title, unfitRow, workable } from './read-row.js';
import { keyOf, type Metadata, type Ref, type Resource, refOf, type RowFault } from './resource.js';
import { type Forgiven, RowFaults } from './row-faults.js';

const PROBE_INTERVAL_MS = 2000;
const NOTHING: readonly never[] = [];

/** What is written, and what comes of it, are words for whoever writes. */
export type { Applied, Change, Past, Returned, StoreEvent } from './change.js';
export type { Keeping } from './kept-changes.js';
export type { Put } from './kind.js';

/** `durable` settles with the change: whoever keeps what he hears elsewhere keeps it when it is on disk. */
type Watcher<Spec = unknown, Status = unknown> = (event: StoreEvent<Spec, Status>, durable: Promise<void>) => void;

/** What memory has of a change that is on its way, beside what its transaction says, for the case that it is refused. */
interface Unwritten {
  readonly events: readonly StoreEvent[];
  readonly forgiven: readonly Forgiven[];
  /** Streams that left with their run. */
  readonly left: Returned['streams'];
}

const NOTHING_TO_UNDO: Unwritten = { events: NOTHING, forgiven: NOTHING, left: NOTHING };

export class Store implements StoreReader {
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  readonly #witness: (() => ClockWitness) | undefined;
  /** Judges what a status keeps with an end. */
  readonly terms: Terms;
  readonly #present = new PresentRows();
  readonly #watchers = new Map<string, Watcher[]>();
  readonly #auditWatchers: ((record: UnchainedAudit) => void)[] = [];
  readonly #reloadWatchers: (() => void)[] = [];
  #resourceVersion = 0;
  #auditSequence = 0;
  /** The last time that was written, and its text. */
  #stampedMs = Number.NaN;
  #stamp = '';
  #factSequences = new Map<string, number>();
  /** Of what has ended. */
  #past = new PastIndex();
  readonly #lent = new LentRows();
  readonly #kinds: ReadonlyMap<string, Kind>;
  readonly #faults = new RowFaults();
  /** Rises with every reload; a commit of an older epoch that fails is only reported, not acted on again. */
  #epoch = 0;
  #lastCommit: Promise<void> = Promise.resolve();
  /** In the order of writing; each until it is on disk. */
  readonly #unwritten = new Map<LedgerTransaction, Unwritten>();
  /** Runs, `kind/site/name`, that become past or come back, each until that is on disk. */
  readonly #moving = new Map<string, Promise<void>>();
  #refusing = false;
  /** Why the ledger refused the commit that failed last. */
  #reason = '';
  #isAsOnDisk = true;
  /** Nonces of requests that were admitted in this turn and have not travelled to the ledger yet. */
  #admitted: Nonce[] = [];
  #reloaded: Promise<void> = Promise.resolve();
  readonly #kept = new KeptChanges();
  readonly #judges: ((change: Change) => void)[] = [];

  /** `witness` gives `details.clock` of audit records; without it records carry none. Rows of `kinds` are checked when they are read. */
  constructor(ledger: Ledger, clock: Clock, witness?: () => ClockWitness, kinds: readonly Kind[] = []) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#witness = witness;
    this.terms = new Terms(clock, witness ? momentOf(clock, witness) : { wallMs: clock.wallMs(), bootID: '', bootMs: 0 }, witness?.().synchronised ?? false);
    this.#kinds = new Map(kinds.map((kind) => [kind.kind, kind]));
  }

  /** Every kind there is a row of, lowest domain first. */
  get kinds(): Iterable<Kind> {
    return this.#kinds.values();
  }

  kindNamed(kind: string): Kind | undefined {
    return this.#kinds.get(kind);
  }

  /** Loads everything; returns the nonces of the window for the anti-replay barrier. */
  async open(nonceWindowMs: number): Promise<readonly { readonly hash: string; readonly atMs: WallMs }[]> {
    const image = await this.#ledger.load(nonceWindowMs, new PastIndex(this.kinds));
    this.#present.clear();
    this.#faults.clear();
    for (const fault of image.unreadable ?? NOTHING) this.#faults.add(fault);
    for (const resource of image.resources) this.#take(resource);
    for (const fault of image.unmarked ?? NOTHING) if (this.isPresent(fault) || this.isQuarantined(fault)) this.#faults.addMark(fault);
    this.#past = (image.past ?? new PastIndex(this.kinds)).after(this.#past);
    this.#resourceVersion = image.resourceVersion;
    this.#auditSequence = image.auditSequence;
    this.#factSequences = new Map(image.factSequences);
    this.#isAsOnDisk = true;
    return image.nonces;
  }

  /** Rows that were read and do not fit; each until it is written again or removed. */
  get faults(): readonly RowFault[] {
    return this.#faults.list();
  }

  /** A resource that is on disk and not in memory, because its row cannot be used. */
  isQuarantined(ref: Ref): boolean {
    return this.#faults.isQuarantined(ref);
  }

  /** Why a resource is not worked with as it was read: part of it stands as its kind begins, until it is written again. */
  replacedBecause(ref: Ref): string | undefined {
    return this.#faults.replacedBecause(ref);
  }

  /** False while the ledger refuses commits. */
  get accepting(): boolean {
    return !this.#refusing;
  }

  /** Why the ledger refuses commits, in words; '' while it accepts them. */
  get refusedBecause(): string {
    return this.#refusing ? this.#reason : '';
  }

  /**
   * What is in memory is on disk or on its way there. False after a commit that failed, until the disk could be read again;
   * with it and without `accepting` nothing is on its way: what is in memory is on disk.
   */
  get isAsOnDisk(): boolean {
    return this.#isAsOnDisk;
  }

  get auditSequence(): number {
    return this.#auditSequence;
  }

  /**
   * Settles when everything written so far is on disk, for whoever must not tell of a change before it is recorded
   * (D-AUDIT-01); rejects when the last change never will be.
   */
  get recorded(): Promise<void> {
    this.#sendAdmitted();
    return this.#lastCommit;
  }

  get resourceVersion(): number {
    return this.#resourceVersion;
  }

  get<Spec, Status>(kind: Kind<Spec, Status>, site: string, name: string): Resource<Spec, Status> | undefined {
    return (this.#present.get(kind.kind, site, name) ?? this.#lent.get(kind.kind, site, name)) as Resource<Spec, Status> | undefined;
  }

  /** Whether it is worked with: what is lent is not. */
  isPresent(ref: Ref): boolean {
    return this.#present.has(ref);
  }

  list<Spec, Status>(kind: Kind<Spec, Status>, site?: string): readonly Resource<Spec, Status>[] {
    return this.#present.list(kind.kind, site) as readonly Resource<Spec, Status>[];
  }

  /** What is kept of one resource whose run is past; undefined for what is present, never was, or whose kind keeps nothing. */
  pastEntry<Entry>(kind: { readonly kind: string }, site: string, name: string): PastEntry<Entry> | undefined {
    return this.#past.get<Entry>(kind.kind, site, name);
  }

  /** Sites that have past resources of a kind that keeps entries, by name. */
  pastSites(kind: { readonly kind: string }): readonly string[] {
    return this.#past.sitesOf(kind.kind);
  }

  /** What is kept of the past of a kind, sorted by name; all sites when `site` is undefined. */
  pastIndex<Entry>(kind: { readonly kind: string }, site?: string, saying?: PastSaying<Entry>): readonly PastEntry<Entry>[] {
    return this.#past.list(kind.kind, site, saying) as readonly PastEntry<Entry>[];
  }

  /** What is kept of the past of a kind and site, in an order of `Kind.pastOrders` or, of no order, all by name: of this moment, and nothing is read before it is asked for. */
  pastOrder<Entry>(kind: { readonly kind: string }, site: string, order?: string): PastList<Entry> {
    return this.#past.ordered(kind.kind, site, order) as PastList<Entry>;
  }

  /** How many past members of a kind the runs have that another kind names. */
  pastMembers(run: { readonly kind: string }, site: string, kind: string): number {
    return this.#past.membersOf(run.kind, site, kind);
  }

  /** Past runs, `kind/site/name`, of which a start could not read what is kept in memory. */
  get pastUnreadable(): readonly string[] {
    return this.#past.unreadable;
  }

  /** How many of a kind keep an entry. */
  pastCount(kind: { readonly kind: string }, site?: string): number {
    return this.#past.count(kind.kind, site);
  }

  /**
   * What was read of a run is present again, as it was: nothing of it gets a new version. Done by PastRows, which reads it.
   * @throws Refusal `storage_unavailable` while the ledger refuses commits.
   */
  takeBack({ run, rows, streams, faults = NOTHING }: Returned): Promise<void> {
    if (this.#refusing) throw storageUnavailable(this.#reason);
    if (this.isPresent(run)) return this.#lastCommit; // somebody else was faster
    const events: StoreEvent[] = [];
    for (const resource of rows) {
      this.#past.delete(refOf(resource));
      const taken = this.#take(resource);
      if (taken) events.push({ type: 'put', resource: taken, before: undefined, configuration: true, past: true });
    }
    for (const fault of faults) {
      this.#past.delete(fault);
      this.#faults.add(fault);
    }
    for (const [stream, last] of streams) this.#factSequences.set(stream, last);
    const durable = this.#commit({ puts: [], removes: [], audits: [], facts: [], nonces: this.#withAdmitted(), returns: [keyOf(run)] });
    this.#move(keyOf(run), durable);
    for (const event of events) this.#tell(event, durable);
    return durable;
  }

  #move(run: string, durable: Promise<void>): void {
    const moved: Promise<void> = durable
      .catch(() => undefined) // and is where it was
      .then(() => {
        if (this.#moving.get(run) === moved) this.#moving.delete(run);
      });
    this.#moving.set(run, moved);
  }

  /**
   * Settles when what is in memory of these runs, present or past, is so on disk: whoever reads them waits for nothing else. Of all
   * runs without a name.
   */
  async settled(runs: Iterable<string> = this.#moving.keys()): Promise<void> {
    await Promise.all([...runs].flatMap((run) => this.#moving.get(run) ?? []));
  }

  /**
   * What was read of past runs is found by name until it is taken away again: nothing is written, and no watcher of changes hears of
   * it. Done by PastRows, which reads it.
   */
  lend(rows: readonly Resource[]): void {
    this.#lent.lend(rows);
  }

  takeAway(rows: readonly Resource[]): void {
    this.#lent.takeAway(rows, (ref) => this.#present.has(ref));
  }

  /** What is lent of a kind, for an index that is made anew. */
  lentOf(kind: { readonly kind: string }): readonly Resource[] {
    return this.#lent.of(kind.kind);
  }

  /** For an index by which what was found is read: a past run is read by it too while it is lent. */
  watchLent(kind: { readonly kind: string }, watcher: LentWatcher): void {
    this.#lent.watch(kind.kind, watcher);
  }

  /** Called synchronously after each change of the kind has been applied in memory; what it throws is contained (guarded.ts). */
  watch<Spec, Status>(kind: Kind<Spec, Status>, watcher: Watcher<Spec, Status>): void;
  watch(kind: { readonly kind: string }, watcher: Watcher): void;
  watch(kind: { readonly kind: string }, watcher: Watcher): void {
    const watchers = this.#watchers.get(kind.kind) ?? [];
    watchers.push(watcher);
    this.#watchers.set(kind.kind, watchers);
  }

  watchAudit(watcher: (record: UnchainedAudit) => void): void {
    this.#auditWatchers.push(watcher);
  }

  /** After a failed commit everything in memory may have moved back: reconcilers look at all their keys again. */
  watchReload(watcher: () => void): void {
    this.#reloadWatchers.push(watcher);
  }

  /** Number of the last fact of a stream; 0 when it has none. */
  lastFact(stream: string): number {
    return this.#factSequences.get(stream) ?? 0;
  }

  /** Name the next audit record will get; used to reference it from a resource of the same change. */
  nextAuditName(offset = 0): string {
    return auditName(this.#auditSequence + 1 + offset);
  }

  /** What no write may do, whoever writes: `judge` throws a Refusal. It is asked with every change, and so has to see at once what does not concern it. */
  judgeBy(judge: (change: Change) => void): void {
    this.#judges.push(judge);
  }

  /**
   * What `apply` would refuse of a change, for whoever asks without writing.
   * @throws Refusal of the first judge.
   */
  judge(change: Change): void {
    for (const judge of this.#judges) judge(change);
  }

  /**
   * Applies the whole change or, when a part of it throws, nothing of it. Puts come before removes.
   *
   * @throws Refusal `storage_unavailable` while the ledger refuses commits, and that of a judge.
   */
  apply(change: Change): Applied {
    if (this.#refusing) throw storageUnavailable(this.#reason);
    this.judge(change);
    const at = this.#now();
    const resourceVersion = this.#resourceVersion;
    const auditSequence = this.#auditSequence;
    const events: StoreEvent[] = [];
    let audits: UnchainedAudit[];
    let facts: readonly Fact[];
    let pasts: readonly PastRun[];
    try {
      for (const put of change.puts ?? []) events.push(this.#put(put, at));
      for (const ref of change.removes ?? []) events.push(...this.#remove(ref));
      for (const past of change.pasts ?? NOTHING) for (const member of past.members) events.push(this.#leave(member));
      audits = (change.audits ?? []).map((draft) => this.#number(draft, at));
      pasts = (change.pasts ?? NOTHING).map((past) => this.#pastOf(past, events));
      facts = this.#facts(change.facts ?? NOTHING); // last: its numbers are not given back
    } catch (fault) {
      // numbers that were spent half-way would make the ledger refuse whatever came next
      this.#resourceVersion = resourceVersion;
      this.#auditSequence = auditSequence;
      this.#placeBack(events);
      throw fault;
    }
    const puts = events.length === 0 ? NOTHING : events.flatMap((event) => (event.type === 'put' ? [event.resource] : []));
    const removes = events.length === 0 ? [] : events.flatMap((event) => (event.type === 'remove' && !event.past ? [refOf(event.resource)] : []));
    if (!this.#faults.isEmpty) removes.push(...(change.removes ?? NOTHING).filter((ref) => this.isQuarantined(ref))); // it is only on disk, and is removed there
    const forgiven = this.#faults.isEmpty ? NOTHING : this.#forgive(change, pasts);
    const left = pasts.length === 0 ? NOTHING : pasts.flatMap((past) => this.#forgetRun(past));
    const transaction = {
      puts: this.#faults.asStored(puts),
      removes,
      audits,
      facts,
      nonces: this.#withAdmitted(change.nonces),
      ...(pasts.length === 0 ? {} : { pasts }),
      ahead: change.ahead,
    };
    const durable = this.#commit(transaction, { events, forgiven, left });
    for (const { run } of pasts) this.#move(run, durable);
    for (const event of events) this.#tell(event, durable);
    for (const record of audits) this.#tellAudit(record);
    return { resources: puts, auditNames: audits.map(nameOf), factSequences: facts.length === 0 ? NOTHING : facts.map((fact) => fact.sequence), durable };
  }

  /** The change is on its way to the disk: a watcher that throws is no reason to refuse it, nor to keep it from the next one. */
  #tell(event: StoreEvent, durable: Promise<void>): void {
    for (const watcher of this.#watchers.get(event.resource.kind) ?? NOTHING) {
      try {
        watcher(event, durable);
      } catch (fault) {
        contain(`watcher of ${event.resource.kind}`, fault);
      }
    }
  }

  #tellAudit(record: UnchainedAudit): void {
    for (const watcher of this.#auditWatchers) {
      try {
        watcher(record);
      } catch (fault) {
        contain('watcher of the audit trail', fault);
      }
    }
  }

  #tellReload(): void {
    for (const watcher of this.#reloadWatchers) {
      try {
        watcher();
      } catch (fault) {
        contain('watcher of a reload of the store', fault);
      }
    }
  }

  /**
   * Remembers an admitted nonce. It travels with the next change of this turn, which for most requests is their own, else
   * by itself at the end of the turn: one transaction less per request, and still nothing committed after the admission
   * can be on disk before the nonce is (D-NONCE-01).
   *
   * @throws Refusal `storage_unavailable` while the ledger refuses commits, unless the request is one that may be `kept`.
   */
  admit(nonce: Nonce, kept = false): void {
    if (this.#refusing) {
      if (!kept) throw storageUnavailable(this.#reason);
      this.#kept.keepNonces([nonce]);
      return;
    }
    if (this.#admitted.length === 0) setImmediate(() => this.#sendAdmitted());
    this.#admitted.push(nonce);
  }

  /**
   * For what must go on while nothing can be written: people sign in so that they can watch, and bring the plant to rest.
   * Then the change is kept in memory and written, its records saying when it happened, as soon as the ledger accepts commits
   * again; until then it is not in the store.
   *
   * @returns whether it is on disk.
   * @throws Refusal `storage_unavailable` when more is kept than there is room for.
   */
  async writeOrKeep(change: LateChange, keeping: Keeping): Promise<boolean> {
    const happenedAt = this.#now();
    if (!this.#refusing) {
      try {
        await this.apply(changeOf(change)).durable;
        return true;
      } catch (fault) {
        if (!(fault instanceof Refusal) || fault.kind !== 'unavailable') throw fault;
      }
    }
    if (!this.#kept.keep(change, keeping, happenedAt)) throw storageUnavailable(this.#reason);
    return false;
  }

  /** Applies and waits until the change is on disk. */
  async write(change: Change): Promise<Applied> {
    const applied = this.apply(change);
    await applied.durable;
    return applied;
  }

  #put(put: Put, at: string): StoreEvent {
    const before = this.#present.get(put.kind.kind, put.site, put.name);
    const ref = { kind: put.kind.kind, site: put.site, name: put.name };
    if (!before && this.#isPast(ref)) throw runEnded(ref);
    const spec = put.spec === undefined ? before?.spec : put.spec;
    const labels = put.labels ?? before?.metadata.labels ?? {};
    const annotations = put.annotations ?? before?.metadata.annotations ?? {};
    const specChanged = !before || (put.spec !== undefined && !isDeepStrictEqual(spec, before.spec));
    const configuration = specChanged || !isDeepStrictEqual(labels, before.metadata.labels) || !isDeepStrictEqual(annotations, before.metadata.annotations);
    this.#resourceVersion += 1;
    const metadata: Metadata = {
      name: put.name,
      site: put.site,
      uid: before?.metadata.uid ?? randomUUID(),
      labels,
      annotations,
      ownerReferences: put.ownerReferences ?? before?.metadata.ownerReferences ?? [],
      generation: (before?.metadata.generation ?? 0) + (specChanged ? 1 : 0),
      resourceVersion: this.#resourceVersion,
      createdAt: before?.metadata.createdAt ?? at,
      updatedAt: at,
    };
    const status = before ? (put.status ?? before.status) : this.#born(put, put.status ?? put.kind.initialStatus(spec));
    const resource: Resource = { kind: put.kind.kind, metadata, spec, status };
    this.#present.place(resource);
    return { type: 'put', resource, before, configuration };
  }

  #born({ kind, site, name }: Put, status: unknown): unknown {
    return kind.born?.(status, { site, name, lastFact: (stream) => this.#factSequences.get(stream) ?? 0 }) ?? status;
  }

  #remove(ref: Ref): readonly StoreEvent[] {
    const before = this.#present.get(ref.kind, ref.site, ref.name);
    if (!before) {
      if (this.#isPast(ref) || (this.#isOfPastRun(ref) && !this.isQuarantined(ref))) throw runEnded(ref);
      return [];
    }
    this.#present.displace(before);
    return [{ type: 'remove', resource: before, before, configuration: true }];
  }

  /** Those without an entry are known while they are lent, and from the first refusal on. */
  #isPast(ref: Ref): boolean {
    return this.#past.has(ref) || this.#lent.has(ref);
  }

  /** It has the name of a past run: were it removed as what is not there, the run would stay without whoever it belongs to. */
  #isOfPastRun({ kind, site, name }: Ref): boolean {
    const pastWith = this.#kinds.get(kind)?.pastWith;
    return pastWith?.named === 'alike' && this.#past.get(pastWith.kind, site, name) !== undefined;
  }

  #leave(ref: Ref): StoreEvent {
    const before = this.#present.get(ref.kind, ref.site, ref.name);
    assert(before, `${title(ref)} is present when its run becomes past`);
    this.#present.displace(before);
    return { type: 'remove', resource: before, before, configuration: false, past: true };
  }

  /** As the ledger marks it; nothing is changed here, so that a change that throws has nothing to take back. */
  #pastOf({ run, members, streams, kept }: Past, events: readonly StoreEvent[]): PastRun {
    const key = keyOf(run);
    const left = new Map(events.flatMap(({ past, resource }) => (past ? [[keyOf(refOf(resource)), resource]] : [])));
    const rows = members.map((member) => {
      const entry = this.#kinds.get(member.kind)?.pastIndex?.(left.get(keyOf(member)) as Resource, members);
      const whole = entry && keyOf(member) === key ? { ...entry, ...kept } : entry;
      return { ...refIn(member), entry: whole === undefined ? '' : JSON.stringify(whole) };
    });
    return { run: key, rows, streams };
  }

  /** @returns its streams and how far they had come. */
  #forgetRun({ run, rows, streams }: PastRun): Returned['streams'] {
    for (const { kind, site, name, entry } of rows) if (entry !== '') this.#past.add({ kind, site, name }, run, entry);
    return streams.flatMap((stream) => {
      const last = this.#factSequences.get(stream);
      this.#factSequences.delete(stream);
      return last === undefined ? [] : [[stream, last] as const];
    });
  }

  #placeBack(events: readonly StoreEvent[]): void {
    for (const event of events.toReversed()) {
      if (event.before) this.#present.place(event.before);
      else this.#present.displace(event.resource);
    }
  }

  /**
   * What was refused, and what was built on it, newest first: who reads before the disk was read, or for as long as it cannot be read,
   * must not find what nobody was promised. A run that was brought back stays: it reads as it did.
   */
  #takeBackUnwritten(): void {
    for (const [{ puts, audits, facts, pasts = NOTHING }, { events, forgiven, left }] of [...this.#unwritten].reverse()) {
      this.#placeBack(events);
      for (const { rows } of pasts) for (const ref of rows) this.#past.delete(ref);
      for (const [stream, last] of left) this.#factSequences.set(stream, last);
      for (const { stream, sequence } of facts.toReversed()) this.#factSequences.set(stream, sequence - 1);
      for (const each of forgiven) this.#faults.giveBack(each);
      if (puts[0]) this.#resourceVersion = puts[0].metadata.resourceVersion - 1;
      if (audits[0]) this.#auditSequence = audits[0].sequence - 1;
    }
    this.#unwritten.clear();
  }

  #number(draft: AuditDraft, at: string): UnchainedAudit {
    this.#auditSequence += 1;
    const details = this.#witness ? { ...draft.details, clock: this.#witness() } : draft.details;
    return auditOf(draft, this.#auditSequence, at, details);
  }

  /** Requests of one millisecond share its text. */
  #now(): string {
    const nowMs = this.#clock.wallMs();
    if (nowMs !== this.#stampedMs) {
      this.#stampedMs = nowMs;
      this.#stamp = timestamp(nowMs);
    }
    return this.#stamp;
  }

  /** Numbers are spent only when every body could be made. */
  #facts(drafts: NonNullable<Change['facts']>): readonly Fact[] {
    if (drafts.length === 0) return NOTHING;
    const last = new Map<string, number>();
    const facts = drafts.map(({ stream, body }) => {
      const sequence = (last.get(stream) ?? this.#factSequences.get(stream) ?? this.#begun(stream)) + 1;
      last.set(stream, sequence);
      return { stream, sequence, body: body(sequence) };
    });
    for (const [stream, sequence] of last) this.#factSequences.set(stream, sequence);
    return facts;
  }

  /** A stream that has no entry yet, and is not one whose run has ended: the last parts of its name are those of whose it is. */
  #begun(stream: string): 0 {
    const [name = '', site = ''] = stream.split('/').reverse();
    for (const kind of this.#kinds.values()) {
      if (kind.streams?.(site, name).includes(stream) && this.#past.get(kind.kind, site, name)) throw runEnded({ kind: kind.kind, site, name });
    }
    return 0;
  }

  #withAdmitted(nonces: readonly Nonce[] = []): readonly Nonce[] {
    if (this.#admitted.length === 0) return nonces;
    const all = nonces.length === 0 ? this.#admitted : [...this.#admitted, ...nonces];
    this.#admitted = [];
    return all;
  }

  #sendAdmitted(): void {
    if (this.#admitted.length > 0) this.#commit({ puts: [], removes: [], audits: [], facts: [], nonces: this.#withAdmitted() }).catch(() => undefined); // a disk that refuses is told of by #fail
  }

  #commit(transaction: LedgerTransaction, unwritten = NOTHING_TO_UNDO): Promise<void> {
    const epoch = this.#epoch;
    this.#unwritten.set(transaction, unwritten);
    const durable: Promise<void> = this.#ledger.commit(transaction).then(
      () => void this.#unwritten.delete(transaction),
      async (fault: unknown) => {
        durable.catch(() => undefined); // callers that do not wait must not turn a disk fault into a crash
        this.#kept.keepNonces(transaction.nonces);
        this.#learn(transaction, fault);
        await this.#fail(epoch, fault);
        throw storageUnavailable(this.#reason);
      },
    );
    this.#lastCommit = durable;
    return durable;
  }

  /** A past name that is not known here must not keep everybody from writing each time that somebody tries to write it. */
  #learn({ puts }: LedgerTransaction, fault: unknown): void {
    const told = fault instanceof Error ? fault.message : '';
    for (const { kind, metadata } of puts) if (told === ofPastRun(`${kind} ${metadata.name}`)) this.#past.refused({ kind, site: metadata.site, name: metadata.name });
  }

  /** Every refused caller waits for the one reload, so that what it reads after its refusal is what is on disk. */
  #fail(epoch: number, fault: unknown): Promise<void> {
    if (epoch === this.#epoch && !this.#refusing) {
      this.#refusing = true;
      this.#reason = fault instanceof Error ? fault.message : String(fault);
      this.#isAsOnDisk = false;
      this.#epoch += 1;
      this.#takeBackUnwritten();
      this.#reloaded = this.#reload();
      this.#tellReload();
    }
    return this.#reloaded;
  }

  async #reload(): Promise<void> {
    try {
      await this.open(0);
      this.#tellReload(); // what the disk says may differ from what was taken back, and now it is known to be what it says
    } catch {
      // the disk cannot even be read: memory keeps serving reads, and the probe below tries again
    }
    this.#probeLater();
  }

  #probeLater(): void {
    this.#clock.after(PROBE_INTERVAL_MS, () => {
      this.#ledger
        .probe()
        .then(() => this.open(0))
        .then(() => {
          this.#refusing = false;
          this.#lastCommit = Promise.resolve(); // what failed is taken back; nothing waits for a record of it any more
          this.#kept.write((change) => this.apply(change));
          this.#tellReload();
        })
        .catch(() => this.#probeLater());
    });
  }

  /** What is written again or removed is at fault no more; what is past is judged again when it is read again. */
  #forgive({ puts = [], removes = [] }: Change, pasts: readonly PastRun[]): readonly Forgiven[] {
    const written = puts.flatMap(({ kind, site, name, spec }) => (spec === undefined ? [] : [{ kind: kind.kind, site, name }]));
    return this.#faults.forgive([...written, ...removes, ...pasts.flatMap(({ rows }) => rows)]);
  }

  /** @returns what is worked with; undefined where it cannot be used. */
  #take(resource: Resource): Resource | undefined {
    const kind = this.#kinds.get(resource.kind);
    const fault = kind && unfitRow(resource, kind);
    const usable = fault ? workable(resource, kind, fault) : resource;
    if (fault) this.#faults.add(fault, usable && usable !== resource ? resource : undefined);
    if (usable) this.#present.place(usable);
    return usable;
  }
}

function refIn({ kind, site, name }: Ref): Ref {
  return { kind, site, name };
}

/** What has ended is as it was recorded; only who brings it back may go on with it. */
function runEnded(ref: Ref): Refusal {
  return conflict(
    'run_ended',
    `${title(ref)} has ended and belongs to the past: nothing of it is written any more; give what is new another name, or delete the batch where that is allowed`,
    { kind: ref.kind, name: ref.name },
  );
}

function nameOf({ name }: UnchainedAudit): string {
  return name;
}

function storageUnavailable(reason: string): Refusal {
  return new Refusal('unavailable', `the appliance cannot write to its storage (${reason}); nothing was changed, try again when the storage alarm has cleared`, {
    code: 'storage_unavailable',
  });
}
