/** The bodies of the MES interface (decisions Q-MES-02, Q-MES-14 to Q-MES-16). B2MML is made from the same bodies. */
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { ProcessCell, Unit, type UnitSpec, type UnitStatus } from '../plant/kind.js';
import { expandRecipe, templatesOf } from '../recipes/expand.js';
import type { MasterRecipeSpec, MasterRecipeStatus } from '../recipes/kind.js';
import { chosenFormula } from '../batches/creation/parameters.js';
import type { RecordResource } from '../records/kind.js';
import type { UnitRuntimes } from '../placement/runtimes.js';
import { asShown } from '../batches/recovery/unrecovered.js';
import { type Availability, availabilityOf } from './rules.js';
import { type BatchResource, isLocal, orderIdOf } from './work-orders.js';

export interface WorkOrder {
  readonly workOrderID: string;
  readonly productDefinition: string;
  readonly quantity: string;
  readonly engineeringUnit: string;
  readonly priority: number;
  readonly parameters: readonly { readonly name: string; readonly value: string }[];
  readonly requestedEquipment: Readonly<Record<string, string>>;
  readonly description: string;
  readonly scheduledStartTime: string | null;
  readonly batchName: string;
  readonly batchID: string;
  readonly origin: 'mes' | 'local';
  readonly awaitingOperatorStart: boolean;
  readonly createdAt: string;
  readonly createdBy: string;
  /** Left out of answers to a submission (contract 1, Work order). */
  readonly status?: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}

export function workOrder(batch: BatchResource): WorkOrder {
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

export function workOrderWithStatus(store: Store, batch: BatchResource): WorkOrder {
  return { ...workOrder(batch), status: asShown(store, batch).status.phase };
}

export interface ProductDefinition {
  readonly name: string;
  readonly productID: string;
  readonly version: string;
  readonly description: string;
  readonly effectiveSince: string;
  readonly batchSize: { readonly quantity: string; readonly engineeringUnit: string } | null;
  readonly parameters: readonly {
    readonly name: string;
    readonly value: string;
    readonly engineeringUnit: string;
    readonly description: string;
    readonly lowValueLimit: string;
    readonly highValueLimit: string;
    readonly scaled: boolean;
  }[];
  readonly equipmentRequirements: readonly { readonly capability: string; readonly steps: readonly string[] }[];
  readonly outputs: readonly { readonly name: string; readonly type: string; readonly unit: string; readonly description: string }[];
}

export function productDefinition({ metadata, spec, status }: Resource<MasterRecipeSpec, MasterRecipeStatus>, read: StoreReader): ProductDefinition {
  const { phases, capabilities } = expandRecipe(spec.procedure.chart, templatesOf(read, metadata.site));
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
    })),
    outputs: [...outputs.values()],
  };
}

export interface EquipmentStatus {
  readonly name: string;
  readonly description: string;
  readonly processCell: string;
  readonly area: string;
  readonly state: string;
  readonly mode: string;
  readonly availability: Availability;
  readonly allocatedTo: string;
  readonly activeWork: UnitStatus['activeWork'];
  readonly capabilities: readonly string[];
  readonly runtimeReady: boolean;
}

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

export interface ProductionCapability {
  readonly site: string;
  readonly asOf: string;
  readonly equipment: readonly EquipmentStatus[];
  readonly summary: Readonly<Record<Availability | 'total', number>>;
}

export function productionCapability(site: string, asOf: string, store: Store, runtimes: UnitRuntimes): ProductionCapability {
  const equipment = store.list(Unit, site).map((unit) => equipmentStatus(unit, store, runtimes));
  const count = (availability: Availability): number => equipment.filter((unit) => unit.availability === availability).length;
  return { site, asOf, equipment, summary: { total: equipment.length, available: count('available'), inUse: count('inUse'), unavailable: count('unavailable') } };
}

export interface ProductionSummary {
  readonly batchID: string;
  readonly batchName: string;
  readonly workOrderID: string;
  readonly productDefinition: string;
  readonly productID: string;
  readonly version: string;
  readonly state: string;
  readonly quantity: string;
  readonly engineeringUnit: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly recordName: string;
  readonly recordPhase: string;
}

export function productionSummary({ metadata, spec, status }: RecordResource): ProductionSummary {
  const { batch, recipe } = spec;
  return {
    batchID: batch.batchID,
    batchName: batch.name,
    workOrderID: batch.workOrderID || batch.batchID,
    productDefinition: recipe.name,
    productID: recipe.productID,
    version: recipe.version,
    state: status.outcome,
    quantity: batch.quantity,
    engineeringUnit: batch.engineeringUnit,
    startedAt: batch.startedAt,
    finishedAt: batch.endedAt,
    recordName: metadata.name,
    recordPhase: status.phase,
  };
}
