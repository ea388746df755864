/**
 * Which phases of a template on a unit are in which state, kept beside the store by its events: the gate of an alarm asks for
 * it at every change of a phase, and a site keeps the phases of all its ended batches. Only names are kept; what is read is
 * what the store has.
 */
import type { State } from '../../../runtime/vocabulary/states.js';
import type { Resource } from '../../platform/store/resource.js';
import { onePerStore } from '../../platform/store/one-per-store.js';
import type { Store } from '../../platform/store/store.js';
import type { RunEntry } from '../../platform/store/past-index.js';
import { type ElementStatus, Phase, type PhaseSpec, Procedure } from './kind.js';

/** Where a past phase has come to rest; as JSON in the entry of its run. */
export interface Stand {
  readonly unit: string;
  readonly template: string;
  readonly state: State;
}

/** What stays in memory of a past run. */
export interface ProcedureEntry extends RunEntry {
  readonly stands?: readonly Stand[];
}

type PhaseResource = Resource<PhaseSpec, ElementStatus>;

export class PhaseStates {
  readonly #store: Store;
  /** By `site/unit/template`, then by state. */
  readonly #names = new Map<string, Map<State, Set<string>>>();

  /** What past runs have left standing, by site and then by `unit/template/state` (ADR 0037); made anew when one has come back. */
  readonly #past = new Map<string, Set<string>>();
  /** Lists of stands that are in it already: runs of one recipe share theirs. */
  readonly #noted = new Map<string, WeakSet<readonly Stand[]>>();

  constructor(store: Store) {
    this.#store = store;
    store.watch(Procedure, ({ type, resource: { metadata }, past }) => {
      if (!past) return;
      if (type === 'put') this.#past.delete(metadata.site);
      else if (this.#past.has(metadata.site)) this.#note(metadata.site, store.pastEntry<ProcedureEntry>(Procedure, metadata.site, metadata.name)?.entry);
    });
    store.watch(Phase, ({ type, resource, before }) => {
      if (before) this.#drop(before as PhaseResource);
      if (type === 'put') this.#add(resource as PhaseResource);
    });
    store.watchReload(() => this.#build());
    this.#build();
  }

  isAnyIn(site: string, unit: string, template: string, states: readonly string[]): boolean {
    const byState = this.#names.get(`${site}/${unit}/${template}`);
    if (byState !== undefined && [...byState.keys()].some((state) => states.includes(state))) return true;
    return this.isAnyPast(site, unit, template, states);
  }

  /** The same of what is past: one of them stands there; which it is their rows tell. */
  isAnyPast(site: string, unit: string, template: string, states: readonly string[]): boolean {
    const past = this.#pastOf(site);
    return past.size > 0 && states.some((state) => past.has(`${unit}/${template}/${state}`));
  }

  /** Where these phases stand: what a gate would miss without them. */
  standsOf(phases: readonly PhaseResource[]): readonly Stand[] {
    const found = new Map<string, Stand>();
    for (const { spec, status } of phases)
      found.set(`${spec.unitRef}/${spec.templateRef}/${status.state}`, { unit: spec.unitRef, template: spec.templateRef, state: status.state });
    return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, stand]) => stand);
  }

  #pastOf(site: string): ReadonlySet<string> {
    const past = this.#past.get(site);
    if (past) return past;
    this.#past.set(site, new Set());
    this.#noted.set(site, new WeakSet());
    for (const { entry } of this.#store.pastIndex<ProcedureEntry>(Procedure, site)) this.#note(site, entry);
    return this.#past.get(site) ?? new Set();
  }

  #note(site: string, entry: ProcedureEntry | undefined): void {
    const stands = entry?.stands;
    if (!Array.isArray(stands) || this.#noted.get(site)?.has(stands)) return; // what is kept of a run was never judged
    this.#noted.get(site)?.add(stands);
    for (const { unit, template, state } of stands) this.#past.get(site)?.add(`${unit}/${template}/${state}`);
  }

  of(site: string, unit: string, template: string): PhaseResource[] {
    const names = [...(this.#names.get(`${site}/${unit}/${template}`)?.values() ?? [])].flatMap((each) => [...each]);
    return names.sort().flatMap((name) => this.#store.get(Phase, site, name) ?? []);
  }

  #build(): void {
    this.#names.clear();
    for (const phase of this.#store.list(Phase)) this.#add(phase);
    this.#past.clear();
  }

  #add({ metadata: { site, name }, spec, status }: PhaseResource): void {
    const key = `${site}/${spec.unitRef}/${spec.templateRef}`;
    const byState = this.#names.get(key) ?? new Map<State, Set<string>>();
    this.#names.set(key, byState.set(status.state, (byState.get(status.state) ?? new Set()).add(name)));
  }

  #drop({ metadata: { site, name }, spec, status }: PhaseResource): void {
    const key = `${site}/${spec.unitRef}/${spec.templateRef}`;
    const byState = this.#names.get(key);
    const names = byState?.get(status.state);
    names?.delete(name);
    if (names?.size === 0) byState?.delete(status.state);
    if (byState?.size === 0) this.#names.delete(key);
  }
}

export const phaseStates = onePerStore((store) => new PhaseStates(store));
