/**
 * One look at one ad-hoc run: the tree below its root, and the unit it has until the root is final (contract 3, Ad-hoc rules;
 * decisions Q-CMD-05, Q-RECIPE-24, Q-RECIPE-26).
 */
import type { Command } from '../../../../runtime/vocabulary/states.js';
import { judge, type Verdict } from '../../../../runtime/vocabulary/transitions.js';
import type { Resource } from '../../../platform/store/resource.js';
import type { Change, Put, Store } from '../../../platform/store/store.js';
import { withVerdict, type CommandRejection } from '../../runs/command-rejection.js';
import type { ElementStatus } from '../../procedures/kind.js';
import { ROOT_KINDS } from '../../procedures/roots.js';
import { elementIndex, type ElementResource } from './element-index.js';
import { type CommandRefusal, ElementReconciliation, type ReconciliationWorld, refusalOf } from './element-reconciliation.js';
import { type GivenHold, type Hold, holdCause, presentHold, withHold } from '../../runs/holds.js';
import { type PendingCommand, withoutCopy, withoutOrder } from '../../runs/pending-command.js';
import { hasInside, type ProcedureTree, type TreeNode } from './procedure-tree.js';

export type AdhocRoot = Resource<{ readonly unitRef: string }, ElementStatus>;

export class AdhocReconciliation extends ElementReconciliation {
  readonly resource: AdhocRoot;
  /** The pending command has been dealt with. */
  takesOrder = false;
  #rejection: CommandRejection | undefined;
  #accepted = false;
  /** The Hold that was obeyed in this reconciliation. */
  #given: GivenHold | undefined;
  #holds: readonly Hold[] | undefined;

  constructor(resource: AdhocRoot, store: Store, world: ReconciliationWorld) {
    const { site, name } = resource.metadata;
    super(site, name, store, world, [resource as ElementResource, ...elementIndex(store).below(resource)]);
    this.resource = resource;
    this.#holds = resource.status.holds;
  }

  get root(): TreeNode {
    return (this.tree as ProcedureTree).root;
  }

  /** Judges a command and gives it to the tree; undefined when it was accepted. `barred`: what forbids this Start or Reset now. */
  order(pending: Pick<PendingCommand, 'command' | 'alarm'> & Partial<PendingCommand>, barred: CommandRefusal | undefined): CommandRefusal | undefined {
    const { kind, state, failure } = this.root;
    const { command } = pending;
    const verdict = this.#judge(command, barred?.rule ?? '');
    const ruled = verdict.accepted ? undefined : refusalOf(verdict.rule, command, `${kind} ${this.scope}`, state, failure);
    const refusal = barred && (verdict.accepted || verdict.rule === barred.rule) ? barred : ruled;
    this.#accepted = refusal === undefined;
    if (command === 'Reset' && refusal === undefined) this.units.takeBack(this.root.unit);
    const refused = this.give(this.root, pending, refusal);
    if (command === 'Hold' && !refused && pending.by)
      this.#given = { by: pending.by, reason: pending.reason ?? '', ...(pending.alarm === undefined ? {} : { alarm: pending.alarm }) };
    return refused;
  }

  /** A phase is judged by what is known of it here; its worker judges once more. */
  #judge(command: Command, startRule: string): Verdict {
    const { root } = this;
    const facts = { failureActive: root.failure?.active ?? false, heldInside: hasInside(root, 'Held'), pausedInside: this.isPausedInside(root), startRule };
    return judge(root.state, command, { ...facts, resumeCancelsPause: this.world.resumeCancelsPause });
  }

  reject(rejection: CommandRejection): void {
    this.#rejection = rejection;
  }

  settle(): void {
    const { root } = this;
    for (const node of this.units.toHandOver(root.unit, [root])) this.tree?.reset(node);
    this.tree?.settle();
    this.units.mirror(root.unit, [root], '', root.runCount > 0);
    this.#noteHold();
  }

  /** As of a batch. A phase is held by its worker, which answers later. */
  #noteHold(): void {
    const { name, kind, path, state, failure, unit } = this.root;
    const isComing = this.#given !== undefined || (presentHold(this.#holds) !== undefined && kind === 'Phase' && this.world.awaitsAnswer(unit, name));
    const isHeld = state === 'Holding' || state === 'Held' || (state === 'Running' && (isComing || hasInside(this.root, 'Held')));
    this.#holds = withHold(this.#holds, isHeld, this.at, () => holdCause(this.at, this.#given, failure && { failure, element: { kind, name, path } }, this.rootCause));
  }

  /** Gives the unit back although the root has not run: its runtime refused the Start. */
  giveUp(): void {
    const { unit: name } = this.root;
    const unit = this.units.get(name);
    if (unit?.allocatedTo === this.scope) this.units.set(name, this.units.release(name, unit, [this.root]));
  }

  change(): Change | undefined {
    const puts = this.puts();
    if (this.takesOrder || this.#rejection || this.#accepted || this.#holds !== this.resource.status.holds) this.#putRoot(puts);
    if (puts.length === 0 && this.facts.length === 0 && this.audits.length === 0) return undefined;
    return { puts, facts: this.facts, audits: this.audits };
  }

  /** The verdict joins what the tree has to say of the root, in one write. */
  #putRoot(puts: Put[]): void {
    const { kind, metadata } = this.resource;
    const at = puts.findIndex((put) => put.kind.kind === kind && put.name === metadata.name);
    const status = (puts[at] ?? this.resource).status as ElementStatus;
    const judged = this.takesOrder ? withoutOrder(status) : status;
    const put = {
      kind: ROOT_KINDS[kind as keyof typeof ROOT_KINDS],
      site: metadata.site,
      name: metadata.name,
      status: { ...(this.#rejection || this.#accepted ? withVerdict(judged, this.#rejection) : judged), ...(this.#holds ? { holds: this.#holds } : {}) },
      ...(this.takesOrder ? { annotations: withoutCopy(this.resource) } : {}),
    } as Put;
    if (at < 0) puts.push(put);
    else puts[at] = put;
  }
}
