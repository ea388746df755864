/**
 * Phases that run or wait for an answer, kept beside the store by its events: a site keeps the phases of all its ended
 * batches, and what is asked for every second must not walk them all. Only names are kept; what is read is what the store has.
 */
import type { Resource } from '../../platform/store/resource.js';
import { onePerStore } from '../../platform/store/one-per-store.js';
import type { Store } from '../../platform/store/store.js';
import { type ElementStatus, Phase, type PhaseSpec } from './kind.js';

type PhaseResource = Resource<PhaseSpec, ElementStatus>;

/** An `Idle` phase has had no turn yet, or has been reset; one that has ended keeps its state for the record. */
const RESTING: readonly string[] = ['Idle', 'Complete', 'Stopped', 'Aborted'];

export class PhasesAtWork {
  readonly #store: Store;
  readonly #names = new Map<string, Set<string>>();

  constructor(store: Store) {
    this.#store = store;
    store.watch(Phase, ({ type, resource }) => this.#look(resource as PhaseResource, type === 'put'));
    store.watchReload(() => this.#build());
    this.#build();
  }

  /** Sorted by name. */
  of(site: string): PhaseResource[] {
    return [...(this.#names.get(site) ?? [])].sort().flatMap((name) => this.#store.get(Phase, site, name) ?? []);
  }

  all(): PhaseResource[] {
    return [...this.#names.keys()].flatMap((site) => this.of(site));
  }

  #build(): void {
    this.#names.clear();
    for (const phase of this.#store.list(Phase)) this.#look(phase, true);
  }

  #look({ metadata: { site, name }, status }: PhaseResource, isThere: boolean): void {
    const names = this.#names.get(site);
    if (!isThere || (RESTING.includes(status.state) && !status.pendingPrompt)) names?.delete(name);
    else if (names) names.add(name);
    else this.#names.set(site, new Set([name]));
  }
}

export const phasesAtWork = onePerStore((store) => new PhasesAtWork(store));
