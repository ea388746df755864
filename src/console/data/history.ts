/** The execution events of the batch that is open: read once, then only what came since (decisions 8.3). */
import { computed, effect, signal } from '@preact/signals';
import { get } from './api.js';
import { detail, selected } from './batch.js';
import { lastDeed, spellsOf, withNews } from './happened.js';
import { Latest } from './latest.js';
import { batchTouched, modules, site, whenUntold } from './plant.js';
import { can } from './session.js';
import { coalesced } from './timers.js';
import type { BatchEvent, LogPage } from './types.js';

const PAGE_MAX = 1000;
/** What is read without being asked for; a batch with more tells that there is more. */
const PAGES_FIRST = 3;

/** A change of state is told by a few events; more of them are read page by page. */
const NEWS_MAX = 50;

/** Oldest first. */
export const events = signal<readonly BatchEvent[]>([]);
/** Cursor of what is older than `events`; null when nothing is. */
export const olderCursor = signal<string | null>(null);
/** Numbers of entries that would stand among them and are damaged on the box. */
export const damagedEvents = signal<readonly number[]>([]);
export const spells = computed(() => spellsOf(events.value));
/** What stands against the batch now. */
export const standing = computed(() => spells.value.findLast(({ to }) => to === ''));
/** What a person did last; undefined of a batch that nobody has touched. */
export const lastDone = computed(() => lastDeed(events.value));

const latest = new Latest();
let read = '';

function page(name: string, query: Readonly<Record<string, string>>): Promise<LogPage<BatchEvent>> {
  const parameters = new URLSearchParams({ limit: String(PAGE_MAX), ...query });
  return get<LogPage<BatchEvent>>(`/api/v1/sites/${encodeURIComponent(site.peek())}/batches/${encodeURIComponent(name)}/events?${parameters}`, { background: true });
}

/** What a page tells of entries that are not on it. */
function noteDamaged({ damaged = [] }: LogPage<BatchEvent>): void {
  const known = damagedEvents.peek();
  const found = damaged.map(Number).filter((id) => !known.includes(id));
  if (found.length > 0) damagedEvents.value = [...known, ...found].sort((a, b) => a - b);
}

async function readFirst(name: string): Promise<void> {
  const ask = async () => {
    const pages: LogPage<BatchEvent>[] = [];
    let cursor: string | null = '';
    while (pages.length < PAGES_FIRST && cursor !== null) {
      const next: LogPage<BatchEvent> = await page(name, cursor === '' ? {} : { cursor });
      pages.push(next);
      cursor = next.nextCursor;
    }
    return { pages, found: pages.toReversed().flatMap(({ items }) => items.toReversed()), cursor };
  };
  await latest.read(ask, ({ pages, found, cursor }) => {
    read = name;
    pages.forEach(noteDamaged);
    events.value = found;
    olderCursor.value = cursor;
  });
}

/** What came since, from the newest back to what is known: by their numbers, for a clock that was put back dates news before it. */
async function readNews(name: string): Promise<void> {
  const last = events.peek().at(-1);
  if (!last) return readFirst(name);
  const ask = async () => {
    const pages: LogPage<BatchEvent>[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const next: LogPage<BatchEvent> = await page(name, { limit: String(NEWS_MAX), ...(cursor === '' ? {} : { cursor }) });
      pages.push(next);
      cursor = next.items.every(({ id }) => id > last.id) ? next.nextCursor : null;
    }
    return pages;
  };
  await latest.read(ask, (pages) => {
    pages.forEach(noteDamaged);
    const found = pages.toReversed().flatMap(({ items }) => items.toReversed());
    events.value = withNews(events.peek(), found); // older ones may have been read meanwhile
  });
}

/** Of a file or on paper: more than that nobody reads, and a panel PC does not draw. */
export const EVENTS_MAX = 10_000;

/** All of the batch that is open, as far as `EVENTS_MAX` goes. @returns false where another batch has been opened meanwhile. */
export async function readWhole(): Promise<boolean> {
  const name = selected.peek();
  if (read !== name) await readFirst(name);
  while (read === name && olderCursor.peek() !== null && events.peek().length < EVENTS_MAX) await readOlder();
  return read === name && selected.peek() === name;
}

export async function readOlder(): Promise<void> {
  const name = selected.peek();
  const cursor = olderCursor.peek();
  if (cursor === null || read !== name) return;
  const older = await page(name, { cursor });
  if (selected.peek() !== name || olderCursor.peek() !== cursor) return;
  noteDamaged(older);
  events.value = [...older.items.toReversed(), ...events.peek()];
  olderCursor.value = older.nextCursor;
}

const readSoon = coalesced(200, async () => {
  const name = selected.peek();
  if (name === '' || !can('batch:events')) return;
  await (read === name ? readNews(name) : readFirst(name)).catch(() => undefined); // asked again at the next change; the view tells a lost link
});

export function startHistory(): void {
  effect(() => {
    const name = selected.value;
    latest.forget();
    read = '';
    events.value = [];
    damagedEvents.value = [];
    olderCursor.value = null;
    if (name !== '') readSoon();
  });
  effect(() => {
    if (batchTouched.value.batch === selected.peek()) readSoon();
  });
  whenUntold(readSoon);
  // what people do to the equipment changes no batch, and is among its events
  let byHand = '';
  effect(() => {
    const stamp = [...modules.value.values()].map(({ name, updatedAt }) => `${name} ${updatedAt}`).join();
    if (stamp !== byHand) readSoon();
    byHand = stamp;
  });
  // a command that was refused changes the batch and no state
  let seen = '';
  effect(() => {
    const stamp = `${detail.value?.name} ${detail.value?.updatedAt}`;
    if (stamp !== seen) readSoon();
    seen = stamp;
  });
}
