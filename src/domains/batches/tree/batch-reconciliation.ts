/** One look at one batch: its elements as a tree, and the batch that follows its root (decisions 3.3). */
import type { BatchState, Command, State } from '../../../../runtime/vocabulary/states.js';
import { type Told, told, toldFailure, withTold } from '../../../../runtime/vocabulary/told.js';
import { isActive, isFinal, judgeBatch } from '../../../../runtime/vocabulary/transitions.js';
import { timestamp } from '../../../platform/base/clock.js';
import { lifeSign } from '../../../platform/store/life-sign.js';
import type { Resource } from '../../../platform/store/resource.js';
import type { Change, Put, Store } from '../../../platform/store/store.js';
import { Unit, type UnitStatus } from '../../plant/kind.js';
import { isAvailable, shownReset } from '../../plant/unit-owner.js';
import { withRequests } from '../start/allocation-queue.js';
import { UNDER_LOOP_CHECK, underCheckNow } from '../start/equipment-conditions.js';
import { batchOutputs } from '../reading/batch-outputs.js';
import { type GivenHold, hasActiveFailure, holdCause, inOrder, type LocatedFailure, presentHold, withHold } from '../../runs/holds.js';
import { elementIndex } from './element-index.js';
import { BATCH_COMPONENT, type CommandRefusal, ElementReconciliation, type ReconciliationWorld, refusalOf, TAKES_UP } from './element-reconciliation.js';
import { stateEntry } from '../../runs/execution-log.js';
import { type Allocation, Batch, type BatchSpec, type BatchStatus, HELD_FROM, isFinalBatch, madeAnewBecause, type UnitChoice } from '../kind.js';
import type { PendingCommand } from '../../runs/pending-command.js';
import { runClocks } from './run-clocks.js';
import { hasInside, type TreeNode, walk } from './procedure-tree.js';

export class BatchReconciliation extends ElementReconciliation {
  readonly batch: Resource<BatchSpec, BatchStatus>;
  status: BatchStatus;
  /** Set when the pending command has been dealt with: its copy goes. */
  annotations: Readonly<Record<string, string>> | undefined;
  /** The Hold that was obeyed in this reconciliation. */
  #given: GivenHold | undefined;
  #overdue = false;

  constructor(batch: Resource<BatchSpec, BatchStatus>, store: Store, world: ReconciliationWorld) {
    const { site, name } = batch.metadata;
    super(site, name, store, world, elementIndex(store).elementsOf(site, name));
    this.batch = batch;
    this.status = batch.status;
    if (!isFinalBatch(batch.status.phase)) this.status = withAlarmFailure(batch.status, this.tree?.root.failure);
  }

  /** Judges a command other than Start and gives it to the procedure; undefined when it was accepted. */
  order(pending: Pick<PendingCommand, 'command' | 'alarm'> & Partial<PendingCommand>): CommandRefusal | undefined {
    const { command } = pending;
    const { phase, heldInside, pausedInside = false, failure, furtherFailures = [] } = this.status;
    const facts = { heldInside, pausedInside, failureActive: hasActiveFailure(this.status), resumeCancelsPause: this.world.resumeCancelsPause };
    const verdict = judgeBatch(phase, command, facts);
    if (verdict.accepted && command === 'Reset') return this.#resetUnits();
    const refusal = verdict.accepted
      ? this.damaged(command)
      : refusalOf(verdict.rule, command, 'the batch', phase, [failure, ...furtherFailures].find((each) => each?.active) ?? failure);
    const refused = this.tree && !isFinalBatch(phase) ? this.give(this.tree.root, pending, refusal) : refusal;
    if (!this.tree && !refused) this.#endEmpty(command);
    if (command === 'Hold' && !refused && pending.by)
      this.#given = { by: pending.by, reason: pending.reason ?? '', ...(pending.alarm === undefined ? {} : { alarm: pending.alarm }) };
    return refused;
  }

  /** None of its elements is there any more (D-C-02): it ends without them, and gives back what it has. */
  #endEmpty(command: Command): void {
    if (command !== 'Stop' && command !== 'Abort') return;
    for (const { metadata, status } of this.store.list(Unit, this.site))
      if (status.allocatedTo === this.scope) this.units.set(metadata.name, this.units.release(metadata.name, status, []));
    this.setPhase(command === 'Stop' ? 'Stopping' : 'Aborting', command);
    this.setPhase(command === 'Stop' ? 'Stopped' : 'Aborted', 'complete');
  }

  override damaged(command: Command): CommandRefusal | undefined {
    const anew = TAKES_UP.includes(command) ? madeAnewBecause(this.batch) : undefined;
    return anew === undefined ? super.damaged(command, this.batch) : { rule: 'stored-data', message: `Batch ${this.scope}: ${anew}`, told: this.#toldAnew(anew) };
  }

  #toldAnew(fault: string): Told {
    return told('stored-data', { kind: Batch.kind, name: this.scope, fault });
  }

  /** One that was made anew goes on with nothing, whoever finds it in whatever state, and says why (D-C-02). */
  holdMadeAnew(): void {
    const root = this.tree?.root;
    const message = madeAnewBecause(this.batch);
    if (!root || message === undefined || isFinal(root.state) || isFinalBatch(this.status.phase)) return;
    if (root.failure?.class !== 'fail' && root.failure?.rule !== 'stored-data')
      root.failure = { class: 'hold', rule: 'stored-data', message, told: this.#toldAnew(message), step: '', since: this.at, active: true, auditRecordRef: '' };
    if (HELD_FROM.includes(root.state)) this.tree?.command('Hold', 'stored-data');
  }

  /**
   * Units whose last work belonged to the final batch and that nobody has taken since are taken once more and reset (decisions
   * 3.3), and so are those that could not be handed on. On units that others have taken since, only what drives nothing is reset.
   */
  #resetUnits(): CommandRefusal | undefined {
    const byUnit = [...this.#nodesByUnit()];
    const own = byUnit.filter(([name, nodes]) => {
      if (this.units.isStuck(name, nodes)) return true;
      const unit = this.units.get(name);
      return isAvailable(unit) && isFinal(unit.state as State) && nodes.some((node) => node.name === unit.lastWork?.name);
    });
    const driven = own.filter(([, nodes]) => nodes.some((node) => this.units.mustReset(node)));
    const away = driven.find(([name]) => !this.world.isReady(name));
    if (away !== undefined) return { rule: 'runtime-not-ready', message: `the runtime of ${away[0]} is not ready`, told: told('runtime-not-ready', { unit: away[0] }) };
    const [checked] = driven.flatMap(([unit]) => underCheckNow(this.store, this.site, unit) ?? []);
    if (checked) return { rule: UNDER_LOOP_CHECK.rule, ...checked };
    for (const [name, nodes] of own) {
      this.#keepOutputs();
      if (nodes.some((node) => this.units.mustReset(node))) this.units.takeBack(name);
      else this.units.set(name, shownReset(this.units.get(name) as UnitStatus));
      for (const node of nodes) this.tree?.reset(node);
    }
    const taken = byUnit.filter((each) => !own.includes(each) && this.#isOfOthers(each[0]));
    const left = taken.flatMap(([, nodes]) => nodes).filter((node) => isFinal(node.state));
    const still = left.filter((node) => !this.units.mustReset(node));
    if (still.length > 0) this.#keepOutputs();
    for (const node of still) this.tree?.reset(node);
    const [first] = left;
    if (!first || own.length + still.length > 0) return undefined;
    return {
      rule: 'allocation-unavailable',
      message: `unit ${first.unit} has worked for ${workSince(this.units.get(first.unit))} since: the resetting charts of this batch drive it no more, and its elements stay as they ended`,
      told: told('unit-worked-since', { unit: first.unit, work: workSince(this.units.get(first.unit)) }),
    };
  }

  #isOfOthers(name: string): boolean {
    const unit = this.units.get(name);
    return unit !== undefined && unit.allocatedTo !== this.scope;
  }

  /** The record is made and will not be changed any more: what it tells of may be reset. */
  get isRecorded(): boolean {
    return this.status.recordRef !== '' && this.status.recordSettled !== false;
  }

  /** Elements that are reset forget their outputs; those of the batch stay. */
  #keepOutputs(): void {
    if (!this.status.outputs) this.status = { ...this.status, outputs: batchOutputs(this.store, this.site, this.scope) };
  }

  /** Nothing of it moves, is to move, or is being reset. */
  get isQuiet(): boolean {
    const hasUnit = [...this.#nodesByUnit().keys()].some((name) => this.units.get(name)?.allocatedTo === this.scope);
    return !hasUnit && this.tree !== undefined && [...walk(this.tree.root)].every(({ state }) => !isActive(state));
  }

  /**
   * What goes on after the final state: elements that were still moving at the settle deadline come to rest, and what is to
   * be reset is reset. The units are the batch's own until then; the batch stays as it is.
   */
  settleEnded(): void {
    const root = this.tree?.root;
    if (!root) return;
    for (const [name, nodes] of this.#nodesByUnit()) {
      const left = this.isRecorded ? this.units.toHandOver(name, nodes) : [];
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
    this.#noteHold(this.tree.root);
    this.#mirrorUnits();
  }

  setPhase(phase: BatchState, cause: string): void {
    const from = this.status.phase;
    if (from === phase) return;
    this.status = { ...this.status, phase, stateAt: this.at };
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

  /** Everything this reconciliation wants to write; undefined when nothing changed. */
  change(): Change | undefined {
    const puts = this.puts();
    if (this.status !== this.batch.status || this.annotations) {
      const status = { ...this.status, savedAt: lifeSign(this.store) };
      puts.push({ kind: Batch, site: this.site, name: this.scope, status, ...(this.annotations ? { annotations: this.annotations } : {}) } as Put);
    }
    if (puts.length === 0 && this.facts.length === 0 && this.audits.length === 0) return undefined;
    return { puts, facts: this.facts, audits: this.audits };
  }

  #mirrorRoot(root: TreeNode): void {
    if (isFinalBatch(this.status.phase) || this.status.phase === 'Pending') return;
    const heldInside = hasInside(root, 'Held');
    const pausedInside = this.isPausedInside(root);
    if (heldInside !== this.status.heldInside || pausedInside !== (this.status.pausedInside ?? false)) this.status = { ...this.status, heldInside, pausedInside };
    this.#mirrorFailures(root);
    if (root.state === 'Idle' || root.state === 'Resetting') return;
    const failed = root.state === 'Aborted' && root.failure?.class === 'fail';
    this.setPhase(failed ? 'Failed' : root.state, 'procedure');
    if (this.settleLeftMs === 0) this.#overdue = true;
    if (this.#overdue) this.setPhase(this.status.phase === 'Stopping' ? 'Stopped' : root.failure?.class === 'fail' ? 'Failed' : 'Aborted', 'settle-deadline');
  }

  /** In how many ms a Stop or Abort has to have settled; undefined while none is under way. */
  get settleLeftMs(): number | undefined {
    const { settleBy, phase } = this.status;
    if (settleBy === '' || (phase !== 'Stopping' && phase !== 'Aborting')) return undefined;
    return runClocks(this.store).settling(`${this.site}/${this.scope}`, settleBy, this.world.settleDeadlineMs, this.world.clock).remainingMs;
  }

  #mirrorFailures(root: TreeNode): void {
    const located = failuresOf(root);
    const [failure, ...further] = inOrder(
      located.map((found) => found.failure),
      this.status.failure,
    );
    const { furtherFailures: known = [] } = this.status;
    if (failure === this.status.failure && further.length === known.length && further.every((each, at) => each === known[at])) return;
    const { furtherFailures: _gone, ...status } = this.status;
    this.status = { ...status, failure, ...(further.length > 0 ? { furtherFailures: further } : {}) };
  }

  /** The first cause of a hold is noted when it begins, and stays when it is over. */
  #noteHold(root: TreeNode): void {
    const { phase, heldInside, failure } = this.status;
    const isHeld = phase === 'Holding' || phase === 'Held' || (phase === 'Running' && heldInside);
    const holds = withHold(this.status.holds, isHeld, this.at, () => {
      const first = failuresOf(root).find((found) => found.failure === failure);
      return holdCause(this.at, this.#given, first, this.rootCause);
    });
    if (holds === this.status.holds) return;
    this.status = { ...this.status, holds };
    const begun = presentHold(holds);
    if (!begun) return;
    const { rule, message, told: as, reason, by, alarm, element } = begun;
    this.event({
      eventType: 'General',
      eventSubType: 'System',
      value: 'HoldCause',
      previousValue: rule,
      message: [message, reason, alarm === '' ? '' : `alarm ${alarm}`].filter((text) => text !== '').join(': '),
      ...withTold(rule === 'Hold' || message === '' ? as : toldFailure({ rule, message, told: as })),
      ...(element ? { element } : {}),
      ...(by.kind === 'person' ? { person: { accountId: by.accountId, displayName: by.displayName } } : {}),
    });
  }

  /** A unit is released after the last unit procedure on it. */
  #mirrorUnits(): void {
    for (const [unit, nodes] of this.#nodesByUnit()) this.units.mirror(unit, nodes, this.scope, isFinalBatch(this.status.phase));
  }

  #nodesByUnit(): Map<string, TreeNode[]> {
    const byUnit = new Map<string, TreeNode[]>();
    for (const node of this.tree?.root.children ?? []) if (node.unit !== '') byUnit.set(node.unit, [...(byUnit.get(node.unit) ?? []), node]);
    return byUnit;
  }

  /** Notes which units are asked for now. */
  request(wanted: ReadonlySet<string>): void {
    const allocations = withRequests(this.status.allocations, wanted, this.at);
    if (allocations !== this.status.allocations) this.status = { ...this.status, allocations };
  }

  /** The unit of a class that was chosen, for all its unit procedures (D-C-12). */
  chosen(capability: string, unit: string, choice: UnitChoice): void {
    for (const node of this.tree?.root.children ?? []) if (node.unit === '' && this.capabilityOf(node) === capability) this.assignUnit(node, unit);
    const allocations = this.status.allocations.map(
      (allocation): Allocation => (allocation.capability === capability && allocation.unit === '' ? { ...allocation, unit, choice } : allocation),
    );
    this.status = { ...this.status, allocations };
  }

  /** @returns the name of the record. */
  recordChoice(capability: string, unit: string, choice: UnitChoice): string {
    const auditRecordRef = this.store.nextAuditName(this.audits.length);
    this.audits.push({
      site: this.site,
      actor: BATCH_COMPONENT,
      action: 'Update',
      category: 'allocation',
      target: { kind: Batch.kind, name: this.scope, site: this.site },
      result: 'Success',
      rule: choice.policy,
      details: { capability, unit, ...choice },
      correlationID: `allocation-${this.scope}-${capability}-${this.world.nowMs}`,
    });
    return auditRecordRef;
  }

  granted(unit: string): void {
    const allocations = this.status.allocations.map(
      (allocation): Allocation => (allocation.unit === unit && allocation.state !== 'Released' ? { ...allocation, state: 'Granted', since: this.at } : allocation),
    );
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
    runClocks(this.store).settled(`${this.site}/${this.scope}`);
    this.status = { ...this.status, endedAt: this.at, heldInside: false, pausedInside: false, settleExceeded: this.#overdue };
  }
}

function workSince(unit: UnitStatus | undefined): string {
  return unit?.allocatedTo || unit?.lastWork?.name || 'others';
}

const SHOWS_FAILURE: readonly State[] = ['Held', 'Holding', 'Aborting'];

/** Of the root, and of what is held or aborts below it. */
function failuresOf(root: TreeNode): LocatedFailure[] {
  const located = ({ kind, name, path, failure }: TreeNode): LocatedFailure[] => (failure ? [{ failure, element: { kind, name, path } }] : []);
  const below = (node: TreeNode): LocatedFailure[] => node.children.flatMap((child) => [...(SHOWS_FAILURE.includes(child.state) ? located(child) : []), ...below(child)]);
  return [...located(root), ...below(root)];
}

/** What is read of its alarms now takes the place of what was read then. */
function withAlarmFailure(status: BatchStatus, now: TreeNode['failure']): BatchStatus {
  if (!now?.alarms) return status;
  const { failure, furtherFailures = [] } = status;
  if (!failure || failure.alarms) return failure?.active === now.active ? status : { ...status, failure: now };
  const at = furtherFailures.findIndex(({ alarms }) => alarms);
  if (furtherFailures[at]?.active === now.active) return status;
  return { ...status, furtherFailures: at < 0 ? [...furtherFailures, now] : furtherFailures.with(at, now) };
}
