/**
 * Answers of a prompt that no transition out of its step takes: the person answers, nothing more is asked, and the phase waits for a
 * condition that cannot become true. Read from the texts; a condition that something else may still decide counts as a way on.
 */
import { type Chart, type ChartName, EXCEPTION_CHARTS, type ExceptionChartName } from '../vocabulary/chart.js';
import type { Expression, Statement } from './ast.js';
import { Exits } from './chart-structure.js';
import { parseAction, parseCondition } from './parser.js';
import { statementsIn } from './walk.js';
import { sameName } from '../vocabulary/same-name.js';

export interface DeadChoice {
  readonly chart: ChartName;
  readonly step: string;
  /** The variable that takes the answer. */
  readonly variable: string;
  readonly choice: string;
  readonly message: string;
}

interface PhaseCharts extends Chart {
  readonly charts?: Readonly<Partial<Record<ExceptionChartName, Chart | undefined>>>;
}

/** What PROMPT gives when it was answered (contract 3, Prompt rules). */
const ACKNOWLEDGED = 'Acknowledged';

export function deadChoices({ charts = {}, ...running }: PhaseCharts): DeadChoice[] {
  return [...deadIn('running', running), ...EXCEPTION_CHARTS.flatMap((name) => deadIn(name, charts[name] ?? {}))];
}

function deadIn(chart: ChartName, { steps = [], transitions = [], divergences = [] }: Chart): DeadChoice[] {
  const isParallel = divergences.some(({ type }) => type === 'SimultaneousDiverge');
  const read = steps.map((step) => ({ step: step.name, statements: parseAction(step.actionST ?? '').statements }));
  if (!read.some(({ statements }) => statements.some((statement) => choicesOf(statement).length > 0))) return [];
  const exits = new Exits({ steps, transitions, divergences });
  const writers = writersOf(read);
  return read.flatMap(({ step, statements }) => {
    const asked = statements.filter((statement) => choicesOf(statement).length > 0);
    if (asked.length === 0) return [];
    const ways = exits.of(step).map(({ conditionST = '' }) => parseCondition(conditionST).expression);
    if (ways.length === 0) return [];
    return asked.flatMap((statement) => {
      const choices = choicesOf(statement);
      if (statement.kind !== 'assign') return [];
      const variable = statement.target;
      // who else gives the variable a value may give it one that a transition takes
      if (assignments(statements, variable) > 1 || (isParallel && (writers.get(variable.toLowerCase()) ?? 0) > 1)) return [];
      return choices
        .filter((choice) => ways.every((condition) => condition !== null && truth(condition, variable, choice) === false))
        .map((choice) => ({ chart, step, variable, choice, message: messageOf(step, variable, choice, choices.length > 1) }));
    });
  });
}

/** How many steps give a variable a value. */
function writersOf(read: readonly { readonly statements: readonly Statement[] }[]): ReadonlyMap<string, number> {
  const writers = new Map<string, number>();
  for (const { statements } of read) {
    const own = new Set([...statementsIn(statements)].flatMap((statement) => (statement.kind === 'assign' ? [statement.target.toLowerCase()] : [])));
    for (const variable of own) writers.set(variable, (writers.get(variable) ?? 0) + 1);
  }
  return writers;
}

function messageOf(step: string, variable: string, choice: string, isChoice: boolean): string {
  const nowhere = `no transition out of step ${step} can become true when ${variable} = '${choice}', so that the phase waits there in silence`;
  return isChoice
    ? `option '${choice}' of the prompt in step ${step} leads nowhere: ${nowhere}. Add a transition for it, or take the option away`
    : `the answer of the prompt in step ${step} leads nowhere: PROMPT always answers '${choice}', and ${nowhere}. Test ${variable} = '${choice}', or ask with PROMPT_CHOICE`;
}

/** Texts that the statement may put into its variable; those that are computed are not known. */
function choicesOf(statement: Statement): string[] {
  if (statement.kind !== 'assign' || statement.value.kind !== 'call') return [];
  const { callee, args } = statement.value;
  if (callee.toUpperCase() === 'PROMPT') return [ACKNOWLEDGED];
  if (callee.toUpperCase() !== 'PROMPT_CHOICE') return [];
  return args.slice(1).flatMap(({ value }) => (value.kind === 'literal' && value.literal.type === 'STRING' ? [value.literal.value] : []));
}

function assignments(statements: readonly Statement[], variable: string): number {
  return [...statementsIn(statements)].filter((statement) => statement.kind === 'assign' && sameName(statement.target, variable)).length;
}

/** Undefined where it depends on more than the answer. */
function truth(expression: Expression, variable: string, answer: string): boolean | undefined {
  switch (expression.kind) {
    case 'literal':
      return expression.literal.type === 'BOOL' ? expression.literal.value : undefined;
    case 'unary': {
      const operand = truth(expression.operand, variable, answer);
      return expression.operator === 'NOT' && operand !== undefined ? !operand : undefined;
    }
    case 'binary': {
      const { operator, left, right } = expression;
      if (operator === '=' || operator === '<>') {
        const [a, b] = [textOf(left, variable, answer), textOf(right, variable, answer)];
        return a === undefined || b === undefined ? undefined : (a === b) === (operator === '=');
      }
      return connected(operator, truth(left, variable, answer), truth(right, variable, answer));
    }
    default:
      return undefined;
  }
}

function connected(operator: string, left: boolean | undefined, right: boolean | undefined): boolean | undefined {
  if (operator === 'AND') return left === false || right === false ? false : left === true && right === true ? true : undefined;
  if (operator === 'OR') return left === true || right === true ? true : left === false && right === false ? false : undefined;
  return operator === 'XOR' && left !== undefined && right !== undefined ? left !== right : undefined;
}

function textOf(expression: Expression, variable: string, answer: string): string | undefined {
  if (expression.kind === 'name' && sameName(expression.name, variable)) return answer;
  return expression.kind === 'literal' && expression.literal.type === 'STRING' ? expression.literal.value : undefined;
}
