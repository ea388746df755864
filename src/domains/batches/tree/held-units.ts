/**
 * The units of one reconciliation: what each shows of the work on it, when it is given back, and how it is brought back for whoever
 * it is promised to (decisions 3.6, ADR 0014). What is set here is written with the reconciliation, or not at all.
 */
import { isActive, isFinal } from '../../../../runtime/vocabulary/transitions.js';
import type { Resource } from '../../../platform/store/resource.js';
import type { Put, Store } from '../../../platform/store/store.js';
import { Unit, type UnitStatus } from '../../plant/kind.js';
import { givenBack, takenBack, unpromised, used } from '../../plant/unit-owner.js';
import type { ElementStatus, PhaseSpec } from '../../procedures/kind.js';
import type { executionEvent } from '../../runs/execution-log.js';
import type { ElementResource } from './element-index.js';
import { hasInside, resetFailureOf, type TreeNode, walk } from './procedure-tree.js';

/** The reconciliation that they are of. */
interface Owner {
  readonly site: string;
  /** The name that units are allocated to. */
  readonly scope: string;
  readonly at: string;
  readonly store: Store;
  readonly world: { awaitsAnswer(unit: string, phase: string): boolean; isRefused(phase: Resource<PhaseSpec, ElementStatus>): boolean };
  element(node: TreeNode): ElementResource;
  event(event: Parameters<typeof executionEvent>[3]): void;
  /** Bookkeeping of whoever had the unit. */
  released(unit: string): void;
}

export class HeldUnits {
  readonly #of: Owner;
  readonly #changed = new Map<string, UnitStatus>();

  constructor(owner: Owner) {
    this.#of = owner;
  }

  get(name: string): UnitStatus | undefined {
    return this.#changed.get(name) ?? this.#of.store.get(Unit, this.#of.site, name)?.status;
  }

  set(name: string, status: UnitStatus): void {
    this.#changed.set(name, status);
  }

  puts(): Put[] {
    return [...this.#changed].map(([name, status]) => ({ kind: Unit, site: this.#of.site, name, status }) as Put);
  }

  /**
   * A unit shows the state of the root of its active work (decisions 3.6), and is given back when all of that is at rest. `ended`:
   * of what has not run, nothing will. Work that is found on a unit that nobody has takes it: one owner, however it came about.
   */
  mirror(name: string, roots: readonly TreeNode[], batchRef: string, ended: boolean): void {
    const unit = this.get(name);
    if (!unit) return;
    if (unit.promisedTo === this.#of.scope && ended) {
      this.set(name, unpromised(unit));
      this.#of.released(name);
      return;
    }
    const active = roots.find((node) => isActive(node.state)) ?? roots.findLast((node) => isFinal(node.state));
    const isOwn = unit.allocatedTo === this.#of.scope;
    if (!isOwn && !(unit.allocatedTo === '' && active && this.#drives(active))) return;
    let next = isOwn ? unit : takenBack(unit, this.#of.scope);
    if (active) {
      const since = unit.activeWork?.name === active.name && unit.activeWork.state === active.state ? unit.activeWork.since : this.#of.at;
      next = {
        ...next,
        state: active.state,
        mode: active.mode,
        heldInside: hasInside(active, 'Held'),
        activeWork: { kind: active.kind, name: active.name, state: active.state, batchRef, since },
      };
    }
    next = withResetFailure(next, roots);
    if (this.#isOver(next, roots, ended)) next = this.release(name, next, roots);
    if (JSON.stringify(next) !== JSON.stringify(unit)) this.set(name, next);
  }

  #isOver(unit: UnitStatus, roots: readonly TreeNode[], ended: boolean): boolean {
    if (!roots.every((node) => (isFinal(node.state) || (ended && node.state === 'Idle')) && this.#isAtRest(node))) return false;
    return unit.promisedTo === undefined || !roots.some((node) => this.mustReset(node));
  }

  /** A Resetting without a chart of its own moves nothing but states: it needs no unit. */
  #drives(node: TreeNode): boolean {
    return (
      isActive(node.state) &&
      (node.state !== 'Resetting' || [...walk(node)].some((below) => below.kind === 'Phase' && hasResetting((this.#of.element(below) as Resource<PhaseSpec, ElementStatus>).spec)))
    );
  }

  /** Nothing of it moves, and no command is on its way to a phase of it. */
  #isAtRest(node: TreeNode): boolean {
    return [...walk(node)].every(({ kind, name, unit, state }) => !isActive(state) && !(kind === 'Phase' && this.#of.world.awaitsAnswer(unit, name)));
  }

  /** It has come to its end, and charts of it bring the equipment back from there (decisions 3.3: final states run Resetting first). */
  mustReset(node: TreeNode): boolean {
    if (!isFinal(node.state)) return false;
    return [...walk(node)].some((below) => {
      if (below.kind !== 'Phase' || !isFinal(below.state)) return false;
      const phase = this.#of.element(below) as Resource<PhaseSpec, ElementStatus>;
      return hasResetting(phase.spec) && !this.#of.world.isRefused(phase);
    });
  }

  /**
   * What has to be reset now so that the unit can be handed on. One attempt for each hand-over: a chart that has failed would
   * drive the equipment again unasked (ADR 0014).
   */
  toHandOver(name: string, roots: readonly TreeNode[]): readonly TreeNode[] {
    const unit = this.get(name);
    if (unit?.allocatedTo !== this.#of.scope || unit.promisedTo === undefined) return [];
    const left = roots.filter((node) => this.mustReset(node));
    if (unit.resetBegun) return left.filter(({ resetFailed }) => resetFailed === '');
    if (left.length > 0) this.set(name, { ...unit, resetBegun: true });
    return left;
  }

  /** The reset of a hand-over has failed: the unit stays where it is until a person resets once more. */
  isStuck(name: string, roots: readonly TreeNode[]): boolean {
    const unit = this.get(name);
    return unit?.allocatedTo === this.#of.scope && unit.promisedTo !== undefined && roots.some(({ resetFailed }) => resetFailed !== '');
  }

  /** Takes the unit for the reset of what was done on it. */
  takeBack(name: string): void {
    const unit = this.get(name);
    if (!unit || unit.allocatedTo === this.#of.scope) return;
    this.set(name, takenBack(unit, this.#of.scope));
    this.#of.event({ eventType: 'Equipment', eventSubType: 'Allocation', unit: name, equipment: name, value: name, message: 'Reset' });
  }

  release(name: string, unit: UnitStatus, roots: readonly TreeNode[]): UnitStatus {
    this.#of.released(name);
    this.#of.event({ eventType: 'Equipment', eventSubType: 'Deallocation', unit: name, equipment: name, value: name });
    const isReset = roots.every(({ state, runCount }) => state === 'Idle' && runCount > 0);
    const free = givenBack(unit, this.#of.at, isReset, (element) => roots.some((node) => node.name === element));
    return used(free, this.#of.at, this.#of.store.resourceVersion, false);
  }
}

export function hasResetting({ charts }: PhaseSpec): boolean {
  return (charts.resetting?.steps.length ?? 0) > 0;
}

/** A unit that is promised says why it is not handed on. */
function withResetFailure(unit: UnitStatus, roots: readonly TreeNode[]): UnitStatus {
  const { resetFailed: before, ...next } = unit;
  const failed = unit.promisedTo === undefined ? undefined : roots.find(({ resetFailed }) => resetFailed !== '');
  if (failed) return { ...next, resetFailed: resetFailureOf(failed) };
  return before === undefined ? unit : next;
}
