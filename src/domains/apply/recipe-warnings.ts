/**
 * What recipes and their templates say that will hurt when they run, judged by the plant that all manifests leave behind: a template may come
 * behind the recipe that names it, and a module behind the phase. A recipe that does not come with the apply is told of where a template does
 * that changes what it is made of; one that is released keeps its templates as they were.
 */
import { Turns } from '../../platform/base/slices.js';
import type { Clock } from '../../platform/base/clock.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { saidNote } from '../../platform/store/spec-note.js';
import { TEMPLATE_KINDS } from '../procedures/kind.js';
import { MasterRecipe, type RecipePhase } from '../recipes/kind.js';
import { reachedTemplates } from '../recipes/reached-templates.js';
import { recipeNotes, templateSiteNotes } from '../recipes/recipe-notes.js';
import { templateNamed } from '../recipes/used-templates.js';
import type { Outcome } from './judging.js';

/** Of one manifest; who reads them all has corrected none. */
const TOLD_MAX = 10;
const TEMPLATES: readonly string[] = TEMPLATE_KINDS;
/** Their next batch is made of the templates as they are then. */
const UNRELEASED: readonly RecipePhase[] = ['Draft', 'Approved'];

export interface RecipeLook {
  readonly store: StoreReader;
  /** The plant with all manifests in place. */
  readonly after: StoreReader;
  readonly clock: Clock;
}

/** @returns warnings by the index of the manifest; each begins with the member that it is about. */
export async function recipeWarnings(outcomes: readonly Outcome[], { store, after, clock }: RecipeLook): Promise<ReadonlyMap<number, readonly string[]>> {
  const told = new Map<number, string[]>();
  const tell = (index: number, warnings: readonly string[]): void => {
    if (warnings.length > 0) told.set(index, [...(told.get(index) ?? []), ...warnings]);
  };
  const written = outcomes.filter(({ puts, step }) => puts.length > 0 && (TEMPLATES.includes(step.manifest.kind.kind) || step.manifest.kind.kind === MasterRecipe.kind));
  if (written.length === 0) return told;
  const turns = new Turns(clock);
  for (const { step } of written) {
    tell(step.index, notesOf(step, after).map(saidNote));
    if (turns.isOver) await turns.next();
  }
  const templates = new Map(
    written.flatMap(({ step }) => (TEMPLATES.includes(step.manifest.kind.kind) ? [[keyOf(step.site, step.manifest.kind.kind, step.manifest.name), step.index]] : [])),
  );
  const recipes = new Set(written.map(({ step }) => keyOf(step.site, step.manifest.kind.kind, step.manifest.name)));
  for (const site of new Set(templates.size === 0 ? [] : written.map(({ step }) => step.site))) {
    for (const { metadata, spec, status } of store.list(MasterRecipe, site)) {
      if (!UNRELEASED.includes(status.phase) || recipes.has(keyOf(site, MasterRecipe.kind, metadata.name))) continue;
      const changed = reachedTemplates(after, site, spec.procedure.chart).find(({ kind, name }) => templates.has(keyOf(site, kind, name)));
      const index = changed && templates.get(keyOf(site, changed.kind, changed.name));
      if (index !== undefined) {
        const known = new Set(recipeNotes(store, site, spec).map(saidNote));
        const fresh = recipeNotes(after, site, spec).filter((note) => !known.has(saidNote(note)));
        tell(
          index,
          fresh.map(({ text }) => `${status.phase} recipe ${metadata.name}: ${text}`),
        );
      }
      if (turns.isOver) await turns.next();
    }
  }
  return new Map([...told].map(([index, warnings]) => [index, bounded(warnings)]));
}

function notesOf({ manifest: { kind, name }, site }: Outcome['step'], read: StoreReader) {
  if (kind.kind === MasterRecipe.kind) {
    const recipe = read.get(MasterRecipe, site, name);
    return recipe ? recipeNotes(read, site, recipe.spec) : [];
  }
  const template = templateNamed(read, site, kind.kind, name);
  return template ? templateSiteNotes(read, site, kind.kind, template.spec) : [];
}

function keyOf(site: string, kind: string, name: string): string {
  return `${site}/${kind}/${name}`;
}

function bounded(warnings: readonly string[]): readonly string[] {
  return warnings.length <= TOLD_MAX ? warnings : [...warnings.slice(0, TOLD_MAX), `and ${warnings.length - TOLD_MAX} more of this kind`];
}
