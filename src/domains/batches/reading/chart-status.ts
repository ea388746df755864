/**
 * `sfcStatus` of the elements above the phase, in the shape that phases have (contract 3, Procedural resources; decisions 2.4;
 * ADR 0007): active steps, what each transition out of them waits for, and what has happened so far.
 *
 * Computed on read from the progress that is stored: the gateway settles these charts when something is known anew and does
 * not scan them (ADR 0001), so a stored status would tell the values of then.
 */
import type { SfcStatus, TransitionReport } from '../../../../runtime/port.js';
import type { State } from '../../../../runtime/vocabulary/states.js';
import { isFinal } from '../../../../runtime/vocabulary/transitions.js';
import type { Store } from '../../../platform/store/store.js';
import { judgeCondition } from '../../placement/conditions.js';
import type { ElementReconciliation } from '../tree/element-reconciliation.js';
import { stepIsComplete, type TreeNode } from '../tree/procedure-tree.js';
import { leavingTransitions } from '../tree/chart-moves.js';
import { giversOf, type SideNames, withSides } from './condition-sides.js';

const HELD: readonly State[] = ['Holding', 'Held', 'Restarting'];

/** Undefined for phases, whose unit runtime tells it, and for elements that no controller has looked at yet. */
export function chartStatus(store: Store, reconciliation: ElementReconciliation, node: TreeNode): SfcStatus | undefined {
  if (node.kind === 'Phase' || reconciliation.element(node).status.progress === undefined) return undefined;
  const { active, completed, fired } = node.progress;
  const over = isFinal(node.state) || node.state === 'Idle';
  return {
    activeSteps: active,
    completedSteps: completed,
    firedTransitions: fired,
    scanCount: 0, // not scanned
    held: HELD.includes(node.state),
    transitionStates: over ? [] : leavingTransitions(node.chart ?? {}, node.progress).map((transition) => reportOf(store, reconciliation, node, transition)),
    variableSnapshot: over ? {} : outputsSeen(reconciliation, node),
    ...(node.state === 'Running' || node.state === 'Pausing' ? { activeChart: 'running' } : {}),
  };
}

/** A transition is evaluated once the elements of its steps are Complete (decisions 2.2); its condition is shown before that. */
function reportOf(store: Store, reconciliation: ElementReconciliation, node: TreeNode, { source, index, from }: ReturnType<typeof leavingTransitions>[number]): TransitionReport {
  const { conditionST = '' } = source;
  const { result, reason, parts } = judgeCondition(conditionST, reconciliation.conditionScope(node));
  const common = { index, fromStep: source.from, toStep: source.to, conditionST, subConditions: parts.map((part) => withSides(part, sideNames(store, reconciliation, node))) };
  const undone = from.find((step) => !node.progress.active.includes(step) || !stepIsComplete(node, step));
  if (undone === undefined) {
    const evaluated = result === 'TRUE' || result === 'FALSE';
    return { ...common, evaluated, met: result === 'TRUE', result, ...(reason === undefined ? {} : { reason }) };
  }
  const told = reason ?? `step ${undone} has not completed`;
  return { ...common, evaluated: false, met: false, result: conditionST.trim() === '' ? 'FALSE' : result, reason: told };
}

/** Of an element above the phase: it has parameters, the outputs of its steps, and signals. */
export function sideNames(store: Store, reconciliation: ElementReconciliation, node: TreeNode): SideNames {
  const { spec } = reconciliation.element(node);
  const outputs = (): readonly { readonly name: string; readonly unit: string }[] =>
    node.children.flatMap((child) => reconciliation.outputsOf(child).map(({ name, unit }) => ({ name: `${child.step}.${name}`, unit })));
  return {
    scope: reconciliation.conditionScope(node),
    place: () => undefined,
    engUnits: (name) => [...spec.parameters, ...(name.includes('.') ? outputs() : [])].find((each) => each.name.toLowerCase() === name.toLowerCase())?.unit ?? '',
    givers: (word) => giversOf(store, reconciliation.site, reconciliation.scope, word),
  };
}

/** What its conditions may read beside parameters: `<step>.<output>` (decisions 2.2). */
function outputsSeen(reconciliation: ElementReconciliation, node: TreeNode): Record<string, string> {
  return Object.fromEntries(node.children.flatMap((child) => reconciliation.outputsOf(child).map(({ name, value }) => [`${child.step}.${name}`, value] as const)));
}
