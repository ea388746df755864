/**
 * A record to which nothing is added by itself any more leaves the memory (ADR 0038): of all that a batch leaves behind it is the
 * largest. Each is a run of its own, so that whoever reads, reviews or seals one brings back nothing else.
 */
import type { Clock } from '../../platform/base/clock.js';
import { Interleaved, made, type Sorted } from '../../platform/base/sorted.js';
import type { WallMs } from '../../platform/base/times.js';
import type { Entry } from '../../platform/http/time-page.js';
import type { Key } from '../../platform/reconcile/key.js';
import type { Outcome, Reconciler } from '../../platform/reconcile/loop.js';
import { absent } from '../../platform/store/absent.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { pastRows } from '../../platform/store/past-rows.js';
import type { Ref } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { BatchRecord, isClosed, isRecordSettled, listedOf, type PastRecord, type RecordResource } from './kind.js';
import { LATER, mark, mayMark, QuietTimes, SOON } from './marking.js';

export class PastRecordReconciler implements Reconciler {
  readonly name = 'past-record';
  readonly #store: Store;
  readonly #quiet: QuietTimes;

  constructor({ store, clock, afterMs }: { readonly store: Store; readonly clock: Clock; readonly afterMs: number }) {
    this.#store = store;
    this.#quiet = new QuietTimes(clock, afterMs);
  }

  keys(): Iterable<Key> {
    return this.#store.list(BatchRecord).map(({ metadata }) => metadata);
  }

  async reconcile({ site, name }: Key): Promise<Outcome> {
    const record = this.#store.get(BatchRecord, site, name);
    if (!record || !isClosed(record) || this.#store.pastEntry(BatchRecord, site, name)) {
      this.#quiet.forget({ site, name });
      return 'settled';
    }
    const leftMs = this.#quiet.leftMs(record);
    if (leftMs > 0) return { lookAgainMs: leftMs };
    const run = recordOf({ site, name })[0] as Ref;
    if (!mayMark(this.#store)) return LATER;
    if (pastRows(this.#store).isHeld(run)) return SOON;
    if (this.#store.faults.some((fault) => fault.kind === run.kind && fault.site === site && fault.name === name)) return 'settled';
    this.#quiet.forget({ site, name });
    await mark(this.#store, { run, members: [run], streams: [] });
    return 'settled';
  }
}

/** By which the record of a batch is known, which has its name. */
export function recordOf({ site = '', name = '' }: { readonly site?: string; readonly name?: string }): readonly Ref[] {
  return [{ kind: BatchRecord.kind, site, name }];
}

/** A record as lists show it. */
export interface ListedRecord {
  readonly site: string;
  readonly name: string;
  readonly entry: PastRecord;
}

/** What a list asks of its records; '' and what is absent asks nothing. */
export interface RecordQuestion {
  /** Bounds of the end of the batch. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  readonly phase?: string;
  readonly outcome?: string;
  readonly productID?: string;
  /** A text that its names and numbers hold, in any case. */
  readonly search?: string;
}

/** By which people know a record, beside its name. */
const SEARCHED = ['batchID', 'workOrderID', 'lotID', 'recipe', 'productID'] as const;

/** Those of which it is so, the latest ended first, in one moment: what is filtered is looked at in slices and stays what it was. */
export async function newestRecords(store: Store, site: string, question: RecordQuestion = {}): Promise<Sorted<Entry<ListedRecord>>> {
  const { fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY, search = '', ...says } = question;
  const wanted = search.trim().toLowerCase();
  const asked = Object.entries(says).filter(([, text]) => text !== '') as (readonly [keyof PastRecord, string])[];
  const all = store.pastOrder<PastRecord>(BatchRecord, site, 'ended');
  const present = store
    .list(BatchRecord, site)
    .map((record) => entryOf(listed(record)))
    .filter(({ atMs, item }) => atMs >= fromMs && atMs < toMs && asked.every(([member, text]) => item.entry[member] === text) && holds(item, wanted))
    .sort((a, b) => b.atMs - a.atMs); // by name already
  const past = await all.slice(all.upTo(-toMs), all.upTo(-fromMs)).where({
    oneOf: asked.map(([member, text]) => [member, [text]]),
    ...(wanted === '' ? {} : { holding: { members: ['name', ...SEARCHED], text: wanted } }),
  });
  return new Interleaved(
    present,
    present.map(({ atMs, name }) => past.before(name, -atMs)),
    made(past, entryOf),
  );
}

function holds({ name, entry }: ListedRecord, wanted: string): boolean {
  return wanted === '' || [name, ...SEARCHED.map((member) => entry[member])].some((text) => text.toLowerCase().includes(wanted));
}

function entryOf(record: ListedRecord): Entry<ListedRecord> {
  return { atMs: record.entry.atMs as WallMs, name: record.name, item: record };
}

/** Those of one batchID. */
export function recordsOf(read: StoreReader, batchID: string, site?: string): ListedRecord[] {
  const present = read.list(BatchRecord, site).filter(({ spec }) => spec.batch.batchID === batchID);
  return [...present.map(listed), ...read.pastIndex<PastRecord>(BatchRecord, site, ['batchID', batchID])];
}

export function listed(record: RecordResource): ListedRecord {
  const { site, name } = record.metadata;
  return { site, name, entry: listedOf(record) };
}

/** Undefined where there is none, and where it is past and cannot be used any more. */
export function readRecord(store: Store, site: string, name: string): Promise<RecordResource | undefined> {
  return pastRows(store).during(recordOf({ site, name }), () => store.get(BatchRecord, site, name));
}

/** @throws Refusal 404 where there is none, and where it cannot be used. */
export function requireStored(store: Store, site: string, name: string): Promise<RecordResource> {
  return pastRows(store).during(recordOf({ site, name }), () => {
    const record = store.get(BatchRecord, site, name);
    if (!record) throw absent(store, BatchRecord, site, name);
    return record;
  });
}

/** Of whoever is about to write to it: present, and held by the row it is served by. */
export async function broughtBack(store: Store, site: string, name: string): Promise<void> {
  const brought = pastRows(store).bring(recordOf({ site, name }));
  if (brought) (await brought)();
}

export function hasSettledRecord(store: Store, site: string, name: string): boolean {
  const past = store.pastEntry<PastRecord>(BatchRecord, site, name);
  if (past) return past.entry.settled;
  const record = store.get(BatchRecord, site, name);
  return record !== undefined && isRecordSettled(record.status);
}
