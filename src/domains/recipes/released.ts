/**
 * What is released is what runs (D-C-11): the content of all templates that a recipe reaches is kept in the revision that is
 * released, and a batch is made from it. An edit of a template reaches a batch through a new version, or after somebody has
 * confirmed it with a signature.
 */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { Kind, StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { type MasterRecipeSpec, type MasterRecipeStatus, type RecipeRevisionSpec, RecipeRevision, type ReleasedTemplate } from './kind.js';
import { reachedTemplates } from './reached-templates.js';
import { diff, revisionName, summarise } from './revisions.js';
import { templateNamed } from './used-templates.js';

export const TemplateChange = v.strictObject({
  kind: v.string(),
  name: v.string(),
  /** Display name of who changed it; '' when it was not changed through the gateway, or before this version. */
  by: v.string(),
  /** '' when it does not exist any more. */
  at: v.string(),
  released: v.string(),
  /** Digest of the present content, which `confirm-templates` names; '' when it does not exist any more. */
  present: v.string(),
  /** One sentence each. */
  differences: v.array(v.string()),
});
export type TemplateChange = ToldBy<typeof TemplateChange>;

nameSchemas({ TemplateChange });

type RecipeResource = Resource<MasterRecipeSpec, MasterRecipeStatus>;

const RELEASED = ['Released', 'Effective'];
const DIFFERENCES_MAX = 20; // the condition stays readable

/** Every template that the chart reaches, once. */
export function presentTemplates(read: StoreReader, site: string, { procedure }: Pick<MasterRecipeSpec, 'procedure'>): ReleasedTemplate[] {
  return reachedTemplates(read, site, procedure.chart).map(({ kind, name, spec }) => ({ kind, name, digest: canonicalDigest(spec), spec: spec as ReleasedTemplate['spec'] }));
}

export function currentRevision(read: StoreReader, { metadata, status }: RecipeResource): Resource<RecipeRevisionSpec> | undefined {
  return read.get(RecipeRevision, metadata.site, revisionName(metadata.name, status.revision));
}

/** Undefined while the recipe is not released, and of one that was released before its templates were kept. */
export function releasedTemplates(read: StoreReader, recipe: RecipeResource): readonly ReleasedTemplate[] | undefined {
  return RELEASED.includes(recipe.status.phase) ? currentRevision(read, recipe)?.spec.released : undefined;
}

/** Whether the recipe is released and has no content of its templates: its first Start keeps it. */
export function lacksTemplates(read: StoreReader, recipe: RecipeResource): boolean {
  return RELEASED.includes(recipe.status.phase) && currentRevision(read, recipe)?.spec.released === undefined;
}

/** The store with the templates of the recipe as they were released. */
export function releasedView(read: StoreReader, recipe: RecipeResource, released = releasedTemplates(read, recipe)): StoreReader {
  if (!released) return read;
  const kept = new Map(released.map((template) => [`${template.kind}/${template.name}`, template.spec]));
  return {
    get<Spec, Status>(kind: Kind<Spec, Status>, site: string, name: string): Resource<Spec, Status> | undefined {
      const spec = site === recipe.metadata.site ? kept.get(`${kind.kind}/${name}`) : undefined;
      if (spec === undefined) return read.get(kind, site, name);
      const present = read.get(kind, site, name);
      return { kind: kind.kind, metadata: present?.metadata ?? { ...recipe.metadata, name }, status: present?.status ?? {}, spec } as Resource<Spec, Status>;
    },
    list: (kind, site) => read.list(kind, site),
    pastIndex: (kind, site, saying) => read.pastIndex(kind, site, saying),
  };
}

/** Templates that are not any more what was released. */
export function templateChanges(read: StoreReader, recipe: RecipeResource): TemplateChange[] {
  const { site } = recipe.metadata;
  return (releasedTemplates(read, recipe) ?? []).flatMap(({ kind, name, digest, spec }): TemplateChange[] => {
    const present = templateNamed(read, site, kind, name);
    const now = present ? canonicalDigest(present.spec) : '';
    if (now === digest) return [];
    const by = recipe.status.templateEdits?.findLast((edit) => edit.kind === kind && edit.name === name)?.by ?? '';
    const differences = present ? summarise(diff(spec, present.spec)).slice(0, DIFFERENCES_MAX) : ['it does not exist any more'];
    return [{ kind, name, by, at: present?.metadata.updatedAt ?? '', released: digest, present: now, differences }];
  });
}

export function changeWords({ kind, name, by, at, differences }: TemplateChange): string {
  return `${kind} ${name} was changed${by === '' ? '' : ` by ${by}`}${at === '' ? '' : ` at ${at}`} after the recipe was released: ${differences.join('; ')}`;
}
