/**
 * What recipes lose by an apply: a recipe that is Released or Effective binds roles to control modules of units (decisions 2.3), and an edit of a
 * unit, a module or its template may take one away. It is accepted, as a plant is engineered in any order (decisions Q-ERR-13); Start refuses
 * with `binding-violation`, days later perhaps, so whoever applies is told at once. So is a `roleBindings` entry that leads to no module of the unit.
 */
import { Turns } from '../../platform/base/slices.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { saidNote } from '../../platform/store/spec-note.js';
import { keyOf, refOf, type Resource } from '../../platform/store/resource.js';
import { ControlModule, ControlModuleTemplate } from '../control-modules/kind.js';
import { modulesOf } from '../control-modules/modules.js';
import { Unit, type UnitSpec } from '../plant/kind.js';
import { type BindingMatrix, type BindingRow, bindRecipe, isViolation } from '../recipes/binding-matrix.js';
import type { SiteUnits } from '../recipes/bindings.js';
import { templatesOf } from '../recipes/expand.js';
import { memberOfNote, memberOfStep } from '../recipes/members.js';
import { MasterRecipe, type MasterRecipeSpec, type MasterRecipeStatus } from '../recipes/kind.js';
import { releasedView } from '../recipes/released.js';
import { siteUnits } from '../recipes/site-units.js';
import { causesOf, changesOf, type Effect, type PlantLook, sitesOf } from './causes.js';
import type { Outcome } from './judging.js';
import type { Removal } from './removals.js';
import { Telling, type ToldByIndex } from './telling.js';

type RecipeResource = Resource<MasterRecipeSpec, MasterRecipeStatus>;

/** What binding rests on, beside the templates of phases, which a recipe keeps as they were released. */
const BOUND: ReadonlySet<string> = new Set([Unit.kind, ControlModule.kind, ControlModuleTemplate.kind]);
const IN_USE: readonly string[] = ['Released', 'Effective'];
const BEFORE_USE: readonly string[] = ['Draft', 'Rejected', 'Approved'];

/**
 * @param gone what is pruned afterwards.
 * @returns warnings by the index of the manifest, or of the removal, that brings them about.
 */
export async function bindingWarnings(outcomes: readonly Outcome[], gone: readonly Removal[], { store, after, clock }: PlantLook): Promise<ToldByIndex> {
  const told = new Telling();
  const changes = changesOf(outcomes, gone, BOUND);
  const turns = new Turns(clock);
  for (const { kind, site, name, index, puts } of changes) {
    if (kind === Unit.kind && puts.length > 0) told.tell(index, strayBindings(after, site, name));
    if (turns.isOver) await turns.next();
  }
  const drafts = draftsAmong(outcomes, after);
  for (const site of sitesOf([...changes, ...drafts.values()], store)) {
    const units = { before: siteUnits(store, site), after: siteUnits(after, site) };
    const lost: (Lost & Effect<RecipeResource>)[] = [];
    for (const recipe of after.list(MasterRecipe, site)) {
      const draft = drafts.get(keyOf(refOf(recipe)));
      if (draft)
        told.tell(
          draft.index,
          lostBy(recipe, undefined, { read: after, units: units.after }).map(({ text, member }) => saidNote({ path: member, text })),
        );
      else if (changes.length > 0 && IN_USE.includes(recipe.status.phase))
        lost.push(...lostBy(recipe, { read: store, units: units.before }, { read: after, units: units.after }).map((each) => ({ ...each, of: recipe })));
      if (turns.isOver) await turns.next();
    }
    for (const { effect, index } of await causesOf(lost, changes, { store, turns, keysAt: missedAt(site) })) told.tell(index, [effect.text]);
  }
  return told.all();
}

/** Recipes of the request that are not released yet, each with its manifest: whatever of them does not bind is told. */
function draftsAmong(outcomes: readonly Outcome[], after: StoreReader): ReadonlyMap<string, { readonly index: number; readonly site: string }> {
  const recipes = outcomes.filter(({ step: { manifest, site } }) => {
    const phase = manifest.kind.kind === MasterRecipe.kind ? after.get(MasterRecipe, site, manifest.name)?.status.phase : undefined;
    return phase !== undefined && BEFORE_USE.includes(phase);
  });
  return new Map(recipes.map(({ step: { index, manifest, site } }) => [keyOf({ kind: MasterRecipe.kind, site, name: manifest.name }), { index, site }]));
}

/** Entries that lead nowhere: binding looks them up by name among the modules of the unit. */
function strayBindings(read: StoreReader, site: string, name: string): string[] {
  const unit = read.get(Unit, site, name) as Resource<UnitSpec> | undefined;
  const own = new Set(modulesOf(read, site, name).map(({ metadata }) => metadata.name));
  return (unit?.spec.roleBindings ?? []).flatMap(({ role, controlModule }, at) => {
    if (own.has(controlModule)) return [];
    const why = read.get(ControlModule, site, controlModule) ? `is no module of it` : 'does not exist';
    return [`spec.roleBindings[${at}]: role ${role} of unit ${name} is bound to control module ${controlModule}, which ${why}`];
  });
}

interface Lost {
  readonly text: string;
  /** Of the recipe; '' where it is not known. */
  readonly member: string;
  /** By what it is known among all that does not bind. */
  readonly key: string;
}

const rowKey = ({ step, role, unit }: BindingRow): string => `${step}/${role}/${unit}`;

/** Rows that violate, and what is wrong as a whole. */
function missedBy({ rows, notes }: BindingMatrix): ReadonlySet<string> {
  return new Set([...rows.filter(isViolation).map(rowKey), ...notes]);
}

/** A plant at one time; its units are found once for all recipes. */
interface Plant {
  readonly read: StoreReader;
  readonly units: SiteUnits;
}

/** What of recipes does not bind, of a plant at one time. */
function missedAt(site: string): (read: StoreReader) => (recipe: RecipeResource) => ReadonlySet<string> {
  return (read) => {
    const plant = { read, units: siteUnits(read, site) };
    return (recipe) => missedBy(matrixOf(recipe, plant));
  };
}

/** @param before undefined: whatever does not bind is told. */
function lostBy(recipe: RecipeResource, before: Plant | undefined, after: Plant): Lost[] {
  const had = before ? missedBy(matrixOf(recipe, before)) : new Set<string>();
  const has = matrixOf(recipe, after);
  const { metadata, spec, status } = recipe;
  const who = `${before ? status.phase : 'the'} recipe ${metadata.name}${spec.version === '' ? '' : ` ${spec.version}`}`;
  return [
    ...has.notes.filter((note) => !had.has(note)).map((note) => ({ text: `${who}: ${note}`, member: memberOfNote(spec, note), key: note })),
    ...has.rows
      .filter((row) => isViolation(row) && !had.has(rowKey(row)))
      .map((row) => ({
        text: `${who} ${before ? 'loses' : 'does not bind'} role ${row.role} of step ${row.step}${row.unit === '' ? '' : ` on unit ${row.unit}`}: ${row.message ?? ''}`,
        member: memberOfStep(spec, row.step),
        key: rowKey(row),
      })),
  ];
}

function matrixOf(recipe: RecipeResource, { read, units }: Plant): BindingMatrix {
  return bindRecipe(recipe.spec, templatesOf(releasedView(read, recipe), recipe.metadata.site), units);
}
