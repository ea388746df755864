/** One request on its way through the barriers: what was read from the wire, and what the barriers found out about it. */
import { Refusal } from '../base/refusal.js';
import type { AuditDraft } from '../store/audit-record.js';
import type { Proven } from './authenticator.js';
import { type Caller, actorOf } from './caller.js';
import { chooseFormat, type Format } from './negotiate.js';
import type { AuditEntry, BoundRoute, Method, Params, Query, RequestContext } from './route.js';

export interface HeaderFields {
  /** @param name in lower case. */
  get(name: string): string | undefined;
  /** Whether the name came on more than one line. */
  repeats(name: string): boolean;
}

/** What the server reads of a request before the first wait. */
export interface Incoming {
  readonly method: string;
  readonly path: string;
  readonly rawQuery: string;
  readonly headers: HeaderFields;
  readonly sourceIP: string;
  /** Whether the connection is under TLS. */
  readonly secure: boolean;
  /** What the client calls this gateway; of a trusted proxy, what its client called it. */
  readonly host: string | undefined;
  /**
   * Collects the body and hands it to `accept`, for as long as that call lasts; called at most once, in the turn of the
   * request. Rejects with the error of `tooLarge` beyond the limit, and with what `accept` throws. For a body that is there
   * already nothing is waited for: then both are thrown.
   */
  collect(limitBytes: number, tooLarge: () => Error, accept: (bytes: Uint8Array) => void): Promise<void> | undefined;
  /**
   * For work of seconds on a body that is there, before anything of it is carried out: the connection is looked at meanwhile, and `gone` is
   * aborted once the client has left. One that sends a next request meanwhile is cut off, and has left as well.
   */
  attended<Value>(work: (gone: AbortSignal) => Promise<Value>): Promise<Value>;
}

/** What the audit records of a row carry unless its handler says otherwise; derived once per row. */
export interface RowFacts {
  readonly bound: BoundRoute;
  readonly mutating: boolean;
  /** Site named by the path, '' when none. */
  siteOf(params: Params): string;
  readonly scoped: boolean;
  readonly fenced: boolean;
  readonly public: boolean;
  readonly api: boolean;
  /** Names of the query parameters it takes. */
  readonly parameters: readonly string[];
  /** Of these the ones that may be given several times. */
  readonly listParameters: readonly string[];
  /** What becomes of a request with others: refused, answered with a warning, or theirs to give (D-C-04). */
  readonly strayParameters: 'refused' | 'ignored' | 'any';
  draft(params: Params, site: string): Pick<AuditDraft, 'action' | 'category' | 'target'>;
}

interface ParsedQuery extends Query {
  readonly names: readonly string[];
}

const NO_QUERY: ParsedQuery = { get: () => undefined, all: () => [], names: [] };

export class Exchange implements RequestContext<Params, unknown> {
  readonly incoming: Incoming;
  readonly correlationID: string;
  row!: RowFacts;
  params!: Params;
  caller!: Caller;
  body: unknown;
  /** Set by the anti-replay barrier: from here on every refusal of a write is audited (D-AUDIT-02). */
  admitted = false;
  /** `changes` of the authenticator when the caller was judged. */
  judgedAt: number | undefined;
  /** The token of the request, once its signature was waited for: it need not be waited for again. */
  proven: Proven | undefined;
  /** A WebSocket client that says in its first frame who it is. */
  awaitsToken = false;
  /** Set by the barrier that judges the form of a body. */
  hasBody = false;
  /** What the caller is told in a header beside the answer. */
  warning: string | undefined;
  /** What the handler has said that it is about. */
  isAbout: AuditEntry = {};
  /** Gives back what the request holds, once it is answered. */
  atEnd: (() => void) | undefined;
  /** The body, when it was collected before somebody asked for it. */
  #kept: ((accept: (bytes: Uint8Array) => void) => Promise<void>) | undefined;
  #query: ParsedQuery | undefined;
  #format: Format | undefined;
  #lastResult: AuditDraft['result'] | undefined;

  readonly #judgeAgain: (exchange: Exchange) => void;

  /** `judgeAgain`: by the barriers that look at who asks. */
  constructor(incoming: Incoming, correlationID: string, judgeAgain: (exchange: Exchange) => void = () => undefined) {
    this.incoming = incoming;
    this.correlationID = correlationID;
    this.#judgeAgain = judgeAgain;
  }

  judgeAgain(): void {
    this.#judgeAgain(this);
  }

  /**
   * The body is collected in the turn of the request, as it has to be, and handed over when it is asked for: for who waits for
   * something else first.
   */
  keepBody(limitBytes: number, tooLarge: () => Error): void {
    let bytes = new Uint8Array(0);
    const collected = async (): Promise<void> =>
      this.incoming.collect(limitBytes, tooLarge, (lent) => {
        bytes = new Uint8Array(lent);
      });
    const arrived = collected();
    arrived.catch(() => undefined); // told to who asks for it
    this.#kept = (accept) => arrived.then(() => accept(bytes));
  }

  /** @see Incoming.collect */
  collect(limitBytes: number, tooLarge: () => Error, accept: (bytes: Uint8Array) => void): Promise<void> | undefined {
    return this.#kept ? this.#kept(accept) : this.incoming.collect(limitBytes, tooLarge, accept);
  }

  get sourceIP(): string {
    return this.incoming.sourceIP;
  }

  get method(): Method {
    return this.incoming.method as Method;
  }

  get path(): string {
    return this.incoming.path;
  }

  get secure(): boolean {
    return this.incoming.secure;
  }

  get host(): string | undefined {
    return this.incoming.host;
  }

  get query(): Query {
    return this.#parsedQuery;
  }

  get parameterNames(): readonly string[] {
    return this.#parsedQuery.names;
  }

  get #parsedQuery(): ParsedQuery {
    return (this.#query ??= this.incoming.rawQuery === '' ? NO_QUERY : parseQuery(this.incoming.rawQuery));
  }

  get format(): Format {
    this.#format ??= chooseFormat(this.query.get('format'), this.header('accept'), this.row.bound.row.formats ?? []);
    return this.#format;
  }

  /** Bound, so that a handler may take it out of its context; made only when it is asked for. */
  get header(): (name: string) => string | undefined {
    return (name) => this.incoming.headers.get(name.toLowerCase());
  }

  get audited(): boolean {
    return this.#lastResult !== undefined;
  }

  /** Whether the handler itself recorded how the request was refused. */
  get refusalAudited(): boolean {
    return this.#lastResult === 'Rejected' || this.#lastResult === 'Failed';
  }

  /** Bound, as `audit` is. */
  get about(): (entry: AuditEntry) => void {
    return (entry) => {
      this.isAbout = entry;
    };
  }

  get audit(): (entry: AuditEntry) => AuditDraft {
    return (entry) => this.#draft(entry);
  }

  #draft(entry: AuditEntry): AuditDraft {
    const site = entry.site ?? this.row.siteOf(this.params);
    const { action, category, target } = this.row.draft(this.params, site);
    const result = entry.result ?? 'Success';
    // whatever is done leaves a record, so that nothing is done where none can be made
    if (this.caller.isTest && result === 'Success')
      throw new Refusal('forbidden', 'the API key is a test key: the request is in order, and nothing was done', { code: 'test_key' });
    this.#lastResult = result;
    return {
      site,
      action: entry.action ?? action,
      category: entry.category ?? category,
      target: entry.target ?? target,
      result,
      reason: entry.reason,
      operatorReason: entry.operatorReason,
      rule: entry.rule,
      before: entry.before,
      after: entry.after,
      details: entry.details,
      signature: entry.signature,
      actor: actorOf(this.caller, this.sourceIP),
      correlationID: this.correlationID,
    };
  }
}

export function parseQuery(raw: string): ParsedQuery {
  const fields = new URLSearchParams(raw);
  return { get: (name) => fields.get(name) ?? undefined, all: (name) => fields.getAll(name), names: [...fields.keys()] };
}
