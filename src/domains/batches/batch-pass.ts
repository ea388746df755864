/** One look at one batch: its elements as a tree, and the batch that follows its root (decisions 3.3). */
import type { BatchState, State } from '../../../runtime/vocabulary/states.js';
import { isFinal, judgeBatch } from '../../../runtime/vocabulary/transitions.js';
import { timestamp } from '../../platform/base/clock.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Change, Put, Store } from '../../platform/store/store.js';
import { isAvailable } from '../plant/unit-owner.js';
import { withRequests } from './allocation-queue.js';
import { batchOutputs } from './batch-outputs.js';
import { elementIndex } from './element-index.js';
import { type CommandRefusal, ElementPass, type PassWorld, refusalOf } from './element-pass.js';
import { stateEntry } from './execution-log.js';
import { type Allocation, Batch, type BatchSpec, type BatchStatus, isFinalBatch } from './kind.js';
import type { PendingCommand } from './pending-command.js';
import { hasInside, type TreeNode } from './procedure-tree.js';

export class BatchPass extends ElementPass {
  readonly batch: Resource<BatchSpec, BatchStatus>;
  status: BatchStatus;
  /** Set when the pending command has been dealt with: its copy goes. */
  annotations: Readonly<Record<string, string>> | undefined;

  constructor(batch: Resource<BatchSpec, BatchStatus>, store: Store, world: PassWorld) {
    const { site, name } = batch.metadata;
    super(site, name, store, world, elementIndex(store).elementsOf(site, name));
    this.batch = batch;
    this.status = batch.status;
    const failure = this.tree?.root.failure;
    if (failure?.alarms && failure.active !== batch.status.failure?.active && !isFinalBatch(batch.status.phase)) this.status = { ...batch.status, failure };
  }

  /** Judges a command other than Start and gives it to the procedure; undefined when it was accepted. */
  order(pending: Pick<PendingCommand, 'command' | 'alarm'>): CommandRefusal | undefined {
    const { command } = pending;
    const { phase, heldInside, pausedInside = false, failure } = this.status;
    const facts = { heldInside, pausedInside, failureActive: failure?.active ?? false, resumeCancelsPause: this.world.resumeCancelsPause };
    const verdict = judgeBatch(phase, command, facts);
    if (verdict.accepted && command === 'Reset') return this.#resetUnits();
    const refusal = verdict.accepted ? undefined : refusalOf(verdict.rule, command, `the batch is ${phase}`, failure);
    return this.tree && !isFinalBatch(phase) ? this.give(this.tree.root, pending, refusal) : refusal;
  }

  /** Units whose last work belonged to the final batch and that nobody has taken since are taken once more and reset (decisions 3.3). */
  #resetUnits(): CommandRefusal | undefined {
    const own = [...this.#nodesByUnit()].filter(([name, nodes]) => {
      const unit = this.unit(name);
      return isAvailable(unit) && isFinal(unit.state as State) && nodes.some((node) => node.name === unit.lastWork?.name);
    });
    const away = own.map(([name]) => name).find((name) => !this.world.isReady(name));
    if (away !== undefined) return { rule: 'runtime-not-ready', message: `the runtime of ${away} is not ready` };
    for (const [name, nodes] of own) {
      this.#keepOutputs();
      this.takeBack(name);
      for (const node of nodes) this.tree?.reset(node);
    }
    return undefined;
  }

  /** The record is made and will not be changed any more: what it tells of may be reset. */
  get isRecorded(): boolean {
    return this.status.recordRef !== '' && this.status.recordSettled !== false;
  }

  /** Elements that are reset forget their outputs; those of the batch stay. */
  #keepOutputs(): void {
    if (!this.status.outputs) this.status = { ...this.status, outputs: batchOutputs(this.store, this.site, this.scope) };
  }

  get hasUnit(): boolean {
    return [...this.#nodesByUnit().keys()].some((name) => this.unit(name)?.allocatedTo === this.scope);
  }

  /**
   * What goes on after the final state: elements that were still moving at the settle deadline come to rest, and what is to
   * be reset is reset. The units are the batch's own until then; the batch stays as it is.
   */
  settleEnded(): void {
    const root = this.tree?.root;
    if (!root) return;
    for (const [name, nodes] of this.#nodesByUnit()) {
      const unit = this.unit(name);
      const left = unit?.allocatedTo === this.scope && unit.promisedTo !== undefined && this.isRecorded ? nodes.filter((node) => this.mustReset(node)) : [];
      if (left.length > 0) this.#keepOutputs();
      for (const node of left) this.tree?.reset(node);
    }
    if (isFinal(root.state) && root.children.some(({ state }) => state === 'Resetting') && root.children.every(({ state }) => state === 'Resetting' || state === 'Idle'))
      this.tree?.reset(root);
    this.tree?.settle();
    this.#mirrorUnits();
  }

  /** Lets the tree settle and carries its root's state over to the batch. */
  settle(): void {
    if (!this.tree) return;
    this.tree.settle();
    this.#mirrorRoot(this.tree.root);
    this.#mirrorUnits();
  }

  setPhase(phase: BatchState, cause: string): void {
    const from = this.status.phase;
    if (from === phase) return;
    this.status = { ...this.status, phase };
    if (phase === 'Stopping' || phase === 'Aborting') this.status = { ...this.status, settleBy: timestamp(this.world.nowMs + this.world.settleDeadlineMs) };
    if (isFinalBatch(phase)) this.#finish();
    const element = { kind: 'Batch', name: this.scope, path: '' };
    this.event({ eventType: 'Procedural Execution', eventSubType: 'State Change', element, value: phase, previousValue: from, message: cause });
    this.facts.push(
      stateEntry(this.site, this.scope, {
        ts: this.at,
        ...element,
        unit: '',
        templateRef: this.batch.spec.masterRecipeRef,
        run: 1,
        state: phase,
        previousState: from,
        cause,
      }),
    );
  }

  /** Everything this pass wants to write; undefined when nothing changed. */
  change(): Change | undefined {
    const puts = this.puts();
    if (this.status !== this.batch.status || this.annotations) {
      puts.push({ kind: Batch, site: this.site, name: this.scope, status: this.status, ...(this.annotations ? { annotations: this.annotations } : {}) } as Put);
    }
    if (puts.length === 0 && this.facts.length === 0 && this.audits.length === 0) return undefined;
    return { puts, facts: this.facts, audits: this.audits };
  }

  #mirrorRoot(root: TreeNode): void {
    if (isFinalBatch(this.status.phase) || this.status.phase === 'Pending') return;
    const heldInside = hasInside(root, 'Held');
    const pausedInside = hasInside(root, 'Paused');
    if (heldInside !== this.status.heldInside || pausedInside !== (this.status.pausedInside ?? false)) this.status = { ...this.status, heldInside, pausedInside };
    const failure = root.failure ?? failureBelow(root);
    if (failure !== this.status.failure) this.status = { ...this.status, failure };
    if (root.state === 'Idle' || root.state === 'Resetting') return;
    const failed = root.state === 'Aborted' && root.failure?.class === 'fail';
    this.setPhase(failed ? 'Failed' : root.state, 'procedure');
    const overdue = this.status.settleBy !== '' && (this.status.phase === 'Stopping' || this.status.phase === 'Aborting') && this.at >= this.status.settleBy;
    if (overdue) this.setPhase(this.status.phase === 'Stopping' ? 'Stopped' : root.failure?.class === 'fail' ? 'Failed' : 'Aborted', 'settle-deadline');
  }

  /** A unit is released after the last unit procedure on it. */
  #mirrorUnits(): void {
    for (const [unit, nodes] of this.#nodesByUnit()) this.mirrorUnit(unit, nodes, this.scope, isFinalBatch(this.status.phase));
  }

  #nodesByUnit(): Map<string, TreeNode[]> {
    const byUnit = new Map<string, TreeNode[]>();
    for (const node of this.tree?.root.children ?? []) byUnit.set(node.unit, [...(byUnit.get(node.unit) ?? []), node]);
    return byUnit;
  }

  /** Notes which units are asked for now. */
  request(wanted: ReadonlySet<string>): void {
    const allocations = withRequests(this.status.allocations, wanted, this.at);
    if (allocations !== this.status.allocations) this.status = { ...this.status, allocations };
  }

  granted(unit: string): void {
    const allocations = this.status.allocations.map((allocation): Allocation => (allocation.unit === unit ? { ...allocation, state: 'Granted', since: this.at } : allocation));
    this.status = { ...this.status, allocations };
  }

  protected override released(unit: string): void {
    this.status = {
      ...this.status,
      allocations: this.status.allocations.map(
        (allocation): Allocation => (allocation.unit === unit && allocation.state === 'Granted' ? { ...allocation, state: 'Released', since: this.at } : allocation),
      ),
    };
  }

  #finish(): void {
    this.status = { ...this.status, endedAt: this.at, heldInside: false, pausedInside: false };
  }
}

function failureBelow(node: TreeNode): TreeNode['failure'] {
  for (const child of node.children) {
    const found = (child.state === 'Held' || child.state === 'Holding' || child.state === 'Aborting' ? child.failure : undefined) ?? failureBelow(child);
    if (found) return found;
  }
  return undefined;
}
