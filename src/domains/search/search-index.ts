/**
 * Words of everything that has a page of its own, kept beside the store by its events: a search looks at texts that are
 * lower case already instead of walking every spec of the plant (decisions Q-CHANGE-11). What was written is described in slices
 * behind its write, or by a search that comes first.
 */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { type Clock, systemClock } from '../../platform/base/clock.js';
import { guardedPromise } from '../../platform/base/guarded.js';
import { SharedTurns } from '../../platform/base/slices.js';
import type { Kind } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store, StoreEvent } from '../../platform/store/store.js';

/** One member with what it says, in lower case. */
interface Text {
  readonly member: string;
  readonly text: string;
}

export interface Entry {
  readonly kind: Kind;
  readonly site: string;
  readonly name: string;
  readonly title: string;
  /** The name first, then the title. */
  readonly texts: readonly Text[];
}

export const Found = v.strictObject({
  kind: v.string(),
  /** '' for kinds that belong to the plant. */
  site: v.string(),
  name: v.string(),
  title: v.string(),
  /** Address of its page in the REST interface. */
  path: v.string(),
  /** The member that holds the words. */
  match: v.string(),
});
export type Found = ToldBy<typeof Found>;

nameSchemas({ SearchResult: Found });

/** Members that people call a thing by, the best first. */
const TITLES = ['displayName', 'title', 'description', 'message'] as const;

/** Longer texts are sources and documents, which nobody calls a thing by. */
export const TEXT_LENGTH_MAX = 500;

/** By which people know a thing as well as by its name. */
const IDS: ReadonlySet<string> = new Set(['batchID', 'workOrderID']);

/** How good a match is: the name or an ID itself, its beginning, a part of it, the title, another member. */
export type Rank = 0 | 1 | 2 | 3 | 4;

export interface Ranked {
  readonly rank: Rank;
  readonly found: Found;
}

export class SearchIndex {
  readonly #store: Store;
  readonly #kinds: readonly Kind[];
  /** By kind, then `site/name`: as it is stored until it is described. */
  readonly #entries = new Map<string, Map<string, Entry | Resource>>();
  /** Written and not described yet, by kind and `site/name`. */
  readonly #fresh = new Map<string, { readonly kind: Kind; readonly key: string }>();
  readonly #turns: SharedTurns;
  #isDescribing = false;

  /** `kinds`: in the order in which equally good matches are answered. */
  constructor(store: Store, kinds: readonly Kind[], clock: Clock = systemClock) {
    this.#store = store;
    this.#turns = SharedTurns.of(clock);
    this.#kinds = kinds.filter(({ path }) => path !== undefined);
    for (const kind of this.#kinds) store.watch(kind, (event) => this.#follow(kind, event));
    store.watchReload(() => this.#build());
    this.#build();
  }

  get kinds(): readonly Kind[] {
    return this.#kinds;
  }

  /** All that holds `wanted` (lower case) in its name, title, a label or another text, and that `isVisible` lets pass. */
  find(wanted: string, kinds: readonly Kind[], isVisible: (kind: Kind, site: string, name: string) => boolean): Ranked[] {
    const found: Ranked[] = [];
    for (const kind of kinds) {
      for (const entry of this.#entriesOf(kind)) {
        const ranked = rankedIn(entry, wanted);
        if (ranked && isVisible(kind, entry.site, entry.name)) found.push(ranked);
      }
      if (kind.foundByName) found.push(...this.#pastByName(kind, wanted, isVisible));
    }
    return found;
  }

  /** What is past of a kind that is searched by its name alone. */
  #pastByName(kind: Kind, wanted: string, isVisible: (kind: Kind, site: string, name: string) => boolean): Ranked[] {
    return this.#store
      .pastIndex(kind)
      .filter(({ site, name }) => name.toLowerCase().includes(wanted) && isVisible(kind, site, name))
      .flatMap(({ site, name }) => rankedIn(entryWith(kind, site, name, [], []), wanted) ?? []);
  }

  #build(): void {
    for (const kind of this.#kinds) {
      this.#entries.set(kind.kind, new Map());
      for (const resource of this.#store.list(kind)) this.#add(kind, resource);
    }
  }

  #follow(kind: Kind, { type, resource, configuration }: StoreEvent): void {
    if (type === 'remove') this.#entries.get(kind.kind)?.delete(keyOf(resource));
    else if (configuration) this.#add(kind, resource);
  }

  #add(kind: Kind, resource: Resource): void {
    const key = keyOf(resource);
    this.#entries.get(kind.kind)?.set(key, resource);
    this.#fresh.set(`${kind.kind}/${key}`, { kind, key });
    if (this.#isDescribing) return;
    this.#isDescribing = true;
    guardedPromise('words for the search', () => this.#describe());
  }

  async #describe(): Promise<void> {
    try {
      let slice = await this.#turns.enter();
      // one iterator, which comes to what is added meanwhile
      for (const [id, { kind, key }] of this.#fresh) {
        this.#fresh.delete(id);
        this.#described(kind, key);
        if (slice.isOver) slice = await this.#turns.enter();
      }
    } finally {
      this.#isDescribing = false;
    }
  }

  /** Undefined of what has gone meanwhile. */
  #described(kind: Kind, key: string): Entry | undefined {
    const entries = this.#entries.get(kind.kind);
    const known = entries?.get(key);
    if (!known || 'texts' in known) return known;
    const entry = entryOf(kind, known);
    entries?.set(key, entry); // at the place it has
    return entry;
  }

  *#entriesOf(kind: Kind): Iterable<Entry> {
    for (const key of this.#entries.get(kind.kind)?.keys() ?? []) {
      const entry = this.#described(kind, key);
      if (entry) yield entry;
    }
  }
}

export function rankedIn(entry: Entry, wanted: string): Ranked | undefined {
  const id = entry.texts.find(({ member, text }) => text === wanted && IDS.has(member));
  if (id) return { rank: 0, found: foundOf(entry, id.member) };
  const hit = entry.texts.find(({ text }) => text.includes(wanted));
  if (!hit) return undefined;
  const { member, text } = hit;
  return { rank: member === 'name' ? rankOfName(text, wanted) : hit === entry.texts[1] && entry.title !== '' ? 3 : 4, found: foundOf(entry, member) };
}

function keyOf({ metadata: { site, name } }: Resource): string {
  return `${site}/${name}`;
}

function entryOf(kind: Kind, { metadata: { site, name, labels }, spec }: Resource): Entry {
  const members = Object.entries((kind.redact?.(spec) ?? spec) as object).filter(isText);
  return entryWith(
    kind,
    site,
    name,
    members,
    Object.entries(labels).map(([key, value]) => [`labels.${key}`, value]),
  );
}

type Said = readonly [member: string, text: string];

/** `members` of the spec; both as they were written. */
export function entryWith(kind: Kind, site: string, name: string, members: readonly Said[], labels: readonly Said[]): Entry {
  const title = TITLES.map((member) => members.find(([key]) => key === member)).find((member) => member !== undefined);
  const texts: Said[] = [['name', name], ...(title ? [title] : []), ...members.filter((member) => member !== title), ...labels];
  return { kind, site, name, title: title?.[1] ?? '', texts: texts.map(([member, text]) => ({ member, text: text.toLowerCase() })) };
}

function isText(member: [string, unknown]): member is [string, string] {
  const [, value] = member;
  return typeof value === 'string' && value !== '' && value.length <= TEXT_LENGTH_MAX;
}

/** Both in lower case, the second within the first. */
export function rankOfName(name: string, wanted: string): Rank {
  return name === wanted ? 0 : name.startsWith(wanted) ? 1 : 2;
}

function foundOf({ kind, site, name, title }: Entry, match: string): Found {
  const place = kind.scope === 'site' ? `/api/v1/sites/${encodeURIComponent(site)}` : '/api/v1';
  return { kind: kind.kind, site, name, title, path: `${place}/${kind.path}/${encodeURIComponent(name)}`, match };
}
