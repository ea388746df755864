/** Read bodies of control modules and templates (contract 3, Control module; decisions Q-PROG-12). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { printTime } from '../../../runtime/language/time-text.js';
import type { DataType, Value } from '../../../runtime/vocabulary/data-types.js';
import { MODES } from '../../../runtime/vocabulary/modes.js';
import { shown } from '../../platform/base/term.js';
import { Condition as ConditionBody, type ToldBy } from '../../platform/http/replies.js';
import { Scalar } from '../../platform/store/fields.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { CLUSTER_METADATA, clusterMetadataBody, metadataBody, SITE_METADATA } from '../../platform/store/read-body.js';
import type { Resource, Condition } from '../../platform/store/resource.js';
import { NO_BYPASS } from './bypass.js';
import {
  type ControlModuleSpec,
  type ControlModuleStatus,
  ControlModuleTemplate,
  ControlModuleTemplateSpec,
  DEVICE_CLASSES,
  EQUIPMENT_MODULE_LABEL,
  InputBinding,
  MeasuredVariable,
  ParamOverride,
  PARENT_KINDS,
  TemplateParameter,
  TemplateTag,
} from './kind.js';
import { tuningKept } from './parameters.js';
import { unfedOf } from './unfed.js';
import { danglingOf, mergeTags } from './rules.js';
import { modeOf, resolvedModuleOf } from './modules.js';
import { ControlProgram } from '../logic/kind.js';
import { unitOf } from '../plant/unit-of.js';

const HEALTH_WORDS = ['Running', 'CompileError', 'Down', 'Unknown'] as const;
type HealthWord = (typeof HEALTH_WORDS)[number];

const { structuredText: _compiled, ...templateEntries } = ControlModuleTemplateSpec.entries;

export const TemplateBody = v.strictObject({
  name: v.string(),
  ...templateEntries,
  parameters: v.array(TemplateParameter),
  /** What of its logic reads nothing; absent where all of it reads something. */
  notes: v.optional(v.array(v.string())),
  ...CLUSTER_METADATA,
});
export type TemplateBody = ToldBy<typeof TemplateBody>;

const TunedParameter = v.strictObject({
  name: v.string(),
  blockRef: v.string(),
  param: v.string(),
  dataType: v.string(),
  value: Scalar,
  templateValue: Scalar,
  engMin: v.string(),
  engMax: v.string(),
  engUnits: v.string(),
  description: v.string(),
  /** Who gave it its value; null where the template or the spec of the module did. */
  tuned: v.nullable(v.strictObject({ previous: Scalar, by: v.string(), at: v.string(), reason: v.string() })),
});

export const TunedParameters = v.array(TunedParameter);
export type TunedParameters = ToldBy<typeof TunedParameters>;

/** A bypass of interlocks, or that there is none. */
export const BypassShown = v.strictObject({ active: v.boolean(), until: v.string(), by: v.string(), reason: v.string(), interlocks: v.array(v.string()) });
export type BypassShown = ToldBy<typeof BypassShown>;

const MergedTag = { ...TemplateTag.entries, inherited: v.boolean() };

export const ModuleBody = v.strictObject({
  name: v.string(),
  parentName: v.string(),
  parentKind: v.picklist(PARENT_KINDS),
  unit: v.string(),
  equipmentModule: v.string(),
  templateRef: v.string(),
  moduleType: v.string(),
  deviceClass: v.picklist(DEVICE_CLASSES),
  symbolId: v.string(),
  measuredVariable: MeasuredVariable,
  description: v.string(),
  mode: v.picklist(MODES),
  state: v.picklist(HEALTH_WORDS),
  message: v.string(),
  tags: v.array(v.strictObject(MergedTag)),
  /** With their bounds as numbers in text, whatever they were given as. */
  effectiveTags: v.array(v.strictObject(MergedTag)),
  inputBindings: v.array(InputBinding),
  paramOverrides: v.array(ParamOverride),
  parameters: TunedParameters,
  ioModules: v.array(v.string()),
  program: v.string(),
  interlockBypass: BypassShown,
  overrides: v.array(v.strictObject({ tag: v.string(), value: v.nullable(Scalar), by: v.string(), at: v.string() })),
  conditions: v.array(ConditionBody),
  ...SITE_METADATA,
});
export type ModuleBody = ToldBy<typeof ModuleBody>;

nameSchemas({ ControlModuleTemplateBody: TemplateBody, TunedParameter, BypassShown, ControlModuleBody: ModuleBody });

/** `notes`: what of its logic reads nothing. */
export function templateBody(resource: Resource<ControlModuleTemplateSpec>): TemplateBody {
  const notes = unfedOf(resource.spec);
  const { parameters = [] } = resource.spec;
  return { name: resource.metadata.name, ...resource.spec, parameters, ...(notes.length > 0 ? { notes } : {}), ...clusterMetadataBody(resource) };
}

const HEALTH = { Running: 'Running', Degraded: 'Running', Error: 'CompileError', Stopped: 'Down', Pending: 'Unknown' } as const satisfies Record<string, HealthWord>;

/** Health word of the module's logic (decisions Q-PROG-02); Unknown before the unit runtime has loaded it. */
export function moduleHealth(read: StoreReader, site: string, name: string): { state: HealthWord; message: string } {
  const program = read.get(ControlProgram, site, name);
  return program ? { state: HEALTH[program.status.state], message: program.status.message } : { state: 'Unknown', message: '' };
}

export function moduleBody(resource: Resource<ControlModuleSpec, ControlModuleStatus>, read: StoreReader): ModuleBody {
  const { metadata, spec, status } = resource;
  const template = read.get(ControlModuleTemplate, '', spec.templateRef);
  const resolved = resolvedModuleOf(read, resource);
  const health = moduleHealth(read, metadata.site, metadata.name);
  const dangling = danglingOf(read, resource);
  return {
    name: metadata.name,
    parentName: spec.parentName,
    parentKind: spec.parentKind,
    unit: unitOf(read, metadata.site, spec),
    equipmentModule: metadata.labels[EQUIPMENT_MODULE_LABEL] ?? '',
    templateRef: spec.templateRef,
    moduleType: resolved?.moduleType ?? '',
    deviceClass: resolved?.deviceClass ?? 'other',
    symbolId: resolved?.symbolId ?? spec.symbolId,
    measuredVariable: resolved?.measuredVariable ?? spec.measuredVariable,
    description: spec.description,
    mode: modeOf(resource),
    state: health.state,
    message: [health.message, dangling].filter((text) => text !== '').join('; ') || status.message,
    tags: mergeTags(template?.spec.tags ?? [], spec.tags),
    effectiveTags: (resolved?.tags ?? []).map(({ type: _type, min, max, ...tag }) => ({ ...tag, engMin: bound(min), engMax: bound(max) })),
    inputBindings: spec.inputBindings,
    paramOverrides: spec.paramOverrides,
    parameters: parametersBody(resource, read),
    ioModules: resolved?.ioModules ?? [],
    program: read.get(ControlProgram, metadata.site, metadata.name) ? metadata.name : '',
    interlockBypass: shown(status.interlockBypass ?? NO_BYPASS),
    overrides: status.overrides.map((override) => ({ ...override, value: native(resolved?.tags.find(({ name }) => name === override.tag)?.type, override.value) })),
    conditions: [...status.conditions, configuration(dangling), ...degraded(read, metadata.site, metadata.name)],
    ...metadataBody(resource),
  };
}

/** Tunable parameters with the value the module has, and who gave it to it (D-C-13). */
export function parametersBody(resource: Resource<ControlModuleSpec, ControlModuleStatus>, read: StoreReader): TunedParameters {
  const parameters = resolvedModuleOf(read, resource)?.parameters ?? [];
  const tuning = tuningKept(resource.status.tuning ?? [], parameters);
  return parameters.map(({ declared, tag, value, templateValue }) => {
    const { name, blockRef, param, engUnits, description } = declared;
    const last = tuning.find((each) => each.name === name);
    const tuned = last ? { previous: last.previous, by: last.by, at: last.at, reason: last.reason } : null;
    return { name, blockRef, param, dataType: tag.dataType, value, templateValue, engMin: bound(tag.min), engMax: bound(tag.max), engUnits, description, tuned };
  });
}

/** A value that is kept as text, as the tag is read: native JSON, TIME as `T#1m30s` (decisions Q-TAG-01). */
function native(type: DataType | undefined, text: string): Value {
  if (type === undefined || type === 'STRING') return text;
  if (text === 'null') return null;
  if (type === 'BOOL') return text === 'true';
  return type === 'TIME' ? printTime(Number(text)) : Number(text);
}

/** Whether everything the module refers to is there (decisions D-UNIT-02). */
function configuration(dangling: string): Condition {
  return dangling === ''
    ? { type: 'ConfigurationValid', status: 'True', reason: 'AllFound', message: '' }
    : { type: 'ConfigurationValid', status: 'False', reason: 'DanglingReference', message: dangling };
}

/** Blocks of the module that were skipped in the last scan, while there are any (contract 3, Control program). */
function degraded(read: StoreReader, site: string, name: string): readonly Condition[] {
  const program = read.get(ControlProgram, site, name);
  return program?.status.state === 'Degraded' ? [{ type: 'Degraded', status: 'True', reason: 'BlockFaulted', message: program.status.message }] : [];
}

/** Bounds are text on the wire; empty when absent. */
function bound(value: number | undefined): string {
  return value === undefined ? '' : String(value);
}
