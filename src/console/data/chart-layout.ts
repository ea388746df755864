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

export function layoutOf({ steps = [], transitions = [] }: ProceduralChart): ChartLayout {
  const rows = rowsOf(
    steps.map(({ name }) => name),
    transitions,
  );
  const filled = new Map<number, number>();
  const placed = new Map<string, PlacedStep>();
  for (const step of steps) {
    const row = rows.get(step.name) ?? 0;
    const column = filled.get(row) ?? 0;
    filled.set(row, column + 1);
    placed.set(step.name, { name: step.name, initial: step.initial === true, row, column });
  }
  const links = transitions.flatMap((transition, index) => {
    const from = placed.get(transition.from);
    const to = placed.get(transition.to);
    return from && to ? [{ from, to, index, condition: transition.conditionST ?? '', isAside: to.row !== from.row + 1 }] : [];
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
