/**
 * Expressions of structured text as JavaScript source (performance design E): native operators on the fast path, a
 * helper of value.ts beside them for everything else. Source is emitted from the syntax tree only: names become slot
 * numbers, texts become entries of the constant pool, and numbers are printed from checked values.
 */
import { inside } from '../vocabulary/assert.js';
import type { DataType } from '../vocabulary/data-types.js';
import type { BinaryExpression, BinaryOperator, CallExpression, Expression, Literal } from '../language/ast.js';
import { Any, COMPARISONS, CONNECTIVES, normalInt, type Raw } from './value.js';
import { binaryType, type Layout, type StType, SUSPENDING, type Variable } from './layout.js';

/** One emitted operand. */
export interface Code {
  readonly code: string;
  readonly type: StType;
  /** May be written twice: a local, a slot or a literal. */
  readonly simple: boolean;
  /** REAL only: known to be finite. A chain without calls is checked once, at its end. */
  readonly finite: boolean;
  /** Contains no call and no division, so that checking it later changes neither effects nor which error comes first. */
  readonly pure: boolean;
  /** A literal number within 2^53. */
  readonly literal?: number;
  /** INT in the wide version of an action only: the same value as two halves (emit-wide.ts). */
  readonly pair?: Pair;
}

/** Two names or literals, once `set` (empty, or ending with a comma) has been executed. */
export interface Pair {
  readonly set: string;
  readonly high: string;
  readonly low: string;
}

/** Somewhere to keep an INT within one action. */
export interface IntPlace {
  readonly code: Code;
  readonly set: (value: Code, line: number) => string;
}

/** A call that suspends or has an effect, as the frame sees it. */
export interface Site {
  readonly builtin: string;
  readonly line: number;
  /** The last argument is `procedure := x`. */
  readonly procedure: boolean;
}

/** Why a text cannot be compiled; the checker has said it better before. */
export class CompileError extends Error {}

/** An operand that is used twice: how it is set, its name, and the test that it is a number. */
interface Held {
  readonly set: string;
  readonly name: string;
  readonly test: string;
}

const CHECKED = 'checkCall has counted the arguments';
const SAFE = '9007199254740991';
const INT32_MAX = 2_147_483_647;
const INT_HELPERS: Readonly<Partial<Record<BinaryOperator, string>>> = { '+': 'add', '-': 'sub', '*': 'mul' };

/** Number of arguments of each builtin, and the type of the fixed ones. */
const SIGNATURES: ReadonlyMap<string, { readonly min: number; readonly max: number; readonly types: readonly (DataType | null)[] }> = new Map([
  ['READ', { min: 1, max: 1, types: ['STRING'] }],
  ['WRITE', { min: 2, max: 2, types: ['STRING', null] }],
  ['MESSAGE', { min: 1, max: 2, types: ['STRING', 'STRING'] }],
  ['PROMPT', { min: 1, max: 1, types: ['STRING'] }],
  ['PROMPT_CHOICE', { min: 3, max: 17, types: Array<DataType>(17).fill('STRING') }],
  ['PROMPT_VALUE', { min: 4, max: 4, types: ['STRING', 'REAL', 'REAL', 'STRING'] }],
  ['AWAIT_RESULT', { min: 4, max: 4, types: ['STRING', 'REAL', 'REAL', 'STRING'] }],
  ['COMMAND', { min: 2, max: 3, types: ['STRING', 'STRING', 'STRING'] }],
  ['MODE', { min: 2, max: 2, types: ['STRING', 'STRING'] }],
  ['CALL_SERVICE', { min: 3, max: 32, types: ['STRING', 'STRING', 'STRING'] }],
  ['MTP_COMMAND', { min: 2, max: 3, types: ['STRING', 'STRING', null] }],
  ['MTP_STATE', { min: 1, max: 1, types: ['STRING'] }],
  ['MTP_COMMAND_ENABLED', { min: 2, max: 2, types: ['STRING', 'STRING'] }],
  ['ABS', { min: 1, max: 1, types: [null] }],
  ['WAIT', { min: 1, max: 1, types: ['TIME'] }],
  ['WAITSECONDS', { min: 1, max: 1, types: ['REAL'] }],
] as const);

/** Constants and addresses that all functions of one phase share. */
export class Pool {
  readonly constants: unknown[] = [];
  readonly addresses: string[] = [];
  readonly #constants = new Map<string, string>();
  readonly #addresses = new Map<string, number>();

  text(value: string): string {
    return this.#add(`s:${value}`, value);
  }

  any(type: DataType, value: Raw): string {
    return this.#add(`${type}:${typeof value}:${value}`, new Any(type, value));
  }

  address(text: string): number {
    const key = text.toLowerCase();
    let index = this.#addresses.get(key);
    if (index === undefined) {
      index = this.addresses.push(text) - 1;
      this.#addresses.set(key, index);
    }
    return index;
  }

  #add(key: string, value: unknown): string {
    let name = this.#constants.get(key);
    if (name === undefined) {
      name = `k${this.constants.push(value) - 1}`;
      this.#constants.set(key, name);
    }
    return name;
  }
}

export interface Scope {
  readonly layout: Layout;
  readonly pool: Pool;
  /** Step index by lower-case name, of the chart the text belongs to. */
  readonly steps: ReadonlyMap<string, number>;
}

export class ExpressionEmitter {
  readonly scope: Scope;
  readonly sites: Site[];
  readonly usedSlots = new Set<number>();
  scratchCount = 0;
  /** Conditions read slots in place and keep the results of calls with effects; actions use locals. */
  readonly #condition: boolean;
  readonly #siteOf: Map<CallExpression, number>;

  constructor(scope: Scope, condition: boolean, sites: Site[] = [], siteOf: Map<CallExpression, number> = new Map()) {
    this.scope = scope;
    this.#condition = condition;
    this.sites = sites;
    this.#siteOf = siteOf;
  }

  scratch(): string {
    this.scratchCount += 1;
    return `x${this.scratchCount}`;
  }

  expression(node: Expression): Code {
    switch (node.kind) {
      case 'literal':
        return this.literal(node.literal);
      case 'name':
        return this.#name(node.name, node.at.line);
      case 'member':
        return this.#member(node.object, node.member, node.at.line);
      case 'unary':
        return node.operator === 'NOT' ? this.#not(this.expression(node.operand), node.at.line) : this.negate(this.expression(node.operand), node.at.line);
      case 'binary':
        return this.#binaryNode(node);
      case 'call':
        return this.#call(node);
    }
  }

  /** The operand converted to a type; a pair that does not fit fails when it is executed. */
  coerce(value: Code, type: StType, line: number): string {
    if (type === 'ANY') return this.boxed(value, line);
    if (value.type === type) return this.finite(value, line);
    if (value.type === 'ANY') return `coerceAny(${value.code},"${type}",${line})`;
    if (type === 'REAL' && value.type === 'INT') return this.realOf(value);
    return `(${value.code},mismatch(${line}))`;
  }

  finite(value: Code, line: number): string {
    if (value.type !== 'REAL' || value.finite) return value.code;
    const held = this.scratch();
    return `((${held}=${value.code})-${held}===0?${held}:overflow(${line}))`;
  }

  boxed(value: Code, line: number): string {
    return value.type === 'ANY' ? value.code : `any("${value.type}",${this.finite(value, line)})`;
  }

  literal(literal: Literal): Code {
    const fixed = { simple: true, finite: true, pure: true } as const;
    switch (literal.type) {
      case 'BOOL':
        return { code: literal.value ? 'true' : 'false', type: 'BOOL', ...fixed };
      case 'STRING':
        return { code: this.scope.pool.text(literal.value), type: 'STRING', ...fixed };
      case 'INT': {
        const value = normalInt(literal.value);
        if (typeof value === 'bigint') return { code: `(${value}n)`, type: 'INT', ...fixed };
        return { code: numberCode(value), type: 'INT', ...fixed, literal: value };
      }
      default:
        return { code: numberCode(literal.value), type: literal.type, ...fixed, literal: literal.value };
    }
  }

  slot(slot: number): string {
    this.usedSlots.add(slot);
    return this.#condition ? `V[${slot}]` : `v${slot}`;
  }

  /** Declares the local of a used slot. */
  load(slot: number): string {
    return `v${slot}=V[${slot}]`;
  }

  /** Takes the local of an assigned slot back. */
  save(slot: number): string {
    return `V[${slot}]=v${slot};`;
  }

  assign(variable: Variable, value: Code, line: number): string {
    return `${this.slot(variable.slot)}=${this.coerce(value, variable.type, line)};`;
  }

  /** The variable of a FOR loop: it is set, whatever a step may unset. */
  control(variable: Variable): Code {
    return { code: this.slot(variable.slot), type: 'INT', simple: true, finite: true, pure: true };
  }

  /** An INT that lasts while nothing suspends. */
  place(): IntPlace {
    return this.namedPlace(this.scratch());
  }

  namedPlace(name: string): IntPlace {
    const code: Code = { code: name, type: 'INT', simple: true, finite: true, pure: true };
    return { code, set: (value, line) => `${name}=${this.coerce(value, 'INT', line)};` };
  }

  #name(name: string, line: number): Code {
    const variable = this.scope.layout.find(name);
    if (!variable) throw new CompileError(`unknown-name: ${name} (line ${line})`);
    return this.variable(variable, line);
  }

  protected variable(variable: Variable, line: number): Code {
    const code = this.slot(variable.slot);
    const plain = { type: variable.type, finite: true, pure: true } as const;
    if (!variable.unsettable && !this.#condition && variable.type !== 'ANY') return { code, simple: true, ...plain };
    return { code: `(${code}===undefined?F.unset(${variable.slot},${line}):${code})`, simple: false, ...plain };
  }

  #member(object: string, member: string, line: number): Code {
    const step = this.scope.steps.get(object.toLowerCase());
    const word = member.toUpperCase();
    if (step === undefined || (word !== 'T' && word !== 'X')) throw new CompileError(`unknown-name: ${object}.${member} (line ${line})`);
    if (word === 'T') return { code: `F.stepTime(${step})`, type: 'TIME', simple: false, finite: true, pure: true };
    return { code: `F.stepActive(${step})`, type: 'BOOL', simple: false, finite: true, pure: true };
  }

  #not(operand: Code, line: number): Code {
    return { code: `(!${this.coerce(operand, 'BOOL', line)})`, type: 'BOOL', simple: false, finite: true, pure: operand.pure };
  }

  negate(operand: Code, line: number): Code {
    const { pure } = operand;
    switch (operand.type) {
      case 'INT':
        return this.negateInt(operand, line);
      case 'REAL':
        return { code: `(-${operand.code})`, type: 'REAL', simple: false, finite: operand.finite, pure };
      case 'TIME':
        return { code: `(0-${operand.code})`, type: 'TIME', simple: false, finite: true, pure };
      default:
        return { code: `anyNegate(${this.boxed(operand, line)},${line})`, type: 'ANY', simple: false, finite: true, pure: false };
    }
  }

  protected negateInt(operand: Code, line: number): Code {
    const a = this.#hold(operand);
    return { code: `(${a.set}typeof ${a.name}==="number"?0-${a.name}:negInt(${a.name},${line}))`, type: 'INT', simple: false, finite: true, pure: operand.pure };
  }

  #binaryNode(node: BinaryExpression): Code {
    return this.binary(node.operator, this.expression(node.left), this.expression(node.right), node.at.line);
  }

  binary(operator: BinaryOperator, left: Code, right: Code, line: number): Code {
    const pure = left.pure && right.pure;
    const flat = { simple: false, finite: true, pure } as const;
    const connective = CONNECTIVES.get(operator);
    if (connective) return { code: `(${this.coerce(left, 'BOOL', line)}${connective}${this.coerce(right, 'BOOL', line)})`, type: 'BOOL', ...flat };
    if (COMPARISONS.has(operator)) return { code: this.#comparison(operator, left, right, line), type: 'BOOL', ...flat };
    const type = binaryType(operator, left.type, right.type);
    if (type === 'STRING') return { code: `concat(${this.#text(left, line)},${this.#text(right, line)},${line})`, type, ...flat };
    if (type === 'INT') return this.integer(operator, left, right, line);
    if (type === 'REAL' && left.type !== 'TIME') return this.#real(operator, left, right, line);
    if (type === 'ANY') return { code: `anyBinary("${operator}",${this.boxed(left, line)},${this.boxed(right, line)},${line})`, type, ...flat, pure: false };
    return { code: this.#time(operator, left, right, line), type, ...flat, finite: type !== 'REAL', pure: pure && operator !== '/' };
  }

  /** Keeps an operand that is used twice in a scratch local. */
  #hold(value: Code): Held {
    if (value.literal !== undefined) return { set: '', name: value.code, test: '' };
    if (value.simple) return { set: '', name: value.code, test: `typeof ${value.code}==="number"&&` };
    const name = this.scratch();
    return { set: `${name}=${value.code},`, name, test: `typeof ${name}==="number"&&` };
  }

  /** Fast path within 2^53; the helper is exact within 64 bits (goal of performance E: <= 3.5 times C). */
  protected integer(operator: BinaryOperator, left: Code, right: Code, line: number): Code {
    const pure = left.pure && right.pure && operator !== '/' && operator !== 'MOD';
    return { code: this.#guarded(operator, left, right, line), type: 'INT', simple: false, finite: true, pure };
  }

  #guarded(operator: BinaryOperator, left: Code, right: Code, line: number): string {
    const a = this.#hold(left);
    const b = this.#hold(right);
    const helper = INT_HELPERS[operator];
    if (helper) {
      const sum = this.scratch();
      return `(${a.set}${b.set}${a.test}${b.test}(${sum}=${a.name}${operator}${b.name})<=${SAFE}&&${sum}>=-${SAFE}?${sum}:${helper}(${a.name},${b.name},${line}))`;
    }
    return this.#quotient(operator, a, b, right.literal, line);
  }

  /**
   * Division and MOD of 32-bit values by a positive one as integer instructions: an engine divides doubles, and takes
   * their remainder, many times slower. Everything else goes to the helper.
   */
  #quotient(operator: BinaryOperator, a: Held, b: Held, divisor: number | undefined, line: number): string {
    const helper = `${operator === 'MOD' ? 'mod' : 'div'}(${a.name},${b.name},${line})`;
    if (divisor !== undefined && (divisor <= 0 || divisor > INT32_MAX)) return `(${a.set}${b.set}${helper})`;
    const low = this.scratch();
    const narrow = `(${low}=${a.name}|0)===${a.name}`;
    const sign = operator === 'MOD' ? '%' : '/';
    if (divisor !== undefined) return `(${a.set}${a.test}${narrow}?${low}${sign}${divisor}|0:${helper})`;
    const by = this.scratch();
    return `(${a.set}${b.set}${a.test}${b.test}${narrow}&&(${by}=${b.name}|0)===${b.name}&&${by}>0?${low}${sign}${by}|0:${helper})`;
  }

  /** An INT as REAL. */
  protected realOf(value: Code): string {
    return value.literal !== undefined ? value.code : `Number(${value.code})`;
  }

  #number(value: Code, line: number, open = false): string {
    if (value.type === 'INT') return this.realOf(value);
    return open ? value.code : this.finite(value, line);
  }

  #real(operator: BinaryOperator, left: Code, right: Code, line: number): Code {
    const pure = left.pure && right.pure;
    if (operator !== '/') {
      return this.#settle(`(${this.#number(left, line, pure)}${operator}${this.#number(right, line, pure)})`, pure, line);
    }
    if (right.literal !== undefined && right.literal !== 0) return this.#settle(`(${this.#number(left, line, pure)}/${right.code})`, pure, line);
    const a = this.scratch();
    const b = this.scratch();
    const divisor = right.type === 'INT' ? this.#number(right, line) : this.finite(right, line);
    return this.#settle(`(${a}=${this.#number(left, line)},(${b}=${divisor})!==0?${a}/${b}:divZero(${line}))`, false, line);
  }

  /** A pure chain is checked by whoever uses it; behind a call the check stands at once. */
  #settle(code: string, pure: boolean, line: number): Code {
    const open: Code = { code, type: 'REAL', simple: false, finite: false, pure };
    return pure ? open : { ...open, code: this.finite(open, line), finite: true };
  }

  #time(operator: BinaryOperator, left: Code, right: Code, line: number): string {
    const factor = (value: Code) => (value.type === 'INT' ? this.#number(value, line) : this.finite(value, line));
    if (operator === '*') return `timeMul(${factor(left)},${factor(right)},${line})`;
    if (operator === '/' && right.type === 'TIME') {
      const a = this.scratch();
      const b = this.scratch();
      return `(${a}=${left.code},(${b}=${right.code})!==0?${a}/${b}:divZero(${line}))`;
    }
    if (operator === '/') return `timeDiv(${left.code},${factor(right)},${line})`;
    const sum = this.scratch();
    return `((${sum}=${left.code}${operator}${right.code})<=${SAFE}&&${sum}>=-${SAFE}?${sum}:overflow(${line}))`;
  }

  #comparison(operator: BinaryOperator, left: Code, right: Code, line: number): string {
    const word = operator === '=' ? '===' : operator === '<>' ? '!==' : operator;
    const numbers = (left.type === 'INT' || left.type === 'REAL') && (right.type === 'INT' || right.type === 'REAL');
    if (left.type === 'INT' && right.type === 'INT') return this.compareInts(word, left, right, line);
    if (numbers) {
      const side = (value: Code) => (value.type === 'INT' ? this.#number(value, line) : this.finite(value, line));
      return `(${side(left)}${word}${side(right)})`;
    }
    if (left.type === right.type && (left.type === 'TIME' || (left.type === 'BOOL' && word.length === 3))) return `(${left.code}${word}${right.code})`;
    if (left.type === 'STRING' && right.type === 'STRING') {
      return word.length === 3 ? `(${left.code}${word}${right.code})` : `(compareText(${left.code},${right.code})${word}0)`;
    }
    return `anyBinary("${operator}",${this.boxed(left, line)},${this.boxed(right, line)},${line}).value`;
  }

  /** Equal values are identical, and `<` compares number and bigint. */
  protected compareInts(word: string, left: Code, right: Code, _line: number): string {
    return `(${left.code}${word}${right.code})`;
  }

  #text(value: Code, line: number): string {
    switch (value.type) {
      case 'STRING':
        return value.code;
      case 'INT':
        return `String(${value.code})`;
      case 'REAL':
        return `textReal(${this.finite(value, line)})`;
      case 'BOOL':
        return `textBool(${value.code})`;
      case 'TIME':
        return `textTime(${value.code})`;
      default:
        return `textAny(${value.code})`;
    }
  }

  #call(call: CallExpression): Code {
    const builtin = call.callee.toUpperCase();
    const args = call.args.map((argument) => this.expression(argument.value));
    if (!this.#condition && SUSPENDING.has(builtin)) throw new CompileError(`a suspending call stands where none can (line ${call.at.line})`);
    return this.call(call, args);
  }

  /** A call whose arguments are emitted; in an action the suspending ones go through the action emitter instead. */
  call(call: CallExpression, args: readonly Code[]): Code {
    const builtin = call.callee.toUpperCase();
    const { line } = call.at;
    this.checkCall(call);
    const flat = { simple: false, finite: true, pure: false } as const;
    if (builtin === 'ABS') return this.#abs(inside(args, 0, CHECKED), line);
    if (builtin === 'READ') return { code: this.#address('read', call, args, '', line), type: 'ANY', ...flat };
    if (this.#condition) {
      const type = SUSPENDING.get(builtin) ?? 'BOOL';
      return { code: `F.kept(${this.site(call)},()=>[${this.arguments(call, args).join(',')}],${line})`, type, ...flat };
    }
    if (builtin === 'WRITE') return { code: this.#address('write', call, args, `,${this.boxed(inside(args, 1, CHECKED), line)}`, line), type: 'BOOL', ...flat };
    return { code: `F.message(${this.arguments(call, args).join(',')}${args.length === 1 ? ',undefined' : ''},${line})`, type: 'BOOL', ...flat };
  }

  checkCall(call: CallExpression): void {
    const builtin = call.callee.toUpperCase();
    const signature = SIGNATURES.get(builtin);
    if (!signature) throw new CompileError(`unknown-function: ${call.callee} (line ${call.at.line})`);
    if (call.args.length < signature.min || call.args.length > signature.max) {
      throw new CompileError(`argument-count: ${builtin} (line ${call.at.line})`);
    }
  }

  /** Arguments as the frame takes them: fixed ones in their type, free ones boxed. */
  arguments(call: CallExpression, args: readonly Code[]): string[] {
    const types = SIGNATURES.get(call.callee.toUpperCase())?.types ?? [];
    return args.map((argument, index) => {
      const type = types[index];
      return type ? this.coerce(argument, type, call.at.line) : this.boxed(argument, call.at.line);
    });
  }

  /** Index of a call with an effect; the operands of a condition share the sites of the whole. */
  site(call: CallExpression): number {
    let index = this.#siteOf.get(call);
    if (index === undefined) {
      const procedure = call.args.at(-1)?.name?.toLowerCase() === 'procedure';
      index = this.sites.push({ builtin: call.callee.toUpperCase(), line: call.at.line, procedure }) - 1;
      this.#siteOf.set(call, index);
    }
    return index;
  }

  #address(verb: 'read' | 'write', call: CallExpression, args: readonly Code[], rest: string, line: number): string {
    const first = inside(call.args, 0, CHECKED).value;
    if (first.kind === 'literal' && first.literal.type === 'STRING') return `F.${verb}(${this.scope.pool.address(first.literal.value)}${rest},${line})`;
    return `F.${verb}Text(${this.coerce(inside(args, 0, CHECKED), 'STRING', line)}${rest},${line})`;
  }

  #abs(value: Code, line: number): Code {
    const flat = { simple: false, pure: value.pure } as const;
    if (value.type === 'INT') return this.absInt(value, line);
    if (value.type === 'REAL' || value.type === 'TIME') return { code: `Math.abs(${value.code})`, type: value.type, finite: value.finite, ...flat };
    return { code: `anyAbs(${this.boxed(value, line)},${line})`, type: 'ANY', finite: true, simple: false, pure: false };
  }

  protected absInt(value: Code, line: number): Code {
    const a = this.#hold(value);
    return { code: `(${a.set}typeof ${a.name}==="number"?Math.abs(${a.name}):absInt(${a.name},${line}))`, type: 'INT', finite: true, simple: false, pure: value.pure };
  }
}

/** A finite number as source; negative ones in parentheses, so that `a--1` cannot arise. */
export function numberCode(value: number): string {
  if (!Number.isFinite(value)) throw new CompileError('a literal is not finite');
  return value < 0 || Object.is(value, -0) ? `(${value})` : String(value);
}
