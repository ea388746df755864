/** Admission of procedural templates and resources (contract 3, Procedural resources; decisions 2.8, Q-ST-08, Q-RECIPE-18). */
import type { ProceduralChart } from '../../../runtime/vocabulary/chart.js';
import { conflict } from '../../platform/base/refusal.js';
import type { Admission, Dependent, StoreReader } from '../../platform/store/kind.js';
import { kindNamed } from '../../platform/store/named-kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { dependentsIn } from '../plant/rules.js';
import type { MasterRecipe } from '../recipes/kind.js';
import type { ElementStatus, Operation, OperationSpec, OperationTemplate, OperationTemplateSpec, Phase, PhaseSpec, PhaseTemplate, PhaseTemplateSpec, Procedure, ProcedureSpec, ProcedureTemplate, ProcedureTemplateSpec, UnitProcedure, UnitProcedureTemplate } from './kind.js';

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

export function admitPhaseTemplate(spec: PhaseTemplateSpec, _context: Admission<PhaseTemplateSpec, NoStatus>): PhaseTemplateSpec {
  return spec;
}

export function admitOperationTemplate(spec: OperationTemplateSpec, _context: Admission<OperationTemplateSpec, NoStatus>): OperationTemplateSpec {
  return spec;
}

export function admitUnitProcedureTemplate(spec: OperationTemplateSpec, _context: Admission<OperationTemplateSpec, NoStatus>): OperationTemplateSpec {
  return spec;
}

export function admitProcedureTemplate(spec: ProcedureTemplateSpec, _context: Admission<ProcedureTemplateSpec, NoStatus>): ProcedureTemplateSpec {
  return spec;
}

export function admitPhase(spec: PhaseSpec, _context: Admission<PhaseSpec, ElementStatus>): PhaseSpec {
  return spec;
}

export function admitOperation(spec: OperationSpec, _context: Admission<OperationSpec, ElementStatus>): OperationSpec {
  return spec;
}

export function admitUnitProcedure(spec: OperationSpec, _context: Admission<OperationSpec, ElementStatus>): OperationSpec {
  return spec;
}

export function admitProcedure(spec: ProcedureSpec, _context: Admission<ProcedureSpec, ElementStatus>): ProcedureSpec {
  return spec;
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
  throw conflict('referenced', `${kind} ${name} is still used by ${referencedBy.slice(0, 3).map((user) => `${user.kind} ${user.name}`).join(', ')}`, { referencedBy });
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
