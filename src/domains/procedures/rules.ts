/** Admission of procedural templates and resources (contract 3, Procedural resources; decisions 2.8, Q-ST-08, Q-RECIPE-18). */
import { checkFormals } from '../../../runtime/language/formals.js';
import type { NameFacts } from '../../../runtime/language/scope.js';
import { conflict, invalid, type Refusal } from '../../platform/base/refusal.js';
import { type Admission, type Dependent, type Kind, type StoreReader, ruled } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { dependentsIn } from '../plant/rules.js';
import { type ElementRef, isActive } from './roots.js';
import { type ChartDiagnostic, checkPhase, checkSequence, refuseInvalid } from './charts.js';
import {
  type ElementStatus,
  type OperationSpec,
  type OperationTemplateSpec,
  type OutputSpec,
  type ParameterSpec,
  type PhaseSpec,
  type PhaseTemplateSpec,
  type ProcedureSpec,
  type ProcedureTemplateSpec,
  PhaseTemplate,
  OperationTemplate,
  UnitProcedureTemplate,
  ProcedureTemplate,
  Phase,
  Operation,
  UnitProcedure,
  Procedure,
} from './kind.js';
import { MasterRecipe } from '../recipes/kind.js';
import { keptAsEvidence, refuseElementDelete } from './removal.js';
import { templateEdited } from './template-edits.js';
import { sequenceWarnings, templateWarnings } from './template-notes.js';

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
  const kind = parentRef && [Operation, UnitProcedure, Procedure].find((candidate) => candidate.kind === parentRef.kind);
  return kind ? read.get(kind as Kind<Owned, ElementStatus>, site, parentRef.name) : undefined;
}

// ---------------------------------------------------------------- delete

/** 409 with `referencedBy` while a recipe, a template or an active element uses it (decisions Q-RECIPE-18): recipes first. */
function referenced({ kind, metadata }: Resource, holders: readonly Dependent[]): Refusal {
  const isRecipe = (holder: Dependent): boolean => holder.kind === MasterRecipe.kind;
  const referencedBy = [...holders.filter(isRecipe), ...holders.filter((holder) => !isRecipe(holder))];
  const named = referencedBy.slice(0, 3).map((user) => `${user.kind} ${user.name}`);
  return conflict('referenced', `${kind} ${metadata.name} is still used by ${named.join(', ')}`, { referencedBy });
}

/** An element at work keeps the template that it was made from. */
function activeUsers<Spec extends { readonly templateRef: string }>(element: Kind<Spec, ElementStatus>): (template: Resource, read: StoreReader) => readonly Dependent[] {
  return ({ metadata }, read) => dependentsIn(read, element, metadata.site, ({ spec, status }) => spec.templateRef === metadata.name && isActive(status));
}

// ---------------------------------------------------------------- the kinds with their rules

const CHART_INVALID = { 400: ['st_invalid'] } as const;
/** Of a template: while it is used, it stays under a code of its own (`held`). */
const TEMPLATE_REFUSES = { write: CHART_INVALID, remove: { 409: ['referenced'] } } as const;
/** Of an element; what runs and what a batch made is not written by hand. */
const OWNED = { 409: ['element_owned', 'element_active'] } as const;
const OF_ELEMENTS = {
  refuses: { write: { ...CHART_INVALID, ...OWNED }, remove: { 403: ['production_mode'], ...OWNED } },
  refuseDelete: refuseElementDelete,
  keptInProduction: keptAsEvidence,
} as const;

/** A chart names tags of modules, or parameters and roles of templates. */
const OF_TAGS = ['ControlModuleTemplate', 'ControlModule', 'Unit'];
const OF_TEMPLATES = [PhaseTemplate.kind, OperationTemplate.kind, UnitProcedureTemplate.kind, ProcedureTemplate.kind];

export const phaseTemplateRules = ruled(PhaseTemplate, {
  refuses: TEMPLATE_REFUSES,
  warnings: templateWarnings,
  admit: admitPhaseTemplate,
  judgedAgainst: OF_TAGS,
  companions: templateEdited('PhaseTemplate'),
  dependents: activeUsers(Phase),
  held: referenced,
});

export const operationTemplateRules = ruled(OperationTemplate, {
  refuses: TEMPLATE_REFUSES,
  warnings: sequenceWarnings,
  admit: admitOperationTemplate,
  judgedAgainst: OF_TEMPLATES,
  companions: templateEdited('OperationTemplate'),
  dependents: activeUsers(Operation),
  held: referenced,
});

export const unitProcedureTemplateRules = ruled(UnitProcedureTemplate, {
  refuses: TEMPLATE_REFUSES,
  warnings: sequenceWarnings,
  admit: admitUnitProcedureTemplate,
  judgedAgainst: OF_TEMPLATES,
  companions: templateEdited('UnitProcedureTemplate'),
  dependents: activeUsers(UnitProcedure),
  held: referenced,
});

export const procedureTemplateRules = ruled(ProcedureTemplate, {
  refuses: TEMPLATE_REFUSES,
  warnings: sequenceWarnings,
  admit: admitProcedureTemplate,
  judgedAgainst: OF_TEMPLATES,
  companions: templateEdited('ProcedureTemplate'),
  dependents: activeUsers(Procedure),
  held: referenced,
});

export const phaseRules = ruled(Phase, { ...OF_ELEMENTS, admit: admitPhase, judgedAgainst: OF_TAGS });
export const operationRules = ruled(Operation, { ...OF_ELEMENTS, admit: admitOperation, judgedAgainst: OF_TEMPLATES });
export const unitProcedureRules = ruled(UnitProcedure, { ...OF_ELEMENTS, admit: admitUnitProcedure, judgedAgainst: OF_TEMPLATES });
export const procedureRules = ruled(Procedure, { ...OF_ELEMENTS, admit: admitProcedure, judgedAgainst: OF_TEMPLATES });
