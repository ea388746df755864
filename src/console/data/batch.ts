/** The batch that is open on the screen: its detail and messages, and what a person does to it. */
import { effect, signal } from '@preact/signals';
import { ApiError, compute, get, post } from './api.js';
import { Latest } from './latest.js';
import { batches, batchTouched, readBatchesSoon, ready, site, whenUntold } from './plant.js';
import { can } from './session.js';
import { isFinal } from './states.js';
import { coalesced, everySecond } from './timers.js';
import type { PreflightCheck } from './to-do.js';
import type { BatchDetail, BatchMessage, Command, LogPage, PreflightAnswer } from './types.js';
import { view } from './view.js';

const MESSAGES_MAX = 50;
/** So many are kept of a batch that is open for days; older ones are read again by who goes back to them. */
const MESSAGES_KEPT = 1000;

export const selected = signal('');
export const detail = signal<BatchDetail | null>(null);
/** Newest first: what is kept up, and what somebody has gone back to. */
export const messages = signal<readonly BatchMessage[]>([]);
/** Cursor of what is older than `messages`; null when nothing is. */
export const olderMessages = signal<string | null>(null);
/** The batch that is asked for does not exist, or exists no more. */
export const gone = signal(false);
/** Why it could not be read, while nothing of it is shown; it is asked for again. */
export const batchFault = signal<unknown>(undefined);
const latest = new Latest();

function path(name: string): string {
  return `/api/v1/sites/${encodeURIComponent(site.peek())}/batches/${encodeURIComponent(name)}`;
}

export function select(name: string): void {
  if (selected.peek() === name) return;
  latest.forget();
  selected.value = name;
  show(null, { items: [], nextCursor: null });
  gone.value = false;
  batchFault.value = undefined;
  void read(false);
}

function show(batch: BatchDetail | null, { items, nextCursor }: LogPage<BatchMessage>): void {
  detail.value = batch;
  const before = messages.peek();
  const last = items.at(-1);
  // more may have come than a page holds: what was known before follows it only where the two meet
  const meets = nextCursor === null || before.some(({ id }) => id === last?.id);
  const older = last && meets ? before.filter(({ id }) => id < last.id) : [];
  const kept = older.length + items.length > MESSAGES_KEPT ? [] : older;
  if (kept.length === 0) olderMessages.value = nextCursor;
  if (items[0]?.id !== before[0]?.id || items.length + kept.length !== before.length) messages.value = [...items, ...kept];
}

export async function readOlderMessages(): Promise<void> {
  const [name, cursor] = [selected.peek(), olderMessages.peek()];
  if (cursor === null) return;
  const { items, nextCursor } = await get<LogPage<BatchMessage>>(`${path(name)}/messages?limit=${MESSAGES_MAX}&cursor=${encodeURIComponent(cursor)}`);
  if (selected.peek() !== name || olderMessages.peek() !== cursor) return;
  messages.value = [...messages.peek(), ...items];
  olderMessages.value = nextCursor;
}

async function read(background: boolean): Promise<void> {
  const name = selected.peek();
  if (name === '') return;
  const ask = () =>
    Promise.all([
      get<BatchDetail>(path(name), { background }),
      can('batch:messages') ? get<LogPage<BatchMessage>>(`${path(name)}/messages?limit=${MESSAGES_MAX}`, { background }) : { items: [], nextCursor: null },
    ]);
  try {
    await latest.read(ask, ([batch, page]) => {
      gone.value = false;
      batchFault.value = undefined;
      show(batch, page);
    });
  } catch (fault) {
    if (!(fault instanceof ApiError) || fault.status !== 404) {
      batchFault.value = fault;
      return;
    }
    gone.value = true;
    show(null, { items: [], nextCursor: null });
    readBatchesSoon();
  }
}

export const readSoon = coalesced(100, () => read(true));

export function startBatch(): void {
  effect(() => {
    const { batch } = batchTouched.value;
    if (batch !== '' && batch === selected.peek()) readSoon();
  });
  whenUntold(readSoon);
  // on the overview the batch that matters most is open without a touch; the view of a batch shows the one that is asked for
  effect(() => {
    const found = batches.value;
    if (ready.value && view.value.name !== 'batch' && (selected.peek() === '' || gone.value)) select(found[0]?.name ?? '');
  });
  everySecond(async () => {
    const batch = detail.peek();
    const isAsked = batch ? !isFinal(batch.phase) : batchFault.peek() !== undefined && !isForbidden(batchFault.peek());
    if (isAsked && !document.hidden) await read(true);
  });
}

function isForbidden(fault: unknown): boolean {
  return fault instanceof ApiError && fault.status === 403;
}

/** A 200 means recorded; the verdict shows as a new state or as `commandRejection` (contract 3, Command rules). */
export async function command(name: string, word: Command, reason: string): Promise<void> {
  await post(`/api/v1/sites/${encodeURIComponent(site.peek())}/command`, { kind: 'Batch', name, command: word, ...(reason === '' ? {} : { reason }) });
  readSoon();
}

/** What the gateway says of a command before it is sent. */
export interface Preflight {
  readonly problems: readonly PreflightCheck[];
  /** What was in the way, and is so no more. */
  readonly lifted: readonly PreflightCheck[];
  /** Units that a Start would take. */
  readonly units: readonly string[];
}

export async function preflight(name: string, command: 'Start' | 'Restart' | 'Resume'): Promise<Preflight> {
  const { checks, allocations } = await compute<PreflightAnswer>(
    `/api/v1/sites/${encodeURIComponent(site.peek())}/batches/preflight`,
    { batch: name, command },
    { background: true },
  );
  return {
    problems: checks.filter(({ ok }) => !ok),
    lifted: checks.filter(({ ok, message }) => ok && message !== ''),
    units: allocations.flatMap(({ unit }) => (unit === '' ? [] : [unit])),
  };
}
