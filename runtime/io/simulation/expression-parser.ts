/**
 * Grammar of simulation expressions (decisions 6.4): text to syntax tree, by recursive descent.
 * Invariant: every node knows its place, so that references can be renamed in the text without printing the tree.
 */
export type Expression =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'variable'; readonly name: 'self' | 'dt' | 't' }
  | { readonly kind: 'reference'; readonly reference: string }
  | { readonly kind: 'unary'; readonly of: Expression }
  | { readonly kind: 'binary'; readonly operator: BinaryOperator; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'call'; readonly name: FunctionName; readonly args: readonly Expression[]; readonly site: number };

export type BinaryOperator = '+' | '-' | '*' | '/' | '%' | '^' | '<' | '>' | '<=' | '>=' | '=' | '<>';

/** Least and greatest number of arguments, and whether the call site owns state. */
export const EXPRESSION_FUNCTIONS = {
  lag: { min: 2, max: 2, state: true },
  ramp: { min: 2, max: 2, state: true },
  integral: { min: 1, max: 2, state: true },
  derivative: { min: 1, max: 1, state: true },
  noise: { min: 1, max: 1, state: false },
  clamp: { min: 3, max: 3, state: false },
  abs: { min: 1, max: 1, state: false },
  sqrt: { min: 1, max: 1, state: false },
  exp: { min: 1, max: 1, state: false },
  log: { min: 1, max: 1, state: false },
  sin: { min: 1, max: 1, state: false },
  cos: { min: 1, max: 1, state: false },
  min: { min: 2, max: Number.POSITIVE_INFINITY, state: false },
  max: { min: 2, max: Number.POSITIVE_INFINITY, state: false },
  pulse: { min: 2, max: 2, state: false },
  if: { min: 3, max: 3, state: false },
  and: { min: 2, max: Number.POSITIVE_INFINITY, state: false },
  or: { min: 2, max: Number.POSITIVE_INFINITY, state: false },
  not: { min: 1, max: 1, state: false },
} as const;

export type FunctionName = keyof typeof EXPRESSION_FUNCTIONS;
export const EXPRESSION_VARIABLES = ['self', 'dt', 't'] as const;

/** A reference as it stands in the text: `start` to `end` covers the brackets. */
export interface ReferencePlace {
  readonly reference: string;
  readonly start: number;
  readonly end: number;
}

export type ParsedExpression =
  | { readonly ok: true; readonly tree: Expression; readonly references: readonly ReferencePlace[]; readonly sites: readonly FunctionName[] }
  | { readonly ok: false; readonly message: string };

interface Token {
  readonly kind: 'number' | 'name' | 'reference' | 'sign' | 'end';
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const EXPRESSION_DEPTH_MAX = 100; // nesting a person would write is far below; keeps the stack of a hostile text bounded
const EXPRESSION_TEXT_MAX = 4000;

const PATTERNS: readonly (readonly [Token['kind'], RegExp])[] = [
  ['number', /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y],
  ['name', /[A-Za-z_][A-Za-z0-9_.]*/y],
  ['reference', /\[[^\]]*\]/y],
  ['sign', /<=|>=|<>|!=|==|[-+*/%^<>=(),]/y],
];

class ParseError extends Error {}

function nextToken(text: string, from: number): Token {
  let start = from;
  while (start < text.length && /\s/.test(text.charAt(start))) start += 1;
  if (start >= text.length) return { kind: 'end', text: '', start, end: start };
  for (const [kind, pattern] of PATTERNS) {
    pattern.lastIndex = start;
    const found = pattern.exec(text);
    if (found) return { kind, text: found[0], start, end: start + found[0].length };
  }
  throw new ParseError(`"${text[start]}" at column ${start + 1} is not understood`);
}

const COMPARISONS: Readonly<Record<string, BinaryOperator>> = { '<': '<', '>': '>', '<=': '<=', '>=': '>=', '=': '=', '==': '=', '<>': '<>', '!=': '<>' };
const SUMS: Readonly<Record<string, BinaryOperator>> = { '+': '+', '-': '-' };
const PRODUCTS: Readonly<Record<string, BinaryOperator>> = { '*': '*', '/': '/', '%': '%' };
/** An address of the module, or `<module>/<channel>`: of a device the channel has a name, or an address of its own grammar. */
const REFERENCE = /^(?:[A-Za-z][A-Za-z0-9_.-]{0,62}|[^/\s[\]]+\/[^[\]]+)$/;

class Parser {
  readonly references: ReferencePlace[] = [];
  readonly sites: FunctionName[] = [];
  readonly #text: string;
  #token: Token;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
    this.#token = nextToken(text, 0);
  }

  parse(): Expression {
    const tree = this.#comparison();
    if (this.#token.kind !== 'end') throw new ParseError(`"${this.#token.text}" at column ${this.#token.start + 1} is not expected here`);
    return tree;
  }

  #advance(): Token {
    const token = this.#token;
    this.#token = nextToken(this.#text, token.end);
    return token;
  }

  #sign(text: string): boolean {
    if (this.#token.kind !== 'sign' || this.#token.text !== text) return false;
    this.#advance();
    return true;
  }

  #expect(text: string): void {
    if (this.#sign(text)) return;
    const found = this.#token.kind === 'end' ? 'the end' : `"${this.#token.text}"`;
    throw new ParseError(`"${text}" expected before ${found} at column ${this.#token.start + 1}`);
  }

  #leftToRight(operators: Readonly<Record<string, BinaryOperator>>, operand: () => Expression): Expression {
    let left = operand();
    for (;;) {
      const operator = this.#token.kind === 'sign' ? operators[this.#token.text] : undefined;
      if (operator === undefined) return left;
      this.#advance();
      left = { kind: 'binary', operator, left, right: operand() };
    }
  }

  #comparison(): Expression {
    this.#depth += 1;
    if (this.#depth > EXPRESSION_DEPTH_MAX) throw new ParseError('nested too deeply');
    const tree = this.#leftToRight(COMPARISONS, () => this.#sum());
    this.#depth -= 1;
    return tree;
  }

  #sum(): Expression {
    return this.#leftToRight(SUMS, () => this.#leftToRight(PRODUCTS, () => this.#unary()));
  }

  #unary(): Expression {
    this.#depth += 1;
    if (this.#depth > EXPRESSION_DEPTH_MAX) throw new ParseError('nested too deeply');
    const tree: Expression = this.#sign('-') ? { kind: 'unary', of: this.#unary() } : this.#power();
    this.#depth -= 1;
    return tree;
  }

  #power(): Expression {
    const base = this.#primary();
    return this.#sign('^') ? { kind: 'binary', operator: '^', left: base, right: this.#unary() } : base;
  }

  #primary(): Expression {
    const token = this.#token;
    if (token.kind === 'number') {
      this.#advance();
      return { kind: 'number', value: Number(token.text) };
    }
    if (token.kind === 'reference') {
      this.#advance();
      return this.#reference(token.text.slice(1, -1).trim(), token);
    }
    if (token.kind === 'name') return this.#name();
    if (this.#sign('(')) {
      const inner = this.#comparison();
      this.#expect(')');
      return inner;
    }
    throw new ParseError(token.kind === 'end' ? 'the expression ends too early' : `"${token.text}" at column ${token.start + 1} is not expected here`);
  }

  #reference(reference: string, token: Token): Expression {
    if (!REFERENCE.test(reference)) throw new ParseError(`"${token.text}" at column ${token.start + 1} is not a channel address`);
    this.references.push({ reference, start: token.start, end: token.end });
    return { kind: 'reference', reference };
  }

  #name(): Expression {
    const token = this.#advance();
    if (this.#token.kind === 'sign' && this.#token.text === '(') return this.#call(token);
    if (token.text === 'true') return { kind: 'number', value: 1 };
    if (token.text === 'false') return { kind: 'number', value: 0 };
    const variable = EXPRESSION_VARIABLES.find((name) => name === token.text);
    return variable ? { kind: 'variable', name: variable } : this.#reference(token.text, token);
  }

  #call(token: Token): Expression {
    if (!Object.hasOwn(EXPRESSION_FUNCTIONS, token.text)) throw new ParseError(`function ${token.text} is not known`);
    const name = token.text as FunctionName;
    const site = EXPRESSION_FUNCTIONS[name].state ? this.sites.push(name) - 1 : -1;
    this.#expect('(');
    const args: Expression[] = [];
    if (!this.#sign(')')) {
      do args.push(this.#comparison());
      while (this.#sign(','));
      this.#expect(')');
    }
    const { min, max } = EXPRESSION_FUNCTIONS[name];
    if (args.length < min || args.length > max) throw new ParseError(`function ${name} takes ${argumentsText(min, max)}, not ${args.length}`);
    return { kind: 'call', name, args, site };
  }
}

function argumentsText(min: number, max: number): string {
  const range = max === Number.POSITIVE_INFINITY ? `at least ${min}` : min === max ? `${min}` : `${min} to ${max}`;
  return `${range} argument${min === 1 && max === 1 ? '' : 's'}`;
}

export function parseExpression(text: string): ParsedExpression {
  if (text.length > EXPRESSION_TEXT_MAX) return { ok: false, message: `longer than ${EXPRESSION_TEXT_MAX} characters` };
  try {
    const parser = new Parser(text);
    const tree = parser.parse();
    return { ok: true, tree, references: parser.references, sites: parser.sites };
  } catch (error) {
    if (error instanceof ParseError) return { ok: false, message: error.message };
    throw error;
  }
}

/** The text with every reference replaced by what `rename` makes of it, in brackets. */
export function renameReferences(text: string, rename: (reference: string) => string): string {
  const result = parseExpression(text);
  if (!result.ok) return text;
  let renamed = '';
  let at = 0;
  for (const place of result.references) {
    renamed += `${text.slice(at, place.start)}[${rename(place.reference)}]`;
    at = place.end;
  }
  return renamed + text.slice(at);
}
