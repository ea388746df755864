/**
 * Who needs whom, read from the `references` of the kinds and kept up by the events of the store. An index by target: what uses a
 * resource is found without looking at all others, however large the plant is.
 *
 * Invariant: `#byTarget` holds exactly the references of what is in the store, or nothing at all (`#isBuilt` false): after a reload,
 * and until somebody asks for the first time.
 */
import { assert } from '../base/assert.js';
import { systemClock } from '../base/clock.js';
import { conflict, forAll, invalid } from '../base/refusal.js';
import { SlicedWalk } from '../base/slices.js';
import { itemAt } from '../base/sorted.js';
import type { Dependent, Kind, Reference, Ruled, StoreReader } from './kind.js';
import { onePerStore } from './one-per-store.js';
import type { PastList, PastUse, RunEntry } from './past-index.js';
import { keyOf, type Ref, type Resource } from './resource.js';
import type { Store, StoreEvent } from './store.js';

/** A reference seen from its target: the resource that has it. */
export interface Use {
  readonly kind: string;
  readonly site: string;
  readonly name: string;
  readonly path: string;
  readonly when: Reference['when'];
  readonly holds: boolean;
}

/** A reference that leads nowhere, with who has it. */
export interface Dangling extends Use {
  readonly target: Target;
}

export interface Target {
  readonly kind: string;
  readonly site: string;
  readonly name: string;
}

/** A resource that an edit of another one may touch. */
export interface Touched extends Use {
  /** 1 is who names it, 2 who names one of those, and so on. */
  readonly distance: number;
  /** Over whom it is reached: first who names what is edited, last whom it names itself; empty at distance 1. */
  readonly via: readonly Target[];
}

export interface Reach {
  /** Each once and by a shortest way, the nearest first, then in the order of `usedBy`. */
  readonly touched: readonly Touched[];
  /** There are more than are told (`TOUCHED_MAX`, `DISTANCE_MAX`). */
  readonly isCut: boolean;
}

export interface TouchedOptions {
  /** Who needs it: its references, and whoever asks knows more of. */
  readonly usesOf?: (target: Target) => readonly Use[];
  /** What is not told is not walked through either: the way to what is behind it would tell of it. */
  readonly isTold?: (use: Use) => boolean;
}

/** More than a person reads; an answer of some hundred kilobytes, and some ten milliseconds of the gateway. */
export const TOUCHED_MAX = 1000;
/** Twice what the levels of a plant and its recipes take. Modules in a cascade of inputs go further, and each of those tells the whole way. */
export const DISTANCE_MAX = 16;

export const referencesOf = onePerStore((store) => new References(store));

/** Who needs whom, as far as a delete asks. */
export interface Users {
  usedBy(target: Target): readonly Use[];
  contentsOf(site: string): readonly Target[];
}

export class References implements Users {
  readonly #store: Store;
  /** In the order of the domains, lowest first: answers come in this order, then by site and name. */
  readonly #kinds: readonly Kind[];
  readonly #rank: ReadonlyMap<string, number>;
  /** Target -> who names it -> where. */
  readonly #byTarget = new Map<string, Map<string, readonly Use[]>>();
  #isBuilt = false;

  constructor(store: Store) {
    this.#store = store;
    const all = [...store.kinds];
    this.#rank = new Map(all.map(({ kind }, rank) => [kind, rank]));
    this.#kinds = all.filter((kind) => kind.references);
    for (const kind of this.#kinds) store.watch(kind, (event) => this.#follow(kind, event));
    store.watchReload(() => this.#forget());
  }

  /** Everything that names the resource, by kind, site and name. */
  usedBy(target: Target): readonly Use[] {
    this.#build();
    const users = this.#byTarget.get(keyOf(target));
    return users ? [...users.values()].flat().sort((a, b) => this.#compare(a, b)) : [];
  }

  /**
   * The same with what is past: what names something outside of its run is told by the entry of the run, all else while the run is lent.
   * Of the moment in which it is asked: what is past then is looked at in slices, and what comes or goes meanwhile changes nothing of it.
   */
  async everUsedBy(target: Target): Promise<readonly Use[]> {
    const [present, lent, past] = [this.usedBy(target), this.#lentUsesOf(target), this.#pastRuns(target.site)];
    const named: Use[] = [];
    await eachPastUse(past, new Set([keyOf(target)]), (_, use) => named.push(use));
    const uses = new Map<string, Use>();
    for (const use of [...present, ...named, ...lent]) uses.set(`${keyOf(use)} ${use.path}`, use);
    return [...uses.values()].sort((a, b) => this.#compare(a, b));
  }

  /**
   * What an edit of the resource may touch: who names it, who names those, and so on, also where it is not there. What is past does not
   * change any more, so it is told and not walked through; it is told after what is present where not all of both is. Of one moment, as `everUsedBy`.
   */
  async touchedBy(target: Target, { usesOf = (each) => this.usedBy(each), isTold = () => true }: TouchedOptions = {}): Promise<Reach> {
    const walk = new Walk(target, isTold);
    for (const step of walk.steps()) {
      for (const use of usesOf(step.target)) {
        if (this.#store.isPresent(use)) walk.reach(step, use);
        else walk.reachPast(step, use);
      }
    }
    for (const use of this.#lentUsesOf(target)) walk.reachPast(walk.start, use);
    await eachPastUse(this.#pastRuns(target.site), walk, (named, use) => walk.reachPast(walk.stepAt(named), use));
    return walk.told((a, b) => this.#compare(a, b));
  }

  /** As they are now; of all sites for what belongs to none. */
  #pastRuns(site: string): PastList<RunEntry>[] {
    const runs = new Set([...this.#store.kinds].flatMap(({ pastWith }) => pastWith?.kind ?? []));
    return [...runs].flatMap((kind) => (site === '' ? this.#store.pastSites({ kind }) : [site]).map((place) => this.#store.pastOrder<RunEntry>({ kind }, place)));
  }

  #lentUsesOf(target: Target): Use[] {
    return this.#kinds
      .filter(({ pastWith }) => pastWith)
      .flatMap((kind) =>
        this.#store.lentOf(kind).flatMap((resource) =>
          referencesIn(kind, resource)
            .filter((reference) => keyOf(reference) === keyOf(target))
            .map((reference) => useOf(resource, reference)),
        ),
      );
  }

  /**
   * References that lead nowhere; of one site, or of all. What runs is judged when it is started, and what has ended names what was
   * there then; what is owned goes with its owner.
   */
  dangling(site?: string): readonly Dangling[] {
    const found: Dangling[] = [];
    for (const kind of this.#kinds) {
      if (kind.runs) continue;
      for (const resource of this.#store.list(kind, kind.scope === 'site' ? site : '')) {
        if (resource.metadata.ownerReferences.length > 0) continue;
        for (const reference of referencesIn(kind, resource)) {
          if (!exists(this.#store, reference) && !this.#store.pastEntry(reference, reference.site, reference.name))
            found.push({ ...useOf(resource, reference), target: { kind: reference.kind, site: reference.site, name: reference.name } });
        }
      }
    }
    return found;
  }

  /** What stands in a site and holds it, by kind and name; also what has ended there and is past. */
  contentsOf(site: string): readonly Target[] {
    return contentsIn(this.#store, this.#store.kinds, site);
  }

  #compare(a: Target, b: Target): number {
    const ranks = (this.#rank.get(a.kind) ?? 0) - (this.#rank.get(b.kind) ?? 0);
    return ranks || compareText(a.site, b.site) || compareText(a.name, b.name);
  }

  #build(): void {
    if (this.#isBuilt) return;
    this.#byTarget.clear(); // of a build that was broken off
    for (const kind of this.#kinds) for (const resource of this.#store.list(kind)) this.#add(kind, resource);
    this.#isBuilt = true;
  }

  #forget(): void {
    this.#byTarget.clear();
    this.#isBuilt = false;
  }

  #follow(kind: Kind, { type, resource, before, configuration, past }: StoreEvent): void {
    if (!this.#isBuilt || !(configuration || past)) return;
    try {
      if (before) this.#drop(kind, before);
      if (type === 'put') this.#add(kind, resource);
    } catch (fault) {
      this.#forget(); // half of it is in: the next look reads all of them again
      throw fault;
    }
  }

  #add(kind: Kind, resource: Resource): void {
    const user = keyOf(targetOf(resource));
    for (const reference of referencesIn(kind, resource)) {
      const target = keyOf(reference);
      let users = this.#byTarget.get(target);
      if (!users) this.#byTarget.set(target, (users = new Map()));
      users.set(user, [...(users.get(user) ?? []), useOf(resource, reference)]);
    }
  }

  #drop(kind: Kind, resource: Resource): void {
    const user = keyOf(targetOf(resource));
    for (const reference of referencesIn(kind, resource)) {
      const target = keyOf(reference);
      const users = this.#byTarget.get(target);
      if (users?.delete(user) && users.size === 0) this.#byTarget.delete(target);
    }
  }
}

/** What is past and names one of these, by the entries of its runs, each with which of them it names; a name that nobody has is looked for in all. */
async function eachPastUse(runs: readonly PastList<RunEntry>[], targets: { has(key: string): boolean }, tell: (target: string, use: Use) => void): Promise<void> {
  const walk = new SlicedWalk(systemClock);
  for (const list of runs) {
    for (let n = 0; n < list.length; n += 1) {
      const pause = walk.pause();
      if (pause) await pause;
      const { site, name, entry } = itemAt(list, n);
      for (const [target, uses] of Object.entries(entry.names ?? {}))
        if (targets.has(target)) for (const [kind, tail, path, when] of uses) tell(target, { kind, site, name: name + tail, path, when: when ?? 'run', holds: false });
    }
  }
}

interface Step {
  readonly target: Target;
  readonly distance: number;
  /** For whoever names it. */
  readonly via: readonly Target[];
}

/** A walk over the users of users, the nearest first. Invariant: what is reached is reached once, by a shortest way. */
class Walk {
  readonly start: Step;
  readonly #isTold: (use: Use) => boolean;
  /** From where it goes on: what is edited, and what of it is present. */
  readonly #steps = new Map<string, Step>();
  readonly #present = new Map<string, Touched>();
  readonly #past = new Map<string, Touched>();
  #isCut = false;

  constructor(target: Target, isTold: (use: Use) => boolean) {
    this.start = { target, distance: 0, via: [] };
    this.#steps.set(keyOf(target), this.start);
    this.#isTold = isTold;
  }

  /** Those that are added meanwhile come behind all that are nearer. */
  *steps(): Generator<Step> {
    for (const step of this.#steps.values()) {
      if (this.#isCut) return;
      yield step;
    }
  }

  has(key: string): boolean {
    return this.#steps.has(key);
  }

  stepAt(key: string): Step {
    const step = this.#steps.get(key);
    assert(step, 'a walk is asked for a step that it has taken');
    return step;
  }

  reach(step: Step, use: Use): void {
    const key = keyOf(use);
    const known = this.#present.get(key);
    if (known && isFrom(known, step)) this.#present.set(key, together(known, use));
    if (this.#steps.has(key) || !this.#isTold(use)) return;
    if (step.distance === DISTANCE_MAX || this.#present.size === TOUCHED_MAX) {
      this.#isCut = true;
      return;
    }
    const { kind, site, name } = use;
    this.#present.set(key, { ...use, distance: step.distance + 1, via: step.via });
    this.#steps.set(key, { target: use, distance: step.distance + 1, via: [...step.via, { kind, site, name }] });
  }

  /** Nothing is reached over it. */
  reachPast(step: Step, use: Use): void {
    if (this.#steps.has(keyOf(use)) || !this.#isTold(use)) return;
    const known = this.#past.get(keyOf(use));
    if (known && isFrom(known, step)) this.#past.set(keyOf(use), together(known, use));
    else if (!known || known.distance > step.distance + 1) this.#past.set(keyOf(use), { ...use, distance: step.distance + 1, via: step.via });
  }

  told(compare: (a: Target, b: Target) => number): Reach {
    const nearestFirst = (a: Touched, b: Touched): number => a.distance - b.distance || compare(a, b);
    const past = [...this.#past.values()].sort(nearestFirst);
    const touched = [...this.#present.values(), ...past.slice(0, TOUCHED_MAX - this.#present.size)].sort(nearestFirst);
    return { touched, isCut: this.#isCut || touched.length < this.#present.size + past.length };
  }
}

/** Steps hand the same way on to all that they reach. */
function isFrom(touched: Touched, step: Step): boolean {
  return touched.via === step.via && touched.distance === step.distance + 1;
}

/** With another member that names the same: told under the first. */
function together(known: Touched, { when, holds }: Use): Touched {
  return { ...known, when: when === 'write' ? when : known.when, holds: known.holds || holds };
}

/** What members of a run name beside what is `known` wherever the run is, as the entry of the run keeps it (`RunEntry`). */
export function namedBeside(store: Store, run: Ref, members: readonly Resource[], known: readonly Ref[]): Readonly<Record<string, readonly PastUse[]>> {
  const isKnown = new Set(known.map(keyOf));
  const found: Record<string, PastUse[]> = {};
  for (const member of members) {
    const kind = store.kindNamed(member.kind);
    for (const reference of kind ? referencesIn(kind, member) : NOTHING) {
      const key = keyOf(reference);
      if (isKnown.has(key)) continue;
      const use = [member.kind, member.metadata.name.slice(run.name.length), reference.path] as const;
      (found[key] ??= []).push(reference.when === 'write' ? [...use, reference.when] : use);
    }
  }
  return found;
}

/** Where something stands, and what it names. */
export interface Placed extends Target {
  readonly references: readonly Reference[];
}

/**
 * Gives items out when it is their turn, and what they name before them. Only what must exist at a write counts: everything else may
 * come later (decisions Q-ERR-13). References in a circle keep the order of the turns; several in one place come in the order in which
 * they were added, whoever is needed first, so that the last one holds.
 */
export class NeedsFirst<Item> {
  readonly #placeOf: (item: Item) => Target;
  readonly #referencesOf: (item: Item) => readonly Reference[];
  /** Undefined from its turn, or that of whoever needs it, on. */
  readonly #items: (Item | undefined)[] = [];
  readonly #out = new Set<number>();
  /** Of several in one place the last one. */
  readonly #indexOf = new Map<string, number>();
  /** By index: the one that was added before in the same place. */
  readonly #earlier = new Map<number, number>();

  constructor(placeOf: (item: Item) => Target, referencesOf: (item: Item) => readonly Reference[]) {
    this.#placeOf = placeOf;
    this.#referencesOf = referencesOf;
  }

  /** Before the first turn, all that others may name. */
  add(item: Item): void {
    const key = keyOf(this.#placeOf(item));
    const index = this.#items.push(item) - 1;
    const earlier = this.#indexOf.get(key);
    if (earlier !== undefined) this.#earlier.set(index, earlier);
    this.#indexOf.set(key, index);
  }

  /** As `at`, of one that was added, or that nobody names. */
  take(item: Item): readonly Item[] {
    const index = this.#indexOf.get(keyOf(this.#placeOf(item)));
    return index === undefined ? [item] : this.at(index);
  }

  /** What comes with the turn of an item: what it needs and was not out yet, then itself; nothing when it was needed before. */
  at(index: number): readonly Item[] {
    const out: Item[] = [];
    // a stack of our own: a chain of references is as long as a customer likes
    const waiting: { readonly index: number; readonly item: Item; readonly needs: Iterator<number | undefined> }[] = [];
    const visit = (found: number | undefined): void => {
      const item = found === undefined ? undefined : this.#items[found];
      if (found === undefined || item === undefined || this.#isBehindWaiting(found)) return;
      this.#items[found] = undefined;
      waiting.push({ index: found, item, needs: this.#needsOf(found, item) });
    };
    visit(index);
    for (let top = waiting.at(-1); top; top = waiting.at(-1)) {
      const next = top.needs.next();
      if (!next.done) {
        visit(next.value);
        continue;
      }
      waiting.pop();
      this.#out.add(top.index);
      out.push(top.item);
    }
    return out;
  }

  /** Needed, in a circle, by one that was added before it in the same place: it has to wait for its turn. */
  #isBehindWaiting(index: number): boolean {
    for (let before = this.#earlier.get(index); before !== undefined && !this.#out.has(before); before = this.#earlier.get(before)) {
      if (this.#items[before] === undefined) return true;
    }
    return false;
  }

  /** Indices. */
  *#needsOf(index: number, item: Item): Generator<number | undefined> {
    yield this.#earlier.get(index);
    for (const reference of this.#referencesOf(item)) if (reference.when === 'write') yield this.#indexOf.get(keyOf(reference));
  }
}

/** The items so that what is named comes before who names it, else in the order given. */
export function inOrder<Item>(items: readonly Item[], placeOf: (item: Item) => Placed): readonly Item[] {
  const needs = new NeedsFirst<{ readonly item: Item; readonly place: Placed }>(
    ({ place }) => place,
    ({ place }) => place.references,
  );
  for (const item of items) needs.add({ item, place: placeOf(item) });
  return items.flatMap((_, index) => needs.at(index).map(({ item }) => item));
}

/**
 * Everything that must exist when it is written does.
 * @throws Refusal 400 `unknown_reference` naming the member (decisions D-ERR-02, D-UNIT-02).
 */
export function checkReferences<Spec, Status>(
  kind: Kind<Spec, Status>,
  spec: Spec,
  site: string,
  read: StoreReader,
  mayDangle: (reference: Reference) => boolean = () => false,
): void {
  forAll(kind.references?.(spec, site) ?? [], (reference) => {
    if (reference.when !== 'write' || reference.ownWords || exists(read, reference) || mayDangle(reference)) return;
    const field = kind.body === 'document' ? `spec.${reference.path}` : reference.path;
    throw invalid('unknown_reference', field, `${field} names ${reference.kind} ${reference.name}, which does not exist`, { kind: reference.kind, name: reference.name });
  });
}

/** How many dependents a refusal names (decisions Q-ERR-11). */
const DEPENDENTS_NAMED = 20;
const DEPENDENTS_SAID = 3;

/** Who names the resource, and whom its rules find beside them (`dependents`); those hold it, whatever names it. */
export async function usesOf<Spec, Status>(rules: Ruled<Spec, Status>, resource: Resource<Spec, Status>, store: Store): Promise<readonly Use[]> {
  const dependents = dependentsOf(rules, resource, store, referencesOf(store)); // of the moment in which it is asked, as the others
  return withDependents(await referencesOf(store).everUsedBy(targetOf(resource)), dependents);
}

/** What an edit of it may touch: as `usesOf`, and on from each. `rulesOf`: the kinds whose rules are asked too. */
export function touchedBy(target: Target, store: Store, rulesOf: (kind: string) => Ruled | undefined, isTold: (use: Use) => boolean): Promise<Reach> {
  const references = referencesOf(store);
  const usesNow = (each: Target): readonly Use[] => {
    const rules = rulesOf(each.kind);
    const resource = rules && store.get(rules, each.site, each.name);
    const uses = references.usedBy(each);
    return resource ? withDependents(uses, dependentsOf(rules, resource, store, references)) : uses;
  };
  return references.touchedBy(target, { usesOf: usesNow, isTold });
}

function withDependents(uses: readonly Use[], dependents: readonly Target[]): readonly Use[] {
  const [held, known] = [new Set(dependents.map(keyOf)), new Set(uses.map(keyOf))];
  return [
    ...uses.map((use) => (held.has(keyOf(use)) ? { ...use, holds: true } : use)),
    ...dependents.filter((user) => !known.has(keyOf(user))).map((user): Use => ({ ...user, path: '', when: 'run', holds: true })),
  ];
}

/** Who keeps the resource from being removed, each once: one may name it with several members. Nothing holds itself. */
function holdersOf<Spec, Status>(rules: Ruled<Spec, Status>, resource: Resource<Spec, Status>, read: StoreReader, users: Users): readonly Dependent[] {
  const holders = users.usedBy(targetOf(resource)).filter((use) => use.holds && !(use.kind === resource.kind && use.name === resource.metadata.name));
  const each = new Map([...holders, ...dependentsOf(rules, resource, read, users)].map((user) => [keyOf(user), user]));
  return [...each.values()].map(({ kind, name }) => ({ kind, name }));
}

/** What a rule finds stands in the site of what it was asked about, unless it says otherwise. */
function dependentsOf<Spec, Status>(rules: Ruled<Spec, Status>, resource: Resource<Spec, Status>, read: StoreReader, users: Users): readonly Target[] {
  const { name, site } = resource.metadata;
  const found: readonly Dependent[] = [...(rules.heldByContents ? users.contentsOf(name) : []), ...(rules.dependents?.(resource, read) ?? [])];
  return found.map((user) => ({ kind: user.kind, site: user.site ?? site, name: user.name }));
}

/**
 * Whether the resource may go: the kind's own refusal first, then whoever needs it.
 * @throws Refusal 409 `has_dependents` with the first 20 (decisions Q-ERR-11), or what the kind itself says.
 */
export function refuseDelete<Spec, Status>(kind: Ruled<Spec, Status>, resource: Resource<Spec, Status>, store: Store): void {
  refuseDeleteOf(kind, resource, store, referencesOf(store));
}

/** As `refuseDelete`, of a plant that need not be the stored one. */
export function refuseDeleteOf<Spec, Status>(kind: Ruled<Spec, Status>, resource: Resource<Spec, Status>, read: StoreReader, users: Users): void {
  kind.refuseDelete?.(resource, read);
  const dependents = holdersOf(kind, resource, read, users);
  if (dependents.length === 0) return;
  if (kind.held) throw kind.held(resource, dependents);
  const named = dependents.slice(0, DEPENDENTS_SAID).map((dependent) => `${dependent.kind} ${dependent.name}`);
  const more = dependents.length > DEPENDENTS_SAID ? ` and ${dependents.length - DEPENDENTS_SAID} more` : '';
  throw conflict('has_dependents', `${kind.kind} ${resource.metadata.name} is still used by ${named.join(', ')}${more}`, {
    dependents: dependents.slice(0, DEPENDENTS_NAMED),
    dependentCount: dependents.length,
  });
}

export function referencesIn(kind: Kind, { spec, metadata }: Resource): readonly Reference[] {
  try {
    return kind.references?.(spec, metadata.site) ?? [];
  } catch (fault) {
    // what runs is kept with members that do not fit (read-row.ts), and those name nothing
    if (kind.runs) return NOTHING;
    throw fault;
  }
}

const NOTHING: readonly never[] = [];

function exists(read: StoreReader, { kind, site, name }: Target): boolean {
  return read.get({ kind } as Kind, site, name) !== undefined;
}

/** What is owned goes with its owner, and holds nothing by itself. */
export function useOf(resource: Resource, { path, when, holds }: Reference): Use {
  return { ...targetOf(resource), path, when, holds: holds === true && resource.metadata.ownerReferences.length === 0 };
}

/** What stands in a site and holds it; also what has ended there and is past. */
export function contentsIn(read: StoreReader, kinds: Iterable<Kind>, site: string): readonly Target[] {
  return [...kinds]
    .filter((kind) => kind.scope === 'site' && !kind.besideSite)
    .flatMap((kind) => [...read.list(kind, site).map(targetOf), ...read.pastIndex(kind, site)].sort((a, b) => compareText(a.name, b.name)))
    .map(({ kind, site, name }) => ({ kind, site, name }));
}

export function targetOf({ kind, metadata }: Resource): Target {
  return { kind, site: metadata.site, name: metadata.name };
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
