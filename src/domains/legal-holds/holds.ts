/**
 * Which legal hold keeps a thing (ADR 0132): asked by the store with every change that removes something, by what forgets by itself, and by the lists
 * that show it. A hold that cannot be read holds everything: what it was about is not known.
 */
import { conflict, type Refusal } from '../../platform/base/refusal.js';
import type { Change } from '../../platform/store/change.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Metadata, Ref } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { Alarm, type AlarmStatus } from '../alarms/kind.js';
import { Batch } from '../batches/kind.js';
import { wallSpan } from '../batches/reading/clock-span.js';
import { BatchRecord, type PastRecord } from '../records/kind.js';
import { LegalHold, type LegalHoldResource } from './kind.js';

type Read = Pick<Store, 'get' | 'list' | 'pastEntry' | 'faults' | 'isQuarantined'>;

/** What has the name of its batch. */
const OF_BATCH: readonly string[] = ['Batch', 'BatchRecord', 'ControlRecipe'];
const ELEMENTS: readonly string[] = ['Procedure', 'UnitProcedure', 'Operation', 'Phase', 'CoordinationBlock', 'SyncBarrier'];

/** Kinds of what was at some time. */
const HAVE_TIME: readonly string[] = [Alarm.kind, ...OF_BATCH, ...ELEMENTS];

export function standingHolds(store: Pick<StoreReader, 'list'>): LegalHoldResource[] {
  return store.list(LegalHold).filter(({ status }) => status.lifted === undefined);
}

/** Names of the holds that keep it, by name. */
export function holdsOf(store: Read, ref: Ref): string[] {
  if (isOfProduct(store, ref)) return [];
  const unread = store.faults.filter(({ kind, kept }) => kind === LegalHold.kind && !kept).map(({ name }) => name);
  return [...standingHolds(store).flatMap((hold) => (covers(store, hold, ref) ? [hold.metadata.name] : [])), ...(siteOf(ref) === '' ? [] : unread)];
}

/** @throws Refusal 409 `legal_hold` naming the first that is held, and the hold. */
export function refuseHeld(store: Store, { removes = [] }: Change): void {
  if (removes.length === 0) return;
  for (const ref of removes) {
    if (ref.kind === LegalHold.kind && !store.isQuarantined(ref)) throw refusalOf(ref, ref.name, 'is kept for ever; lift it');
    const [hold] = holdsOf(store, ref);
    if (hold !== undefined) throw refusalOf(ref, hold, `is kept by legal hold ${hold} until an administrator lifts it`);
  }
}

function refusalOf({ kind, name }: Ref, hold: string, why: string): Refusal {
  return conflict('legal_hold', `${kind} ${name} ${why}`, { hold, kind, name });
}

function siteOf({ kind, site, name }: Ref): string {
  return kind === 'Site' ? name : site;
}

/** A program that is derived from a control module goes and comes with it. */
function isOfProduct(store: Read, { kind, site, name }: Ref): boolean {
  return kind === 'ControlProgram' && (store.get({ kind } as never, site, name)?.metadata.ownerReferences.length ?? 0) > 0;
}

function covers(store: Read, { spec: { scope } }: LegalHoldResource, ref: Ref): boolean {
  if (siteOf(ref) !== scope.site) return false;
  if (scope.batchRecords.length > 0) return scope.batchRecords.some((batch) => isOfBatch(store, batch, ref));
  if (scope.from === '') return true;
  const time = timeOf(store, ref);
  if (time === undefined) return HAVE_TIME.includes(ref.kind) && store.isQuarantined(ref); // when it was cannot be read: it may have been then
  return time.from <= scope.to && (time.to === '' || time.to >= scope.from);
}

function isOfBatch(store: Read, batch: string, ref: Ref): boolean {
  if (OF_BATCH.includes(ref.kind)) return ref.name === batch;
  return ELEMENTS.includes(ref.kind) && batchOf(store, ref) === batch;
}

/** Of an element whose row cannot be read the name tells: it begins with that of its batch. */
function batchOf(store: Read, { kind, site, name }: Ref): string {
  const found = store.get({ kind } as never, site, name) as { readonly spec: { readonly batchRef?: unknown } } | undefined;
  if (typeof found?.spec.batchRef === 'string') return found.spec.batchRef;
  const [longest = ''] = store
    .list(Batch, site)
    .map(({ metadata }) => metadata.name)
    .filter((batch) => name.startsWith(`${batch}-`))
    .sort((a, b) => b.length - a.length);
  return longest;
}

interface Time {
  readonly from: string;
  /** '' while it goes on. */
  readonly to: string;
}

/** When it was, as RFC 3339 in UTC, which compares as time does; undefined of what is of no time. */
function timeOf(store: Read, ref: Ref): Time | undefined {
  if (ref.kind === 'Alarm') {
    const alarm = store.get(Alarm, ref.site, ref.name);
    return alarm && timeOfAlarm(alarm);
  }
  const batch = OF_BATCH.includes(ref.kind) ? ref.name : ELEMENTS.includes(ref.kind) ? batchOf(store, ref) : '';
  return batch === '' ? undefined : timeOfBatch(store, ref.site, batch);
}

/** All that its row can tell of: it may have stood before it was raised again, and the clock may have been set back since. */
function timeOfAlarm({ metadata: { createdAt }, status: { activatedAt, clearedAt } }: { readonly metadata: Pick<Metadata, 'createdAt'>; readonly status: AlarmStatus }): Time {
  const times = [createdAt, activatedAt, clearedAt].filter((time) => time !== '').sort();
  return { from: times[0] ?? '', to: clearedAt === '' ? '' : (times.at(-1) ?? '') };
}

/** What the clock showed while it ran: where that was set back, the end may come before the beginning. */
export function timeOfBatch(store: Read, site: string, name: string): Time | undefined {
  const record = store.get(BatchRecord, site, name);
  const told = record?.spec.batch ?? store.pastEntry<PastRecord>(BatchRecord, site, name)?.entry;
  if (told) return timeBetween(told);
  const batch = store.get(Batch, site, name);
  return batch && timeBetween({ ...batch.status, createdAt: batch.metadata.createdAt });
}

/** One that has never started was there from when it was made. */
export function timeBetween({ createdAt, startedAt, ...rest }: Parameters<typeof wallSpan>[0] & { readonly createdAt: string }): Time {
  return wallSpan({ ...rest, startedAt: startedAt || createdAt });
}
