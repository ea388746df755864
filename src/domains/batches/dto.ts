/** What is served of a batch (decisions 1.7, 3.9). */
import { batchCommands } from '../../../runtime/vocabulary/transitions.js';
import type { Resource } from '../../platform/store/resource.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { Procedure } from '../procedures/kind.js';
import { ControlRecipe, MasterRecipe } from '../recipes/kind.js';
import { batchBlockedBy, blockedBecause, type BlockedWorld, type Blocker } from './blocked-by.js';
import { batchOutputs } from './batch-outputs.js';
import { hasActiveFailure, heldBy } from './holds.js';
import { elementIndex } from './element-index.js';
import type { BatchSpec, BatchStatus } from './kind.js';
import { recoveryBody } from './recovery.js';

type BatchResource = Resource<BatchSpec, BatchStatus>;

export function batchDto(batch: BatchResource, read: StoreReader, world: BlockedWorld): Record<string, unknown> {
  const { spec, status, metadata } = batch;
  const { site, name } = metadata;
  const recipe = read.get(MasterRecipe, site, spec.masterRecipeRef);
  const control = read.get(ControlRecipe, site, status.controlRecipe)?.spec;
  const blockedBy = batchBlockedBy(world, batch);
  const elements = elementIndex(world.store);
  return {
    ...itemOf(batch, blockedBy),
    blockedBy,
    recipe: {
      name: spec.masterRecipeRef,
      version: control?.version ?? recipe?.spec.version ?? '',
      productID: control?.productID ?? recipe?.spec.productID ?? '',
      controlRecipe: status.controlRecipe,
    },
    allocations: status.allocations,
    parameterValues: status.parameterValues,
    outputs: status.outputs ?? batchOutputs(world.store, site, name),
    procedure: { name: status.procedure, state: read.get(Procedure, site, status.procedure)?.status.state ?? '' },
    validCommands: batchCommands(status.phase, { heldInside: status.heldInside, pausedInside: status.pausedInside === true, failureActive: hasActiveFailure(status) }),
    ...(status.failure ? { failure: status.failure } : {}),
    ...(status.furtherFailures ? { furtherFailures: status.furtherFailures } : {}),
    holds: status.holds ?? [],
    ...(status.commandRejection ? { commandRejection: status.commandRejection } : {}),
    coordination: [...elements.blocksOf(site, name), ...elements.barriersOf(site, name)].map((block) => ({
      kind: block.kind,
      name: block.metadata.name,
      phase: block.status.phase,
    })),
    conditions: status.conditions,
    ...(status.recovery ? { recovery: recoveryBody(status) } : {}),
    spec,
  };
}

export function batchItem(batch: BatchResource, _read: StoreReader, world: BlockedWorld): Record<string, unknown> {
  return itemOf(batch, batchBlockedBy(world, batch));
}

function itemOf({ spec, status, metadata }: BatchResource, blockedBy: readonly Blocker[]): Record<string, unknown> {
  return {
    name: metadata.name,
    batchID: spec.batchID,
    phase: status.phase,
    mode: spec.mode || 'Automatic',
    masterRecipeRef: spec.masterRecipeRef,
    quantity: spec.quantity,
    engineeringUnit: spec.engineeringUnit,
    priority: spec.priority,
    description: spec.description,
    workOrderID: spec.workOrderID,
    lotID: spec.lotID,
    units: status.allocations.map((allocation) => allocation.unit),
    heldInside: status.heldInside,
    ...heldBy(status.holds),
    blockedBecause: blockedBecause(blockedBy),
    recordRef: status.recordRef,
    startedAt: status.startedAt,
    endedAt: status.endedAt,
    labels: metadata.labels,
    createdAt: metadata.createdAt,
    updatedAt: metadata.updatedAt,
    generation: metadata.generation,
    site: metadata.site,
  };
}
