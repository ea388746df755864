/**
 * Static check of one action or one condition (decisions 2.8, 4.2 to 4.5). Everything wrong is reported in one pass; an
 * expression that is wrong counts as ANY afterwards, so that one mistake gives one message.
 */
import { inside } from '../vocabulary/assert.js';
import type { BinaryExpression, CallExpression, CaseLabel, Diagnostic, Expression, Position, Statement } from './ast.js';
import { type Builtin, builtin, type BuiltinParameter, PROCEDURE_COMMANDS } from './builtins.js';
import { DIAGNOSTICS_MAX } from './lexer.js';
import type { TagFacts, TextScope } from './scope.js';
import { binaryType, isAssignable, type StType, unaryType } from './types.js';

/** Builtins that need the batch controller; a hold that the unit does on its own cannot rely on them (decisions Q-ST-02). */
const NEEDS_CONTROLLER = new Set(['PROMPT', 'PROMPT_CHOICE', 'PROMPT_VALUE', 'COMMAND', 'CALL_SERVICE']);

export function checkAction(statements: readonly Statement[], scope: TextScope): Diagnostic[] {
  const check = new Checker(scope, false);
  check.list(statements, []);
  return check.diagnostics;
}

export function checkCondition(expression: Expression, scope: TextScope): Diagnostic[] {
  const check = new Checker(scope, true);
  const type = check.typeOf(expression);
  if (type !== 'BOOL' && type !== 'ANY') check.error('type', expression.at, `a condition is BOOL, this one is ${type}`);
  if (isTrueLiteral(expression)) check.warning('literal-true', expression.at, 'the condition is always TRUE; leave it empty if that is meant');
  return check.diagnostics;
}

export function isTrueLiteral(expression: Expression | null): boolean {
  return expression?.kind === 'literal' && expression.literal.value === true;
}

class Checker {
  readonly diagnostics: Diagnostic[] = [];
  readonly #scope: TextScope;
  readonly #inCondition: boolean;
  readonly #unresolved = new Set<string>();

  constructor(scope: TextScope, inCondition: boolean) {
    this.#scope = scope;
    this.#inCondition = inCondition;
  }

  error(code: string, at: Position, message: string): void {
    this.#report('error', code, at, message);
  }

  warning(code: string, at: Position, message: string): void {
    this.#report('warning', code, at, message);
  }

  #report(severity: Diagnostic['severity'], code: string, at: Position, message: string): void {
    if (this.diagnostics.length >= DIAGNOSTICS_MAX) return;
    this.diagnostics.push({ severity, code, message, line: at.line, column: at.column });
  }

  // ---------------------------------------------------------------- statements

  /** `loops` are the control variables of the FOR loops around, in lower case; other loops stand as the empty text. */
  list(statements: readonly Statement[], loops: readonly string[]): void {
    for (const statement of statements) this.#statement(statement, loops);
  }

  #statement(statement: Statement, loops: readonly string[]): void {
    switch (statement.kind) {
      case 'assign':
        return this.#assign(statement, loops);
      case 'call':
        return this.#callStatement(statement.call);
      case 'if':
        for (const { condition, body } of statement.branches) {
          this.#bool(condition, 'the condition of IF');
          this.list(body, loops);
        }
        return this.list(statement.otherwise ?? [], loops);
      case 'case':
        return this.#case(statement, loops);
      case 'for':
        return this.#for(statement, loops);
      case 'while':
        this.#bool(statement.condition, 'the condition of WHILE');
        return this.list(statement.body, [...loops, '']);
      case 'repeat':
        this.list(statement.body, [...loops, '']);
        return this.#bool(statement.until, 'the condition of UNTIL');
      case 'exit':
        if (loops.length === 0) this.warning('exit-outside-loop', statement.at, 'EXIT outside a loop fails when it runs');
        return;
      case 'return':
        return;
    }
  }

  #bool(expression: Expression, what: string): void {
    const type = this.typeOf(expression);
    if (type !== 'BOOL' && type !== 'ANY') this.error('type', expression.at, `${what} is BOOL, not ${type}`);
  }

  #assign({ target, value, at }: Extract<Statement, { kind: 'assign' }>, loops: readonly string[]): void {
    const prompting = value.kind === 'call' && builtin(value.callee)?.prompting === true;
    const type = prompting ? this.#call(value, true) : this.typeOf(value);
    if (loops.includes(target.toLowerCase())) this.error('type', at, `${target} is the control variable of the loop around and cannot be assigned in it`);
    const declared = this.#writable(target, at);
    if (declared !== undefined && !isAssignable(declared, type)) this.error('type', value.at, `${target} is ${declared} and cannot take a value of type ${type}`);
  }

  /** Type of a name that may be assigned; undefined after a diagnostic. */
  #writable(name: string, at: Position): StType | undefined {
    if (builtin(name)) return this.#refuse('duplicate-name', at, `${name} is the name of a builtin and cannot be a variable`);
    const facts = this.#scope.names.get(name.toLowerCase());
    if (facts === undefined) return this.#refuse('unknown-name', at, `${name} is not declared`);
    if (facts.kind === 'parameter') return this.#refuse('type', at, `${facts.name} is a parameter and cannot be assigned`);
    return facts.type;
  }

  #refuse(code: string, at: Position, message: string): undefined {
    this.error(code, at, message);
    return undefined;
  }

  #callStatement(call: CallExpression): void {
    if (builtin(call.callee)?.prompting) {
      this.error('prompt-not-captured', call.at, `the answer of ${call.callee} must be kept: <variable> := ${call.callee}(...)`);
      this.#call(call, true);
      return;
    }
    this.typeOf(call);
  }

  #case({ selector, cases, otherwise }: Extract<Statement, { kind: 'case' }>, loops: readonly string[]): void {
    const type = this.typeOf(selector);
    if (!['INT', 'STRING', 'ANY'].includes(type)) this.error('type', selector.at, `the selector of CASE is INT or STRING, not ${type}`);
    const labels = cases.flatMap((row) => row.labels);
    for (const label of labels) {
      const labelType = label.kind === 'int' ? 'INT' : 'STRING';
      if (type !== 'ANY' && type !== labelType) this.error('type', label.at, `the selector is ${type}, this label is ${labelType}`);
      if (label.kind === 'string') this.#stateWord(selector, label.value, label.at);
    }
    this.#uniqueLabels(labels);
    for (const { body } of cases) this.list(body, loops);
    this.list(otherwise ?? [], loops);
  }

  /** A label twice is an error (decisions 4.2); ranges are compared as intervals. */
  #uniqueLabels(labels: readonly CaseLabel[]): void {
    const words = new Set<string>();
    const ranges = labels.filter((label) => label.kind === 'int').toSorted((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0));
    ranges.forEach((label, index) => {
      const before = ranges[index - 1];
      if (before && label.from <= before.to) this.error('type', label.at, `the label ${label.from} stands twice`);
    });
    for (const label of labels) {
      if (label.kind !== 'string') continue;
      if (words.has(label.value)) this.error('type', label.at, `the label '${label.value}' stands twice`);
      words.add(label.value);
    }
  }

  #for(statement: Extract<Statement, { kind: 'for' }>, loops: readonly string[]): void {
    const { variable, from, to, by, body, at } = statement;
    const declared = this.#writable(variable, at);
    if (declared !== undefined && declared !== 'INT' && declared !== 'ANY') this.error('type', at, `the control variable of FOR is INT, ${variable} is ${declared}`);
    if (loops.includes(variable.toLowerCase())) this.error('type', at, `${variable} is the control variable of a loop around this one`);
    for (const bound of [from, to, ...(by ? [by] : [])]) {
      const type = this.typeOf(bound);
      if (type !== 'INT' && type !== 'ANY') this.error('type', bound.at, `the bounds and the step of FOR are INT, not ${type}`);
    }
    this.list(body, [...loops, variable.toLowerCase()]);
  }

  // ---------------------------------------------------------------- expressions

  typeOf(expression: Expression): StType {
    switch (expression.kind) {
      case 'literal':
        return expression.literal.type;
      case 'name':
        return this.#name(expression.name, expression.at);
      case 'member':
        return this.#member(expression.object, expression.member, expression.at);
      case 'unary':
        return this.#unary(expression.operator, this.typeOf(expression.operand), expression.at);
      case 'binary':
        return this.#binary(expression);
      case 'call':
        return this.#call(expression, false);
    }
  }

  #name(name: string, at: Position): StType {
    const facts = this.#scope.names.get(name.toLowerCase());
    if (facts === undefined) this.error('unknown-name', at, `${name} is neither declared nor assigned anywhere`);
    return facts?.type ?? 'ANY';
  }

  #member(object: string, member: string, at: Position): StType {
    const type = this.#scope.member(object, member);
    if (type === undefined) this.error('unknown-name', at, `${object}.${member} is unknown; a step of this chart has .T and .X`);
    return type ?? 'ANY';
  }

  #unary(operator: 'NOT' | '-', operand: StType, at: Position): StType {
    const type = unaryType(operator, operand);
    if (type === null) this.error('type', at, `${operator} does not apply to ${operand}`);
    return type ?? 'ANY';
  }

  #binary({ operator, left, right, at }: BinaryExpression): StType {
    const leftType = this.typeOf(left);
    const rightType = this.typeOf(right);
    if (operator === '=' || operator === '<>') {
      if (right.kind === 'literal' && right.literal.type === 'STRING') this.#stateWord(left, right.literal.value, right.at);
      if (left.kind === 'literal' && left.literal.type === 'STRING') this.#stateWord(right, left.literal.value, left.at);
    }
    const type = binaryType(operator, leftType, rightType);
    if (type === null) this.error('type', at, `${operator} does not apply to ${leftType} and ${rightType}`);
    return type ?? 'ANY';
  }

  /** A word compared with a device state must be one the device can take (contract 3, Structured-text language). */
  #stateWord(read: Expression, word: string, at: Position): void {
    const address = readAddress(read);
    if (address === null) return;
    const lookup = this.#scope.tag(address);
    if (lookup.found === 'unresolved') this.warning('state-word-unresolved', at, `'${word}' cannot be checked: the tag of ${address} is not known here`);
    if (lookup.found !== 'tag' || !lookup.tag.isState) return;
    const { stateWords } = lookup.tag;
    if (stateWords === undefined) this.warning('state-word-unresolved', at, `'${word}' cannot be checked: ${address} declares no state words`);
    else if (!stateWords.includes(word)) this.error('state-word', at, `${address} never takes '${word}'; its words are ${stateWords.join(', ')}`);
  }

  // ---------------------------------------------------------------- calls

  /** `captured`: the call is the whole right side of an assignment, or its misuse is reported already. */
  #call(call: CallExpression, captured: boolean): StType {
    const row = builtin(call.callee);
    const refused = row && this.#scope.refuse?.(row.name);
    if (row === undefined || refused) {
      this.error('unknown-function', call.at, refused ?? `there is no function ${call.callee}`);
      for (const { value } of call.args) this.typeOf(value);
      return 'ANY';
    }
    this.#place(row, call, captured);
    const types = call.args.map(({ value }) => this.typeOf(value));
    this.#arguments(row, call, types);
    this.#meaning(row, call);
    return row.result === 'number' ? (types[0] ?? 'ANY') : row.result;
  }

  /** Where a builtin may stand. */
  #place(row: Builtin, { at }: CallExpression, captured: boolean): void {
    const { chart, edgeLocalHold, cyclic, timeout } = this.#scope;
    if (row.deprecated) this.warning('deprecated', at, `${row.name} is deprecated; use ${row.deprecated}`);
    if (this.#inCondition && (row.sideEffect || row.suspends))
      this.warning('side-effect-in-condition', at, `${row.name} runs once per activation of the step; better call it in the action`);
    if (!this.#inCondition && row.prompting && !captured)
      this.error('prompt-not-captured', at, `the answer of ${row.name} must be kept by a statement of its own: <variable> := ${row.name}(...)`);
    if (cyclic && row.suspends && !this.#inCondition) this.error('prompt-cyclic', at, `a cyclic action must not wait, and ${row.name} does`);
    if (row.name === 'AWAIT_RESULT' && timeout !== true) this.error('await-timeout', at, 'a step that calls AWAIT_RESULT must declare a timeout');
    if (chart !== 'holding' || edgeLocalHold === false) return;
    if (row.name === 'AWAIT_RESULT') this.error('await-edge-local', at, 'AWAIT_RESULT is not available in an edge-local holding chart');
    else if (NEEDS_CONTROLLER.has(row.name)) this.warning('edge-local', at, `${row.name} needs the batch controller; this holding chart may run without it`);
  }

  #arguments(row: Builtin, call: CallExpression, types: readonly StType[]): void {
    const positional = call.args.filter((argument) => argument.name === undefined);
    const least = row.parameters.filter((parameter) => !parameter.optional).length;
    const most = row.parameters.length + (row.rest?.max ?? 0);
    if (positional.length < least || positional.length > most) {
      const count = least === most ? `${least}` : `${least} to ${most}`;
      this.error('argument-count', call.at, `${row.name} takes ${count} argument${most === 1 ? '' : 's'}, not ${positional.length}`);
    }
    call.args.forEach((argument, index) => {
      if (argument.name !== undefined) this.#namedArgument(row, call, argument.name, argument.value.at);
      else this.#argument(row, row.parameters[index], inside(types, index, 'every argument has a type'), argument.value);
    });
  }

  #namedArgument(row: Builtin, call: CallExpression, name: string, at: Position): void {
    if (row.named === undefined || name.toLowerCase() !== row.named) {
      this.error('argument-count', at, `${row.name} has no argument called ${name}`);
      return;
    }
    const command = textLiteral(call.args[1]?.value);
    if (command !== null && !PROCEDURE_COMMANDS.includes(command)) this.error('enum', at, `procedure may be given with ${PROCEDURE_COMMANDS.join(' or ')} only`);
  }

  #argument(row: Builtin, parameter: BuiltinParameter | undefined, type: StType, value: Expression): void {
    const wanted = parameter?.type ?? row.rest?.type;
    if (wanted === undefined) return;
    const fits = wanted === 'number' ? ['INT', 'REAL', 'TIME', 'ANY'].includes(type) : isAssignable(wanted, type);
    if (!fits) this.error('type', value.at, `${parameter?.name ?? 'the argument'} of ${row.name} is ${wanted === 'number' ? 'INT, REAL or TIME' : wanted}, not ${type}`);
    const word = textLiteral(value);
    if (parameter?.words && word !== null && !parameter.words.includes(word)) this.error('enum', value.at, `'${word}' is none of ${parameter.words.join(', ')}`);
  }

  /** Rules of single builtins that look at literal arguments. */
  #meaning(row: Builtin, { args, at }: CallExpression): void {
    if (row.name === 'READ') this.#read(args[0]?.value);
    if (row.name === 'WRITE') this.#write(args[0]?.value, args[1]?.value);
    if (row.name === 'PROMPT_VALUE' || row.name === 'AWAIT_RESULT') {
      const min = numberLiteral(args[1]?.value);
      const max = numberLiteral(args[2]?.value);
      if (min !== null && max !== null && min > max) this.error('bounds', at, `the lower bound ${min} is above the upper bound ${max}`);
    }
    if (row.name === 'PROMPT_CHOICE') {
      const options = args
        .slice(1)
        .map(({ value }) => textLiteral(value))
        .filter((text) => text !== null);
      const twice = options.find((option, index) => options.indexOf(option) !== index);
      if (twice !== undefined) this.error('enum', at, `the option '${twice}' stands twice`);
    }
  }

  /** The tag of a literal address; null when there is none or nothing is known about it. */
  #tag(address: Expression | undefined): TagFacts | 'signal' | null {
    const text = textLiteral(address);
    if (text === null || address === undefined) return null;
    const lookup = this.#scope.tag(text);
    if (lookup.found === 'nothing') this.error('unknown-tag', address.at, lookup.message);
    if (lookup.found === 'unresolved' && !this.#unresolved.has(text)) {
      this.#unresolved.add(text);
      this.warning('tag-unresolved', address.at, `${text} cannot be checked before the phase is bound to a unit`);
    }
    if (lookup.found === 'tag') return lookup.tag;
    return lookup.found === 'signal' ? 'signal' : null;
  }

  #read(address: Expression | undefined): void {
    this.#tag(address);
  }

  #write(address: Expression | undefined, value: Expression | undefined): void {
    const tag = this.#tag(address);
    if (address === undefined || tag === null) return;
    if (tag === 'signal') {
      this.error('read-only-tag', address.at, 'a signal or barrier cannot be written');
      return;
    }
    if (!tag.writable) this.error('read-only-tag', address.at, `${textLiteral(address)} is read-only`);
    if (value?.kind !== 'literal') return;
    if (!isAssignable(tag.type, value.literal.type)) this.error('type', value.at, `${textLiteral(address)} is ${tag.type} and cannot take ${value.literal.type}`);
    const number = numberLiteral(value);
    if (number === null || tag.type === 'TIME') return;
    if (tag.engMin !== undefined && number < tag.engMin) this.error('range', value.at, `${number} is below ${tag.engMin}, the lowest value of ${textLiteral(address)}`);
    if (tag.engMax !== undefined && number > tag.engMax) this.error('range', value.at, `${number} is above ${tag.engMax}, the highest value of ${textLiteral(address)}`);
  }
}

function textLiteral(expression: Expression | undefined): string | null {
  return expression?.kind === 'literal' && expression.literal.type === 'STRING' ? expression.literal.value : null;
}

function numberLiteral(expression: Expression | undefined): number | null {
  if (expression?.kind !== 'literal') return null;
  const { type, value } = expression.literal;
  return type === 'INT' || type === 'REAL' ? Number(value) : null;
}

/** The literal address of `READ('...')`; null for every other expression. */
function readAddress(expression: Expression): string | null {
  if (expression.kind !== 'call' || expression.callee.toUpperCase() !== 'READ') return null;
  return textLiteral(expression.args[0]?.value);
}
