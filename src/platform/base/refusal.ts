/**
 * A refusal: the caller may not, or asked wrongly. Domains throw it in the plant's words; only `platform/http` knows
 * which status each kind becomes (decisions Q-ERR-01, Q-ERR-06).
 */
export type RefusalKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'missing'
  | 'not-acceptable'
  | 'conflict'
  | 'precondition'
  | 'too-large'
  | 'unsupported-media'
  | 'unprocessable'
  | 'limited'
  | 'bad-gateway'
  | 'unavailable';

/** `code` is stable snake_case for programs; `field` the JSON path, query or header name; the rest is served as it is. */
export interface RefusalContext {
  readonly code?: string;
  readonly field?: string;
  readonly [member: string]: unknown;
}

export class Refusal extends Error {
  readonly kind: RefusalKind;
  readonly context: RefusalContext;

  constructor(kind: RefusalKind, message: string, context: RefusalContext = {}) {
    super(message);
    this.name = 'Refusal';
    this.kind = kind;
    this.context = context;
  }
}

/** 400 with a field: the common form of bad input. */
export function invalid(code: string, field: string, message: string, more: RefusalContext = {}): Refusal {
  return new Refusal('invalid', message, { code, field, ...more });
}

/** 404 of a named thing. */
export function missing(kind: string, name: string): Refusal {
  return new Refusal('missing', `${kind} ${name} does not exist`, { code: 'not_found' });
}

export function conflict(code: string, message: string, more: RefusalContext = {}): Refusal {
  return new Refusal('conflict', message, { code, ...more });
}

/** `automatic_mode` becomes `AutomaticMode`: the form in which audit records name the code of a refusal (D-AUDIT-02). */
export function auditReason(code: string): string {
  return code.replace(/(^|_)([a-z0-9])/g, (_, __, letter: string) => letter.toUpperCase());
}
