/**
 * A version names the one in whose place it was made (D-C-14). It says where a recipe comes from and nothing else: no order, batch
 * or activation looks at it. So what it names may be withdrawn, deleted, edited, or left on another box; notes of the recipe tell.
 */
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { invalid } from '../../platform/base/refusal.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { Admission, StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { MasterRecipe, type MasterRecipeSpec, type MasterRecipeStatus, RECIPE_PHASES, SupersededVersion } from './kind.js';
import { compareVersions } from './version.js';

type RecipeResource = Resource<MasterRecipeSpec, MasterRecipeStatus>;

export const SuccessorVersion = v.strictObject({ ...SupersededVersion.entries, phase: v.picklist(RECIPE_PHASES) });
export type SuccessorVersion = ToldBy<typeof SuccessorVersion>;

nameSchemas({ SuccessorVersion });

/**
 * A lower version of a product: what is superseded in a circle cannot be written. What a person changes is compared with the recipe that
 * is named, where there is one; apply takes a document as it stood on its box, whatever was edited there since.
 * @throws Refusal 400 naming the member.
 */
export function checkSupersedes(spec: MasterRecipeSpec, { site, name, via, read, before }: Admission<MasterRecipeSpec, MasterRecipeStatus>): void {
  const { supersedes, productID, version } = spec;
  if (!supersedes) return;
  if (productID === '') throw invalid('invalid_field', 'spec.supersedes', `recipe ${name} has no productID: it is no version of a product, and supersedes none`);
  if (supersedes.name === name) throw invalid('invalid_field', 'spec.supersedes.name', `recipe ${name} cannot supersede itself`);
  if (compareVersions(supersedes.version, version) >= 0)
    throw invalid('invalid_field', 'spec.supersedes.version', `version ${version} cannot supersede version ${supersedes.version}, which is not lower`);
  if (via !== 'rest' || isAsBefore(spec, before?.spec)) return;
  const differs = difference(spec, read.get(MasterRecipe, site, supersedes.name)?.spec);
  if (differs) throw invalid('invalid_field', `spec.supersedes.${differs.member}`, `recipe ${supersedes.name} is ${differs.is}, so it is not what ${name} supersedes`);
}

/** What a reader should know of what the recipe supersedes. */
export function supersedesNotes(read: StoreReader, { metadata, spec }: Pick<RecipeResource, 'metadata' | 'spec'>): string[] {
  const { supersedes } = spec;
  if (!supersedes) return [];
  const said = `it supersedes version ${supersedes.version}, recipe ${supersedes.name}`;
  const superseded = read.get(MasterRecipe, metadata.site, supersedes.name);
  if (!superseded) return [`${said}, which does not exist here`];
  const differs = difference(spec, superseded.spec);
  return differs ? [`${said}, which is ${differs.is} now`] : [];
}

/** The recipes that say they supersede this one, the highest version first. */
export function successorsOf(read: StoreReader, { metadata: { site, name } }: Pick<RecipeResource, 'metadata'>): SuccessorVersion[] {
  return read
    .list(MasterRecipe, site)
    .filter(({ spec }) => spec.supersedes?.name === name)
    .map(({ metadata, spec, status }) => ({ name: metadata.name, version: spec.version, phase: status.phase }))
    .sort((a, b) => compareVersions(b.version, a.version));
}

function isAsBefore({ supersedes, productID }: MasterRecipeSpec, before: MasterRecipeSpec | undefined): boolean {
  return before !== undefined && productID === before.productID && isDeepStrictEqual(supersedes, before.supersedes);
}

function difference({ supersedes, productID }: MasterRecipeSpec, named: MasterRecipeSpec | undefined): { readonly member: string; readonly is: string } | undefined {
  if (!named || !supersedes) return undefined;
  if (named.productID !== productID) return { member: 'name', is: named.productID === '' ? 'of no product' : `of product ${named.productID}` };
  return named.version === supersedes.version ? undefined : { member: 'version', is: `version ${named.version}` };
}
