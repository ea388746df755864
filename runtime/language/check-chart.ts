/**
 * All charts of a phase at once (decisions 2.8): structure, texts, names over all charts, and the rules that join an
 * action to the transitions behind it. Every message of one pass; the caller refuses when one is an error.
 */
import { inside } from '../vocabulary/assert.js';
import { type Chart, type ChartName, type ChartStep, EXCEPTION_CHARTS, type ExceptionChartName } from '../vocabulary/chart.js';
import type { DataType } from '../vocabulary/data-types.js';
import type { Diagnostic, Expression, Statement } from './ast.js';
import { builtin } from './builtins.js';
import { type ChartDiagnostic, chartFault, type ChartShape, checkStructure, exitsOf, type Place } from './chart-structure.js';
import { checkAction, checkCondition, isTrueLiteral } from './checker.js';
import { checkFormals, type FormalName } from './formals.js';
import { declareAssigned } from './infer.js';
import { deadChoices } from './dead-choices.js';
import { parseAction, parseCondition } from './parser.js';
import { lookUp, type NameFacts, stepMembers, type TagTable, type TextScope } from './scope.js';
import { parseDuration } from './time-text.js';
import { undoneWrites } from './undone-writes.js';
import { callsIn, expressionsIn, ownExpressions, statementsIn } from './walk.js';

export type { ChartDiagnostic } from './chart-structure.js';

/** The fields of a phase or phase template that the rules look at (decisions 1.7). */
export interface PhaseText extends Chart {
  readonly roles?: readonly { readonly name: string; readonly requiredType: string; readonly required?: boolean }[];
  readonly parameters?: readonly FormalName[];
  readonly outputs?: readonly FormalName[];
  readonly variables?: readonly FormalName[];
  readonly materials?: readonly { readonly material: string; readonly lot?: string; readonly quantity: string }[];
  readonly charts?: Readonly<Partial<Record<ExceptionChartName, Chart | undefined>>>;
  readonly restartStep?: string;
  readonly edgeLocalHold?: boolean;
}

export interface PhaseEnvironment {
  /** Tags of the control-module template with this moduleType; undefined when none or several have it. */
  tagsOfType(moduleType: string): TagTable | undefined;
  /** Tags of the control module that the unit binds to a role; undefined when the unit is not known or binds none. */
  tagsOfRole?(role: string): TagTable | undefined;
  /** Tags of a control module of the unit the phase runs on; undefined when the unit or the module is not known. */
  tagsOfModule?(module: string): TagTable | undefined;
}

interface ReadStep {
  readonly step: ChartStep;
  readonly statements: readonly Statement[];
  readonly diagnostics: readonly Diagnostic[];
}

interface ReadCondition {
  readonly expression: Expression | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** One chart with its texts parsed. */
interface ReadChart {
  readonly name: ChartName;
  readonly shape: ChartShape;
  readonly steps: readonly ReadStep[];
  readonly conditions: readonly ReadCondition[];
  readonly member: TextScope['member'];
}

const ACTION_MODES: readonly string[] = ['once', 'cyclic'];
const TIMEOUT_ACTIONS: readonly string[] = ['Hold', 'Stop', 'Abort', 'Alarm'];

export function checkPhaseCharts(spec: PhaseText, environment: PhaseEnvironment): ChartDiagnostic[] {
  const charts = readCharts(spec);
  const { names, diagnostics } = declareNames(spec);
  declareAssigned(
    names,
    charts.flatMap(({ steps, member }) => steps.map(({ statements }) => ({ statements, member }))),
  );
  const tag = tagFinder(spec, environment);
  return [
    ...diagnostics,
    ...checkReferences(spec, names),
    ...charts.flatMap((chart) => checkOne(chart, { names, tag, member: chart.member, chart: chart.name, edgeLocalHold: spec.edgeLocalHold ?? true })),
    ...unusedVariables(charts, names, spec),
    ...deadChoices(spec).map(({ chart, step, message }) => chartFault('choice-leads-nowhere', message, { chart, step }, 'warning')),
    ...undoneWrites(spec).map(({ step, message }) => chartFault('write-not-repeated', message, { chart: 'running', step }, 'warning')),
  ];
}

// ---------------------------------------------------------------- reading

function readCharts(spec: PhaseText): ReadChart[] {
  const exceptions = EXCEPTION_CHARTS.flatMap((name) => {
    const chart = spec.charts?.[name];
    return chart ? [readChart(name, chart)] : [];
  });
  return [readChart('running', spec), ...exceptions];
}

function readChart(name: ChartName, { steps = [], transitions = [], divergences = [] }: Chart): ReadChart {
  return {
    name,
    shape: { steps, transitions, divergences },
    steps: steps.map((step) => ({ step, ...parseAction(step.actionST ?? '') })),
    conditions: transitions.map(({ conditionST }) => parseCondition(conditionST ?? '')),
    member: stepMembers(steps.map((step) => step.name)),
  };
}

/** Parameters, outputs and variables share one space of names (decisions 1.7). */
function declareNames(spec: PhaseText): { names: Map<string, NameFacts>; diagnostics: ChartDiagnostic[] } {
  const names = new Map<string, NameFacts>();
  const groups = [
    { list: spec.parameters ?? [], kind: 'parameter' },
    { list: spec.outputs ?? [], kind: 'output' },
    { list: spec.variables ?? [], kind: 'variable' },
  ] as const;
  const diagnostics = groups.flatMap(({ list, kind }) => checkFormals(list, kind, names));
  return { names, diagnostics };
}

/** Roles first, then modules of the unit (decisions 2.3). */
function tagFinder(spec: PhaseText, environment: PhaseEnvironment): TextScope['tag'] {
  const roles = new Map((spec.roles ?? []).map((role) => [role.name.toLowerCase(), role.requiredType]));
  return (address) =>
    lookUp(address, (owner) => {
      const type = roles.get(owner.toLowerCase());
      return type === undefined ? environment.tagsOfModule?.(owner) : (environment.tagsOfRole?.(owner) ?? environment.tagsOfType(type));
    });
}

// ---------------------------------------------------------------- the phase around its charts

function checkReferences(spec: PhaseText, names: ReadonlyMap<string, NameFacts>): ChartDiagnostic[] {
  const found: ChartDiagnostic[] = [];
  const roles = new Set<string>();
  for (const { name } of spec.roles ?? []) {
    if (roles.has(name.toLowerCase())) found.push(chartFault('duplicate-name', `role ${name} is declared twice`));
    roles.add(name.toLowerCase());
  }
  const restart = spec.restartStep ?? '';
  if (restart !== '' && !(spec.steps ?? []).some(({ name }) => name === restart)) found.push(chartFault('unknown-step', `restartStep ${restart} is no step of the running chart`));
  const expect = (name: string, kind: NameFacts['kind'], type: DataType, field: string): void => {
    const facts = names.get(name.toLowerCase());
    if (facts?.kind !== kind || facts.type !== type) found.push(chartFault('binding', `${field} of a material names ${name}, which is no ${kind} of type ${type}`));
  };
  for (const { material, lot = '', quantity } of spec.materials ?? []) {
    expect(material, 'parameter', 'STRING', 'material');
    if (lot !== '') expect(lot, 'parameter', 'STRING', 'lot');
    expect(quantity, 'output', 'REAL', 'quantity');
  }
  return found;
}

/** A variable that no text reads; outputs are read by the record. */
function unusedVariables(charts: readonly ReadChart[], names: ReadonlyMap<string, NameFacts>, spec: PhaseText): ChartDiagnostic[] {
  if (charts.some((chart) => [...chart.steps, ...chart.conditions].some(({ diagnostics }) => diagnostics.length > 0))) return [];
  const read = new Set<string>();
  const note = (expression: Expression): void => {
    for (const part of expressionsIn(expression)) if (part.kind === 'name') read.add(part.name.toLowerCase());
  };
  for (const { steps, conditions } of charts) {
    for (const { statements } of steps) for (const statement of statementsIn(statements)) ownExpressions(statement).forEach(note);
    for (const { expression } of conditions) if (expression) note(expression);
  }
  const counters = new Set(
    charts.flatMap(({ steps }) => steps.flatMap(({ statements }) => [...statementsIn(statements)].flatMap((s) => (s.kind === 'for' ? [s.variable.toLowerCase()] : [])))),
  );
  const declared = new Set((spec.variables ?? []).map(({ name }) => name.toLowerCase()));
  return [...names].flatMap(([key, { name, kind }]) => {
    if (kind !== 'variable' || read.has(key) || counters.has(key)) return [];
    return [chartFault('unused-variable', `${declared.has(key) ? 'variable' : 'the variable'} ${name} is never read`, {}, 'warning')];
  });
}

// ---------------------------------------------------------------- one chart

function checkOne(chart: ReadChart, scope: TextScope): ChartDiagnostic[] {
  const at =
    (place: Place) =>
    (diagnostic: Diagnostic): ChartDiagnostic => ({ ...diagnostic, ...place, chart: chart.name });
  return [
    ...checkStructure(chart.shape, false).map((diagnostic) => ({ ...diagnostic, chart: chart.name })),
    ...chart.steps.flatMap((read) => checkStep(read, scope).map(at({ step: read.step.name }))),
    ...chart.conditions.flatMap((read, transition) => checkTransition(read, chart, transition, scope).map(at({ transition }))),
    ...chart.steps.flatMap((read) => checkPromptTested(chart, read)),
  ];
}

/** A time-out that is there and readable. */
function hasTimeout(step: ChartStep | undefined): boolean {
  return (parseDuration((step?.timeout ?? '').trim()) ?? 0) > 0;
}

function checkStep({ step, statements, diagnostics }: ReadStep, scope: TextScope): Diagnostic[] {
  const found: Diagnostic[] = [...diagnostics];
  const { actionMode = 'once', onTimeout = 'Hold', timeout = '' } = step;
  if (!ACTION_MODES.includes(actionMode)) found.push(chartFault('enum', `actionMode ${actionMode} is none of ${ACTION_MODES.join(', ')}`));
  if (!TIMEOUT_ACTIONS.includes(onTimeout)) found.push(chartFault('enum', `onTimeout ${onTimeout} is none of ${TIMEOUT_ACTIONS.join(', ')}`));
  if (timeout.trim() !== '' && !hasTimeout(step)) found.push(chartFault('parse', `timeout ${timeout} is no duration above zero; write for example 30s or 10m`));
  if (step.secondSigner === true && capturedAnswers(statements).length === 0)
    found.push(chartFault('second-signer', 'secondSigner is for a step that asks people something, and this one asks nothing'));
  return [...found, ...checkAction(statements, { ...scope, cyclic: actionMode === 'cyclic', timeout: hasTimeout(step) })];
}

const PER_TRANSITION = 'a chart has one condition per transition, in their order';

function checkTransition({ expression, diagnostics }: ReadCondition, chart: ReadChart, index: number, scope: TextScope): Diagnostic[] {
  if (expression === null) return [...diagnostics];
  const { from } = inside(chart.shape.transitions, index, PER_TRANSITION);
  const step = chart.steps.find((read) => read.step.name === from)?.step;
  return [...diagnostics, ...checkCondition(expression, { ...scope, timeout: hasTimeout(step) })];
}

/** Contract 3, Structured-text language: the outgoing transition of a step with a prompt must test the captured answer. */
function checkPromptTested(chart: ReadChart, { step, statements }: ReadStep): ChartDiagnostic[] {
  const captured = capturedAnswers(statements);
  if (captured.length === 0) return [];
  return exitsOf(chart.shape, step.name).flatMap(({ index }) => {
    const { expression, diagnostics } = inside(chart.conditions, index, PER_TRANSITION);
    if (expression === null && diagnostics.length > 0) return [];
    return captured
      .filter((name) => expression === null || isTrueLiteral(expression) || !namesVariable(expression, name))
      .map((name) =>
        chartFault('prompt-not-tested', `this transition leaves step ${step.name} and must test its answer ${name}`, { chart: chart.name, step: step.name, transition: index }),
      );
  });
}

/** Variables that take the answer of a prompting builtin, each once. */
function capturedAnswers(statements: readonly Statement[]): string[] {
  const captured = new Map<string, string>();
  for (const statement of statementsIn(statements)) {
    if (statement.kind !== 'assign') continue;
    const prompts = [...callsIn(statement.value)].some(({ callee }) => builtin(callee)?.prompting);
    if (prompts) captured.set(statement.target.toLowerCase(), statement.target);
  }
  return [...captured.values()];
}

function namesVariable(expression: Expression, name: string): boolean {
  return [...expressionsIn(expression)].some((part) => part.kind === 'name' && part.name.toLowerCase() === name.toLowerCase());
}
