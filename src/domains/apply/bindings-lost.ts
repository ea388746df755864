/**
 * What recipes lose by an apply: a recipe that is Released or Effective binds roles to control modules of units (decisions 2.3), and an edit of a
 * unit, a module or its template may take one away. It is accepted, as a plant is engineered in any order (decisions Q-ERR-13); Start refuses
 * with `binding-violation`, days later perhaps, so whoever applies is told at once. So is a `roleBindings` entry that leads to no module of the unit.
 */
import { Turns } from '../../platform/base/slices.js';
import type { Clock } from '../../platform/base/clock.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { ControlModule, ControlModuleTemplate } from '../control-modules/kind.js';
import { modulesOf } from '../control-modules/modules.js';
import { Site, Unit, type UnitSpec } from '../plant/kind.js';
import { type BindingMatrix, type BindingRow, bindRecipe, isViolation } from '../recipes/binding-matrix.js';
import type { SiteUnits } from '../recipes/bindings.js';
import { templatesOf } from '../recipes/expand.js';
import { MasterRecipe, type MasterRecipeSpec, type MasterRecipeStatus } from '../recipes/kind.js';
import { releasedView } from '../recipes/released.js';
import { siteUnits } from '../recipes/site-units.js';
import type { Outcome } from './judging.js';

type RecipeResource = Resource<MasterRecipeSpec, MasterRecipeStatus>;

/** What binding rests on, beside the templates of phases, which a recipe keeps as they were released. */
const BOUND: readonly string[] = [Unit.kind, ControlModule.kind, ControlModuleTemplate.kind];
const IN_USE: readonly string[] = ['Released', 'Effective'];
/** Of one manifest; whoever loses more than these has lost them all. */
const TOLD_MAX = 10;

export interface BindingLook {
  readonly store: StoreReader;
  /** The plant with all manifests in place. */
  readonly after: StoreReader;
  readonly clock: Clock;
  /** Of files that are judged as a whole plant: recipes that come with them are looked at too, although they arrive as drafts. */
  readonly withDrafts: boolean;
}

/** @returns warnings by the index of the manifest that brings them about. */
export async function bindingWarnings(outcomes: readonly Outcome[], { store, after, clock, withDrafts }: BindingLook): Promise<ReadonlyMap<number, readonly string[]>> {
  const told = new Map<number, string[]>();
  const changed = outcomes.filter(
    ({ puts, step }) => puts.length > 0 && (BOUND.includes(step.manifest.kind.kind) || (withDrafts && step.manifest.kind.kind === MasterRecipe.kind)),
  );
  if (changed.length === 0) return told;
  const tell = (index: number, warning: string): void => {
    const own = told.get(index);
    if (own) own.push(warning);
    else told.set(index, [warning]);
  };
  const turns = new Turns(clock);
  for (const { step } of changed) {
    if (step.manifest.kind.kind === Unit.kind) for (const warning of strayBindings(after, step.site, step.manifest.name)) tell(step.index, warning);
    if (turns.isOver) await turns.next();
  }
  for (const site of sitesOf(changed, store)) {
    const units = { before: siteUnits(store, site), after: siteUnits(after, site) };
    for (const recipe of after.list(MasterRecipe, site)) {
      const isNew = withDrafts && changed.some(({ step }) => step.manifest.kind.kind === MasterRecipe.kind && step.site === site && step.manifest.name === recipe.metadata.name);
      if (!isNew && !IN_USE.includes(recipe.status.phase)) continue;
      const lost = lostBy(recipe, isNew ? undefined : { read: store, units: units.before }, { read: after, units: units.after });
      for (const { text, row } of lost) tell(causeOf(changed, { site, recipe: recipe.metadata.name, row }, after), text);
      if (turns.isOver) await turns.next();
    }
  }
  return new Map([...told].map(([index, warnings]) => [index, bounded(warnings)]));
}

/** A template of modules is of every site. */
function sitesOf(changed: readonly Outcome[], store: StoreReader): ReadonlySet<string> {
  const sites = changed.flatMap(({ step }) => (step.site === '' ? store.list(Site).map(({ metadata }) => metadata.name) : [step.site]));
  return new Set(sites);
}

/** Entries that lead nowhere: binding looks them up by name among the modules of the unit. */
function strayBindings(read: StoreReader, site: string, name: string): string[] {
  const unit = read.get(Unit, site, name) as Resource<UnitSpec> | undefined;
  const own = new Set(modulesOf(read, site, name).map(({ metadata }) => metadata.name));
  return (unit?.spec.roleBindings ?? []).flatMap(({ role, controlModule }, at) => {
    if (own.has(controlModule)) return [];
    const why = read.get(ControlModule, site, controlModule) ? `is no module of it` : 'does not exist';
    return [`roleBindings[${at}] of unit ${name}: role ${role} is bound to control module ${controlModule}, which ${why}`];
  });
}

interface Lost {
  readonly text: string;
  /** Of what is lost as a whole, none. */
  readonly row: BindingRow | undefined;
}

const keyOf = ({ step, role, unit }: BindingRow): string => `${step}/${role}/${unit}`;

/** A plant at one time; its units are found once for all recipes. */
interface Plant {
  readonly read: StoreReader;
  readonly units: SiteUnits;
}

/** @param before undefined: whatever does not bind is told. */
function lostBy(recipe: RecipeResource, before: Plant | undefined, after: Plant): Lost[] {
  const had = before && matrixOf(recipe, before);
  const has = matrixOf(recipe, after);
  const missed = new Set(had?.rows.filter(isViolation).map(keyOf));
  const notes = new Set(had?.notes);
  const { metadata, spec, status } = recipe;
  const who = `${before ? status.phase : 'the'} recipe ${metadata.name}${spec.version === '' ? '' : ` ${spec.version}`}`;
  return [
    ...has.notes.filter((note) => !notes.has(note)).map((note) => ({ text: `${who}: ${note}`, row: undefined })),
    ...has.rows
      .filter((row) => isViolation(row) && !missed.has(keyOf(row)))
      .map((row) => ({
        text: `${who} ${before ? 'loses' : 'does not bind'} role ${row.role} of step ${row.step}${row.unit === '' ? '' : ` on unit ${row.unit}`}: ${row.message ?? ''}`,
        row,
      })),
  ];
}

function matrixOf(recipe: RecipeResource, { read, units }: Plant): BindingMatrix {
  return bindRecipe(recipe.spec, templatesOf(releasedView(read, recipe), recipe.metadata.site), units);
}

interface Losing {
  readonly site: string;
  readonly recipe: string;
  readonly row: BindingRow | undefined;
}

/** The manifest that takes it away, as far as that can be said: its module, the template of that, its unit. */
function causeOf(changed: readonly Outcome[], { site, recipe, row }: Losing, read: StoreReader): number {
  const named = (kind: string, name: string) =>
    changed.find(({ step }) => step.manifest.kind.kind === kind && step.manifest.name === name && (step.site === site || step.site === ''))?.step.index;
  const template = row && read.get(ControlModule, site, row.boundCM)?.spec.templateRef;
  const [first] = changed.filter(({ step }) => step.site === site || step.site === '');
  return (
    named(MasterRecipe.kind, recipe) ??
    (row && named(ControlModule.kind, row.boundCM)) ??
    (row && named(Unit.kind, row.unit)) ??
    (template === undefined ? undefined : named(ControlModuleTemplate.kind, template)) ??
    first?.step.index ??
    0
  );
}

function bounded(warnings: readonly string[]): readonly string[] {
  return warnings.length <= TOLD_MAX ? warnings : [...warnings.slice(0, TOLD_MAX), `and ${warnings.length - TOLD_MAX} more of this kind`];
}
