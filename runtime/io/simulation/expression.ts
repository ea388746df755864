/**
 * Execution of simulation expressions (decisions 6.4): the syntax tree becomes nested closures, bound once to the
 * channels they read. Total: every operation has a value for every argument; what still overflows is caught by the
 * caller, who keeps the previous value.
 */
import { assert, inside } from '../../vocabulary/assert.js';
import type { Source } from './params.js';
import type { BinaryOperator, Expression, FunctionName } from './expression-parser.js';
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

/** State of one call of lag, ramp, integral or derivative. */
export interface CallSite {
  started: boolean;
  y: number;
}

type Node = (context: StepContext) => number;

const truth = (value: number): boolean => value !== 0;
const bit = (value: boolean): number => (value ? 1 : 0);

const OPERATORS: Readonly<Record<BinaryOperator, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => (b === 0 ? 0 : a / b),
  '%': (a, b) => (b === 0 ? 0 : a % b),
  '^': (a, b) => a ** b,
  '<': (a, b) => bit(a < b),
  '>': (a, b) => bit(a > b),
  '<=': (a, b) => bit(a <= b),
  '>=': (a, b) => bit(a >= b),
  '=': (a, b) => bit(a === b),
  '<>': (a, b) => bit(a !== b),
};

/** A step of the call-site state; a step that is not finite leaves the state alone. */
function advance(site: CallSite, first: number, next: (y: number) => number): number {
  const y = site.started ? next(site.y) : first;
  if (!Number.isFinite(y)) return site.y;
  site.started = true;
  site.y = y;
  return y;
}

/** First-order share of the way covered in `dt`; a time constant of zero covers all of it. */
export function lagShare(dt: number, tau: number): number {
  return tau > 0 ? 1 - Math.exp(-dt / tau) : 1;
}

/** `from` moved towards `to` by at most `step`. */
export function moveTowards(from: number, to: number, step: number): number {
  const most = Math.abs(step);
  return Math.abs(to - from) <= most ? to : from + Math.sign(to - from) * most;
}

/** Remainder that is never negative, so that periods also repeat before zero. */
export function modulo(value: number, period: number): number {
  return period > 0 ? value - Math.floor(value / period) * period : 0;
}

/** True in the first `share` of every period; a nanosecond of rounding never decides an edge. */
export function inPulse(t: number, period: number, share: number): boolean {
  if (period <= 0) return false;
  const within = modulo(t + 1e-9, period);
  return within - 1e-9 < share * period - 1e-9;
}

type Implementation = (args: readonly Node[], site: CallSite) => Node;

const ARITY = 'the parser has counted the arguments of every call';
const one =
  (make: (x: Node, site: CallSite) => Node): Implementation =>
  (args, site) =>
    make(inside(args, 0, ARITY), site);
const two =
  (make: (x: Node, y: Node, site: CallSite) => Node): Implementation =>
  (args, site) =>
    make(inside(args, 0, ARITY), inside(args, 1, ARITY), site);
const three =
  (make: (x: Node, y: Node, z: Node) => Node): Implementation =>
  (args) =>
    make(inside(args, 0, ARITY), inside(args, 1, ARITY), inside(args, 2, ARITY));

const FUNCTIONS: Readonly<Record<FunctionName, Implementation>> = {
  lag: two((x, tau, site) => (c) => {
    const input = x(c);
    const share = lagShare(c.dt, tau(c));
    return advance(site, input, (y) => y + (input - y) * share);
  }),
  ramp: two((x, rate, site) => (c) => {
    const input = x(c);
    const step = rate(c) * c.dt;
    return advance(site, input, (y) => moveTowards(y, input, step));
  }),
  integral: ([x, y0], site) => {
    assert(x, ARITY);
    return (c) => {
      const input = x(c);
      return advance(site, y0 ? y0(c) : 0, (y) => y + input * c.dt);
    };
  },
  derivative: one((x, site) => (c) => {
    const input = x(c);
    const slope = site.started && c.dt > 0 ? (input - site.y) / c.dt : 0;
    advance(site, input, () => input);
    return slope;
  }),
  noise: one((amplitude) => (c) => amplitude(c) * c.random.uniform()),
  clamp: three((x, low, high) => (c) => Math.min(Math.max(x(c), low(c)), high(c))),
  abs: one((x) => (c) => Math.abs(x(c))),
  sqrt: one((x) => (c) => Math.sqrt(Math.max(x(c), 0))),
  exp: one((x) => (c) => Math.exp(x(c))),
  log: one((x) => (c) => {
    const value = x(c);
    return value > 0 ? Math.log(value) : -1e30;
  }),
  sin: one((x) => (c) => Math.sin(x(c))),
  cos: one((x) => (c) => Math.cos(x(c))),
  min: (args) => (c) => args.reduce((least, arg) => Math.min(least, arg(c)), Number.POSITIVE_INFINITY),
  max: (args) => (c) => args.reduce((most, arg) => Math.max(most, arg(c)), Number.NEGATIVE_INFINITY),
  pulse: two((period, duty) => (c) => bit(inPulse(c.t, period(c), duty(c)))),
  if: three((condition, yes, no) => (c) => {
    const chosen = truth(condition(c));
    const a = yes(c);
    const b = no(c);
    return chosen ? a : b;
  }),
  and: (args) => (c) => args.reduce((all, arg) => bit(truth(arg(c)) && truth(all)), 1),
  or: (args) => (c) => args.reduce((any, arg) => bit(truth(arg(c)) || truth(any)), 0),
  not: one((x) => (c) => bit(!truth(x(c)))),
};

/** Binds a tree to its channels and call sites; `sites` has one entry per stateful call. */
export function bindExpression(tree: Expression, resolve: (reference: string) => Source, sites: readonly CallSite[]): Node {
  switch (tree.kind) {
    case 'number':
      return () => tree.value;
    case 'variable':
      return tree.name === 'self' ? (c) => c.self : tree.name === 'dt' ? (c) => c.dt : (c) => c.t;
    case 'reference':
      return resolve(tree.reference);
    case 'unary': {
      const of = bindExpression(tree.of, resolve, sites);
      return (c) => -of(c);
    }
    case 'binary': {
      const left = bindExpression(tree.left, resolve, sites);
      const right = bindExpression(tree.right, resolve, sites);
      const operate = OPERATORS[tree.operator];
      return (c) => operate(left(c), right(c));
    }
    case 'call': {
      const args = tree.args.map((arg) => bindExpression(arg, resolve, sites));
      return FUNCTIONS[tree.name](args, sites[tree.site] ?? { started: false, y: 0 });
    }
  }
}
