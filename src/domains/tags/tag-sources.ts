/**
 * The tags of running units for the stream hub (and for whoever else samples them): one source per unit link and plan,
 * read from the shared tag table. A value is rendered to JSON only when it changed.
 *
 * A unit whose runtime is away keeps its last values with quality Uncertain: its values do not change by the loss of the
 * link, their quality does (decisions Q-STREAM-03).
 */
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import { QUALITY_WORDS } from '../../../runtime/vocabulary/quality.js';
import type { Store } from '../../platform/store/store.js';
import type { TagSource } from '../../platform/stream/channel.js';
import type { Hub } from '../../platform/stream/hub.js';
import { Unit } from '../plant/kind.js';
import type { TagReading, UnitLink, UnitRuntimes } from '../placement/runtimes.js';
import type { TagCatalog } from './catalog.js';
import { servedValue } from './values.js';

const NOT_RENDERED = Symbol('not rendered');

/** Slots are those of the link's plan when the source was made; a new plan needs a new source. */
export class LinkTagSource implements TagSource {
  readonly site: string;
  readonly unit: string;
  readonly addresses: readonly string[];
  readonly #link: UnitLink;
  readonly #revision: number;
  readonly #values: (Value | typeof NOT_RENDERED)[];
  readonly #json: string[];
  readonly #quality: string[];
  readonly #atMs: Float64Array;
  #away = true;
  #fresh = false;
  #readIndex = -1;

  /** `handleOf` gives the address a tag is served under, by its path. */
  constructor(link: UnitLink, handleOf: (path: string) => string) {
    this.#link = link;
    this.site = link.site;
    this.unit = link.unit;
    this.#revision = link.planRevision;
    this.addresses = link.tags.map(({ address }) => handleOf(address));
    this.#values = this.addresses.map(() => NOT_RENDERED);
    this.#json = this.addresses.map(() => 'null');
    this.#quality = this.addresses.map(() => 'Uncertain');
    this.#atMs = new Float64Array(this.addresses.length);
  }

  refresh(): void {
    const link = this.#link;
    this.#readIndex = -1;
    this.#away = !link.ready || link.planRevision !== this.#revision;
    this.#fresh = !this.#away && link.refresh();
  }

  valueJson(index: number): string {
    this.#read(index);
    return this.#json[index] ?? 'null';
  }

  qualityWord(index: number): string {
    this.#read(index);
    return this.#quality[index] ?? 'Uncertain';
  }

  timestampMs(index: number): number {
    this.#read(index);
    return this.#atMs[index] ?? 0;
  }

  /** The hub asks for value, quality and time of one tag in a row: one reading serves the three. */
  #read(index: number): void {
    if (index === this.#readIndex) return;
    this.#readIndex = index;
    if (this.#away) this.#quality[index] = 'Uncertain';
    // the scan thread was stopped within its publication: what was read before it stands, as it would between two scans
    if (!this.#fresh) return;
    const { value, quality, atMs }: TagReading = this.#link.reading(index);
    if (value !== this.#values[index]) {
      this.#values[index] = value;
      this.#json[index] = JSON.stringify(servedValue(value));
    }
    this.#quality[index] = QUALITY_WORDS[quality] ?? 'Bad';
    this.#atMs[index] = atMs;
  }
}

/** Keeps the tags of the hub, or of whoever else publishes them, and the broker status in step with the unit runtimes. */
export function publishTags(deps: {
  readonly hub: Pick<Hub, 'placeTags' | 'removeTags' | 'setBroker'>;
  readonly runtimes: UnitRuntimes;
  readonly catalog: TagCatalog;
  readonly store: Store;
}): void {
  const { hub, runtimes, catalog, store } = deps;
  const place = (link: UnitLink): void => {
    hub.placeTags(new LinkTagSource(link, (path) => catalog.find(link.site, link.unit, path)?.descriptor.address ?? path));
  };
  const judgeBroker = (): void => {
    const links = runtimes.links();
    hub.setBroker(links.length > 0 && links.every((link) => !link.ready) ? 'disconnected' : 'connected');
  };
  for (const link of runtimes.links()) if (link.planRevision > 0) place(link);
  judgeBroker();
  runtimes.onChange((link, what) => {
    if (what === 'plan') place(link);
    judgeBroker();
  });
  store.watch(Unit, ({ type, resource }) => {
    if (type === 'remove') hub.removeTags(resource.metadata.site, resource.metadata.name);
  });
}
