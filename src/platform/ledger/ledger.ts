/**
 * The ledger as the gateway thread holds it. Calls of one loop turn travel in one message; promises settle when the
 * ledger thread says that their transaction is on disk.
 *
 * A ledger thread that dies (a bug) is started again by the next load or probe; what was waiting is refused, so the
 * store reloads from disk exactly as it does after a failed commit.
 */
import { mkdirSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { PastIndex } from '../store/past-index.js';
import { isRowFault, readRow } from '../store/read-row.js';
import { type Resource, type RowFault, withoutText } from '../store/resource.js';
import { textOfFault } from '../base/worker-calls.js';
import { Stopwatch } from '../base/elapsed.js';
import { guarded } from '../base/guarded.js';
import { LedgerLooks, ledgerCells } from './at-work.js';
import type { ArchiveDraft } from './archive-format.js';
import type { Finding, Gap, GapAcknowledgement } from './gaps.js';
import { openDeviceKeys } from './keys.js';
import type { Ledger, LedgerImage, LedgerTransaction } from './protocol.js';
import { type FromLedger, Message, type PastPlace, type ToLedger, type WireField } from './wire.js';

/** The transaction is not on disk and never will be. */
export class LedgerFault extends Error {
  /** That SQLite gives, where it was one of SQLite. */
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.name = 'LedgerFault';
    this.code = code;
  }
}

/** Of so many rows that cannot be read what lies there is kept: whoever mends one keeps it as evidence; of a table that is damaged as a whole nobody does. */
const TEXTS_MAX = 100;
const ROW_COLUMNS = 4; // kind, site, name, body

/** One row that cannot be read is one resource that is missing, by name; the others are served. */
function readRows(columns: readonly unknown[]): Pick<LedgerImage, 'resources' | 'unreadable'> {
  const resources: Resource[] = [];
  const unreadable: RowFault[] = [];
  for (let at = 0; at < columns.length; at += ROW_COLUMNS) {
    const row = readRow({ kind: String(columns[at]), site: String(columns[at + 1]), name: String(columns[at + 2]) }, columns[at + 3]);
    if (!isRowFault(row)) resources.push(row);
    else if (unreadable.length < TEXTS_MAX) unreadable.push(row);
    else unreadable.push(withoutText(row));
  }
  return unreadable.length === 0 ? { resources } : { resources, unreadable };
}

/** Some hundred kB of text are copied in a millisecond. */
const PART_CHARACTERS = 512 * 1024;

/** Where the part ends that begins with a field. */
function endOfPart(fields: readonly WireField[], from: number): number {
  let characters = 0;
  for (let at = from; at < fields.length; at += 1) {
    const field = fields[at];
    if (typeof field === 'string') characters += field.length;
    if (characters > PART_CHARACTERS) return at + 1;
  }
  return fields.length;
}

interface Waiting<T> {
  resolve(value: T): void;
  reject(fault: Error): void;
}

type Answer = Extract<FromLedger, { readonly type: 'answer' }>;

type LedgerRequest =
  | { readonly type: 'load'; readonly nonceWindowMs: number }
  | { readonly type: 'load-past'; readonly after: PastPlace }
  | { readonly type: 'archived'; readonly draft: ArchiveDraft }
  | { readonly type: 'acknowledge'; readonly ids: readonly string[]; readonly by: GapAcknowledgement }
  | { readonly type: 'probe' | 'close' };

const MONOTONIC = { monoMs: () => performance.now() };
const COMMIT_WEIGHT = 0.2;

/**
 * Opens `<dataDir>/state.db`; makes the device keys at first start.
 *
 * @throws Error when the database cannot be opened, for example because a newer version wrote it.
 */
export async function openLedger(dataDir: string, found?: readonly Finding[]): Promise<ThreadLedger> {
  mkdirSync(dataDir, { recursive: true, mode: 0o750 });
  openDeviceKeys(dataDir);
  const ledger = new ThreadLedger(dataDir, found);
  await ledger.ready();
  return ledger;
}

export class ThreadLedger implements Ledger {
  readonly #dataDir: string;
  /** Transactions on their way, in the order in which they are settled. */
  readonly #commits: Waiting<void>[] = [];
  readonly #requests = new Map<number, Waiting<Answer>>();
  #worker: Worker | null = null;
  #ready: Promise<void> | null = null;
  #looks: LedgerLooks | null = null;
  /** Transactions of this turn, not sent yet. */
  #outbox = new Message();
  /** Of the message that goes out in parts, what has not gone yet; undefined between two. */
  #outgoing: Message | undefined;
  /** How many of its fields have gone. */
  #gone = 0;
  #nextRequest = 1;
  #closed = false;
  readonly #found: readonly Finding[] | undefined;
  #gaps: readonly Gap[] = [];
  #fresh: readonly string[] = [];
  /** How long the oldest commit under way has been waiting. */
  readonly #oldest = new Stopwatch(MONOTONIC);
  /** How long commits take, in ms: a sliding mean. */
  #commitMs = 0;
  #closing = false;
  #checkpointTrouble: string | null = null;
  /** Told when the thread ends by itself. */
  died: ((name: string, fault: string) => void) | undefined;

  constructor(dataDir: string, found?: readonly Finding[]) {
    this.#dataDir = dataDir;
    this.#found = found;
  }

  /** What was ever found wrong with the stored past, acknowledged or not. */
  get gaps(): readonly Gap[] {
    return this.#gaps;
  }

  /** What this start found that no start before it had. */
  get newGaps(): readonly Gap[] {
    return this.#gaps.filter(({ id }) => this.#fresh.includes(id));
  }

  /** What nobody has acknowledged yet, in words. */
  get findings(): readonly string[] {
    return this.#gaps.filter(({ acknowledged }) => !acknowledged).map(({ text }) => text);
  }

  /** Why the WAL is not copied into the database and grows with every write; null while it is. */
  get checkpointTrouble(): string | null {
    return this.#checkpointTrouble;
  }

  /** How long what is being written takes to reach the disk, in ms. */
  get commitMs(): number {
    return Math.max(this.#commitMs, this.#commits.length > 0 ? this.#oldest.elapsedMs : 0);
  }

  /** @throws LedgerFault when the disk refuses it. */
  async acknowledge(ids: readonly string[], by: GapAcknowledgement): Promise<void> {
    await this.#request({ type: 'acknowledge', ids, by });
    this.#gaps = this.#gaps.map((gap) => (ids.includes(gap.id) && !gap.acknowledged ? { ...gap, acknowledged: by } : gap));
  }

  /** A look at the thread, once a second. @returns why it will not come back; one that has ended is started again when it is needed. */
  look(): string | undefined {
    return this.#closing ? undefined : this.#looks?.look();
  }

  /** Transactions that are not yet known to be on disk. */
  get waiting(): number {
    return this.#commits.length;
  }

  async load(nonceWindowMs: number, past = new PastIndex()): Promise<LedgerImage> {
    const { image } = await this.#request({ type: 'load', nonceWindowMs });
    if (!image) throw new LedgerFault('the ledger answered without an image');
    if (!(await this.#readPast(past))) return this.load(nonceWindowMs, past.anew());
    return { ...image, ...readRows(image.resources), past };
  }

  /**
   * In slices: what one message of all takes stays taken from the machine, on both sides of it. While one is taken the next is read.
   * @returns false where what was loaded is not so any more.
   */
  async #readPast(index: PastIndex): Promise<boolean> {
    let reading = this.#request({ type: 'load-past', after: ['', '', ''] });
    for (let slice = (await reading).past; slice; slice = (await reading).past) {
      if (slice === 'again') return false;
      reading = this.#request({ type: 'load-past', after: slice.end });
      reading.catch(() => undefined); // what it ends with is seen where it is awaited, a turn later
      await new Promise((resolve) => setImmediate(resolve)); // the request is on its way
      index.addSlice(slice);
    }
    await index.sort();
    return true;
  }

  commit(transaction: LedgerTransaction): Promise<void> {
    if (this.#closed || !this.#worker) return Promise.reject(new LedgerFault('the ledger is not running'));
    this.#outbox.add(transaction);
    if (this.#commits.length === 0) this.#oldest.restart();
    if (this.#outbox.count === 1 && !this.#outgoing) setImmediate(() => this.#send());
    return new Promise((resolve, reject) => this.#commits.push({ resolve, reject }));
  }

  async probe(): Promise<void> {
    await this.#request({ type: 'probe' });
  }

  /**
   * Notes a file of archived audit records; its rows leave the table from then on, a few at a time.
   * @throws LedgerFault when the disk refuses the note, or the file does not follow the one before.
   */
  async archived(draft: ArchiveDraft): Promise<void> {
    await this.#request({ type: 'archived', draft });
  }

  /** Commits what was handed in, signs the end of the audit trail and closes the database. */
  async close(): Promise<void> {
    if (this.#closed) return;
    const worker = this.#worker;
    this.#closing = true;
    if (worker) {
      const gone = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
      await this.#request({ type: 'close' }).catch(() => undefined);
      this.#closed = true;
      await gone;
    }
    this.#closed = true;
  }

  /** Resolves when the thread has opened the database. */
  ready(): Promise<void> {
    this.#ready ??= this.#start();
    return this.#ready;
  }

  #start(): Promise<void> {
    return new Promise((resolve, reject) => {
      const atWork = ledgerCells();
      const worker = new Worker(new URL('./ledger-thread.js', import.meta.url), {
        workerData: { dataDir: this.#dataDir, found: this.#found, atWork },
        name: 'ledger',
        execArgv: [],
      });
      let fault = 'the ledger thread stopped';
      let code: string | undefined;
      // Bare, unlike other threads: of what is settled here one step that threw would leave the count of commits behind, and from then
      // on a change would be acknowledged that is not on disk. The process ends by it, and starts with what the disk says.
      worker.on('message', (message: FromLedger) => {
        if (message.type !== 'ready') return this.#receive(message);
        this.#gaps = message.gaps;
        if (this.#fresh.length === 0) this.#fresh = message.fresh;
        this.#worker = worker;
        this.#looks = new LedgerLooks(atWork);
        resolve();
      });
      worker.on('error', (error: NodeJS.ErrnoException) => {
        fault = `the ledger thread died: ${textOfFault(error)}`;
        ({ code } = error);
      });
      worker.on('exit', () => {
        if (this.#worker && !this.#closing) guarded('death of a thread', () => this.died?.('ledger', fault)); // who waits is refused all the same
        this.#worker = null;
        this.#looks = null;
        this.#ready = null;
        this.#refuseAll(new LedgerFault(fault));
        reject(new LedgerFault(fault, code));
      });
    });
  }

  /** What is too long for one turn goes in parts, one each turn; what comes meanwhile goes behind it. */
  #send(): void {
    this.#outgoing ??= this.#takeOutbox();
    if (!this.#outgoing) return;
    if (this.#sendPart() || this.#outbox.count > 0) setImmediate(() => this.#send());
  }

  /** For a request, which stands behind all that was committed before it. */
  #sendAll(): void {
    for (this.#outgoing ??= this.#takeOutbox(); this.#outgoing; this.#outgoing ??= this.#takeOutbox()) while (this.#sendPart());
  }

  #takeOutbox(): Message | undefined {
    if (this.#outbox.count === 0) return undefined;
    const message = this.#outbox;
    this.#outbox = new Message();
    return message;
  }

  /** @returns whether there is more of it. */
  #sendPart(): boolean {
    const message = this.#outgoing;
    if (!message) return false;
    const { count, fields } = message;
    const fromField = this.#gone;
    const toField = endOfPart(fields, fromField);
    if (toField < fields.length) {
      this.#gone = toField;
      this.#post({ type: 'part', fields: fields.slice(fromField, toField) });
      return true;
    }
    this.#outgoing = undefined;
    this.#gone = 0;
    this.#post({ type: 'commit', count, fields: fromField === 0 ? fields : fields.slice(fromField) });
    return false;
  }

  async #request(body: LedgerRequest): Promise<Answer> {
    if (this.#closed) throw new LedgerFault('the ledger is closed');
    await this.ready();
    this.#sendAll(); // commits keep their place before the request
    const id = this.#nextRequest;
    this.#nextRequest += 1;
    const answered = new Promise<Answer>((resolve, reject) => this.#requests.set(id, { resolve, reject }));
    this.#post({ ...body, id });
    return answered;
  }

  #post(message: ToLedger): void {
    this.#worker?.postMessage(message);
  }

  #receive(message: Exclude<FromLedger, { type: 'ready' }>): void {
    if (message.type === 'checkpoints') {
      this.#checkpointTrouble = message.trouble;
      return;
    }
    if (message.type === 'answer') {
      const waiting = this.#requests.get(message.id);
      this.#requests.delete(message.id);
      if (message.fault === undefined) waiting?.resolve(message);
      else waiting?.reject(new LedgerFault(message.fault));
      return;
    }
    const settled = this.#commits.splice(0, message.count);
    this.#commitMs += COMMIT_WEIGHT * (this.#oldest.elapsedMs - this.#commitMs);
    this.#oldest.restart();
    const refused = new Map(message.refused);
    for (const [index, waiting] of settled.entries()) {
      const reason = refused.get(index);
      if (reason === undefined) waiting.resolve();
      else waiting.reject(new LedgerFault(reason));
    }
  }

  #refuseAll(fault: LedgerFault): void {
    const waiting = [...this.#commits.splice(0), ...this.#requests.values()];
    this.#requests.clear();
    this.#outbox = new Message();
    this.#outgoing = undefined;
    this.#gone = 0;
    for (const each of waiting) each.reject(fault);
  }
}
