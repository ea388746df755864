/** Admission of control programs and composite block types (contract 3, Control program; decisions Q-PROG-01..08, 5.3). */
import * as v from 'valibot';
import { parseDuration } from '../../platform/base/duration-text.js';
import { conflict, invalid } from '../../platform/base/refusal.js';
import type { Admission, Dependent, StoreReader } from '../../platform/store/kind.js';
import { kindNamed } from '../../platform/store/named-kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { ControlModuleTemplate } from '../control-modules/kind.js';
import { dependentsIn, mustExist, UNIT } from '../plant/rules.js';
import { type ControlProgram, ControlProgramSpec, type ControlProgramStatus, type FunctionBlockType, type FunctionBlockTypeSpec } from './kind.js';

export const PROGRAM = kindNamed<typeof ControlProgram>('ControlProgram');
export const BLOCK_TYPE = kindNamed<typeof FunctionBlockType>('FunctionBlockType');
const TEMPLATE = kindNamed<typeof ControlModuleTemplate>('ControlModuleTemplate');

type ProgramAdmission = Admission<ControlProgramSpec, ControlProgramStatus>;

// ---------------------------------------------------------------- composite types

export function admitBlockType(spec: FunctionBlockTypeSpec, _context: Admission<FunctionBlockTypeSpec, Readonly<Record<string, never>>>): FunctionBlockTypeSpec {
  return spec;
}

/** Templates, programs and other composites that use it (decisions 1.2). */
export function blockTypeDependents(read: StoreReader, type: string): Dependent[] {
  const uses = ({ spec }: { spec: { blocks: readonly { type: string }[] } }): boolean => spec.blocks.some((block) => block.type === type);
  return [...dependentsIn(read, TEMPLATE, '', uses), ...dependentsIn(read, PROGRAM, undefined, uses), ...dependentsIn(read, BLOCK_TYPE, '', uses)];
}

// ---------------------------------------------------------------- programs

/** A bare number reads as milliseconds; null when it does not read or is not above zero (contract 3, Control program). */
export function scanIntervalMs(value: string | number): number | null {
  const ms = typeof value === 'number' ? value : /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : parseDuration(value);
  return ms !== null && Number.isFinite(ms) && ms > 0 ? ms : null;
}

export function admitProgram(spec: ControlProgramSpec, context: ProgramAdmission): ControlProgramSpec {
  refuseManaged(context.before, context.via);
  mustExist(context.read, UNIT, context.site, spec.unitRef, 'spec.unitRef');
  if (context.via === 'rest') checkProgram(spec, context.before?.spec);
  return { ...spec, scanInterval: typeof spec.scanInterval === 'number' ? `${spec.scanInterval}ms` : spec.scanInterval };
}

/** 409 for a program that a control module made (decisions Q-PROG-04). */
function refuseManaged(program: Resource<ControlProgramSpec, ControlProgramStatus> | undefined, via: ProgramAdmission['via']): void {
  const owner = program?.metadata.ownerReferences.find((reference) => reference.kind === 'ControlModule');
  if (!owner || via === 'system') return;
  throw conflict('managed_by_control_module', `program ${program?.metadata.name} belongs to control module ${owner.name}; edit the module or its template`, { controlModule: owner.name });
}

/** Checks that generic apply is exempt from (contract 3, Control program). */
function checkProgram(spec: ControlProgramSpec, before: ControlProgramSpec | undefined): void {
  if (spec.unitRef === '') throw invalid('missing_field', 'spec.unitRef', 'spec.unitRef is required');
  if (scanIntervalMs(spec.scanInterval) === null) throw invalid('invalid_field', 'spec.scanInterval', 'spec.scanInterval must be a duration above zero such as 100ms or 1s, or a number of milliseconds');
  const names = new Set<string>();
  spec.blocks.forEach((block, index) => {
    if (names.has(block.name)) throw invalid('invalid_field', `spec.blocks[${index}].name`, `block ${block.name} is declared twice`);
    names.add(block.name);
  });
  const resolvedBefore = new Set(before?.blocks.map((block) => block.name) ?? []);
  const boundBefore = new Set(before?.variableBindings.map((binding) => JSON.stringify(binding)) ?? []);
  spec.variableBindings.forEach((binding, index) => {
    if (names.has(binding.blockRef)) return;
    // an update may carry along a binding that did not resolve before, but must not strand one that did
    if (before && boundBefore.has(JSON.stringify(binding)) && !resolvedBefore.has(binding.blockRef)) return;
    throw invalid('invalid_field', `spec.variableBindings[${index}].blockRef`, `variable ${binding.variable} is bound to block ${binding.blockRef}, which the program does not have`);
  });
}

export function refuseProgramDelete(program: Resource<ControlProgramSpec, ControlProgramStatus>, read: StoreReader): void {
  refuseManaged(program, 'rest');
  refuseWhileActive(program, read);
}

/** 409 while the unit works for a batch or an ad-hoc run (decisions Q-PROG-03). */
export function refuseWhileActive({ metadata, spec }: Resource<ControlProgramSpec, ControlProgramStatus>, read: StoreReader): void {
  const unit = read.get(UNIT, metadata.site, spec.unitRef);
  const holder = unit?.status.allocatedTo || unit?.status.activeWork?.name;
  if (!holder) return;
  throw conflict('active_batch', `unit ${spec.unitRef} works for ${holder}; end that work, or arm override-hot-swap with a reason`, { batch: holder, unit: spec.unitRef });
}

const KNOWN_MEMBERS = ['unitRef', 'scanInterval', 'blocks', 'connections', 'variables', 'variableBindings'] as const;

/** Generic apply ignores unknown members and reads `dataConnections` as `connections` (decisions Q-PROG-05). */
export function decodeProgramLeniently(input: unknown): { spec: ControlProgramSpec; warnings: string[] } {
  const given = (input ?? {}) as Record<string, unknown>;
  const warnings: string[] = [];
  const known: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(given)) {
    if ((KNOWN_MEMBERS as readonly string[]).includes(key)) known[key] = value;
    else if (key === 'dataConnections' && given.connections === undefined) known.connections = value;
    else warnings.push(`spec.${key} is not a field of a control program and was ignored`);
  }
  return { spec: v.parse(ControlProgramSpec, known), warnings };
}
