/**
 * Lists of resources (decisions Q-ERR-15, Q-MES-16). Without `limit` and `cursor` a list answers whole and bare; with one of
 * them it answers a page, bare as well, with the way on in `Link` and the number of all in `X-Total-Count`. A cursor names
 * the sort key of the last item given, so that items that came or went meanwhile neither repeat nor hide the others. It is not sealed:
 * whoever makes one up moves where he reads on in what he may read anyway. It has to be a key as the list has them, else it is 400.
 *
 * A long list is rendered in slices: 10,000 batches held the event loop for half a second. What is past of it is read and sent page by
 * page: a year of phases is a gigabyte. A list of which entries stay in memory is not made for a page of it (`Sorted`).
 */
import { inside } from '../base/assert.js';
import { systemClock } from '../base/clock.js';
import { Stopwatch } from '../base/elapsed.js';
import { invalid } from '../base/refusal.js';
import { between, firstWhere, type Sorted } from '../base/sorted.js';
import { readLimit } from './log-query.js';
import { JSON_MEDIA_TYPE, NO_HEADERS, type Query, Reply, streamed } from './route.js';

const LIMIT_MAX = 1000;
/** How long one list may hold the event loop at a time. */
const SLICE_MS = 4;
/** A longer list is sent while it is made: some megabytes of text are a slice of their own to join and to encode. */
const WHOLE_MAX = 5000;
const ITEMS_PER_CHUNK = 200;

/** What a list is sorted by: compared member by member, lower first. */
export type SortKey = readonly (string | number)[];

/** An item that is JSON already. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export interface ListContext<Name extends string> {
  readonly path: string;
  readonly query: Query<Name | 'limit' | 'cursor'>;
}

export interface PastPage<Item> {
  readonly items: readonly Item[];
  /** Of the last that was looked at, whether it is listed or not. */
  readonly upTo: SortKey;
}

/** Items of a list that are not in memory, sorted by name as the others are. */
export interface PastItems<Item> {
  /** Those after the one that is named; '' for all. */
  pages(after: string): AsyncIterable<PastPage<Item>>;
  /** Those that are in memory, now. */
  present(): readonly Item[];
  /** Nothing becomes past until the result is called. */
  hold(): () => void;
  /** How many are past. */
  count(): number | Promise<number>;
}

export interface Listed<Item, Shown, Name extends string = string> {
  /** Names the list in its cursors: that of another is refused. */
  readonly list: string;
  /** In the order of `keyOf`, and of one moment: what comes and goes afterwards changes nothing of them. */
  readonly items: Sorted<Item>;
  readonly keyOf: (item: Item) => SortKey;
  readonly render: (item: Item) => Shown;
  /** Query parameters that belong to the question; the way on keeps them. */
  readonly kept?: readonly Name[] | undefined;
  /** Of a list whose key is the name. */
  readonly past?: PastItems<Item>;
}

type InMemory<Item, Name extends string> = Pick<Listed<Item, unknown, Name>, 'list' | 'items' | 'keyOf' | 'kept'>;

export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly headers: Readonly<Record<string, string>>;
}

interface Paging {
  readonly limit: number;
  readonly after: SortKey | undefined;
}

/** @throws Refusal `invalid_query` for a limit out of range or a cursor that this list did not hand out. */
export function listReply<Item, Shown, Name extends string = never>(context: ListContext<Name>, listed: Listed<Item, Shown, Name>): Promise<Reply<readonly Shown[]>> {
  const { list, items, render, past } = listed;
  const paging = readPaging(list, context.query, past ? KEY_OF_PAST : keyOfFirst(listed));
  if (past) return mergedReply(context, listed, past, paging);
  if (!paging && items.length > WHOLE_MAX) return wholeReply(pagesOf(items), render);
  const page = cut(context, listed, paging);
  return rendered(page.items, render, page.headers);
}

/**
 * What `listReply` would show of a list in memory, and the headers with it, for whoever has another form than JSON for it.
 * @throws Refusal `invalid_query` as `listReply` does.
 */
export function listPage<Item, Name extends string = never>(context: ListContext<Name>, listed: InMemory<Item, Name>): ListPage<Item> {
  return cut(context, listed, readPaging(listed.list, context.query, keyOfFirst(listed)));
}

/** Of a list with items that are not in memory: it is sorted by name. */
const KEY_OF_PAST: SortKey = [''];

/** What keys of the list look like; undefined of an empty one, which has no page behind any. */
function keyOfFirst<Item>({ items, keyOf }: Pick<Listed<Item, unknown>, 'items' | 'keyOf'>): SortKey | undefined {
  const first = items.at(0);
  return first === undefined ? undefined : keyOf(first);
}

function cut<Item, Name extends string>(context: ListContext<Name>, listed: InMemory<Item, Name>, paging: Paging | undefined): ListPage<Item> {
  const { items, keyOf } = listed;
  if (!paging) return { items: between(items, 0, items.length), headers: NO_HEADERS };
  const { limit, after } = paging;
  const start = after === undefined ? 0 : firstAfter(items, keyOf, after);
  const page = between(items, start, start + limit);
  return { items: page, headers: headersOf(context, listed, limit, items.length, start + limit < items.length ? page.at(-1) : undefined) };
}

/** Of a list in memory. */
async function* pagesOf<Item>(items: Sorted<Item>): AsyncGenerator<readonly Item[]> {
  for (let start = 0; start < items.length; start += ITEMS_PER_CHUNK) yield between(items, start, start + ITEMS_PER_CHUNK);
}

/** @param last of the page, when there are more behind it */
function headersOf<Item, Name extends string>(
  { path, query }: ListContext<Name>,
  { list, keyOf, kept = [] }: InMemory<Item, Name>,
  limit: number,
  total: number,
  last: Item | undefined,
) {
  const headers: Record<string, string> = { 'X-Total-Count': String(total) };
  if (last !== undefined) {
    const next = new URLSearchParams({ limit: String(limit), cursor: encode(list, keyOf(last)) });
    for (const name of kept) for (const value of query.all(name)) next.append(name, value);
    headers.Link = `<${path}?${next}>; rel="next"`;
  }
  return headers;
}

/** As if all were in memory: what is past is read page by page, and only as far as it is asked for. */
async function mergedReply<Item, Shown, Name extends string>(
  context: ListContext<Name>,
  listed: Listed<Item, Shown, Name>,
  past: PastItems<Item>,
  paging: Paging | undefined,
): Promise<Reply<readonly Shown[]>> {
  const { keyOf, render } = listed;
  if (!paging) return wholeReply(merged(past, keyOf, undefined), render);
  const { limit, after } = paging;
  const total = past.present().length + (await past.count());
  const page: Item[] = [];
  for await (const found of merged(past, keyOf, after)) {
    page.push(...found);
    if (page.length > limit) break;
  }
  return rendered(page.slice(0, limit), render, headersOf(context, listed, limit, total, page.length > limit ? page[limit - 1] : undefined));
}

/** One that is long is made while it is sent, and nothing is kept of what has left. */
async function wholeReply<Item, Shown>(pages: AsyncGenerator<readonly Item[]>, render: (item: Item) => Shown): Promise<Reply<readonly Shown[]>> {
  const first: Item[] = [];
  while (first.length <= LIMIT_MAX) {
    const page = await pages.next();
    if (page.done) return rendered(first, render, NO_HEADERS);
    first.push(...page.value);
  }
  return streamed(chunks(first, pages, render), JSON_MEDIA_TYPE);
}

async function* chunks<Item, Shown>(first: Item[], others: AsyncIterable<readonly Item[]>, render: (item: Item) => Shown): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  yield encoder.encode(`[${await joined(first.splice(0), render)}`);
  for await (const page of others) {
    await new Promise((resolve) => setImmediate(resolve)); // a reader who is fast enough would have one chunk after the other made in one turn
    if (page.length > 0) yield encoder.encode(`,${await joined(page, render)}`);
  }
  yield encoder.encode(']');
}

/**
 * Both halves, sorted, after a key. What is present is looked at when a page of the past has come, and nothing becomes past in
 * between: what goes or comes back meanwhile is in one half, or in both and comes once.
 */
async function* merged<Item>(past: PastItems<Item>, keyOf: (item: Item) => SortKey, after: SortKey | undefined): AsyncGenerator<readonly Item[]> {
  const pages = past.pages(after === undefined ? '' : String(after[0]))[Symbol.asyncIterator]();
  for (let last = after; ; ) {
    const release = past.hold();
    let found: Item[];
    let isLast: boolean;
    try {
      const { value: page, done = false } = (await pages.next()) as IteratorResult<PastPage<Item>, undefined>;
      isLast = done;
      const items = past.present();
      const from = last === undefined ? 0 : firstAfter(items, keyOf, last);
      const end = page ? firstAfter(items, keyOf, page.upTo) : items.length;
      found = page ? together(items.slice(from, end), page.items, keyOf) : items.slice(from);
      if (page) last = page.upTo;
    } finally {
      release();
    }
    yield found;
    if (isLast) return;
  }
}

function together<Item>(items: readonly Item[], past: readonly Item[], keyOf: (item: Item) => SortKey): Item[] {
  const found: Item[] = [];
  let at = 0;
  for (const item of past) {
    let order = -1;
    for (; at < items.length; at += 1) {
      order = compareKeys(keyOf(inside(items, at, 'what is left of the list')), keyOf(item));
      if (order >= 0) break;
      found.push(inside(items, at, 'what is left of the list'));
    }
    if (at >= items.length || order > 0) found.push(item);
  }
  return found.concat(items.slice(at));
}

/** In the order of their keys, where they stand in none. */
export function sortedBy<Item>(items: readonly Item[], keyOf: (item: Item) => SortKey): readonly Item[] {
  return [...items].sort((a, b) => compareKeys(keyOf(a), keyOf(b)));
}

export function compareKeys(a: SortKey, b: SortKey): number {
  for (let at = 0; at < a.length; at += 1) {
    const left = a[at];
    const right = b[at];
    if (left !== right) return left !== undefined && right !== undefined && left < right ? -1 : 1;
  }
  return 0;
}

function readPaging(list: string, query: Query<'limit' | 'cursor'>, like: SortKey | undefined): Paging | undefined {
  const cursor = query.get('cursor') ?? '';
  if ((query.get('limit') ?? '') === '' && cursor === '') return undefined;
  return { limit: readLimit(query, LIMIT_MAX), after: cursor === '' ? undefined : decode(list, cursor, like) };
}

function firstAfter<Item>(items: Sorted<Item>, keyOf: (item: Item) => SortKey, after: SortKey): number {
  return firstWhere(items, (item) => compareKeys(keyOf(item), after) > 0);
}

/** Those that pass, looked at in slices: `items` is of one moment, what `passes` looks at besides is of several. */
export async function those<Item>(items: readonly Item[], passes: (item: Item) => boolean): Promise<readonly Item[]> {
  const found: Item[] = [];
  const watch = new Stopwatch(systemClock);
  for (const item of items) {
    if (watch.elapsedMs >= SLICE_MS) await nextTurn(watch);
    if (passes(item)) found.push(item);
  }
  return found;
}

/** What is made of each, in slices. */
export async function eachOf<Item, Shown>(items: readonly Item[], make: (item: Item) => Shown): Promise<readonly Shown[]> {
  const shown: Shown[] = [];
  const watch = new Stopwatch(systemClock);
  for (const item of items) {
    if (watch.elapsedMs >= SLICE_MS) await nextTurn(watch);
    shown.push(make(item));
  }
  return shown;
}

async function nextTurn(watch: Stopwatch): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  watch.restart();
}

async function rendered<Item, Shown>(items: readonly Item[], render: (item: Item) => Shown, headers: Readonly<Record<string, string>>): Promise<Reply<readonly Shown[]>> {
  return new Reply<readonly Shown[]>('ok', `[${await joined(items, render)}]`, headers, JSON_MEDIA_TYPE);
}

function textOf(shown: unknown): string {
  return shown instanceof JsonText ? shown.text : JSON.stringify(shown);
}

async function joined<Item, Shown>(items: readonly Item[], render: (item: Item) => Shown): Promise<string> {
  return (await eachOf(items, (item) => textOf(render(item)))).join(',');
}

function encode(list: string, key: SortKey): string {
  return Buffer.from(JSON.stringify([list, ...key]), 'utf8').toString('base64url');
}

function decode(list: string, cursor: string, like: SortKey | undefined): SortKey {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    parts = undefined;
  }
  const [tag, ...key] = Array.isArray(parts) ? (parts as readonly unknown[]) : [];
  if (tag !== list || !isKey(key) || (like && !isLike(key, like))) throw invalid('invalid_query', 'cursor', 'cursor must be that of the Link of an earlier page of this list');
  return key;
}

function isKey(parts: readonly unknown[]): parts is SortKey {
  return parts.length > 0 && parts.every((part) => typeof part === 'string' || Number.isFinite(part));
}

function isLike(key: SortKey, like: SortKey): boolean {
  return key.length === like.length && key.every((part, n) => typeof part === typeof like[n]);
}
