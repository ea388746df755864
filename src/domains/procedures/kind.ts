/**
 * Phases, operations, unit procedures, procedures and their templates (contract 3, Procedural resources and templates;
 * decisions 1.7, 2.1, 2.2). A resource carries the fields of its template, frozen at creation, plus where it stands.
 */
import * as v from 'valibot';
import { describeFields } from '../../platform/base/field-words.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { Condition, type ToldBy } from '../../platform/http/replies.js';
import type { ChartName, ProceduralChart } from '../../../runtime/vocabulary/chart.js';
import { MODES, type Mode } from '../../../runtime/vocabulary/modes.js';
import { STATES, type State } from '../../../runtime/vocabulary/states.js';
import type { PhaseCheckpoint, SfcStatus } from '../../../runtime/port.js';
import { Count, Flag, Identifier, NumberText, Required, TagName, Text } from '../../platform/store/fields.js';
import { JUDGED_ELSEWHERE, type Kind, named, type Reference, type StatusMembers } from '../../platform/store/kind.js';
import { runEntry } from '../../platform/store/past-index.js';
import { isText, listOf, maybe, RUN_SHAPE, shaped } from '../../platform/store/past-shape.js';
import type { LifeSign } from '../../platform/store/life-sign.js';
import type { Ref, Condition as StoredCondition } from '../../platform/store/resource.js';
import { Hold } from '../runs/holds.js';
import { CommandRejection } from '../runs/command-rejection.js';
import type { PendingCommand } from '../runs/pending-command.js';
import { freeMap } from '../../platform/store/free-map.js';
import { ElementFailure } from '../runs/failures.js';
import { ChartStatus, ExceptionStatus } from './chart-status.js';
import { Checkpoint } from './checkpoint.js';
import {
  CHART_STEP_WORDS,
  DIVERGENCE_WORDS,
  ELEMENT_WORDS,
  MATERIAL_WORDS,
  ON_UNIT_WORDS,
  OUTPUT_WORDS,
  PARAMETER_VALUE_WORDS,
  PARAMETER_WORDS,
  PARENT_WORDS,
  PHASE_CHARTS_WORDS,
  PHASE_CHART_WORDS,
  PHASE_TEMPLATE_WORDS,
  POSITION_WORDS,
  PROCEDURAL_CHART_WORDS,
  PROCEDURAL_STEP_WORDS,
  PROCEDURE_TEMPLATE_WORDS,
  ROLE_WORDS,
  SEQUENCE_TEMPLATE_WORDS,
  STEP_BINDING_WORDS,
  TRANSITION_WORDS,
  VARIABLE_WORDS,
} from './field-words.js';
import { ManualSince } from './manual-since.js';

// ---------------------------------------------------------------- charts

/** Where a console draws an element; ignored by execution. */
const Position = v.strictObject({ x: v.number(), y: v.number() });
const Drawn = v.optional(Position);

const ChartStep = v.strictObject({
  name: TagName,
  initial: v.optional(v.boolean()),
  actionST: v.optional(v.string()),
  actionMode: v.optional(v.picklist(['once', 'cyclic'])),
  timeout: v.optional(v.string()),
  onTimeout: v.optional(v.picklist(['Hold', 'Stop', 'Abort', 'Alarm'])),
  pauseAllowed: v.optional(v.boolean()),
  rerunOnRestart: v.optional(v.boolean()),
  secondSigner: v.optional(v.boolean()),
  description: v.optional(v.string()),
  position: Drawn,
});

const ChartTransition = v.strictObject({
  from: Required,
  to: Required,
  conditionST: v.optional(v.string()),
  description: v.optional(v.string()),
  position: Drawn,
});

const Divergence = v.strictObject({
  name: Required,
  type: v.picklist(['SimultaneousDiverge', 'SimultaneousConverge', 'SelectionDiverge', 'SelectionConverge']),
  branches: v.optional(v.array(v.string())),
  from: v.optional(v.string()),
  to: v.optional(v.string()),
  description: v.optional(v.string()),
  position: Drawn,
});

/** Chart of a phase, stored as it was written. */
export const PhaseChart = v.strictObject({
  steps: v.optional(v.array(ChartStep), []),
  transitions: v.optional(v.array(ChartTransition), []),
  divergences: v.optional(v.array(Divergence), []),
});

export const TEMPLATE_KINDS = ['PhaseTemplate', 'OperationTemplate', 'UnitProcedureTemplate', 'ProcedureTemplate'] as const;
export const STEP_LEVELS = ['UnitProcedure', 'Operation', 'Phase'] as const;

const StepBinding = v.strictObject({ name: Required, from: v.optional(v.string()), value: v.optional(v.string()) });

const ProceduralStep = v.strictObject({
  name: TagName,
  initial: v.optional(v.boolean()),
  templateRef: v.optional(v.string()),
  templateKind: v.optional(v.picklist(TEMPLATE_KINDS)),
  subChart: v.optional(v.lazy((): v.GenericSchema<unknown, ProceduralChart> => ProceduralChartField)),
  stepLevel: v.optional(v.picklist(STEP_LEVELS)),
  targetCapability: v.optional(v.string()),
  parameterBindings: v.optional(v.array(StepBinding)),
  roleMap: v.optional(freeMap(v.string())),
  timeoutSeconds: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  description: v.optional(v.string()),
  position: Drawn,
});

/** Chart of an operation, unit procedure, procedure or recipe. */
const ProceduralChartShape = v.strictObject({
  steps: v.optional(v.array(ProceduralStep), []),
  transitions: v.optional(v.array(ChartTransition), []),
  divergences: v.optional(v.array(Divergence), []),
});
export const ProceduralChartField: v.GenericSchema<unknown, ProceduralChart> = ProceduralChartShape;

// ---------------------------------------------------------------- parameters, outputs, roles

export const PARAMETER_TYPES = ['REAL', 'BOOL', 'INT', 'STRING', 'TIME'] as const;

export const ParameterSpec = v.strictObject({
  name: Identifier,
  type: v.optional(v.picklist(PARAMETER_TYPES), 'REAL'),
  unit: Text,
  description: Text,
  defaultValue: Text,
  required: Flag,
  min: NumberText,
  max: NumberText,
  choices: v.optional(v.array(v.string()), []),
});
export type ParameterSpec = v.InferOutput<typeof ParameterSpec>;

export const OutputSpec = v.strictObject({
  name: Identifier,
  type: v.picklist(PARAMETER_TYPES),
  unit: Text,
  description: Text,
  /** `<step>.<output>`; only on operations and unit procedures. */
  from: v.optional(v.string()),
});
export type OutputSpec = v.InferOutput<typeof OutputSpec>;

export const RoleSpec = v.strictObject({ name: Identifier, requiredType: Required, description: Text, required: v.optional(v.boolean(), true) });
export type RoleSpec = v.InferOutput<typeof RoleSpec>;

const VariableSpec = v.strictObject({ name: Identifier, type: v.picklist(PARAMETER_TYPES), initial: v.optional(v.string()), description: v.optional(v.string()) });

const MaterialSpec = v.strictObject({
  direction: v.picklist(['input', 'output']),
  material: Required,
  lot: Text,
  quantity: Required,
  unit: Text,
});
export type MaterialSpec = v.InferOutput<typeof MaterialSpec>;

const ParameterValueField = v.strictObject({
  name: Identifier,
  value: v.string(),
  unit: Text,
  source: v.optional(v.picklist(['formula-scaled', 'override', 'default']), 'override'),
  sourceRef: Text,
});

/** Where the value of a parameter came from (decisions 1.7). */
export const ParameterValue = v.strictObject({
  name: v.string(),
  value: v.string(),
  unit: v.string(),
  source: v.picklist(['formula-scaled', 'override', 'default']),
  sourceRef: v.string(),
});
export type ParameterValue = ToldBy<typeof ParameterValue>;

// ---------------------------------------------------------------- specs

const PhaseCharts = v.strictObject({
  holding: v.optional(PhaseChart),
  restarting: v.optional(PhaseChart),
  stopping: v.optional(PhaseChart),
  aborting: v.optional(PhaseChart),
  resetting: v.optional(PhaseChart),
});

const PHASE_FIELDS = {
  description: Text,
  roles: v.optional(v.array(RoleSpec), []),
  parameters: v.optional(v.array(ParameterSpec), []),
  outputs: v.optional(v.array(OutputSpec), []),
  variables: v.optional(v.array(VariableSpec), []),
  materials: v.optional(v.array(MaterialSpec), []),
  /** The running chart lies directly in the spec. */
  ...PhaseChart.entries,
  charts: v.optional(PhaseCharts, {}),
  /** Budget of one run of the running chart; 0: none. */
  timeoutSeconds: Count,
  restartStep: Text,
  edgeLocalHold: v.optional(v.boolean(), true),
  /** Withdrawn (D-C-08): parsed so that what was written before stays valid; the notes of the template warn of it. */
  autoRestartWithinSeconds: Count,
};

const SEQUENCE_FIELDS = {
  description: Text,
  /** `equipment`: eligible for ad-hoc execution. */
  category: v.optional(v.picklist(['process', 'equipment']), 'process'),
  parameters: v.optional(v.array(ParameterSpec), []),
  outputs: v.optional(v.array(OutputSpec), []),
  chart: v.optional(ProceduralChartField, {}),
  timeoutSeconds: Count,
};

const PROCEDURE_FIELDS = {
  description: Text,
  parameters: v.optional(v.array(ParameterSpec), []),
  chart: v.optional(ProceduralChartField, {}),
};

const ParentRef = v.strictObject({ kind: Required, name: Required });

const ELEMENT_FIELDS = {
  templateRef: Text,
  batchRef: Text,
  parentRef: v.optional(v.nullable(ParentRef), null),
  stepName: Text,
  /** Step path from the root, for example `makeResin/charge/monomer`. */
  stepPath: Text,
  roleMap: v.optional(freeMap(v.string()), {}),
  parameterValues: v.optional(v.array(ParameterValueField), []),
  mode: v.optional(v.picklist(['', ...MODES]), ''),
};
const ON_UNIT = { unitRef: Text };

export const PhaseTemplateSpec = v.strictObject(PHASE_FIELDS);
export type PhaseTemplateSpec = v.InferOutput<typeof PhaseTemplateSpec>;
export const OperationTemplateSpec = v.strictObject(SEQUENCE_FIELDS);
export type OperationTemplateSpec = v.InferOutput<typeof OperationTemplateSpec>;
export const UnitProcedureTemplateSpec = OperationTemplateSpec;
export type UnitProcedureTemplateSpec = OperationTemplateSpec;
export const ProcedureTemplateSpec = v.strictObject(PROCEDURE_FIELDS);
export type ProcedureTemplateSpec = v.InferOutput<typeof ProcedureTemplateSpec>;

export const PhaseSpec = v.strictObject({ ...PHASE_FIELDS, ...ELEMENT_FIELDS, ...ON_UNIT });
export type PhaseSpec = v.InferOutput<typeof PhaseSpec>;
export const OperationSpec = v.strictObject({ ...SEQUENCE_FIELDS, ...ELEMENT_FIELDS, ...ON_UNIT });
export type OperationSpec = v.InferOutput<typeof OperationSpec>;
export const UnitProcedureSpec = OperationSpec;
export type UnitProcedureSpec = OperationSpec;
export const ProcedureSpec = v.strictObject({ ...PROCEDURE_FIELDS, ...ELEMENT_FIELDS });
export type ProcedureSpec = v.InferOutput<typeof ProcedureSpec>;

describeFields(Position, POSITION_WORDS);
describeFields(ChartStep, CHART_STEP_WORDS);
describeFields(ChartTransition, TRANSITION_WORDS);
describeFields(Divergence, DIVERGENCE_WORDS);
describeFields(PhaseChart, PHASE_CHART_WORDS);
describeFields(PhaseCharts, PHASE_CHARTS_WORDS);
describeFields(StepBinding, STEP_BINDING_WORDS);
describeFields(ProceduralStep, PROCEDURAL_STEP_WORDS);
describeFields(ProceduralChartShape, PROCEDURAL_CHART_WORDS);
describeFields(ParameterSpec, PARAMETER_WORDS);
describeFields(OutputSpec, OUTPUT_WORDS);
describeFields(RoleSpec, ROLE_WORDS);
describeFields(VariableSpec, VARIABLE_WORDS);
describeFields(MaterialSpec, MATERIAL_WORDS);
describeFields(ParameterValueField, PARAMETER_VALUE_WORDS);
describeFields(ParameterValue, PARAMETER_VALUE_WORDS);
describeFields(PhaseTemplateSpec, PHASE_TEMPLATE_WORDS);
describeFields(OperationTemplateSpec, SEQUENCE_TEMPLATE_WORDS);
describeFields(ProcedureTemplateSpec, PROCEDURE_TEMPLATE_WORDS);
describeFields(ParentRef, PARENT_WORDS);
describeFields(PhaseSpec, { ...PHASE_TEMPLATE_WORDS, ...ELEMENT_WORDS, ...ON_UNIT_WORDS });
describeFields(OperationSpec, { ...SEQUENCE_TEMPLATE_WORDS, ...ELEMENT_WORDS, ...ON_UNIT_WORDS });
describeFields(ProcedureSpec, { ...PROCEDURE_TEMPLATE_WORDS, ...ELEMENT_WORDS });

// ---------------------------------------------------------------- status

export const ElementOutput = v.strictObject({
  name: v.string(),
  value: v.string(),
  type: v.picklist(PARAMETER_TYPES),
  unit: v.string(),
});
export type ElementOutput = ToldBy<typeof ElementOutput>;

/** Contract 3, Procedural resources: `choices`, or `min`, `max` and `unit` as decimal text; `resultKey` on AWAIT_RESULT. */
export const PendingPrompt = v.strictObject({
  id: v.string(),
  text: v.string(),
  timestamp: v.string(),
  stepName: v.string(),
  type: v.picklist(['acknowledge', 'choice', 'value']),
  choices: v.optional(v.array(v.string())),
  min: v.optional(v.string()),
  max: v.optional(v.string()),
  unit: v.optional(v.string()),
  resultKey: v.optional(v.string()),
  /** The answer counts when somebody else has confirmed it (ADR 0144). */
  secondSigner: v.optional(v.literal(true)),
});
export type PendingPrompt = ToldBy<typeof PendingPrompt>;

nameSchemas({
  ChartStep,
  ChartTransition,
  ChartDivergence: Divergence,
  PhaseChart,
  StepBinding,
  ProceduralStep,
  ProceduralChart: ProceduralChartField,
  ParameterSpec,
  OutputSpec,
  RoleSpec,
  VariableSpec,
  MaterialSpec,
  ParameterValueSpec: ParameterValueField,
  ParameterValue,
  PhaseTemplateSpec,
  OperationTemplateSpec,
  ProcedureTemplateSpec,
  PhaseSpec,
  OperationSpec,
  ProcedureSpec,
  ElementOutput,
  PendingPrompt,
});

/** Where a chart stands; persisted with its element. */
const ChartProgress = v.object({
  active: v.array(v.string()),
  completed: v.array(v.string()),
  fired: v.array(v.string()),
  /** Activations per step; more than 1000 of one step end the element. */
  activations: v.record(v.string(), v.number()),
  /** Run time of the element (`ranMs`) at the activation of each step; missing in what a release before this one has kept. */
  activatedRanMs: v.exactOptional(v.record(v.string(), v.number())),
});
export type ChartProgress = ToldBy<typeof ChartProgress>;

export interface ElementStatus {
  readonly state: State;
  readonly mode: Mode;
  /** Of one in Manual (manual-levels.ts); what stands beside another mode says nothing. */
  readonly manual?: ManualSince;
  readonly runCount: number;
  readonly startedAt: string;
  readonly endedAt: string;
  /** When it entered its state, as its events say; absent in what a release before this one has kept. */
  readonly stateAt?: string;
  readonly failure?: ElementFailure | undefined;
  /** Holds of the root of an ad-hoc run, as of a batch. */
  readonly holds?: readonly Hold[] | undefined;
  readonly commandRejection?: CommandRejection;
  /** On the root of an ad-hoc run: the command that waits to be judged; not served. */
  readonly pendingCommand?: PendingCommand;
  /** It belongs to an ad-hoc run. The label beside it is a copy to be read (ADR 0020). */
  readonly adhoc?: true;
  readonly outputs: readonly ElementOutput[];
  readonly pendingPrompt?: PendingPrompt;
  readonly sfcStatus?: SfcStatus;
  /** Status of the exception chart when it is the one being executed. */
  readonly chartStatus?: SfcStatus & { readonly chart?: ChartName };
  /** The last durable record of a phase run; not served. */
  readonly checkpoint?: PhaseCheckpoint;
  /** When the worker told of it; not served, absent in data of 0.1.0. */
  readonly savedAt?: LifeSign;
  readonly heldInside: boolean;
  readonly pausedInside: boolean;
  readonly blockedBecause: string;
  readonly conditions: readonly StoredCondition[];
  /** Where the procedural chart stands (not on phases). */
  readonly progress?: ChartProgress;
  /** Plant ms in Running, Pausing and Restarting of this run, as last kept (not on phases). */
  readonly ranMs?: number;
  /** Spent of the time budget (decisions, `timeoutSeconds`), in ms, as last kept; absent when none runs (not on phases). */
  readonly spentMs?: number | null;
  /** `since` of the phase failure that its ancestors have already followed. */
  readonly escalated?: string;
  /** Start of the wait for a prompt answer that is stored but not yet seen by the unit runtime. */
  readonly answer?: { readonly waitId: string; readonly value: number | string };
  readonly pausedAt?: string;
  /** Final state that Resetting came from (not on phases, whose checkpoint has it). */
  readonly returnTo?: State | '';
  /** Why its last reset did not end in Idle; absent or '' when none has failed (ADR 0014). */
  readonly resetFailed?: string;
}

const ELEMENT_STATUS: StatusMembers<ElementStatus> = {
  state: v.picklist(STATES),
  mode: v.picklist(MODES),
  manual: ManualSince,
  runCount: v.number(),
  startedAt: v.string(),
  endedAt: v.string(),
  stateAt: v.string(),
  failure: ElementFailure,
  holds: v.array(Hold),
  commandRejection: CommandRejection,
  pendingCommand: JUDGED_ELSEWHERE, // `orderOn`: one that cannot be read has a verdict
  adhoc: v.literal(true),
  outputs: v.array(ElementOutput),
  pendingPrompt: PendingPrompt,
  sfcStatus: ChartStatus,
  chartStatus: ExceptionStatus,
  checkpoint: Checkpoint,
  savedAt: JUDGED_ELSEWHERE, // `readSign`
  heldInside: v.boolean(),
  pausedInside: v.boolean(),
  blockedBecause: v.string(),
  conditions: v.array(Condition),
  progress: ChartProgress,
  ranMs: v.number(),
  spentMs: v.nullable(v.number()),
  escalated: v.string(),
  answer: v.object({ waitId: v.string(), value: v.union([v.number(), v.string()]) }),
  pausedAt: v.string(),
  returnTo: v.picklist(['', ...STATES]),
  resetFailed: v.string(),
};

export function elementStatus(spec: { readonly mode: Mode | '' }): ElementStatus {
  return {
    state: 'Idle',
    mode: spec.mode === '' ? 'Automatic' : spec.mode,
    runCount: 0,
    startedAt: '',
    endedAt: '',
    outputs: [],
    heldInside: false,
    pausedInside: false,
    blockedBecause: '',
    conditions: [],
  };
}

// ---------------------------------------------------------------- kinds

type NoStatus = Readonly<Record<string, never>>;

/** The templates that the steps of a chart stand for, and those of the charts inside it. They may come later (decisions Q-ERR-13). */
export function templatesNamed({ steps = [] }: ProceduralChart, path: string, site: string): readonly Reference[] {
  return steps.flatMap(({ templateKind, templateRef = '', subChart }, at) => {
    const step = `${path}.steps[${at}]`;
    const own = templateKind ? named({ path: `${step}.templateRef`, kind: templateKind, site, name: templateRef, when: 'run' }) : [];
    return subChart ? [...own, ...templatesNamed(subChart, `${step}.subChart`, site)] : own;
  });
}

/** A template stays for as long as another one is made of it (decisions Q-RECIPE-18). */
function chartReferences({ chart }: { readonly chart: ProceduralChart }, site: string): readonly Reference[] {
  return templatesNamed(chart, 'chart', site).map((reference) => ({ ...reference, holds: true }));
}

/**
 * What an element names that stands by itself. What is below it, and what a batch has made, is part of a run: the root or the batch
 * says for the whole of it what it works with.
 */
function elementReferences(
  kind: (typeof TEMPLATE_KINDS)[number],
): (spec: { readonly batchRef: string; readonly parentRef: unknown; readonly templateRef: string; readonly unitRef?: string }, site: string) => readonly Reference[] {
  return ({ batchRef, parentRef, templateRef, unitRef = '' }, site) => {
    if (batchRef !== '' || parentRef !== null) return [];
    return named({ path: 'templateRef', kind, site, name: templateRef, when: 'run' }, { path: 'unitRef', kind: 'Unit', site, name: unitRef, when: 'run' });
  };
}

/** What would be above it may be of a run that is past (ADR 0037). */
function parentOf({ parentRef }: { readonly parentRef: { readonly kind: string; readonly name: string } | null }, site: string): readonly Ref[] {
  return parentRef ? [{ kind: parentRef.kind, site, name: parentRef.name }] : [];
}

/** What all eight kinds have in common. */
const RECIPE = { group: 'recipe', scope: 'site', body: 'spec', apply: { how: 'yes' } } as const;
const TEMPLATE = { ...RECIPE, controlled: true } as const;

export const PhaseTemplate: Kind<PhaseTemplateSpec, NoStatus> = {
  ...TEMPLATE,
  kind: 'PhaseTemplate',
  action: 'phasetemplate',
  path: 'phasetemplates',
  spec: PhaseTemplateSpec,
  initialStatus: () => ({}),
};

export const OperationTemplate: Kind<OperationTemplateSpec, NoStatus> = {
  ...TEMPLATE,
  kind: 'OperationTemplate',
  action: 'operationtemplate',
  path: 'operationtemplates',
  spec: OperationTemplateSpec,
  initialStatus: () => ({}),
  references: chartReferences,
};

export const UnitProcedureTemplate: Kind<UnitProcedureTemplateSpec, NoStatus> = {
  ...TEMPLATE,
  kind: 'UnitProcedureTemplate',
  action: 'unitproceduretemplate',
  path: 'unitproceduretemplates',
  spec: UnitProcedureTemplateSpec,
  initialStatus: () => ({}),
  references: chartReferences,
};

export const ProcedureTemplate: Kind<ProcedureTemplateSpec, NoStatus> = {
  ...TEMPLATE,
  kind: 'ProcedureTemplate',
  action: 'proceduretemplate',
  path: 'proceduretemplates',
  spec: ProcedureTemplateSpec,
  initialStatus: () => ({}),
  references: chartReferences,
};

export const Phase: Kind<PhaseSpec, ElementStatus> = {
  ...RECIPE,
  kind: 'Phase',
  runs: true,
  action: 'phase',
  path: 'phases',
  spec: PhaseSpec,
  initialStatus: elementStatus,
  status: ELEMENT_STATUS,
  references: elementReferences('PhaseTemplate'),
  pastWith: { kind: 'Procedure', named: 'below' },
  judgedBy: parentOf,
};

export const Operation: Kind<OperationSpec, ElementStatus> = {
  ...RECIPE,
  kind: 'Operation',
  runs: true,
  action: 'operation',
  path: 'operations',
  spec: OperationSpec,
  initialStatus: elementStatus,
  status: ELEMENT_STATUS,
  references: elementReferences('OperationTemplate'),
  pastWith: { kind: 'Procedure', named: 'below' },
  judgedBy: parentOf,
};

export const UnitProcedure: Kind<UnitProcedureSpec, ElementStatus> = {
  ...RECIPE,
  kind: 'UnitProcedure',
  runs: true,
  action: 'unitprocedure',
  path: 'unitprocedures',
  spec: UnitProcedureSpec,
  initialStatus: elementStatus,
  status: ELEMENT_STATUS,
  references: elementReferences('UnitProcedureTemplate'),
  pastWith: { kind: 'Procedure', named: 'below' },
  judgedBy: parentOf,
};

export const Procedure: Kind<ProcedureSpec, ElementStatus> = {
  ...RECIPE,
  kind: 'Procedure',
  runs: true,
  action: 'procedure',
  path: 'procedures',
  spec: ProcedureSpec,
  initialStatus: elementStatus,
  status: ELEMENT_STATUS,
  references: elementReferences('ProcedureTemplate'),
  pastWith: { kind: 'Procedure', named: 'alike' },
  pastIndex: (_procedure, members) => ({ ...runEntry(members) }),
  pastShape: { ...RUN_SHAPE, stands: maybe(listOf(shaped({ unit: isText, template: isText, state: isText }))) },
  pastBelow: 'Batch',
  judgedBy: parentOf,
};

/** Labels set by the system (decisions 1.1), to be read; nothing acts on them. */
export const ADHOC_LABEL = 'lineside.io/adhoc';
export const SOURCE_TEMPLATE_LABEL = 'lineside.io/source-template';
export const BATCH_LABEL = 'lineside.io/batch';
