/** New versions of a recipe (decisions Q-RECIPE-10): the product family's highest version, bumped, and the name made of it. */
import { conflict, invalid } from '../../platform/base/refusal.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { type MasterRecipeSpec, VERSION_TEXT, MasterRecipe } from './kind.js';

export const BUMPS = ['major', 'minor', 'patch'] as const;
export type Bump = (typeof BUMPS)[number];

const NAME_LENGTH_MAX = 63; // decisions Q-ERR-12
const VERSION_SUFFIX = /-v\d+-\d+-\d+$/;

type Version = readonly [major: number, minor: number, patch: number];

const LOWEST: Version = [0, 0, 0];

export function parseVersion(text: string): Version | null {
  const match = VERSION_TEXT.exec(text);
  return match && [Number(match[1]), Number(match[2]), Number(match[3])];
}

export function bumpVersion([major, minor, patch]: Version, bump: Bump): Version {
  if (bump === 'major') return [major + 1, 0, 0];
  return bump === 'minor' ? [major, minor + 1, 0] : [major, minor, patch + 1];
}

function compare(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

/** Below 0 when the first is the lower one; what cannot be read is lower than everything. */
export function compareVersions(a: string, b: string): number {
  return compare(parseVersion(a) ?? LOWEST, parseVersion(b) ?? LOWEST);
}

/** Name and spec of the next version, which supersedes this one (D-C-14). @throws Refusal 400 without productID or when the name is too long, 409 when it exists. */
export function nextVersion(read: StoreReader, site: string, name: string, spec: MasterRecipeSpec, bump: Bump): { readonly name: string; readonly spec: MasterRecipeSpec } {
  if (spec.productID === '') throw invalid('no_product_id', 'spec.productID', `recipe ${name} has no productID, so it belongs to no product family; set one first`);
  const family = read.list(MasterRecipe, site).filter((recipe) => recipe.spec.productID === spec.productID);
  const highest = family.map((recipe) => parseVersion(recipe.spec.version)).reduce<Version>((max, version) => (version && compare(version, max) > 0 ? version : max), LOWEST);
  const version = bumpVersion(highest, bump);
  const next = `${name.replace(VERSION_SUFFIX, '')}-v${version.join('-')}`;
  if (next.length > NAME_LENGTH_MAX) throw invalid('invalid_name', 'name', `the name ${next} would have more than ${NAME_LENGTH_MAX} characters; rename the recipe first`);
  if (read.get(MasterRecipe, site, next)) throw conflict('already_exists', `MasterRecipe ${next} exists already`, { kind: 'MasterRecipe', name: next });
  return { name: next, spec: { ...spec, version: version.join('.'), supersedes: { name, version: spec.version } } };
}
