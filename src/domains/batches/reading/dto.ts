/** What is served of a batch (decisions 1.7, 3.9). */
import * as v from 'valibot';
import { nameSchemas } from '../../../platform/base/schema-names.js';
import { MODES } from '../../../../runtime/vocabulary/modes.js';
import { COMMANDS, STATES } from '../../../../runtime/vocabulary/states.js';
import { batchCommands } from '../../../../runtime/vocabulary/transitions.js';
import { Refusal } from '../../../platform/base/refusal.js';
import { Condition as ConditionBody, type ToldBy } from '../../../platform/http/replies.js';
import { SITE_METADATA } from '../../../platform/store/read-body.js';
import type { Resource } from '../../../platform/store/resource.js';
import type { StoreReader } from '../../../platform/store/kind.js';
import { ParameterValue, Procedure } from '../../procedures/kind.js';
import { Level, levelOf } from '../../procedures/manual-levels.js';
import { ControlRecipe, MasterRecipe, type MasterRecipeSpec } from '../../recipes/kind.js';
import { batchBlockedBy, blockedBecause, type BlockedWorld, Blocker } from './blocked-by.js';
import { batchOutputs } from './batch-outputs.js';
import { Commanded, commandedIn } from '../recovery/left-commanded.js';
import { CommandRejection } from '../../runs/command-rejection.js';
import { ElementFailure } from '../../runs/failures.js';
import { hasActiveFailure, heldBy, Hold } from '../../runs/holds.js';
import { elementIndex } from '../tree/element-index.js';
import { COORDINATION_PHASES } from '../../coordination/kind.js';
import { isPresent } from './list.js';
import { Allocation, type ListedBatch, BATCH_STATES, BatchOutput, BatchSpec, type BatchStatus, isFinalBatch } from '../kind.js';
import { batchParameters } from '../creation/parameters.js';
import { RecoveryBody, recoveryBody } from '../recovery/recovery.js';
import { asShown, lookAtShown } from '../recovery/unrecovered.js';

const { until: _lasts, ...cause } = Hold.entries;

const ITEM = {
  name: v.string(),
  batchID: v.string(),
  phase: v.picklist(BATCH_STATES),
  mode: v.picklist(MODES),
  masterRecipeRef: v.string(),
  quantity: v.string(),
  engineeringUnit: v.string(),
  priority: v.number(),
  description: v.string(),
  workOrderID: v.string(),
  lotID: v.string(),
  units: v.array(v.string()),
  heldInside: v.boolean(),
  /** Its present hold; absent while it has none. */
  heldBy: v.optional(v.strictObject(cause)),
  blockedBecause: v.string(),
  recordRef: v.string(),
  recordPending: v.boolean(),
  startedAt: v.string(),
  endedAt: v.string(),
  ...SITE_METADATA,
};

export const BatchItem = v.strictObject(ITEM);
export type BatchItem = ToldBy<typeof BatchItem>;

/** `commanded`: what stands commanded in its units, while it waits for an operator. */
const RecoveryShown = v.strictObject({ ...RecoveryBody.entries, commanded: v.optional(v.array(Commanded)) });
type RecoveryShown = ToldBy<typeof RecoveryShown>;

export const BatchBody = v.strictObject({
  ...ITEM,
  blockedBy: v.array(Blocker),
  recipe: v.strictObject({ name: v.string(), version: v.string(), productID: v.string(), controlRecipe: v.string() }),
  allocations: v.array(Allocation),
  parameterValues: v.array(ParameterValue),
  outputs: v.array(BatchOutput),
  /** Both '' before the start. */
  procedure: v.strictObject({ name: v.string(), state: v.picklist(['', ...STATES]) }),
  validCommands: v.array(v.picklist(COMMANDS)),
  failure: v.optional(ElementFailure),
  furtherFailures: v.optional(v.array(ElementFailure)),
  holds: v.array(Hold),
  commandRejection: v.optional(CommandRejection),
  /** Levels in Manual while it has not ended, from the procedure down: nothing above a phase goes on by itself through one of them (decisions 3.7). */
  inManual: v.array(Level),
  coordination: v.array(v.strictObject({ kind: v.string(), name: v.string(), phase: v.picklist(COORDINATION_PHASES) })),
  conditions: v.array(ConditionBody),
  /** Of a batch whose control was interrupted (decisions 3.8). */
  recovery: v.optional(RecoveryShown),
  spec: BatchSpec,
});
export type BatchBody = ToldBy<typeof BatchBody>;

nameSchemas({ BatchItem, BatchRecovery: RecoveryShown, BatchBody });

type BatchResource = Resource<BatchSpec, BatchStatus>;

export function batchDto(stored: BatchResource, read: StoreReader, world: BlockedWorld): BatchBody {
  const { shown: batch, blockedBy: standing } = lookAtShown(world.store, stored);
  const { spec, status, metadata } = batch;
  const { site, name } = metadata;
  const recipe = read.get(MasterRecipe, site, spec.masterRecipeRef);
  const control = read.get(ControlRecipe, site, status.controlRecipe)?.spec;
  const blockedBy = standing ?? batchBlockedBy(world, batch);
  const elements = elementIndex(world.store);
  const procedure = read.get(Procedure, site, status.procedure);
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
    parameterValues: status.phase === 'Pending' && recipe ? valuesAhead(recipe.spec, spec) : status.parameterValues,
    outputs: status.outputs ?? batchOutputs(world.store, site, name),
    procedure: { name: status.procedure, state: procedure ? asShown(world.store, procedure).status.state : '' },
    validCommands: batchCommands(status.phase, { heldInside: status.heldInside, pausedInside: status.pausedInside === true, failureActive: hasActiveFailure(status) }),
    ...(status.failure ? { failure: status.failure } : {}),
    ...(status.furtherFailures ? { furtherFailures: status.furtherFailures } : {}),
    holds: status.holds ?? [],
    ...(status.commandRejection ? { commandRejection: status.commandRejection } : {}),
    inManual: isFinalBatch(status.phase) ? [] : elements.elementsOf(site, name).flatMap((element) => (element.status.mode === 'Manual' ? [levelOf(element)] : [])),
    coordination: [...elements.blocksOf(site, name), ...elements.barriersOf(site, name)].map((block) => ({
      kind: block.kind,
      name: block.metadata.name,
      phase: block.status.phase,
    })),
    conditions: status.conditions,
    ...(status.recovery ? { recovery: recoveryShown(world, batch) } : {}),
    spec,
  };
}

/** While it waits for an operator, with what stands commanded in its units. */
function recoveryShown(world: BlockedWorld, { metadata: { site }, status }: BatchResource): RecoveryShown | undefined {
  const body = recoveryBody(status);
  if (!body || status.phase !== 'Held' || status.recovery?.leftAt !== '') return body;
  const units = status.allocations.filter(({ state }) => state === 'Granted').map(({ unit }) => unit);
  return { ...body, commanded: commandedIn(world, site, units) };
}

/** What a pending batch would start with (decisions 1.7): its own values, those of the formula, scaled; none while they do not fit. */
function valuesAhead(recipe: MasterRecipeSpec, spec: BatchSpec): readonly ParameterValue[] {
  try {
    return batchParameters(recipe, spec);
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
    return [];
  }
}

/** Nothing blocks what has ended. */
export function batchItem(batch: ListedBatch, world: BlockedWorld): BatchItem {
  if (!isPresent(batch)) return itemOf(batch, []);
  const { shown, blockedBy } = lookAtShown(world.store, batch);
  return itemOf(shown, blockedBy ?? batchBlockedBy(world, shown));
}

function itemOf({ spec, status, metadata }: ListedBatch, blockedBy: readonly Blocker[]): BatchItem {
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
    units: status.allocations.flatMap(({ unit }) => (unit === '' ? [] : [unit])),
    heldInside: status.heldInside,
    ...heldBy(status.holds),
    blockedBecause: blockedBecause(blockedBy),
    recordRef: status.recordRef,
    // it has ended, and its record, which is made of what is on disk, comes in a moment
    recordPending: isFinalBatch(status.phase) && status.recordRef === '',
    startedAt: status.startedAt,
    endedAt: status.endedAt,
    labels: metadata.labels,
    createdAt: metadata.createdAt,
    updatedAt: metadata.updatedAt,
    generation: metadata.generation,
    site: metadata.site,
  };
}
