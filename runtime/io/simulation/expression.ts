/**
 * Execution of simulation expressions (decisions 6.4): the syntax tree becomes one function over the slots of the plant, as a chart's
 * structured text does (`runtime/chart/compile.ts`). The text that is generated has numbers, slot numbers and names of the table below, and nothing
 * of what a user wrote. Total: every operation has a value for every argument; what still overflows is caught by the caller, who keeps the previous value.
 */
import type { BinaryOperator, Expression, FunctionName } from './expression-parser.js';
import { inPulse, lagShare, moveTowards } from './formulas.js';
import type { Wires } from './params.js';
import type { RandomStream } from './random.js';

export interface StepContext {
  /** Plant seconds of this tick. */
  dt: number;
  /** Plant seconds since the module started. */
  t: number;
  /** Own value, before faults. */
  self: number;
  readonly random: RandomStream;
}

export type ExpressionStep = (context: StepContext) => number;

/** Numbers of state that one call of lag, ramp, integral or derivative has: whether it has begun, and its value. */
export const SITE_NUMBERS = 2;

/** A step of the state of a call; one that is not finite leaves the state alone. */
function settle(state: Float64Array, site: number, y: number): number {
  if (!Number.isFinite(y)) return state[site + 1] as number;
  state[site] = 1;
  state[site + 1] = y;
  return y;
}

/** What generated text may call. `S`: the state of all calls, `i`: where this one has its own. Arguments come in the order of the text. */
const HELPERS = {
  lag: (S: Float64Array, i: number, dt: number, x: number, tau: number): number =>
    settle(S, i, S[i] === 0 ? x : (S[i + 1] as number) + (x - (S[i + 1] as number)) * lagShare(dt, tau)),
  ramp: (S: Float64Array, i: number, dt: number, x: number, rate: number): number => settle(S, i, S[i] === 0 ? x : moveTowards(S[i + 1] as number, x, rate * dt)),
  integral: (S: Float64Array, i: number, dt: number, x: number, y0: number): number => settle(S, i, S[i] === 0 ? y0 : (S[i + 1] as number) + x * dt),
  derivative(S: Float64Array, i: number, dt: number, x: number): number {
    const slope = S[i] !== 0 && dt > 0 ? (x - (S[i + 1] as number)) / dt : 0;
    settle(S, i, x);
    return slope;
  },
  noise: (c: StepContext, amplitude: number): number => amplitude * c.random.uniform(),
  clamp: (x: number, low: number, high: number): number => Math.min(Math.max(x, low), high),
  root: (x: number): number => Math.sqrt(Math.max(x, 0)),
  logarithm: (x: number): number => (x > 0 ? Math.log(x) : -1e30),
  pulse: (t: number, period: number, duty: number): number => (inPulse(t, period, duty) ? 1 : 0),
  /** Both are reckoned before one is chosen, so that their states advance. */
  choose: (condition: number, yes: number, no: number): number => (condition !== 0 ? yes : no),
  quotient: (a: number, b: number): number => (b === 0 ? 0 : a / b),
  remainder: (a: number, b: number): number => (b === 0 ? 0 : a % b),
  limited: (x: number, low: number, high: number): number => (Number.isFinite(x) ? Math.min(Math.max(x, low), high) : x),
} as const;

const HELPER_NAMES = Object.keys(HELPERS);
const HELPER_FUNCTIONS = Object.values(HELPERS);

type Emit = (args: readonly string[], site: number) => string;

const OPERATORS: Readonly<Record<BinaryOperator, (a: string, b: string) => string>> = {
  '+': (a, b) => `(${a} + ${b})`,
  '-': (a, b) => `(${a} - ${b})`,
  '*': (a, b) => `(${a} * ${b})`,
  '/': (a, b) => `quotient(${a}, ${b})`,
  '%': (a, b) => `remainder(${a}, ${b})`,
  '^': (a, b) => `Math.pow(${a}, ${b})`,
  '<': (a, b) => `(${a} < ${b} ? 1 : 0)`,
  '>': (a, b) => `(${a} > ${b} ? 1 : 0)`,
  '<=': (a, b) => `(${a} <= ${b} ? 1 : 0)`,
  '>=': (a, b) => `(${a} >= ${b} ? 1 : 0)`,
  '=': (a, b) => `(${a} === ${b} ? 1 : 0)`,
  '<>': (a, b) => `(${a} !== ${b} ? 1 : 0)`,
};

const withState =
  (name: 'lag' | 'ramp' | 'integral' | 'derivative'): Emit =>
  (args, site) =>
    `${name}(S, ${SITE_NUMBERS * site}, dt, ${args.join(', ')}${name === 'integral' && args.length === 1 ? ', 0' : ''})`;
const call =
  (name: string): Emit =>
  (args) =>
    `${name}(${args.join(', ')})`;
const truth = (value: string): string => `(${value} !== 0)`;

const FUNCTIONS: Readonly<Record<FunctionName, Emit>> = {
  lag: withState('lag'),
  ramp: withState('ramp'),
  integral: withState('integral'),
  derivative: withState('derivative'),
  noise: (args) => `noise(c, ${args.join(', ')})`,
  clamp: call('clamp'),
  abs: call('Math.abs'),
  sqrt: call('root'),
  exp: call('Math.exp'),
  log: call('logarithm'),
  sin: call('Math.sin'),
  cos: call('Math.cos'),
  min: call('Math.min'),
  max: call('Math.max'),
  pulse: (args) => `pulse(t, ${args.join(', ')})`,
  if: call('choose'),
  // by bits: all of them are reckoned, so that their states advance
  and: (args) => `(${args.map(truth).join(' & ')})`,
  or: (args) => `(${args.map(truth).join(' | ')})`,
  not: (args) => `(${args.join('')} === 0 ? 1 : 0)`,
};

function emit(tree: Expression, slotOf: (reference: string) => number): string {
  switch (tree.kind) {
    case 'number':
      return String(tree.value);
    case 'variable':
      return tree.name;
    case 'reference':
      return `V[${slotOf(tree.reference)}]`;
    case 'unary':
      return `(-${emit(tree.of, slotOf)})`;
    case 'binary':
      return OPERATORS[tree.operator](emit(tree.left, slotOf), emit(tree.right, slotOf));
    case 'call':
      return FUNCTIONS[tree.name](
        tree.args.map((arg) => emit(arg, slotOf)),
        tree.site,
      );
  }
}

export interface Limits {
  readonly min: number;
  readonly max: number;
}

/** One function of a tree, over the values of the plant and the state of its calls, `SITE_NUMBERS` for each that has one. */
export function compileExpression(tree: Expression, { values, slotOf }: Wires, state: Float64Array, { min, max }: Limits): ExpressionStep {
  const text = emit(tree, slotOf);
  const body = `'use strict';\nreturn function expression(c) {\n  const t = c.t, dt = c.dt, self = c.self;\n  return limited(${text}, ${min}, ${max});\n};`;
  return new Function('V', 'S', ...HELPER_NAMES, body)(values, state, ...HELPER_FUNCTIONS) as ExpressionStep;
}
