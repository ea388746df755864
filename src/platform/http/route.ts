/**
 * One route is one row. The pipeline reads the row and applies the barriers of the contract in its order (decisions
 * Q-ERR-06), so a handler starts where the interesting part starts. The same rows print as the route table, make
 * openapi.json, and are what tests walk.
 */
import type { GenericSchema, InferOutput, ObjectEntries, StrictObjectSchema } from 'valibot';
import type { AuditAction, AuditDraft, AuditTarget } from '../store/audit-record.js';
import type { Change } from '../store/change.js';
import type { Ref } from '../store/resource.js';
import type { BodyTurnLimits } from './body-turns.js';
import type { Caller } from './caller.js';
import type { MemberLimits } from './long-json.js';
import type { Tier } from './tiers.js';
import type { Format } from './negotiate.js';
import type { ToldBy } from './replies.js';
import type { Served } from './sent-back.js';
import type { StreamReply } from './stream-port.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? (Name extends `${infer Wild}...` ? Wild : Name) | ParamNames<Rest> : never;
/** `{site}` is one segment, `{address...}` the rest of the path, percent-decoded once. */
export type PathParams<Path extends string> = { readonly [Name in ParamNames<Path>]: string };

export type Params = Readonly<Record<string, string>>;

/** The parameters of a request; `Name` are those that the row declares, so that what is read is what is told (D-C-04). */
export interface Query<Name extends string = string> {
  readonly get: (name: Name) => string | undefined;
  readonly all: (name: Name) => readonly string[];
}

/** `v.strictObject({...})` of the parameters of a route; most are optional, all come as text. */
export type QuerySchema = StrictObjectSchema<ObjectEntries, undefined>;
export type QueryNames<Schema> = Schema extends QuerySchema ? keyof Schema['entries'] & string : never;

export interface RequestContext<Params, Body, Name extends string = never> {
  readonly params: Params;
  readonly body: Body;
  readonly query: Query<Name>;
  /** On public routes (tier `none`) the anonymous caller, who may nothing. */
  readonly caller: Caller;
  readonly correlationID: string;
  readonly sourceIP: string;
  readonly method: Method;
  readonly path: string;
  /** Whether the connection is under TLS (cookies are then Secure). */
  readonly secure: boolean;
  /** What the client calls this gateway; of a trusted proxy, what its client called it. */
  readonly host?: string | undefined;
  /** A WebSocket client that is nobody until its first frame says who it is; absent elsewhere. */
  readonly awaitsToken?: boolean;
  /** The form the caller asked for; `json` on rows without `formats` (negotiate.ts). */
  readonly format: Format;
  header(name: string): string | undefined;
  /**
   * After a wait, in the turn of the effect: whether who asks still may. `caller` is the one of now afterwards.
   * @throws Refusal of the barrier that he does not pass any more.
   */
  judgeAgain(): void;
  /**
   * An audit draft of this request: actor, correlation id, site, and the row's action and category filled in. The
   * handler gives it to `store.write` with its change, so that both commit together.
   */
  audit(entry: AuditEntry): AuditDraft;
  /** What the request is about, for its record where the handler writes none, as when it is refused; said again, it replaces what was said. */
  readonly about: (entry: Pick<AuditEntry, 'site' | 'target' | 'after' | 'details'>) => void;
  /** Of a DELETE that another request brings about: what is written in its transaction, asked for in its turn. */
  readonly beside?: () => Pick<Change, 'puts' | 'audits'>;
  /** True for a mutating request once a draft of it was asked for; the pipeline writes one itself otherwise. */
  readonly audited: boolean;
}

export type AuditEntry = Partial<Omit<AuditDraft, 'actor' | 'correlationID'>> & { readonly target?: AuditTarget };

export const JSON_MEDIA_TYPE = 'application/json; charset=utf-8';
export const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

/**
 * What a handler may return besides a plain JSON value. `Body` is what the `reply` of its row must tell; `never` of a body that is
 * text or bytes already, which no type can hold against it (tests do, with every answer they see).
 */
export class Reply<out Body = unknown> {
  declare readonly told?: Body;
  readonly outcome: 'ok' | 'created' | 'none' | 'redirect' | 'not-modified';
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  /** `json` unless the handler rendered something else; then `body` is text or bytes of that media type. */
  readonly mediaType: string | undefined;

  constructor(outcome: Reply['outcome'], body: unknown, headers: Readonly<Record<string, string>> = NO_HEADERS, mediaType?: string) {
    this.outcome = outcome;
    this.body = body;
    this.headers = headers;
    this.mediaType = mediaType;
  }
}

/** An answer that is made while it is sent: a chunk is taken when the one before has left. */
export class StreamedReply extends Reply<never> {
  readonly chunks: AsyncIterable<Uint8Array>;

  constructor(chunks: AsyncIterable<Uint8Array>, headers: Readonly<Record<string, string>>, mediaType: string) {
    super('ok', undefined, headers, mediaType);
    this.chunks = chunks;
  }
}

/** 200 with a long body; what goes wrong on the way cuts the connection, since nobody can take the status back. */
export function streamed(chunks: AsyncIterable<Uint8Array>, mediaType: string, headers: Readonly<Record<string, string>> = NO_HEADERS): StreamedReply {
  return new StreamedReply(chunks, headers, mediaType);
}

/** A body of some hundred kB is answered whole, with its length and packed. */
const WHOLE_CHARACTERS_MAX = 500_000;

/**
 * 200 with JSON that is made piece by piece. What goes wrong with the first of them is refused as ever; a long one is sent while it is
 * made, and `texts` has begun by then, so that its `finally` runs whether somebody takes the rest or nobody.
 */
export async function inPieces(texts: AsyncGenerator<string, void>, headers: Readonly<Record<string, string>> = NO_HEADERS): Promise<Reply<never>> {
  let first = '';
  while (first.length <= WHOLE_CHARACTERS_MAX) {
    const next = await texts.next();
    if (next.done) return rendered(first, headers);
    first += next.value;
  }
  return streamed(new Pieces(first, texts), JSON_MEDIA_TYPE, headers);
}

class Pieces implements AsyncIterableIterator<Uint8Array> {
  readonly #encoder = new TextEncoder();
  readonly #texts: AsyncGenerator<string, void>;
  #first: string;

  constructor(first: string, texts: AsyncGenerator<string, void>) {
    this.#first = first;
    this.#texts = texts;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const text = this.#first;
    this.#first = '';
    if (text !== '') return { value: this.#encoder.encode(text) };
    const next = await this.#texts.next();
    return next.done ? { done: true, value: undefined } : { value: this.#encoder.encode(next.value) };
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    await this.#texts.return();
    return { done: true, value: undefined };
  }
}

/** 201 with the read body and where to find it. */
export function created<Body>(body: Body, location: string, headers: Readonly<Record<string, string>> = {}): Reply<Body> {
  return new Reply<Body>('created', body, { ...headers, Location: location });
}

export function ok<Body>(body: Body, headers: Readonly<Record<string, string>> = NO_HEADERS): Reply<Body> {
  return new Reply<Body>('ok', body, headers);
}

/** 200 with a body that is JSON already: of a hot read that keeps the unchanging part of its answer, or of the query thread. */
export function rendered(json: string | Uint8Array, headers: Readonly<Record<string, string>> = NO_HEADERS): Reply<never> {
  return new Reply<never>('ok', json, headers, JSON_MEDIA_TYPE);
}

/** 204. */
export function done(headers: Readonly<Record<string, string>> = NO_HEADERS): Reply<undefined> {
  return new Reply<undefined>('none', undefined, headers);
}

/** The body of one resource with its revision as a strong ETag (decisions Q-ERR-14). */
export function withRevision<Body>(body: Body, revision: number): Reply<Body> {
  return new Reply<Body>('ok', body, { ETag: `"${revision}"` });
}

/** The statuses of an answer that is no refusal. */
export type ReplyStatus = 200 | 201 | 202 | 204 | 302;
/** Schema of the JSON body per status; a sentence where the body is no JSON (`media` names what it is) or none at all. */
export type Replies = { readonly [Status in ReplyStatus]?: GenericSchema | string };

/** A body of such a schema; a sentence stands for no body where the status is 204, elsewhere for one that is no JSON. */
type BodyOf<Status, Told> = Told extends GenericSchema ? ToldBy<Told> : `${Status & number}` extends '204' ? undefined : never;
type BodiesOf<Told> = Told extends GenericSchema ? ToldBy<Told> : Told extends string ? never : { [Status in keyof Told]: BodyOf<Status, Told[Status]> }[keyof Told];
/** What a handler may return whose row has such a `reply`: what is not told of does not compile. */
export type Replied<Told> = Told extends undefined ? unknown : BodiesOf<Told> | Reply<BodiesOf<Told>> | StreamReply;

export type RefusalStatus = 400 | 401 | 403 | 404 | 406 | 409 | 412 | 413 | 415 | 422 | 429 | 502 | 503;

export interface RowAudit<PathParameters> {
  readonly action: AuditAction;
  readonly category: string;
  /** What the path names; the kind of the action and the parameter `name` when absent. */
  readonly target?: ((params: PathParameters) => AuditTarget) | undefined;
}

/** What a row says about itself, whatever it works on: the barriers, the route table and openapi.json read it. */
export interface RouteColumns {
  readonly method: Method;
  readonly path: string;
  readonly action: string;
  /** `self`: any authenticated human; `none`: no authentication; `custom`: the action alone decides. */
  readonly tier: Tier | 'self' | 'none' | 'custom';
  /** Strict body; absent: no body, or `{}`. */
  readonly body?: GenericSchema | undefined;
  /** The parameters that it reads, with their types; any other is refused (D-C-04). Absent: none. */
  readonly query?: QuerySchema | undefined;
  /** What it answers; a schema alone is that of the status which the method and action stand for. */
  readonly reply?: Replies | GenericSchema | string;
  /** Media types of an answer that is not JSON. */
  readonly media?: readonly string[];
  /** Codes of the refusals that only this row gives, by status; those of the pipeline go without saying. */
  readonly errors?: { readonly [Status in RefusalStatus]?: readonly string[] };
  readonly summary?: string;
  /** Signature operations: a token issued within the last 5 minutes. `decide` looks at the body (step 11). */
  readonly freshToken?: true | ((context: { readonly body: unknown; readonly query: Query }) => boolean);
  /** `policy`: body member `reason` of at least the policy length; `nonempty`: at least 1 character (D-ERR-03). */
  readonly reason?: 'policy' | 'nonempty';
  /** `only`: refused for humans (`human_role`); the fence itself follows from the path. */
  readonly apiKey?: 'only';
  readonly bodyBytesMax?: number;
  /** So few of its bodies are held at a time; others are refused before they are read. Not beside `bodyMembers`. */
  readonly bodyTurns?: BodyTurnLimits;
  /** The body may be an array of many: it is read member by member, while others are served. */
  readonly bodyMembers?: MemberLimits;
  /** Media types of a body that is not JSON (import routes); the handler gets its bytes as a Uint8Array. */
  readonly bodyMedia?: readonly string[];
  /** Media types other than JSON that `format` and `Accept` may choose (decisions Q-MES-28, Q-MES-29). */
  readonly formats?: readonly ('b2mml' | 'xml' | 'b2mml-mesa')[];
  /** The body may be YAML as well as JSON; several documents are an array. */
  readonly yaml?: true;
  /** POST that only reads or computes, always or for such a body or query: takes the nonce, leaves no audit record (D-AUDIT-02). */
  readonly computes?: true | ((body: unknown, query: Query) => boolean);
  /** Not an activity for the inactivity window (decisions Q-AUTH-21). */
  readonly background?: true;
  /** Served while nothing can be written: what it leaves on record is kept in memory and written afterwards (D-C-09). */
  readonly whileStorageRefuses?: true;
  /** Its credential is a cookie: pages of other origins are refused unless `gateway.cors.allowedOrigins` lists them. */
  readonly ownPagesOnly?: true;
  /** While a password change, or an enrolment of a second factor, is pending these routes stay open. */
  readonly duringPasswordChange?: true;
  /** While an enrolment is pending, and no password change. */
  readonly duringEnrolment?: true;
  /** A live stream: the handler returns `webSocket(...)` or `eventStream(...)` of stream-port.ts; the query form `token` is accepted. */
  readonly stream?: 'websocket' | 'sse';
  /** How the pipeline audits a refusal, or a success the handler did not audit itself. */
  readonly audit?: RowAudit<Params>;
  /**
   * What it reads beside that may be past: it is lent, or brought back for a DELETE, before step 9 (ADR 0037). A name in a body is its
   * handler's to ask for.
   */
  readonly past?: ((params: Params, query: Query) => readonly Ref[]) | undefined;
  /** Step 11, after size and media type and before the syntax of the body: throws when the query is not as the route needs it. */
  readonly queryRule?: (query: Query) => void;
}

/** A row as it is written: parameters, body and query are typed from its columns. */
export interface RouteRow<Path extends string, Body extends GenericSchema | undefined, Deps, Parameters extends QuerySchema | undefined, Told extends RouteColumns['reply']>
  extends Omit<RouteColumns, 'audit' | 'reply'> {
  readonly path: Path;
  readonly body?: Body | undefined;
  readonly query?: Parameters | undefined;
  readonly audit?: RowAudit<PathParams<Path>> | undefined;
  /** Step 9: throws `missing` when the resource named by the path does not exist; runs before the body is looked at. */
  readonly exists?: ((params: PathParams<Path>, deps: Deps) => void) | undefined;
  /** Step 10: equipment mode, access level and operating-mode barriers; runs before the body is looked at. */
  readonly barrier?: ((params: PathParams<Path>, deps: Deps, caller: Caller, query: Query<QueryNames<Parameters>>) => void) | undefined;
  /** Of a PUT: what a GET of the resource gives, which may be sent back (D-C-05). */
  readonly served?: ((params: PathParams<Path>, deps: Deps) => Served) | undefined;
  readonly reply?: Told;
  readonly handle: (
    context: RequestContext<PathParams<Path>, Body extends GenericSchema ? InferOutput<Body> : undefined, QueryNames<Parameters>>,
    deps: Deps,
  ) => Replied<Told> | Promise<Replied<Told>>;
}

/** A row of whatever path and body; `Deps` is what it works on. Without it: a row that is looked at, not served. */
export interface Route<Deps = never> extends RouteColumns {
  readonly exists?: ((params: Params, deps: Deps) => void) | undefined;
  readonly barrier?: ((params: Params, deps: Deps, caller: Caller, query: Query) => void) | undefined;
  readonly served?: ((params: Params, deps: Deps) => Served) | undefined;
  readonly handle: (context: RequestContext<Params, unknown>, deps: Deps) => unknown;
}

/**
 * `const route = routesFor<{ store: Store }>();` then one `route({...})` per row; parameters and body are typed from the row.
 * The only place where these types are given up: that the parameters are those of the path is the router's doing, that
 * the body is that of the schema the body barrier's.
 */
export function routesFor<Deps>() {
  return <
    const Path extends string,
    Body extends GenericSchema | undefined = undefined,
    const Parameters extends QuerySchema | undefined = undefined,
    const Told extends RouteColumns['reply'] = undefined,
  >(
    row: RouteRow<Path, Body, Deps, Parameters, Told>,
  ): Route<Deps> => row as Omit<RouteColumns, 'audit'> as Route<Deps>;
}

/** A row with what it works on closed over. */
export interface BoundRoute {
  readonly row: RouteColumns;
  readonly exists: ((params: Params) => void) | undefined;
  readonly barrier: ((params: Params, caller: Caller, query: Query) => void) | undefined;
  readonly served: ((params: Params) => Served) | undefined;
  readonly handle: (context: RequestContext<Params, unknown>) => unknown;
}

/** Rows that can be served; made by `routeSet`. */
export interface RouteSet {
  readonly routes: readonly BoundRoute[];
}

/** What all rows of a list work on: they are given one object that has it all. */
type DepsOf<Row> = (Row extends Route<infer Deps> ? (deps: Deps) => void : never) extends (deps: infer All) => void ? All : never;

/** What the rows of a list work on. */
export type RouteDeps<Rows extends readonly Route[]> = DepsOf<Rows[number]>;

/** Rows and what they work on, tied by their types: a row whose deps are not there does not compile. */
export function routeSet<Row extends Route>(rows: readonly Row[], deps: DepsOf<Row>): RouteSet;
export function routeSet<Deps>(rows: readonly Route<Deps>[], deps: Deps): RouteSet {
  return { routes: rows.map((row) => bind(row, deps)) };
}

function bind<Deps>(row: Route<Deps>, deps: Deps): BoundRoute {
  const { exists, barrier, served, handle } = row;
  return {
    row,
    exists: exists && ((params) => exists(params, deps)),
    barrier: barrier && ((params, caller, query) => barrier(params, deps, caller, query)),
    served: served && ((params) => served(params, deps)),
    handle: (context) => handle(context, deps),
  };
}
