/** Admission of control programs and composite block types (contract 3, Control program; decisions Q-PROG-01..08, 5.3). */
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { isBuiltinName, portLookup } from '../../../runtime/catalog.js';
import { parseValueText } from '../../../runtime/language/value-text.js';
import { iecType } from '../../../runtime/vocabulary/data-types.js';
import type { CompositeType, NetworkVariable } from '../../../runtime/vocabulary/network.js';
import { parseDuration } from '../../platform/base/duration-text.js';
import { conflict, forAll, invalid } from '../../platform/base/refusal.js';
import { decode } from '../../platform/http/json-body.js';
import { type Admission, type StoreReader, ruled } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { refuseClaimed } from './output-claims.js';
import { ControlModule, ControlModuleTemplate } from '../control-modules/kind.js';
import { workOn } from '../plant/unit-owner.js';
import { refuseWhileActive } from './active-work.js';
import { blockCatalog, checkNetwork, compileText, compositeOf, compositesOf } from './composites.js';
import { ControlProgram, ControlProgramSpec, type ControlProgramStatus, FunctionBlockType, type FunctionBlockTypeSpec, ownerOfProgram } from './kind.js';
import { Unit } from '../plant/kind.js';
import { openChannelsOf } from './open-channels.js';
import { unitOf } from '../plant/unit-of.js';

type ProgramAdmission = Admission<ControlProgramSpec, ControlProgramStatus>;

// ---------------------------------------------------------------- composite types

const NESTING_MAX = 8; // decisions 1.6

type BlockTypeAdmission = Admission<FunctionBlockTypeSpec, Readonly<Record<string, never>>>;

/** @throws Refusal 409 for the name of a built-in type, 422 for text outside the dataflow subset, 400 for the rest. */
export function admitBlockType(input: FunctionBlockTypeSpec, { name, read, before, via }: BlockTypeAdmission): FunctionBlockTypeSpec {
  // one that is there is changed as ever: a later release brought the built-in one, whose name is written otherwise
  if (!before && isBuiltinName(name)) throw conflict('already_exists', `${name.toUpperCase()} is a built-in block type; choose another name`, { kind: 'FunctionBlockType', name });
  const others = compositesOf(read).filter((type) => type.name !== name);
  const { structuredText, ...given } = input;
  const spec = structuredText === undefined ? given : compileComposite(given, structuredText, others);
  checkFormals(spec);
  checkNesting(name, spec, others);
  const own = compositeOf(name, spec);
  checkNetwork({ blocks: spec.blocks, connections: spec.connections, variables: [], variableBindings: [] }, [...others, own]);
  checkBindings(spec, [...others, own]);
  if (before && via !== 'system' && !isDeepStrictEqual(spec, before.spec)) refuseTypeInUse(name, read);
  return spec;
}

/** A change reloads every program of the type, so it waits while a unit that uses it is active (decisions 5.3). */
function refuseTypeInUse(type: string, read: StoreReader): void {
  const units = [
    ...read.list(ControlProgram).flatMap(({ metadata, spec }) => (usesType(spec, type) ? [{ site: metadata.site, unit: spec.unitRef }] : [])),
    ...read.list(ControlModule).flatMap(({ metadata, spec }) => {
      const template = read.get(ControlModuleTemplate, '', spec.templateRef);
      return template && usesType(template.spec, type) ? [{ site: metadata.site, unit: unitOf(read, metadata.site, spec) }] : [];
    }),
  ];
  const active = units.flatMap(({ site, unit }) => read.get(Unit, site, unit) ?? []).find(({ status }) => workOn(status) !== '');
  if (active)
    throw conflict('active_batch', `unit ${active.metadata.name} uses block type ${type} and works for ${workOn(active.status)}; change the type when that work has ended`, {
      batch: active.status.allocatedTo,
      unit: active.metadata.name,
    });
  for (const { metadata } of read.list(FunctionBlockType).filter(({ spec }) => usesType(spec, type))) refuseTypeInUse(metadata.name, read);
}

function usesType({ blocks }: { readonly blocks: readonly { readonly type: string }[] }, type: string): boolean {
  return blocks.some((block) => block.type === type);
}

/** VAR_INPUT and VAR_OUTPUT of the text become the ports of the type. */
function compileComposite(spec: FunctionBlockTypeSpec, text: string, others: readonly CompositeType[]): FunctionBlockTypeSpec {
  const network = compileText(text, others);
  const direction = new Map(network.variables.map((variable) => [variable.name, variable.direction]));
  const portsOf = (wanted: 'input' | 'output', own: FunctionBlockTypeSpec['inputs']): FunctionBlockTypeSpec['inputs'] =>
    network.variables
      .filter((variable) => variable.direction === wanted)
      .map(
        (variable) =>
          own.find((port) => port.name.toLowerCase() === variable.name.toLowerCase()) ?? {
            name: variable.name,
            dataType: variable.dataType as FunctionBlockTypeSpec['inputs'][number]['dataType'],
            description: '',
          },
      );
  const bindingsOf = (wanted: 'input' | 'output') =>
    network.variableBindings.filter((binding) => direction.get(binding.variable) === wanted).map(({ variable, blockRef, portRef }) => ({ port: variable, blockRef, portRef }));
  return {
    ...spec,
    inputs: portsOf('input', spec.inputs),
    outputs: portsOf('output', spec.outputs),
    blocks: network.blocks.map(({ name, type, params = {}, comment = '' }) => ({ name, type, params: { ...params }, comment })),
    connections: network.connections.map((connection) => ({ ...connection })),
    inputBindings: bindingsOf('input'),
    outputBindings: bindingsOf('output'),
  };
}

function checkFormals(spec: FunctionBlockTypeSpec): void {
  // one name, one thing: `params` of an instance name inputs and parameters alike
  const names = new Set<string>();
  forAll(['inputs', 'outputs', 'params'] as const, (list) => {
    forAll<(typeof spec)['params' | 'inputs'][number]>(spec[list], (formal, index) => {
      const field = `${list}[${index}]`;
      if (names.has(formal.name.toLowerCase())) throw invalid('invalid_field', `${field}.name`, `${formal.name} is declared twice`);
      names.add(formal.name.toLowerCase());
      const { defaultValue = '', dataType } = formal;
      if (defaultValue !== '' && !isConstant(dataType, defaultValue))
        throw invalid('invalid_field', `${field}.defaultValue`, `default ${defaultValue} of ${formal.name} is no ${dataType}`);
    });
  });
}

/** Whether the text is a value of the type; a time may be written `5s` too (decisions 5.1 rule 10). */
function isConstant(dataType: string, text: string): boolean {
  const type = iecType(dataType) ?? 'REAL';
  return parseValueText(type, text) !== null || (type === 'TIME' && parseDuration(text) !== null);
}

/** At most 8 deep and never inside itself (decisions 1.6). */
function checkNesting(name: string, spec: FunctionBlockTypeSpec, others: readonly CompositeType[]): void {
  const known = new Map(others.map((type) => [type.name, type]));
  const depths = new Map<string, number>();
  /** Levels of composite types below; every type is looked into once, however often it is used. */
  const depthBelow = (blocks: readonly { readonly type: string }[]): number => Math.max(0, ...[...new Set(blocks.map(({ type }) => type))].map(depthOf));
  const depthOf = (type: string): number => {
    if (type === name) throw invalid('invalid_field', 'blocks', `block type ${name} would contain itself`);
    const inner = known.get(type);
    const depth = depths.get(type) ?? (inner ? 1 + depthBelow(inner.blocks) : 0);
    depths.set(type, depth);
    return depth;
  };
  const depth = 1 + depthBelow(spec.blocks);
  if (depth > NESTING_MAX) throw invalid('invalid_field', 'blocks', `block types nest at most ${NESTING_MAX} deep`);
  const above = levelsAbove(name, others);
  if (above.levels + depth > NESTING_MAX) throw invalid('invalid_field', 'blocks', `block types nest at most ${NESTING_MAX} deep, and ${above.type} already uses ${name}`);
}

/** The longest way from another type down to this one: how many levels lie above it, and the outermost type. */
function levelsAbove(name: string, others: readonly CompositeType[]): { readonly type: string; readonly levels: number } {
  const known = new Map(others.map((type) => [type.name, type]));
  const levels = new Map([[name, 0]]);
  /** Levels from a type down to `name`; -1 when it does not use it. */
  const levelsTo = (type: string): number => {
    const found = levels.get(type);
    if (found !== undefined) return found;
    const below = Math.max(-1, ...[...new Set(known.get(type)?.blocks.map((block) => block.type) ?? [])].map(levelsTo));
    const all = below < 0 ? -1 : below + 1;
    levels.set(type, all);
    return all;
  };
  let farthest = { type: name, levels: 0 };
  for (const type of known.keys()) if (levelsTo(type) > farthest.levels) farthest = { type, levels: levelsTo(type) };
  return farthest;
}

/** Ports of the type lead to ports of its blocks; an output is fed by exactly one (decisions 1.6). */
function checkBindings(spec: FunctionBlockTypeSpec, composites: readonly CompositeType[]): void {
  const port = portLookup({ blocks: spec.blocks, connections: spec.connections }, composites);
  /** Output ports of the type, and inner inputs, that have their source. */
  const fed = new Set<string>();
  forAll(['input', 'output'] as const, (direction) => {
    const list = `${direction}Bindings` as const;
    forAll(spec[list], (binding, index) => {
      const field = `${list}[${index}]`;
      const formals = direction === 'input' ? spec.inputs : spec.outputs;
      if (!formals.some((formal) => formal.name === binding.port)) throw invalid('invalid_field', `${field}.port`, `the type has no ${direction} ${binding.port}`);
      const found = port(binding.blockRef, binding.portRef);
      if (found?.direction !== direction) throw invalid('invalid_field', `${field}.portRef`, `${binding.blockRef}.${binding.portRef} is no ${direction} of a block of the type`);
      const target = direction === 'output' ? `output ${binding.port}` : `input ${binding.blockRef}.${binding.portRef}`;
      const key = target.toLowerCase();
      if (found.fed || fed.has(key)) throw invalid('invalid_field', `${field}.${direction === 'output' ? 'port' : 'portRef'}`, `${target} is fed twice`);
      fed.add(key);
    });
  });
  forAll(spec.outputs, ({ name }, index) => {
    if (!fed.has(`output ${name}`.toLowerCase())) throw invalid('invalid_field', `outputs[${index}]`, `output ${name} is fed by no block: it needs one entry in outputBindings`);
  });
  checkPortTypes(spec, composites);
  checkParamBindings(spec, composites);
}

/** The ports of the type stand as variables in its network: what leads to or from them must have their type. */
function checkPortTypes(spec: FunctionBlockTypeSpec, composites: readonly CompositeType[]): void {
  const ports = (list: FunctionBlockTypeSpec['inputs'], direction: 'input' | 'output'): NetworkVariable[] => list.map(({ name, dataType }) => ({ name, dataType, direction }));
  const network = {
    blocks: spec.blocks,
    connections: spec.connections,
    variables: [...ports(spec.inputs, 'input'), ...ports(spec.outputs, 'output')],
    variableBindings: [...spec.inputBindings, ...spec.outputBindings].map(({ port, blockRef, portRef }) => ({ variable: port, blockRef, portRef })),
  };
  checkNetwork(network, composites, [], (path) => path.replace(/^variableBindings/, 'inputBindings').replace(/^variables/, 'inputs'));
  const port = portLookup(network, composites);
  spec.outputBindings.forEach(({ port: name, blockRef, portRef }, index) => {
    const declared = iecType(spec.outputs.find((output) => output.name === name)?.dataType ?? '');
    const found = port(blockRef, portRef)?.type;
    if (found && declared && !goesInto(found, declared))
      throw invalid('invalid_field', `outputBindings[${index}].portRef`, `${blockRef}.${portRef} is ${found}, but output ${name} is ${declared}`);
  });
}

/** Equal types, or INT to REAL (decisions 5.1 rule 1). */
function goesInto(from: string, to: string): boolean {
  return from === to || (from === 'INT' && to === 'REAL') || to === 'ANY' || (to === 'NUM' && (from === 'INT' || from === 'REAL'));
}

function checkParamBindings(spec: FunctionBlockTypeSpec, composites: readonly CompositeType[]): void {
  const catalog = blockCatalog(composites);
  const bound = new Set<string>();
  forAll(spec.paramBindings, ({ param, blockRef, blockParam }, index) => {
    const field = `paramBindings[${index}]`;
    const formal = spec.params.find(({ name }) => name === param);
    if (!formal) throw invalid('invalid_field', `${field}.param`, `the type has no parameter ${param}`);
    const block = spec.blocks.find(({ name }) => name === blockRef);
    if (!block) throw invalid('invalid_field', `${field}.blockRef`, `the type has no block ${blockRef}`);
    const type = catalog(block.type);
    const inner = [...(type?.params ?? []), ...(type?.inputs ?? [])].find(({ name }) => name.toLowerCase() === blockParam.toLowerCase());
    if (!inner) throw invalid('invalid_field', `${field}.blockParam`, `a ${block.type} has no parameter or input ${blockParam}`);
    const given = iecType(formal.dataType) ?? 'ANY';
    if (!goesInto(given, inner.type)) throw invalid('invalid_field', `${field}.blockParam`, `parameter ${param} is ${given}, but ${blockRef}.${blockParam} is ${inner.type}`);
    const key = `${blockRef}.${blockParam}`.toLowerCase();
    if (bound.has(key)) throw invalid('invalid_field', `${field}.blockParam`, `${blockRef}.${blockParam} is bound to two parameters`);
    bound.add(key);
  });
}

// ---------------------------------------------------------------- programs

/** A bare number reads as milliseconds; null when it does not read or is not above zero (contract 3, Control program). */
export function scanIntervalMs(value: string | number): number | null {
  // a number is stored as text, so it must be one that reads back
  const ms = typeof value === 'number' ? parseDuration(`${value}ms`) : /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : parseDuration(value);
  return ms !== null && Number.isFinite(ms) && ms > 0 ? ms : null;
}

/** A network that cannot be loaded is refused by REST; through apply it is stored and leads to state Error (decisions 5.1 rule 11). */
export function admitProgram(spec: ControlProgramSpec, context: ProgramAdmission): ControlProgramSpec {
  if (context.before && context.via !== 'system') refuseManaged(context.before);
  const module = context.before || context.via === 'system' ? undefined : context.read.get(ControlModule, context.site, context.name);
  if (module)
    throw conflict('managed_by_control_module', `control module ${context.name} has the name already, and its logic is the program of that name`, { controlModule: context.name });
  if (context.via === 'rest') {
    checkProgram(spec, context.before?.spec, context.read);
    refuseClaimed(spec, context);
  }
  return { ...spec, scanInterval: typeof spec.scanInterval === 'number' ? `${spec.scanInterval}ms` : spec.scanInterval };
}

/** 409 for a program that a control module made (decisions Q-PROG-04). */
export function refuseManaged({ metadata }: Resource<ControlProgramSpec, ControlProgramStatus>): void {
  const owner = ownerOfProgram(metadata);
  if (owner === undefined) return;
  throw conflict('managed_by_control_module', `program ${metadata.name} belongs to control module ${owner}; edit the module or its template`, { controlModule: owner });
}

/** Checks that generic apply is exempt from (contract 3, Control program). */
function checkProgram(spec: ControlProgramSpec, before: ControlProgramSpec | undefined, read: StoreReader): void {
  if (spec.unitRef === '') throw invalid('missing_field', 'spec.unitRef', 'spec.unitRef is required');
  if (scanIntervalMs(spec.scanInterval) === null)
    throw invalid('invalid_field', 'spec.scanInterval', 'spec.scanInterval must be a duration above zero such as 100ms or 1s, or a number of milliseconds');
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
    throw invalid(
      'invalid_field',
      `spec.variableBindings[${index}].blockRef`,
      `variable ${binding.variable} is bound to block ${binding.blockRef}, which the program does not have`,
    );
  });
  const resolved = spec.variableBindings.filter((binding) => names.has(binding.blockRef));
  const variables = spec.variables as readonly NetworkVariable[];
  checkNetwork({ blocks: spec.blocks, connections: spec.connections, variables, variableBindings: resolved }, compositesOf(read), [], (path) => `spec.${path}`);
}

export function refuseProgramDelete(program: Resource<ControlProgramSpec, ControlProgramStatus>, read: StoreReader): void {
  refuseManaged(program);
  refuseWhileActive(program.metadata.site, program.spec.unitRef, read);
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
  const { spec } = decode(v.strictObject({ spec: ControlProgramSpec }), { spec: known });
  warnings.push(...openChannelsOf(spec.blocks, 'set params.addr to <ioModule>:<channel>'));
  return { spec, warnings };
}

export const blockTypeRules = ruled(FunctionBlockType, {
  refuses: { write: { 400: ['invalid_network'], 409: ['already_exists', 'active_batch', 'profile_limit'], 422: ['unprocessable'] } },
  admit: admitBlockType,
});
export const programRules = ruled(ControlProgram, {
  refuses: {
    write: { 400: ['invalid_network'], 409: ['active_batch', 'managed_by_control_module', 'output_claimed', 'profile_limit'] },
    remove: { 409: ['active_batch', 'managed_by_control_module'] },
  },
  lenient: decodeProgramLeniently,
  admit: admitProgram,
  refuseDelete: refuseProgramDelete,
});
