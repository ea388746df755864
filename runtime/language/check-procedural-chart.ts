/**
 * Charts of operations, unit procedures, procedures and recipes (decisions 2.2, 2.8): structure, levels, parameter
 * bindings and conditions, down through sub-charts.
 */
import type { ProceduralChart, ProceduralStep, StepLevel, TemplateKind } from '../vocabulary/chart.js';
import { type ChartDiagnostic, chartFault, checkStructure, type Place } from './chart-structure.js';
import { checkCondition } from './checker.js';
import type { FormalName } from './formals.js';
import { parseCondition } from './parser.js';
import { lookUp, type NameFacts, type TextScope } from './scope.js';
import { isAssignable, type StType } from './types.js';
import { parseValueText } from './value-text.js';

/** Whose chart it is. A recipe chart is that of a procedure, or one step that stands for a ProcedureTemplate. */
export type ChartLevel = 'Recipe' | 'Procedure' | 'UnitProcedure' | 'Operation';

export interface TemplateFacts {
  readonly parameters: readonly FormalName[];
  readonly outputs: readonly FormalName[];
  /** Role names, on phase templates. */
  readonly roles?: readonly string[];
}

/** A name of the enclosing element; formula parameters are texts, so their type is ANY. */
export interface EnclosingName {
  readonly name: string;
  readonly type: StType;
}

export interface ProceduralEnvironment {
  /** Parameters of the enclosing element. */
  readonly parameters: readonly EnclosingName[];
  /** Outputs of the enclosing element with their source `<step>.<output>`. */
  readonly outputs?: readonly { readonly name: string; readonly type: StType; readonly from?: string | undefined }[] | undefined;
  /** Null: there is no such template. Undefined: nothing is known about it and it is not checked. */
  template(kind: TemplateKind, name: string): TemplateFacts | null | undefined;
}

const CHILD_LEVEL: Readonly<Record<ChartLevel, StepLevel>> = { Recipe: 'UnitProcedure', Procedure: 'UnitProcedure', UnitProcedure: 'Operation', Operation: 'Phase' };
const LEVEL_TEMPLATE: Readonly<Record<StepLevel, TemplateKind>> = { UnitProcedure: 'UnitProcedureTemplate', Operation: 'OperationTemplate', Phase: 'PhaseTemplate' };

export function checkProceduralChart(chart: ProceduralChart, level: ChartLevel, environment: ProceduralEnvironment): ChartDiagnostic[] {
  return new ChartCheck(chart, level, environment, '', '').run();
}

class ChartCheck {
  readonly #chart: ProceduralChart;
  readonly #level: ChartLevel;
  readonly #environment: ProceduralEnvironment;
  /** Path of the step whose sub-chart this is; empty at the top. */
  readonly #path: string;
  /** What stands before a member of this chart: `steps[boil].subChart.`, empty at the top. */
  readonly #within: string;
  readonly #steps: readonly ProceduralStep[];
  /** In lower case. */
  readonly #stepNames: ReadonlySet<string>;
  readonly #enclosing: ReadonlyMap<string, NameFacts>;
  /** Facts of the template of each step by name in lower case; absent when unknown or a sub-chart. */
  readonly #templates = new Map<string, TemplateFacts>();
  readonly #found: ChartDiagnostic[] = [];

  constructor(chart: ProceduralChart, level: ChartLevel, environment: ProceduralEnvironment, path: string, within: string) {
    this.#chart = chart;
    this.#level = level;
    this.#environment = environment;
    this.#path = path;
    this.#within = within;
    this.#steps = chart.steps ?? [];
    this.#stepNames = new Set(this.#steps.map(({ name }) => name.toLowerCase()));
    this.#enclosing = new Map(environment.parameters.map(({ name, type }) => [name.toLowerCase(), { name, type, kind: 'parameter' }]));
  }

  run(): ChartDiagnostic[] {
    const { transitions = [], divergences = [] } = this.#chart;
    for (const diagnostic of checkStructure({ steps: this.#steps, transitions, divergences }, transitions.length === 0)) this.#add(diagnostic);
    for (const step of this.#steps) this.#resolve(step);
    for (const step of this.#steps) this.#step(step);
    transitions.forEach(({ conditionST }, transition) => this.#condition(conditionST ?? '', transition));
    for (const { name, from, type } of this.#environment.outputs ?? []) if (from) this.#output(name, type, from);
    return this.#found;
  }

  #add(diagnostic: ChartDiagnostic): void {
    const member = this.#memberOf(diagnostic);
    this.#found.push({ ...diagnostic, ...(this.#path === '' ? {} : { chart: this.#path }), ...(member === '' ? {} : { member: `${this.#within}${member}` }) });
  }

  /** The step or transition, where nothing more is known; '' for the chart as a whole. */
  #memberOf({ member, step, transition }: Pick<ChartDiagnostic, 'member' | 'step' | 'transition'>): string {
    if (step !== undefined) return `${this.#stepNames.has(step.toLowerCase()) ? 'steps' : 'divergences'}[${step}]${member === undefined ? '' : `.${member}`}`;
    return transition === undefined ? '' : `transitions[${transition}]${member === undefined ? '' : `.${member}`}`;
  }

  /** @param member of the step. */
  #fail(code: string, message: string, place: Place, member?: string): void {
    this.#add({ ...chartFault(code, message, place), ...(member === undefined ? {} : { member }) });
  }

  /** The one step of a recipe that stands for a whole procedure template. */
  #isProcedureStep(step: ProceduralStep): boolean {
    return this.#level === 'Recipe' && this.#steps.length === 1 && step.templateKind === 'ProcedureTemplate';
  }

  #resolve(step: ProceduralStep): void {
    const { name, templateRef = '', templateKind } = step;
    if (templateRef === '' || templateKind === undefined) return;
    const template = this.#environment.template(templateKind, templateRef);
    if (template === null) this.#fail('binding', `step ${name}: there is no ${templateKind} ${templateRef}`, { step: name }, 'templateRef');
    else if (template) this.#templates.set(name.toLowerCase(), template);
  }

  #step(step: ProceduralStep): void {
    this.#stepLevel(step);
    this.#bindings(step);
    if (step.subChart === undefined) return;
    const child = CHILD_LEVEL[this.#level];
    if (child === 'Phase') {
      this.#fail('level', `step ${step.name}: a phase step has no chart inside`, { step: step.name }, 'subChart');
      return;
    }
    // an element without template takes its parameters from the one around it and from its own bindings (decisions 2.2)
    const own = (step.parameterBindings ?? []).map(({ name }): EnclosingName => ({ name, type: 'ANY' }));
    const parameters = [...this.#environment.parameters, ...own];
    const environment: ProceduralEnvironment = { parameters, template: (kind, name) => this.#environment.template(kind, name) };
    const path = this.#path === '' ? step.name : `${this.#path}/${step.name}`;
    // one by one: a list of a hundred thousand is too long for the arguments of a call
    for (const diagnostic of new ChartCheck(step.subChart, child, environment, path, `${this.#within}steps[${step.name}].subChart.`).run()) this.#found.push(diagnostic);
  }

  #stepLevel(step: ProceduralStep): void {
    const { name, templateRef = '', templateKind, subChart, stepLevel } = step;
    const place = { step: name };
    if (this.#isProcedureStep(step)) {
      if (stepLevel !== undefined) this.#fail('level', `step ${name} stands for a whole procedure and has no stepLevel`, place, 'stepLevel');
      if (templateRef === '') this.#fail('binding', `step ${name} needs a templateRef`, place);
      return;
    }
    const child = CHILD_LEVEL[this.#level];
    if (stepLevel !== child) this.#fail('level', `step ${name}: a chart of this level holds steps of level ${child}, not ${stepLevel ?? 'none'}`, place, 'stepLevel');
    if (templateKind !== undefined && templateKind !== LEVEL_TEMPLATE[child])
      this.#fail('level', `step ${name}: a step of level ${child} uses a ${LEVEL_TEMPLATE[child]}, not a ${templateKind}`, place, 'templateKind');
    if (templateRef !== '' && templateKind === undefined) this.#fail('level', `step ${name}: templateRef needs templateKind`, place, 'templateRef');
    if ((templateRef === '') === (subChart === undefined)) this.#fail('binding', `step ${name} needs a templateRef or a subChart, one of them`, place);
    if ((step.targetCapability ?? '') !== '' && child !== 'UnitProcedure')
      this.#fail('level', `step ${name}: targetCapability belongs to unit-procedure steps`, place, 'targetCapability');
    if (Object.keys(step.roleMap ?? {}).length > 0 && child !== 'Phase') this.#fail('level', `step ${name}: roleMap belongs to phase steps`, place, 'roleMap');
  }

  // ---------------------------------------------------------------- bindings

  #bindings(step: ProceduralStep): void {
    const place = { step: step.name };
    const template = this.#templates.get(step.name.toLowerCase());
    const formals = template && new Map(template.parameters.map((formal) => [formal.name.toLowerCase(), formal]));
    const bound = new Set<string>();
    for (const [at, { name, from, value }] of (step.parameterBindings ?? []).entries()) {
      const member = `parameterBindings[${at}]`;
      const key = name.toLowerCase();
      if (bound.has(key)) this.#fail('duplicate-name', `parameter ${name} of step ${step.name} is bound twice`, place, `${member}.name`);
      bound.add(key);
      const formal = formals?.get(key);
      if (formals && !formal) this.#fail('binding', `${step.templateRef} of step ${step.name} has no parameter ${name}`, place, `${member}.name`);
      if ((from === undefined) === (value === undefined))
        this.#fail('binding', `parameter ${name} of step ${step.name} is bound to a source or to a value, one of them`, place, member);
      if (from !== undefined) this.#source(from, name, formal, place, `${member}.from`);
      else if (value !== undefined && formal && parseValueText(formal.type ?? 'REAL', value.trim()) === null)
        this.#fail('type', `"${value}" for parameter ${name} of step ${step.name} is no value of type ${formal.type ?? 'REAL'}`, place, `${member}.value`);
    }
    for (const formal of template?.parameters ?? []) {
      const given = bound.has(formal.name.toLowerCase()) || this.#enclosing.has(formal.name.toLowerCase()) || (formal.defaultValue ?? '') !== '';
      if (formal.required && !given) this.#fail('binding', `required parameter ${formal.name} of step ${step.name} is not bound`, place, 'parameterBindings');
    }
    const roles = template?.roles && new Set(template.roles);
    for (const role of Object.keys(step.roleMap ?? {})) {
      if (roles && !roles.has(role)) this.#fail('binding', `${step.templateRef} of step ${step.name} has no role ${role}`, place, `roleMap.${role}`);
    }
  }

  #source(from: string, name: string, formal: FormalName | undefined, place: Place, member: string): void {
    const type = from.includes('.') ? this.#outputType(from) : this.#enclosing.get(from.toLowerCase())?.type;
    if (type === undefined)
      this.#fail('binding', `parameter ${name} of step ${place.step} is bound to ${from}, which is no parameter of the element and no output of a step`, place, member);
    else if (formal && !isAssignable(formal.type ?? 'REAL', type))
      this.#fail('type', `${from} is ${type} and cannot go to parameter ${name} of type ${formal.type ?? 'REAL'}`, place, member);
  }

  /** Type of `<step>.<output>`; ANY when the template of the step is not known. */
  #outputType(source: string): StType | undefined {
    const point = source.indexOf('.');
    return this.#stepOutput(source.slice(0, point), source.slice(point + 1));
  }

  #stepOutput(step: string, output: string): StType | undefined {
    const key = step.toLowerCase();
    if (!this.#stepNames.has(key)) return undefined;
    const template = this.#templates.get(key);
    if (template === undefined) return 'ANY';
    const formal = template.outputs.find(({ name }) => name.toLowerCase() === output.toLowerCase());
    return formal && (formal.type ?? 'REAL');
  }

  #output(name: string, type: StType, from: string): void {
    const source = this.#outputType(from);
    if (source === undefined) this.#fail('binding', `output ${name} comes from ${from}, which is no output of a step`, {});
    else if (!isAssignable(type, source)) this.#fail('type', `${from} is ${source} and cannot be output ${name} of type ${type}`, {});
  }

  // ---------------------------------------------------------------- conditions

  #condition(source: string, transition: number): void {
    const { expression, diagnostics } = parseCondition(source);
    const checked = expression ? checkCondition(expression, this.#scope()) : [];
    for (const diagnostic of [...diagnostics, ...checked]) this.#add({ ...diagnostic, transition, member: 'conditionST' });
  }

  /** Parameters, members of steps and READ of signals; nothing that reaches the equipment (decisions 2.2). */
  #scope(): TextScope {
    return {
      names: this.#enclosing,
      member: (object, member) => {
        const word = member.toUpperCase();
        const known = this.#stepNames.has(object.toLowerCase());
        if (known && word === 'T') return 'TIME';
        if (known && word === 'X') return 'BOOL';
        return this.#stepOutput(object, member);
      },
      tag: (address) => {
        const lookup = lookUp(address, () => undefined);
        if (lookup.found === 'signal' || lookup.found === 'nothing') return lookup;
        return { found: 'nothing', message: `a procedural chart reads signals and barriers only, not ${address}` };
      },
      refuse: (name) => (name === 'READ' || name === 'ABS' ? undefined : `${name} cannot be used in a procedural chart`),
    };
  }
}
