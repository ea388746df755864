/**
 * Control-module text to a function-block network (contract 3, Structured-text language; decisions 4.6, 4.7). Text outside
 * the dataflow subset gives diagnostics and an empty network. Names of blocks and their order follow the creation order of
 * decisions 4.6: statements in order, operands before operators; the same text always gives the same network.
 */
import { inside } from '../vocabulary/assert.js';
import type { BlockSpec, Connection, NetworkVariable, VariableBinding } from '../vocabulary/network.js';
import type { Argument, CallExpression, Diagnostic, Expression, Literal, Position, Program, Statement, VariableDeclaration } from './ast.js';
import { type BlockCatalog, findBlock, genericType, isPreset, named, type PortMetadata } from './block-catalog.js';
import { DIAGNOSTICS_MAX } from './lexer.js';
import { combine, type ExpressionScope, isIoBuiltin, lowerCall, lowerExpression, lowerIo, select, toReal } from './lower-expression.js';
import { Definitions, type Instance, type ProgramVariable, promote } from './lower-scope.js';
import { BLOCKS_MAX, literalParam, NetworkBuilder, networkType, type Operand, type Settled, TooManyBlocks } from './network-builder.js';
import { readComments, readHeader } from './network-comments.js';
import { parseProgram } from './parser.js';
import { parseDuration } from './time-text.js';
import { isAssignable, type StType } from './types.js';
import { parseValueText } from './value-text.js';
import { statementsIn } from './walk.js';

export interface NetworkInput {
  readonly name: string;
  readonly dataType: string;
  readonly defaultValue?: string;
}

export interface NetworkOutput {
  readonly name: string;
  readonly dataType: string;
  readonly blockRef: string;
  readonly portRef: string;
}

export interface LoweredNetwork {
  readonly name: string;
  readonly scanInterval: string;
  readonly description: string;
  readonly blocks: readonly BlockSpec[];
  readonly connections: readonly Connection[];
  /** Inputs and outputs of the program; local variables are names of ports and leave no trace. */
  readonly variables: readonly NetworkVariable[];
  readonly variableBindings: readonly VariableBinding[];
  /** VAR_INPUT, as a template declares its inputs. */
  readonly inputs: readonly NetworkInput[];
  /** VAR_OUTPUT with the port that drives each, as a template declares its tags. */
  readonly outputs: readonly NetworkOutput[];
  readonly diagnostics: readonly Diagnostic[];
}

export const SCAN_INTERVAL_DEFAULT = '100ms'; // decisions Q-PROG-08

export function lowerProgram(source: string, catalog: BlockCatalog): LoweredNetwork {
  const { program, diagnostics, comments } = parseProgram(source);
  const header = readHeader(program?.header ?? []);
  const about = { name: header.name || (program?.name ?? ''), scanInterval: header.scanInterval || SCAN_INTERVAL_DEFAULT, description: header.description };
  const empty = { ...about, blocks: [], connections: [], variables: [], variableBindings: [], inputs: [], outputs: [] };
  if (program === null || diagnostics.length > 0) return { ...empty, diagnostics };
  const lowering = new Lowering(program, catalog);
  const network = lowering.run(readComments(source, program, comments));
  const found = lowering.diagnostics.toSorted((a, b) => a.line - b.line || a.column - b.column);
  return found.some(({ severity }) => severity === 'error') ? { ...empty, diagnostics: found } : { ...about, ...network, diagnostics: found };
}

type Network = Pick<LoweredNetwork, 'blocks' | 'connections' | 'variables' | 'variableBindings' | 'inputs' | 'outputs'>;
type Branch = { readonly condition: Operand | null; readonly definitions: Definitions };

class Lowering implements ExpressionScope {
  readonly diagnostics: Diagnostic[] = [];
  readonly catalog: BlockCatalog;
  readonly builder: NetworkBuilder;
  readonly #program: Program;
  readonly #variables = new Map<string, ProgramVariable>();
  readonly #instances = new Map<string, Instance>();
  readonly #called = new Set<string>();
  readonly #reported = new Set<string>();
  #definitions = new Definitions();
  #depth = 0;

  constructor(program: Program, catalog: BlockCatalog) {
    this.#program = program;
    this.catalog = catalog;
    const instances = program.variables.filter(({ type }) => typeof type === 'object');
    this.builder = new NetworkBuilder(new Set(instances.map(({ name }) => name.toLowerCase())), catalog);
  }

  get inBranch(): boolean {
    return this.#depth > 0;
  }

  /** `comments` and original names of instances by their name in the text, lower case. */
  run({ comments, names }: { readonly comments: ReadonlyMap<string, string>; readonly names: ReadonlyMap<string, string> }): Network {
    this.#declare();
    try {
      this.#list(this.#program.body);
      this.#addUncalled();
      return this.#finish(comments, names);
    } catch (error) {
      if (!(error instanceof TooManyBlocks)) throw error;
      this.fail('dataflow', `the program makes more than ${BLOCKS_MAX} blocks`, this.#program.at);
      return { blocks: [], connections: [], variables: [], variableBindings: [], inputs: [], outputs: [] };
    }
  }

  fail(code: string, message: string, at: Position): null {
    if (this.diagnostics.length < DIAGNOSTICS_MAX) this.diagnostics.push({ severity: 'error', code, message, line: at.line, column: at.column });
    return null;
  }

  // ---------------------------------------------------------------- declarations

  #declare(): void {
    const assigned = new Set<string>();
    for (const statement of statementsIn(this.#program.body)) if (statement.kind === 'assign') assigned.add(statement.target.toLowerCase());
    for (const declaration of this.#program.variables) {
      const key = declaration.name.toLowerCase();
      if (this.#variables.has(key) || this.#instances.has(key)) this.fail('duplicate-name', `${declaration.name} is declared twice`, declaration.at);
      else if (typeof declaration.type === 'object') this.#declareInstance(declaration, declaration.type.block, key);
      else this.#declareVariable(declaration, declaration.type, key, assigned.has(key));
    }
  }

  #declareInstance(declaration: VariableDeclaration, type: string, key: string): void {
    const { name, section, initial, at } = declaration;
    const block = findBlock(this.catalog, type);
    if (!block) this.fail('unknown-type', `there is no type ${type}; the types are BOOL, INT, REAL, STRING, TIME and the function blocks`, at);
    else if (section !== 'VAR') this.fail('dataflow', `the instance ${name} is declared in VAR, not in ${section}`, at);
    else if (initial) this.fail('dataflow', `presets of the instance ${name} are written (<name> := <literal>, ...)`, at);
    if (block) this.#instances.set(key, { name, block, declaration });
  }

  #declareVariable(declaration: VariableDeclaration, type: ProgramVariable['type'], key: string, assigned: boolean): void {
    const { name, section, at } = declaration;
    if (isIoBuiltin(name)) this.fail('duplicate-name', `${name} is the name of a builtin and cannot be a variable`, at);
    const initial = this.#initial(declaration, type);
    this.#variables.set(key, { name, key, type, section, initial, assigned, declaration });
    if (assigned && section === 'VAR_INPUT') this.fail('type', `the input ${name} is assigned; inputs are read-only`, at);
    if (assigned && initial && section !== 'VAR_INPUT') {
      const message = `the initial value of ${name} has no effect: before its first assignment ${name} has the value of the previous scan`;
      this.diagnostics.push({ severity: 'warning', code: 'initial-unused', message, line: at.line, column: at.column });
    }
  }

  #initial({ name, initial }: VariableDeclaration, type: ProgramVariable['type']): Literal | null {
    if (initial === null) return null;
    if (initial.kind !== 'literal') return this.fail('dataflow', `the initial value of ${name} must be a literal`, initial.at);
    if (!isAssignable(type, initial.literal.type)) return this.fail('type', `${name} is ${type} and cannot begin with a value of type ${initial.literal.type}`, initial.at);
    return promote(initial.literal, type);
  }

  // ---------------------------------------------------------------- names

  isInstance(name: string): boolean {
    return this.#instances.has(name.toLowerCase());
  }

  read(name: string, at: Position): Operand | null {
    const key = name.toLowerCase();
    const variable = this.#variables.get(key);
    if (!variable) return this.fail('unknown-name', this.isInstance(name) ? `${name} is an instance; read one of its outputs, ${name}.<output>` : `${name} is not declared`, at);
    if (variable.section === 'VAR_INPUT') return { kind: 'input', variable: variable.name, type: variable.type, network: variable.type };
    if (variable.assigned) return this.#definitions.get(key) ?? later(variable);
    if (variable.initial) return { kind: 'literal', literal: variable.initial, type: variable.type };
    if (this.#reported.has(key)) return null;
    this.#reported.add(key);
    return this.fail('unassigned', `${name} is read but never assigned and has no initial value`, at);
  }

  member(object: string, member: string, at: Position): Operand | null {
    const instance = this.#instances.get(object.toLowerCase());
    if (!instance) return this.fail('unknown-name', `${object} is no instance of a function block`, at);
    const output = named(instance.block.outputs, member);
    if (!output) return this.fail('unknown-name', `${instance.block.type} has no output ${member}; it has ${instance.block.outputs.map(({ name }) => name).join(', ')}`, at);
    const type = genericType(output.type);
    const known: StType = type === 'NUM' ? 'ANY' : type;
    return { kind: 'port', block: instance.name, port: output.name, type: known, network: known };
  }

  // ---------------------------------------------------------------- statements

  #list(statements: readonly Statement[]): void {
    for (const statement of statements) this.#statement(statement);
  }

  #statement(statement: Statement): void {
    switch (statement.kind) {
      case 'assign':
        return this.#assign(statement.target, statement.value, statement.at);
      case 'call':
        return this.#call(statement.call);
      case 'if':
        return this.#if(statement);
      case 'case':
        return this.#case(statement);
      default:
        this.fail('dataflow', `${statement.kind.toUpperCase()} is outside the dataflow subset of control modules`, statement.at);
    }
  }

  #assign(target: string, value: Expression, at: Position): void {
    const operand = lowerExpression(value, this);
    const variable = this.#variables.get(target.toLowerCase());
    if (!variable) {
      this.fail('unknown-name', this.isInstance(target) ? `${target} is an instance and cannot be assigned` : `${target} is not declared`, at);
      return;
    }
    if (operand === null || variable.section === 'VAR_INPUT') return;
    if (!isAssignable(variable.type, operand.type)) {
      this.fail('type', `${variable.name} is ${variable.type} and cannot take a value of type ${operand.type}`, value.at);
      return;
    }
    this.#definitions.set(variable.key, this.#named(operand, variable));
  }

  /** The value under the name of a variable: a literal becomes CONST, except in a branch, where it goes to the port of SEL. */
  #named(operand: Operand, variable: ProgramVariable): Operand {
    if (operand.kind !== 'literal') return { ...operand, type: variable.type };
    const literal = promote(operand.literal, variable.type);
    const typed: Operand = { kind: 'literal', literal, type: variable.type };
    return this.inBranch ? typed : this.#constant(typed, literal);
  }

  #constant(operand: Operand, literal: Literal): Operand {
    const block = this.builder.generate('CONST');
    this.builder.feed({ kind: 'literal', literal, type: operand.type }, block, 'value');
    return { kind: 'port', block, port: 'OUT', type: operand.type, network: networkType(operand) };
  }

  #call(call: CallExpression): void {
    const instance = this.#instances.get(call.callee.toLowerCase());
    const byName = call.args.every(({ name }) => name !== undefined);
    if (instance && byName) this.#callInstance(instance, call);
    else if (isIoBuiltin(call.callee)) lowerIo(call, true, this);
    else lowerCall(call, this);
  }

  // ---------------------------------------------------------------- instances

  #callInstance(instance: Instance, { args, at }: CallExpression): void {
    const { name, block } = instance;
    if (this.inBranch) this.fail('dataflow', `${name} is called inside IF or CASE; call it outside and choose its inputs`, at);
    if (this.#called.has(name)) {
      this.fail('dataflow', `${name} is called twice; an instance is one block and runs once per scan`, at);
      return;
    }
    this.#called.add(name);
    const operands = args.map(({ value }) => lowerExpression(value, this));
    this.builder.add(name, block.type);
    this.#presets(instance);
    const given = new Set<string>();
    args.forEach((argument, index) => {
      const operand = operands[index];
      if (operand) this.#port(instance, argument, operand, given);
    });
  }

  /** Instances that no statement calls still run; they stand behind all others in the order of their declaration. */
  #addUncalled(): void {
    for (const instance of this.#instances.values()) {
      if (this.#called.has(instance.name)) continue;
      this.builder.add(instance.name, instance.block.type);
      this.#presets(instance);
    }
  }

  #presets(instance: Instance): void {
    const given = new Set<string>();
    for (const argument of instance.declaration.presets) {
      const { value } = argument;
      if (value.kind !== 'literal') this.fail('dataflow', `the preset ${argument.name} of ${instance.name} must be a literal`, value.at);
      else this.#port(instance, argument, { kind: 'literal', literal: value.literal, type: value.literal.type }, given);
    }
  }

  /** One `name := value` of a declaration or a call: a parameter, a constant of a port, or its connection. */
  #port(instance: Instance, argument: Argument, operand: Operand, given: Set<string>): void {
    const { block, name } = instance;
    const { value } = argument;
    const word = argument.name ?? '';
    const input = named(block.inputs, word);
    const port: PortMetadata | undefined = input ?? named(block.params, word);
    if (!port) {
      this.fail('unknown-name', `${block.type} has no input or parameter ${word}`, value.at);
      return;
    }
    if (given.has(port.name)) this.fail('duplicate-name', `${port.name} of ${name} is given twice`, value.at);
    given.add(port.name);
    const literalOnly = !input || isPreset(block.type, input);
    // the text must say it: a variable that happens to be constant is none (contract 3, Structured-text language)
    if (literalOnly && value.kind !== 'literal') this.fail('dataflow', `${port.name} of ${name} must be a literal`, value.at);
    if (!fits(port.type, operand)) this.fail('type', `${port.name} of ${block.type} is ${port.type}, not ${operand.type}`, value.at);
    this.builder.feed(operand, name, port.name);
  }

  // ---------------------------------------------------------------- IF and CASE

  #if({ branches, otherwise }: Extract<Statement, { kind: 'if' }>): void {
    const lowered = branches.map(({ condition, body }): Branch => ({ condition: this.#condition(condition), definitions: this.#branch(body) }));
    this.#merge(lowered, this.#branch(otherwise ?? []));
  }

  /** Conditions stand before the branches they choose, so calls in them run in every scan and are allowed. */
  #condition(expression: Expression): Operand | null {
    const operand = lowerExpression(expression, this);
    if (operand && !isAssignable('BOOL', operand.type)) return this.fail('type', `the condition is BOOL, not ${operand.type}`, expression.at);
    return operand;
  }

  #branch(body: readonly Statement[]): Definitions {
    const before = this.#definitions;
    const own = new Definitions(before);
    this.#definitions = own;
    this.#depth += 1;
    this.#list(body);
    this.#depth -= 1;
    this.#definitions = before;
    return own;
  }

  /** One SEL per assigned variable and branch, from the last branch outward (ELSIF nests in ELSE). */
  #merge(branches: readonly Branch[], otherwise: Definitions): void {
    let rest = otherwise.own;
    for (const { condition, definitions } of branches.toReversed()) {
      const merged = new Map<string, Operand>();
      for (const key of new Set([...definitions.own.keys(), ...rest.keys()])) {
        const variable = this.#variables.get(key);
        if (!variable || condition === null) continue;
        const before = this.#definitions.get(key) ?? later(variable);
        merged.set(key, select(condition, rest.get(key) ?? before, definitions.own.get(key) ?? before, variable.type, this.builder));
      }
      rest = merged;
    }
    for (const [key, operand] of rest) this.#definitions.set(key, operand);
  }

  #case({ selector, cases, otherwise }: Extract<Statement, { kind: 'case' }>): void {
    const selected = lowerExpression(selector, this);
    if (selected && !['INT', 'STRING', 'ANY'].includes(selected.type)) this.fail('type', `the selector of CASE is INT or STRING, not ${selected.type}`, selector.at);
    const lowered = cases.map(({ labels, body }): Branch => {
      const tests = labels.map((label) => selected && this.#labelTest(selected, label));
      const condition = tests.reduce((all, test, index) => all && test && combine('OR', all, test, inside(labels, index, 'one test per label').at, this));
      return { condition, definitions: this.#branch(body) };
    });
    this.#merge(lowered, this.#branch(otherwise ?? []));
  }

  #labelTest(selected: Operand, label: Extract<Statement, { kind: 'case' }>['cases'][number]['labels'][number]): Operand | null {
    const { at } = label;
    if (label.kind === 'string') return combine('=', selected, { kind: 'literal', literal: { type: 'STRING', value: label.value }, type: 'STRING' }, at, this);
    const int = (value: bigint): Operand => ({ kind: 'literal', literal: { type: 'INT', value }, type: 'INT' });
    if (label.from === label.to) return combine('=', selected, int(label.from), at, this);
    const low = combine('>=', selected, int(label.from), at, this);
    const high = combine('<=', selected, int(label.to), at, this);
    return low && high && combine('AND', low, high, at, this);
  }

  // ---------------------------------------------------------------- result

  #finish(comments: ReadonlyMap<string, string>, names: ReadonlyMap<string, string>): Network {
    const variables: NetworkVariable[] = [];
    const ends: VariableBinding[] = [];
    const inputs: NetworkInput[] = [];
    for (const variable of this.#variables.values()) {
      const { name, type, section, initial } = variable;
      if (section === 'VAR') continue;
      variables.push({ name, dataType: type, direction: section === 'VAR_INPUT' ? 'input' : 'output' });
      if (section === 'VAR_INPUT') inputs.push({ name, dataType: type, ...(initial && { defaultValue: initialText(initial) }) });
      else ends.push(...this.#output(variable));
    }
    const { connections, bindings } = this.builder.wiring((operand) => this.#settle(operand));
    const original = (block: string): string => names.get(block.toLowerCase()) ?? block;
    const commented = new Map([...this.#instances].flatMap(([key, { name }]) => (comments.has(key) ? [[name, comments.get(key) ?? '']] : [])));
    const drains = ends.map((row) => ({ ...row, blockRef: original(row.blockRef) }));
    return {
      blocks: this.builder.blocks(commented).map((block) => ({ ...block, name: original(block.name) })),
      connections: connections.map((row) => ({ ...row, sourceBlock: original(row.sourceBlock), destBlock: original(row.destBlock) })),
      variables,
      variableBindings: [...bindings.map((row) => ({ ...row, blockRef: original(row.blockRef) })), ...drains],
      inputs,
      outputs: drains.map(({ variable, blockRef, portRef }) => ({
        name: variable,
        dataType: variables.find(({ name }) => name === variable)?.dataType ?? 'REAL',
        blockRef,
        portRef,
      })),
    };
  }

  /** The port behind an output variable; a value that has no port of its own gets one. */
  #output(variable: ProgramVariable): VariableBinding[] {
    const { name, key, type, initial, declaration } = variable;
    let operand: Operand | undefined = this.#definitions.get(key);
    if (operand === undefined && initial) operand = this.#constant({ kind: 'literal', literal: initial, type }, initial);
    if (operand === undefined) {
      this.fail('unassigned', `the output ${name} is never assigned`, declaration.at);
      return [];
    }
    let end = this.#settle(operand);
    if (end === null) return [];
    // an INT promotes to REAL: what reads the output sees its declared type
    if (type === 'REAL' && end.network === 'INT') end = toReal(end, this.builder) as Extract<Operand, { kind: 'port' }>;
    if (end.kind === 'input') end = this.builder.apply('MOVE', [['IN', end]], { port: 'OUT', type, network: end.type }) as Extract<Operand, { kind: 'port' }>;
    return [{ variable: name, blockRef: end.block, portRef: end.port }];
  }

  /** Follows values of the previous scan to the last definition of their variable. */
  #settle(operand: Operand): Settled {
    const seen = new Set<string>();
    let current = operand;
    while (current.kind === 'later') {
      const key = current.variable;
      const next = seen.has(key) ? undefined : this.#definitions.get(key);
      if (next === undefined) {
        const variable = this.#variables.get(key);
        if (variable && !this.#reported.has(key)) this.fail('dataflow', `${variable.name} only ever takes its own previous value`, variable.declaration.at);
        this.#reported.add(key);
        return null;
      }
      seen.add(key);
      current = next;
    }
    return current.kind === 'literal' ? null : current;
  }
}

/** The variable's value of the previous scan. */
function later({ key, type }: ProgramVariable): Operand {
  return { kind: 'later', variable: key, type };
}

function initialText(literal: Literal): string {
  const value = literalParam(literal);
  return typeof value === 'boolean' ? String(value).toUpperCase() : String(value);
}

/** Texts stand for values of every type, as they do in `params`: durations, limits that are left empty, numbers as text. */
function fits(portType: string, operand: Operand): boolean {
  const type = genericType(portType);
  if (operand.kind === 'literal' && operand.literal.type === 'STRING') {
    if (type === 'ANY' || type === 'NUM' || type === 'STRING' || operand.literal.value === '') return true;
    const text = operand.literal.value.trim();
    return type === 'TIME' ? parseDuration(text) !== null : parseValueText(type, text) !== null;
  }
  if (type === 'NUM') return operand.type === 'INT' || operand.type === 'REAL' || operand.type === 'ANY';
  return isAssignable(type, operand.type);
}
