/** What is served of a batch (decisions 1.7, 3.9). */
import { batchCommands } from '../../../runtime/vocabulary/transitions.js';
import type { Resource } from '../../platform/store/resource.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { CoordinationBlock, SyncBarrier } from '../coordination/kind.js';
import { phaseBlockedBecause } from '../procedures/dto.js';
import { Operation, Phase, Procedure, UnitProcedure } from '../procedures/kind.js';
import { ControlRecipe, MasterRecipe } from '../recipes/kind.js';
import type { BatchSpec, BatchStatus } from './kind.js';

type BatchResource = Resource<BatchSpec, BatchStatus>;

export function batchDto(batch: BatchResource, read: StoreReader): Record<string, unknown> {
  const { spec, status, metadata } = batch;
  const { site, name } = metadata;
  const recipe = read.get(MasterRecipe, site, spec.masterRecipeRef);
  const control = read.get(ControlRecipe, site, status.controlRecipe)?.spec;
  return {
    ...batchItem(batch, read),
    recipe: {
      name: spec.masterRecipeRef,
      version: control?.version ?? recipe?.spec.version ?? '',
      productID: control?.productID ?? recipe?.spec.productID ?? '',
      controlRecipe: status.controlRecipe,
    },
    allocations: status.allocations,
    parameterValues: status.parameterValues,
    outputs: batchOutputs(read, site, name),
    procedure: { name: status.procedure, state: read.get(Procedure, site, status.procedure)?.status.state ?? '' },
    validCommands: batchCommands(status.phase, { heldInside: status.heldInside, pausedInside: status.pausedInside === true, failureActive: status.failure?.active ?? false }),
    ...(status.failure ? { failure: status.failure } : {}),
    ...(status.commandRejection ? { commandRejection: status.commandRejection } : {}),
    coordination: [...read.list(CoordinationBlock, site), ...read.list(SyncBarrier, site)]
      .filter((block) => (block.spec as { readonly batchRef: string }).batchRef === name)
      .map((block) => ({ kind: block.kind, name: block.metadata.name, phase: block.status.phase })),
    conditions: status.conditions,
    spec,
  };
}

export function batchItem({ spec, status, metadata }: BatchResource, read: StoreReader): Record<string, unknown> {
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
    blockedBecause: blockedBecause(metadata.site, metadata.name, status, read),
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

/** Outputs of all phases of the batch, by step path. */
export function batchOutputs(read: StoreReader, site: string, batch: string): { element: string; name: string; type: string; unit: string; value: string }[] {
  return read
    .list(Phase, site)
    .filter((phase) => phase.spec.batchRef === batch)
    .flatMap((phase) => phase.status.outputs.map((output) => ({ element: phase.spec.stepPath, ...output })));
}

/** One sentence; empty when nothing blocks (decisions 3.9). */
export function blockedBecause(site: string, name: string, status: BatchStatus, read: StoreReader): string {
  if (status.phase === 'Pending') return status.commandRejection ? `Start was rejected: ${status.commandRejection.message}` : 'waits for an operator to start it';
  if (status.failure && status.phase !== 'Running') return `${status.failure.rule}: ${status.failure.message}`;
  if (status.phase === 'Held') return 'held; Restart goes on';
  if (status.phase === 'Paused') return 'paused; Resume goes on';
  if (status.phase !== 'Running') return '';
  const phases = read.list(Phase, site).filter((phase) => phase.spec.batchRef === name && phase.status.state !== 'Idle');
  const sentences = phases.map(phaseBlockedBecause).filter((text) => text !== '');
  if (sentences.length > 0) return sentences.join('; ');
  const waiting = [...read.list(UnitProcedure, site), ...read.list(Operation, site)].find((element) => element.spec.batchRef === name && element.status.blockedBecause !== '');
  return waiting?.status.blockedBecause ?? '';
}
