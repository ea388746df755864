/**
 * Which phases of a template on a unit are in which state, kept beside the store by its events: the gate of an alarm asks for
 * it at every change of a phase, and a site keeps the phases of all its ended batches. Only names are kept; what is read is
 * what the store has.
 */
import type { State } from '../../../runtime/vocabulary/states.js';
import type { Resource } from '../../platform/store/resource.js';
import { onePerStore } from '../../platform/store/one-per-store.js';
import type { Store } from '../../platform/store/store.js';
import { type ElementStatus, Phase, type PhaseSpec } from './kind.js';

type PhaseResource = Resource<PhaseSpec, ElementStatus>;

export class PhaseStates {
  readonly #store: Store;
  /** By `site/unit/template`, then by state. */
  readonly #names = new Map<string, Map<State, Set<string>>>();

  constructor(store: Store) {
    this.#store = store;
    store.watch(Phase, ({ type, resource, before }) => {
      if (before) this.#drop(before as PhaseResource);
      if (type === 'put') this.#add(resource as PhaseResource);
    });
    store.watchReload(() => this.#build());
    this.#build();
  }

  isAnyIn(site: string, unit: string, template: string, states: readonly string[]): boolean {
    const byState = this.#names.get(`${site}/${unit}/${template}`);
    return byState !== undefined && [...byState.keys()].some((state) => states.includes(state));
  }

  of(site: string, unit: string, template: string): PhaseResource[] {
    const names = [...(this.#names.get(`${site}/${unit}/${template}`)?.values() ?? [])].flatMap((each) => [...each]);
    return names.sort().flatMap((name) => this.#store.get(Phase, site, name) ?? []);
  }

  #build(): void {
    this.#names.clear();
    for (const phase of this.#store.list(Phase)) this.#add(phase);
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
