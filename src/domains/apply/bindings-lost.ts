/**
 * What recipes lose by an apply: a recipe that is Released or Effective binds roles to control modules of units (decisions 2.3), and an edit of a
 * unit, a module or its template may take one away. It is accepted, as a plant is engineered in any order (decisions Q-ERR-13); Start refuses
 * with `binding-violation`, days later perhaps, so whoever applies is told at once. So is a `roleBindings` entry that leads to no module of the unit.
 */
import { inside } from '../../platform/base/assert.js';
import { groupBy } from '../../platform/base/group-by.js';
import { Turns } from '../../platform/base/slices.js';
import type { Clock } from '../../platform/base/clock.js';
import type { Put, StoreReader } from '../../platform/store/kind.js';
import { saidNote } from '../../platform/store/spec-note.js';
import { keyOf, type Ref, refOf, type Resource } from '../../platform/store/resource.js';
import { ControlModule, ControlModuleTemplate } from '../control-modules/kind.js';
import { modulesOf } from '../control-modules/modules.js';
import { Site, Unit, type UnitSpec } from '../plant/kind.js';
import { type BindingMatrix, type BindingRow, bindRecipe, isViolation } from '../recipes/binding-matrix.js';
import type { SiteUnits } from '../recipes/bindings.js';
import { templatesOf } from '../recipes/expand.js';
import { memberOfNote, memberOfStep } from '../recipes/members.js';
import { MasterRecipe, type MasterRecipeSpec, type MasterRecipeStatus } from '../recipes/kind.js';
import { releasedView } from '../recipes/released.js';
import { siteUnits } from '../recipes/site-units.js';
import type { Outcome } from './judging.js';
import type { Removal } from './removals.js';
import { StagedStore } from './staging.js';

type RecipeResource = Resource<MasterRecipeSpec, MasterRecipeStatus>;

/** What binding rests on, beside the templates of phases, which a recipe keeps as they were released. */
const BOUND: readonly string[] = [Unit.kind, ControlModule.kind, ControlModuleTemplate.kind];
const IN_USE: readonly string[] = ['Released', 'Effective'];
const BEFORE_USE: readonly string[] = ['Draft', 'Rejected', 'Approved'];
/** Of one manifest; whoever loses more than these has lost them all. */
const TOLD_MAX = 10;

export interface BindingLook {
  readonly store: StoreReader;
  /** The plant with all manifests in place, and the prune behind them. */
  readonly after: StoreReader;
  readonly clock: Clock;
}

/**
 * @param gone what is pruned afterwards.
 * @returns warnings by the index of the manifest, or of the removal, that brings them about.
 */
export async function bindingWarnings(
  outcomes: readonly Outcome[],
  gone: readonly Removal[],
  { store, after, clock }: BindingLook,
): Promise<ReadonlyMap<number, readonly string[]>> {
  const told = new Map<number, string[]>();
  const tell = (index: number, warning: string): void => {
    const own = told.get(index);
    if (own) own.push(warning);
    else told.set(index, [warning]);
  };
  const changes = changesOf(outcomes, gone);
  const turns = new Turns(clock);
  for (const { kind, site, name, index, puts } of changes) {
    if (kind === Unit.kind && puts.length > 0) for (const warning of strayBindings(after, site, name)) tell(index, warning);
    if (turns.isOver) await turns.next();
  }
  const drafts = draftsAmong(outcomes, after);
  for (const site of sitesOf([...changes, ...drafts.values()], store)) {
    const units = { before: siteUnits(store, site), after: siteUnits(after, site) };
    const lost: Loss[] = [];
    for (const recipe of after.list(MasterRecipe, site)) {
      const draft = drafts.get(keyOf(refOf(recipe)));
      if (draft) for (const { text, member } of lostBy(recipe, undefined, { read: after, units: units.after })) tell(draft.index, saidNote({ path: member, text }));
      else if (changes.length > 0 && IN_USE.includes(recipe.status.phase))
        lost.push(...lostBy(recipe, { read: store, units: units.before }, { read: after, units: units.after }).map((each) => ({ ...each, recipe })));
      if (turns.isOver) await turns.next();
    }
    for (const { loss, index } of await causesOf(lost, changes, { store, site, turns })) tell(index, loss.text);
  }
  return new Map([...told].map(([index, warnings]) => [index, bounded(warnings)]));
}

/** One step from the plant as it is to the plant as it will be. */
interface PlantChange extends Ref {
  readonly index: number;
  /** None of what goes. */
  readonly puts: readonly Put[];
}

/** What binding may change by, in the order in which it happens. */
function changesOf(outcomes: readonly Outcome[], gone: readonly Removal[]): readonly PlantChange[] {
  const written = outcomes.map(({ step: { index, site, manifest }, puts }) => ({ index, puts, kind: manifest.kind.kind, site, name: manifest.name }));
  return [
    ...written.filter(({ kind, puts }) => puts.length > 0 && BOUND.includes(kind)),
    ...gone.filter(({ kind }) => BOUND.includes(kind.kind)).map(({ index, resource }) => ({ index, puts: [], ...refOf(resource) })),
  ];
}

/** Recipes of the request that are not released yet, each with its manifest: whatever of them does not bind is told. */
function draftsAmong(outcomes: readonly Outcome[], after: StoreReader): ReadonlyMap<string, { readonly index: number; readonly site: string }> {
  const recipes = outcomes.filter(({ step: { manifest, site } }) => {
    const phase = manifest.kind.kind === MasterRecipe.kind ? after.get(MasterRecipe, site, manifest.name)?.status.phase : undefined;
    return phase !== undefined && BEFORE_USE.includes(phase);
  });
  return new Map(recipes.map(({ step: { index, manifest, site } }) => [keyOf({ kind: MasterRecipe.kind, site, name: manifest.name }), { index, site }]));
}

/** A template of modules is of every site. */
function sitesOf(changed: readonly { readonly site: string }[], store: StoreReader): ReadonlySet<string> {
  const sites = changed.flatMap(({ site }) => (site === '' ? store.list(Site).map(({ metadata }) => metadata.name) : [site]));
  return new Set(sites);
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

interface Loss extends Lost {
  readonly recipe: RecipeResource;
}

interface CauseLook {
  readonly store: StoreReader;
  readonly site: string;
  readonly turns: Turns;
}

/** A loss that comes about within a part of the changes: not with the first `from` of them, and with the first `to`. */
interface Within {
  readonly loss: Loss;
  readonly from: number;
  readonly to: number;
}

/**
 * The change with which each comes about, when all happen one after the other: the plant is looked at half-way, a quarter of the way, and so on,
 * so that of a thousand changes ten are tried. It is the change that takes the binding away, whatever else the request says of the unit.
 */
async function causesOf(lost: readonly Loss[], changes: readonly PlantChange[], look: CauseLook): Promise<readonly { readonly loss: Loss; readonly index: number }[]> {
  let open: readonly Within[] = lost.map((loss) => ({ loss, from: 0, to: changes.length }));
  const isFound = ({ from, to }: Within): boolean => to - from <= 1;
  while (!open.every(isFound)) open = await halved(open, changes, look);
  return open.map(({ loss, to }) => ({ loss, index: inside(changes, to - 1, 'what is lost is lost by a change').index }));
}

/** One way through the changes; at each half that somebody asks about his recipe is bound as it would be then. */
async function halved(open: readonly Within[], changes: readonly PlantChange[], { store, site, turns }: CauseLook): Promise<readonly Within[]> {
  const halfOf = ({ from, to }: Within): number => (to - from <= 1 ? -1 : (from + to) >> 1);
  const byHalf = groupBy(open, halfOf);
  const next: Within[] = [...(byHalf.get(-1) ?? [])];
  const staged = new StagedStore(store);
  for (const [at, change] of changes.entries()) {
    for (const put of change.puts) staged.put(put);
    if (change.puts.length === 0) staged.remove(change);
    if (turns.isOver) await turns.next();
    const asked = byHalf.get(at + 1);
    if (!asked) continue;
    const plant = { read: staged, units: siteUnits(staged, site) };
    for (const [recipe, within] of groupBy(asked, ({ loss }) => loss.recipe)) {
      const missed = missedBy(matrixOf(recipe, plant));
      next.push(...within.map((each) => (missed.has(each.loss.key) ? { ...each, to: at + 1 } : { ...each, from: at + 1 })));
      if (turns.isOver) await turns.next();
    }
  }
  return next;
}

function bounded(warnings: readonly string[]): readonly string[] {
  return warnings.length <= TOLD_MAX ? warnings : [...warnings.slice(0, TOLD_MAX), `and ${warnings.length - TOLD_MAX} more of this kind`];
}
