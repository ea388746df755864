/** Read bodies of control modules and templates (contract 3, Control module; decisions Q-PROG-12). */
import { printTime } from '../../../runtime/language/time-text.js';
import type { DataType, Value } from '../../../runtime/vocabulary/data-types.js';
import { shown } from '../../platform/base/term.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { clusterMetadataBody, metadataBody } from '../../platform/store/read-body.js';
import type { Resource, Condition } from '../../platform/store/resource.js';
import { NO_BYPASS } from './bypass.js';
import { type ControlModuleSpec, type ControlModuleStatus, ControlModuleTemplate, type ControlModuleTemplateSpec, EQUIPMENT_MODULE_LABEL } from './kind.js';
import { tuningKept } from './parameters.js';
import { unfedOf } from './unfed.js';
import { danglingOf, mergeTags } from './rules.js';
import { modeOf, resolvedModuleOf } from './modules.js';
import { ControlProgram } from '../logic/kind.js';
import { unitOf } from '../plant/unit-of.js';

/** `notes`: what of its logic reads nothing. */
export function templateBody(resource: Resource<ControlModuleTemplateSpec>): unknown {
  const notes = unfedOf(resource.spec);
  const { parameters = [] } = resource.spec;
  return { name: resource.metadata.name, ...resource.spec, parameters, ...(notes.length > 0 ? { notes } : {}), ...clusterMetadataBody(resource) };
}

const HEALTH = { Running: 'Running', Degraded: 'Running', Error: 'CompileError', Stopped: 'Down', Pending: 'Unknown' } as const;
type HealthWord = (typeof HEALTH)[keyof typeof HEALTH];

/** Health word of the module's logic (decisions Q-PROG-02); Unknown before the unit runtime has loaded it. */
export function moduleHealth(read: StoreReader, site: string, name: string): { state: HealthWord; message: string } {
  const program = read.get(ControlProgram, site, name);
  return program ? { state: HEALTH[program.status.state], message: program.status.message } : { state: 'Unknown', message: '' };
}

export function moduleBody(resource: Resource<ControlModuleSpec, ControlModuleStatus>, read: StoreReader): unknown {
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
export function parametersBody(resource: Resource<ControlModuleSpec, ControlModuleStatus>, read: StoreReader): readonly unknown[] {
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
