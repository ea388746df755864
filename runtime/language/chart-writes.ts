/** What the steps of a phase chart write, and which steps may come after others. Read from the texts; nothing is executed. */
import type { Chart, ChartStep } from '../vocabulary/chart.js';
import type { Expression, Statement } from './ast.js';
import { parseAction } from './parser.js';
import { callsIn, ownExpressions, statementsIn } from './walk.js';

export interface Write {
  readonly address: string;
  /** As text; undefined when it is computed. */
  readonly value: string | undefined;
}

export function writesOf({ actionST = '' }: Pick<ChartStep, 'actionST'>): Write[] {
  return [...statementsIn(parseAction(actionST).statements)].flatMap(writesIn);
}

/** Each once, in the order of the text. */
export function writtenAddresses(step: Pick<ChartStep, 'actionST'>): string[] {
  return [...new Set(writesOf(step).map(({ address }) => address))];
}

function writesIn(statement: Statement): Write[] {
  return ownExpressions(statement)
    .flatMap((expression) => [...callsIn(expression)])
    .flatMap(({ callee, args }) => {
      const [target, written] = args;
      if (callee.toUpperCase() !== 'WRITE' || !target || !written) return [];
      const address = textOf(target.value);
      return address === undefined ? [] : [{ address, value: textOf(written.value) }];
    });
}

function textOf(expression: Expression): string | undefined {
  return expression.kind === 'literal' ? String(expression.literal.value) : undefined;
}

/**
 * Names of the steps that may come after the given ones, those only that come back to themselves included.
 * @param isEnd by name in lower case: such a step is among them when it is reached, and what comes after it is not looked for.
 */
export function successorsOf(
  { steps = [], transitions = [], divergences = [] }: Chart,
  of: readonly string[],
  isEnd: (step: string) => boolean = () => false,
): ReadonlySet<string> {
  // one whose divergences are nodes as well: a transition may lead to the bar or to the steps behind it
  const edges = new Map<string, string[]>();
  const lead = (from: string, to: string): void => void edges.set(key(from), [...(edges.get(key(from)) ?? []), to]);
  for (const { from, to } of transitions) lead(from, to);
  for (const { name, type, branches = [], from = '', to = '' } of divergences) {
    const opens = type.endsWith('Diverge');
    for (const branch of branches) {
      if (opens) {
        lead(name, branch);
        if (from !== '') lead(from, branch);
      } else {
        lead(branch, name);
        if (to !== '') lead(branch, to);
      }
    }
    if (!opens && to !== '') lead(name, to);
    if (opens && from !== '') lead(from, name);
  }
  const reached = new Set<string>();
  const visit = (from: string): void => {
    for (const to of edges.get(key(from)) ?? []) {
      if (reached.has(key(to))) continue;
      reached.add(key(to));
      if (!isEnd(key(to))) visit(to);
    }
  };
  for (const name of of) visit(name);
  return new Set(steps.filter(({ name }) => reached.has(key(name))).map(({ name }) => name));
}

/** Steps are named without regard to case. */
function key(name: string): string {
  return name.toLowerCase();
}
