/** One field to find anything by: units, batches, recipes, tags ... (decisions Q-CHANGE-11, Q-AUTH-14). Nothing here writes. */
import { invalid } from '../../platform/base/refusal.js';
import { decodeCursor, encodeCursor } from '../../platform/base/cursor.js';
import { type Caller, mayVisit } from '../../platform/http/caller.js';
import { readLimit } from '../../platform/http/log-query.js';
import { parameters, required, text, texts, whole } from '../../platform/http/parameters.js';
import { logPage } from '../../platform/http/replies.js';
import { type Query, type Route, type RouteColumns, routesFor } from '../../platform/http/route.js';
import type { Kind } from '../../platform/store/kind.js';
import type { Store } from '../../platform/store/store.js';
import { Site } from '../plant/kind.js';
import type { TagCatalog, TagEntry } from '../tags/catalog.js';
import { mayRead } from './readable.js';
import type { PastTexts } from './past-texts.js';
import { Found, type Ranked, rankOfName, type SearchIndex } from './search-index.js';

export interface SearchDeps {
  readonly store: Store;
  readonly index: SearchIndex;
  readonly past: PastTexts;
  readonly catalog: TagCatalog;
  /** Every row that is served. */
  rows(): readonly RouteColumns[];
}

const ITEMS = 50;
const ITEMS_MAX = 200;
const WORDS_LENGTH_MAX = 200;
/** Not a kind of the store: what control modules and programs make (contract 2, Tags). */
const TAG = 'Tag';
const route = routesFor<SearchDeps>();

export const SEARCH_ROUTES: readonly Route<SearchDeps>[] = [
  route({
    method: 'GET',
    path: '/api/v1/search',
    action: 'search:read',
    tier: 'read',
    query: parameters({ q: required(text('words to search for')), site: text(), kinds: texts(), limit: whole(1, ITEMS_MAX), cursor: text() }),
    summary: 'Everything whose name, title, label or other text holds the words of q, best first; query q, site, kinds (comma list), limit, cursor',
    reply: logPage(Found),
    async handle({ query, caller }, deps) {
      const wanted = readWords(query);
      const limit = readLimit(query, ITEMS_MAX, ITEMS);
      const kinds = readKinds(query, deps.index.kinds);
      const cursor = query.get('cursor');
      const start = cursor ? Math.max(0, decodeCursor('search', cursor, 1)[0]) : 0;
      const ranked = await search(wanted, kinds, query.get('site'), caller, deps, start + limit + 1);
      const items = ranked.slice(start, start + limit).map(({ found }) => found);
      return { items, nextCursor: start + limit < ranked.length ? encodeCursor('search', start + limit) : null };
    },
  }),
];

function readWords(query: Query<'q'>): string {
  const words = (query.get('q') ?? '').trim();
  if (words === '' || words.length > WORDS_LENGTH_MAX) throw invalid('invalid_query', 'q', `q must hold 1 to ${WORDS_LENGTH_MAX} characters to search for`);
  return words.toLowerCase();
}

/** Names of kinds; all of them when the parameter is absent. @throws Refusal `invalid_query`. */
function readKinds(query: Query<'kinds'>, known: readonly Kind[]): ReadonlySet<string> {
  const allowed = [...known.map(({ kind }) => kind), TAG];
  const kinds = (query.get('kinds') ?? '').split(',').filter((kind) => kind !== '');
  for (const kind of kinds) {
    if (!allowed.includes(kind)) throw invalid('invalid_query', 'kinds', `there is no kind ${kind} that can be searched; use ${allowed.join(', ')}`, { allowed });
  }
  return new Set(kinds.length === 0 ? allowed : kinds);
}

/** Best first; equally good ones in the order of the kinds, then by name. `most`: how many of them are looked at. */
async function search(
  wanted: string,
  kinds: ReadonlySet<string>,
  only: string | undefined,
  caller: Caller,
  { store, index, past, catalog, rows }: SearchDeps,
  most: number,
): Promise<readonly Ranked[]> {
  const isVisible = (kind: Kind, site: string, name: string): boolean => {
    const place = kind.kind === Site.kind ? name : site;
    return place === '' ? only === undefined : (only === undefined || place === only) && mayVisit(caller, place);
  };
  const place = new Map([...index.kinds.map(({ kind }) => kind), TAG].map((kind, n) => [kind, n]));
  const placeOf = ({ found: { kind } }: Ranked): number => place.get(kind) ?? 0;
  const order = (a: Ranked, b: Ranked): number => a.rank - b.rank || placeOf(a) - placeOf(b) || compare(a.found.name, b.found.name) || compare(a.found.site, b.found.site);
  const readable = index.kinds.filter((kind) => kinds.has(kind.kind) && mayRead(caller, kind, rows()));
  const isPast = await past.find({ wanted, kinds: readable, isVisible, order, most });
  const found = [...index.find(wanted, readable, isVisible), ...isPast];
  if (kinds.has(TAG) && caller.may('tag:browse')) {
    const sites = store.list(Site).map(({ metadata }) => metadata.name);
    for (const site of sites) if ((only === undefined || site === only) && mayVisit(caller, site)) found.push(...catalog.ofSite(site).flatMap((tag) => tagMatch(tag, wanted)));
  }
  return found.sort(order);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** By its name, by `module.tag`, or by its address, which a device tag has for itself. */
function tagMatch({ descriptor: { address, name, unit, controlModule }, site, path }: TagEntry, wanted: string): Ranked[] {
  const texts = [name, path, address].map((text) => text.toLowerCase());
  const found = texts.find((text) => text.includes(wanted));
  if (found === undefined) return [];
  const page = `/api/v1/sites/${encodeURIComponent(site)}/units/${encodeURIComponent(unit)}/tags/${encodeURIComponent(address)}`;
  return [{ rank: rankOfName(found, wanted), found: { kind: TAG, site, name: address, title: controlModule, path: page, match: found === texts[0] ? 'name' : 'address' } }];
}
