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
import { Scalar } from '../../platform/store/fields.js';
import type { UnitLink, UnitRuntimes } from '../placement/runtimes.js';
import { TagDescriptor, type TagEntry } from './catalog.js';
import { servedValue } from './values.js';

/** The text that `tagValue` writes; no value, Uncertain and no timestamp where nobody executes it. */
export const TagValue = v.strictObject({
  ...TagDescriptor.entries,
  value: v.nullable(Scalar),
  quality: v.picklist(QUALITY_WORDS),
  timestamp: v.nullable(v.string()),
});

nameSchemas({ TagValue });

/** Array of tags of any units; what is not running has no values. Never fails. */
export function withValues(entries: readonly TagEntry[], runtimes: UnitRuntimes): string {
  const links = new Map<string, UnitLink | undefined>();
  let text = '[';
  for (const entry of entries) {
    const { unit } = entry.descriptor;
    let link = links.get(unit);
    if (!link && !links.has(unit)) {
      link = runtimes.link(entry.site, unit);
      if (!link?.ready || !link.refresh()) link = undefined;
      links.set(unit, link);
    }
    text += text === '[' ? tagValue(entry, link) : `,${tagValue(entry, link)}`;
  }
  return `${text}]`;
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
  const { value, quality, atMs } = link.reading(index);
  return `${entry.openJson},"value":${valueJson(servedValue(value))},"quality":"${QUALITY_WORDS[quality]}","timestamp":${atMs === 0 ? 'null' : timestampJson(atMs)}}`;
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
