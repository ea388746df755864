/**
 * Reads what is past on the query thread, in the form in which it was present (ADR 0035, 0037): in pages, or a whole run that
 * is lent to the store for as long as somebody reads it, so that whoever finds a resource by its name finds it as ever.
 *
 * Invariant: what is lent is past and nobody has changed it; a run that is held, present or past, neither becomes past nor is let go
 * of, unless it comes back whole.
 */
import { contain } from '../base/guarded.js';
import { Refusal } from '../base/refusal.js';
import { Turnstile } from '../base/turnstile.js';
import type { Kind } from './kind.js';
import { OneMoment, type PastPages, pastSitesOf } from './one-moment.js';
import { onePerStore } from './one-per-store.js';
import { inTurns, type PastReads, type UnboundedReads } from './past-reads.js';
import { isRowFault, readRow, workable } from './read-row.js';
import { keyOf, type Ref, type Resource, type RowFault } from './resource.js';
import type { Store } from './store.js';

const RUN_COLUMNS = 4; // kind, site, name, body
/** Some megabytes: who reads one thing of a run reads others of it next. */
const LENT_RUNS_MAX = 32;
/** Of a walk through the past of a kind: each page is a turn of the query thread and a few milliseconds of the gateway. */
const ROWS_PER_PAGE = 200;
/** Until the first of them say how large they are. */
const ROWS_OF_FIRST_PAGE = 20;
const CHARACTERS_PER_PAGE = 500_000;
const COUNTS_MAX = 200;
/** Longer than any name that was given: what asks for it is no name. */
const NAME_LENGTH_MAX = 253;
/** A copy of all there is takes minutes of years. */
const COPIES_WAITING_MAX = 2;
const COPY_WAIT_MAX_MS = 30_000;

/** Lets go of what was held. */
export type Release = () => void;

export class PastRows {
  readonly #store: Store;
  #reads: PastReads;
  /** Runs that are being brought back. */
  readonly #returning = new Map<string, Promise<boolean>>();
  readonly #lending = new Map<string, Promise<void>>();
  /** What is lent of a run, and the names of its rows that cannot be used; the one that was asked for longest ago first. */
  readonly #lent = new Map<string, { readonly rows: readonly Resource[]; readonly unusable: ReadonlySet<string> }>();
  /** How many work with a run now, whether it is present or past. */
  readonly #holders = new Map<string, number>();
  /** How many read everything there is, the past first. */
  #walkers = 0;
  #returns = 0;
  readonly #copies = new Turnstile({ what: 'requests read everything that is past', atOnce: 1, waitingMax: COPIES_WAITING_MAX, waitMaxMs: COPY_WAIT_MAX_MS });
  /** That are being written down. */
  readonly #moments = new Set<OneMoment>();
  /** Rows of a kind and site that were left out. */
  readonly #damaged = new Map<string, Set<string>>();
  /** What was asked of the past and how many were counted, as long as it does not change. */
  readonly #counts = new Map<string, { readonly of: string; readonly count: Promise<number> }>();

  readonly #pages: PastPages = {
    pages: (kind, site, characters) => this.each(kind, site, '', true, characters),
    row: (kind, site, name, body) => {
      const row = readRow({ kind: kind.kind, site, name }, body);
      return isRowFault(row) ? undefined : this.#usable(row);
    },
  };

  constructor(store: Store, reads: UnboundedReads = NOTHING_PAST) {
    this.#store = store;
    this.#reads = this.#inTurns(reads);
    store.watchReload(() => this.#takeAwayPresent());
  }

  /** Once, when the ledger can be read. */
  connect(reads: UnboundedReads): void {
    this.#reads = this.#inTurns(reads);
  }

  #inTurns(reads: UnboundedReads): PastReads {
    return inTurns(reads, (runs) => this.#store.settled(runs));
  }

  /** Whether something of the kind may be past; without a site, anywhere. */
  mayHold({ kind, pastWith }: Pick<Kind, 'kind' | 'pastWith'>, site?: string): boolean {
    const sites = this.#store.pastSites({ kind: pastWith?.kind ?? kind });
    return site === undefined ? sites.length > 0 : sites.includes(site);
  }

  /** How many of a kind are past in a site, by the entries of their runs; without those that a walk has left out. */
  count({ kind, pastWith }: Pick<Kind, 'kind' | 'pastWith'>, site: string): number {
    if (!pastWith) return 0;
    return this.#store.pastMembers(pastWith, site, kind) - (this.#damaged.get(`${kind}/${site}`)?.size ?? 0);
  }

  /** How many of them pass; read once, and remembered under `question` until something becomes past or comes back. */
  async countOf<Spec, Status>(kind: Kind<Spec, Status>, site: string, question: string, passes: (resource: Resource<Spec, Status>) => boolean): Promise<number> {
    const key = `${kind.kind}/${site}/${question}`;
    const of = `${this.#returns} ${this.#store.pastCount({ kind: kind.pastWith?.kind ?? kind.kind }, site)}`;
    const known = this.#counts.get(key);
    if (known?.of === of) return known.count;
    const count = this.#counted(kind, site, passes);
    if (this.#counts.size >= COUNTS_MAX) this.#counts.clear();
    this.#counts.set(key, { of, count });
    count.catch(() => this.#counts.delete(key));
    return count;
  }

  async #counted<Spec, Status>(kind: Kind<Spec, Status>, site: string, passes: (resource: Resource<Spec, Status>) => boolean): Promise<number> {
    let count = 0;
    for await (const page of this.each(kind, site)) for (const resource of page) if (passes(resource)) count += 1;
    return count;
  }

  /**
   * All past resources of a kind in a site by name, page by page, after the one that is named. A row that cannot be used is left out,
   * as it would be of a start. `isPatient`: it is part of a walk that has begun.
   */
  async *each<Spec, Status>(
    kind: Kind<Spec, Status>,
    site: string,
    after = '',
    isPatient = false,
    charactersPerPage = CHARACTERS_PER_PAGE,
  ): AsyncGenerator<readonly Resource<Spec, Status>[]> {
    if (!this.mayHold(kind, site)) return;
    let last = after;
    let limit = ROWS_OF_FIRST_PAGE;
    for (let isWhole = false; !isWhole; ) {
      const columns = await answered(this.#reads.pastPage({ kind: kind.kind, site, after: last, limit }, isPatient || last !== after));
      const rows: Resource[] = [];
      let characters = 0;
      for (let at = 0; at < columns.length; at += 2) {
        last = columns[at] as string;
        characters += columns[at + 1]?.length ?? 0;
        const row = readRow({ kind: kind.kind, site, name: last }, columns[at + 1]);
        const usable = isRowFault(row) ? undefined : this.#usable(row);
        if (usable) rows.push(usable);
        else this.#leaveOut(`${kind.kind}/${site}`, last);
      }
      isWhole = columns.length < 2 * limit;
      limit = Math.max(1, Math.min(ROWS_PER_PAGE, Math.floor((charactersPerPage * limit) / (characters + 1))));
      if (rows.length > 0) yield rows as readonly Resource<Spec, Status>[];
    }
  }

  #leaveOut(of: string, name: string): void {
    const names = this.#damaged.get(of) ?? new Set();
    this.#damaged.set(of, names.add(name));
  }

  /** What a search looks at, of each of these runs. */
  texts(runs: readonly Ref[], lengthMax: number): Promise<readonly (readonly string[])[]> {
    return answered(this.#reads.pastTexts({ runs: runs.map(keyOf), lengthMax }));
  }

  /** Of all sites. */
  async *everywhere<Spec, Status>(kind: Kind<Spec, Status>, isPatient = false): AsyncGenerator<readonly Resource<Spec, Status>[]> {
    for (const site of this.#store.pastSites({ kind: kind.pastWith?.kind ?? kind.kind })) yield* this.each(kind, site, '', isPatient);
  }

  /**
   * For whoever reads the past in turns and what is present after it: until he lets go nothing becomes past, which would be in neither
   * half. What comes back meanwhile is in both.
   */
  walk(): Release {
    this.#walkers += 1;
    let walks = true;
    return () => {
      if (walks) this.#walkers -= 1;
      walks = false;
    };
  }

  /** Somebody reads everything there is. */
  get isWalked(): boolean {
    return this.#walkers > 0;
  }

  /**
   * Rises with each run that comes back: whoever reads what is present and the past after it has missed one where it has risen
   * meanwhile.
   */
  get returns(): number {
    return this.#returns;
  }

  /**
   * All there is of these kinds in one moment, for whoever writes it down in pieces; of the past only that of the sites that are
   * wanted. Held until `end`: nothing becomes past until then, so one is written down at a time.
   * @throws Refusal 503 `past_busy` while another one is.
   */
  async moment(kinds: readonly Kind[], isWanted: (site: string) => boolean = () => true): Promise<{ readonly moment: OneMoment; readonly end: Release }> {
    const hasPast = kinds.some((kind) => pastSitesOf(this.#store, kind).some(isWanted));
    const leave = hasPast ? await this.#copies.enter() : undefined;
    const letGo = this.walk();
    const moment = new OneMoment(this.#store, this.#pages, kinds, isWanted);
    this.#moments.add(moment);
    const end = (): void => {
      this.#moments.delete(moment);
      letGo();
      leave?.();
    };
    // what was on its way to the disk then is there, or was taken back: what left the memory is read from the disk
    await this.#store.recorded.catch(() => moment.take());
    if (!moment.hasPast) end();
    return { moment, end };
  }

  // ------------------------------------------------------------ whole runs

  /**
   * Lends the past runs that these may belong to, and holds them; undefined when there is none, and nothing to wait for. What is not
   * in the store then is nowhere.
   */
  borrow(refs: readonly Ref[]): Promise<Release> | undefined {
    return this.#hold(refs, (run) => this.#lend(run));
  }

  /**
   * As `borrow`, for the turn in which it comes back: who reads the store before the next wait finds them. Undefined when there is
   * nothing to wait for, so that who needs nothing of the past goes on in his own turn.
   */
  lend(refs: readonly Ref[]): Promise<void> | undefined {
    // not before whoever waits has had his turn: others are lent something meanwhile
    return this.borrow(refs)?.then((release) => void setImmediate(release));
  }

  /** As `borrow`, and they are present again: for whoever writes. */
  bring(refs: readonly Ref[]): Promise<Release> | undefined {
    return this.#hold(refs, (run) => this.bringBack(run));
  }

  /**
   * Holds what may be of a run by its name, present or past, from this turn on: what was looked at is still so, or comes back whole,
   * when it is acted on. Nothing is read, and nothing is waited for.
   */
  hold(refs: readonly Ref[]): Release {
    return this.#holdKeys(refs.flatMap((ref) => this.#keysNamed(ref)));
  }

  /** Somebody works with the run of this name: it does not become past meanwhile. */
  isHeld(run: Ref): boolean {
    return this.#holders.has(keyOf(run));
  }

  /** What is about these is done while they are held, present or past, and those that are past are lent. */
  async during<T>(refs: readonly Ref[], work: () => T | Promise<T>): Promise<T> {
    const release = this.hold(refs);
    let lent: Release | undefined;
    try {
      const lending = this.borrow(refs);
      if (lending) lent = await lending;
      return await work();
    } finally {
      lent?.();
      release();
    }
  }

  /**
   * A run is worked with again, whole and as it was.
   * @returns whether there was one, when it is on disk.
   */
  bringBack(run: Ref): Promise<boolean> {
    const key = keyOf(run);
    let returning = this.#returning.get(key);
    if (!returning) {
      returning = this.#bringBack(run).finally(() => this.#returning.delete(key));
      this.#returning.set(key, returning);
    }
    return returning;
  }

  /**
   * Behind a start: where what is kept of a run in memory cannot be read, lists would miss it without a word and its IDs would be
   * free. Such runs are present again, and become past with an entry that is made anew.
   * @returns what could not be brought back, and why.
   */
  async bringBackUnreadable(): Promise<readonly (readonly [run: string, fault: unknown])[]> {
    const failed: [run: string, fault: unknown][] = [];
    for (const run of this.#store.pastUnreadable.flatMap((key) => this.#behindItsFirst(refOfKey(key)))) {
      try {
        if (!(await this.bringBack(run))) failed.push([keyOf(run), 'no row says that it is of this run']);
      } catch (fault) {
        failed.push([keyOf(run), fault]);
      }
    }
    return failed;
  }

  async #bringBack(run: Ref): Promise<boolean> {
    const { rows, streams } = await answered(this.#reads.pastRun(keyOf(run)));
    if (rows.length === 0) return false;
    for (const moment of this.#moments) moment.cameBack(rows);
    const durable = this.#store.takeBack({ run, ...rowsOf(rows), streams });
    this.#returns += 1;
    this.#damaged.clear(); // what came back is named by the store
    const release = this.#holdKeys([keyOf(run)]); // not past again before it is on disk
    try {
      await durable; // where it cannot be brought back, whoever reads what is lent goes on
      this.#takeAway(keyOf(run));
    } finally {
      release();
    }
    return true;
  }

  /** How many things with past runs these may belong to; the runs of one, such as a batch and its elements, have its name. */
  countNames(refs: readonly Ref[]): number {
    return new Set(refs.flatMap((ref) => this.#ownRunsOf(ref)).map(({ site, name }) => `${site}/${name}`)).size;
  }

  #hold(refs: readonly Ref[], reach: (run: Ref) => Promise<unknown>): Promise<Release> | undefined {
    const runs = new Map(refs.flatMap((ref) => this.#runsOf(ref)).map((run) => [keyOf(run), run]));
    return runs.size === 0 ? undefined : this.#reached([...runs.values()], reach);
  }

  async #reached(runs: readonly Ref[], reach: (run: Ref) => Promise<unknown>): Promise<Release> {
    const release = this.#holdKeys(runs.map(keyOf));
    try {
      for (const run of runs) await reach(run);
      return release;
    } catch (fault) {
      release();
      throw fault;
    }
  }

  #holdKeys(keys: readonly string[]): Release {
    for (const key of keys) this.#holders.set(key, (this.#holders.get(key) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      for (const key of keys) this.#letGo(key);
      this.#trim();
    };
  }

  #letGo(key: string): void {
    const left = (this.#holders.get(key) ?? 1) - 1;
    if (left > 0) this.#holders.set(key, left);
    else this.#holders.delete(key);
  }

  /** Past runs that a resource of this name may belong to, each behind the one without which it is not read. */
  #runsOf(ref: Ref): Ref[] {
    return this.#ownRunsOf(ref).flatMap((run) => this.#behindItsFirst(run));
  }

  /** A past run, behind the one without which it is not read where that is past too. */
  #behindItsFirst(run: Ref): Ref[] {
    const below = this.#store.kindNamed(run.kind)?.pastBelow;
    const first = below === undefined ? undefined : this.#store.pastEntry({ kind: below }, run.site, run.name);
    return first ? [refOfKey(first.run), run] : [run];
  }

  /** What is present belongs to none. */
  #ownRunsOf({ kind, site, name }: Ref): Ref[] {
    if (name.length > NAME_LENGTH_MAX || this.#store.isPresent({ kind, site, name })) return [];
    const own = this.#store.pastEntry({ kind }, site, name);
    if (own) return [refOfKey(own.run)];
    const pastWith = this.#store.kindNamed(kind)?.pastWith;
    if (!pastWith || !this.mayHold({ kind, pastWith }, site)) return [];
    return (pastWith.named === 'alike' ? [name] : beginnings(name)).flatMap((start) => {
      const entry = this.#store.pastEntry({ kind: pastWith.kind }, site, start);
      return entry ? [refOfKey(entry.run)] : [];
    });
  }

  /** Of the runs that a resource of this name may belong to, whether there are any or not. */
  #keysNamed({ kind, site, name }: Ref): string[] {
    if (name.length > NAME_LENGTH_MAX) return []; // nothing is called so, and it may be as long as a body
    const own = this.#store.pastEntry({ kind }, site, name);
    if (own) return [own.run];
    const { pastWith, pastIndex } = this.#store.kindNamed(kind) ?? {};
    if (!pastWith) return pastIndex ? [keyOf({ kind, site, name })] : [];
    return (pastWith.named === 'alike' ? [name] : beginnings(name)).map((start) => keyOf({ kind: pastWith.kind, site, name: start }));
  }

  #lend(run: Ref): Promise<void> {
    const key = keyOf(run);
    const lent = this.#lent.get(key);
    if (lent) {
      this.#lent.delete(key);
      this.#lent.set(key, lent);
      return Promise.resolve();
    }
    let lending = this.#lending.get(key);
    if (!lending) {
      lending = this.#readAndLend(run).finally(() => this.#lending.delete(key));
      this.#lending.set(key, lending);
    }
    return lending;
  }

  async #readAndLend(run: Ref): Promise<void> {
    const { rows: read, faults } = rowsOf((await answered(this.#reads.pastRun(keyOf(run)))).rows);
    if (!this.#store.pastEntry(run, run.site, run.name)) return; // it came back meanwhile
    const unusable = new Set(faults.map(keyOf));
    const rows: Resource[] = [];
    for (const row of read) {
      const usable = this.#usable(row);
      if (usable) rows.push(usable);
      else unusable.add(keyOf({ kind: row.kind, ...row.metadata }));
    }
    this.#lent.set(keyOf(run), { rows, unusable });
    this.#store.lend(rows);
    this.#trim();
  }

  /** It is past, and its row cannot be used; known of the runs that are lent. */
  isUnreadable(ref: Ref): boolean {
    const own = this.#store.pastEntry(ref, ref.site, ref.name);
    if (own) return this.#lent.has(own.run) && !this.#lent.get(own.run)?.rows.some(({ kind, metadata }) => kind === ref.kind && metadata.name === ref.name);
    const key = keyOf(ref);
    for (const { unusable } of this.#lent.values()) if (unusable.has(key)) return true;
    return false;
  }

  /** As it would be worked with behind a start. */
  #usable(row: Resource): Resource | undefined {
    const kind = this.#store.kindNamed(row.kind);
    return kind ? workable(row, kind) : row;
  }

  #trim(): void {
    for (const key of this.#lent.keys()) {
      if (this.#lent.size <= LENT_RUNS_MAX) return;
      if (!this.#holders.has(key)) this.#takeAway(key);
    }
  }

  #takeAway(key: string): void {
    const lent = this.#lent.get(key);
    if (!lent) return;
    this.#lent.delete(key);
    this.#store.takeAway(lent.rows);
  }

  /** A commit that had made it past was refused after all. What is being brought back is past again when that was refused. */
  #takeAwayPresent(): void {
    this.#counts.clear();
    this.#damaged.clear();
    for (const key of [...this.#lent.keys()]) {
      const run = refOfKey(key);
      if (!this.#store.pastEntry(run, run.site, run.name) && !this.#returning.has(key)) this.#takeAway(key);
    }
  }
}

/** Of the store; connected to the ledger by who opens both. */
export const pastRows = onePerStore((store) => new PastRows(store));

/** Of a store that was never connected: nothing has become past in it. */
const NOTHING_PAST: UnboundedReads = {
  pastRun: () => Promise.resolve({ rows: [], streams: [] }),
  pastPage: () => Promise.resolve([]),
  pastTexts: () => Promise.resolve([]),
};

/** Who asked has done nothing wrong where the thread has ended or the file is in another state than it was written in: he may ask again. */
async function answered<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (fault) {
    if (fault instanceof Refusal) throw fault;
    contain('reading of the past', fault);
    throw new Refusal('unavailable', `what is past could not be read (${fault instanceof Error ? fault.message : String(fault)}); ask again in a moment`, { code: 'no_answer' });
  }
}

/** Names of kinds, sites and resources have no slash. */
function refOfKey(key: string): Ref {
  const [kind = '', site = '', name = ''] = key.split('/');
  return { kind, site, name };
}

/** The name, and whatever of it ends before a hyphen: `a-b-c`, `a-b`, `a`. */
function beginnings(name: string): string[] {
  const found = [name];
  for (let at = name.lastIndexOf('-'); at > 0; at = name.lastIndexOf('-', at - 1)) found.push(name.slice(0, at));
  return found;
}

function rowsOf(columns: readonly string[]): { readonly rows: readonly Resource[]; readonly faults: readonly RowFault[] } {
  const rows: Resource[] = [];
  const faults: RowFault[] = [];
  for (let at = 0; at < columns.length; at += RUN_COLUMNS) {
    const [kind, site, name, body] = columns.slice(at, at + RUN_COLUMNS) as [string, string, string, string];
    const row = readRow({ kind, site, name }, body);
    if (isRowFault(row)) faults.push(row);
    else rows.push(row);
  }
  return { rows, faults };
}
