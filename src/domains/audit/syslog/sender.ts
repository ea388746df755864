/**
 * The audit trail on its way to a receiver of syslog (ADR 0127): every record at least once, in its order. What was sent counts when the receiver has ended a
 * connection in order after it (`ReceiverConnection.confirm`), which it is brought to after some minutes or megabytes; whatever ends a connection
 * otherwise, all that was not confirmed is sent again. The text comes ready from the query thread, a slice at a time, and the next one is asked for
 * when the kernel has taken the one before: a receiver that takes nothing costs the memory of one slice.
 */
import { type Clock, timestamp } from '../../../platform/base/clock.js';
import { Stopwatch } from '../../../platform/base/elapsed.js';
import { guardedPromise } from '../../../platform/base/guarded.js';
import type { Log } from '../../../platform/base/log.js';
import type { ChainEnd } from '../../../platform/ledger/head-file.js';
import type { LedgerQueries } from '../../../platform/ledger/queries.js';
import { nameOfReceiver, type ReceiverConnection } from '../../../platform/syslog/connection.js';
import { ReceiverFault } from '../../../platform/syslog/faults.js';
import { framed, type SyslogMessage, type SyslogSource } from '../../../platform/syslog/message.js';
import type { Store } from '../../../platform/store/store.js';
import type { SettingsOf } from '../../../settings.js';
import type { Trouble } from '../../alarms/system-conditions.js';
import type { SyslogHealth } from '../bodies.js';
import { Backoff } from './backoff.js';
import { GapLog } from './gap-log.js';
import { type Position, PositionFile, type SyslogGap } from './position.js';
import { openReceiver } from './receiver.js';

export interface SyslogParts {
  readonly settings: SettingsOf<'audit.syslog'>;
  readonly store: Pick<Store, 'auditSequence' | 'accepting' | 'apply'>;
  readonly queries: Pick<LedgerQueries, 'syslogSlice' | 'hashesOf'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly dataDir: string;
  readonly source: SyslogSource;
  readonly backoff?: Backoff;
  /** For tests. */
  readonly answerMs?: number;
}

/** Of records, in one slice. */
const SLICE_BYTES = 256 * 1024;
/** So much is sent again at most, and a little. */
const UNCONFIRMED_BYTES_MAX = 4 * 1024 * 1024;
/** How often somebody looks whether the trail has grown. */
const LOOK_MS = 500;
/** A file that cannot be read is tried again before its records are given up. */
const TRIES = 3;
const TRY_AGAIN_MS = 1000;
/** Anchors and reports that wait for a receiver; the oldest goes first. */
const BESIDE_MAX = 64;
/** An outage that is shorter calls nobody. */
const AWAY_MS = 120_000;
const STOP_MS = 2000;
/** After a fault it is soon known again that the receiver reads. */
const SOON_MS = 10_000;

/** What is sent beside the records, until it is confirmed. */
interface Beside {
  readonly frame: string;
  sentBy?: ReceiverConnection;
}

/** Where a connection has got to. */
interface Cursor {
  readonly connection: ReceiverConnection;
  sequence: number;
  hash: string;
  bytes: number;
  /** Since something was sent that is not confirmed. */
  since: Stopwatch | undefined;
  /** Gaps whose records can be read again, and up to which they were sent. */
  readonly found: Map<SyslogGap, number>;
}

export class SyslogSender {
  readonly #parts: SyslogParts;
  readonly #file: PositionFile;
  readonly #backoff: Backoff;
  readonly #gaps: GapLog;
  readonly #receiver: string;
  readonly #away: Stopwatch;
  /** Since somebody looked whether what could not be read can be. */
  readonly #gapsLooked: Stopwatch;
  #position: Position;
  /** Messages beside the records that are not confirmed yet. */
  #beside: Beside[] = [];
  #sent = 0;
  #state: SyslogHealth['state'] = 'connecting';
  #fault = '';
  /** Why the position could not be put down; '' when it was. */
  #unkept = '';
  readonly #ending = new AbortController();
  #isStopping = false;
  #saysGoodbye = false;
  #run: Promise<void> = Promise.resolve();
  #wake: () => void = () => undefined;

  constructor(parts: SyslogParts) {
    const { auditSyslogAddress, auditSyslogPort: port } = parts.settings;
    this.#parts = parts;
    this.#file = new PositionFile(parts.dataDir);
    this.#backoff = parts.backoff ?? new Backoff();
    this.#gaps = new GapLog(parts);
    this.#away = new Stopwatch(parts.clock);
    this.#gapsLooked = new Stopwatch(parts.clock);
    this.#receiver = nameOfReceiver({ host: auditSyslogAddress ?? '', port });
    this.#position = { receiver: this.#receiver, sequence: 0, hash: '', gaps: [] };
  }

  get health(): SyslogHealth {
    const end = this.#parts.store.auditSequence;
    const { all } = this.#gaps;
    return {
      configured: true,
      state: this.#state,
      receiver: this.#receiver,
      sent: this.#sent,
      confirmed: this.#position.sequence,
      lag: Math.max(0, end - this.#sent),
      gaps: all.map((gap) => ({ ...gap })),
      message: this.#fault === '' ? this.#unkept : this.#fault,
    };
  }

  trouble(): Trouble | undefined {
    if (this.#fault === '' && this.#unkept !== '') return { severity: 'Medium', message: this.#unkept };
    if (this.#fault === '' || this.#away.elapsedMs < AWAY_MS) return this.#gaps.trouble();
    return { severity: 'Medium', message: `audit records are not sent away: ${this.#fault}` };
  }

  /** Of the end of the trail, as `lineside verify --anchors` takes it. */
  anchor(line: string, { sequence, hash }: ChainEnd): void {
    this.#tell({ severity: 'informational', msgId: 'ANCHOR', data: { sequence, hash }, text: line.trimEnd() });
  }

  start(): void {
    this.#run = this.#recall()
      .catch((fault: unknown) => this.#forgotten(fault as Error))
      .then(() => this.#work());
    guardedPromise('syslog of the audit trail', () => this.#run);
  }

  /** What is under way is confirmed where that is quickly done. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#wake();
    if (this.#state !== 'connected') this.#ending.abort();
    const cancel = this.#parts.clock.after(STOP_MS, () => this.#ending.abort());
    await this.#run.catch(() => undefined);
    cancel();
  }

  // ---------------------------------------------------------------- where it was

  async #recall(): Promise<void> {
    const { log, store } = this.#parts;
    const { position, why } = await this.#file.read();
    if (why !== undefined) log.warn({ why }, 'up to where the audit trail was sent is not known: all of it is sent again');
    if (!position) return;
    if (position.receiver !== this.#receiver) return log.info({ before: position.receiver, receiver: this.#receiver }, 'another receiver gets the audit trail from its begin');
    this.#gaps.recall(position.gaps);
    this.#position = position;
    this.#sent = position.sequence;
    if (await this.#isOfThisTrail(position)) return;
    this.#position = { ...position, sequence: 0, hash: '' };
    this.#sent = 0;
    const text = `record ${position.sequence} was sent and is not in the trail as it was (it ends with ${store.auditSequence}): this box was set back to an earlier time; all of the trail is sent again`;
    log.error(text);
    this.#tell({ severity: 'error', msgId: 'SETBACK', data: { sequence: position.sequence, hash: position.hash }, text: JSON.stringify({ why: text }) });
    this.#gaps.record('SetBack', { first: 1, last: position.sequence, why: text });
  }

  /** What nobody could hold against this trail counts for nothing: a record that was not sent would be skipped. */
  #forgotten({ message }: Error): void {
    this.#unkept = `up to where the audit trail was sent is not known: ${message}; all of it is sent again`;
    this.#parts.log.error(this.#unkept);
    this.#position = { receiver: this.#receiver, sequence: 0, hash: '', gaps: [...this.#gaps.all] };
    this.#sent = 0;
  }

  async #isOfThisTrail({ sequence, hash }: Position): Promise<boolean> {
    if (sequence > this.#parts.store.auditSequence) return false;
    const found = (await this.#parts.queries.hashesOf([sequence]).catch(() => undefined))?.get(sequence);
    return found === undefined || hash === '' || found === hash; // of what is archived the chain tells
  }

  // ---------------------------------------------------------------- one connection after the other

  async #work(): Promise<void> {
    while (!this.#isStopping) {
      try {
        await this.#session();
        this.#backoff.reset();
        this.#state = 'connecting';
      } catch (fault) {
        this.#failed(fault as Error);
        if (!this.#isStopping) await this.#rest(this.#backoff.next());
      }
    }
  }

  #failed({ message }: Error): void {
    this.#sent = this.#position.sequence;
    if (this.#isStopping) return;
    if (this.#fault === '') this.#away.restart();
    if (this.#fault !== message) this.#parts.log.warn({ receiver: this.#receiver, fault: message }, 'audit records are not sent away');
    this.#state = 'waiting';
    this.#fault = message;
  }

  #recovered(): void {
    if (this.#fault !== '') this.#parts.log.info({ receiver: this.#receiver }, 'audit records are sent away again');
    this.#fault = '';
  }

  async #session(): Promise<void> {
    const { settings, clock, answerMs } = this.#parts;
    const connection = await openReceiver(settings, { clock, signal: this.#ending.signal, ...(answerMs === undefined ? {} : { answerMs }) });
    try {
      connection.onOver = () => this.#wake();
      this.#state = 'connected';
      const { sequence, hash } = this.#position;
      this.#sent = sequence;
      const cursor: Cursor = { connection, sequence, hash, bytes: 0, since: undefined, found: new Map() };
      await this.#fill(cursor);
      if (cursor.since === undefined) return;
      await this.#confirm(connection);
      this.#beside = this.#beside.filter(({ sentBy }) => sentBy !== connection);
      this.#recovered();
      for (const [gap, upTo] of cursor.found) this.#gaps.closed(gap, upTo);
      await this.#confirmed(cursor);
    } finally {
      connection.drop();
    }
  }

  /** An end without the goodbye that this receiver says otherwise is that of something between it and this box. */
  async #confirm(connection: ReceiverConnection): Promise<void> {
    const saysGoodbye = await connection.confirm();
    if (this.#saysGoodbye && !saysGoodbye) throw new ReceiverFault(`${this.#receiver} was cut off while it had to show what it has read, which is sent again`);
    this.#saysGoodbye = saysGoodbye;
  }

  /** Sends what there is and what comes, until it is time to have it confirmed. */
  async #fill(cursor: Cursor): Promise<void> {
    const { store, clock } = this.#parts;
    const open = new Stopwatch(clock);
    while (!this.#isStopping && !this.#isDue(cursor)) {
      if (cursor.connection.fault) throw cursor.connection.fault;
      if (await this.#sendBeside(cursor)) continue;
      await this.#sendFound(cursor);
      if (store.auditSequence > cursor.sequence && (await this.#sendSlice(cursor))) continue;
      if (cursor.since === undefined && open.elapsedMs >= SOON_MS) this.#recovered();
      await this.#rest(LOOK_MS);
    }
  }

  #isDue({ bytes, since }: Cursor): boolean {
    const { auditSyslogConfirmIntervalMs: intervalMs } = this.#parts.settings;
    return bytes >= UNCONFIRMED_BYTES_MAX || (since !== undefined && since.elapsedMs >= (this.#fault === '' ? intervalMs : Math.min(intervalMs, SOON_MS)));
  }

  /** @returns whether anything was there; so does `#sendSlice`. */
  async #sendBeside(cursor: Cursor): Promise<boolean> {
    const { connection } = cursor;
    const unsent = this.#beside.filter(({ sentBy }) => sentBy !== connection);
    for (const each of unsent) each.sentBy = connection;
    if (unsent.length > 0) await this.#send(cursor, Buffer.from(unsent.map(({ frame }) => frame).join(''), 'latin1'));
    return unsent.length > 0;
  }

  async #sendSlice(cursor: Cursor): Promise<boolean> {
    const { lost, last, hash, bytes } = await this.#slice(cursor.sequence);
    if (lost) {
      await this.#sendGap(cursor, { first: cursor.sequence + 1, ...lost });
      return true;
    }
    if (last === cursor.sequence) return false;
    await this.#send(cursor, bytes);
    this.#reached(cursor, last, hash);
    return true;
  }

  async #slice(after: number): ReturnType<LedgerQueries['syslogSlice']> {
    const { queries, source, settings } = this.#parts;
    for (let tried = 1; ; tried += 1) {
      const slice = await queries.syslogSlice({ after, bytesMax: SLICE_BYTES, source, messageBytesMax: settings.auditSyslogMessageBytesMax });
      if (!slice.lost || tried === TRIES || this.#isStopping || this.#gaps.knows(after + 1)) return slice;
      await this.#rest(TRY_AGAIN_MS);
    }
  }

  async #sendGap(cursor: Cursor, gap: Pick<SyslogGap, 'first' | 'last' | 'why'>): Promise<void> {
    this.#gaps.note(gap);
    const { first, last, why } = gap;
    const frame = this.#framed({ severity: 'error', msgId: 'GAP', data: { first, last }, text: JSON.stringify({ first, last, why }) });
    await this.#send(cursor, Buffer.from(frame, 'latin1'));
    this.#reached(cursor, last, '');
  }

  /** Of gaps that were told: what was put back since. */
  async #sendFound(cursor: Cursor): Promise<void> {
    const { queries, source, settings } = this.#parts;
    if (this.#gapsLooked.elapsedMs < settings.auditSyslogConfirmIntervalMs) return;
    this.#gapsLooked.restart();
    for (const gap of this.#gaps.all) {
      for (let after = gap.first - 1; after < gap.last && cursor.bytes < UNCONFIRMED_BYTES_MAX; ) {
        const { lost, last, bytes } = await queries.syslogSlice({ after, bytesMax: SLICE_BYTES, source, messageBytesMax: settings.auditSyslogMessageBytesMax });
        if (lost || last === after) break;
        await this.#send(cursor, bytes); // it may go on behind the gap: what arrives twice has the same hash
        cursor.found.set(gap, (after = last));
      }
    }
  }

  #reached(cursor: Cursor, sequence: number, hash: string): void {
    Object.assign(cursor, { sequence, hash });
    this.#sent = sequence;
  }

  async #send(cursor: Cursor, bytes: Uint8Array): Promise<void> {
    cursor.since ??= new Stopwatch(this.#parts.clock);
    cursor.bytes += bytes.length;
    await cursor.connection.write(bytes);
  }

  async #confirmed({ sequence, hash }: Cursor): Promise<void> {
    this.#position = { receiver: this.#receiver, sequence, hash, gaps: [...this.#gaps.all] };
    try {
      await this.#file.write(this.#position);
      this.#unkept = '';
    } catch (fault) {
      const unkept = `up to where the audit trail was sent cannot be put down: ${(fault as Error).message}; after a restart it is sent again from before`;
      if (this.#unkept !== unkept) this.#parts.log.error(unkept);
      this.#unkept = unkept;
    }
  }

  #tell(message: Omit<SyslogMessage, 'at'>): void {
    this.#beside = [...this.#beside, { frame: this.#framed(message) }].slice(-BESIDE_MAX);
    this.#wake();
  }

  #framed(message: Omit<SyslogMessage, 'at'>): string {
    return framed(this.#parts.source, { ...message, at: timestamp(this.#parts.clock.wallMs()) });
  }

  async #rest(ms: number): Promise<void> {
    let cancel = (): void => undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      cancel = this.#parts.clock.after(ms, resolve);
    });
    cancel();
  }
}
