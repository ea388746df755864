/**
 * Changing the active steps of a chart by hand (ADR 0007): a person in mode Manual goes on, goes back, or forces a transition.
 * The rules are the same for charts of phases, which the unit runtime moves, and for procedural charts.
 */
import type { Chart, ProceduralChart } from './chart.js';
import type { State } from './states.js';

export type ChartChange =
  /** Activates a step; those of `leave` are left in the same moment, so that nothing runs beside it. */
  | { readonly change: 'activate'; readonly step: string; readonly leave: readonly string[] }
  | { readonly change: 'deactivate'; readonly step: string }
  /** Fires a transition whose steps are all active, whatever its condition says and whether or not they have finished. */
  | { readonly change: 'force'; readonly transition: string };

/** States in which the running chart stands or waits for its transitions; in all others another chart has the equipment. */
export const STEERABLE: readonly State[] = ['Running', 'Paused', 'Held'];

export interface SteeredChart {
  readonly steps: readonly string[];
  readonly active: readonly string[];
  /** Steps that a transition leaves; undefined when there is no transition of that key. */
  sourcesOf(key: string): readonly string[] | undefined;
}

export interface ChangeRefusal {
  readonly rule: 'unknown_step' | 'unknown_transition' | 'step_active' | 'step_not_active' | 'last_active_step' | 'transition_not_enabled' | 'element_active';
  readonly message: string;
}

/** Why the chart cannot be changed so; undefined when it can. */
export function judgeChange(change: ChartChange, chart: SteeredChart): ChangeRefusal | undefined {
  if (change.change === 'force') return judgeForce(change.transition, chart);
  const entering = change.change === 'activate' ? [change.step] : [];
  const leaving = change.change === 'activate' ? change.leave : [change.step];
  const unknown = [...entering, ...leaving].find((step) => !chart.steps.includes(step));
  if (unknown !== undefined) return { rule: 'unknown_step', message: `the chart has no step ${unknown}` };
  const already = entering.find((step) => chart.active.includes(step));
  if (already !== undefined) return { rule: 'step_active', message: `step ${already} is active already` };
  const idle = leaving.find((step) => !chart.active.includes(step));
  if (idle !== undefined) return { rule: 'step_not_active', message: `step ${idle} is not active` };
  if (entering.length === 0 && chart.active.every((step) => leaving.includes(step)))
    return { rule: 'last_active_step', message: `step ${change.step} is the last active one; activate another step instead, and leave this one with it` };
  return undefined;
}

function judgeForce(key: string, chart: SteeredChart): ChangeRefusal | undefined {
  const sources = chart.sourcesOf(key);
  if (!sources) return { rule: 'unknown_transition', message: `the chart has no transition ${key}` };
  const idle = sources.find((step) => !chart.active.includes(step));
  return idle === undefined ? undefined : { rule: 'transition_not_enabled', message: `transition ${key} leaves step ${idle}, which is not active` };
}

/** Steps that the source of a transition stands for: branches of a converge, which may be divergences themselves (decisions 2.1). */
export function sourceSteps(chart: Chart | ProceduralChart, from: string, depth = 0): readonly string[] {
  const converge = chart.divergences?.find((divergence) => divergence.name === from && divergence.type === 'SimultaneousConverge');
  if (!converge || depth > 32) return [from];
  return (converge.branches ?? []).flatMap((branch) => sourceSteps(chart, branch, depth + 1));
}
