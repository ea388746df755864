/**
 * What Start makes of a batch (decisions 2.2, 2.7, 3.3): the control recipe as the frozen copy it runs from, one element
 * per step of the whole chart, and the coordination blocks between them. Pure: it is given the templates and answers
 * with the resources to write.
 */
import { createHash } from 'node:crypto';
import type { ParameterBinding, ProceduralChart, ProceduralStep } from '../../../../runtime/vocabulary/chart.js';
import type { Mode } from '../../../../runtime/vocabulary/modes.js';
import { conflict } from '../../../platform/base/refusal.js';
import { ownOf } from '../../../platform/base/own-of.js';
import { CoordinationBlock, type CoordinationBlockSpec, SyncBarrier, type SyncBarrierSpec } from '../../coordination/kind.js';
import {
  Operation,
  type OperationSpec,
  type OperationTemplateSpec,
  type ParameterSpec,
  Phase,
  type PhaseSpec,
  type PhaseTemplateSpec,
  Procedure,
  type ProcedureSpec,
  type ProcedureTemplateSpec,
  UnitProcedure,
  type UnitProcedureSpec,
  type ParameterValue,
} from '../../procedures/kind.js';
import { STEPS_MAX, TOO_LARGE } from '../../recipes/expansion-limit.js';
import type { MasterRecipeSpec } from '../../recipes/kind.js';
import { bindParameters, passedOn } from '../creation/parameters.js';

const NAME_LENGTH_MAX = 63;
const NAME_CUT = 54; // decisions 2.2: cut to 54 + `-` + 8 hex digits of SHA-256 of the full path

/** Templates by kind and name, as the frozen copy of the control recipe or the live store answers. */
export interface Templates {
  get(kind: 'PhaseTemplate', name: string): PhaseTemplateSpec | undefined;
  get(kind: 'OperationTemplate' | 'UnitProcedureTemplate', name: string): OperationTemplateSpec | undefined;
  get(kind: 'ProcedureTemplate', name: string): ProcedureTemplateSpec | undefined;
}

export type ElementDraft =
  | { readonly kind: typeof Procedure; readonly name: string; readonly spec: ProcedureSpec }
  | { readonly kind: typeof UnitProcedure; readonly name: string; readonly spec: UnitProcedureSpec }
  | { readonly kind: typeof Operation; readonly name: string; readonly spec: OperationSpec }
  | { readonly kind: typeof Phase; readonly name: string; readonly spec: PhaseSpec };

/** What the elements of one tree have in common. */
interface TreeInput {
  /** '' for an ad-hoc run. */
  readonly batch: string;
  /** What the names of the elements begin with. */
  readonly prefix: string;
  readonly mode: Mode;
  readonly templates: Templates;
}

export interface InstantiationInput {
  readonly batch: string;
  readonly mode: Mode;
  readonly recipe: Pick<MasterRecipeSpec, 'procedure'>;
  readonly parameters: readonly ParameterValue[];
  /** Unit per capability. */
  readonly allocation: Readonly<Record<string, string>>;
  readonly templates: Templates;
}

/** `batch-makeresin-charge-monomer`: lower case, `_` as `-`; a longer name is cut and made unique by a digest. */
export function elementName(batch: string, path: readonly string[]): string {
  const full = [batch, ...path].join('-').toLowerCase().replaceAll('_', '-');
  if (full.length <= NAME_LENGTH_MAX) return full;
  const digest = createHash('sha256')
    .update([batch, ...path].join('/'))
    .digest('hex')
    .slice(0, 8);
  return `${full.slice(0, NAME_CUT).replace(/-+$/, '')}-${digest}`;
}

/** The chart that the recipe runs: its own, or that of the single procedure template it names. */
export function procedureChart(
  recipe: Pick<MasterRecipeSpec, 'procedure'>,
  templates: Templates,
): { chart: ProceduralChart; parameters: readonly ParameterSpec[]; bindings: readonly ParameterBinding[]; templateRef: string } {
  const chart = recipe.procedure.chart;
  const only = chart.steps?.length === 1 ? chart.steps[0] : undefined;
  if (only?.templateKind !== 'ProcedureTemplate') return { chart, parameters: [], bindings: [], templateRef: '' };
  const template = templates.get('ProcedureTemplate', only.templateRef ?? '');
  if (!template) throw unknownTemplate('ProcedureTemplate', only);
  return { chart: template.chart, parameters: template.parameters, bindings: only.parameterBindings ?? [], templateRef: only.templateRef ?? '' };
}

/** @throws Refusal `chart_invalid` naming a step whose template is missing, or of a recipe that is too large. */
export function instantiate(given: InstantiationInput): ElementDraft[] {
  const input = { ...given, prefix: given.batch };
  const root = procedureChart(input.recipe, input.templates);
  const parameterValues = root.templateRef === '' ? [...input.parameters] : bindParameters(root.parameters, root.bindings, input.parameters);
  const name = elementName(input.prefix, []);
  const procedure: ProcedureSpec = {
    description: '',
    parameters: [...root.parameters],
    chart: root.chart,
    templateRef: root.templateRef,
    batchRef: input.batch,
    parentRef: null,
    stepName: '',
    stepPath: '',
    roleMap: {},
    parameterValues,
    mode: input.mode,
  };
  const elements: ElementDraft[] = [{ kind: Procedure, name, spec: procedure }];
  for (const step of root.chart.steps ?? []) {
    const unit = ownOf(input.allocation, step.targetCapability || step.name) ?? '';
    addSequence(elements, input, UnitProcedure, step, { kind: 'Procedure', name }, [step.name], unit, parameterValues);
  }
  return elements;
}

export interface RootInput {
  readonly root: string;
  readonly kind: 'Phase' | 'Operation' | 'UnitProcedure';
  readonly templateRef: string;
  readonly unit: string;
  /** Values given at launch; those that the template does not declare fall away (contract 3, Ad-hoc rules). */
  readonly parameters: readonly ParameterValue[];
  /** 0: the budget of the template. */
  readonly timeoutSeconds: number;
  readonly templates: Templates;
}

/** The elements of an ad-hoc run, its root first. */
export function instantiateRoot({ root, kind, templateRef, unit, parameters, timeoutSeconds, templates }: RootInput): ElementDraft[] {
  const elements: ElementDraft[] = [];
  const input: TreeInput = { batch: '', prefix: root, mode: 'Automatic', templates };
  const step: ProceduralStep = { name: '', templateRef, ...(timeoutSeconds > 0 ? { timeoutSeconds } : {}) };
  if (kind === 'Phase') addPhase(elements, input, step, null, [], unit, parameters);
  else addSequence(elements, input, kind === 'UnitProcedure' ? UnitProcedure : Operation, step, null, [], unit, parameters);
  return elements;
}

interface Parent {
  readonly kind: string;
  readonly name: string;
}

function addSequence(
  elements: ElementDraft[],
  input: TreeInput,
  kind: typeof UnitProcedure | typeof Operation,
  step: ProceduralStep,
  parent: Parent | null,
  path: readonly string[],
  unit: string,
  enclosing: readonly ParameterValue[],
): void {
  const template = templateOf(input.templates, kind === UnitProcedure ? 'UnitProcedureTemplate' : 'OperationTemplate', step);
  const bindings = step.parameterBindings ?? [];
  const parameterValues = step.subChart ? passedOn(bindings, enclosing) : bindParameters(template.parameters, bindings, enclosing);
  const name = elementName(input.prefix, path);
  const spec: OperationSpec = {
    ...template,
    timeoutSeconds: step.timeoutSeconds ?? template.timeoutSeconds,
    ...elementFields(input, step, parent, path, parameterValues),
    unitRef: unit,
  };
  add(elements, { kind, name, spec } as ElementDraft);
  for (const inner of template.chart.steps ?? []) {
    const at = [...path, inner.name];
    if (kind === UnitProcedure) addSequence(elements, input, Operation, inner, { kind: 'UnitProcedure', name }, at, unit, parameterValues);
    else addPhase(elements, input, inner, { kind: 'Operation', name }, at, unit, parameterValues);
  }
}

function addPhase(
  elements: ElementDraft[],
  input: TreeInput,
  step: ProceduralStep,
  parent: Parent | null,
  path: readonly string[],
  unit: string,
  enclosing: readonly ParameterValue[],
): void {
  const template = input.templates.get('PhaseTemplate', step.templateRef ?? '');
  if (!template) throw unknownTemplate('PhaseTemplate', step);
  const parameterValues = bindParameters(template.parameters, step.parameterBindings ?? [], enclosing);
  const spec: PhaseSpec = {
    ...template,
    timeoutSeconds: step.timeoutSeconds ?? template.timeoutSeconds,
    ...elementFields(input, step, parent, path, parameterValues),
    unitRef: unit,
  };
  add(elements, { kind: Phase, name: elementName(input.prefix, path), spec });
}

/** One for each step below the procedure. */
function add(elements: ElementDraft[], element: ElementDraft): void {
  if (elements.length > STEPS_MAX) throw conflict('chart_invalid', TOO_LARGE);
  elements.push(element);
}

function elementFields(input: TreeInput, step: ProceduralStep, parent: Parent | null, path: readonly string[], parameterValues: ParameterValue[]) {
  return {
    templateRef: step.templateRef ?? '',
    batchRef: input.batch,
    parentRef: parent && { ...parent },
    stepName: step.name,
    stepPath: path.join('/') || (step.templateRef ?? ''),
    roleMap: { ...step.roleMap },
    parameterValues,
    mode: input.mode,
  };
}

function templateOf(templates: Templates, kind: 'UnitProcedureTemplate' | 'OperationTemplate', step: ProceduralStep): OperationTemplateSpec {
  if (step.subChart) return { description: step.description ?? '', category: 'process', parameters: [], outputs: [], chart: step.subChart, timeoutSeconds: 0 };
  const template = templates.get(kind, step.templateRef ?? '');
  if (!template) throw unknownTemplate(kind, step);
  return template;
}

function unknownTemplate(kind: string, step: ProceduralStep): Error {
  return conflict('chart_invalid', `step ${step.name}: ${kind} ${step.templateRef ?? ''} does not exist`, { step: step.name });
}

/** Patterns become blocks of the batch: step paths become element names (decisions 2.7). */
export function coordinationCopy(
  batch: string,
  pattern: { readonly name: string; readonly spec: CoordinationBlockSpec },
): { readonly kind: typeof CoordinationBlock; readonly name: string; readonly spec: CoordinationBlockSpec };
export function coordinationCopy(
  batch: string,
  pattern: { readonly name: string; readonly spec: SyncBarrierSpec },
): { readonly kind: typeof SyncBarrier; readonly name: string; readonly spec: SyncBarrierSpec };
export function coordinationCopy(batch: string, pattern: { readonly name: string; readonly spec: CoordinationBlockSpec | SyncBarrierSpec }): unknown {
  const name = elementName(batch, [pattern.name]);
  const at = <E extends { readonly name: string }>(endpoint: E): E => ({ ...endpoint, name: elementName(batch, endpoint.name.split('/')) });
  const spec = pattern.spec;
  if ('participants' in spec) return { kind: SyncBarrier, name, spec: { ...spec, batchRef: batch, participants: spec.participants.map(at) } };
  const signal = spec.signal && { ...spec.signal, producer: at(spec.signal.producer), consumers: spec.signal.consumers.map(at) };
  return { kind: CoordinationBlock, name, spec: { ...spec, batchRef: batch, signal } };
}
