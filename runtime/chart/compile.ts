/**
 * A phase's charts as executable data: steps and transitions by index, texts as functions. All functions of a phase come
 * out of one generated source, built from syntax trees (see emit-expression.ts); user text enters it only as checked
 * numbers, everything else through the constant pool.
 */
import { inside } from '../vocabulary/assert.js';
import type { BinaryExpression, Expression, Statement } from '../language/ast.js';
import { isComparison, operandsOf } from '../language/operands.js';
import { parseAction, parseCondition } from '../language/parser.js';
import { printExpression } from '../language/print.js';
import { parseDuration } from '../language/time-text.js';
import { callToWaitFor, waitsIn } from '../language/walk.js';
import type { PhasePlan, RuntimeSettings } from '../port.js';
import { type Chart, type ChartName, type ChartStep, EXCEPTION_CHARTS, transitionKey } from '../vocabulary/chart.js';
import { ActionEmitter } from './emit-action.js';
import { CompileError, ExpressionEmitter, Pool, type Scope, type Site } from './emit-expression.js';
import { ActionVersions } from './action-versions.js';
import type { ActionFunction, ConditionFunction, OperandFunction } from './functions.js';
import { hasEffect, Layout, statementSuspends, type StType, type Variable } from './layout.js';
import { HELPERS } from './value.js';

export interface CompiledAction {
  readonly run: ActionFunction;
  readonly versions: ActionVersions;
  readonly sites: readonly Site[];
  readonly temporaryTypes: readonly StType[];
  readonly hasEffect: boolean;
  readonly suspends: boolean;
}

export interface CompiledStep {
  readonly name: string;
  readonly action: CompiledAction | null;
  readonly cyclic: boolean;
  readonly timeoutMs: number;
  readonly onTimeout: 'Hold' | 'Stop' | 'Abort' | 'Alarm';
  readonly pauseAllowed: boolean;
  readonly rerunOnRestart: boolean;
  /** Variables that are unset when the step is activated (decisions D-ST-03). */
  readonly unsets: readonly number[];
  /** A transition leaves the step, alone or through a converge. */
  readonly hasExit: boolean;
  /** Converge without outgoing transition: the chart ends when all its branches are finished (decisions 2.1). */
  readonly endGroup: readonly number[] | null;
}

/** One operand of a condition, for `subConditions`. */
export interface SubCondition {
  readonly text: string;
  readonly test: ConditionFunction;
  /** Both sides of a comparison, for `now`. */
  readonly sides: { readonly left: OperandFunction; readonly right: OperandFunction; readonly operator: string } | null;
}

export interface CompiledTransition {
  readonly index: number;
  readonly key: string;
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly sources: readonly number[];
  readonly targets: readonly number[];
  /** Leaves a SimultaneousConverge: all sources must be finished. */
  readonly converge: boolean;
  /** Null: true once every source has finished. */
  readonly condition: ConditionFunction | null;
  readonly sites: readonly Site[];
  readonly operands: readonly SubCondition[];
}

export interface CompiledChart {
  readonly name: ChartName;
  readonly hash: string;
  readonly steps: readonly CompiledStep[];
  readonly transitions: readonly CompiledTransition[];
  readonly initial: readonly number[];
}

export interface CompiledPhase {
  readonly charts: ReadonlyMap<ChartName, CompiledChart>;
  readonly variables: readonly Variable[];
  readonly addresses: readonly string[];
  /** In the order of `plan.signals`; null for a signal that is raised at Complete. */
  readonly signals: readonly (ConditionFunction | null)[];
}

export type PhaseText = Pick<PhasePlan, 'running' | 'charts' | 'parameters' | 'outputs' | 'variables' | 'signals'>;

/** @throws CompileError naming the first text that cannot be compiled; the gateway's checker lists them all. */
export function compilePhase(text: PhaseText, settings: Pick<RuntimeSettings, 'loopLimit'>): CompiledPhase {
  return new PhaseCompiler(text, settings.loopLimit).compile();
}

/** Key of everything that the compiled form depends on. */
export function phaseKey(text: PhaseText, settings: Pick<RuntimeSettings, 'loopLimit'>): string {
  const names = (list: readonly { readonly name: string; readonly type: string }[]) => list.map((entry) => [entry.name, entry.type]);
  return JSON.stringify([text.running, text.charts, names(text.parameters), names(text.outputs), names(text.variables), text.signals, settings.loopLimit]);
}

type Draft<T> = { -readonly [K in keyof T]: T[K] };

/** The action of one step, and the variables that it leaves unset until a call has answered. */
interface ReadAction {
  readonly statements: readonly Statement[];
  readonly unsets: readonly number[];
}

const OF_CHART = 'an index of a transition is one of its chart';

class PhaseCompiler {
  readonly #text: PhaseText;
  readonly #loopLimit: number;
  readonly #layout = new Layout();
  readonly #pool = new Pool();
  readonly #sources: string[] = [];
  /** Called with the generated functions once they exist. */
  readonly #links: ((functions: readonly unknown[]) => void)[] = [];

  constructor(text: PhaseText, loopLimit: number) {
    this.#text = text;
    this.#loopLimit = loopLimit;
  }

  compile(): CompiledPhase {
    const { parameters, outputs, variables, signals } = this.#text;
    for (const entry of parameters) this.#layout.declare(entry.name, entry.type, 'parameter');
    for (const entry of outputs) this.#layout.declare(entry.name, entry.type, 'output');
    for (const entry of variables) this.#layout.declare(entry.name, entry.type, 'variable');
    const parsed = this.#charts().map(([name, chart]) => ({ name, chart, actions: parseActions(name, chart) }));
    for (const { actions } of parsed) for (const statements of actions) this.#layout.declareImplicit(statements);
    // all charts first: what they receive is declared before any of them is compiled
    const received = parsed.map(({ name, chart, actions }) => ({
      name,
      chart,
      actions: actions.map((statements) => ({ statements, unsets: this.#layout.receivers(statements) })),
    }));
    const charts = new Map<ChartName, CompiledChart>();
    for (const { name, chart, actions } of received) charts.set(name, this.#chart(name, chart, actions));
    const running = stepIndexes(this.#text.running);
    const conditions = signals.map((signal) => (signal.condition.trim() === '' ? null : this.#signal(signal.name, signal.condition, running)));
    this.#link();
    return { charts, variables: this.#layout.variables, addresses: this.#pool.addresses, signals: conditions.map((entry) => entry?.test ?? null) };
  }

  #charts(): (readonly [ChartName, Chart])[] {
    const exceptions = EXCEPTION_CHARTS.flatMap((name) => {
      const chart = this.#text.charts[name];
      return chart ? [[name, chart] as const] : [];
    });
    return [['running', this.#text.running], ...exceptions];
  }

  #chart(name: ChartName, chart: Chart, actions: readonly ReadAction[]): CompiledChart {
    const shape = new ChartShape(name, chart);
    const scope: Scope = { layout: this.#layout, pool: this.#pool, steps: stepIndexes(chart) };
    const transitions = (chart.transitions ?? []).map((_, index) => this.#transition(shape, scope, index));
    const steps = (chart.steps ?? []).map((step, index) => {
      const exits = transitions.some((transition) => transition.sources.includes(index));
      const { statements, unsets } = inside(actions, index, 'a chart has one action per step, in their order');
      return this.#step(name, step, scope, statements, { unsets, hasExit: exits, endGroup: exits ? null : shape.endGroup(step.name) });
    });
    return { name, hash: hashText(JSON.stringify([chart, this.#text.variables.map((entry) => [entry.name, entry.type])])), steps, transitions, initial: shape.initial() };
  }

  #step(chart: ChartName, step: ChartStep, scope: Scope, statements: readonly Statement[], links: Pick<CompiledStep, 'unsets' | 'hasExit' | 'endGroup'>): CompiledStep {
    const timeoutMs = step.timeout ? parseDuration(step.timeout) : 0;
    if (timeoutMs === null) throw new CompileError(`${chart}, step ${step.name}: the timeout ${step.timeout} is no duration`);
    const cyclic = step.actionMode === 'cyclic';
    if (cyclic && statements.some(statementSuspends)) throw new CompileError(`${chart}, step ${step.name}: prompt-cyclic`);
    return {
      name: step.name,
      action: statements.length === 0 ? null : located(`${chart}, step ${step.name}`, () => this.#action(scope, statements, step.actionST ?? '')),
      cyclic,
      timeoutMs,
      onTimeout: step.onTimeout ?? 'Hold',
      pauseAllowed: step.pauseAllowed ?? true,
      rerunOnRestart: step.rerunOnRestart ?? false,
      ...links,
    };
  }

  /** The wide version is made from the text again, so that no syntax tree is kept for the few actions that need it. */
  #action(scope: Scope, statements: readonly Statement[], text: string): CompiledAction {
    const emitter = new ActionEmitter(scope);
    const source = emitter.compile(statements);
    const wide = () => this.#functions([new ActionEmitter(scope, true).compile(parseAction(text).statements)])[0] as ActionFunction;
    const versions = new ActionVersions(source.length, wide);
    this.#function(source, (made) => versions.link(made as ActionFunction));
    return {
      run: versions.run,
      versions,
      sites: emitter.sites,
      temporaryTypes: emitter.temporaryTypes,
      hasEffect: hasEffect(statements),
      suspends: statements.some(statementSuspends),
    };
  }

  #transition(shape: ChartShape, scope: Scope, index: number): CompiledTransition {
    const row = inside(shape.transitions, index, OF_CHART);
    const text = row.conditionST?.trim() ?? '';
    const sites: Site[] = [];
    const where = `${shape.name}, transition ${index}`;
    const tree = text === '' ? null : parsedCondition(where, text);
    const compiled = tree ? located(where, () => this.#condition(scope, tree, sites)) : null;
    const transition: Draft<CompiledTransition> = {
      index,
      key: transitionKey(row, index),
      from: row.from,
      to: row.to,
      text: row.conditionST ?? '',
      ...shape.ends(index),
      condition: null,
      sites,
      operands: compiled?.operands ?? [],
    };
    if (compiled) this.#links.push(() => (transition.condition = compiled.whole.test));
    return transition;
  }

  #condition(scope: Scope, tree: Expression, sites: Site[]): { readonly whole: { test: ConditionFunction }; readonly operands: readonly SubCondition[] } {
    const shared = new Map();
    const emit = () => new ExpressionEmitter(scope, true, sites, shared);
    const whole = this.#test(emit(), tree);
    const parts = operandsOf(tree);
    const operands = parts.map((part) => {
      const sub: Draft<SubCondition> = { text: printExpression(part), test: pending, sides: isComparison(part) ? this.#sides(emit, part) : null };
      const test = parts.length === 1 ? whole : this.#test(emit(), part);
      this.#links.push(() => (sub.test = test.test));
      return sub;
    });
    return { whole, operands };
  }

  #test(emitter: ExpressionEmitter, tree: Expression): { test: ConditionFunction } {
    const holder: { test: ConditionFunction } = { test: pending };
    const code = emitter.coerce(emitter.expression(tree), 'BOOL', tree.at.line);
    this.#function(conditionSource(emitter, code), (made) => {
      holder.test = made as ConditionFunction;
    });
    return holder;
  }

  #sides(emit: () => ExpressionEmitter, node: BinaryExpression): SubCondition['sides'] {
    const sides: Draft<NonNullable<SubCondition['sides']>> = { left: pending, right: pending, operator: node.operator };
    for (const side of ['left', 'right'] as const) {
      const emitter = emit();
      const code = emitter.boxed(emitter.expression(node[side]), node.at.line);
      this.#function(conditionSource(emitter, code), (made) => {
        sides[side] = made as OperandFunction;
      });
    }
    return sides;
  }

  /** It is tested in every scan, for no step in particular: nothing keeps an answer for it. */
  #signal(name: string, condition: string, steps: ReadonlyMap<string, number>): { test: ConditionFunction } {
    const where = `signal ${name}`;
    const tree = parsedCondition(where, condition);
    const waiting = callToWaitFor(tree);
    if (waiting) throw new CompileError(`${where}: ${waitsIn(waiting)}`);
    return located(where, () => this.#test(new ExpressionEmitter({ layout: this.#layout, pool: this.#pool, steps }, true), tree));
  }

  #function(source: string, use: (made: unknown) => void): void {
    const index = this.#sources.push(source) - 1;
    this.#links.push((functions) => use(functions[index]));
  }

  /** Order matters: a function exists before the holders that copy it are filled. */
  #link(): void {
    const functions = this.#functions(this.#sources);
    for (const link of this.#links) link(functions);
    this.#sources.length = 0;
    this.#links.length = 0;
  }

  #functions(sources: readonly string[]): readonly unknown[] {
    const constants = this.#pool.constants.map((_, index) => `const k${index}=K[${index}];`).join('');
    const source = `"use strict";const {${Object.keys(HELPERS).join(',')}}=H;${constants}\nreturn [\n${sources.join(',\n')}\n];`;
    return new Function('H', 'K', 'loopMax', source)(HELPERS, this.#pool.constants, this.#loopLimit) as readonly unknown[];
  }
}

function pending(): never {
  throw new Error('a compiled text is used before its phase is linked');
}

function conditionSource(emitter: ExpressionEmitter, code: string): string {
  const scratch = Array.from({ length: emitter.scratchCount }, (_, index) => `x${index + 1}`);
  return `function(F,V){${scratch.length > 0 ? `let ${scratch.join(',')};` : ''}return ${code};}`;
}

function located<T>(where: string, work: () => T): T {
  try {
    return work();
  } catch (fault) {
    if (fault instanceof CompileError) throw new CompileError(`${where}: ${fault.message}`);
    throw fault;
  }
}

function parseActions(chart: ChartName, source: Chart): (readonly Statement[])[] {
  return (source.steps ?? []).map((step) => {
    const { statements, diagnostics } = parseAction(step.actionST ?? '');
    const fault = diagnostics.find((entry) => entry.severity === 'error');
    if (fault) throw new CompileError(`${chart}, step ${step.name}, line ${fault.line}: ${fault.message}`);
    return statements;
  });
}

function parsedCondition(where: string, text: string): Expression {
  const { expression, diagnostics } = parseCondition(text);
  const fault = diagnostics.find((entry) => entry.severity === 'error');
  if (fault || !expression) throw new CompileError(`${where}: ${fault?.message ?? 'no condition'}`);
  return expression;
}

function stepIndexes(chart: Chart): ReadonlyMap<string, number> {
  return new Map((chart.steps ?? []).map((step, index) => [step.name.toLowerCase(), index]));
}

/** Steps, transitions and divergences by index (decisions 2.1). */
class ChartShape {
  readonly name: ChartName;
  readonly transitions: NonNullable<Chart['transitions']>;
  readonly #chart: Chart;
  readonly #steps: ReadonlyMap<string, number>;

  constructor(name: ChartName, chart: Chart) {
    this.name = name;
    this.#chart = chart;
    this.transitions = chart.transitions ?? [];
    this.#steps = stepIndexes(chart);
  }

  ends(index: number): Pick<CompiledTransition, 'sources' | 'targets' | 'converge'> {
    const { from, to } = inside(this.transitions, index, OF_CHART);
    const converge = this.#divergence(from)?.type === 'SimultaneousConverge';
    return { sources: this.#expand(from, index), targets: this.#expand(to, index), converge };
  }

  /** The marked step, else an entry SimultaneousDiverge, else the first step of a chart without transitions. */
  initial(): readonly number[] {
    const steps = this.#chart.steps ?? [];
    if (steps.length === 0) return [];
    const marked = steps.findIndex((step) => step.initial);
    if (marked >= 0) return [marked];
    const entry = (this.#chart.divergences ?? []).find((row) => row.type === 'SimultaneousDiverge' && !this.transitions.some((transition) => transition.to === row.name));
    if (entry) return this.#expand(entry.name, -1);
    if (this.transitions.length === 0) return [0];
    throw new CompileError(`${this.name}: no-initial`);
  }

  endGroup(name: string): readonly number[] | null {
    const group = (this.#chart.divergences ?? []).find(
      (row) => row.type === 'SimultaneousConverge' && row.branches?.includes(name) && !this.transitions.some((transition) => transition.from === row.name),
    );
    return group ? this.#expand(group.name, -1) : null;
  }

  #divergence(name: string) {
    return (this.#chart.divergences ?? []).find((row) => row.name === name);
  }

  /** Steps that a name of a transition stands for; simultaneous branches may name further divergences. */
  #expand(name: string, transition: number, depth = 0): number[] {
    const step = this.#steps.get(name.toLowerCase());
    if (step !== undefined) return [step];
    const divergence = this.#divergence(name);
    const where = transition < 0 ? this.name : `${this.name}, transition ${transition}`;
    if (!divergence || depth > 32) throw new CompileError(`${where}: unknown-step: ${name}`);
    if (divergence.type === 'SelectionDiverge') return this.#expand(divergence.from ?? '', transition, depth + 1);
    if (divergence.type === 'SelectionConverge') return this.#expand(divergence.to ?? '', transition, depth + 1);
    return (divergence.branches ?? []).flatMap((branch) => this.#expand(branch, transition, depth + 1));
  }
}

/** 106-bit content hash (two runs of cyrb53, public domain): tells an edited chart from the one that was running. */
export function hashText(text: string): string {
  return [0, 0x5bd1e995].map((seed) => cyrb53(text, seed).toString(16).padStart(14, '0')).join('');
}

function cyrb53(text: string, seed: number): number {
  let a = 0xdeadbeef ^ seed;
  let b = 0x41c6ce57 ^ seed;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return 4294967296 * (2097151 & b) + (a >>> 0);
}
