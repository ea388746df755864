/**
 * Where modules and programs have their inputs from (decisions D-PROG-02: `<controlModule>.<tag>` of the same unit). What leads nowhere is taken, so
 * that a plant can be engineered in any order, and told to whoever writes it; the unit runs with such an input Bad. Pure but for reading.
 */
import { isConstantOf } from '../../../runtime/catalog.js';
import { isAssignable } from '../../../runtime/language/types.js';
import { type DataType, iecType } from '../../../runtime/vocabulary/data-types.js';
import { listed, Nearing } from '../../platform/base/name-words.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { SpecNote } from '../../platform/store/spec-note.js';
import { ControlProgram, type ControlProgramSpec, ownerOfProgram } from '../logic/kind.js';
import { unitOf } from '../plant/unit-of.js';
import { ControlModule, type ControlModuleSpec } from './kind.js';
import { readableTags, type ResolvedModule } from './merge.js';
import { resolvedModuleOf } from './modules.js';

interface Reader {
  readonly site: string;
  /** '' while it has none: then its sources are not held against it. */
  readonly unit: string;
  /** `input level`, `variable level` */
  readonly user: string;
  readonly type: DataType;
}

const STANDS_AT: Readonly<Record<DataType, string>> = { BOOL: 'FALSE', INT: '0', REAL: '0', TIME: '0 s', STRING: 'an empty text' };

/** Whether a value of one type can stand for one of another: a truth value as 0 or 1, a text for a text alone. */
export function canFeed(source: DataType, target: DataType): boolean {
  return (source === 'STRING') === (target === 'STRING');
}

/** Why a source leads nowhere, or where it does not lead as it is meant; '' when it does. */
function sourceProblem(read: StoreReader, reader: Reader, source: string, near: Nearing): string {
  const at = source.indexOf('.');
  const [owner, tag] = [source.slice(0, at), source.slice(at + 1)];
  const { site, unit, user, type } = reader;
  const module = read.get(ControlModule, site, owner);
  const program = module ? undefined : programOf(read, site, owner);
  if (!module && !program) return `${user} reads ${source}, and there is no control module ${owner}${near.words(owner, namesIn(read, site, unit))}: the input is Bad`;
  const itsUnit = module ? unitOf(read, site, module.spec) : (program?.unitRef ?? '');
  if (unit !== '' && itsUnit !== unit)
    return `${user} reads ${source}, and ${owner} belongs to ${itsUnit === '' ? 'no unit' : `unit ${itsUnit}`}: a source is a tag of the same unit, and the input is Bad`;
  const types = module ? typesOfModule(read, module.spec) : typesOfProgram(program);
  if (!types) return ''; // its template is not there, which is told of the module
  const found = types.get(tag);
  if (found === undefined)
    return `${user} reads ${source}, and ${owner} has no tag ${tag}${near.words(tag, [...types.keys()])}; it has ${listed([...types.keys()])}: the input is Bad`;
  if (!canFeed(found, type)) return `${user} is ${type}, and ${source} is ${found}: the input is Bad`;
  return isAssignable(type, found) ? '' : `${user} is ${type}, and ${source} is ${found}`;
}

/** The program of a module is the module once more. */
function programOf(read: StoreReader, site: string, name: string): ControlProgramSpec | undefined {
  const program = read.get(ControlProgram, site, name);
  return program && ownerOfProgram(program.metadata) === undefined ? program.spec : undefined;
}

function namesIn(read: StoreReader, site: string, unit: string): readonly string[] {
  return read
    .list(ControlModule, site)
    .filter(({ spec }) => unit === '' || unitOf(read, site, spec) === unit)
    .map(({ metadata }) => metadata.name);
}

function typesOfModule(read: StoreReader, spec: ControlModuleSpec): ReadonlyMap<string, DataType> | undefined {
  const resolved = resolvedModuleOf(read, { spec });
  return resolved && new Map(readableTags(resolved).map(({ name, type }) => [name, type]));
}

function typesOfProgram(program: ControlProgramSpec | undefined): ReadonlyMap<string, DataType> {
  const readable = (program?.variables ?? []).filter(({ direction, source }) => direction !== 'input' || !source);
  return new Map(readable.map(({ name, dataType }) => [name, iecType(dataType) ?? 'REAL']));
}

/** What of the inputs of a module leads nowhere, or to a value of another type. */
export function moduleInputNotes(read: StoreReader, site: string, spec: ControlModuleSpec, { inputs }: Pick<ResolvedModule, 'inputs'>): readonly SpecNote[] {
  if (inputs.length === 0) return [];
  const unit = unitOf(read, site, spec);
  const near = new Nearing();
  const open = inputs.filter(({ source, value }) => source === undefined && value === undefined);
  const bound = spec.inputBindings.flatMap(({ name, source, value }, index) => {
    const input = inputs.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
    if (!input) return []; // refused where it is written
    const { type } = input;
    const user = `input ${input.name}`;
    if (source !== undefined) return noted(`inputBindings[${index}].source`, sourceProblem(read, { site, unit, user, type }, source, near));
    const isOfType = value === undefined || isConstantOf(type, value);
    return noted(`inputBindings[${index}].value`, isOfType ? '' : `${user} is ${type}, which ${JSON.stringify(value)} is not: the input is Bad`);
  });
  return [
    ...bound,
    ...open.map(({ name, type }) => ({ path: 'inputBindings', text: `input ${name} is bound to nothing and its template has no default: it stands at ${STANDS_AT[type]}` })),
  ];
}

export function programInputNotes(read: StoreReader, site: string, { unitRef: unit, variables }: ControlProgramSpec): readonly SpecNote[] {
  const near = new Nearing();
  return variables.flatMap(({ name, direction, source, dataType }, index) =>
    direction === 'input' && source
      ? noted(`variables[${index}].source`, sourceProblem(read, { site, unit, user: `variable ${name}`, type: iecType(dataType) ?? 'REAL' }, source, near))
      : [],
  );
}

function noted(path: string, text: string): readonly SpecNote[] {
  return text === '' ? [] : [{ path, text }];
}
