/** Live values of tags (decisions Q-TAG-02, Q-TAG-03, Q-TAG-05): descriptor plus value, quality and timestamp. */
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import { QUALITY_WORDS, type Quality } from '../../../runtime/vocabulary/quality.js';
import { timestamp } from '../../platform/base/clock.js';
import { Refusal } from '../../platform/base/refusal.js';
import type { UnitLink, UnitRuntimes } from '../units/runtimes.js';
import type { TagDescriptor, TagEntry } from './catalogue.js';
import { servedValue } from './values.js';

export interface TagValue extends TagDescriptor {
  readonly value: Value;
  readonly quality: Quality;
  readonly timestamp: string | null;
}

/** Values of tags of any units; what is not running has none. Never fails. */
export function withValues(entries: readonly TagEntry[], runtimes: UnitRuntimes): TagValue[] {
  const links = new Map<string, UnitLink | undefined>();
  return entries.map((entry) => {
    const { unit } = entry.descriptor;
    let link = links.get(unit);
    if (!links.has(unit)) {
      link = runtimes.link(entry.site, unit);
      if (!link?.ready || !link.refresh()) link = undefined;
      links.set(unit, link);
    }
    return tagValue(entry, link);
  });
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

/** The link must have been refreshed in this turn; undefined for a tag that nobody executes. */
export function tagValue(entry: TagEntry, link: UnitLink | undefined): TagValue {
  const index = link ? link.tagIndex(entry.path) : -1;
  if (!link || index < 0) return { ...entry.descriptor, value: null, quality: 'Uncertain', timestamp: null };
  const { value, quality, atMs } = link.reading(index);
  return { ...entry.descriptor, value: servedValue(value), quality: QUALITY_WORDS[quality], timestamp: atMs === 0 ? null : timestamp(atMs) };
}
