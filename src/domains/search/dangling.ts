/** References that lead nowhere are no fault: a plant is engineered in any order (decisions Q-ERR-13). Somebody should know of them all the same. */
import type { Dangling } from '../../platform/store/references.js';

const NAMED_MAX = 20; // the line stays readable; used-by and a read of each tell the rest

/** '' when there is none. */
export function danglingText(dangling: readonly Dangling[]): string {
  if (dangling.length === 0) return '';
  const placeOf = (site: string): string => (site === '' ? '' : ` in site ${site}`);
  const named = dangling.slice(0, NAMED_MAX).map(({ kind, site, name, path, target }) => `${path} of ${kind} ${name}${placeOf(site)} names ${target.kind} ${target.name}`);
  const more = dangling.length > NAMED_MAX ? `, and ${dangling.length - NAMED_MAX} more` : '';
  return `what is named here does not exist: ${named.join('; ')}${more}`;
}
