/**
 * Shape of a chart (decisions 2.1, 2.8): names, divergences, the initial step, and which steps can be reached and left.
 * The same rules hold for charts of phases and procedural charts; without transitions the latter are a plain sequence.
 */
import type { ChartDivergence, ChartName, ChartTransition } from '../vocabulary/chart.js';
import type { Diagnostic } from './ast.js';

/** A diagnostic with its place in a phase or a procedural chart. */
export interface ChartDiagnostic extends Diagnostic {
  /** `running` and the others of a phase; for a procedural chart the path of the step whose sub-chart it is in. */
  readonly chart?: ChartName | string;
  readonly step?: string;
  /** Index in `transitions`. */
  readonly transition?: number;
  /** Of a procedural chart: the member that it is about, in the outermost chart, for example `steps[boil].parameterBindings[0].from`. */
  readonly member?: string;
}

export interface ChartShape {
  readonly steps: readonly { readonly name: string; readonly initial?: boolean | undefined }[];
  readonly transitions: readonly ChartTransition[];
  readonly divergences: readonly ChartDivergence[];
}

export type Place = Pick<ChartDiagnostic, 'chart' | 'step' | 'transition'>;

const DIVERGENCE_TYPES: readonly string[] = ['SimultaneousDiverge', 'SimultaneousConverge', 'SelectionDiverge', 'SelectionConverge'];

/** A diagnostic about the chart itself, which has no line. */
export function chartFault(code: string, message: string, place: Place = {}, severity: Diagnostic['severity'] = 'error'): ChartDiagnostic {
  return { severity, code, message, line: 1, column: 1, ...place };
}

/** `sequence`: a procedural chart without transitions runs its steps in array order. */
export function checkStructure(shape: ChartShape, sequence: boolean): ChartDiagnostic[] {
  const found = [...checkNames(shape), ...checkDivergences(shape, sequence), ...checkEnds(shape)];
  if (shape.steps.length === 0) return found;
  found.push(...checkInitial(shape));
  // reachability in a chart with broken references would only repeat them
  if (sequence || found.some(({ severity }) => severity === 'error')) return found;
  return [...found, ...checkReach(shape)];
}

// ---------------------------------------------------------------- names and references

function checkNames({ steps, divergences }: ChartShape): ChartDiagnostic[] {
  const found: ChartDiagnostic[] = [];
  const taken = new Set<string>();
  for (const { name } of steps) {
    if (taken.has(name.toLowerCase())) found.push(chartFault('duplicate-step', `step ${name} is declared twice`, { step: name }));
    taken.add(name.toLowerCase());
  }
  for (const { name } of divergences) {
    if (taken.has(name.toLowerCase())) found.push(chartFault('duplicate-divergence', `the name ${name} of a divergence is taken`, { step: name }));
    taken.add(name.toLowerCase());
  }
  return found;
}

function checkDivergences({ steps, divergences }: ChartShape, sequence: boolean): ChartDiagnostic[] {
  const known = new Set(steps.map(({ name }) => name));
  return divergences.flatMap((divergence) => {
    const { name, type, branches = [], from, to } = divergence;
    const place = { step: name };
    const found: ChartDiagnostic[] = [];
    if (!DIVERGENCE_TYPES.includes(type)) found.push(chartFault('enum', `${type} is none of ${DIVERGENCE_TYPES.join(', ')}`, place));
    const mayOmit = sequence && divergence.branches === undefined;
    if (!mayOmit && new Set(branches).size < 2) found.push(chartFault('branch-count', `${name} needs at least two branches`, place));
    for (const step of [...branches, from, to]) {
      if (step !== undefined && step !== '' && !known.has(step)) found.push(chartFault('unknown-step', `${name} names step ${step}, which the chart does not have`, place));
    }
    return found;
  });
}

function checkEnds({ steps, transitions, divergences }: ChartShape): ChartDiagnostic[] {
  const known = new Set(steps.map(({ name }) => name));
  const types = new Map(divergences.map(({ name, type }) => [name, type]));
  const found: ChartDiagnostic[] = [];
  transitions.forEach(({ from, to }, transition) => {
    const place = { transition };
    if (types.get(from) === 'SimultaneousDiverge')
      found.push(chartFault('diverge-direction', `a transition cannot leave the SimultaneousDiverge ${from}; it leaves the steps of its branches`, place));
    else if (!known.has(from) && types.get(from) !== 'SimultaneousConverge')
      found.push(chartFault('unknown-step', `the transition leaves ${from}, which is no step of the chart`, place));
    if (types.get(to) === 'SimultaneousConverge')
      found.push(chartFault('diverge-direction', `a transition cannot enter the SimultaneousConverge ${to}; its branches end there by themselves`, place));
    else if (!known.has(to) && types.get(to) !== 'SimultaneousDiverge') found.push(chartFault('unknown-step', `the transition enters ${to}, which is no step of the chart`, place));
  });
  return found;
}

// ---------------------------------------------------------------- initial step

function entryDiverges({ transitions, divergences }: ChartShape): readonly ChartDivergence[] {
  const entered = new Set(transitions.map(({ to }) => to));
  return divergences.filter(({ name, type }) => type === 'SimultaneousDiverge' && !entered.has(name));
}

const stepOf = (step: { readonly name: string } | undefined): { readonly step?: string } => (step ? { step: step.name } : {});

function checkInitial(shape: ChartShape): ChartDiagnostic[] {
  const marked = shape.steps.filter(({ initial }) => initial);
  const starts = marked.length + entryDiverges(shape).length;
  if (starts > 1)
    return [
      chartFault('several-initial', 'the chart has more than one beginning: exactly one initial step, or one SimultaneousDiverge without a transition into it', {
        ...stepOf(marked[1] ?? marked[0]),
      }),
    ];
  if (starts === 0 && shape.transitions.length > 0) return [chartFault('no-initial', 'the chart has transitions but no initial step')];
  return [];
}

/** Steps that are active at the start (decisions 2.1, 2.8). */
export function initialSteps(shape: ChartShape): readonly string[] {
  const marked = shape.steps.filter(({ initial }) => initial).map(({ name }) => name);
  const diverged = entryDiverges(shape).flatMap(({ branches = [] }) => branches);
  if (marked.length + diverged.length > 0) return [...marked, ...diverged];
  return shape.steps.slice(0, 1).map(({ name }) => name);
}

// ---------------------------------------------------------------- ways through the chart

/** Ways from step to step; a converge is passed when all its branches are there. */
interface Way {
  readonly from: readonly string[];
  readonly to: readonly string[];
}

function ways({ transitions, divergences }: ChartShape): Way[] {
  const branches = new Map(divergences.filter(({ type }) => type.startsWith('Simultaneous')).map(({ name, branches = [] }) => [name, branches]));
  return transitions.map(({ from, to }) => ({ from: branches.get(from) ?? [from], to: branches.get(to) ?? [to] }));
}

/** Everything that `start` leads to; a way is open when its `from` side is reached completely. */
function reach(start: readonly string[], open: readonly Way[]): Set<string> {
  const reached = new Set<string>();
  const counted = open.map((way) => ({ way, missing: new Set(way.from).size }));
  const waysFrom = new Map<string, typeof counted>();
  counted.forEach((way) => {
    for (const step of new Set(way.way.from)) {
      const list = waysFrom.get(step);
      if (list) list.push(way);
      else waysFrom.set(step, [way]);
    }
  });
  const queue = [...start, ...counted.flatMap(({ way, missing }) => (missing === 0 ? way.to : []))];
  // the queue grows while it is walked
  for (const step of queue) {
    if (reached.has(step)) continue;
    reached.add(step);
    for (const way of waysFrom.get(step) ?? []) {
      way.missing -= 1;
      if (way.missing === 0) for (const next of way.way.to) queue.push(next);
    }
  }
  return reached;
}

function checkReach(shape: ChartShape): ChartDiagnostic[] {
  const all = ways(shape);
  const reached = reach(initialSteps(shape), all);
  const found = shape.steps.filter(({ name }) => !reached.has(name)).map(({ name }) => chartFault('unreachable-step', `no way leads to step ${name}`, { step: name }));
  if (found.length > 0) return found;
  const left = new Set(all.flatMap(({ from }) => from));
  const finals = shape.steps.map(({ name }) => name).filter((name) => !left.has(name));
  // backwards, one step of a divergence is enough: its siblings end at the same converge or by themselves
  const backward = all.flatMap(({ from, to }) => to.map((step) => ({ from: [step], to: from })));
  const leaving = reach(finals, backward);
  const caught = shape.steps.find(({ name }) => !leaving.has(name));
  return caught ? [chartFault('no-exit', `from step ${caught.name} no way leads to a final step`, { step: caught.name }, 'warning')] : [];
}

/** The transitions that end the activity of each step, for who asks for many of them. */
export class Exits {
  readonly #leaving = new Map<string, ChartTransition[]>();
  readonly #converges = new Map<string, string[]>();

  constructor({ transitions, divergences }: ChartShape) {
    for (const transition of transitions) listed(this.#leaving, transition.from).push(transition);
    for (const { name, type, branches = [] } of divergences)
      if (type === 'SimultaneousConverge') for (const branch of new Set(branches)) listed(this.#converges, branch).push(name);
  }

  of(step: string): readonly ChartTransition[] {
    return [step, ...(this.#converges.get(step) ?? [])].flatMap((from) => this.#leaving.get(from) ?? []);
  }
}

function listed<Item>(lists: Map<string, Item[]>, key: string): Item[] {
  const known = lists.get(key);
  if (known) return known;
  const begun: Item[] = [];
  lists.set(key, begun);
  return begun;
}

/** Transitions that end the activity of a step, with their index: its own and those of the converges it is a branch of. */
export function exitsOf(shape: ChartShape, step: string): { readonly transition: ChartTransition; readonly index: number }[] {
  const converges = new Set(shape.divergences.filter(({ type, branches = [] }) => type === 'SimultaneousConverge' && branches.includes(step)).map(({ name }) => name));
  return shape.transitions.flatMap((transition, index) => (transition.from === step || converges.has(transition.from) ? [{ transition, index }] : []));
}
