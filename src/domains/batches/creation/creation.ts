/**
 * Making a batch (contract 3, Batches; decisions D-RECIPE-03, D-RECIPE-04, Q-RECIPE-28, Q-RECIPE-31, Q-MES-10): what a
 * request must satisfy before a Batch exists, the same for the operator's route, generic apply and a work order.
 */
import { sameName } from '../../../../runtime/vocabulary/same-name.js';
import { createHash } from 'node:crypto';
import { conflict, invalid } from '../../../platform/base/refusal.js';
import type { StoreReader } from '../../../platform/store/kind.js';
import type { PastEntry, PastSaying } from '../../../platform/store/past-index.js';
import type { Store } from '../../../platform/store/store.js';
import { Unit } from '../../plant/kind.js';
import { releasedView } from '../../recipes/released.js';
import { propertyLacking } from '../../recipes/candidates.js';
import { expandRecipe, templatesOf } from '../../recipes/expand.js';
import { TOO_LARGE } from '../../recipes/expansion-limit.js';
import { MasterRecipe, type MasterRecipeSpec } from '../../recipes/kind.js';
import { Batch, type PastBatch, type BatchSpec } from '../kind.js';
import { listedBatch } from '../reading/list.js';
import { unfitRecipeValues } from './unfit-values.js';
import { batchParameters, checkQuantity, checkUnitOfQuantity, checkValue } from './parameters.js';
import { BatchRecord, type PastRecord } from '../../records/kind.js';

/** Where a value comes from while it is followed to the elements; the number is its place in the request. */
const OVERRIDE = 'batch/';

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
  checkUnitOfQuantity(recipe.spec, spec.engineeringUnit);
  checkOverrides(releasedView(store, recipe), site, recipe.spec, spec);
  checkEquipment(releasedView(store, recipe), site, recipe.spec, spec.equipment, 'equipment');
  const usable = production ? ['Effective'] : ['Draft', 'Approved', 'Released', 'Effective'];
  if (!usable.includes(recipe.status.phase)) throw conflict('recipe_not_effective', `recipe ${spec.masterRecipeRef} is ${recipe.status.phase}`, { phase: recipe.status.phase });
  if (!expandRecipe(recipe.spec.procedure.chart, templatesOf(releasedView(store, recipe), site)).isWhole)
    throw conflict('chart_invalid', `no batch can be made of recipe ${spec.masterRecipeRef}: ${TOO_LARGE}`);
  refuseTaken(store, site, name, spec.batchID);
}

/**
 * What already has the ID or the name of a batch that does not exist yet (`uid` undefined), or of one that does.
 * A batch that was deleted keeps its ID, and its name, as long as there is its record: a second one would be without a record of its own.
 */
export function takenBy(
  store: StoreReader,
  site: string,
  { uid, name, batchID }: { readonly uid: string | undefined; readonly name: string; readonly batchID: string },
): { readonly batch?: string; readonly batchRecord?: string; readonly message: string } | undefined {
  const taken = store.list(Batch, site).find((other) => other.spec.batchID === batchID && other.metadata.uid !== uid);
  const past = store.pastIndex<PastBatch>(Batch, site, ['batchID', batchID]).find(({ entry }) => entry.uid !== uid);
  const holder = taken?.metadata.name ?? past?.name;
  if (holder !== undefined) return { batch: holder, message: `batchID ${batchID} is used by batch ${holder}` };
  const pastRecords = (saying: PastSaying<PastRecord>): readonly PastEntry<PastRecord>[] => store.pastIndex(BatchRecord, site, saying);
  // of two the first by name, present or past
  const records = [
    ...store.list(BatchRecord, site).map(({ spec: { batch } }) => batch),
    ...[...pastRecords(['batchID', batchID]), ...pastRecords(['name', name])].map((record) => ({ name: record.name, uid: record.entry.uid, batchID: record.entry.batchID })),
  ].filter((record) => record.uid !== uid && (record.batchID === batchID || record.name === name));
  const [record] = records.sort((a, b) => (a.name < b.name ? -1 : 1));
  return record && { batchRecord: record.name, message: `batchID ${record.batchID} is that of the record ${record.name}` };
}

function refuseTaken(store: StoreReader, site: string, name: string, batchID: string): void {
  const taken = takenBy(store, site, { uid: listedBatch(store, site, name)?.metadata.uid, name, batchID });
  if (!taken) return;
  const { message, ...by } = taken;
  throw conflict('batch_id_in_use', message, by);
}

/** @throws Refusal 400 naming the value of the batch's own that an element could not run with. */
function checkOverrides(store: StoreReader, site: string, recipe: MasterRecipeSpec, spec: BatchSpec): void {
  const indexOf = (name: string): number => spec.parameters.findIndex((override) => sameName(override.name, name));
  const parameters = batchParameters(recipe, spec).map((value) => (value.source === 'override' ? { ...value, sourceRef: `${OVERRIDE}${indexOf(value.name)}` } : value));
  if (spec.parameters.length === 0) return;
  for (const { formal, value, message } of unfitRecipeValues(store, site, recipe, parameters)) {
    if (!value.sourceRef.startsWith(OVERRIDE)) continue;
    const field = `parameters[${value.sourceRef.slice(OVERRIDE.length)}].value`;
    if (value.value !== '') checkValue(formal, value.value, field);
    throw invalid('invalid_field', field, message);
  }
}

/** A manifest: times in their normal form; a work order is not made here, and one that is there is not given another name. */
export function admitApplied(read: StoreReader, site: string, name: string, given: BatchSpec): BatchSpec {
  const spec = withNormalTime(given);
  const before = read.get(Batch, site, name);
  if (before) checkWorkOrderID(spec, before.spec.workOrderID);
  else if (spec.workOrderID !== '' && isOrdered(read, site, spec.workOrderID)) checkWorkOrderID(spec, '');
  checkBatch(read, site, name, spec, true);
  return spec;
}

function isOrdered(read: StoreReader, site: string, workOrderID: string): boolean {
  return read.list(Batch, site).some((batch) => batch.spec.workOrderID === workOrderID) || read.pastIndex<PastBatch>(Batch, site, ['workOrderID', workOrderID]).length > 0;
}

/** @throws Refusal 400 for an ID that the MES has not given (decisions 1.7). */
export function checkWorkOrderID({ workOrderID }: Pick<BatchSpec, 'workOrderID'>, known: string): void {
  if (workOrderID !== known) throw invalid('invalid_field', 'workOrderID', 'workOrderID is set by work orders of the MES only');
}

export function withNormalTime(spec: BatchSpec): BatchSpec {
  return spec.scheduledStartTime === '' ? spec : { ...spec, scheduledStartTime: new Date(spec.scheduledStartTime).toISOString() };
}

/** What the recipe lists and asks for counts for a unit that somebody names, too; its bindings are judged at the start. @throws Refusal 400 naming `<field>.<capability>`. */
export function checkEquipment(store: StoreReader, site: string, recipe: Parameters<typeof batchParameters>[0], equipment: Readonly<Record<string, string>>, field: string): void {
  const { capabilities } = expandRecipe(recipe.procedure.chart, templatesOf(store, site));
  for (const [capability, name] of Object.entries(equipment)) {
    const at = `${field}.${capability}`;
    if (!capabilities.includes(capability)) throw invalid('unknown_reference', at, `the recipe needs no capability ${capability}`);
    const unit = store.get(Unit, site, name);
    if (!unit) throw invalid('unknown_reference', at, `unit ${name} does not exist`);
    if (!unit.spec.capabilities.includes(capability)) throw invalid('unknown_reference', at, `unit ${name} does not have capability ${capability}`);
    const requirement = recipe.equipmentRequirements.find((each) => each.capability === capability);
    const { candidates = [] } = requirement ?? {};
    if (candidates.length > 0 && !candidates.includes(name))
      throw invalid('unknown_reference', at, `the recipe takes ${candidates.join(', ')} for capability ${capability}, not ${name}`);
    const lacking = requirement ? propertyLacking(requirement, name, unit.spec.properties ?? []) : '';
    if (lacking !== '') throw invalid('unknown_reference', at, `unit ${name} does not serve capability ${capability}: ${lacking}`);
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
