/**
 * Making a batch (contract 3, Batches; decisions D-RECIPE-03, D-RECIPE-04, Q-RECIPE-28, Q-RECIPE-31, Q-MES-10): what a
 * request must satisfy before a Batch exists, the same for the operator's route, generic apply and a work order.
 */
import { createHash } from 'node:crypto';
import { conflict, invalid } from '../../platform/base/refusal.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Store } from '../../platform/store/store.js';
import { Unit } from '../plant/kind.js';
import { expandRecipe, templatesOf } from '../recipes/expand.js';
import { MasterRecipe } from '../recipes/kind.js';
import { Batch, type BatchSpec } from './kind.js';
import { batchParameters, checkQuantity } from './parameters.js';

const SLUG_LENGTH_MAX = 40;

/** `b-<slug>-<8 hex>`: lower case, other characters to one `-`. */
export function batchName(site: string, batchID: string): string {
  return `b-${slugOf(batchID)}-${createHash('sha256').update(`${site}/${batchID}`).digest('hex').slice(0, 8)}`;
}

/** `wo-<slug>-<8 hex>` of a work order. */
export function workOrderBatchName(workOrderID: string): string {
  return `wo-${slugOf(workOrderID)}-${createHash('sha256').update(workOrderID).digest('hex').slice(0, 8)}`;
}

function slugOf(text: string): string {
  const slug = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_LENGTH_MAX)
    .replace(/^-+|-+$/g, '');
  return slug === '' ? 'x' : slug;
}

/**
 * @throws Refusal 400 for a recipe, formula, parameter, quantity or unit that does not fit, 409 for a recipe that is not
 * Effective or a batchID in use.
 */
export function checkBatch(store: StoreReader, site: string, name: string, spec: BatchSpec, production: boolean): void {
  const recipe = store.get(MasterRecipe, site, spec.masterRecipeRef);
  if (!recipe) throw invalid('unknown_reference', 'masterRecipeRef', `recipe ${spec.masterRecipeRef} does not exist`);
  checkQuantity(recipe.spec, spec.quantity);
  batchParameters(recipe.spec, spec);
  checkEquipment(store, site, recipe.spec, spec.equipment, 'equipment');
  const usable = production ? ['Effective'] : ['Draft', 'Approved', 'Released', 'Effective'];
  if (!usable.includes(recipe.status.phase)) throw conflict('recipe_not_effective', `recipe ${spec.masterRecipeRef} is ${recipe.status.phase}`, { phase: recipe.status.phase });
  const taken = store.list(Batch, site).find((other) => other.spec.batchID === spec.batchID && other.metadata.name !== name);
  if (taken) throw conflict('batch_id_in_use', `batchID ${spec.batchID} is used by batch ${taken.metadata.name}`, { batch: taken.metadata.name });
}

/** @throws Refusal 400 naming `<field>.<capability>`. */
export function checkEquipment(store: StoreReader, site: string, recipe: Parameters<typeof batchParameters>[0], equipment: Readonly<Record<string, string>>, field: string): void {
  const { capabilities } = expandRecipe(recipe.procedure.chart, templatesOf(store, site));
  for (const [capability, name] of Object.entries(equipment)) {
    const at = `${field}.${capability}`;
    if (!capabilities.includes(capability)) throw invalid('unknown_reference', at, `the recipe needs no capability ${capability}`);
    const unit = store.get(Unit, site, name);
    if (!unit) throw invalid('unknown_reference', at, `unit ${name} does not exist`);
    if (!unit.spec.capabilities.includes(capability)) throw invalid('unknown_reference', at, `unit ${name} does not have capability ${capability}`);
  }
}

/** Quantity and unit that a batch without its own takes from the recipe (decisions 1.7). */
export function withRecipeDefaults(store: Store, site: string, spec: BatchSpec): BatchSpec {
  const size = store.get(MasterRecipe, site, spec.masterRecipeRef)?.spec.batchSize;
  return {
    ...spec,
    quantity: spec.quantity || (size?.nominal ?? ''),
    engineeringUnit: spec.engineeringUnit || (size?.engineeringUnit ?? ''),
    lotID: spec.lotID || spec.batchID,
  };
}
