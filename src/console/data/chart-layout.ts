/** Places the steps of a sequential function chart: each below those it follows, loops and leaps drawn beside them. */
import type { ProceduralChart } from './types.js';

export interface PlacedStep {
  readonly name: string;
  readonly initial: boolean;
  readonly row: number;
  readonly column: number;
}

export interface PlacedLink {
  readonly from: PlacedStep;
  readonly to: PlacedStep;
  /** Number of the transition in the chart. */
  readonly index: number;
  readonly condition: string;
  /** Backwards, or past other steps: drawn beside them. */
  readonly isAside: boolean;
}

export interface ChartLayout {
  readonly steps: readonly PlacedStep[];
  readonly links: readonly PlacedLink[];
  readonly rows: number;
  readonly columns: number;
}

interface ReadLink {
  readonly from: string;
  readonly to: string;
  readonly index: number;
  readonly condition: string;
}

/** Branches that run at once (decisions 2.2): those that are named, else all steps. */
export function parallelOf({ divergences = [], steps = [] }: ProceduralChart): readonly (readonly string[])[] {
  const names = steps.map(({ name }) => name);
  return divergences.flatMap(({ type, branches = [] }) => (type === 'SimultaneousDiverge' ? [branches.length > 0 ? branches : names] : [])).filter((each) => each.length > 1);
}

/** As the gateway reads a chart: without transitions its steps follow each other, and a transition to or from a branching is one to each branch. */
function linksOf(chart: ProceduralChart): readonly ReadLink[] {
  const { steps = [], transitions = [], divergences = [] } = chart;
  if (transitions.length === 0) {
    if (divergences.some(({ type }) => type === 'SimultaneousDiverge')) return [];
    return steps.slice(1).map(({ name }, at) => ({ from: steps[at]?.name ?? '', to: name, index: at, condition: '' }));
  }
  const branches = (wanted: string, name: string): readonly string[] => divergences.find((each) => each.type === wanted && each.name === name)?.branches ?? [name];
  return transitions.flatMap(({ from, to, conditionST = '' }, index) =>
    branches('SimultaneousConverge', from).flatMap((source) => branches('SimultaneousDiverge', to).map((target) => ({ from: source, to: target, index, condition: conditionST }))),
  );
}

export function layoutOf(chart: ProceduralChart): ChartLayout {
  const { steps = [] } = chart;
  const read = linksOf(chart);
  const rows = rowsOf(
    steps.map(({ name }) => name),
    read,
  );
  const filled = new Map<number, number>();
  const placed = new Map<string, PlacedStep>();
  for (const step of steps) {
    const row = rows.get(step.name) ?? 0;
    const column = filled.get(row) ?? 0;
    filled.set(row, column + 1);
    placed.set(step.name, { name: step.name, initial: step.initial === true, row, column });
  }
  const links = read.flatMap(({ index, condition, ...ends }) => {
    const from = placed.get(ends.from);
    const to = placed.get(ends.to);
    return from && to ? [{ from, to, index, condition, isAside: to.row !== from.row + 1 }] : [];
  });
  return { steps: [...placed.values()], links, rows: Math.max(0, ...[...rows.values()].map((row) => row + 1)), columns: Math.max(0, ...filled.values()) };
}

/** The longest way from a step that nothing precedes; a transition back to a step on the way is a loop and adds nothing. */
function rowsOf(names: readonly string[], transitions: readonly { readonly from: string; readonly to: string }[]): ReadonlyMap<string, number> {
  const rows = new Map<string, number>();
  const visit = (name: string, row: number, way: readonly string[]): void => {
    if (way.includes(name) || row <= (rows.get(name) ?? -1)) return;
    rows.set(name, row);
    for (const { from, to } of transitions) if (from === name) visit(to, row + 1, [...way, name]);
  };
  const entered = new Set(transitions.map(({ to }) => to));
  for (const name of names) if (!entered.has(name)) visit(name, 0, []);
  for (const name of names) if (!rows.has(name)) visit(name, 0, []);
  return rows;
}
