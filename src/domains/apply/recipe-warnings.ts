/**
 * What recipes and their templates say that will hurt when they run, judged by the plant that all manifests leave behind: a template may come
 * behind the recipe that names it, and a module behind the phase. One that is as it was is told of too, as `validate` of the same files does:
 * what it names may be another. Those that do not come with the apply are told of where their ground changes (ground-warnings.ts).
 */
import { Turns } from '../../platform/base/slices.js';
import type { Clock } from '../../platform/base/clock.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { saidNote, type SpecNote } from '../../platform/store/spec-note.js';
import { TEMPLATE_KINDS } from '../procedures/kind.js';
import { MasterRecipe } from '../recipes/kind.js';
import { recipeNotes, templateSiteNotes } from '../recipes/recipe-notes.js';
import { templateNamed } from '../recipes/used-templates.js';
import type { Outcome } from './judging.js';
import { Telling, type ToldByIndex } from './telling.js';

const TOLD: readonly string[] = [...TEMPLATE_KINDS, MasterRecipe.kind];

/** @param after the plant with all of them in place. @returns warnings by the index of the manifest; each begins with the member that it is about. */
export async function recipeWarnings(outcomes: readonly Outcome[], { after, clock }: { readonly after: StoreReader; readonly clock: Clock }): Promise<ToldByIndex> {
  const told = new Telling();
  const turns = new Turns(clock);
  for (const { step } of outcomes) {
    if (!TOLD.includes(step.manifest.kind.kind)) continue;
    told.tell(step.index, notesOf(step, after).map(saidNote));
    if (turns.isOver) await turns.next();
  }
  return told.all();
}

function notesOf({ manifest: { kind, name }, site }: Outcome['step'], read: StoreReader): readonly SpecNote[] {
  if (kind.kind === MasterRecipe.kind) {
    const recipe = read.get(MasterRecipe, site, name);
    return recipe ? recipeNotes(read, site, recipe.spec) : [];
  }
  const template = templateNamed(read, site, kind.kind, name);
  return template ? templateSiteNotes(read, site, kind.kind, template.spec) : [];
}
