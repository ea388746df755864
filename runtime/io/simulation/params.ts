/**
 * Params of simulation behaviours and faults (decisions 6.1, 6.5): values are text, numbers or booleans; one table per
 * type says how each is read. A source is a number or the address of a channel.
 */
import { parseDuration } from '../../language/time-text.js';
import { parseExpression } from './expression-parser.js';

export type ParamValue = string | number | boolean;
export type RawParams = Readonly<Record<string, ParamValue>>;
/** Reads the value of the previous tick, or a constant. */
export type Source = () => number;

/** The values of the plant, and where a reference of a module has its own. */
export interface Wires {
  readonly values: Float64Array;
  slotOf(reference: string): number;
}

export interface ParamSpec {
  readonly name: string;
  readonly type: 'number' | 'duration' | 'boolean' | 'choice' | 'address' | 'source' | 'expression';
  /** As written by a user; absent: the param has no value unless given. */
  readonly default?: ParamValue;
  readonly required?: boolean;
  readonly min?: number;
  readonly max?: number;
  /** The value must be above 0. */
  readonly positive?: boolean;
  readonly choices?: readonly string[];
}

export interface ParamProblem {
  readonly param: string;
  readonly message: string;
  /** Of a word that there is not: for whoever looks for the one that was meant. */
  readonly unknown?: UnknownWord;
}

export interface UnknownWord {
  readonly word: string;
  readonly known: readonly string[];
}

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
export const SIMULATED_ADDRESS = /^[A-Za-z][A-Za-z0-9_.-]{0,62}$/;

/** A decimal number, also as text (decisions 1.3); undefined when it is none. */
export function readNumber(value: ParamValue): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  const number = NUMBER.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}

export function readBoolean(value: ParamValue): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value === 1 ? true : value === 0 ? false : undefined;
  const word = value.trim().toLowerCase();
  return word === 'true' || word === '1' ? true : word === 'false' || word === '0' ? false : undefined;
}

/** Seconds of a duration param; a bare number is milliseconds, as in every duration of the contract. */
export function readSeconds(value: ParamValue): number | undefined {
  const number = readNumber(value);
  if (number !== undefined) return number / 1000;
  const ms = typeof value === 'string' ? parseDuration(value.trim()) : null;
  return ms === null ? undefined : ms / 1000;
}

/** `address` or `<module>/<address>`; a channel of a device has an address of its own grammar, or a name. */
export function isReference(text: string): boolean {
  const slash = text.indexOf('/');
  return slash < 0 ? SIMULATED_ADDRESS.test(text) : slash > 0 && slash < text.length - 1;
}

function numberProblem(spec: ParamSpec, value: number | undefined, what: string): string | undefined {
  if (value === undefined) return `must be ${what}`;
  const engUnits = spec.type === 'duration' ? ' s' : '';
  if (spec.positive && value <= 0) return 'must be above 0';
  if (spec.min !== undefined && value < spec.min) return `must be at least ${spec.min}${engUnits}`;
  if (spec.max !== undefined && value > spec.max) return `must be at most ${spec.max}${engUnits}`;
  return undefined;
}

/** What is wrong with one value; undefined when it reads. */
function problemOf(spec: ParamSpec, value: ParamValue): string | undefined {
  switch (spec.type) {
    case 'number':
      return numberProblem(spec, readNumber(value), 'a number');
    case 'duration':
      return numberProblem(spec, readSeconds(value), 'a duration such as 500ms or 10s');
    case 'boolean':
      return readBoolean(value) === undefined ? 'must be true or false' : undefined;
    case 'choice':
      return spec.choices?.includes(String(value)) ? undefined : `must be one of ${spec.choices?.join(', ')}`;
    case 'address':
      return isReference(String(value)) ? undefined : 'must be the address of a channel';
    case 'source':
      return readNumber(value) !== undefined || isReference(String(value)) ? undefined : 'must be a number or the address of a channel';
    case 'expression': {
      const result = parseExpression(String(value));
      return result.ok ? undefined : `does not parse: ${result.message}`;
    }
  }
}

const absent = (value: ParamValue | undefined): value is undefined | '' => value === undefined || value === '';

/** Every problem of the params given, each naming its param (decisions 6.5); an unknown param is one. */
export function paramProblems(specs: readonly ParamSpec[], given: RawParams): ParamProblem[] {
  const known = specs.map(({ name }) => name);
  const unknown = Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((param): ParamProblem => ({ param, message: `param ${param} is not known; known are ${known.join(', ') || 'none'}`, unknown: { word: param, known } }));
  const wrong = specs.flatMap((spec) => {
    const value = given[spec.name];
    if (absent(value)) return spec.required ? [{ param: spec.name, message: `param ${spec.name} is required` }] : [];
    const problem = problemOf(spec, value);
    return problem === undefined ? [] : [{ param: spec.name, message: `param ${spec.name} ${problem}` }];
  });
  return [...unknown, ...wrong];
}

/** Params in working form. Only for params without problems. */
export class Params {
  readonly #specs: readonly ParamSpec[];
  readonly #given: RawParams;
  readonly wires: Wires;

  constructor(specs: readonly ParamSpec[], given: RawParams, wires: Wires) {
    this.#specs = specs;
    this.#given = given;
    this.wires = wires;
  }

  has(name: string): boolean {
    return !absent(this.#given[name]);
  }

  #raw(name: string): ParamValue {
    const given = this.#given[name];
    if (!absent(given)) return given;
    return this.#specs.find((spec) => spec.name === name)?.default ?? 0;
  }

  number(name: string): number {
    return readNumber(this.#raw(name)) ?? 0;
  }

  seconds(name: string): number {
    return readSeconds(this.#raw(name)) ?? 0;
  }

  flag(name: string): boolean {
    return readBoolean(this.#raw(name)) ?? false;
  }

  word(name: string): string {
    return String(this.#raw(name));
  }

  source(name: string): Source {
    const raw = this.#raw(name);
    const number = readNumber(raw);
    if (number !== undefined) return () => number;
    const { values } = this.wires;
    const slot = this.wires.slotOf(String(raw));
    return () => values[slot] as number; // every slot lies within the values
  }
}
