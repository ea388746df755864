/**
 * Statements (decisions 4.2) by recursive descent. A statement that cannot be read is dropped with a diagnostic and reading
 * goes on behind the next semicolon or at the next word that begins or ends a statement.
 */
import type { CallExpression, CaseLabel, Expression, Position, Statement } from './ast.js';
import { parseArguments, parseExpression } from './parse-expression.js';
import { SyntaxFault, type TokenStream } from './token-stream.js';
import { INT_MAX } from './value-text.js';

type Branch = { condition: Expression; body: Statement[] };

/** Words that end a list of statements. */
const CLOSERS = new Set(['END_IF', 'ELSIF', 'ELSE', 'END_CASE', 'END_FOR', 'END_WHILE', 'UNTIL', 'END_REPEAT', 'END_PROGRAM']);
const OPENERS = new Set(['IF', 'CASE', 'FOR', 'WHILE', 'REPEAT', 'EXIT', 'RETURN']);
const COMPOUND: ReadonlySet<string> = new Set(['if', 'case', 'for', 'while', 'repeat']);
/** Words other languages of the family know and this one does not (contract 3, Structured-text language). */
const UNSUPPORTED = new Map([
  ['GOTO', 'GOTO is not supported'],
  ['CONTINUE', 'CONTINUE is not supported'],
  ['FUNCTION', 'functions of your own are not supported'],
  ['FUNCTION_BLOCK', 'function blocks of your own are not supported here; make a composite block type'],
  ['TYPE', 'types of your own are not supported'],
  ['STRUCT', 'structures are not supported'],
]);

/** Reads statements up to a word that ends the list, or to the end; inside CASE also up to the next label. */
export function parseList(tokens: TokenStream, inCase = false): Statement[] {
  const statements: Statement[] = [];
  while (!tokens.done && !isCloser(tokens) && !(inCase && isLabelStart(tokens))) {
    if (tokens.accept(';')) continue;
    const before = tokens.index;
    try {
      const statement = parseStatement(tokens);
      statements.push(statement);
      expectEnd(tokens, statement, inCase);
    } catch (error) {
      if (!(error instanceof SyntaxFault)) throw error;
      if (tokens.index === before) tokens.advance();
      skipStatement(tokens);
    }
  }
  return statements;
}

/** The whole text is one list; a stray END_ word is reported and passed over. */
export function parseWhole(tokens: TokenStream): Statement[] {
  const statements = parseList(tokens);
  while (!tokens.done) {
    tokens.report(`${tokens.token.text} has no beginning`);
    tokens.advance();
    statements.push(...parseList(tokens));
  }
  return statements;
}

function isCloser(tokens: TokenStream): boolean {
  return tokens.token.kind === 'keyword' && CLOSERS.has(tokens.token.text);
}

function isLabelStart(tokens: TokenStream): boolean {
  const { kind } = tokens.token;
  return kind === 'int' || kind === 'string' || tokens.is('-');
}

/** The semicolon may be missing after an END_ word and before the end of the list (decisions 4.2). */
function expectEnd(tokens: TokenStream, statement: Statement, inCase: boolean): void {
  if (tokens.accept(';') || tokens.done || isCloser(tokens) || COMPOUND.has(statement.kind)) return;
  if (inCase && isLabelStart(tokens)) return;
  tokens.report(`expected ; before ${tokens.token.text.slice(0, 30)}`);
  if (tokens.token.kind === 'symbol') skipStatement(tokens);
}

function skipStatement(tokens: TokenStream): void {
  while (!tokens.done && !isCloser(tokens)) {
    if (tokens.accept(';')) return;
    if (tokens.token.kind === 'keyword' && OPENERS.has(tokens.token.text)) return;
    tokens.advance();
  }
}

function parseStatement(tokens: TokenStream): Statement {
  const { kind, text, at } = tokens.token;
  if (kind === 'identifier') return parseAssignmentOrCall(tokens);
  if (tokens.is('DO') && tokens.following.text === '(') return parseOutputCall(tokens);
  if (kind === 'keyword' && OPENERS.has(text)) {
    tokens.advance();
    return tokens.nested(() => parseOpened(tokens, text, at));
  }
  throw tokens.unexpected('a statement');
}

function parseOpened(tokens: TokenStream, word: string, at: Position): Statement {
  switch (word) {
    case 'IF':
      return parseIf(tokens, at);
    case 'CASE':
      return parseCase(tokens, at);
    case 'FOR':
      return parseFor(tokens, at);
    case 'WHILE':
      return parseWhile(tokens, at);
    case 'REPEAT':
      return parseRepeat(tokens, at);
    case 'EXIT':
      return { kind: 'exit', at };
    default:
      return { kind: 'return', at };
  }
}

function parseAssignmentOrCall(tokens: TokenStream): Statement {
  const { name, at } = tokens.identifier('a name');
  const unsupported = UNSUPPORTED.get(name.toUpperCase());
  if (unsupported !== undefined && !tokens.is(':=')) throw tokens.fault(unsupported, at);
  if (tokens.is('(')) {
    const call: CallExpression = { kind: 'call', callee: name, args: parseArguments(tokens), at };
    return { kind: 'call', call, at };
  }
  if (tokens.is('=')) throw tokens.fault('assignment is written :=');
  if (tokens.is('.')) throw tokens.fault(`${name}.${tokens.following.text} cannot be assigned`, at);
  tokens.expect(':=', `or ( after ${name}`);
  return { kind: 'assign', target: name, value: parseExpression(tokens), at };
}

/** `DO(addr, value)` writes a digital output; at the beginning of a statement the word cannot be the one of a loop. */
function parseOutputCall(tokens: TokenStream): Statement {
  const { text, at } = tokens.advance();
  return { kind: 'call', call: { kind: 'call', callee: text, args: parseArguments(tokens), at }, at };
}

/** Reads an expression up to `word`; a broken one is reported, skipped to the word, and stands as FALSE. */
function expressionBefore(tokens: TokenStream, word: string): Expression {
  const { at } = tokens.token;
  try {
    const expression = parseExpression(tokens);
    tokens.expect(word, 'after the expression');
    return expression;
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error;
    while (!tokens.done && !tokens.is(word) && !tokens.is(';') && !isCloser(tokens)) tokens.advance();
    tokens.accept(word);
    return { kind: 'literal', literal: { type: 'BOOL', value: false }, at };
  }
}

function parseIf(tokens: TokenStream, at: Position): Statement {
  const branches: Branch[] = [];
  let otherwise: Statement[] | null = null;
  do {
    const condition = expressionBefore(tokens, 'THEN');
    branches.push({ condition, body: parseList(tokens) });
  } while (tokens.accept('ELSIF'));
  if (tokens.accept('ELSE')) otherwise = parseList(tokens);
  close(tokens, 'END_IF', at);
  return { kind: 'if', branches, otherwise, at };
}

/** A missing END_ word is reported where the statement began, because that is where the writer looks. */
function close(tokens: TokenStream, word: string, at: Position): void {
  if (tokens.accept(word)) return;
  tokens.report(`the statement that begins here is not closed with ${word}`, at);
}

function parseCase(tokens: TokenStream, at: Position): Statement {
  const selector = expressionBefore(tokens, 'OF');
  const cases: { labels: CaseLabel[]; body: Statement[] }[] = [];
  while (isLabelStart(tokens)) {
    const labels = [parseLabel(tokens)];
    while (tokens.accept(',')) labels.push(parseLabel(tokens));
    tokens.expect(':', 'after the labels');
    cases.push({ labels, body: parseList(tokens, true) });
  }
  if (cases.length === 0) tokens.report('expected a label, an INT or STRING literal');
  const otherwise = tokens.accept('ELSE') ? parseList(tokens) : null;
  close(tokens, 'END_CASE', at);
  return { kind: 'case', selector, cases, otherwise, at };
}

function parseLabel(tokens: TokenStream): CaseLabel {
  const { token } = tokens;
  if (token.kind === 'string') {
    tokens.advance();
    return { kind: 'string', value: token.value, at: token.at };
  }
  const from = parseIntLabel(tokens);
  const to = tokens.accept('..') ? parseIntLabel(tokens) : from;
  if (to < from) tokens.report('the range of a label runs from the smaller to the larger number', token.at);
  return { kind: 'int', from, to, at: token.at };
}

function parseIntLabel(tokens: TokenStream): bigint {
  const negative = tokens.accept('-');
  const { token } = tokens;
  if (token.kind !== 'int') throw tokens.unexpected('an INT literal');
  tokens.advance();
  if (negative) return -token.value;
  if (token.value > INT_MAX) tokens.report(`${token.text} does not fit into 64 bits`, token.at);
  return token.value;
}

function parseFor(tokens: TokenStream, at: Position): Statement {
  const { name } = tokens.identifier('the control variable');
  tokens.expect(':=', 'after the control variable');
  const from = parseExpression(tokens);
  tokens.expect('TO', 'after the first value');
  const to = parseExpression(tokens);
  const by = tokens.accept('BY') ? parseExpression(tokens) : null;
  tokens.expect('DO', 'before the body of the loop');
  const body = parseList(tokens);
  close(tokens, 'END_FOR', at);
  return { kind: 'for', variable: name, from, to, by, body, at };
}

function parseWhile(tokens: TokenStream, at: Position): Statement {
  const condition = expressionBefore(tokens, 'DO');
  const body = parseList(tokens);
  close(tokens, 'END_WHILE', at);
  return { kind: 'while', condition, body, at };
}

function parseRepeat(tokens: TokenStream, at: Position): Statement {
  const body = parseList(tokens);
  tokens.expect('UNTIL', 'after the body of the loop');
  const until = parseExpression(tokens);
  tokens.accept(';');
  close(tokens, 'END_REPEAT', at);
  return { kind: 'repeat', body, until, at };
}
