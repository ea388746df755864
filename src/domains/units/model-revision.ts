/**
 * When somebody has engineered: a number of each site that rises with every change of what the lists of its units, modules, tags and alarm definitions are
 * made of, and the `model` channel that tells it. A page compares it with the one its lists were read at, so that it reads them again
 * when they have changed, and only then.
 *
 * Invariant: lists that are read after a revision was told hold everything up to it.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { onePerStore } from '../../platform/store/one-per-store.js';
import type { Store, StoreEvent } from '../../platform/store/store.js';
import type { Hub } from '../../platform/stream/hub.js';
import { ControlModule, ControlModuleTemplate } from '../control-modules/kind.js';
import { AlarmDefinition } from '../alarms/kind.js';
import { ControlProgram, FunctionBlockType } from '../logic/kind.js';
import { Area, ProcessCell, Site, Unit } from '../plant/kind.js';

/** Of one site, as a Site is of its own name; the others are of all sites. */
const OF_A_SITE = [Area, ProcessCell, Unit, ControlModule, ControlProgram, AlarmDefinition];
const OF_ALL = [ControlModuleTemplate, FunctionBlockType];

/** An apply writes thousands of resources one after the other, and every panel reads whole lists for what it is told. */
export const MODEL_TOLD_EVERY_MS = 1000;

/** A frame of the channel without what every frame has. */
export interface ModelFrame {
  readonly type: 'model';
  readonly site: string;
  readonly revision: number;
  readonly ts: string;
}

export class ModelRevisions {
  readonly #store: Store;
  #ofAll: number;
  readonly #ofSite = new Map<string, number>();
  readonly #listeners: ((site: string | undefined) => void)[] = [];

  constructor(store: Store) {
    this.#store = store;
    this.#ofAll = store.resourceVersion;
    for (const kind of OF_A_SITE) store.watch(kind, (event) => void (isEngineering(event) && this.#rise(event.resource.metadata.site)));
    store.watch(Site, (event) => void (isEngineering(event) && this.#rise(event.resource.metadata.name)));
    for (const kind of OF_ALL) store.watch(kind, (event) => void (isEngineering(event) && this.#rise(undefined)));
    store.watchReload(() => this.#rise(undefined)); // what was told of may have been taken back
  }

  of(site: string): number {
    return Math.max(this.#ofAll, this.#ofSite.get(site) ?? 0);
  }

  /** @param listener gets undefined where every site is concerned. */
  watch(listener: (site: string | undefined) => void): void {
    this.#listeners.push(listener);
  }

  /** By itself too: after a reload the version of the store may be one that there was before. */
  #rise(site: string | undefined): void {
    const next = Math.max(this.#store.resourceVersion, Math.max(this.#ofAll, ...this.#ofSite.values()) + 1);
    if (site === undefined) this.#ofAll = next;
    else this.#ofSite.set(site, next);
    for (const listener of this.#listeners) listener(site);
  }
}

export const modelRevisions = onePerStore((store) => new ModelRevisions(store));

/** Their mode is what an operator sets (contract 2, Equipment mode), though it stands in their spec. */
const WITH_MODE: readonly string[] = [ControlModule.kind, Unit.kind];

function isEngineering({ type, resource, before, configuration }: StoreEvent): boolean {
  if (type === 'remove') return true;
  if (!configuration) return false;
  if (!WITH_MODE.includes(resource.kind) || !before) return true;
  const engineered = ({ metadata: { labels, annotations }, spec }: StoreEvent['resource']) => ({ labels, annotations, spec: { ...(spec as object), mode: '' } });
  return !isDeepStrictEqual(engineered(resource), engineered(before));
}

export interface ModelPublishing {
  readonly hub: Pick<Hub, 'publish'>;
  readonly store: Store;
  readonly clock: Clock;
}

/** A change is told within `MODEL_TOLD_EVERY_MS`, with what else changes meanwhile. */
export function publishModel({ hub, store, clock }: ModelPublishing): void {
  const revisions = modelRevisions(store);
  const told = new Set<string>();
  const concerned = new Set<string>();
  let isPlanned = false;
  const tell = (): void => {
    isPlanned = false; // first: whatever is thrown below, the next change is told, and with it what is left here
    for (const site of concerned) {
      concerned.delete(site);
      if (!store.get(Site, '', site)) continue;
      const frame: ModelFrame = { type: 'model', site, revision: revisions.of(site), ts: timestamp(clock.wallMs()) };
      told.add(site);
      // it says that something is to be read again, nothing of what it is
      hub.publish({ channel: 'model', key: site, site, unit: '', frame: { ...frame }, unrecorded: true });
    }
    for (const site of told) {
      if (store.get(Site, '', site)) continue;
      told.delete(site);
      hub.publish({ channel: 'model', key: site, site, unit: '', frame: {}, forget: true, unrecorded: true });
    }
  };
  const sites = (): string[] => store.list(Site).map(({ metadata }) => metadata.name);
  revisions.watch((site) => {
    for (const each of site === undefined ? sites() : [site]) concerned.add(each);
    if (isPlanned || concerned.size === 0) return;
    isPlanned = true;
    clock.after(MODEL_TOLD_EVERY_MS, tell);
  });
  for (const site of sites()) concerned.add(site);
  tell();
}
