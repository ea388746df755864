/**
 * What Start of a batch needs, and what it makes (decisions 3.2, 3.3): the start rules judged, the units it takes,
 * and the frozen recipe with all its elements.
 */
import { type Told, withTold } from '../../../../runtime/vocabulary/told.js';
import { toldOf } from '../../runs/told-refusal.js';
import { Refusal } from '../../../platform/base/refusal.js';
import { canonicalDigest } from '../../../platform/ledger/canonical-json.js';
import type { Resource } from '../../../platform/store/resource.js';
import type { Put, Store } from '../../../platform/store/store.js';
import { CoordinationBlock, SyncBarrier } from '../../coordination/kind.js';
import { begunAnew } from '../tree/coordination.js';
import { PATTERN_LABEL } from '../../coordination/progress.js';
import type { ParameterValue, PhaseTemplateSpec } from '../../procedures/kind.js';
import { ControlRecipe, type ControlRecipeSpec, RecipeRevision, MasterRecipe, type MasterRecipeSpec, type MasterRecipeStatus } from '../../recipes/kind.js';
import { currentRevision, lacksTemplates, presentTemplates } from '../../recipes/released.js';
import { coordinationCopy, type ElementDraft, instantiate, type Templates } from './instantiation.js';
import type { BatchSpec, BatchStatus, UnitChoice } from '../kind.js';
import { batchParameters, chosenFormula } from '../creation/parameters.js';
import { firstRefusal } from './conditions.js';
import { noRecipe, START_CONDITIONS, type StartFacts, StartLook } from './start-conditions.js';
import { storedTemplates } from './stored-templates.js';

/** @property plan where nothing keeps it from starting */
export type StartCheck =
  | { readonly rule: ''; readonly plan: StartPlan }
  | { readonly rule: string; readonly message: string; readonly told?: Told; readonly units: readonly string[] };

export interface StartPlan {
  readonly recipe: Resource<MasterRecipeSpec, MasterRecipeStatus>;
  readonly allocation: Readonly<Record<string, string>>;
  /** Of units of a class that the start takes. */
  readonly choices: Readonly<Record<string, UnitChoice>>;
  /** On demand: what a class would take if its turn came now. */
  readonly nextOf: ReadonlyMap<string, string>;
  readonly parameters: readonly ParameterValue[];
  readonly templates: Templates;
}

type BatchResource = Resource<BatchSpec, BatchStatus>;

export function checkStart(batch: BatchResource, facts: StartFacts): StartCheck {
  const { site } = batch.metadata;
  const recipe = facts.store.get(MasterRecipe, site, batch.spec.masterRecipeRef);
  const missing = noRecipe(batch.spec.masterRecipeRef);
  if (!recipe) return { rule: 'recipe-withdrawn', message: missing.message, ...withTold(missing.told), units: [] };
  try {
    const look = new StartLook(facts, site, batch.metadata, batch.spec, recipe);
    const refusal = firstRefusal(START_CONDITIONS, look);
    if (refusal) return refusal;
    const { allocation, choices, nextOf } = look;
    return { rule: '', plan: { recipe, allocation, choices, nextOf, parameters: batchParameters(recipe.spec, batch.spec), templates: storedTemplates(look.view, site) } };
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
    return { rule: fault.context.code === 'chart_invalid' ? 'chart-invalid' : 'formula-out-of-range', message: fault.message, ...withTold(toldOf(fault)), units: [] };
  }
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
  const puts: Put[] = elements.map((element) => ({ ...owned, kind: element.kind, name: element.name, spec: element.spec }));
  const spec = controlRecipe(batch, plan, used.seen());
  puts.push({ ...owned, kind: ControlRecipe, name, spec });
  if (lacksTemplates(store, plan.recipe)) {
    // released before its templates were kept: from its first start on it runs what it runs now
    const revision = currentRevision(store, plan.recipe);
    const released = presentTemplates(store, site, plan.recipe.spec);
    if (revision) puts.push({ kind: RecipeRevision, site, name: revision.metadata.name, spec: { ...revision.spec, released } });
  }
  puts.push(...begunAnew(store, site, name));
  for (const ref of plan.recipe.spec.coordinationRefs) {
    const pattern = ref.kind === 'CoordinationBlock' ? store.get(CoordinationBlock, site, ref.name) : store.get(SyncBarrier, site, ref.name);
    if (!pattern) continue;
    const copy = coordinationCopy(name, { name: ref.name, spec: pattern.spec as never });
    puts.push({ ...owned, kind: copy.kind, name: copy.name, spec: copy.spec, labels: { ...labels, [PATTERN_LABEL]: ref.name } });
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
    equipmentRequirements: recipe.spec.equipmentRequirements,
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
  const seen = new Map<string, { kind: string; name: string; digest: string; spec: Readonly<Record<string, unknown>> }>();
  const get = (kind: 'PhaseTemplate', name: string): PhaseTemplateSpec | undefined => {
    const spec = templates.get(kind, name);
    if (spec) seen.set(`${kind}/${name}`, { kind, name, digest: canonicalDigest(spec), spec });
    return spec;
  };
  return { templates: { get } as Templates, seen: () => [...seen.values()] };
}
