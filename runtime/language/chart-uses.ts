/** What the texts of a phase name and give a value: read from the texts, nothing is executed. */
import { CHART_NAMES, type Chart, type ChartName, type ExceptionChartName } from '../vocabulary/chart.js';
import type { Expression, Position, Statement } from './ast.js';
import { parseAction, parseCondition } from './parser.js';
import { callsIn, ownExpressions, statementsIn } from './walk.js';

/** A text of a phase: the action of a step, or the condition of a transition by its place in the list. */
export interface TextPlace {
  readonly chart: ChartName;
  readonly step?: string;
  readonly transition?: number;
}

/** An address that stands as a literal; one that is computed is known to nobody before it runs. */
export interface NamedAddress extends Position {
  readonly builtin: 'READ' | 'WRITE' | 'MODE';
  readonly address: string;
  /** Parameter, output or variable whose value is written as it is, or that takes what is read as it is; undefined where something is computed. */
  readonly name?: string | undefined;
}

export interface UsedAddress extends NamedAddress, TextPlace {}

export interface ChartUses {
  /** In the order of the texts. */
  readonly addresses: readonly UsedAddress[];
  /** Names that some text gives a value, in lower case. */
  readonly assigned: ReadonlySet<string>;
}

interface PhaseCharts extends Chart {
  readonly charts?: Readonly<Partial<Record<ExceptionChartName, Chart | undefined>>>;
}

export function usesOf({ charts = {}, ...running }: PhaseCharts): ChartUses {
  const addresses: UsedAddress[] = [];
  const assigned = new Set<string>();
  for (const chart of CHART_NAMES) {
    const { steps = [], transitions = [] } = (chart === 'running' ? running : charts[chart]) ?? {};
    for (const { name, actionST = '' } of steps) {
      if (actionST.trim() === '') continue;
      for (const statement of statementsIn(parseAction(actionST).statements)) {
        const target = targetOf(statement);
        if (target !== undefined) assigned.add(target.toLowerCase());
        for (const expression of ownExpressions(statement)) addresses.push(...addressesIn(expression, statement).map((use) => ({ ...use, chart, step: name })));
      }
    }
    for (const [transition, { conditionST = '' }] of transitions.entries()) {
      addresses.push(...addressesOfCondition(conditionST).map((use) => ({ ...use, chart, transition })));
    }
  }
  return { addresses, assigned };
}

/** Those of one condition, of a procedural chart too. */
export function addressesOfCondition(source: string): readonly NamedAddress[] {
  const expression = source.trim() === '' ? null : parseCondition(source).expression;
  return expression ? addressesIn(expression) : [];
}

function targetOf(statement: Statement): string | undefined {
  if (statement.kind === 'assign') return statement.target;
  return statement.kind === 'for' ? statement.variable : undefined;
}

const ADDRESSED = ['READ', 'WRITE', 'MODE'] as const;

/** @param statement that holds it, if one does. */
function addressesIn(expression: Expression, statement?: Statement): NamedAddress[] {
  return [...callsIn(expression)].flatMap((call) => {
    const {
      callee,
      args: [first, second],
    } = call;
    const builtin = ADDRESSED.find((word) => word === callee.toUpperCase());
    if (!builtin || first?.value.kind !== 'literal' || first.value.literal.type !== 'STRING') return [];
    const { line, column } = first.value.at;
    const taker = statement?.kind === 'assign' && statement.value === call ? statement.target : undefined;
    const name = builtin === 'READ' ? taker : second?.value.kind === 'name' ? second.value.name : undefined;
    return [{ builtin, address: first.value.literal.value, line, column, ...(name === undefined ? {} : { name }) }];
  });
}
