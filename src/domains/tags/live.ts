/**
 * Live values of tags (decisions Q-TAG-02, Q-TAG-03, Q-TAG-05): descriptor plus value, quality and timestamp, as JSON text.
 *
 * The text of a descriptor is made once per catalog revision and only the three live members are appended. Besides the
 * rendering this saves the merged objects: a literal spread over a descriptor made V8 keep a new shape per request, which
 * cost more in collection than everything else in the read together.
 */
import type { WallMs } from '../../platform/base/times.js';
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import { QUALITY_WORDS } from '../../../runtime/vocabulary/quality.js';
import { timestamp } from '../../platform/base/clock.js';
import { Refusal } from '../../platform/base/refusal.js';
import { JsonText, type ListContext, listReply, type SortKey } from '../../platform/http/paged-list.js';
import type { Reply } from '../../platform/http/route.js';
import { Scalar } from '../../platform/store/fields.js';
import { isWithinAge, type UnitLink, type UnitRuntimes } from '../placement/runtimes.js';
import { TagDescriptor, type TagEntry } from './catalog.js';
import { servedValue } from './values.js';

/** The text that `tagValue` writes; no value, Uncertain and no timestamp where nobody executes it. */
export const TagValue = v.strictObject({
  ...TagDescriptor.entries,
  value: v.nullable(Scalar),
  quality: v.picklist(QUALITY_WORDS),
  timestamp: v.nullable(v.string()),
  /** Of a tag with `maxAge`: age of its sample in milliseconds; null while there is none. */
  ageMs: v.exactOptional(v.nullable(v.number())),
  /** Whether a condition may read it. */
  isWithinAge: v.exactOptional(v.boolean()),
});

nameSchemas({ TagValue });

/** A list of tags of any units, in the order of the catalog. */
export function tagList<Name extends string = never>(
  context: ListContext<Name>,
  entries: readonly TagEntry[],
  render: (entry: TagEntry) => JsonText,
  kept: readonly Name[] = [],
): Promise<Reply<never>> {
  const keyOf = ({ descriptor, path }: TagEntry): SortKey => [descriptor.address, path];
  return listReply<TagEntry, JsonText, Name>(context, { list: 'tags', items: entries, kept, keyOf, render }) as Promise<Reply<never>>; // texts of the schema of the row
}

/** With values; what is not running has none. Never fails. */
export function valueList<Name extends string = never>(
  context: ListContext<Name>,
  entries: readonly TagEntry[],
  runtimes: UnitRuntimes,
  kept: readonly Name[] = [],
): Promise<Reply<never>> {
  const links = new LinksOfTurn(runtimes);
  return tagList(context, entries, (entry) => new JsonText(tagValue(entry, links.of(entry))), kept);
}

/** What a link reads is of the turn in which it was refreshed, and a long list is written in several. */
class LinksOfTurn {
  readonly #runtimes: UnitRuntimes;
  readonly #links = new Map<string, UnitLink | undefined>();

  constructor(runtimes: UnitRuntimes) {
    this.#runtimes = runtimes;
  }

  /** Undefined where nothing executes the tag. */
  of({ site, descriptor: { unit } }: TagEntry): UnitLink | undefined {
    if (this.#links.size === 0) setImmediate(() => this.#links.clear());
    let link = this.#links.get(unit);
    if (!link && !this.#links.has(unit)) {
      link = this.#runtimes.link(site, unit);
      if (!link?.ready || !link.refresh()) link = undefined;
      this.#links.set(unit, link);
    }
    return link;
  }
}

/** @throws Refusal `runtime_unreachable` (decisions Q-TAG-05). */
export function reachable(runtimes: UnitRuntimes, site: string, unit: string): UnitLink {
  const link = unit === '' ? undefined : runtimes.link(site, unit);
  if (link?.ready) return link;
  throw unreachable(unit, link?.message ?? '');
}

export function unreachable(unit: string, why: string): Refusal {
  const message = unit === '' ? 'the control module belongs to no unit, so nothing executes it' : `the runtime of unit ${unit} is not reachable${why === '' ? '' : `: ${why}`}`;
  return new Refusal('unavailable', message, { code: 'runtime_unreachable' });
}

/** One tag. The link must have been refreshed in this turn; undefined for a tag that nobody executes. */
export function tagValue(entry: TagEntry, link: UnitLink | undefined): string {
  const index = link ? link.tagIndex(entry.path) : -1;
  if (!link || index < 0) return `${entry.openJson},"value":null,"quality":"Uncertain","timestamp":null}`;
  const { value, quality, atMs, age } = link.reading(index);
  const live = `"value":${valueJson(servedValue(value))},"quality":"${QUALITY_WORDS[quality]}","timestamp":${atMs === 0 ? 'null' : timestampJson(atMs)}`;
  return `${entry.openJson},${live}${age === undefined ? '' : `,"ageMs":${age.ageMs},"isWithinAge":${isWithinAge(age)}`}}`;
}

function valueJson(value: Value): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value); // null, boolean, finite number: JSON writes them alike
}

let lastAtMs = Number.NaN;
let lastJson = '';

/** All tags of a scan carry its time, so the last text nearly always serves again. */
function timestampJson(atMs: WallMs): string {
  if (atMs !== lastAtMs) {
    lastJson = `"${timestamp(atMs)}"`;
    lastAtMs = atMs;
  }
  return lastJson;
}
