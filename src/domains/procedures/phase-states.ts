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

  /** What past runs have left standing, by the name of their procedure (ADR 0037). */
  readonly #past = new Map<string, readonly Stand[]>();

  constructor(store: Store) {
    this.#store = store;
    store.watch(Procedure, ({ type, resource: { metadata }, past }) => {
      if (!past) return;
      const key = `${metadata.site}/${metadata.name}`;
      if (type === 'put') this.#past.delete(key);
      else this.#note(key, store.pastEntry<ProcedureEntry>(Procedure, metadata.site, metadata.name)?.entry);
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
    for (const [key, stands] of this.#past)
      if (key.startsWith(`${site}/`) && stands.some((stand) => stand.unit === unit && stand.template === template && states.includes(stand.state))) return true;
    return false;
  }

  /**
   * Where these phases alone stand in a state: what a gate would miss without them. Few of a long row of batches, since the state in
   * which one has left a unit is that of the next.
   */
  standsOf(phases: readonly PhaseResource[]): readonly Stand[] {
    const own = new Set(phases.map(({ metadata }) => metadata.name));
    const found = new Map<string, Stand>();
    for (const {
      metadata: { site },
      spec: { unitRef: unit, templateRef: template },
      status: { state },
    } of phases) {
      const others = [...(this.#names.get(`${site}/${unit}/${template}`)?.get(state) ?? [])].some((name) => !own.has(name));
      if (!others && !this.#isPast(site, { unit, template, state })) found.set(`${unit}/${template}/${state}`, { unit, template, state });
    }
    return [...found.values()];
  }

  #isPast(site: string, { unit, template, state }: Stand): boolean {
    for (const [key, stands] of this.#past)
      if (key.startsWith(`${site}/`) && stands.some((stand) => stand.unit === unit && stand.template === template && stand.state === state)) return true;
    return false;
  }

  #note(key: string, entry: ProcedureEntry | undefined): void {
    if (entry?.stands?.length) this.#past.set(key, entry.stands);
  }

  of(site: string, unit: string, template: string): PhaseResource[] {
    const names = [...(this.#names.get(`${site}/${unit}/${template}`)?.values() ?? [])].flatMap((each) => [...each]);
    return names.sort().flatMap((name) => this.#store.get(Phase, site, name) ?? []);
  }

  #build(): void {
    this.#names.clear();
    for (const phase of this.#store.list(Phase)) this.#add(phase);
    this.#past.clear();
    for (const { site, name, entry } of this.#store.pastIndex<ProcedureEntry>(Procedure)) this.#note(`${site}/${name}`, entry);
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
