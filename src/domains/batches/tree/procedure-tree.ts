/**
 * The procedural elements above the phase, as one tree that settles (decisions 3.1, 3.4). Parents have no thread of their
 * own: whenever something is known anew (a command, a phase report, a signal) the tree is walked until nothing moves.
 * Every step is idempotent, so walking it once more, or after a restart, changes nothing that is already so.
 *
 * Phases are not moved here: they run in unit runtimes. The tree asks for phase commands and is told phase states.
 */
import { type Told, told, toldAt, withTold } from '../../../../runtime/vocabulary/told.js';
import type { Reason } from '../../runs/failures.js';
import type { ChartTransition, ProceduralChart } from '../../../../runtime/vocabulary/chart.js';
import type { Mode } from '../../../../runtime/vocabulary/modes.js';
import type { Command, State } from '../../../../runtime/vocabulary/states.js';
import { childrenSettled, childTakes, isActive, isFinal, judge, type Verdict } from '../../../../runtime/vocabulary/transitions.js';
import type { OrderFailure } from '../phases/phase-orders.js';
import { entrySteps, moved, NO_PROGRESS, nextMove, STEP_ACTIVATIONS_MAX } from './chart-moves.js';
import type { ChartProgress } from '../../procedures/kind.js';
import type { ElementFailure } from '../../runs/failures.js';

export type ElementKind = 'Procedure' | 'UnitProcedure' | 'Operation' | 'Phase';
export type HoldPropagation = 'batch' | 'unitProcedure' | 'operation' | 'phase';

/** Of an element within its batch: an operation and a phase may have one name. */
export function keyOf({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return `${kind}/${name}`;
}

/** Working copy of one element; the controller writes back what changed. */
export interface TreeNode {
  readonly kind: ElementKind;
  readonly name: string;
  readonly step: string;
  readonly path: string;
  /** '' until one of its class is chosen (D-C-12). */
  unit: string;
  readonly chart: ProceduralChart | null;
  /** Time budget of one run, from entering Running; 0 for none. A phase watches its own. */
  readonly timeoutMs: number;
  readonly children: TreeNode[];
  parent: TreeNode | null;
  state: State;
  mode: Mode;
  progress: ChartProgress;
  /** Plant ms of this run in Running, Pausing and Restarting. */
  ranMs: number;
  /** Spent of the budget in ms; null while none is. */
  spentMs: number | null;
  runCount: number;
  pausedAt: string;
  failure: ElementFailure | undefined;
  /** `since` of the phase failure that has been passed on to the ancestors. */
  escalated: string;
  startedAt: string;
  endedAt: string;
  /** Final state that Resetting came from; '' in every other state. A phase keeps its own. */
  returnTo: State | '';
  /** Why its last reset did not end in Idle; '' when none has failed. It is not reset again unasked (ADR 0014). */
  resetFailed: string;
}

export interface TreeWorld {
  readonly nowText: string;
  readonly holdPropagation: HoldPropagation;
  readonly onPhaseFailure: 'Hold' | 'Fail';
  /** Setting `batch.resumeCancelsPause`. */
  readonly resumeCancelsPause: boolean;
  /** Condition of a procedural transition of the node's chart. */
  isTrue(node: TreeNode, transition: ChartTransition): boolean;
  /** '' when the element may start, else what it waits for (allocation, signal, barrier). */
  startBlockedBy(node: TreeNode): string;
  /** Gives the element the parameters that come from outputs of steps before it; '' or why it cannot start with them. */
  takeParameters(node: TreeNode): Omit<Reason, 'rule'> | undefined;
  /** Asks the unit runtime; asking again while the request is outstanding does nothing. */
  commandPhase(node: TreeNode, command: Command, failure?: OrderFailure): void;
  /** A command is on its way to the phase: the state it is seen in is about to change. */
  awaitsAnswer(node: TreeNode): boolean;
  stateChanged(node: TreeNode, from: State, cause: string): void;
}

/** What a parent in this state asks of its children (decisions 3.4). */
const PASSED_ON: Readonly<Partial<Record<State, Command>>> = { Pausing: 'Pause', Holding: 'Hold', Held: 'Hold', Stopping: 'Stop', Aborting: 'Abort', Resetting: 'Reset' };
/** Where it goes once they have all followed. */
const SETTLES_IN: Readonly<Partial<Record<State, State>>> = { Pausing: 'Paused', Holding: 'Held', Stopping: 'Stopped', Aborting: 'Aborted', Resetting: 'Idle' };
const HOLDABLE: readonly State[] = ['Running', 'Pausing', 'Paused', 'Restarting'];
const LEVELS: Readonly<Record<HoldPropagation, readonly ElementKind[]>> = {
  phase: [],
  operation: ['Operation'],
  unitProcedure: ['Operation', 'UnitProcedure'],
  batch: ['Operation', 'UnitProcedure', 'Procedure'],
};
/** States in which the chart of an element has a place to be in; in all others its children have orders of their own. */
const LEFT_STOPS: readonly State[] = ['Running', 'Pausing', 'Paused', 'Holding', 'Held', 'Restarting'];
const SETTLE_ROUNDS_MAX = 10_000;
/** Rule of a failure whose cause is a resetting chart (decisions 3.5). */
const RESET_FAILED = 'exception-chart-timeout';

export function* walk(node: TreeNode): Iterable<TreeNode> {
  for (const child of node.children) yield* walk(child);
  yield node;
}

/** A descendant is in the state while the node itself is not. */
export function hasInside(node: TreeNode, state: State): boolean {
  return node.state !== state && node.children.some((child) => child.state === state || hasInside(child, state));
}

/** Something below is paused and stays so: what is on its way already needs no second Resume (decisions 3.1). */
export function isPausedInside(node: TreeNode, world: Pick<TreeWorld, 'awaitsAnswer'>): boolean {
  const stays = (child: TreeNode): boolean => (child.state === 'Paused' ? child.kind !== 'Phase' || !world.awaitsAnswer(child) : isPausedInside(child, world));
  return node.state !== 'Paused' && node.children.some(stays);
}

export class ProcedureTree {
  readonly root: TreeNode;
  readonly #world: TreeWorld;
  #moving = false;
  /** Transition that Resume has released, by node name (Semi-Automatic). */
  readonly #released = new Map<string, string>();

  constructor(root: TreeNode, world: TreeWorld) {
    this.root = root;
    this.#world = world;
  }

  /** A command to the root, judged by the state table. `cause` is the command word or the rule of a system command. */
  command(command: Command, cause: string = command): Verdict {
    return this.#order(this.root, command, cause);
  }

  /** Reset of an element whose work is over: the root of an ad-hoc run, or what a batch has left on one of its units. */
  reset(node: TreeNode): Verdict {
    return this.#order(node, 'Reset', 'Reset');
  }

  /** Restart of a Running root reaches the highest Held descendants (decisions 3.1, Held inside). */
  #reachInside(node: TreeNode, command: 'Restart' | 'Resume', cause: string): void {
    const state = command === 'Restart' ? 'Held' : 'Paused';
    for (const child of node.children) {
      if (child.state === state) this.#order(child, command, cause);
      else this.#reachInside(child, command, cause);
    }
  }

  settle(): void {
    let rounds = 0;
    do {
      this.#moving = false;
      for (const node of walk(this.root)) {
        if (node.kind === 'Phase') this.#escalate(node);
        else {
          this.#watchBudget(node);
          this.#advance(node);
        }
      }
      rounds += 1;
    } while (this.#moving && rounds < SETTLE_ROUNDS_MAX);
  }

  #order(node: TreeNode, command: Command, cause: string): Verdict {
    if (node.kind === 'Phase') {
      if (command === 'Reset') node.resetFailed = '';
      this.#world.commandPhase(node, command);
      return { accepted: true, next: node.state };
    }
    const facts = {
      failureActive: node.failure?.active ?? false,
      heldInside: hasInside(node, 'Held'),
      pausedInside: isPausedInside(node, this.#world),
      resumeCancelsPause: this.#world.resumeCancelsPause,
    };
    const verdict = judge(node.state, command, facts);
    if (!verdict.accepted) return verdict;
    if (node.state === 'Running' && (command === 'Restart' || command === 'Resume')) {
      this.#reachInside(node, command, cause);
      return verdict;
    }
    if (command === 'Reset') for (const below of walk(node)) below.resetFailed = '';
    this.#enter(node, verdict.next, cause);
    return verdict;
  }

  /** Entering a state: its own bookkeeping; the orders to children follow from `#advance`. */
  #enter(node: TreeNode, next: State, cause: string): void {
    const from = node.state;
    if (from === next) return;
    node.state = next;
    if (next === 'Running' && from === 'Idle') {
      node.ranMs = 0;
      node.progress = moved(NO_PROGRESS, [], entrySteps(node.chart ?? {}), '', node.ranMs);
      node.runCount += 1;
      node.startedAt = this.#world.nowText;
      node.endedAt = '';
      node.failure = undefined;
    }
    if (next === 'Running' && from === 'Paused' && node.pausedAt) {
      this.#released.set(node.name, node.pausedAt);
      node.pausedAt = '';
    }
    if (next === 'Running' && (from === 'Paused' || from === 'Pausing')) this.#resumeChildren(node, cause);
    if (next === 'Running' && (from === 'Idle' || from === 'Restarting')) node.spentMs = 0;
    if (next === 'Restarting') {
      node.failure = undefined;
      for (const child of node.children) child.resetFailed = ''; // a person has asked for one more attempt
    }
    if (next === 'Idle') node.progress = NO_PROGRESS;
    if (from === 'Resetting' && next !== 'Idle' && node.resetFailed === '') node.resetFailed = `the reset was ended by ${cause}`;
    node.returnTo = next === 'Resetting' ? from : '';
    if (isFinal(next) && from !== 'Resetting') {
      node.endedAt = this.#world.nowText;
      node.spentMs = null;
    }
    this.#moving = true;
    this.#world.stateChanged(node, from, cause);
  }

  /** Those that have paused, and with `batch.resumeCancelsPause` those that are about to. */
  #resumeChildren(node: TreeNode, cause: string): void {
    for (const child of node.children) {
      if (child.state === 'Paused' || (child.state === 'Pausing' && this.#world.resumeCancelsPause)) this.#order(child, 'Resume', cause);
    }
  }

  /** Time in Held and Paused counts too, and a Restart begins anew (decisions 1.5); the failure is of class hold (3.5). */
  #watchBudget(node: TreeNode): void {
    if (node.timeoutMs === 0 || node.spentMs === null || node.spentMs < node.timeoutMs) return;
    node.spentMs = null;
    this.#moving = true;
    const seconds = String(node.timeoutMs / 1000);
    this.#failHold(node, node, at(node, { rule: 'element-timeout', message: `not done within ${seconds} s`, told: told('element-late', { seconds }) }));
  }

  /**
   * A hold-class failure from outside the chart, for example of coordination (decisions 2.7, 3.5). An element that waits to
   * start is not held: its parent is.
   */
  fail(node: TreeNode, why: Reason): void {
    if (node.kind === 'Phase' && HOLDABLE.includes(node.state)) this.#world.commandPhase(node, 'Hold', { class: 'hold', ...why });
    else if (node.state === 'Idle') this.#failHold(node.parent, node, at(node, why));
    else this.#failHold(node, node, at(node, why));
  }

  /** A fail-class failure of the whole that no element has (decisions 3.3). */
  failWhole(why: Reason): void {
    this.#fail(this.root, why);
  }

  #failHold(held: TreeNode | null, { step }: TreeNode, { rule, message, told: as }: Reason): void {
    if (!held || !HOLDABLE.includes(held.state)) return;
    held.failure = { class: 'hold', rule, message, ...withTold(as), step, since: this.#world.nowText, active: false, auditRecordRef: '' };
    this.#moving = true;
    this.#holdFrom(held, rule);
  }

  /** Holds the highest element of the propagation level above `node`, or `node` itself; what is below follows. False when it needs none. */
  #holdFrom(node: TreeNode | null, rule: string): boolean {
    const levels = LEVELS[rule === 'runtime-restart' ? 'batch' : this.#world.holdPropagation];
    let top = node;
    for (let above = node; above; above = above.parent) if (levels.includes(above.kind)) top = above;
    return top !== null && HOLDABLE.includes(top.state) && this.#order(top, 'Hold', rule).accepted;
  }

  #advance(node: TreeNode): void {
    if (LEFT_STOPS.includes(node.state)) this.#stopLeft(node);
    if (node.state === 'Running') return this.#run(node);
    if (node.state === 'Restarting') return this.#restart(node);
    const passedOn = PASSED_ON[node.state];
    if (!passedOn) return;
    for (const child of node.children) if (childTakes(passedOn, child.state) && !(passedOn === 'Reset' && child.resetFailed !== '')) this.#order(child, passedOn, passedOn);
    if (node.state === 'Resetting') this.#endReset(node);
    const settled = SETTLES_IN[node.state];
    if (settled && this.#childrenSettled(node)) this.#enter(node, settled, 'complete');
  }

  /** As the failure of a resetting chart (decisions 3.1): back to where it came from, once nothing below it is being reset any more. */
  #endReset(node: TreeNode): void {
    const failed = node.children.find((child) => child.resetFailed !== '');
    if (!failed || node.children.some((child) => isActive(child.state) || (child.kind === 'Phase' && this.#world.awaitsAnswer(child)))) return;
    if (node.children.some((child) => isFinal(child.state) && child.resetFailed === '')) return;
    node.resetFailed = resetFailureOf(failed);
    this.#enter(node, node.returnTo || 'Aborted', RESET_FAILED);
  }

  /** A phase that a command is still on its way to is not at rest, whatever state it is seen in. */
  #childrenSettled(node: TreeNode): boolean {
    if (node.children.some((child) => child.kind === 'Phase' && this.#world.awaitsAnswer(child))) return false;
    return childrenSettled(
      node.state,
      node.children.map((child) => child.state),
    );
  }

  /** A step that was left by hand takes its element along (ADR 0007): by itself a step is left when its element is Complete only. */
  #stopLeft(node: TreeNode): void {
    for (const child of leftChildren(node)) if (childTakes('Stop', child.state)) this.#order(child, 'Stop', 'active-step');
  }

  #run(node: TreeNode): void {
    if (leftChildren(node).length > 0) return; // nothing begins beside what is still being stopped
    const chart = node.chart ?? {};
    for (const step of node.progress.active) this.#ensureStarted(node, step);
    if (node.state !== 'Running') return; // a step that cannot start has held it
    const released = this.#released.get(node.name);
    const move = nextMove(chart, node.progress, {
      isComplete: (step) => stepIsComplete(node, step),
      isTrue: (transition) => this.#world.isTrue(node, transition),
      mayFire: (key) => node.mode === 'Automatic' || (node.mode === 'Semi-Automatic' && key === released),
    });
    if (move.kind === 'fire') {
      this.#released.delete(node.name);
      node.progress = moved(node.progress, move.leave, move.enter, move.key, node.ranMs);
      this.#moving = true;
      const looping = move.enter.find((step) => (node.progress.activations[step] ?? 0) > STEP_ACTIVATIONS_MAX);
      if (looping) {
        const as = told('loop-limit', { step: looping, count: String(STEP_ACTIVATIONS_MAX) });
        this.#fail(node, { rule: 'loop-limit', message: `step ${looping} was activated more than ${STEP_ACTIVATIONS_MAX} times`, told: as });
      }
    } else if (move.kind === 'complete') {
      this.#enter(node, 'Complete', 'complete');
    } else if (move.kind === 'stop-before' && node.mode === 'Semi-Automatic') {
      node.pausedAt = move.key;
      this.#enter(node, 'Paused', 'semi-automatic-step');
    }
  }

  /** The element of an active step runs: it is reset when it ran before, and started once nothing blocks it. */
  #ensureStarted(node: TreeNode, step: string): void {
    const child = childOf(node, step);
    if (!child) return;
    if (child.state === 'Idle') {
      if (this.#world.startBlockedBy(child) !== '') return;
      // one whose Start is on its way begins with what it was given then
      const unfit = this.#world.awaitsAnswer(child) ? undefined : this.#world.takeParameters(child);
      if (unfit) this.fail(child, { rule: 'formula-out-of-range', ...unfit });
      else this.#order(child, 'Start', 'Start');
    } else if (isFinal(child.state) && child.runCount < (node.progress.activations[step] ?? 1)) {
      if (child.resetFailed === '') this.#order(child, 'Reset', 'Reset');
      else this.#failHold(node, child, { rule: RESET_FAILED, message: resetFailureOf(child) });
    }
  }

  /** A child held with or without a failure is restarted; one that its own failure aborted is reset and started again. */
  #restart(node: TreeNode): void {
    const aborted = (child: TreeNode): boolean => child.state === 'Aborted' && child.failure !== undefined && node.progress.active.includes(child.step);
    for (const child of node.children) {
      if (child.state === 'Held' && node.progress.active.includes(child.step)) this.#order(child, 'Restart', 'Restart');
      else if (aborted(child) && child.resetFailed !== '') return this.#failHold(node, child, { rule: RESET_FAILED, message: resetFailureOf(child) });
      else if (aborted(child)) this.#order(child, 'Reset', 'Restart');
    }
    if (!node.children.some((child) => aborted(child)) && this.#childrenSettled(node)) this.#enter(node, 'Running', 'complete');
  }

  /** A phase failure reaches its ancestors once: hold-class by the propagation level, fail-class by onPhaseFailure. */
  #escalate(phase: TreeNode): void {
    const failure = phase.failure;
    if (!failure || phase.escalated === failure.since) return;
    const hold = failure.class === 'hold' && (phase.state === 'Holding' || phase.state === 'Held');
    const fail = failure.class === 'fail' && (phase.state === 'Aborting' || phase.state === 'Aborted');
    if (!hold && !fail) return;
    phase.escalated = failure.since;
    this.#moving = true;
    const located = at(phase, failure);
    if (fail && this.#world.onPhaseFailure === 'Fail') {
      this.#fail(phase.parent ?? phase, located, failure.auditRecordRef);
      return;
    }
    const held = this.#holdFrom(fail ? phase.parent : phase, fail ? 'child-failed' : failure.rule);
    if (held && fail && phase.parent) phase.parent.failure = { ...failure, ...located, class: 'hold', rule: 'child-failed', active: false };
  }

  /** A failure that the batch cannot go on from: everything aborts, and the outcome will be Failed. */
  #fail(node: TreeNode, why: Reason, auditRecordRef = ''): void {
    const { rule, message, told: as } = node === this.root ? why : at(node, why);
    this.root.failure = {
      class: 'fail',
      rule,
      message,
      ...withTold(as),
      step: node.step,
      since: this.#world.nowText,
      active: false,
      auditRecordRef,
    };
    this.#order(this.root, 'Abort', rule);
  }
}

/** With the element that it is about. */
function at({ path }: TreeNode, { rule, message, told: as }: Reason): Reason & { readonly told?: Told } {
  return { rule, message: `${path}: ${message}`, ...withTold(toldAt(path, as)) };
}

/** With the phase whose chart it was. */
export function resetFailureOf({ kind, path, name, resetFailed }: TreeNode): string {
  return kind === 'Phase' ? `${path || name}: ${resetFailed}` : resetFailed;
}

/** Its element has run to its end in this activation of the step. */
export function stepIsComplete(node: TreeNode, step: string): boolean {
  const child = childOf(node, step);
  return child !== undefined && child.state === 'Complete' && child.runCount >= (node.progress.activations[step] ?? 1);
}

/** Elements at work whose step is not active: a person has left it. */
function leftChildren(node: TreeNode): TreeNode[] {
  return node.children.filter((child) => isActive(child.state) && !node.progress.active.includes(child.step));
}

function childOf(node: TreeNode, step: string): TreeNode | undefined {
  return node.children.find((child) => child.step === step);
}
