/**
 * Every published tag of the plant in a fixed order, with what was last published of it. Tag g belongs to slice g mod 10,
 * so each tag keeps its 200 ms while the frames leave in ten small portions (contract 2, Limits): one burst of a thousand
 * frames would overrun the 256-frame buffer of a distant client that could easily follow the stream.
 *
 * Invariant: the eventId kept for a tag is that of its last change of value or quality, not of its last republication
 * (decisions Q-STREAM-18).
 */
import { timestamp } from '../base/clock.js';
import type { TagSource } from './channel.js';
import { type Filter, seesPlace } from './filter.js';
import type { EventMembers } from './frames.js';

export const TAG_REPUBLISH_MS = 200; // contract 2, Limits
export const SLICES = 10;
export const SLICE_MS = TAG_REPUBLISH_MS / SLICES;

/** One unit on the board. */
interface Entry {
  readonly source: TagSource;
  /** JSON from `"type":"tag"` up to and including `"value":`, one per tag. */
  readonly heads: readonly string[];
  readonly lastJson: string[];
  readonly lastQuality: string[];
  readonly lastAtMs: Float64Array;
  readonly lastChange: Float64Array;
}

/** Tags one filter sees: positions in each slice. */
export interface TagSelection {
  readonly filter: Filter;
  /** By slice: positions in that slice, ascending. */
  slots: readonly Int32Array[];
  count: number;
  users: number;
}

/** A tag as a snapshot shows it, taken when the subscription began. */
export interface KnownTag extends EventMembers {
  readonly address: string;
}

export class TagBoard {
  readonly #entries = new Map<string, Entry>();
  readonly #selections = new Map<string, TagSelection>();
  readonly #nextEventId: () => number;
  /** By slice: entry and tag index of each position. */
  #layout: readonly { readonly entries: readonly Entry[]; readonly tags: Int32Array }[] = emptyLayout();

  constructor(nextEventId: () => number) {
    this.#nextEventId = nextEventId;
  }

  /** Adds the tags of a unit, or replaces them after a new plan; tags that did not change keep their eventId. */
  place(source: TagSource): void {
    const key = `${source.site}\n${source.unit}`;
    const before = this.#entries.get(key);
    const known = new Map(before?.source.addresses.map((address, index) => [address, index]));
    const count = source.addresses.length;
    const entry: Entry = {
      source,
      heads: source.addresses.map((address) => headOf(source, address)),
      lastJson: new Array<string>(count).fill(''),
      lastQuality: new Array<string>(count).fill(''),
      lastAtMs: new Float64Array(count),
      lastChange: new Float64Array(count),
    };
    source.refresh();
    for (let index = 0; index < count; index += 1) {
      entry.lastJson[index] = source.valueJson(index);
      entry.lastQuality[index] = source.qualityWord(index);
      entry.lastAtMs[index] = source.timestampMs(index);
      const old = known.get(source.addresses[index]);
      const same = before && old !== undefined && before.lastJson[old] === entry.lastJson[index] && before.lastQuality[old] === entry.lastQuality[index];
      entry.lastChange[index] = same ? before.lastChange[old] : this.#nextEventId();
    }
    this.#entries.set(key, entry);
    this.#arrange();
  }

  remove(site: string, unit: string): void {
    if (this.#entries.delete(`${site}\n${unit}`)) this.#arrange();
  }

  /** Interned by filter: equal filters share one list; the glob runs here and never per frame. */
  select(filter: Filter): TagSelection {
    let selection = this.#selections.get(filter.key);
    if (!selection) {
      selection = { filter, slots: [], count: 0, users: 0 };
      this.#resolve(selection);
      this.#selections.set(filter.key, selection);
    }
    selection.users += 1;
    return selection;
  }

  release(selection: TagSelection): void {
    selection.users -= 1;
    if (selection.users === 0) this.#selections.delete(selection.filter.key);
  }

  /**
   * Walks one slice: gives every tag of it its event number and notes what changed. `visit` gets the frame's text from
   * `,"eventId":` to its closing brace; without it (nobody listens) nothing is rendered.
   */
  walk(slice: number, visit: ((position: number, eventId: number, tail: string) => void) | undefined): number {
    const { entries, tags } = this.#layout[slice];
    let refreshed: Entry | undefined;
    let textAtMs = -1;
    let text = 'null';
    for (let position = 0; position < tags.length; position += 1) {
      const entry = entries[position];
      const index = tags[position];
      const { source } = entry;
      if (entry !== refreshed) {
        source.refresh();
        refreshed = entry;
      }
      const eventId = this.#nextEventId();
      const json = source.valueJson(index);
      const quality = source.qualityWord(index);
      const atMs = source.timestampMs(index);
      if (json !== entry.lastJson[index] || quality !== entry.lastQuality[index]) {
        entry.lastJson[index] = json;
        entry.lastQuality[index] = quality;
        entry.lastChange[index] = eventId;
      }
      entry.lastAtMs[index] = atMs;
      if (!visit) continue;
      if (atMs !== textAtMs) {
        textAtMs = atMs;
        text = timeJson(atMs);
      }
      visit(position, eventId, `,"eventId":${eventId},${entry.heads[index]}${json},"quality":"${quality}","ts":${text}}`);
    }
    return tags.length;
  }

  /** The last published state of every tag the filter sees that changed after `since`, in the order of their changes. */
  known(filter: Filter, since: number): KnownTag[] {
    const found: KnownTag[] = [];
    for (const entry of this.#entries.values()) {
      const { source } = entry;
      if (!seesPlace(filter, source.site, source.unit)) continue;
      for (let index = 0; index < source.addresses.length; index += 1) {
        const eventId = entry.lastChange[index];
        const address = source.addresses[index];
        if (eventId <= since || (filter.matchesAddress && !filter.matchesAddress(address))) continue;
        const body = `${entry.heads[index]}${entry.lastJson[index]},"quality":"${entry.lastQuality[index]}","ts":${timeJson(entry.lastAtMs[index])}`;
        found.push({ eventId, type: 'tag', body, address });
      }
    }
    return found.sort((a, b) => a.eventId - b.eventId);
  }

  #arrange(): void {
    const slices = Array.from({ length: SLICES }, () => ({ entries: [] as Entry[], tags: [] as number[] }));
    let ordinal = 0;
    for (const entry of this.#entries.values()) {
      for (let index = 0; index < entry.source.addresses.length; index += 1) {
        const slice = slices[ordinal % SLICES];
        slice.entries.push(entry);
        slice.tags.push(index);
        ordinal += 1;
      }
    }
    this.#layout = slices.map(({ entries, tags }) => ({ entries, tags: Int32Array.from(tags) }));
    for (const selection of this.#selections.values()) this.#resolve(selection);
  }

  #resolve(selection: TagSelection): void {
    const { filter } = selection;
    let count = 0;
    selection.slots = this.#layout.map(({ entries, tags }) => {
      const positions: number[] = [];
      for (let position = 0; position < tags.length; position += 1) {
        const { source } = entries[position];
        if (!seesPlace(filter, source.site, source.unit)) continue;
        if (filter.matchesAddress && !filter.matchesAddress(source.addresses[tags[position]])) continue;
        positions.push(position);
      }
      count += positions.length;
      return Int32Array.from(positions);
    });
    selection.count = count;
  }
}

function emptyLayout(): { readonly entries: readonly Entry[]; readonly tags: Int32Array }[] {
  return Array.from({ length: SLICES }, () => ({ entries: [], tags: new Int32Array(0) }));
}

function headOf(source: TagSource, address: string): string {
  return `"type":"tag","site":${JSON.stringify(source.site)},"unit":${JSON.stringify(source.unit)},"address":${JSON.stringify(address)},"value":`;
}

/** A tag that was never written has no time (decisions Q-TAG-02). */
function timeJson(atMs: number): string {
  return atMs === 0 ? 'null' : `"${timestamp(atMs)}"`;
}
