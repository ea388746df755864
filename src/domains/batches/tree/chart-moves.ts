/**
 * How a procedural chart (operation, unit procedure, procedure, recipe) moves from step to step (decisions 2.2). Pure:
 * it is told the state of each step's element and which conditions are true, and says which steps to leave and enter.
 */
import { inside } from '../../../platform/base/assert.js';
import { type ChartTransition, type ProceduralChart, type ProceduralStep, transitionKey } from '../../../../runtime/vocabulary/chart.js';
import type { ChartProgress } from '../../procedures/kind.js';
import { type ChangeRefusal, type ChartChange, judgeChange } from '../../../../runtime/vocabulary/steering.js';

export const STEP_ACTIVATIONS_MAX = 1000; // decisions 2.2

export const NO_PROGRESS: ChartProgress = { active: [], completed: [], fired: [], activations: {}, activatedRanMs: {} };

export interface ChartFacts {
  /** The step's element is Complete. */
  isComplete(step: string): boolean;
  isTrue(transition: ChartTransition, index: number): boolean;
  /** False while the element must not leave a step (Semi-Automatic waits for Resume, Manual never fires). */
  mayFire(key: string): boolean;
}

export type ChartMove =
  | { readonly kind: 'wait' }
  | { readonly kind: 'complete' }
  /** Semi-Automatic: this transition is true and waits for Resume. */
  | { readonly kind: 'stop-before'; readonly key: string }
  | { readonly kind: 'fire'; readonly key: string; readonly leave: readonly string[]; readonly enter: readonly string[] };

/** The chart as sequences and transitions read alike: implicit charts get the transitions they stand for. */
interface Reading {
  readonly entry: readonly string[];
  readonly transitions: readonly { readonly source: ChartTransition; readonly index: number; readonly from: readonly string[]; readonly to: readonly string[] }[];
}

export function entrySteps(chart: ProceduralChart): readonly string[] {
  return read(chart).entry;
}

/** Transitions out of active steps, in order: of a converge already when one of its branches is active. */
export function leavingTransitions(chart: ProceduralChart, { active }: ChartProgress) {
  return read(chart)
    .transitions.filter(({ from }) => from.some((step) => active.includes(step)))
    .map((transition) => ({ ...transition, key: transitionKey(transition.source, transition.index) }));
}

/** Transitions whose steps are all done, in order: they fire as soon as their condition is met. */
export function* enabledTransitions(chart: ProceduralChart, progress: ChartProgress, isComplete: ChartFacts['isComplete']) {
  const active = new Set(progress.active);
  for (const { source, index, from, to } of read(chart).transitions) {
    if (from.every((step) => active.has(step) && isComplete(step))) yield { source, index, key: transitionKey(source, index), from, to };
  }
}

export function nextMove(chart: ProceduralChart, progress: ChartProgress, facts: ChartFacts): ChartMove {
  const { transitions } = read(chart);
  let stopBefore = '';
  for (const { source, index, key, from, to } of enabledTransitions(chart, progress, (step) => facts.isComplete(step))) {
    if (!facts.isTrue(source, index)) continue;
    if (facts.mayFire(key)) return { kind: 'fire', key, leave: from, enter: to };
    stopBefore ||= key;
  }
  if (stopBefore) return { kind: 'stop-before', key: stopBefore };
  const leaving = new Set(transitions.flatMap((transition) => transition.from));
  const done = progress.active.every((step) => facts.isComplete(step) && !leaving.has(step));
  return done ? { kind: 'complete' } : { kind: 'wait' };
}

/** Progress after a move; steps that are entered count one activation. `ranMs`: run time of the element. */
export function moved(progress: ChartProgress, leave: readonly string[], enter: readonly string[], key: string, ranMs: number): ChartProgress {
  const activations = { ...progress.activations };
  const activatedRanMs = { ...progress.activatedRanMs };
  for (const step of enter) {
    activations[step] = (activations[step] ?? 0) + 1;
    activatedRanMs[step] = ranMs;
  }
  return {
    active: [...progress.active.filter((step) => !leave.includes(step)), ...enter],
    completed: [...progress.completed, ...leave.filter((step) => !progress.completed.includes(step))],
    fired: key ? [...progress.fired, key] : progress.fired,
    activations,
    activatedRanMs,
  };
}

/** What a change by hand must know of the element of a step. */
export interface StepElement {
  readonly runCount: number;
  /** Neither Idle nor final. */
  readonly isActive: boolean;
}

/**
 * Progress after a change by hand (ADR 0007), or why it cannot be. A step that is entered is one run more than its element
 * has had, so that it runs however often the step was active before.
 */
export function steered(
  chart: ProceduralChart,
  progress: ChartProgress,
  change: ChartChange,
  elementOf: (step: string) => StepElement | undefined,
  ranMs: number,
): { readonly progress: ChartProgress } | { readonly refusal: ChangeRefusal } {
  const { transitions } = read(chart);
  const forced = change.change === 'force' ? transitions.find(({ source, index }) => transitionKey(source, index) === change.transition) : undefined;
  const refusal = judgeChange(change, { steps: (chart.steps ?? []).map(({ name }) => name), active: progress.active, sourcesOf: () => forced?.from });
  if (refusal) return { refusal };
  const entering = forced?.to ?? (change.change === 'activate' ? [change.step] : []);
  const leaving = forced?.from ?? (change.change === 'activate' ? change.leave : change.change === 'deactivate' ? [change.step] : []);
  const busy = entering.find((step) => elementOf(step)?.isActive);
  if (busy !== undefined) return { refusal: { rule: 'element_active', message: `the element of step ${busy} has not come to rest yet` } };
  const next = moved(progress, leaving, entering, change.change === 'force' ? change.transition : '', ranMs);
  const runs = entering.map((step) => [step, (elementOf(step)?.runCount ?? 0) + 1] as const);
  return { progress: { ...next, activations: { ...next.activations, ...Object.fromEntries(runs) } } };
}

function read(chart: ProceduralChart): Reading {
  const steps = chart.steps ?? [];
  const transitions = chart.transitions ?? [];
  const divergences = chart.divergences ?? [];
  const diverge = new Map(divergences.filter((d) => d.type === 'SimultaneousDiverge').map((d) => [d.name, d.branches ?? []]));
  const converge = new Map(divergences.filter((d) => d.type === 'SimultaneousConverge').map((d) => [d.name, d.branches ?? []]));
  if (transitions.length === 0) return sequence(steps, [...diverge.values()]);
  const targets = new Set(transitions.map((transition) => transition.to));
  const entryDiverge = [...diverge].find(([name]) => !targets.has(name));
  const initial = steps.filter((step) => step.initial).map((step) => step.name);
  return {
    entry: initial.length > 0 ? initial : entryDiverge ? entryDiverge[1] : steps.slice(0, 1).map((step) => step.name),
    transitions: transitions.map((source, index) => ({
      source,
      index,
      from: converge.get(source.from) ?? [source.from],
      to: diverge.get(source.to) ?? [source.to],
    })),
  };
}

/** Without transitions steps run in array order; with a SimultaneousDiverge its branches (or all) start together. */
function sequence(steps: readonly ProceduralStep[], diverges: readonly (readonly string[])[]): Reading {
  const names = steps.map((step) => step.name);
  const [together] = diverges;
  if (together) return { entry: together.length > 0 ? together : names, transitions: [] };
  return {
    entry: names.slice(0, 1),
    transitions: names.slice(1).map((name, at) => {
      const from = inside(names, at, 'before the second step is the first');
      return { source: { from, to: name }, index: at, from: [from], to: [name] };
    }),
  };
}
