/**
 * The three texts of the language (decisions 4): the action of a step, the condition of a transition and the PROGRAM of a
 * control module. Every parser answers with what it could read and all diagnostics of one pass; none of them throws.
 */
import type { DataType } from '../vocabulary/data-types.js';
import type { Argument, Diagnostic, Expression, Program, Statement, VariableDeclaration } from './ast.js';
import { type Comment, DIAGNOSTICS_MAX } from './lexer.js';
import { parseArgument, parseExpression } from './parse-expression.js';
import { parseList, parseWhole } from './parse-statement.js';
import { SyntaxFault, TokenStream } from './token-stream.js';

const ELEMENTARY = new Set(['BOOL', 'INT', 'REAL', 'STRING', 'TIME']);
const SECTIONS = ['VAR', 'VAR_INPUT', 'VAR_OUTPUT'] as const;

export interface ParsedAction {
  readonly statements: Statement[];
  readonly diagnostics: Diagnostic[];
}

export interface ParsedCondition {
  /** Null for an empty text (an unconditional transition) and for one that cannot be read. */
  readonly expression: Expression | null;
  readonly diagnostics: Diagnostic[];
}

export interface ParsedProgram {
  readonly program: Program | null;
  readonly diagnostics: Diagnostic[];
  /** All comments (where `program` is null perhaps not all); printed networks carry the comments of their blocks in them. */
  readonly comments: readonly Comment[];
}

/** Runs `read`; a fault that reaches this level has left its diagnostic already. */
function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxFault) return null;
    throw error;
  }
}

/**
 * Reads a text. Of its diagnostics those of the lexer are kept first; when they leave the parser room for fewer than it made,
 * it reads the text once more and stops where the room ends, or not at all.
 */
function parse<T>(source: string, read: (tokens: TokenStream) => T, comments: Comment[] | null = null): { readonly value: T | null; readonly diagnostics: Diagnostic[] } {
  const first = new TokenStream(source, comments);
  const value = attempt(() => read(first));
  if (first.finish()) return { value, diagnostics: first.sorted };
  const again = new TokenStream(first.unreadable.length < DIAGNOSTICS_MAX ? source : '', null, first.unreadable);
  return { value: attempt(() => read(again)), diagnostics: again.sorted };
}

export function parseAction(source: string): ParsedAction {
  const { value, diagnostics } = parse(source, parseWhole);
  return { statements: value ?? [], diagnostics };
}

export function parseCondition(source: string): ParsedCondition {
  const { value, diagnostics } = parse(source, readCondition);
  return { expression: value, diagnostics };
}

export function parseProgram(source: string): ParsedProgram {
  const comments: Comment[] = [];
  const { value, diagnostics } = parse(source, (tokens) => readProgram(tokens, comments), comments);
  return { program: value, diagnostics, comments };
}

function readCondition(tokens: TokenStream): Expression | null {
  if (tokens.done) return null;
  const expression = parseExpression(tokens);
  if (!tokens.done) tokens.report(`expected the end of the condition, found ${tokens.token.text.slice(0, 30)}`);
  return expression;
}

function readProgram(tokens: TokenStream, comments: readonly Comment[]): Program {
  const { at } = tokens.token;
  const header = comments.filter((comment) => comment.at.line < at.line || (comment.at.line === at.line && comment.at.column < at.column)).map((comment) => comment.text);
  tokens.expect('PROGRAM', 'at the beginning');
  const { name } = tokens.identifier('the name of the program');
  const variables: VariableDeclaration[] = [];
  for (let section = acceptSection(tokens); section !== null; section = acceptSection(tokens)) readSection(tokens, section, variables);
  const body = parseList(tokens);
  while (!tokens.done && !tokens.is('END_PROGRAM')) {
    tokens.report(`${tokens.token.text} has no beginning`);
    tokens.advance();
    body.push(...parseList(tokens));
  }
  if (!tokens.accept('END_PROGRAM')) tokens.report('the program is not closed with END_PROGRAM');
  else if (!tokens.done) tokens.report('nothing may follow END_PROGRAM');
  return { name, variables, body, header, at };
}

function acceptSection(tokens: TokenStream): VariableDeclaration['section'] | null {
  return SECTIONS.find((section) => tokens.accept(section)) ?? null;
}

/** Declarations up to END_VAR; a broken one is skipped to its semicolon. */
function readSection(tokens: TokenStream, section: VariableDeclaration['section'], variables: VariableDeclaration[]): void {
  while (!tokens.done && !tokens.is('END_VAR') && !tokens.is('END_PROGRAM')) {
    const before = tokens.index;
    if (attempt(() => variables.push(...readDeclaration(tokens, section))) !== null) continue;
    if (tokens.index === before) tokens.advance();
    while (!tokens.done && !tokens.is('END_VAR') && !tokens.is('END_PROGRAM') && !tokens.accept(';')) tokens.advance();
  }
  if (!tokens.accept('END_VAR')) tokens.report(`${section} is not closed with END_VAR`);
}

function readDeclaration(tokens: TokenStream, section: VariableDeclaration['section']): VariableDeclaration[] {
  const names = [tokens.identifier('the name of a variable')];
  while (tokens.accept(',')) names.push(tokens.identifier('the name of a variable'));
  tokens.expect(':', 'before the type');
  const type = readType(tokens);
  let initial: Expression | null = null;
  let presets: Argument[] = [];
  if (tokens.accept(':=')) {
    if (typeof type === 'object' && tokens.is('(')) presets = readPresets(tokens);
    else initial = parseExpression(tokens);
  }
  tokens.expect(';', 'after the declaration');
  return names.map(({ name, at }) => ({ section, name, type, initial, presets, at }));
}

function readType(tokens: TokenStream): DataType | { readonly block: string } {
  const { kind, text } = tokens.token;
  if (kind === 'keyword' && ELEMENTARY.has(text)) {
    tokens.advance();
    return text as DataType;
  }
  // these are keywords and block types at once; only a block type can stand here
  if (kind === 'keyword' && ['AND', 'OR', 'XOR', 'NOT', 'MOD', 'DO'].includes(text)) {
    tokens.advance();
    return { block: text };
  }
  return { block: tokens.identifier('a type').name.toUpperCase() };
}

function readPresets(tokens: TokenStream): Argument[] {
  tokens.expect('(', 'before the presets');
  const presets: Argument[] = [];
  do {
    if (tokens.following.text !== ':=') throw tokens.unexpected('<port or parameter> := <literal>');
    presets.push(parseArgument(tokens));
  } while (tokens.accept(','));
  tokens.expect(')', 'after the presets');
  return presets;
}
