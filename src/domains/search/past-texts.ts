/**
 * Words of what is past. A search that read the rows would take as long as the past is large, so their texts stay in memory from the
 * first search on: the runs of one recipe say the same but for their names, and those texts are kept once.
 *
 * What is kept of a run is as large as what its control recipe says; the texts of its elements are shared.
 */
import { assert, inside } from '../../platform/base/assert.js';
import { systemClock } from '../../platform/base/clock.js';
import { Refusal } from '../../platform/base/refusal.js';
import { Slice } from '../../platform/base/slices.js';
import { Turnstile } from '../../platform/base/turnstile.js';
import { type PastText, RUN_NAME } from '../../platform/ledger/past-text.js';
import type { Kind } from '../../platform/store/kind.js';
import { type PastRows, pastRows } from '../../platform/store/past-rows.js';
import { keyOf, type Ref } from '../../platform/store/resource.js';
import type { Store, StoreEvent } from '../../platform/store/store.js';
import { type Entry, entryWith, type Ranked, rankedIn, TEXT_LENGTH_MAX } from './search-index.js';

/** What runs of one recipe have in common. */
interface Shape {
  readonly texts: readonly PastText[];
  /** Whatever names the run, in lower case, each once. */
  readonly named: string;
}

interface PastRun extends Ref {
  readonly key: string;
}

interface RunTexts {
  readonly shape: Shape;
  /** JSON of one `PastText` each: what one run alone says. */
  readonly own: readonly string[];
}

export interface PastSearch {
  /** In lower case. */
  readonly wanted: string;
  readonly kinds: readonly Kind[];
  isVisible(kind: Kind, site: string, name: string): boolean;
  /** The best first. */
  readonly order: (a: Ranked, b: Ranked) => number;
  /** How many of the best are wanted. */
  readonly most: number;
}

/** Some 5 ms of the query thread and 2 ms of the gateway. */
const RUNS_PER_READING = 8;
/** Of a search, while runs leave the memory one after another. */
const ROUNDS_MAX = 3;
const SEARCHES_WAITING_MAX = 20;
const WAIT_MAX_MS = 10_000;

export class PastTexts {
  readonly #store: Store;
  readonly #past: PastRows;
  readonly #kinds: ReadonlyMap<string, Kind>;
  /** Of kinds that name runs. */
  readonly #runKinds: ReadonlySet<string>;
  /** By `kind/site/name` of the run. */
  readonly #texts = new Map<string, RunTexts>();
  readonly #shapes = new Map<string, Shape>();
  readonly #turns = new Turnstile({ what: 'searches', atOnce: 1, waitingMax: SEARCHES_WAITING_MAX, waitMaxMs: WAIT_MAX_MS });
  #reading: Promise<void> | undefined;
  #list: readonly PastRun[] | undefined;
  /** The texts of the whole list are here. */
  #isRead = false;
  /** How often something has become past or come back. */
  #changes = 0;
  /** How often of these what was read may be out of date: what only becomes past takes nothing from it. */
  #returns = 0;

  constructor(store: Store, kinds: readonly Kind[]) {
    const past = kinds.filter(({ pastWith, path }) => pastWith && path !== undefined);
    for (const { kind, redact } of past) assert(!redact, `what ${kind} says is searched when it is past, by a thread that knows no secrets`);
    this.#store = store;
    this.#past = pastRows(store);
    this.#kinds = new Map(past.map((kind) => [kind.kind, kind]));
    this.#runKinds = new Set(past.flatMap(({ pastWith }) => pastWith?.kind ?? []));
    for (const kind of this.#runKinds) {
      const named = store.kindNamed(kind);
      if (named) store.watch(named, (event) => this.#follow(event));
    }
    store.watchReload(() => this.#forget());
  }

  /**
   * The best of what is past; empty when nothing is.
   * @throws Refusal 503 `past_busy` while the texts are being read, and when too many search.
   */
  async find(search: PastSearch): Promise<Ranked[]> {
    if (!search.kinds.some((kind) => this.#kinds.has(kind.kind) && this.#past.mayHold(kind))) return [];
    return this.#turns.through(async () => {
      for (let round = 1; ; round += 1) {
        await this.#haveRead();
        const changes = this.#changes;
        const found = await this.#findIn(this.#runs(), search);
        if (changes === this.#changes || round === ROUNDS_MAX) return found; // none went or came back meanwhile, or one after the other does
      }
    });
  }

  /** Of 100,000 that is a list of some milliseconds: it is made anew when one has become past or come back. */
  #runs(): readonly PastRun[] {
    return (this.#list ??= [...this.#runKinds].flatMap((kind) =>
      this.#store.pastIndex({ kind }).map(({ site, name }) => ({ kind, site, name, key: keyOf({ kind, site, name }) })),
    ));
  }

  #missing(): readonly PastRun[] {
    if (this.#isRead) return [];
    const missing = this.#runs().filter(({ key }) => !this.#texts.has(key));
    this.#isRead = missing.length === 0;
    return missing;
  }

  #follow({ type, resource: { kind, metadata }, past }: StoreEvent): void {
    if (!past) return;
    this.#changed();
    if (type !== 'put') return;
    this.#returns += 1;
    this.#texts.delete(keyOf({ kind, ...metadata })); // it may be written before it is past again
  }

  #changed(): void {
    this.#changes += 1;
    this.#list = undefined;
    this.#isRead = false;
  }

  async #haveRead(): Promise<void> {
    if (!this.#reading && this.#missing().length > 0) {
      this.#reading = this.#readAll().finally(() => (this.#reading = undefined));
      this.#reading.catch(() => undefined); // whoever waits hears of it
    }
    if (!this.#reading) return;
    let cancel = (): void => undefined;
    const late = new Promise<never>((_, reject) => {
      cancel = systemClock.after(WAIT_MAX_MS, () =>
        reject(new Refusal('unavailable', 'the words of what is past are still being read; try again in 5 s', { code: 'past_busy', retryAfterSeconds: 5 })),
      );
    });
    await Promise.race([this.#reading, late]).finally(cancel);
  }

  async #readAll(): Promise<void> {
    for (let missing = this.#missing(); missing.length > 0; missing = this.#missing()) {
      for (let at = 0; at < missing.length; at += RUNS_PER_READING) {
        const runs = missing.slice(at, at + RUNS_PER_READING);
        const returns = this.#returns;
        const read = await this.#past.texts(runs, TEXT_LENGTH_MAX);
        if (returns !== this.#returns) break;
        for (const [n, texts] of read.entries()) this.#keep(inside(runs, n, 'what was asked for'), texts);
      }
    }
  }

  #keep(run: PastRun, texts: readonly string[]): void {
    const shared: string[] = [];
    const own: string[] = [];
    for (const text of texts) {
      const [kind] = JSON.parse(text) as PastText;
      const searched = this.#kinds.get(kind);
      // what names a run is alike in all of a recipe, but where it is all there is of the run
      if (searched) ((kind === run.kind ? texts.length === 1 : searched.pastWith?.named === 'alike') ? own : shared).push(text);
    }
    const key = shared.join('\n');
    let shape = this.#shapes.get(key);
    if (!shape) this.#shapes.set(key, (shape = shapeOf(shared)));
    this.#texts.set(run.key, { shape, own });
  }

  async #findIn(runs: readonly PastRun[], search: PastSearch): Promise<Ranked[]> {
    const best = new Best(search);
    /** What matches by a text that does not name the run. */
    const alike = new Map<Shape, readonly PastText[]>();
    const inJson = JSON.stringify(search.wanted).slice(1, -1);
    let slice = new Slice(systemClock);
    for (const run of runs) {
      if (slice.isOver) {
        await new Promise((resolve) => setImmediate(resolve));
        slice = new Slice(systemClock);
      }
      const texts = this.#texts.get(run.key);
      if (!texts) continue;
      const { shape, own } = texts;
      const isNamed = shape.named.replaceAll(RUN_NAME, run.name.toLowerCase()).includes(search.wanted);
      let among: readonly PastText[] = shape.texts;
      if (!isNamed) {
        const known = alike.get(shape);
        among = known ?? shape.texts.filter((text) => this.#matchOf(text, run, search.wanted));
        if (!known) alike.set(shape, among);
      }
      for (const text of among) this.#offer(text, run, search, best);
      for (const text of own) {
        if (text.replaceAll(RUN_NAME, run.name).toLowerCase().includes(inJson)) this.#offer(JSON.parse(text) as PastText, run, search, best);
      }
    }
    return best.list();
  }

  #offer(text: PastText, run: Ref, { wanted, kinds, isVisible }: PastSearch, best: Best): void {
    const kind = this.#kinds.get(text[0]);
    if (!kind || !kinds.some((each) => each.kind === kind.kind)) return;
    const ranked = this.#matchOf(text, run, wanted);
    if (!ranked) return;
    const { site, name } = ranked.found;
    if (isVisible(kind, site, name) && !this.#store.isPresent({ kind: kind.kind, site, name })) best.offer(ranked);
  }

  #matchOf(text: PastText, run: Ref, wanted: string): Ranked | undefined {
    const kind = this.#kinds.get(text[0]);
    return kind && rankedIn(entryOf(kind, text, run), wanted);
  }

  /** A run that a failed commit has made present may be written, and past again. */
  #forget(): void {
    this.#changed();
    this.#returns += 1;
    const past = new Set(this.#runs().map(({ key }) => key));
    for (const run of this.#texts.keys()) if (!past.has(run)) this.#texts.delete(run);
  }
}

/** The best of many, without keeping the others. */
class Best {
  readonly #search: PastSearch;
  #found: Ranked[] = [];

  constructor(search: PastSearch) {
    this.#search = search;
  }

  offer(ranked: Ranked): void {
    this.#found.push(ranked);
    if (this.#found.length > 2 * this.#search.most + 1000) this.#found = this.list();
  }

  list(): Ranked[] {
    return this.#found.sort(this.#search.order).slice(0, this.#search.most);
  }
}

function shapeOf(texts: readonly string[]): Shape {
  const parsed = texts.map((text) => JSON.parse(text) as PastText);
  const named = new Set(parsed.flatMap(([, name, said]) => [name, ...said.map(([, text]) => text)].filter((text) => text.includes(RUN_NAME))));
  return { texts: parsed, named: [...named].join('\n').toLowerCase() };
}

function entryOf(kind: Kind, [, name, said]: PastText, run: Ref): Entry {
  const whole = said.map(([member, text]) => [member, text.replaceAll(RUN_NAME, run.name)] as const);
  const isLabel = ([member]: readonly [string, string]): boolean => member.startsWith('labels.');
  return entryWith(
    kind,
    run.site,
    name.replaceAll(RUN_NAME, run.name),
    whole.filter((each) => !isLabel(each)),
    whole.filter(isLabel),
  );
}
