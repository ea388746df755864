/**
 * Every published tag of the plant in a fixed order, with what was last published of it. Tag g belongs to slice g mod 10,
 * so each tag keeps its 200 ms while the frames leave in ten small portions (contract 2, Limits): one burst of a thousand
 * frames would overrun the 256-frame buffer of a distant client that could easily follow the stream.
 *
 * Invariant: the eventId kept for a tag is that of its last change of value or quality, not of its last republication
 * (decisions Q-STREAM-18).
 */
import type { WallMs } from '../base/times.js';
import { assert } from '../base/assert.js';
import { timestamp } from '../base/clock.js';
import { contain } from '../base/guarded.js';
import type { TagSource } from './channel.js';
import { type Filter, seesPlace } from './filter.js';
import { type EventMembers, membersOf, type TagFrame } from './frames.js';

export const TAG_REPUBLISH_MS = 200; // contract 2, Limits
export const SLICES = 10;
export const SLICE_MS = TAG_REPUBLISH_MS / SLICES;

const NONE = new Int32Array(0);

/** One unit on the board. */
export interface Entry {
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
  /** By unit: indexes of its tags that the filter sees. A new plan of one unit leaves those of the others as they are. */
  seen: Map<Entry, Int32Array>;
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
      const old = known.get(source.addresses[index] as string);
      const same = before && old !== undefined && before.lastJson[old] === entry.lastJson[index] && before.lastQuality[old] === entry.lastQuality[index];
      entry.lastChange[index] = same ? (before.lastChange[old] as number) : this.#nextEventId();
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
      selection = { filter, slots: [], count: 0, users: 0, seen: new Map() };
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
    const layout = this.#layout[slice];
    assert(layout && layout.entries.length === layout.tags.length, 'each place of a slice has its unit and its tag');
    const { entries, tags } = layout;
    let refreshed: Entry | undefined;
    let textAtMs = -1;
    let text = 'null';
    for (let position = 0; position < tags.length; position += 1) {
      const entry = entries[position] as Entry;
      const index = tags[position] as number;
      const { source } = entry;
      const eventId = this.#nextEventId();
      let json: string;
      let quality: string;
      let atMs = entry.lastAtMs[index] as number;
      try {
        if (entry !== refreshed) {
          source.refresh();
          refreshed = entry;
        }
        json = source.valueJson(index);
        quality = source.qualityWord(index);
        atMs = source.timestampMs(index);
      } catch (fault) {
        json = 'null'; // nobody knows the value; the tags behind it are read as ever
        quality = 'Bad';
        contain('hub: tags of a unit', fault);
      }
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

  /** The last published state of every tag of the selection that changed after `since`, in the order of their changes. */
  known({ seen }: TagSelection, since: number): EventMembers[] {
    const found: EventMembers[] = [];
    let textAtMs = -1;
    let text = 'null';
    for (const [entry, indexes] of seen) {
      for (const index of indexes) {
        const eventId = entry.lastChange[index] as number;
        if (eventId <= since) continue;
        if (entry.lastAtMs[index] !== textAtMs) {
          textAtMs = entry.lastAtMs[index] as number;
          text = timeJson(textAtMs);
        }
        const body = `${entry.heads[index]}${entry.lastJson[index]},"quality":"${entry.lastQuality[index]}","ts":${text}`;
        found.push({ eventId, type: 'tag', body });
      }
    }
    return found.sort((a, b) => a.eventId - b.eventId);
  }

  #arrange(): void {
    const slices = Array.from({ length: SLICES }, () => ({ entries: [] as Entry[], tags: [] as number[] }));
    let ordinal = 0;
    for (const entry of this.#entries.values()) {
      for (let index = 0; index < entry.source.addresses.length; index += 1) {
        const slice = slices[ordinal % SLICES] as (typeof slices)[number];
        slice.entries.push(entry);
        slice.tags.push(index);
        ordinal += 1;
      }
    }
    this.#layout = slices.map(({ entries, tags }) => ({ entries, tags: Int32Array.from(tags) }));
    for (const selection of this.#selections.values()) this.#resolve(selection);
  }

  /** Tag g of the whole board stands in slice g mod 10, there at position g / 10, as `#arrange` lays them out. */
  #resolve(selection: TagSelection): void {
    const positions: number[][] = Array.from({ length: SLICES }, () => []);
    const seen = new Map<Entry, Int32Array>();
    let first = 0;
    let count = 0;
    for (const entry of this.#entries.values()) {
      const indexes = selection.seen.get(entry) ?? indexesSeen(selection.filter, entry.source);
      seen.set(entry, indexes);
      for (const index of indexes) (positions[(first + index) % SLICES] as number[]).push(Math.floor((first + index) / SLICES));
      first += entry.source.addresses.length;
      count += indexes.length;
    }
    selection.seen = seen;
    selection.slots = positions.map((slots) => Int32Array.from(slots));
    selection.count = count;
  }
}

/** The only place where an address meets a pattern: once per filter and plan. */
function indexesSeen(filter: Filter, { site, unit, addresses }: TagSource): Int32Array {
  if (!seesPlace(filter, site, unit)) return NONE;
  const { matchesAddress } = filter;
  const indexes: number[] = [];
  for (let index = 0; index < addresses.length; index += 1) if (!matchesAddress || matchesAddress(addresses[index] as string)) indexes.push(index);
  return Int32Array.from(indexes);
}

function emptyLayout(): { readonly entries: readonly Entry[]; readonly tags: Int32Array }[] {
  return Array.from({ length: SLICES }, () => ({ entries: [], tags: new Int32Array(0) }));
}

function headOf({ site, unit }: TagSource, address: string): string {
  const place: Omit<TagFrame, 'value' | 'quality' | 'ts'> = { type: 'tag', site, unit, address };
  return `${membersOf(place)},"value":`;
}

/** A tag that was never written has no time (decisions Q-TAG-02). */
function timeJson(atMs: WallMs): string {
  return atMs === 0 ? 'null' : `"${timestamp(atMs)}"`;
}
