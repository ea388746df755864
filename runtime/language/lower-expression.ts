/**
 * Expressions of control-module programs as blocks (decisions 4.6): operands first, left to right, then the operator.
 * Every method answers null after it has reported what is outside the dataflow subset.
 */
import { inside } from '../vocabulary/assert.js';
import type { BinaryExpression, BinaryOperator, CallExpression, Expression, Literal, Position } from './ast.js';
import { type BlockCatalog, type FoundBlock, findBlock, functionOutput, genericType, type PortMetadata } from './block-catalog.js';
import { builtin } from './builtins.js';
import { literalParam, type NetworkBuilder, networkType, type Operand } from './network-builder.js';
import { binaryType, isAssignable, type StType, unaryType } from './types.js';

const BLOCK_OF: Readonly<Record<BinaryOperator, string>> = {
  '+': 'ADD',
  '-': 'SUB',
  '*': 'MUL',
  '/': 'DIV',
  MOD: 'MOD',
  '<': 'LT',
  '>': 'GT',
  '<=': 'LE',
  '>=': 'GE',
  '=': 'EQ',
  '<>': 'NE',
  AND: 'AND',
  OR: 'OR',
  XOR: 'XOR',
};

/** Arguments of the I/O builtins in order; the one called `value` is an expression, the others are literals (contract 3). */
const IO_BUILTINS = new Map<string, readonly (readonly [name: string, type: StType])[]>([
  [
    'AI',
    [
      ['addr', 'STRING'],
      ['rawMin', 'REAL'],
      ['rawMax', 'REAL'],
      ['engMin', 'REAL'],
      ['engMax', 'REAL'],
    ],
  ],
  [
    'AO',
    [
      ['addr', 'STRING'],
      ['value', 'REAL'],
      ['outMin', 'REAL'],
      ['outMax', 'REAL'],
      ['rawMin', 'REAL'],
      ['rawMax', 'REAL'],
    ],
  ],
  ['DI', [['addr', 'STRING']]],
  [
    'DO',
    [
      ['addr', 'STRING'],
      ['value', 'BOOL'],
    ],
  ],
]);

export function isIoBuiltin(name: string): boolean {
  return IO_BUILTINS.has(name.toUpperCase());
}

/** What expressions need from the program around them. */
export interface ExpressionScope {
  readonly catalog: BlockCatalog;
  readonly builder: NetworkBuilder;
  /** True inside the branches of IF and CASE, where calls are not allowed. */
  readonly inBranch: boolean;
  read(name: string, at: Position): Operand | null;
  member(object: string, member: string, at: Position): Operand | null;
  isInstance(name: string): boolean;
  fail(code: string, message: string, at: Position): null;
}

export function lowerExpression(expression: Expression, scope: ExpressionScope): Operand | null {
  switch (expression.kind) {
    case 'literal':
      return { kind: 'literal', literal: expression.literal, type: expression.literal.type };
    case 'name':
      return scope.read(expression.name, expression.at);
    case 'member':
      return scope.member(expression.object, expression.member, expression.at);
    case 'unary': {
      const operand = lowerExpression(expression.operand, scope);
      return operand && lowerUnary(expression.operator, operand, expression.at, scope);
    }
    case 'binary':
      return lowerBinary(expression, scope);
    case 'call':
      return lowerCall(expression, scope);
  }
}

function lowerUnary(operator: 'NOT' | '-', operand: Operand, at: Position, scope: ExpressionScope): Operand | null {
  const type = unaryType(operator, operand.type);
  if (type === null) return scope.fail('type', `${operator} does not apply to ${operand.type}`, at);
  if (type === 'TIME') return scope.fail('dataflow', 'no block computes with TIME', at);
  return scope.builder.apply(operator === 'NOT' ? 'NOT' : 'NEG', [['IN', operand]], { port: 'OUT', type, network: operator === 'NOT' ? 'BOOL' : networkType(operand) });
}

function lowerBinary({ operator, left, right, at }: BinaryExpression, scope: ExpressionScope): Operand | null {
  const first = lowerExpression(left, scope);
  const second = lowerExpression(right, scope);
  return first && second && combine(operator, first, second, at, scope);
}

/** The block of an operator over two operands. */
export function combine(operator: BinaryOperator, first: Operand, second: Operand, at: Position, scope: ExpressionScope): Operand | null {
  const type = binaryType(operator, first.type, second.type);
  if (type === null) return scope.fail('type', `${operator} does not apply to ${first.type} and ${second.type}`, at);
  const arithmetic = ['+', '-', '*', '/', 'MOD'].includes(operator);
  if (!arithmetic)
    return scope.builder.apply(
      BLOCK_OF[operator],
      [
        ['IN1', first],
        ['IN2', second],
      ],
      { port: 'OUT', type: 'BOOL', network: 'BOOL' },
    );
  const odd = [first.type, second.type].find((operand) => operand === 'TIME' || operand === 'STRING');
  if (odd) return scope.fail('dataflow', `no block computes ${operator} with ${odd}`, at);
  if (operator === '/' && type === 'REAL') return divide(first, second, scope);
  return scope.builder.apply(
    BLOCK_OF[operator],
    [
      ['IN1', first],
      ['IN2', second],
    ],
    { port: 'OUT', type, network: widest([first, second]) },
  );
}

/** REAL division. DIV of two INT truncates, so where no operand is surely REAL to the blocks one is made so. */
function divide(first: Operand, second: Operand, { builder }: ExpressionScope): Operand {
  const real = networkType(first) === 'REAL' || networkType(second) === 'REAL';
  return builder.apply(
    'DIV',
    [
      ['IN1', real ? first : toReal(first, builder)],
      ['IN2', second],
    ],
    { port: 'OUT', type: 'REAL', network: 'REAL' },
  );
}

/** Value of an INT as a REAL. */
export function toReal(operand: Operand, builder: NetworkBuilder): Operand {
  return builder.apply('TO_REAL', [['IN', operand]], { port: 'OUT', type: 'REAL', network: 'REAL' });
}

/** Type that NUM and ANY ports settle to over the operands. */
function widest(operands: readonly Operand[]): StType {
  const types = operands.map(networkType);
  if (types.includes('ANY')) return 'ANY';
  if (types.every((type) => type === 'INT' || type === 'REAL')) return types.includes('REAL') ? 'REAL' : 'INT';
  return types.find((type) => type !== 'INT' && type !== 'REAL') ?? 'REAL';
}

/** SEL(G, IN0, IN1) of a variable of type `type`. */
export function select(condition: Operand, otherwise: Operand, chosen: Operand, type: StType, builder: NetworkBuilder): Operand {
  return builder.apply(
    'SEL',
    [
      ['G', condition],
      ['IN0', otherwise],
      ['IN1', chosen],
    ],
    { port: 'OUT', type, network: widest([otherwise, chosen]) },
  );
}

// ---------------------------------------------------------------- calls

export function lowerCall(call: CallExpression, scope: ExpressionScope): Operand | null {
  const { callee, args, at } = call;
  if (scope.inBranch) return scope.fail('dataflow', `${callee} is called inside IF or CASE; call it before and use its result`, at);
  const byName = args.length === 0 || args.some(({ name }) => name !== undefined);
  if (scope.isInstance(callee) && byName) return scope.fail('dataflow', `the instance ${callee} is called by a statement of its own; read its outputs as ${callee}.<output>`, at);
  if (args.some(({ name }) => name !== undefined)) return scope.fail('dataflow', 'arguments are given by name in calls of instances only', at);
  if (isIoBuiltin(callee)) return lowerIo(call, false, scope);
  const block = findBlock(scope.catalog, callee);
  if (block) return lowerFunction(block, call, scope);
  if (builtin(callee)) return scope.fail('unknown-function', `${callee} belongs to step actions; a control module has AI, AO, DI, DO and the function blocks`, at);
  return scope.fail('unknown-function', `there is no function ${callee}`, at);
}

/** AI, AO, DI, DO. `statement`: AO and DO have no value and stand alone. */
export function lowerIo(call: CallExpression, statement: boolean, scope: ExpressionScope): Operand | null {
  const type = call.callee.toUpperCase();
  const row = IO_BUILTINS.get(type) ?? [];
  const writes = type === 'AO' || type === 'DO';
  if (scope.inBranch) return scope.fail('dataflow', `${type} is called inside IF or CASE; call it outside and choose its value`, call.at);
  if (writes && !statement) return scope.fail('dataflow', `${type} has no value; it is a statement of its own`, call.at);
  const named = call.args.find(({ name }) => name !== undefined);
  if (named) return scope.fail('dataflow', `the arguments of ${type} are given by position: ${row.map(([name]) => name).join(', ')}`, named.value.at);
  if (call.args.length !== row.length)
    return scope.fail('argument-count', `${type} takes ${row.length} argument${row.length === 1 ? '' : 's'}: ${row.map(([name]) => name).join(', ')}`, call.at);
  let value: Operand | null = null;
  const params: (readonly [string, Literal])[] = [];
  for (const [index, [name, wanted]] of row.entries()) {
    const given = inside(call.args, index, 'a call has as many arguments as its row').value;
    if (name !== 'value') {
      if (given.kind !== 'literal') return scope.fail('dataflow', `${name} of ${type} must be a literal`, given.at);
      if (!isAssignable(wanted, given.literal.type)) return scope.fail('type', `${name} of ${type} is ${wanted}, not ${given.literal.type}`, given.at);
      params.push([name, given.literal]);
      continue;
    }
    value = lowerExpression(given, scope);
    if (value === null) return null;
    if (!isAssignable(wanted, value.type)) return scope.fail('type', `the value of ${type} is ${wanted}, not ${value.type}`, given.at);
  }
  const block = scope.builder.generate(type);
  for (const [name, literal] of params) scope.builder.setParam(block, name, literalParam(literal));
  if (value) scope.builder.feed(value, block, 'IN');
  const out: StType = type === 'AI' || type === 'AO' ? 'REAL' : 'BOOL';
  return { kind: 'port', block, port: 'OUT', type: out, network: out };
}

/** How many arguments a block needs when called like a function: up to its last input without a default. */
function leastArguments(inputs: readonly PortMetadata[]): number {
  const last = inputs.findLastIndex(({ type, extensible }) => !extensible && (type === 'NUM' || type === 'ANY'));
  return Math.max(last + 1, 1);
}

function lowerFunction(block: FoundBlock, { callee, args, at }: CallExpression, scope: ExpressionScope): Operand | null {
  const output = functionOutput(block);
  if (!output) return scope.fail('dataflow', `${callee} has several outputs; declare an instance of it`, at);
  const missing = block.params.find(({ required }) => required);
  if (missing) return scope.fail('dataflow', `${callee} needs the parameter ${missing.name}; declare an instance of it`, at);
  const least = leastArguments(block.inputs);
  if (args.length < least || args.length > block.inputs.length)
    return scope.fail('argument-count', `${callee} takes ${least} to ${block.inputs.length} arguments, not ${args.length}`, at);
  const operands: Operand[] = [];
  for (const { value } of args) {
    const operand = lowerExpression(value, scope);
    if (operand === null) return null;
    operands.push(operand);
  }
  if (
    !fitPorts(
      block,
      operands,
      args.map(({ value }) => value.at),
      scope,
    )
  )
    return null;
  const taken = block.inputs.slice(0, operands.length);
  const generic = operands.filter((_, index) => isGeneric(inside(taken, index, FITS)));
  const declared = genericType(output.type);
  const open = isGeneric(output);
  const feeds = operands.map((operand, index) => [inside(taken, index, FITS).name, operand] as const);
  return scope.builder.apply(block.type, feeds, {
    port: output.name,
    type: open ? statedType(generic) : (declared as StType),
    network: open ? widest(generic) : (declared as StType),
  });
}

function isGeneric({ type }: PortMetadata): boolean {
  return type === 'NUM' || type === 'ANY';
}

/** Type of a NUM or ANY output as the program sees it. */
function statedType(operands: readonly Operand[]): StType {
  const types = operands.map(({ type }) => type);
  if (types.includes('ANY')) return 'ANY';
  return types.includes('REAL') ? 'REAL' : (types[0] ?? 'ANY');
}

const FITS = 'a call has at most as many arguments as its block has inputs';

function fitPorts(block: FoundBlock, operands: readonly Operand[], places: readonly Position[], scope: ExpressionScope): boolean {
  let any: StType = 'ANY';
  return operands.every(({ type }, index) => {
    const port = inside(block.inputs, index, FITS);
    const wanted = genericType(port.type);
    const number = type === 'INT' || type === 'REAL' || type === 'ANY';
    if (wanted === 'NUM' ? !number : !isAssignable(wanted, type)) {
      scope.fail('type', `${port.name} of ${block.type} is ${wanted === 'NUM' ? 'INT or REAL' : wanted}, not ${type}`, inside(places, index, FITS));
      return false;
    }
    if (wanted !== 'ANY') return true;
    if (any !== 'ANY' && !isAssignable(any, type) && !isAssignable(type, any)) {
      scope.fail('type', `the inputs of ${block.type} have one type; ${port.name} is ${type} beside ${any}`, inside(places, index, FITS));
      return false;
    }
    if (type !== 'ANY') any = any === 'REAL' ? any : type;
    return true;
  });
}
