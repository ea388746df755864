/**
 * The second version of an action, for INT values beyond 2^53 (goal of performance E: <= 7 times C): every INT local is a
 * pair of 32-bit halves (wide-int.ts), so that addition, comparison and most products are integer instructions and
 * nothing is allocated. Slots, temporaries, builtins and records know nothing of it: a pair is made when a slot is loaded
 * and becomes number or bigint again where it leaves the function.
 */
import { inside } from '../vocabulary/assert.js';
import type { BinaryOperator, Literal } from '../language/ast.js';
import { type Code, ExpressionEmitter, type IntPlace, numberCode, type Pair } from './emit-expression.js';
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
    const { type, unsettable } = inside(this.scope.layout.variables, slot, 'a slot is that of a variable of the phase');
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
    if (operator === '*') return `${this.#narrowProduct(a, b, { set: '', high, low })}:${slow}`;
    if (divisor === undefined || divisor <= 0) return slow;
    const to: Pair = { set: '', high, low };
    const shift = Math.log2(divisor);
    const negative = narrowQuotient(operator, a, to, divisor);
    if (shift > 0 && shift < 32 && Number.isInteger(shift)) return `${shifted(operator, a, to, shift)}:${negative}:${slow}`;
    return divisor > DIVISOR_MAX ? slow : `${this.#quotient(operator, a, to, divisor)}:${negative}:${slow}`;
  }

  /** Of two 32-bit values: the rounded product is off by less than a quarter of the high half's unit. */
  #narrowProduct(a: Pair, b: Pair, { high, low }: Pair): string {
    const near = this.scratch();
    const narrow = `${a.high}===${a.low}>>31&&${b.high}===${b.low}>>31`;
    return `${narrow}?(${near}=${a.low}*${b.low},${low}=Math.imul(${a.low},${b.low}),${high}=Math.floor((${near}-(${low}>>>0))/${WORD}+0.5)|0)`;
  }

  /** Of a value that is not negative: within 31 bits, or the rest of the high half joined with the low one. */
  #quotient(operator: BinaryOperator, a: Pair, { high, low }: Pair, divisor: number): string {
    const joined = this.scratch();
    const join = `${joined}=${a.high}%${divisor}*${WORD}+(${a.low}>>>0)`;
    const narrow = `${a.high}===0&&${a.low}>=0?(${high}=0,${low}=${a.low}${operator === '/' ? '/' : '%'}${divisor}|0)`;
    if (operator === '/') return `${narrow}:${a.high}>=0?(${join},${high}=${a.high}/${divisor}|0,${low}=Math.floor(${joined}/${divisor})|0)`;
    return `${narrow}:${a.high}>=0?(${join},${high}=0,${low}=${joined}-Math.floor(${joined}/${divisor})*${divisor}|0)`;
  }
}

/** Of a negative value within 32 bits. */
function narrowQuotient(operator: BinaryOperator, a: Pair, { high, low }: Pair, divisor: number): string {
  return `${a.high}===${a.low}>>31?(${low}=${a.low}${operator === '/' ? '/' : '%'}${divisor}|0,${high}=${low}>>31)`;
}

/** Division of a value that is not negative by a power of 2. */
function shifted(operator: BinaryOperator, a: Pair, { high, low }: Pair, shift: number): string {
  if (operator === 'MOD') return `${a.high}>=0?(${high}=0,${low}=${a.low}&${2 ** shift - 1})`;
  return `${a.high}>=0?(${low}=${a.low}>>>${shift}|${a.high}<<${32 - shift},${high}=${a.high}>>${shift})`;
}

function paired(pair: Pair, pure: boolean): Code {
  return { code: `(${pair.set}intOf(${pair.high},${pair.low}))`, type: 'INT', simple: false, finite: true, pure, pair };
}
