/** The versions of a product at a site: the recipes that have its productID. Pure. */
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { MasterRecipe, type MasterRecipeSpec, type MasterRecipeStatus } from './kind.js';
import { compareVersions } from './version.js';

type RecipeResource = Resource<MasterRecipeSpec, MasterRecipeStatus>;

/** Other versions of the product that are Effective, the highest first; none of a recipe without a product. */
export function otherEffective(read: StoreReader, { metadata, spec }: Pick<RecipeResource, 'metadata' | 'spec'>): RecipeResource[] {
  if (spec.productID === '') return [];
  return read
    .list(MasterRecipe, metadata.site)
    .filter((other) => other.metadata.name !== metadata.name && other.spec.productID === spec.productID && other.status.phase === 'Effective')
    .sort((a, b) => compareVersions(b.spec.version, a.spec.version));
}
