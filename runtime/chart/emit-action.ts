/**
 * Statement lists as JavaScript source. An action without suspension is one native body. An action with suspension
 * becomes the cases of a `switch`: every suspending call ends one case and begins the next, so (label, temporaries) says
 * exactly where to go on and no statement is executed twice (decisions 2.6). Loops that do not suspend stay native.
 */
import { inside } from '../vocabulary/assert.js';
import type { BinaryOperator, CallExpression, CaseLabel, Expression, Statement } from '../language/ast.js';
import { type Code, CompileError, ExpressionEmitter, type IntPlace, type Scope, type Site } from './emit-expression.js';
import { WideEmitter } from './emit-wide.js';
import { anywhere, statementSuspends, type StType, SUSPENDING, suspends, type Variable } from './layout.js';

type Of<K extends Statement['kind']> = Extract<Statement, { kind: K }>;

/** Innermost loop last: a native one is left by `break`, a lowered one by a jump to its end label. */
type Loop = { readonly native: string } | { readonly end: number };

const isControl = anywhere(({ kind }) => kind === 'exit' || kind === 'return');

/** Whether what stands behind the statement may be left out, or executed in another call. */
function leaves(statement: Statement): boolean {
  return statementSuspends(statement) || isControl(statement);
}

export class ActionEmitter {
  readonly #expressions: ExpressionEmitter;
  readonly #blocks: string[][] = [[]];
  #current = 0;
  readonly #loops: Loop[] = [];
  readonly #assigned = new Set<number>();
  readonly temporaryTypes: StType[] = [];
  #loopCount = 0;
  #usesOutputs = false;

  /** Both versions have the same labels and temporaries, so that one may go on where the other has stopped. */
  constructor(scope: Scope, wide = false) {
    this.#expressions = wide ? new WideEmitter(scope, false) : new ExpressionEmitter(scope, false);
  }

  get sites(): readonly Site[] {
    return this.#expressions.sites;
  }

  /** Source of one function `(F, V, T, L, B) => label`; -1 = ended. */
  compile(statements: readonly Statement[]): string {
    this.#list(statements);
    this.#emit('return -1;');
    return this.#assemble();
  }

  #assemble(): string {
    const slots = [...this.#expressions.usedSlots].sort((a, b) => a - b);
    const temporaries = this.temporaryTypes.map((_, index) => index);
    const locals = [
      ...slots.map((slot) => this.#expressions.load(slot)),
      ...temporaries.map((index) => `t${index}=T[${index}]`),
      ...Array.from({ length: this.#expressions.scratchCount }, (_, index) => `x${index + 1}`),
      'b=B',
      ...(this.#usesOutputs ? ['A=F.assigned'] : []),
    ];
    const stores = [...[...this.#assigned].sort((a, b) => a - b).map((slot) => this.#expressions.save(slot)), ...temporaries.map((index) => `T[${index}]=t${index};`)];
    const body =
      this.#blocks.length === 1
        ? (this.#blocks[0] ?? []).join('\n')
        : `d:for(;;)switch(L){\n${this.#blocks.map((block, label) => `case ${label}:\n${block.join('\n')}`).join('\n')}\ndefault:return -1;\n}`;
    const guarded = stores.length > 0 ? `try{\n${body}\n}finally{${stores.join('')}}` : body;
    return `function(F,V,T,L,B){\nlet ${locals.join(',')};\n${guarded}\n}`;
  }

  #emit(line: string): void {
    inside(this.#blocks, this.#current, 'what is emitted goes into a case that was opened').push(line);
  }

  #label(): number {
    return this.#blocks.push([]) - 1;
  }

  #goto(label: number): string {
    return `{L=${label};continue d;}`;
  }

  /** Ends the present case with a jump and goes on at the label. */
  #flow(label: number): void {
    this.#emit(this.#goto(label));
    this.#current = label;
  }

  #temporary(type: StType): string {
    return `t${this.temporaryTypes.push(type) - 1}`;
  }

  #store(variable: Variable, value: Code, line: number): void {
    this.#assigned.add(variable.slot);
    this.#emit(this.#expressions.assign(variable, value, line));
  }

  /** A list without a way out is charged to the statement budget at once, another one run by run. */
  #list(statements: readonly Statement[]): void {
    let at = 0;
    for (let first = statements[0]; first; first = statements[at]) {
      let end = at + 1;
      if (!leaves(first)) while (end < statements.length && !leaves(inside(statements, end, 'the index is below the length'))) end += 1;
      const run = statements.slice(at, end);
      this.#emit(`if((b-=${run.length})<0)budgetSpent(${first.at.line});`);
      for (const statement of run) this.#statement(statement);
      at += run.length;
    }
  }

  #statement(statement: Statement): void {
    switch (statement.kind) {
      case 'assign':
        return this.#assign(statement);
      case 'call':
        return this.#emit(`${this.#value(statement.call).code};`);
      case 'if':
        return statementSuspends(statement) ? this.#loweredIf(statement) : this.#nativeIf(statement);
      case 'case':
        return this.#case(statement);
      case 'for':
        return this.#for(statement);
      case 'while':
        return this.#while(statement);
      case 'repeat':
        return this.#repeat(statement);
      case 'exit':
        return this.#exit(statement.at.line);
      case 'return':
        return this.#emit('return -1;');
    }
  }

  #assign(statement: Of<'assign'>): void {
    const variable = this.#expressions.scope.layout.find(statement.target);
    const { line } = statement.at;
    if (!variable || variable.kind === 'parameter') throw new CompileError(`${variable ? 'type' : 'unknown-name'}: ${statement.target} cannot be assigned (line ${line})`);
    this.#store(variable, this.#value(statement.value), line);
    if (variable.kind === 'output') {
      this.#usesOutputs = true;
      this.#emit(`A[${variable.slot}]=1;`);
    }
  }

  #condition(node: Expression): string {
    return this.#expressions.coerce(this.#value(node), 'BOOL', node.at.line);
  }

  // -------------------------------------------------------------- values that suspend

  /** An operand; what suspends inside it is lowered to labels first, left to right. */
  #value(node: Expression): Code {
    if (!suspends(node)) return this.#expressions.expression(node);
    switch (node.kind) {
      case 'unary':
        return this.#loweredUnary(node.operator, node.operand, node.at.line);
      case 'binary':
        if (node.operator === 'AND' || node.operator === 'OR') return this.#shortCircuit(node.operator, node.left, node.right, node.at.line);
        return this.#loweredBinary(node);
      case 'call':
        return this.#loweredCall(node);
      default:
        return this.#expressions.expression(node);
    }
  }

  #loweredUnary(operator: 'NOT' | '-', operand: Expression, line: number): Code {
    const value = this.#value(operand);
    if (operator === '-') return this.#expressions.negate(value, line);
    return { code: `(!${this.#expressions.coerce(value, 'BOOL', line)})`, type: 'BOOL', simple: false, finite: true, pure: false };
  }

  #keep(value: Code, line: number): Code {
    const name = this.#temporary(value.type);
    this.#emit(`${name}=${this.#expressions.finite(value, line)};`);
    return { code: name, type: value.type, simple: true, finite: true, pure: true };
  }

  #loweredBinary(node: Extract<Expression, { kind: 'binary' }>): Code {
    let left = this.#value(node.left);
    if (suspends(node.right)) left = this.#keep(left, node.at.line);
    return this.#expressions.binary(node.operator, left, this.#value(node.right), node.at.line);
  }

  #shortCircuit(operator: 'AND' | 'OR', left: Expression, right: Expression, line: number): Code {
    const name = this.#temporary('BOOL');
    const end = this.#label();
    this.#emit(`${name}=${this.#expressions.coerce(this.#value(left), 'BOOL', line)};`);
    this.#emit(`if(${operator === 'AND' ? '!' : ''}${name})${this.#goto(end)}`);
    this.#emit(`${name}=${this.#expressions.coerce(this.#value(right), 'BOOL', line)};`);
    this.#flow(end);
    return { code: name, type: 'BOOL', simple: true, finite: true, pure: true };
  }

  #loweredCall(call: CallExpression): Code {
    const { line } = call.at;
    const args: Code[] = [];
    for (const [index, argument] of call.args.entries()) {
      const value = this.#value(argument.value);
      const later = call.args.slice(index + 1).some((other) => suspends(other.value));
      args.push(later ? this.#keep(value, line) : value);
    }
    const type = SUSPENDING.get(call.callee.toUpperCase());
    if (!type) return this.#expressions.call(call, args);
    this.#expressions.checkCall(call);
    const next = this.#label();
    const site = this.#expressions.site(call);
    this.#emit(`F.suspend(${site},[${this.#expressions.arguments(call, args).join(',')}],${line});return ${next};`);
    this.#current = next;
    return { code: `F.answer(${line})`, type, simple: false, finite: true, pure: false };
  }

  // -------------------------------------------------------------- IF and CASE

  #nativeIf(statement: Of<'if'>): void {
    for (const [index, branch] of statement.branches.entries()) {
      this.#emit(`${index > 0 ? '}else ' : ''}if(${this.#condition(branch.condition)}){`);
      this.#list(branch.body);
    }
    this.#otherwise(statement.otherwise);
  }

  #otherwise(statements: readonly Statement[] | null): void {
    if (statements && statements.length > 0) {
      this.#emit('}else{');
      this.#list(statements);
    }
    this.#emit('}');
  }

  #loweredIf(statement: Of<'if'>): void {
    const end = this.#label();
    for (const branch of statement.branches) {
      const next = this.#label();
      this.#emit(`if(!${this.#condition(branch.condition)})${this.#goto(next)}`);
      this.#list(branch.body);
      this.#emit(this.#goto(end));
      this.#current = next;
    }
    if (statement.otherwise) this.#list(statement.otherwise);
    this.#flow(end);
  }

  #case(statement: Of<'case'>): void {
    const { line } = statement.at;
    const texts = statement.cases.some((row) => row.labels.some((label) => label.kind === 'string'));
    const selector = this.#selector(statement.selector, texts, line);
    const tests = statement.cases.map((row) => row.labels.map((label) => this.#labelTest(selector, label)).join('||') || 'false');
    if (statementSuspends({ ...statement, selector: NOTHING })) this.#loweredCase(statement, tests);
    else this.#nativeCase(statement, tests);
  }

  #selector(node: Expression, texts: boolean, line: number): Code {
    if (!texts) {
      const place = this.#expressions.place();
      this.#emit(place.set(this.#value(node), line));
      return place.code;
    }
    const name = this.#expressions.scratch();
    this.#emit(`${name}=${this.#expressions.coerce(this.#value(node), 'STRING', line)};`);
    return { code: name, type: 'STRING', simple: true, finite: true, pure: true };
  }

  #labelTest(selector: Code, label: CaseLabel): string {
    if (label.kind === 'string') return `${selector.code}===${this.#expressions.scope.pool.text(label.value)}`;
    const test = (operator: BinaryOperator, value: bigint) => this.#expressions.binary(operator, selector, this.#expressions.literal({ type: 'INT', value }), 0).code;
    return label.from === label.to ? test('=', label.from) : `${test('>=', label.from)}&&${test('<=', label.to)}`;
  }

  #nativeCase(statement: Of<'case'>, tests: readonly string[]): void {
    if (statement.cases.length === 0) {
      if (statement.otherwise) this.#list(statement.otherwise);
      return;
    }
    for (const [index, row] of statement.cases.entries()) {
      this.#emit(`${index > 0 ? '}else ' : ''}if(${tests[index]}){`);
      this.#list(row.body);
    }
    this.#otherwise(statement.otherwise);
  }

  #loweredCase(statement: Of<'case'>, tests: readonly string[]): void {
    const end = this.#label();
    const labelled = statement.cases.map(({ body }, index) => ({ body, label: this.#label(), test: inside(tests, index, 'one test per case') }));
    for (const { test, label } of labelled) this.#emit(`if(${test})${this.#goto(label)}`);
    if (statement.otherwise) this.#list(statement.otherwise);
    this.#emit(this.#goto(end));
    for (const { label, body } of labelled) {
      this.#current = label;
      this.#list(body);
      this.#emit(this.#goto(end));
    }
    this.#current = end;
  }

  // -------------------------------------------------------------- loops

  /** Counter, condition and end of one loop: native when nothing in it suspends, else labels. */
  #loop(
    native: boolean,
    line: number,
    parts: { readonly start: (place: () => IntPlace) => void; readonly head: () => string | null; readonly body: () => void; readonly tail: () => string | null },
  ): void {
    parts.start(() => (native ? this.#expressions.place() : this.#expressions.namedPlace(this.#temporary('INT'))));
    const count = native ? this.#expressions.scratch() : this.#temporary('INT');
    this.#emit(`${count}=0;`);
    const counted = `if(++${count}>loopMax)loopLimit(loopMax,${line});`;
    if (native) {
      const name = `l${++this.#loopCount}`;
      this.#loops.push({ native: name });
      this.#emit(`${name}:for(;;){`);
      const head = parts.head();
      if (head) this.#emit(`if(!(${head}))break;`);
      this.#emit(counted);
      parts.body();
      const tail = parts.tail();
      if (tail) this.#emit(`if(${tail})break;`);
      this.#emit('}');
    } else {
      const top = this.#label();
      const end = this.#label();
      this.#loops.push({ end });
      this.#flow(top);
      const head = parts.head();
      if (head) this.#emit(`if(!(${head}))${this.#goto(end)}`);
      this.#emit(counted);
      parts.body();
      const tail = parts.tail();
      if (tail) this.#emit(`if(${tail})${this.#goto(end)}`);
      this.#emit(this.#goto(top));
      this.#current = end;
    }
    this.#loops.pop();
  }

  #for(statement: Of<'for'>): void {
    const { line } = statement.at;
    const variable = this.#expressions.scope.layout.find(statement.variable);
    if (!variable || variable.kind === 'parameter' || variable.type !== 'INT') throw new CompileError(`type: ${statement.variable} cannot control a loop (line ${line})`);
    const control = (): Code => this.#expressions.control(variable);
    const by = statement.by;
    const step = by?.kind === 'literal' && by.literal.type === 'INT' ? by.literal.value : by === null ? 1n : null;
    const native = !statement.body.some(statementSuspends);
    const zero = this.#expressions.literal({ type: 'INT', value: 0n });
    const compare = (operator: BinaryOperator, left: Code, right: Code): string => this.#expressions.binary(operator, left, right, line).code;
    let to: Code;
    let stride: Code;
    this.#loop(native, line, {
      start: (place) => {
        const [first, last] = [place(), place()];
        to = last.code;
        this.#emit(first.set(this.#value(statement.from), line));
        this.#emit(last.set(this.#value(statement.to), line));
        stride = step !== null ? this.#expressions.literal({ type: 'INT', value: step }) : this.#stride(place(), by as Expression, line);
        this.#emit(step === 0n ? `forStep(${line});` : `if(${compare('=', stride, zero)})forStep(${line});`);
        this.#store(variable, first.code, line);
      },
      head: () => {
        if (step !== null) return compare(step > 0n ? '<=' : '>=', control(), to);
        return `${compare('>', stride, zero)}?${compare('<=', control(), to)}:${compare('>=', control(), to)}`;
      },
      body: () => this.#list(statement.body),
      tail: () => {
        this.#store(variable, this.#expressions.binary('+', control(), stride, line), line);
        return null;
      },
    });
  }

  #stride(place: IntPlace, by: Expression, line: number): Code {
    this.#emit(place.set(this.#value(by), line));
    return place.code;
  }

  #while(statement: Of<'while'>): void {
    this.#loop(!statementSuspends(statement), statement.at.line, {
      start: () => {},
      head: () => this.#condition(statement.condition),
      body: () => this.#list(statement.body),
      tail: () => null,
    });
  }

  #repeat(statement: Of<'repeat'>): void {
    this.#loop(!statementSuspends(statement), statement.at.line, {
      start: () => {},
      head: () => null,
      body: () => this.#list(statement.body),
      tail: () => this.#condition(statement.until),
    });
  }

  #exit(line: number): void {
    const loop = this.#loops.at(-1);
    if (!loop) this.#emit(`exitOutside(${line});`);
    else this.#emit('native' in loop ? `break ${loop.native};` : this.#goto(loop.end));
  }
}

/** Stands for the selector of a CASE whose own suspension has been lowered already. */
const NOTHING: Expression = { kind: 'literal', literal: { type: 'BOOL', value: false }, at: { line: 0, column: 0 } };
