/**
 * Which alarms a definition or a source has: kept beside the store by its events, because in a flood
 * every edge would walk all alarms of the site. Only names are kept; what is read is always what the store has now.
 */
import type { Resource } from '../../platform/store/resource.js';
import { onePerStore } from '../../platform/store/one-per-store.js';
import type { Store } from '../../platform/store/store.js';
import { Alarm, type AlarmSpec, type AlarmStatus, type AlarmResource } from './kind.js';

export class AlarmIndex {
  readonly #store: Store;
  /** Names by owner. */
  readonly #names = new Map<string, Set<string>>();

  constructor(store: Store) {
    this.#store = store;
    this.#build();
    store.watchReload(() => this.#build());
    store.watch(Alarm, ({ type, resource }) => {
      for (const owner of ownersOf(resource as Resource<AlarmSpec, AlarmStatus>)) {
        const names = this.#names.get(owner);
        if (type === 'put') this.#names.set(owner, (names ?? new Set()).add(resource.metadata.name));
        else if (names?.delete(resource.metadata.name) && names.size === 0) this.#names.delete(owner);
      }
    });
  }

  /** Every alarm of a definition there is, sorted by name. */
  ofDefinition(site: string, definition: string): AlarmResource[] {
    return this.#alarms(site, `${site}/definition/${definition}`);
  }

  /** Every system alarm of a topic and a source. */
  ofSource(site: string, topic: string, source: string): AlarmResource[] {
    return this.#alarms(site, `${site}/${systemName(topic)}/${source}`);
  }

  /** Every alarm about a source, whoever raised it. @param source `<Kind>/<name>`. */
  about(site: string, source: string): AlarmResource[] {
    return this.#alarms(site, `${site}/about/${source}`);
  }

  #alarms(site: string, owner: string): AlarmResource[] {
    const names = this.#names.get(owner);
    return names ? [...names].sort().flatMap((name) => this.#store.get(Alarm, site, name) ?? []) : [];
  }

  #build(): void {
    this.#names.clear();
    for (const alarm of this.#store.list(Alarm)) {
      for (const owner of ownersOf(alarm)) this.#names.set(owner, (this.#names.get(owner) ?? new Set()).add(alarm.metadata.name));
    }
  }
}

export const alarmIndex = onePerStore((store) => new AlarmIndex(store));

/** Decisions Q-ALARM-02: `system-<topic>-<n>`. */
export function systemName(topic: string): string {
  return `system-${topic}`;
}

function ownersOf({ metadata: { site, name }, spec }: AlarmResource): readonly string[] {
  return [spec.definitionRef === '' ? `${site}/${name.replace(/-\d+$/, '')}/${spec.source}` : `${site}/definition/${spec.definitionRef}`, `${site}/about/${spec.source}`];
}
