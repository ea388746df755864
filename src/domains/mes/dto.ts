/** The bodies of the MES interface (decisions Q-MES-02, Q-MES-14 to Q-MES-16). B2MML is made from the same bodies. */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { MODES } from '../../../runtime/vocabulary/modes.js';
import { STATES } from '../../../runtime/vocabulary/states.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { ActiveWork, ProcessCell, Unit, type UnitSpec, type UnitStatus } from '../plant/kind.js';
import { candidatesOf, neededFor } from '../recipes/candidates.js';
import { expandRecipe, templatesOf } from '../recipes/expand.js';
import { siteUnits } from '../recipes/site-units.js';
import type { MasterRecipeSpec, MasterRecipeStatus } from '../recipes/kind.js';
import { chosenFormula } from '../batches/creation/parameters.js';
import type { ListedRecord } from '../records/past-records.js';
import type { UnitRuntimes } from '../placement/runtimes.js';
import type { ListedBatch } from '../batches/kind.js';
import { asShown } from '../batches/recovery/unrecovered.js';
import { shownPhase } from '../batches/reading/list.js';
import { AVAILABILITIES, type Availability, availabilityOf } from './rules.js';
import { isLocal, orderIdOf } from './work-orders.js';

export const WorkOrder = v.strictObject({
  workOrderID: v.string(),
  productDefinition: v.string(),
  quantity: v.string(),
  engineeringUnit: v.string(),
  priority: v.number(),
  parameters: v.array(
    v.strictObject({
      name: v.string(),
      value: v.string(),
    }),
  ),
  requestedEquipment: v.record(v.string(), v.string()),
  description: v.string(),
  scheduledStartTime: v.nullable(v.string()),
  batchName: v.string(),
  batchID: v.string(),
  origin: v.picklist(['mes', 'local']),
  awaitingOperatorStart: v.boolean(),
  createdAt: v.string(),
  createdBy: v.string(),
  /** Left out of answers to a submission (contract 1, Work order). */
  status: v.optional(v.string()),
  startedAt: v.nullable(v.string()),
  finishedAt: v.nullable(v.string()),
});
export type WorkOrder = ToldBy<typeof WorkOrder>;

export function workOrder(batch: ListedBatch): WorkOrder {
  const { spec, status, metadata } = batch;
  return {
    workOrderID: orderIdOf(batch),
    productDefinition: spec.masterRecipeRef,
    quantity: spec.quantity,
    engineeringUnit: spec.engineeringUnit,
    priority: spec.priority,
    parameters: spec.parameters,
    requestedEquipment: spec.equipment,
    description: spec.description,
    scheduledStartTime: spec.scheduledStartTime || null,
    batchName: metadata.name,
    batchID: spec.batchID,
    origin: isLocal(batch) ? 'local' : 'mes',
    awaitingOperatorStart: status.phase === 'Pending',
    createdAt: metadata.createdAt,
    createdBy: status.workOrder?.createdBy ?? '',
    startedAt: status.startedAt || null,
    finishedAt: status.endedAt || null,
  };
}

export function workOrderWithStatus(store: Store, batch: ListedBatch): WorkOrder {
  return { ...workOrder(batch), status: shownPhase(store, batch) };
}

export const ProductDefinition = v.strictObject({
  name: v.string(),
  productID: v.string(),
  version: v.string(),
  description: v.string(),
  effectiveSince: v.string(),
  batchSize: v.nullable(
    v.strictObject({
      quantity: v.string(),
      engineeringUnit: v.string(),
    }),
  ),
  parameters: v.array(
    v.strictObject({
      name: v.string(),
      value: v.string(),
      engineeringUnit: v.string(),
      description: v.string(),
      lowValueLimit: v.string(),
      highValueLimit: v.string(),
      scaled: v.boolean(),
    }),
  ),
  equipmentRequirements: v.array(
    v.strictObject({
      capability: v.string(),
      steps: v.array(v.string()),
      /** Units that serve it, one of which `requestedEquipment` may name; without a name the plant chooses (D-C-12). */
      units: v.array(v.string()),
    }),
  ),
  outputs: v.array(
    v.strictObject({
      name: v.string(),
      type: v.string(),
      unit: v.string(),
      description: v.string(),
    }),
  ),
});
export type ProductDefinition = ToldBy<typeof ProductDefinition>;

export function productDefinition({ metadata, spec, status }: Resource<MasterRecipeSpec, MasterRecipeStatus>, read: StoreReader): ProductDefinition {
  const { phases, capabilities } = expandRecipe(spec.procedure.chart, templatesOf(read, metadata.site));
  const units = siteUnits(read, metadata.site);
  const outputs = new Map(phases.flatMap(({ template }) => template?.outputs ?? []).map(({ name, type, unit, description }) => [name, { name, type, unit, description }]));
  return {
    name: metadata.name,
    productID: spec.productID,
    version: spec.version,
    description: spec.description,
    effectiveSince: status.lifecycle.findLast((entry) => entry.to === 'Effective')?.actionAt ?? '',
    batchSize: spec.batchSize.nominal === '' ? null : { quantity: spec.batchSize.nominal, engineeringUnit: spec.batchSize.engineeringUnit },
    parameters: (chosenFormula(spec, '')?.parameters ?? []).map(({ name, value, engineeringUnit, description, lowValueLimit, highValueLimit, scaled }) => ({
      name,
      value,
      engineeringUnit,
      description,
      lowValueLimit,
      highValueLimit,
      scaled,
    })),
    equipmentRequirements: capabilities.map((capability) => ({
      capability,
      steps: [...new Set(phases.filter((leaf) => leaf.capability === capability).map((leaf) => leaf.unitProcedure))],
      units: candidatesOf(neededFor(spec, capability, phases), units).flatMap(({ unit, unfit }) => (unfit === '' ? [unit] : [])),
    })),
    outputs: [...outputs.values()],
  };
}

export const EquipmentStatus = v.strictObject({
  name: v.string(),
  description: v.string(),
  processCell: v.string(),
  area: v.string(),
  state: v.picklist(['', ...STATES]),
  mode: v.picklist(MODES),
  availability: v.picklist(AVAILABILITIES),
  allocatedTo: v.string(),
  activeWork: v.nullable(ActiveWork),
  capabilities: v.array(v.string()),
  runtimeReady: v.boolean(),
});
export type EquipmentStatus = ToldBy<typeof EquipmentStatus>;

export function equipmentStatus(unit: Resource<UnitSpec, UnitStatus>, store: Store, runtimes: UnitRuntimes): EquipmentStatus {
  const { metadata, spec, status } = asShown(store, unit);
  return {
    name: metadata.name,
    description: spec.description,
    processCell: spec.processCellName,
    area: store.get(ProcessCell, metadata.site, spec.processCellName)?.spec.areaName ?? '',
    state: status.state,
    mode: status.mode,
    availability: availabilityOf(status.state, status.allocatedTo),
    allocatedTo: status.allocatedTo,
    activeWork: status.activeWork,
    capabilities: spec.capabilities,
    runtimeReady: runtimes.link(metadata.site, metadata.name)?.ready ?? false,
  };
}

export const ProductionCapability = v.strictObject({
  site: v.string(),
  asOf: v.string(),
  equipment: v.array(EquipmentStatus),
  summary: v.strictObject({ total: v.number(), available: v.number(), inUse: v.number(), unavailable: v.number() }),
});
export type ProductionCapability = ToldBy<typeof ProductionCapability>;

export function productionCapability(site: string, asOf: string, store: Store, runtimes: UnitRuntimes): ProductionCapability {
  const equipment = store.list(Unit, site).map((unit) => equipmentStatus(unit, store, runtimes));
  const count = (availability: Availability): number => equipment.filter((unit) => unit.availability === availability).length;
  return { site, asOf, equipment, summary: { total: equipment.length, available: count('available'), inUse: count('inUse'), unavailable: count('unavailable') } };
}

export const ProductionSummary = v.strictObject({
  batchID: v.string(),
  batchName: v.string(),
  workOrderID: v.string(),
  productDefinition: v.string(),
  productID: v.string(),
  version: v.string(),
  state: v.string(),
  quantity: v.string(),
  engineeringUnit: v.string(),
  startedAt: v.string(),
  finishedAt: v.string(),
  recordName: v.string(),
  recordPhase: v.string(),
});
export type ProductionSummary = ToldBy<typeof ProductionSummary>;

nameSchemas({ WorkOrder, ProductDefinition, EquipmentStatus, ProductionCapability, ProductionSummary });

export function productionSummary({ name, entry }: ListedRecord): ProductionSummary {
  const { batchID, productID, version, quantity, engineeringUnit, startedAt } = entry;
  return {
    batchID,
    batchName: name,
    workOrderID: entry.workOrderID || batchID,
    productDefinition: entry.recipe,
    productID,
    version,
    state: entry.outcome,
    quantity,
    engineeringUnit,
    startedAt,
    finishedAt: entry.endedAt,
    recordName: name,
    recordPhase: entry.phase,
  };
}
