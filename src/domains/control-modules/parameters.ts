/**
 * Parameters that a template declares tunable (D-C-13): what may be declared, and what a change of their values in a module
 * comes to. A tuned value is a parameter override of the module: it is exported, applied and run as such (ADR 0025).
 */
import { blockType, portLookup } from '../../../runtime/catalog.js';
import { parseDuration } from '../../../runtime/language/time-text.js';
import { type DataType, iecType, tagType } from '../../../runtime/vocabulary/data-types.js';
import type { BlockSpec, CompositeType, ParamValue } from '../../../runtime/vocabulary/network.js';
import { invalid } from '../../platform/base/refusal.js';
import type { CheckedNetwork } from '../logic/composites.js';
import type { ControlModuleSpec, TemplateParameter, TemplateTag, Tuning } from './kind.js';
import type { ModuleParameter } from './merge.js';

const NUMBERS: readonly string[] = ['REAL', 'INT', 'TIME'];

export interface Surroundings {
  readonly network: CheckedNetwork;
  /** Of the template, or of an instance with its own tags. */
  readonly tags: readonly TemplateTag[];
  readonly composites: readonly CompositeType[];
}

// ---------------------------------------------------------------- declaration

/**
 * Completes each declaration with the type of its parameter.
 * @throws Refusal 400 naming the member: a parameter that is not there, or that could not be changed in a running network.
 */
export function admitParameters(parameters: readonly TemplateParameter[], surroundings: Surroundings): TemplateParameter[] {
  const names = new Set<string>();
  const places = new Set<string>();
  return parameters.map((parameter, index) => {
    const field = `parameters[${index}]`;
    const { name, blockRef, param } = parameter;
    if (names.has(name.toLowerCase())) throw invalid('invalid_field', `${field}.name`, `parameter ${name} is declared twice`);
    if (places.has(`${blockRef}.${param}`)) throw invalid('invalid_field', `${field}.param`, `${blockRef}.${param} has a name already`);
    names.add(name.toLowerCase());
    places.add(`${blockRef}.${param}`);
    const dataType = typeOf(parameter, field, surroundings);
    checkFree(parameter, field, surroundings);
    return { ...parameter, dataType };
  });
}

function typeOf({ name, blockRef, param, dataType }: TemplateParameter, field: string, { network, composites }: Surroundings): NonNullable<TemplateParameter['dataType']> {
  const block = network.blocks.find((candidate) => candidate.name === blockRef);
  if (!block) throw invalid('invalid_field', `${field}.blockRef`, `parameter ${name} names block ${blockRef}, which the template does not have`);
  const own = formalType(block, param, composites);
  if (own === undefined) throw invalid('invalid_field', `${field}.param`, `parameter ${name} names ${blockRef}.${param}, but a ${block.type} has no parameter ${param}`);
  const given = dataType === undefined ? undefined : iecType(dataType);
  const open = own === 'NUM' || own === 'ANY';
  if (given !== undefined && !open && given !== own) throw invalid('invalid_field', `${field}.dataType`, `parameter ${name} is ${dataType}, but ${blockRef}.${param} is ${own}`);
  const type = open ? (given ?? 'REAL') : own;
  if (!NUMBERS.includes(type)) throw invalid('invalid_field', `${field}.param`, `${blockRef}.${param} is a ${type}; numbers and times can be tuned`);
  if (type === 'TIME' && blockType(block.type)?.remembers)
    throw invalid('invalid_field', `${field}.param`, `${blockRef}.${param} is the length of the memory of a ${block.type}, which would begin anew; edit the template instead`);
  return tagType(type) ?? 'Float';
}

/** Type of a parameter, or of an input that a constant may feed; undefined where the block has neither. */
function formalType(block: BlockSpec, param: string, composites: readonly CompositeType[]): DataType | 'NUM' | 'ANY' | undefined {
  const builtin = blockType(block.type);
  if (builtin) return [...builtin.params, ...builtin.inputs].find(({ name }) => name === param)?.type;
  const composite = composites.find(({ name }) => name === block.type);
  const formal = composite && [...composite.params, ...composite.inputs].find(({ name }) => name === param);
  return formal && (iecType(formal.dataType) ?? 'ANY');
}

/** Nothing else may set it: a connection, a tag that is written, or the block itself. */
export function checkFree({ name, blockRef, param }: TemplateParameter, field: string, { network, tags, composites }: Surroundings): void {
  const what = `${blockRef}.${param}`;
  if (portLookup(network, composites)(blockRef, param)?.fed === true)
    throw invalid('invalid_field', `${field}.param`, `${what} of parameter ${name} is connected, so a value given to it would have no effect`);
  const writer = tags.find((tag) => tag.blockRef === blockRef && tag.portRef === param && tag.accessLevel === 'readwrite');
  if (writer) throw invalid('invalid_field', `${field}.param`, `${what} of parameter ${name} is written by tag ${writer.name}; it is changed through that tag`);
  const type = network.blocks.find((candidate) => candidate.name === blockRef)?.type ?? '';
  if (blockType(type)?.selfWritten.includes(param))
    throw invalid('invalid_field', `${field}.param`, `${what} of parameter ${name} is written by the ${type} itself; bind a tag to it`);
}

/** @throws Refusal 400 for a value that the declaration does not allow; `fieldOf` names where the value was given. */
export function checkParameterValues(parameters: readonly ModuleParameter[], fieldOf: (parameter: TemplateParameter) => string): void {
  for (const { declared, tag, value } of parameters) {
    const field = fieldOf(declared);
    if (value === '') throw invalid('invalid_field', field, `parameter ${declared.name} is tunable, so ${declared.blockRef}.${declared.param} must have a value`);
    const number = numberOf(value, tag.type);
    if (number === undefined) throw invalid('invalid_field', field, `${JSON.stringify(value)} is no ${tag.dataType} for parameter ${declared.name}`);
    const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = tag;
    if (number >= min && number <= max) continue;
    const range = `${declared.engMin === '' ? 'any' : declared.engMin} to ${declared.engMax === '' ? 'any' : declared.engMax}`;
    throw invalid('out_of_range', field, `parameter ${declared.name} would be ${value}, outside its limits ${range}`, { engMin: tag.min ?? null, engMax: tag.max ?? null });
  }
}

function numberOf(value: ParamValue, type: DataType): number | undefined {
  if (type === 'TIME') return typeof value === 'string' ? (parseDuration(value.trim()) ?? undefined) : undefined;
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  return type === 'INT' && !Number.isSafeInteger(value) ? undefined : value;
}

// ---------------------------------------------------------------- tuning

export interface TuningRequest {
  /** By name; null is back to the value of the template. */
  readonly values: Readonly<Record<string, ParamValue | null>>;
  readonly parameters: readonly ModuleParameter[];
  /** Declared and not tunable, to be told apart from what is not there. */
  readonly fixed: readonly string[];
  readonly module: string;
  readonly by: string;
  readonly at: string;
  readonly reason: string;
}

export interface TuningOutcome {
  readonly paramOverrides: ControlModuleSpec['paramOverrides'];
  readonly tuning: readonly Tuning[];
  /** What is another value now. */
  readonly changed: readonly Tuning[];
}

/** @throws Refusal 400 for a name that is not there or cannot be tuned, and for a value of another type. */
export function tune({ paramOverrides }: ControlModuleSpec, before: readonly Tuning[], request: TuningRequest): TuningOutcome {
  const { values, parameters, by, at, reason } = request;
  const given = Object.entries(values);
  if (given.length === 0) throw invalid('missing_field', 'values', 'values must name at least one parameter');
  const wanted = given.map(([name, value]) => ({ parameter: tunableNamed(name, request), given: value }));
  for (const { parameter, given } of wanted) if (given !== null) checkType(parameter, given);
  const isWanted = (place: { readonly blockRef: string; readonly param: string }): boolean =>
    wanted.some(({ parameter: { declared } }) => declared.blockRef === place.blockRef && declared.param === place.param);
  const set = wanted.flatMap(({ parameter: { declared }, given }) => (given === null ? [] : [{ blockRef: declared.blockRef, param: declared.param, value: given }]));
  const changed = wanted
    .map(({ parameter: { declared, value, templateValue }, given }): Tuning => ({ name: declared.name, value: given ?? templateValue, previous: value, by, at, reason }))
    .filter(({ value, previous }) => value !== previous);
  const lasting = changed.filter(({ name }) => values[name] !== null);
  return {
    paramOverrides: [...paramOverrides.filter((override) => !isWanted(override)), ...set],
    tuning: [...before.filter(({ name }) => values[name] !== null && !lasting.some((one) => one.name === name)), ...lasting].filter(({ name }) =>
      parameters.some(({ declared }) => declared.name === name),
    ),
    changed,
  };
}

function tunableNamed(name: string, { parameters, fixed, module }: TuningRequest): ModuleParameter {
  const found = parameters.find(({ declared }) => declared.name === name);
  if (found) return found;
  const field = `values.${name}`;
  if (fixed.includes(name)) throw invalid('not_tunable', field, `parameter ${name} of ${module} is not tunable; the template is edited to change it`);
  const known = parameters.map(({ declared }) => declared.name);
  throw invalid('unknown_reference', field, `control module ${module} has no parameter ${name}; it has ${known.length === 0 ? 'no tunable one' : known.join(', ')}`, {
    allowed: known,
  });
}

function checkType({ declared, tag }: ModuleParameter, value: ParamValue): void {
  const number = numberOf(value, tag.type);
  const field = `values.${declared.name}`;
  const wanted = { REAL: 'a finite number', INT: 'a whole number', TIME: 'a duration as text, such as 5s or T#1m30s' }[tag.type as 'REAL'];
  if (number === undefined) throw invalid('invalid_field', field, `${field} must be ${wanted}`);
  if (tag.type === 'TIME' && number < 0) throw invalid('invalid_field', field, `${field} must not be negative`);
}

/** The tunings that a spec still has; a module that was changed in another way since shows that as its own. */
export function tuningKept(tuning: readonly Tuning[], parameters: readonly ModuleParameter[]): readonly Tuning[] {
  return tuning.filter(({ name, value }) => parameters.some((parameter) => parameter.declared.name === name && parameter.value === value));
}

/** What another spec of the module makes of the tunings it had, in words: what is written states the values. */
export function tuningLost(tuning: readonly Tuning[], before: readonly ModuleParameter[], after: readonly ModuleParameter[], by = 'this manifest'): string[] {
  return tuningKept(tuning, before).flatMap(({ name, value, by: person, at }) => {
    const now = after.find((parameter) => parameter.declared.name === name);
    if (now?.value === value) return [];
    return [`parameter ${name} was tuned to ${value} by ${person} at ${at} and is ${now ? now.value : 'not tunable'} with ${by}`];
  });
}
