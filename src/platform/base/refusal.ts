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

/** A function is asked once, by whoever tells more than the first: most routes tell that alone. */
type Beside = readonly Refusal[] | (() => readonly Refusal[]);

export class Refusal extends Error {
  readonly kind: RefusalKind;
  readonly context: RefusalContext;
  #beside: Beside;

  constructor(kind: RefusalKind, message: string, context: RefusalContext = {}, beside: Beside = []) {
    super(message);
    this.name = 'Refusal';
    this.kind = kind;
    this.context = context;
    this.#beside = beside;
  }

  /** What is wrong as well, in the order in which it was found, where all of it was looked at; apply tells it (D-C-03). */
  get beside(): readonly Refusal[] {
    if (typeof this.#beside === 'function') this.#beside = untraced(this.#beside);
    return this.#beside;
  }
}

/** What is told and not thrown needs no trace of calls: of 5,000 manifests it takes more memory than all else. */
function untraced<Made>(make: () => Made): Made {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = before;
  }
}

/** What is told of one manifest: more, nobody reads at once. */
const BESIDE_MAX = 99;

/** @returns the first with the others beside it; undefined where there is none. */
export function combined(refusals: readonly Refusal[]): Refusal | undefined {
  const [first, ...others] = refusals.flatMap(eachOf);
  return first && new Refusal(first.kind, first.message, first.context, others.slice(0, BESIDE_MAX));
}

/** A refusal and what is told beside it, one by one. */
export function eachOf(refusal: Refusal): readonly Refusal[] {
  const { kind, message, context, beside } = refusal;
  return beside.length === 0 ? [refusal] : [new Refusal(kind, message, context), ...beside];
}

/** @throws Refusal of the first, if there is one, with the others beside it. */
export function refuseAll(refusals: readonly Refusal[]): void {
  const all = combined(refusals);
  if (all) throw all;
}

/** @returns what the work refuses. */
export function refusalsOf(work: () => unknown): readonly Refusal[] {
  try {
    work();
    return [];
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
    return [fault];
  }
}

/** Each of several checks that do not rest on each other, whatever the others find. @throws Refusal of the first that refuses, with the others beside it. */
export function together(...checks: readonly (() => void)[]): void {
  forAll(checks, (check) => check());
}

/** The check for each item. @throws as `together`. */
export function forAll<Item>(items: readonly Item[], check: (item: Item, at: number) => void): void {
  refuseAll(items.flatMap((item, at) => refusalsOf(() => check(item, at))));
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
