/** The node of the tree that an element is while it is settled, and what of it is kept. */
import type { ChartProgress } from '../../procedures/kind.js';
import { NO_PROGRESS } from './chart-moves.js';
import type { ElementResource } from './element-index.js';
import { type ElementKind, hasInside, type TreeNode } from './procedure-tree.js';

/** A crash takes this much of a budget or a step time with it. */
const KEPT_EVERY_MS = 10_000;

const STEP_TIME = /\.T\b/i;

/** The working copy of an element, without its place in the tree. */
export function readNode(kind: ElementKind, resource: ElementResource): TreeNode {
  const { spec, status } = resource;
  return {
    kind,
    name: resource.metadata.name,
    step: spec.stepName,
    path: spec.stepPath,
    unit: 'unitRef' in spec ? spec.unitRef : '',
    chart: 'chart' in spec ? spec.chart : null,
    timeoutMs: kind !== 'Phase' && 'timeoutSeconds' in spec ? spec.timeoutSeconds * 1000 : 0,
    children: [],
    parent: null,
    state: status.state,
    mode: status.mode,
    progress: status.progress ?? NO_PROGRESS,
    ranMs: status.ranMs ?? 0,
    spentMs: status.spentMs ?? null,
    runCount: status.runCount,
    pausedAt: status.pausedAt ?? '',
    failure: status.failure,
    escalated: status.escalated ?? '',
    startedAt: status.startedAt,
    endedAt: status.endedAt,
    returnTo: status.returnTo ?? '',
    resetFailed: status.resetFailed ?? '',
  };
}

/** Where the chart of an element at work stands, by what is below it: a row that has lost it (read-row.ts) must not leave its children as if their steps were over. */
export function progressOf({ children, ranMs }: TreeNode): ChartProgress {
  const begun = children.filter(({ state }) => state !== 'Idle');
  return {
    active: begun.filter(({ state }) => state !== 'Complete').map(({ step }) => step),
    completed: begun.filter(({ state }) => state === 'Complete').map(({ step }) => step),
    fired: [],
    activations: Object.fromEntries(begun.map(({ step, runCount }) => [step, runCount])),
    activatedRanMs: Object.fromEntries(begun.map(({ step }) => [step, ranMs])),
  };
}

/** Its step is active and it has not started. */
export function isNext({ state, step, parent }: TreeNode): boolean {
  return state === 'Idle' && parent?.state === 'Running' && parent.progress.active.includes(step);
}

/** A condition of its chart looks at how long a step has run. */
export function asksForTime({ chart }: TreeNode): boolean {
  return chart?.transitions?.some(({ conditionST = '' }) => STEP_TIME.test(conditionST)) ?? false;
}

/** What is persisted of a node, as one comparable text. */
export function lookOf(node: TreeNode, pausedInside: boolean): string {
  return JSON.stringify([
    node.state,
    node.mode,
    node.progress,
    node.spentMs === null,
    node.timeoutMs > 0 || asksForTime(node) ? Math.floor(Math.max(node.ranMs, node.spentMs ?? 0) / KEPT_EVERY_MS) : 0,
    node.runCount,
    node.pausedAt,
    node.failure,
    node.escalated,
    node.returnTo,
    node.resetFailed,
    hasInside(node, 'Held'),
    pausedInside,
  ]);
}
