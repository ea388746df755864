/**
 * What a command would do, computed on a copy and not done: the judge, the tree and the start check are those of the real
 * command (decisions 3.1 to 3.4), and phases obey at once. Nothing is written, nobody is told.
 *
 * `to` is where an element comes to rest; `through` is the acting state on the way there, whose charts drive the equipment.
 */
import { type Told, withTold } from '../../../../runtime/vocabulary/told.js';
import * as v from 'valibot';
import { nameSchemas } from '../../../platform/base/schema-names.js';
import type { Command, State } from '../../../../runtime/vocabulary/states.js';
import { COMPLETIONS, judge } from '../../../../runtime/vocabulary/transitions.js';
import { inside } from '../../../platform/base/assert.js';
import type { Clock } from '../../../platform/base/clock.js';
import { timestamp } from '../../../platform/base/clock.js';
import type { ToldBy } from '../../../platform/http/replies.js';
import type { Ref, Resource } from '../../../platform/store/resource.js';
import type { Put } from '../../../platform/store/store.js';
import type { CoordinationBlockSpec, SyncBarrierSpec } from '../../coordination/kind.js';
import { Unit } from '../../plant/kind.js';
import { isAvailable } from '../../plant/unit-owner.js';
import { type ElementStatus, Phase } from '../../procedures/kind.js';
import { ControlRecipe } from '../../recipes/kind.js';
import { adhocBarred } from '../adhoc-reconciler.js';
import { AdhocReconciliation, type AdhocRoot } from '../tree/adhoc-reconciliation.js';
import { BatchReconciliation } from '../tree/batch-reconciliation.js';
import type { ElementResource } from '../tree/element-index.js';
import { readNode } from '../tree/element-node.js';
import { type CommandRefusal, type ElementReconciliation, type ReconciliationWorld } from '../tree/element-reconciliation.js';
import type { ElementDraft } from '../start/instantiation.js';
import { Batch, type BatchSpec, type BatchStatus, isFinalBatch } from '../kind.js';
import { wholeOf } from '../past-run.js';
import { type ElementKind, type HoldPropagation, ProcedureTree, type TreeNode, walk } from '../tree/procedure-tree.js';
import { capabilityOf } from '../start/allocation-queue.js';
import { withheldBy } from '../start/equipment-conditions.js';
import { namedByStart, type StartFacts } from '../start/start-conditions.js';
import { checkStart, type StartPlan, startPuts } from '../start/start.js';

export const DryRunEffect = v.strictObject({
  kind: v.string(),
  name: v.string(),
  path: v.string(),
  from: v.string(),
  to: v.string(),
  through: v.optional(v.string()),
});
export type DryRunEffect = ToldBy<typeof DryRunEffect>;

nameSchemas({ DryRunEffect });

export type DryRunVerdict =
  | { readonly accepted: true; readonly effects: readonly DryRunEffect[] }
  | { readonly accepted: false; readonly rule: string; readonly message: string; readonly told?: Told | undefined; readonly effects: readonly [] };

/** What the controllers judge by. */
export interface DryRunFacts extends StartFacts {
  readonly clock: Clock;
  readonly holdPropagation: HoldPropagation;
  readonly resumeCancelsPause: boolean;
  readonly settleDeadlineMs: number;
}

type BatchResource = Resource<BatchSpec, BatchStatus>;

/** Rounds of tree and phases until nothing moves; a command settles in as many as the tree has levels. */
const ROUNDS_MAX = 50;
/** Acting states that end by themselves; Running ends when the work does. */
const RESTS_IN: Readonly<Partial<Record<State, State | undefined>>> = { ...COMPLETIONS, Running: undefined, Pausing: 'Paused' };

/** What a dry run of a command on it reads, that may be past. */
export function readByDryRun(facts: DryRunFacts, { kind, site, name }: Ref, command: Command): readonly Ref[] {
  if (kind !== Batch.kind) return [{ kind, site, name }];
  const batch = facts.store.get(Batch, site, name);
  return command === 'Start' && batch?.status.phase === 'Pending' ? namedByStart(facts, site, batch.metadata, batch.spec) : wholeOf({ site, name });
}

export function dryRun(facts: DryRunFacts, target: Resource, command: Command): DryRunVerdict {
  return target.kind === Batch.kind ? dryBatch(facts, target as BatchResource, command) : dryAdhoc(facts, target as AdhocRoot, command);
}

function dryBatch(facts: DryRunFacts, batch: BatchResource, command: Command): DryRunVerdict {
  if (command === 'Start' && batch.status.phase === 'Pending') return dryStart(facts, batch);
  const recipe = facts.store.get(ControlRecipe, batch.metadata.site, batch.status.controlRecipe)?.spec.recipe;
  const policy = { holdPropagation: recipe?.holdPropagation ?? facts.holdPropagation, onPhaseFailure: recipe?.onPhaseFailure ?? 'Hold' };
  const reconciliation = copy(facts, policy, (world) => new BatchReconciliation(batch, facts.store, world));
  const { name } = batch.metadata;
  const isOver = isFinalBatch(batch.status.phase);
  return outcome(
    reconciliation,
    () => reconciliation.order({ command }),
    () => (isOver ? reconciliation.settleEnded() : reconciliation.settle()),
    () => [{ kind: Batch.kind, name, path: '', state: reconciliation.status.phase }],
  );
}

function dryAdhoc(facts: DryRunFacts, root: AdhocRoot, command: Command): DryRunVerdict {
  const policy = { holdPropagation: facts.holdPropagation, onPhaseFailure: 'Hold' } as const;
  const reconciliation = copy(facts, policy, (world) => new AdhocReconciliation(root, facts.store, world));
  return outcome(
    reconciliation,
    () => reconciliation.order({ command }, adhocBarred(reconciliation, command, facts)),
    () => reconciliation.settle(),
    () => [],
  );
}

// ---------------------------------------------------------------- a copy that obeys

/** A reconciliation whose phases take an order as their worker would. */
function copy<Made extends ElementReconciliation>(
  facts: DryRunFacts,
  policy: Pick<ReconciliationWorld, 'holdPropagation' | 'onPhaseFailure'>,
  make: (world: ReconciliationWorld) => Made,
): Made {
  const nodes = new Map<string, TreeNode>();
  const { clock, resumeCancelsPause, settleDeadlineMs } = facts;
  const reconciliation = make({
    ...policy,
    nowMs: clock.wallMs(),
    clock,
    timeScale: 1,
    resumeCancelsPause,
    settleDeadlineMs,
    commandPhase: (phase, command) => takeOrder(nodes.get(phase.metadata.name), command, resumeCancelsPause),
    awaitsAnswer: () => false,
    isReady: (unit) => facts.runtimes.link(reconciliation?.site ?? '', unit)?.ready === true,
    isRefused: () => false,
  });
  for (const node of reconciliation.tree ? walk(reconciliation.tree.root) : []) if (node.kind === Phase.kind) nodes.set(node.name, node);
  return reconciliation;
}

function takeOrder(node: TreeNode | undefined, command: Command, resumeCancelsPause: boolean): void {
  if (!node) return;
  const verdict = judge(node.state, command, { failureActive: node.failure?.active ?? false, resumeCancelsPause });
  if (!verdict.accepted) return;
  node.state = verdict.next;
  if (command === 'Start') node.runCount += 1;
  if (command === 'Restart') node.failure = undefined;
}

interface Seen {
  readonly kind: string;
  readonly name: string;
  readonly path: string;
  readonly state: string;
}

function outcome(reconciliation: ElementReconciliation, order: () => CommandRefusal | undefined, settle: () => void, owner: () => readonly Seen[]): DryRunVerdict {
  const look = (): Seen[] => [...owner(), ...seenOf(reconciliation)];
  const before = look();
  const refusal = order();
  if (refusal) return { accepted: false, ...refusal, effects: [] };
  settle();
  const acting = look();
  let after = acting;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    for (const node of reconciliation.tree ? walk(reconciliation.tree.root) : []) if (node.kind === 'Phase') node.state = RESTS_IN[node.state] ?? node.state;
    settle();
    const now = look();
    if (now.every(({ state }, index) => state === after[index]?.state)) break;
    after = now;
  }
  return { accepted: true, effects: effectsOf(before, acting, after) };
}

/** Elements from the top down, then the units they work on. */
function seenOf(reconciliation: ElementReconciliation): Seen[] {
  const nodes = reconciliation.tree ? [...walk(reconciliation.tree.root)].reverse() : [];
  const units = [...new Set(nodes.map(({ unit }) => unit))].filter((unit) => unit !== '').sort();
  return [
    ...nodes.map(({ kind, name, path, state }) => ({ kind, name, path, state })),
    ...units.map((name) => ({ kind: Unit.kind, name, path: '', state: reconciliation.units.get(name)?.state ?? '' })),
  ];
}

const LOOKED = 'each look sees the same elements and units';

function effectsOf(before: readonly Seen[], acting: readonly Seen[], after: readonly Seen[]): DryRunEffect[] {
  return after.flatMap(({ kind, name, path, state: to }, index) => {
    const from = inside(before, index, LOOKED).state;
    const by = inside(acting, index, LOOKED).state;
    if (from === to && by === to) return [];
    return [{ kind, name, path, from, to, ...(by === from || by === to ? {} : { through: by }) }];
  });
}

// ---------------------------------------------------------------- start of a batch

function dryStart(facts: DryRunFacts, batch: BatchResource): DryRunVerdict {
  const check = checkStart(batch, facts);
  if ('message' in check) return { accepted: false, rule: check.rule, message: check.message, ...withTold(check.told), effects: [] };
  const { site, name } = batch.metadata;
  const { puts, elements } = startPuts(batch, check.plan, facts.store);
  const root = rootOfDrafts(elements, site);
  if (!root) return { accepted: true, effects: [] };
  const waiting = coordinated(puts);
  const tree = new ProcedureTree(root, {
    nowText: timestamp(facts.clock.wallMs()),
    holdPropagation: facts.holdPropagation,
    onPhaseFailure: 'Hold',
    resumeCancelsPause: facts.resumeCancelsPause,
    isTrue: () => false,
    startBlockedBy: (node) => (waiting.has(`${node.kind}/${node.name}`) || !isGranted(facts, site, check.plan, node) ? 'waits' : ''),
    takeParameters: () => undefined,
    commandPhase: (node, command) => takeOrder(node, command, facts.resumeCancelsPause),
    awaitsAnswer: () => false,
    stateChanged: () => undefined,
  });
  tree.command('Start');
  tree.settle();
  const nodes = [...walk(root)].reverse();
  const started = nodes.flatMap(({ kind, name: element, path, state }) => (state === 'Idle' ? [] : [{ kind, name: element, path, from: 'Idle', to: state }]));
  const owner = { kind: Batch.kind, name, path: '', from: batch.status.phase, to: 'Running' };
  return { accepted: true, effects: [owner, ...started, ...unitEffects(facts, site, check.plan, root)] };
}

/** The drafts of a start as a tree of elements that have not run. */
function rootOfDrafts(elements: readonly ElementDraft[], site: string): TreeNode | undefined {
  const nodes = new Map<string, TreeNode>();
  for (const { kind, name, spec } of elements) {
    const status: ElementStatus | undefined = kind.initialStatus?.(spec as never);
    const draft = { kind: kind.kind, metadata: { name, site }, spec, status } as ElementResource;
    nodes.set(`${kind.kind}/${name}`, readNode(kind.kind as ElementKind, draft));
  }
  for (const { kind, name, spec } of elements) {
    const node = nodes.get(`${kind.kind}/${name}`);
    const parent = spec.parentRef && nodes.get(`${spec.parentRef.kind}/${spec.parentRef.name}`);
    if (!node || !parent) continue;
    node.parent = parent;
    parent.children.push(node);
  }
  return [...nodes.values()].find((node) => node.parent === null);
}

/** Elements that wait for a signal or a barrier before they start (decisions 2.7). */
function coordinated(puts: readonly Put[]): ReadonlySet<string> {
  const endpoints = puts.flatMap(({ kind, spec }) => {
    if (kind.kind === 'CoordinationBlock') return (spec as CoordinationBlockSpec).signal?.consumers ?? [];
    return kind.kind === 'SyncBarrier' ? (spec as SyncBarrierSpec).participants : [];
  });
  return new Set(endpoints.filter(({ waitFor }) => waitFor === 'Start').map(({ kind, name }) => `${kind}/${name}`));
}

/** Units are taken with the start, or on demand when they are free and permit it (decisions 3.3). */
function isGranted(facts: DryRunFacts, site: string, { recipe, nextOf }: StartPlan, { kind, unit, step, parent }: TreeNode): boolean {
  if (kind !== 'UnitProcedure' || recipe.spec.allocation === 'AtStart') return true;
  if (unit === '') return nextOf.has(capabilityOf(parent ?? undefined, step));
  return isAvailable(facts.store.get(Unit, site, unit)?.status) && !withheldBy(facts, site, unit);
}

function unitEffects({ store }: DryRunFacts, site: string, { allocation, recipe }: StartPlan, root: TreeNode): DryRunEffect[] {
  return [...new Set(Object.values(allocation))]
    .filter((name) => name !== '')
    .sort()
    .flatMap((name) => {
      const from = store.get(Unit, site, name)?.status.state ?? '';
      const isRunning = root.children.some((node) => node.unit === name && node.state === 'Running');
      const to = isRunning ? 'Running' : recipe.spec.allocation === 'AtStart' ? 'Idle' : from;
      return from === to ? [] : [{ kind: Unit.kind, name, path: '', from, to }];
    });
}
