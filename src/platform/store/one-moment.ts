/**
 * All there is of some kinds, present and past, as it was in one moment, for whoever writes it down in pieces: what is past is read page
 * by page, so that years of it take no more memory than a day.
 *
 * Invariant: what is present was taken in the turn of the moment, and lists that were read do not change. Until the end nothing becomes
 * past, and what comes back is kept here as it was: no row is in neither half, and what is in both comes once.
 */
import { Refusal } from '../base/refusal.js';
import type { Kind } from './kind.js';
import type { Metadata, Resource } from './resource.js';
import type { Store } from './store.js';

/** Pages of all sites together: a page is a turn of the gateway, and what is held of the past at a time. */
const CHARACTERS_AT_ONCE = 250_000;
/** Some hundred runs. */
const RETURNED_CHARACTERS_MAX = 16_000_000;
const PRESENT_AT_ONCE = 200;

/** What the moment asks of who reads the past. */
export interface PastPages {
  /** Those of a kind and site by name; damaged ones are left out. */
  pages(kind: Kind, site: string, characters: number): AsyncGenerator<readonly Resource[]>;
  /** Of a row as it lies in the table; undefined where it cannot be used. */
  row(kind: Kind, site: string, name: string, body: string): Resource | undefined;
}

type Place = Pick<Metadata, 'site' | 'name'>;

interface Returned extends Place {
  readonly body: string;
}

export class OneMoment {
  readonly #store: Store;
  readonly #pages: PastPages;
  readonly #kinds: readonly Kind[];
  readonly #isWanted: (site: string) => boolean;
  readonly #present = new Map<string, readonly Resource[]>();
  /** Sites of which past resources of a kind are wanted; of the kinds that are not written down yet. */
  readonly #pastSites = new Map<string, readonly string[]>();
  /** Came back since the moment, by kind; of those that are not written down yet. */
  readonly #returned = new Map<string, Map<string, Returned>>();
  #returnedCharacters = 0;

  /** The moment is now. `isWanted`: of a site, what is past; all that is present is. */
  constructor(store: Store, pages: PastPages, kinds: readonly Kind[], isWanted: (site: string) => boolean) {
    this.#store = store;
    this.#pages = pages;
    this.#kinds = kinds;
    this.#isWanted = isWanted;
    this.take();
  }

  /** The moment is now, and not the one before. */
  take(): void {
    this.#returned.clear();
    this.#returnedCharacters = 0;
    for (const kind of this.#kinds) {
      this.#present.set(kind.kind, this.#store.list(kind));
      const sites = pastSitesOf(this.#store, kind).filter(this.#isWanted);
      if (sites.length > 0) this.#pastSites.set(kind.kind, sites);
      else this.#pastSites.delete(kind.kind);
    }
  }

  /** Whether something of it has to be read. */
  get hasPast(): boolean {
    return this.#pastSites.size > 0;
  }

  present<Spec, Status>({ kind }: Kind<Spec, Status>): readonly Resource<Spec, Status>[] {
    return (this.#present.get(kind) ?? []) as readonly Resource<Spec, Status>[];
  }

  /** Before a run is present again, its rows as they were: kind, site, name and body of one after the other. */
  cameBack(columns: readonly string[]): void {
    for (let at = 0; at + 3 < columns.length; at += 4) {
      const [kind, site, name, body] = columns.slice(at, at + 4) as [string, string, string, string];
      if (this.#pastSites.get(kind)?.includes(site) !== true) continue;
      let rows = this.#returned.get(kind);
      if (!rows) this.#returned.set(kind, (rows = new Map()));
      const key = `${site}/${name}`;
      if (rows.has(key)) continue;
      rows.set(key, { site, name, body });
      this.#returnedCharacters += body.length;
    }
    if (this.#returnedCharacters > RETURNED_CHARACTERS_MAX) this.#returned.clear(); // it cannot be finished any more
  }

  /**
   * By name and site. Pages of a kind are read when they are asked for, once.
   * @throws Refusal 503 where so much has come back meanwhile that it cannot be kept.
   */
  async *of(kind: Kind): AsyncGenerator<readonly Resource[]> {
    const present = this.present(kind);
    let at = 0;
    for await (const past of this.#pastOf(kind, this.#pastSites.get(kind.kind) ?? [])) {
      const found: Resource[] = [];
      for (const row of past) {
        for (let next = present[at]; next && compare(next.metadata, row.metadata) < 0; next = present[at]) {
          found.push(next);
          at += 1;
        }
        const same = present[at];
        if (!same || compare(same.metadata, row.metadata) !== 0) found.push(row);
      }
      yield found;
    }
    for (; at < present.length; at += PRESENT_AT_ONCE) yield present.slice(at, at + PRESENT_AT_ONCE);
  }

  async *#pastOf(kind: Kind, sites: readonly string[]): AsyncGenerator<readonly Resource[]> {
    const walks = sites.map((site) => new Walk(this.#pages.pages(kind, site, CHARACTERS_AT_ONCE / sites.length)));
    for (let after: Place | undefined; ; ) {
      for (const walk of walks) await walk.look();
      if (this.#returnedCharacters > RETURNED_CHARACTERS_MAX) throw tooManyReturned();
      const ends = walks.flatMap(({ last }) => last ?? []);
      const upTo = ends.toSorted(compare)[0];
      const read = walks.flatMap((walk) => walk.take(upTo));
      const rows = [...read, ...this.#cameBackOf(kind, after, upTo, read)];
      yield rows.sort((a, b) => compare(a.metadata, b.metadata));
      if (upTo === undefined) break;
      after = upTo;
    }
    this.#pastSites.delete(kind.kind); // what comes back of it now has been written down
    this.#drop(this.#returned.get(kind.kind)?.keys() ?? [], kind.kind);
  }

  /** Those whose turn it is, and not in the page: it may have been read when they were back. What had its turn before was in its page. */
  #cameBackOf(kind: Kind, after: Place | undefined, upTo: Place | undefined, read: readonly Resource[]): readonly Resource[] {
    const returned = this.#returned.get(kind.kind);
    if (!returned || returned.size === 0) return [];
    const known = new Set(read.map(({ metadata: { site, name } }) => `${site}/${name}`));
    const due = [...returned].filter(([, row]) => upTo === undefined || compare(row, upTo) <= 0);
    this.#drop(
      due.map(([key]) => key),
      kind.kind,
    );
    return due.flatMap(([key, row]) => (known.has(key) || (after !== undefined && compare(row, after) <= 0) ? [] : (this.#pages.row(kind, row.site, row.name, row.body) ?? [])));
  }

  #drop(keys: Iterable<string>, kind: string): void {
    const returned = this.#returned.get(kind);
    for (const key of [...keys]) {
      this.#returnedCharacters -= returned?.get(key)?.body.length ?? 0;
      returned?.delete(key);
    }
  }
}

/** In which something of the kind may be past, by name. */
export function pastSitesOf(store: Store, { kind, pastWith, pastIndex }: Pick<Kind, 'kind' | 'pastWith' | 'pastIndex'>): readonly string[] {
  return (pastWith ?? pastIndex) ? store.pastSites({ kind: pastWith?.kind ?? kind }) : [];
}

/** The past of a kind in one site, as far as it was read and not taken yet. */
class Walk {
  readonly #pages: AsyncGenerator<readonly Resource[]>;
  #rows: readonly Resource[] = [];

  constructor(pages: AsyncGenerator<readonly Resource[]>) {
    this.#pages = pages;
  }

  /** The next page, when the one before was taken. */
  async look(): Promise<void> {
    if (this.#rows.length === 0) this.#rows = (await this.#pages.next()).value ?? [];
  }

  /** Undefined at its end. */
  get last(): Place | undefined {
    return this.#rows.at(-1)?.metadata;
  }

  take(upTo: Place | undefined): readonly Resource[] {
    if (upTo === undefined) return [];
    let end = this.#rows.findIndex(({ metadata }) => compare(metadata, upTo) > 0);
    if (end === -1) end = this.#rows.length;
    const taken = this.#rows.slice(0, end);
    this.#rows = this.#rows.slice(end);
    return taken;
  }
}

/** In the order of lists. */
function compare(a: Place, b: Place): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  if (a.site !== b.site) return a.site < b.site ? -1 : 1;
  return 0;
}

function tooManyReturned(): Refusal {
  return new Refusal('unavailable', 'ended batches came back by the hundred while everything was written down; try again when they are changed or removed', {
    code: 'past_busy',
    retryAfterSeconds: 30,
  });
}
