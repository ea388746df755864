/**
 * What Start of a batch needs, and what it makes (decisions 3.2, 3.3): the start rules in their order, the units it takes,
 * and the frozen recipe with all its elements.
 */
import { Refusal } from '../../../platform/base/refusal.js';
import { canonicalDigest } from '../../../platform/ledger/canonical-json.js';
import type { StoreReader } from '../../../platform/store/kind.js';
import type { Resource } from '../../../platform/store/resource.js';
import type { Put, Store } from '../../../platform/store/store.js';
import { CoordinationBlock, SyncBarrier } from '../../coordination/kind.js';
import { begunAnew } from '../tree/coordination.js';
import { missingPatterns } from '../../coordination/patterns.js';
import { PATTERN_LABEL } from '../../coordination/progress.js';
import { Unit, unitMode } from '../../plant/kind.js';
import { isAvailable, unavailableText } from '../../plant/unit-owner.js';
import type { ParameterValue } from '../../procedures/kind.js';
import { bindRecipe, unitForCapability } from '../../recipes/bindings.js';
import { recipeMismatch } from '../../recipes/evidence.js';
import { expandRecipe, templatesOf } from '../../recipes/expand.js';
import { ControlRecipe, type ControlRecipeSpec, RecipeRevision, MasterRecipe, type MasterRecipeSpec, type MasterRecipeStatus } from '../../recipes/kind.js';
import { currentRevision, lacksTemplates, presentTemplates, releasedView } from '../../recipes/released.js';
import { siteUnits } from '../../recipes/site-units.js';
import { missingPermissive } from '../../placement/conditions.js';
import type { UnitRuntimes } from '../../placement/runtimes.js';
import { coordinationCopy, type ElementDraft, instantiate, type Templates } from './instantiation.js';
import type { BatchSpec, BatchStatus } from '../kind.js';
import { unfitRecipeValues } from '../creation/unfit-values.js';
import { batchParameters, checkQuantity, checkUnitOfQuantity, chosenFormula } from '../creation/parameters.js';
import { storedTemplates } from './stored-templates.js';

/** What was signed does not run changed (D-C-10). */
export const EVIDENCE_RULE = 'evidence-mismatch';

export interface StartFacts {
  readonly store: Store;
  readonly runtimes: UnitRuntimes;
  readonly production: boolean;
  /** See `BatchReconcilerSettings`. */
  readonly runsUnfitValues?: boolean;
  /** Less free space than `storage.reserveBytes`. */
  storageLow(): boolean;
}

export type StartCheck = { readonly rule: ''; readonly plan: StartPlan } | { readonly rule: string; readonly message: string; readonly units: readonly string[] };

export interface StartPlan {
  readonly recipe: Resource<MasterRecipeSpec, MasterRecipeStatus>;
  readonly allocation: Readonly<Record<string, string>>;
  readonly parameters: readonly ParameterValue[];
  readonly templates: Templates;
}

type BatchResource = Resource<BatchSpec, BatchStatus>;

/**
 * Unit per capability: the batch's choice, else the recipe's default unit, else the only unit of the site that has the
 * capability (decisions 1.7). Capabilities that resolve to nothing map to ''.
 */
export function resolveEquipment(store: StoreReader, site: string, recipe: MasterRecipeSpec, chosen: Readonly<Record<string, string>>): Record<string, string> {
  const units = siteUnits(store, site);
  const { capabilities } = expandRecipe(recipe.procedure.chart, templatesOf(store, site));
  return Object.fromEntries(capabilities.map((capability) => [capability, chosen[capability] || unitForCapability(recipe, capability, units)]));
}

export function checkStart(batch: BatchResource, facts: StartFacts): StartCheck {
  const { store } = facts;
  const site = batch.metadata.site;
  const refuse = (rule: string, message: string, units: readonly string[] = []): StartCheck => ({ rule, message, units });
  const recipe = store.get(MasterRecipe, site, batch.spec.masterRecipeRef);
  if (!recipe) return refuse('recipe-withdrawn', `recipe ${batch.spec.masterRecipeRef} does not exist`);
  const mismatch = facts.runsUnfitValues ? undefined : recipeMismatch(store, recipe); // a rehearsal tries what stands there now, signed or not
  if (mismatch !== undefined) return refuse(EVIDENCE_RULE, mismatch);
  const view = releasedView(store, recipe);
  const templates = storedTemplates(view, site);
  try {
    const allocation = resolveEquipment(view, site, recipe.spec, batch.spec.equipment);
    const atStart = recipe.spec.allocation === 'AtStart';
    // a capability that nothing serves is not there on demand either
    const taken = Object.entries(allocation).filter(([, unit]) => unit === '' || (atStart && !isAvailable(store.get(Unit, site, unit)?.status)));
    if (taken.length > 0)
      return refuse(
        'allocation-unavailable',
        taken.map(([capability, unit]) => whyUnavailable(store, site, capability, unit)).join('; '),
        taken.map(([, unit]) => unit).filter((unit) => unit !== ''),
      );
    const units = [...new Set(Object.values(allocation))].sort();
    const notReady = units.filter((unit) => !facts.runtimes.link(site, unit)?.ready);
    if (notReady.length > 0) return refuse('runtime-not-ready', `the runtime of ${notReady.join(', ')} is not ready`, notReady);
    const startable = facts.production ? ['Effective'] : ['Draft', 'Approved', 'Released', 'Effective'];
    if (!startable.includes(recipe.status.phase)) return refuse('recipe-withdrawn', `recipe ${recipe.metadata.name} is ${recipe.status.phase}`);
    const violation = bindRecipe(recipe.spec, templatesOf(view, site), siteUnits(store, site), allocation).rows.find((row) => row.issue !== undefined);
    if (violation) return refuse('binding-violation', `step ${violation.step}, role ${violation.role}: ${violation.message}`);
    checkQuantity(recipe.spec, batch.spec.quantity);
    checkUnitOfQuantity(recipe.spec, batch.spec.engineeringUnit);
    const parameters = batchParameters(recipe.spec, batch.spec);
    const [unfit] = facts.runsUnfitValues ? [] : unfitRecipeValues(view, site, recipe.spec, parameters);
    if (unfit) return refuse('formula-out-of-range', `${unfit.at}: ${unfit.message}`);
    const [note] = expandRecipe(recipe.spec.procedure.chart, templatesOf(view, site)).notes;
    if (note) return refuse('chart-invalid', note);
    const [gone] = missingPatterns(store, site, recipe.spec.coordinationRefs);
    if (gone) return refuse('chart-invalid', `${gone.kind} ${gone.name} does not exist`);
    for (const name of recipe.spec.allocation === 'AtStart' ? units : []) {
      const missing = permissiveOf(facts, site, name);
      if (missing) return refuse(missing.rule, missing.message, [name]);
    }
    const manual = units.filter((name) => isManual(store, site, name));
    if (manual.length > 0 || batch.spec.mode === 'Manual') return refuse('mode-manual', `${manual[0] ? `unit ${manual[0]}` : 'the batch'} is in Manual`, manual);
    if (facts.storageLow()) return refuse('storage-low', 'the storage of the appliance is nearly full');
    return { rule: '', plan: { recipe, allocation, parameters, templates } };
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
    return refuse(fault.context.code === 'chart_invalid' ? 'chart-invalid' : 'formula-out-of-range', fault.message);
  }
}

/** Why work may not begin on the unit now, although it is free: judged when the unit is taken (decisions 1.5, `permissives`). */
export function permissiveOf(
  { store, runtimes }: Pick<StartFacts, 'store' | 'runtimes'>,
  site: string,
  name: string,
): { readonly rule: string; readonly message: string } | undefined {
  const unit = store.get(Unit, site, name);
  const link = runtimes.link(site, name);
  const missing = unit && link && missingPermissive(unit.spec, link);
  return missing && { rule: `permissive-${missing.name}`, message: `unit ${name}: ${missing.message || missing.conditionST}` };
}

function isManual(store: Store, site: string, name: string): boolean {
  const unit = store.get(Unit, site, name);
  return unit !== undefined && unitMode(unit.spec) === 'Manual';
}

/** Why a capability has got no unit: none has it, or several have and nobody chose. */
export function noUnitText(store: StoreReader, site: string, capability: string): string {
  const able = siteUnits(store, site).withCapability(capability);
  return able.length === 0
    ? `no unit for capability ${capability}`
    : `no unit for capability ${capability}: ${able.join(', ')} have it, and the batch names none of them in equipment`;
}

function whyUnavailable(store: Store, site: string, capability: string, name: string): string {
  if (name === '') return noUnitText(store, site, capability);
  const unit = store.get(Unit, site, name);
  if (!unit) return `unit ${name} does not exist`;
  return unavailableText(name, unit.status);
}

/** The resources that a start writes, besides batch and units. */
export function startPuts(batch: BatchResource, plan: StartPlan, store: Store): { readonly puts: readonly Put[]; readonly elements: readonly ElementDraft[] } {
  const site = batch.metadata.site;
  const name = batch.metadata.name;
  const used = recordingTemplates(plan.templates);
  const elements = instantiate({
    batch: name,
    mode: batch.spec.mode === '' ? 'Automatic' : batch.spec.mode,
    recipe: plan.recipe.spec,
    parameters: plan.parameters,
    allocation: plan.allocation,
    templates: used.templates,
  });
  const labels = { 'lineside.io/batch': name, 'lineside.io/managed-by': 'batch-controller' };
  const ownerReferences = [{ kind: 'Batch', name, uid: batch.metadata.uid }];
  const owned = { site, labels, ownerReferences };
  const puts: Put[] = elements.map((element) => ({ ...owned, kind: element.kind as unknown as Put['kind'], name: element.name, spec: element.spec }));
  const spec = controlRecipe(batch, plan, used.seen());
  puts.push({ ...owned, kind: ControlRecipe as unknown as Put['kind'], name, spec });
  if (lacksTemplates(store, plan.recipe)) {
    // released before its templates were kept: from its first start on it runs what it runs now
    const revision = currentRevision(store, plan.recipe);
    const released = presentTemplates(store, site, plan.recipe.spec);
    if (revision) puts.push({ kind: RecipeRevision as unknown as Put['kind'], site, name: revision.metadata.name, spec: { ...revision.spec, released } });
  }
  puts.push(...begunAnew(store, site, name));
  for (const ref of plan.recipe.spec.coordinationRefs) {
    const pattern = ref.kind === 'CoordinationBlock' ? store.get(CoordinationBlock, site, ref.name) : store.get(SyncBarrier, site, ref.name);
    if (!pattern) continue;
    const copy = coordinationCopy(name, { name: ref.name, spec: pattern.spec as never });
    puts.push({ ...owned, kind: copy.kind as unknown as Put['kind'], name: copy.name, spec: copy.spec, labels: { ...labels, [PATTERN_LABEL]: ref.name } });
  }
  return { puts, elements };
}

function controlRecipe(batch: BatchResource, plan: StartPlan, templates: ControlRecipeSpec['recipe']['templates']): ControlRecipeSpec {
  const { recipe } = plan;
  const frozen: ControlRecipeSpec['recipe'] = {
    parameters: plan.parameters,
    chart: recipe.spec.procedure.chart,
    templates,
    allocation: plan.allocation,
    batchSize: recipe.spec.batchSize,
    coordinationRefs: recipe.spec.coordinationRefs,
    ...(recipe.spec.holdPropagation ? { holdPropagation: recipe.spec.holdPropagation } : {}),
    onPhaseFailure: recipe.spec.onPhaseFailure,
    allocationPolicy: recipe.spec.allocation,
  };
  return {
    batch: batch.metadata.name,
    batchID: batch.spec.batchID,
    masterRecipe: recipe.metadata.name,
    masterRevision: recipe.status.revision,
    productID: recipe.spec.productID,
    version: recipe.spec.version,
    formulaName: chosenFormula(recipe.spec, batch.spec.formulaName)?.name ?? '',
    digest: canonicalDigest(frozen),
    recipe: frozen,
  };
}

/** Notes which templates an instantiation reads, so that the control recipe holds exactly those. */
function recordingTemplates(templates: Templates): { templates: Templates; seen(): ControlRecipeSpec['recipe']['templates'] } {
  const seen = new Map<string, { kind: string; name: string; digest: string; spec: unknown }>();
  const get = (kind: 'PhaseTemplate', name: string): unknown => {
    const spec = templates.get(kind, name);
    if (spec) seen.set(`${kind}/${name}`, { kind, name, digest: canonicalDigest(spec), spec });
    return spec;
  };
  return { templates: { get } as Templates, seen: () => [...seen.values()] };
}
