/** Admission of procedural templates and resources (contract 3, Procedural resources; decisions 2.8, Q-ST-08, Q-RECIPE-18). */
import { checkFormals } from '../../../runtime/language/formals.js';
import type { NameFacts } from '../../../runtime/language/scope.js';
import type { ProceduralChart } from '../../../runtime/vocabulary/chart.js';
import { conflict, invalid } from '../../platform/base/refusal.js';
import type { Admission, Dependent, Kind, StoreReader } from '../../platform/store/kind.js';
import { kindNamed } from '../../platform/store/named-kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { dependentsIn } from '../plant/rules.js';
import type { MasterRecipe } from '../recipes/kind.js';
import type { ElementRef } from './roots.js';
import { type ChartDiagnostic, checkPhase, checkSequence, refuseInvalid } from './charts.js';
import type {
  ElementStatus,
  Operation,
  OperationSpec,
  OperationTemplate,
  OperationTemplateSpec,
  OutputSpec,
  ParameterSpec,
  Phase,
  PhaseSpec,
  PhaseTemplate,
  PhaseTemplateSpec,
  Procedure,
  ProcedureSpec,
  ProcedureTemplate,
  ProcedureTemplateSpec,
  UnitProcedure,
  UnitProcedureTemplate,
} from './kind.js';

export const PHASE_TEMPLATE = kindNamed<typeof PhaseTemplate>('PhaseTemplate');
export const OPERATION_TEMPLATE = kindNamed<typeof OperationTemplate>('OperationTemplate');
export const UNIT_PROCEDURE_TEMPLATE = kindNamed<typeof UnitProcedureTemplate>('UnitProcedureTemplate');
export const PROCEDURE_TEMPLATE = kindNamed<typeof ProcedureTemplate>('ProcedureTemplate');
export const PHASE = kindNamed<typeof Phase>('Phase');
export const OPERATION = kindNamed<typeof Operation>('Operation');
export const UNIT_PROCEDURE = kindNamed<typeof UnitProcedure>('UnitProcedure');
export const PROCEDURE = kindNamed<typeof Procedure>('Procedure');
const MASTER_RECIPE = kindNamed<typeof MasterRecipe>('MasterRecipe');

type NoStatus = Readonly<Record<string, never>>;

export function admitPhaseTemplate(spec: PhaseTemplateSpec, { read, site }: Admission<PhaseTemplateSpec, NoStatus>): PhaseTemplateSpec {
  refuseInvalid(checkPhase(spec, read, site, ''));
  return spec;
}

export function admitOperationTemplate(spec: OperationTemplateSpec, { read, site }: Admission<OperationTemplateSpec, NoStatus>): OperationTemplateSpec {
  refuseInvalid([...formalProblems(spec), ...checkSequence(spec.chart, 'Operation', spec, read, site)]);
  return spec;
}

export function admitUnitProcedureTemplate(spec: OperationTemplateSpec, { read, site }: Admission<OperationTemplateSpec, NoStatus>): OperationTemplateSpec {
  refuseInvalid([...formalProblems(spec), ...checkSequence(spec.chart, 'UnitProcedure', spec, read, site)]);
  return spec;
}

export function admitProcedureTemplate(spec: ProcedureTemplateSpec, { read, site }: Admission<ProcedureTemplateSpec, NoStatus>): ProcedureTemplateSpec {
  refuseInvalid([...formalProblems(spec), ...checkSequence(spec.chart, 'Procedure', spec, read, site)]);
  return spec;
}

/** Names of parameters and outputs are unique, and their texts fit their types (contract 3, Procedural resources). */
function formalProblems(spec: { readonly parameters: readonly ParameterSpec[]; readonly outputs?: readonly OutputSpec[] }): ChartDiagnostic[] {
  const names = new Map<string, NameFacts>();
  return [...checkFormals(spec.parameters, 'parameter', names), ...checkFormals(spec.outputs ?? [], 'output', names)];
}

export function admitPhase(spec: PhaseSpec, context: Admission<PhaseSpec, ElementStatus>): PhaseSpec {
  refuseOwned('Phase', spec, context);
  refuseInvalid(checkPhase(spec, context.read, context.site, spec.unitRef));
  return spec;
}

export function admitOperation(spec: OperationSpec, context: Admission<OperationSpec, ElementStatus>): OperationSpec {
  refuseOwned('Operation', spec, context);
  refuseInvalid([...formalProblems(spec), ...checkSequence(spec.chart, 'Operation', spec, context.read, context.site)]);
  return spec;
}

export function admitUnitProcedure(spec: OperationSpec, context: Admission<OperationSpec, ElementStatus>): OperationSpec {
  refuseOwned('UnitProcedure', spec, context);
  refuseInvalid([...formalProblems(spec), ...checkSequence(spec.chart, 'UnitProcedure', spec, context.read, context.site)]);
  return spec;
}

export function admitProcedure(spec: ProcedureSpec, context: Admission<ProcedureSpec, ElementStatus>): ProcedureSpec {
  refuseOwned('Procedure', spec, context);
  refuseInvalid([...formalProblems(spec), ...checkSequence(spec.chart, 'Procedure', spec, context.read, context.site)]);
  return spec;
}

interface Owned {
  readonly batchRef: string;
  readonly parentRef: ElementRef | null;
}

/**
 * Authoring reaches only elements without a parent that are Idle (decisions Q-CHANGE-08); the batch controller owns the rest.
 * What it has not made itself does not join a batch or a run: the record would tell of a step that was in no recipe.
 */
function refuseOwned(kind: keyof typeof PARENT_KIND, { batchRef, parentRef }: Owned, { before, name, site, read, via }: Admission<Owned, ElementStatus>): void {
  if (via === 'system') return;
  if (before && (before.spec.parentRef !== null || before.spec.batchRef !== ''))
    throw conflict('element_owned', `${before.kind} ${name} belongs to a running procedure; only its batch controller edits it`);
  if (before && before.status.state !== 'Idle')
    throw conflict('element_active', `${before.kind} ${name} is ${before.status.state}; it can be edited while Idle only`, { state: before.status.state });
  if (batchRef !== '') throw conflict('element_owned', `only the batch controller makes elements of a batch; leave batchRef empty`, { field: 'spec.batchRef' });
  const wanted = PARENT_KIND[kind];
  if (parentRef && parentRef.kind !== wanted)
    throw invalid(
      'invalid_field',
      'spec.parentRef.kind',
      wanted === '' ? `a ${kind} has no parent` : `the parent of a ${kind} is a ${wanted}`,
      wanted === '' ? {} : { allowed: [wanted] },
    );
  for (let above = parentOf(read, site, parentRef); above; above = parentOf(read, site, above.spec.parentRef)) {
    if (above.spec.batchRef === '' && above.status.state === 'Idle') continue;
    throw conflict('element_owned', `${above.kind} ${above.metadata.name} belongs to a run; only the batch controller gives it children`, { field: 'spec.parentRef' });
  }
}

/** The level above each: the way up ends at the procedure. */
const PARENT_KIND = { Phase: 'Operation', Operation: 'UnitProcedure', UnitProcedure: 'Procedure', Procedure: '' } as const;

function parentOf(read: StoreReader, site: string, parentRef: ElementRef | null): Resource<Owned, ElementStatus> | undefined {
  const kind = parentRef && [OPERATION, UNIT_PROCEDURE, PROCEDURE].find((candidate) => candidate.kind === parentRef.kind);
  return kind ? read.get(kind as unknown as Kind<Owned, ElementStatus>, site, parentRef.name) : undefined;
}

// ---------------------------------------------------------------- delete

/** Whether a chart, or a chart inside it, names a template. */
export function usesTemplate(chart: ProceduralChart | undefined, kind: string, name: string): boolean {
  return (chart?.steps ?? []).some((step) => (step.templateKind === kind && step.templateRef === name) || usesTemplate(step.subChart, kind, name));
}

/** @throws Refusal 409 with `referencedBy` while a recipe, a template or an active element uses it (decisions Q-RECIPE-18). */
export function refuseTemplateDelete({ kind, metadata }: Resource, read: StoreReader): void {
  const { name, site } = metadata;
  const charted = [OPERATION_TEMPLATE, UNIT_PROCEDURE_TEMPLATE, PROCEDURE_TEMPLATE] as const;
  const referencedBy: Dependent[] = [
    ...dependentsIn(read, MASTER_RECIPE, site, ({ spec }) => usesTemplate(spec.procedure.chart, kind, name)),
    ...charted.flatMap((template) => dependentsIn(read, template, site, ({ spec }: { spec: { chart: ProceduralChart } }) => usesTemplate(spec.chart, kind, name))),
    ...activeUsers(read, site, kind, name),
  ];
  if (referencedBy.length === 0) return;
  throw conflict(
    'referenced',
    `${kind} ${name} is still used by ${referencedBy
      .slice(0, 3)
      .map((user) => `${user.kind} ${user.name}`)
      .join(', ')}`,
    { referencedBy },
  );
}

function activeUsers(read: StoreReader, site: string, templateKind: string, name: string): Dependent[] {
  const element = { PhaseTemplate: PHASE, OperationTemplate: OPERATION, UnitProcedureTemplate: UNIT_PROCEDURE, ProcedureTemplate: PROCEDURE }[templateKind];
  if (!element) return [];
  return dependentsIn<{ templateRef: string }, ElementStatus>(read, element as never, site, ({ spec, status }) => spec.templateRef === name && isActive(status));
}

/** Not final, not Idle (decisions, conventions). */
export function isActive(status: ElementStatus): boolean {
  return !['Idle', 'Complete', 'Stopped', 'Aborted'].includes(status.state);
}
