/**
 * Expressions (decisions 4.3) by precedence climbing; all binary operators associate to the left.
 */
import type { Argument, BinaryOperator, Expression, Literal, Position } from './ast.js';
import { BINDING } from './operators.js';
import { OPERATORS_MAX, type TokenStream } from './token-stream.js';
import { INT_MAX } from './value-text.js';

export function parseExpression(tokens: TokenStream): Expression {
  tokens.operators = 0;
  return parseBinary(tokens, 1);
}

function parseBinary(tokens: TokenStream, weakest: number): Expression {
  let left = parseUnary(tokens);
  for (;;) {
    const { kind, text, at } = tokens.token;
    const binding = kind === 'symbol' || kind === 'keyword' ? BINDING.get(text) : undefined;
    if (binding === undefined || binding < weakest) return left;
    tokens.operators += 1;
    if (tokens.operators > OPERATORS_MAX) throw tokens.abandon(`more than ${OPERATORS_MAX} operators in one expression`);
    tokens.advance();
    const right = parseBinary(tokens, binding + 1);
    left = { kind: 'binary', operator: text as BinaryOperator, left, right, at };
  }
}

function parseUnary(tokens: TokenStream): Expression {
  const { at } = tokens.token;
  if (tokens.is('-') && isNumber(tokens.following.kind)) {
    tokens.advance();
    return negativeLiteral(tokens, at);
  }
  if (tokens.accept('NOT')) return { kind: 'unary', operator: 'NOT', operand: tokens.nested(() => parseUnary(tokens)), at };
  if (tokens.accept('-')) return { kind: 'unary', operator: '-', operand: tokens.nested(() => parseUnary(tokens)), at };
  return parsePrimary(tokens);
}

function isNumber(kind: string): boolean {
  return kind === 'int' || kind === 'real' || kind === 'time';
}

/** A sign directly before a number belongs to it, so that the smallest INT can be written (decisions 4.3). */
function negativeLiteral(tokens: TokenStream, at: Position): Expression {
  const token = tokens.advance();
  if (token.kind === 'int') return { kind: 'literal', literal: { type: 'INT', value: -token.value }, at };
  if (token.kind === 'real') return { kind: 'literal', literal: { type: 'REAL', value: -token.value }, at };
  const ms = token.kind === 'time' && token.value !== 0 ? -token.value : 0;
  return { kind: 'literal', literal: { type: 'TIME', value: ms }, at };
}

/** The literal that is next, taken; null when the next token is none. */
function acceptLiteral(tokens: TokenStream): Literal | null {
  const { token } = tokens;
  switch (token.kind) {
    case 'int':
      if (token.value > INT_MAX) tokens.report(`${token.text} does not fit into 64 bits`);
      tokens.advance();
      return { type: 'INT', value: token.value > INT_MAX ? 0n : token.value };
    case 'real':
      tokens.advance();
      return { type: 'REAL', value: token.value };
    case 'time':
      tokens.advance();
      return { type: 'TIME', value: token.value };
    case 'string':
      tokens.advance();
      return { type: 'STRING', value: token.value };
    default:
      if (tokens.accept('TRUE')) return { type: 'BOOL', value: true };
      return tokens.accept('FALSE') ? { type: 'BOOL', value: false } : null;
  }
}

function parsePrimary(tokens: TokenStream): Expression {
  const { at } = tokens.token;
  const literal = acceptLiteral(tokens);
  if (literal !== null) return { kind: 'literal', literal, at };
  if (tokens.accept('(')) {
    const inner = tokens.nested(() => parseBinary(tokens, 1));
    tokens.expect(')', 'after the expression');
    return inner;
  }
  if (isOperatorCall(tokens)) {
    const callee = tokens.advance().text;
    return { kind: 'call', callee, args: parseArguments(tokens), at };
  }
  if (tokens.token.kind !== 'identifier') throw tokens.unexpected('an expression');
  const { name } = tokens.identifier('a name');
  if (tokens.is('(')) return { kind: 'call', callee: name, args: parseArguments(tokens), at };
  if (!tokens.accept('.')) return { kind: 'name', name, at };
  return { kind: 'member', object: name, member: tokens.identifier('a name after the point').name, at };
}

/** `AND(a, b, c)`: in a control module the blocks of the operators can be called like any other (decisions 4.6). */
function isOperatorCall(tokens: TokenStream): boolean {
  return ['AND', 'OR', 'XOR', 'MOD'].some((word) => tokens.is(word)) && tokens.following.text === '(';
}

/** `( [ arg { "," arg } ] )` with `arg = [ ident ":=" ] expr`. */
export function parseArguments(tokens: TokenStream): Argument[] {
  tokens.expect('(', 'before the arguments');
  const args: Argument[] = [];
  if (tokens.accept(')')) return args;
  do {
    args.push(parseArgument(tokens));
  } while (tokens.accept(','));
  tokens.expect(')', 'after the arguments');
  return args;
}

export function parseArgument(tokens: TokenStream): Argument {
  const named = tokens.token.kind === 'identifier' && tokens.following.text === ':=';
  if (!named) return { value: tokens.nested(() => parseBinary(tokens, 1)) };
  const { name } = tokens.identifier('the name of an argument');
  tokens.advance();
  return { name, value: tokens.nested(() => parseBinary(tokens, 1)) };
}
