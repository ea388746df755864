/**
 * The second version of an action, for INT values beyond 2^53 (goal of performance E: <= 7 times C): every INT local is a
 * pair of 32-bit halves (wide-int.ts), so that addition, comparison and most products are integer instructions and
 * nothing is allocated. Slots, temporaries, builtins and records know nothing of it: a pair is made when a slot is loaded
 * and becomes number or bigint again where it leaves the function.
 */
import type { BinaryOperator } from '../language/ast.js';
import type { Literal } from '../language/ast.js';
import { type Code, ExpressionEmitter, type IntPlace, numberCode, type Pair, SAFE } from './emit-expression.js';
import type { Variable } from './layout.js';
import { normalInt } from './value.js';
import { highOf, lowOf } from './wide-int.js';

const WORD = '4294967296';
/** Up to this divisor the rest of the high half and the low half are one number without rounding. */
const DIVISOR_MAX = 2_097_152;

const HELPERS: Readonly<Partial<Record<BinaryOperator, string>>> = { '*': 'mulLow', '/': 'divLow', MOD: 'modLow' };

export class WideEmitter extends ExpressionEmitter {
  override load(slot: number): string {
    return this.#paired(slot) ? `v${slot}h=highOf(V[${slot}])|0,v${slot}l=lowOf(V[${slot}])|0` : super.load(slot);
  }

  override save(slot: number): string {
    return this.#paired(slot) ? `V[${slot}]=intOf(v${slot}h,v${slot}l);` : super.save(slot);
  }

  override assign(variable: Variable, value: Code, line: number): string {
    if (!this.#paired(variable.slot)) return super.assign(variable, value, line);
    return this.#copy(this.#local(variable), value, line);
  }

  override control(variable: Variable): Code {
    return this.#paired(variable.slot) ? paired(this.#local(variable), true) : super.control(variable);
  }

  override place(): IntPlace {
    const pair: Pair = { set: '', high: this.scratch(), low: this.scratch() };
    return { code: paired(pair, true), set: (value, line) => this.#copy(pair, value, line) };
  }

  override literal(literal: Literal): Code {
    const code = super.literal(literal);
    if (literal.type !== 'INT') return code;
    const value = normalInt(literal.value);
    return { ...code, pair: { set: '', high: numberCode(highOf(value)), low: numberCode(lowOf(value)) } };
  }

  protected override variable(variable: Variable, line: number): Code {
    return this.#paired(variable.slot) ? paired(this.#local(variable), true) : super.variable(variable, line);
  }

  protected override negateInt(operand: Code, line: number): Code {
    return this.integer('-', this.literal({ type: 'INT', value: 0n }), operand, line);
  }

  protected override integer(operator: BinaryOperator, left: Code, right: Code, line: number): Code {
    const pure = left.pure && right.pure && operator !== '/' && operator !== 'MOD';
    const a = this.#pair(left);
    const b = this.#pair(right);
    const result: Pair = { set: '', high: this.scratch(), low: this.scratch() };
    const work = this.#work(operator, a, b, result, right.literal, line);
    return paired({ ...result, set: `${a.set}${b.set}${work},` }, pure);
  }

  protected override absInt(value: Code, line: number): Code {
    const a = this.#pair(value);
    const [high, low] = [this.scratch(), this.scratch()];
    const negated = `${low}=0-${a.low}|0,${high}=0-${a.high}-(${a.low}!==0?1:0)|0,${high}<0?overflow(${line}):0`;
    return paired({ set: `${a.set}${a.high}<0?(${negated}):(${low}=${a.low},${high}=${a.high}),`, high, low }, value.pure);
  }

  protected override realOf(value: Code): string {
    if (value.literal !== undefined || !value.pair) return super.realOf(value);
    const { set, high, low } = value.pair;
    return `(${set}${high}*${WORD}+(${low}>>>0))`;
  }

  protected override compareInts(word: string, left: Code, right: Code): string {
    const a = this.#pair(left);
    const b = this.#pair(right);
    const set = `${a.set}${b.set}`;
    if (word === '===') return `(${set}${a.low}===${b.low}&&${a.high}===${b.high})`;
    if (word === '!==') return `(${set}${a.low}!==${b.low}||${a.high}!==${b.high})`;
    return `(${set}${a.high}${word[0]}${b.high}||${a.high}===${b.high}&&(${a.low}>>>0)${word}(${b.low}>>>0))`;
  }

  /** An unsettable variable stays as it is: it may be without a value. */
  #paired(slot: number): boolean {
    const { type, unsettable } = this.scope.layout.variables[slot];
    return type === 'INT' && !unsettable;
  }

  #local({ slot }: Variable): Pair {
    this.usedSlots.add(slot);
    return { set: '', high: `v${slot}h`, low: `v${slot}l` };
  }

  #copy(to: Pair, value: Code, line: number): string {
    const plain: Code = { code: this.coerce(value, 'INT', line), type: 'INT', simple: false, finite: true, pure: false };
    const from = this.#pair(value.type === 'INT' ? value : plain);
    return `${from.set}${to.high}=${from.high},${to.low}=${from.low};`;
  }

  /** Any INT as a pair: temporaries, unsettable variables and answers are numbers or bigints. */
  #pair(value: Code): Pair {
    if (value.pair) return value.pair;
    const [whole, high, low] = [this.scratch(), this.scratch(), this.scratch()];
    return { set: `${whole}=${value.code},${high}=highOf(${whole})|0,${low}=lowOf(${whole})|0,`, high, low };
  }

  #work(operator: BinaryOperator, a: Pair, b: Pair, { high, low }: Pair, divisor: number | undefined, line: number): string {
    if (operator === '+') {
      const sum = `${low}=${a.low}+${b.low}|0,${high}=${a.high}+${b.high}+((${low}>>>0)<(${b.low}>>>0)?1:0)|0`;
      return `${sum},((${a.high}^${high})&(${b.high}^${high}))<0?overflow(${line}):0`;
    }
    if (operator === '-') {
      const difference = `${low}=${a.low}-${b.low}|0,${high}=${a.high}-${b.high}-((${a.low}>>>0)<(${b.low}>>>0)?1:0)|0`;
      return `${difference},((${a.high}^${b.high})&(${a.high}^${high}))<0?overflow(${line}):0`;
    }
    const slow = `(${low}=${HELPERS[operator]}(${a.high},${a.low},${b.high},${b.low},${line}),${high}=HIGH[0])`;
    const number = this.scratch();
    if (operator === '*') {
      const near = `${a.high}===${a.low}>>31&&${b.high}===${b.low}>>31&&(${number}=${a.low}*${b.low})<=${SAFE}&&${number}>=-${SAFE}`;
      return `${near}?(${low}=${number}|0,${high}=(${number}-(${low}>>>0))/${WORD}|0):${slow}`;
    }
    if (divisor === undefined || divisor <= 0 || divisor > DIVISOR_MAX) return slow;
    const joined = `${number}=${a.high}%${divisor}*${WORD}+(${a.low}>>>0)`;
    const small = `${a.high}===0&&${a.low}>=0`;
    if (operator === '/') {
      return `${small}?(${high}=0,${low}=${a.low}/${divisor}|0):${a.high}>=0?(${joined},${high}=${a.high}/${divisor}|0,${low}=Math.floor(${number}/${divisor})|0):${slow}`;
    }
    return `${small}?(${high}=0,${low}=${a.low}%${divisor}|0):${a.high}>=0?(${joined},${high}=0,${low}=${number}-Math.floor(${number}/${divisor})*${divisor}|0):${slow}`;
  }
}

function paired(pair: Pair, pure: boolean): Code {
  return { code: `(${pair.set}intOf(${pair.high},${pair.low}))`, type: 'INT', simple: false, finite: true, pure, pair };
}
