/**
 * Alarms that stand and cannot be written: the storage that refuses changes is told while it refuses, from memory, and is
 * stored under the same name when it accepts again (decisions Q-ALARM-02, G4). Whoever lists alarms lists them through here.
 */
import { onePerStore } from '../../platform/store/one-per-store.js';
import type { Store } from '../../platform/store/store.js';
import { Alarm, type AlarmResource } from './kind.js';
import { guarded } from '../../platform/base/guarded.js';

type Told = (alarm: AlarmResource, what: 'stands' | 'is over') => void;

const NONE: ReadonlyMap<string, AlarmResource> = new Map();

export class UnstoredAlarms {
  readonly #store: Store;
  /** Site, then name. */
  readonly #alarms = new Map<string, Map<string, AlarmResource>>();
  readonly #listeners: Told[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  present(alarm: AlarmResource): void {
    const { site, name } = alarm.metadata;
    this.#alarms.set(site, (this.#alarms.get(site) ?? new Map<string, AlarmResource>()).set(name, alarm));
    for (const listener of this.#listeners) guarded('listener of unstored alarms', () => listener(alarm, 'stands'));
  }

  /** It is stored now, or about to be. */
  withdraw(alarm: AlarmResource): void {
    const { site, name } = alarm.metadata;
    const alarms = this.#alarms.get(site);
    if (!alarms?.delete(name)) return;
    if (alarms.size === 0) this.#alarms.delete(site);
    for (const listener of this.#listeners) guarded('listener of unstored alarms', () => listener(alarm, 'is over'));
  }

  onChange(listener: Told): void {
    this.#listeners.push(listener);
  }

  get(site: string, name: string): AlarmResource | undefined {
    return this.#alarms.get(site)?.get(name) ?? this.#store.get(Alarm, site, name);
  }

  /** Sorted by name. */
  list(site: string): readonly AlarmResource[] {
    const stored = this.#store.list(Alarm, site);
    const own = this.#alarms.get(site) ?? NONE;
    if (own.size === 0) return stored;
    return [...stored.filter(({ metadata }) => !own.has(metadata.name)), ...own.values()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }
}

export const unstoredAlarms = onePerStore((store) => new UnstoredAlarms(store));
