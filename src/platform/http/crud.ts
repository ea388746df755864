/**
 * The five rows of a resource family (contract 3, Physical hierarchy 1; decisions Q-ERR-04, Q-ERR-09 to Q-ERR-16): list,
 * create, read, update, delete, all derived from the kind. A change and its audit record are one transaction.
 *
 * Order inside a write: fields (400), references and meaning (the kind's `admit`: 400, 422), If-Match (412), conflicts (409).
 */
import * as v from 'valibot';
import { assert } from '../base/assert.js';
import { conflict, invalid, Refusal } from '../base/refusal.js';
import { checkResourceName } from '../base/resource-name.js';
import { describeAs, describeFields, type ShapeWords, wordsOfFields } from '../base/field-words.js';
import { nameSchemas } from '../base/schema-names.js';
import { absent } from '../store/absent.js';
import type { AuditDraft } from '../store/audit-record.js';
import { BODY_WORDS, METADATA_WORDS } from '../store/field-words.js';
import { companionsOf } from '../store/companions.js';
import { Annotations, checkDocument, Labels, writtenKeys } from '../store/envelope.js';
import type { Kind, StoreReader, Ruled } from '../store/kind.js';
import { checkReferences, refuseDelete } from '../store/references.js';
import { pastRows } from '../store/past-rows.js';
import { byOwnNames } from '../store/other-names.js';
import type { Ref, Resource } from '../store/resource.js';
import type { Change, Store } from '../store/store.js';
import { checkTexts } from '../store/texts.js';
import { type Caller, mayVisit } from './caller.js';
import type { Tier } from './tiers.js';
import { AnnotationChange, clearable, LabelChange, merge, withoutDefault } from './clearing.js';
import { decodeBody } from './json-body.js';
import { listReply, type PastItems, sortedBy, type SortKey } from './paged-list.js';
import { LIST, parameters } from './parameters.js';
import { oneOf } from './alternatives.js';
import type { ToldBy } from './replies.js';
import { checkIfMatch, etagOf, etagOfBody } from './revision.js';
import { created, done, ok, type Query, type QuerySchema, type Reply, type RequestContext, type Route, type RouteColumns, routesFor } from './route.js';

export interface CrudDeps {
  readonly store: Store;
  /** Setting `gateway.operatingMode` is `production`: what of a kind is evidence then is not deleted (`keptInProduction`). */
  readonly production?: boolean;
}

type Verb = 'list' | 'create' | 'read' | 'update' | 'delete';
type Context = RequestContext<Readonly<Record<string, string>>, unknown>;

export interface CrudEvent<Spec, Status, Deps extends CrudDeps = CrudDeps> {
  readonly verb: 'create' | 'update' | 'delete';
  readonly site: string;
  readonly name: string;
  readonly before: Resource<Spec, Status> | undefined;
  /** What will be stored; undefined on delete. */
  readonly spec: Spec | undefined;
  readonly caller: Caller;
  readonly read: StoreReader;
  /** Of the rows, for what lives outside the store. */
  readonly deps: Deps;
  readonly correlationID: string;
}

type Told = v.GenericSchema;

/** `Body`, `Item`, `Made`: the schemas of the body of one resource, of an item of the list, of a 201. */
export interface CrudOptions<Spec, Status, Deps extends CrudDeps = CrudDeps, Body extends Told = Told, Item extends Told = Told, Made extends Told = Told> {
  readonly read: Tier;
  readonly write: Tier;
  /** Served body of one resource; `deps` are those of the rows, for what lives outside the store. */
  readonly dto: (resource: Resource<Spec, Status>, read: StoreReader, deps: Deps) => ToldBy<Body>;
  /** Item of the list; the body of one resource when absent. */
  readonly item?: (resource: Resource<Spec, Status>, read: StoreReader, deps: Deps) => ToldBy<Item>;
  /** Path of the family; derived from scope and `kind.path` when absent. */
  readonly path?: string;
  readonly only?: readonly Verb[];
  /** The body of a 201; the read body when absent (controller: `{name}`). */
  readonly createdBody?: (resource: Resource<Spec, Status>, read: StoreReader) => ToldBy<Made>;
  /** Members of the read body that a PUT must not send back, against the rule for all others (PROG-04, CM-10). */
  readonly neverSentBack?: readonly string[];
  /** `replace`: a PUT states the whole spec (control programs). */
  readonly put?: 'merge' | 'replace';
  /** The read body shows other resources too, so its ETag covers the body and not only the revision. */
  readonly derives?: boolean;
  /** Which resources the caller may see in the list; sites are filtered by their own name already. */
  readonly visible?: (resource: Resource<Spec, Status>, caller: Caller) => boolean;
  /**
   * Filters of the list by its query, whose parameters are kept in the link to the next page. `among`: those that an index
   * has found for the question, sorted by name, where there is one; the filter is asked of them as well.
   */
  readonly filter?:
    | {
        readonly query?: v.ObjectEntries;
        readonly reads: (query: Query) => (resource: Resource<Spec, Status>) => boolean;
        readonly among?: (query: Query, store: Store, site: string) => readonly Resource<Spec, Status>[] | undefined;
        /** What of the past `among` needs to be lent. */
        readonly past?: (query: Query, site: string) => readonly Ref[];
        /** What the query asks of those that are past: nothing, so that all pass; or what none of them is. They are looked at one by one without. */
        readonly ofPast?: (query: Query) => 'all' | 'none' | undefined;
        /** Another order than by name, where the query asks for one and none is past: by this key, lower first. */
        readonly keyOf?: (query: Query) => ((resource: Resource<Spec, Status>) => SortKey) | undefined;
      }
    | undefined;
  /** Step 15: the state of the resource forbids it (409), or its members do. Runs after If-Match. */
  readonly refuse?: (event: CrudEvent<Spec, Status, Deps>) => void;
  /**
   * Further changes of the same transaction: revisions, cascades, facts that name its audit record; `status` is that of the resource
   * itself. `warnings` are told in the header `X-Lineside-Warning` and stand in the audit record.
   */
  readonly also?: (
    event: CrudEvent<Spec, Status, Deps>,
    audit: AuditDraft,
  ) => Pick<Change, 'puts' | 'removes' | 'facts'> & { readonly status?: Status; readonly warnings?: readonly string[] };
  /** Further columns of single rows (`reason`, `freshToken`, `summary`). */
  readonly rows?: Partial<Record<Verb, Partial<Pick<RouteColumns, 'reason' | 'freshToken' | 'summary' | 'bodyBytesMax' | 'errors' | 'past'>>>>;
  /** Schema of the body of one resource. */
  readonly reply?: Body;
  /** Of an item of the list; that of one resource when absent. */
  readonly itemReply?: Item;
  /** Of the body of a 201; that of one resource when absent. */
  readonly createdReply?: Made;
}

/** What the callbacks of the options take as deps is what the rows work on: `dto: (unit, read, deps: UnitDeps) => ...`. */
export function crudRoutes<Spec extends object, Status, Deps extends CrudDeps, Body extends Told, Item extends Told = Told, Made extends Told = Told>(
  kind: Ruled<Spec, Status>,
  options: CrudOptions<Spec, Status, Deps, Body, Item, Made>,
): Route<Deps>[] {
  const family = new Family(kind, options);
  const wanted = options.only ?? ['list', 'create', 'read', 'update', 'delete'];
  return wanted.map((verb) => ({ ...family[verb](), ...options.rows?.[verb], errors: errorsOf(kind, verb, options.rows?.[verb]?.errors) }));
}

type Errors = NonNullable<RouteColumns['errors']>;

/** What every kind refuses, what the rules of this one do, and what the row says beside that. */
function errorsOf<Spec, Status>({ references, held, refuses, controlled }: Ruled<Spec, Status>, verb: Verb, ofRow: Errors = {}): Errors {
  const known = references ? ['unknown_reference'] : [];
  const ofVerb: { readonly [Each in Verb]: readonly (Errors | undefined)[] } = {
    list: [],
    read: [],
    create: [{ 400: ['invalid_name', 'reserved_key', ...known], 409: ['already_exists'] }, refuses?.write],
    update: [{ 400: ['reserved_key', ...known] }, refuses?.write],
    delete: [{ 409: held ? ['legal_hold'] : ['has_dependents', 'legal_hold'] }, refuses?.remove],
  };
  const isKept = controlled === true && verb !== 'list' && verb !== 'read';
  return mergedErrors([...ofVerb[verb], isKept ? { 403: ['change_request_required'] } : undefined, ofRow]);
}

function mergedErrors(all: readonly (Errors | undefined)[]): Errors {
  const merged = new Map<string, Set<string>>();
  for (const errors of all) {
    for (const [status, codes] of Object.entries(errors ?? {})) {
      merged.set(status, new Set([...(merged.get(status) ?? []), ...codes]));
    }
  }
  return Object.fromEntries([...merged].map(([status, codes]) => [status, [...codes]]));
}

const Name = v.string();

type Headers = Readonly<Record<string, string>>;

/** A header holds no other characters. */
function inHeader(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}

interface Written {
  readonly name: string | undefined;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly annotations: Readonly<Record<string, string>> | undefined;
  readonly spec: Readonly<Record<string, unknown>>;
}

class Family<Spec extends object, Status, Deps extends CrudDeps> {
  readonly #kind: Ruled<Spec, Status>;
  readonly #options: CrudOptions<Spec, Status, Deps>;
  readonly #path: string;

  constructor(kind: Ruled<Spec, Status>, options: CrudOptions<Spec, Status, Deps>) {
    this.#kind = kind;
    this.#options = options;
    if (options.reply) describeAs(options.reply, wordsOfKind(kind));
    if (options.itemReply) describeAs(options.itemReply, wordsOfKind(kind));
    this.#path = options.path ?? (kind.scope === 'site' ? `/api/v1/sites/{site}/${kind.path}` : `/api/v1/${kind.path}`);
  }

  list(): Route<Deps> {
    const render = this.#options.item ?? this.#options.dto;
    const { filter } = this.#options;
    const filters: v.ObjectEntries = filter?.query ?? {};
    const { itemReply = this.#options.item ? undefined : this.#options.reply } = this.#options;
    const query: QuerySchema = parameters({ ...LIST, ...filters });
    return routesFor<Deps>()({
      method: 'GET',
      path: this.#path,
      action: `${this.#kind.action}:list`,
      tier: this.#options.read,
      query,
      ...this.#reply(itemReply && v.array(itemReply)),
      summary: `List ${this.#kind.kind} resources; query limit, cursor`,
      ...(filter?.past ? { past: (params, query) => filter.past?.(query, this.#siteOf(params) ?? '') ?? [] } : {}),
      handle: (context, deps) => {
        const passes = filter?.reads(context.query);
        const site = this.#siteOf(context.params);
        const among = filter?.among?.(context.query, deps.store, site ?? '');
        const resources = among ?? deps.store.list(this.#kind, site);
        const isListed = (resource: Resource<Spec, Status>): boolean => this.#visible(resource, context.caller) && (passes?.(resource) ?? true);
        const ofPast = filter ? filter.ofPast?.(context.query) : 'all';
        const past = among ? undefined : this.#pastIn(deps.store, site ?? '', ofPast, isListed, JSON.stringify(Object.keys(filters).map((name) => context.query.all(name))));
        const keyOf = filter?.keyOf?.(context.query);
        const items = resources.filter(isListed);
        return listReply(context, {
          list: this.#kind.path ?? this.#kind.action,
          items: keyOf ? sortedBy(items, keyOf) : items,
          kept: Object.keys(filters),
          keyOf: keyOf ?? (({ metadata }) => [metadata.name]),
          render: (resource) => render(resource, deps.store, deps),
          ...(past ? { past } : {}),
        });
      },
    });
  }

  read(): Route<Deps> {
    return routesFor<Deps>()({
      method: 'GET',
      path: `${this.#path}/{name}`,
      action: `${this.#kind.action}:read`,
      tier: this.#options.read,
      ...this.#reply(this.#options.reply),
      summary: `Read one ${this.#kind.kind}`,
      ...this.#past(),
      exists: (params, deps) => void this.#find(params, deps),
      handle: ({ params }, deps) => this.#served(this.#find(params, deps), deps),
    });
  }

  /** What the past adds to the list; undefined when it adds nothing. `question` tells what is asked of them. */
  #pastIn(
    store: Store,
    site: string,
    asked: 'all' | 'none' | undefined,
    isListed: (resource: Resource<Spec, Status>) => boolean,
    question: string,
  ): PastItems<Resource<Spec, Status>> | undefined {
    const past = pastRows(store);
    const kind = this.#kind;
    if (!kind.pastWith || asked === 'none' || !past.mayHold(kind, site)) return undefined;
    return {
      async *pages(after) {
        for await (const page of past.each(kind, site, after)) {
          const last = page.at(-1);
          if (last) yield { items: page.filter(isListed), upTo: [last.metadata.name] };
        }
      },
      present: () => store.list(kind, site).filter(isListed),
      hold: () => past.walk(),
      count: () => (asked === 'all' ? past.count(kind, site) : past.countOf(kind, site, question, isListed)),
    };
  }

  create(): Route<Deps> {
    return routesFor<Deps>()({
      method: 'POST',
      path: this.#path,
      action: `${this.#kind.action}:create`,
      tier: this.#options.write,
      body: bodySchema(this.#kind, 'create'),
      ...this.#reply(this.#options.createdBody ? this.#options.createdReply : this.#options.reply),
      summary: `Create a ${this.#kind.kind}`,
      audit: { action: 'Create', category: this.#kind.action },
      handle: (context, deps) => this.#create(context as Context, deps),
    });
  }

  update(): Route<Deps> {
    return routesFor<Deps>()({
      method: 'PUT',
      path: `${this.#path}/{name}`,
      action: `${this.#kind.action}:update`,
      tier: this.#options.write,
      body: bodySchema(this.#kind, this.#options.put === 'replace' ? 'replace' : 'merge'),
      ...this.#reply(this.#options.reply),
      summary: `Change a ${this.#kind.kind}; ${this.#options.put === 'replace' ? 'the body states the whole spec' : 'members left out keep their value'}`,
      audit: { action: 'Update', category: this.#kind.action, target: (params) => this.#target(params) },
      ...this.#past(),
      exists: (params, deps) => void this.#find(params, deps),
      served: (params, deps) => {
        const { put, neverSentBack } = this.#options;
        const found = this.#find(params, deps);
        const checkRead = (ifMatch: string | undefined): void => this.#checkIfMatch(ifMatch, found, deps);
        return { body: this.#options.dto(found, deps.store, deps), never: neverSentBack, whole: put === 'replace', checkRead };
      },
      handle: (context, deps) => this.#update(context as Context, this.#find(context.params, deps), deps),
    });
  }

  delete(): Route<Deps> {
    return routesFor<Deps>()({
      method: 'DELETE',
      path: `${this.#path}/{name}`,
      action: `${this.#kind.action}:delete`,
      tier: this.#options.write,
      summary: `Delete a ${this.#kind.kind}`,
      audit: { action: 'Delete', category: this.#kind.action, target: (params) => this.#target(params) },
      ...this.#past(),
      exists: (params, deps) => void this.#find(params, deps),
      // step 10 of the order of evaluation
      barrier: (_params, { production }) => {
        if (production && this.#kind.keptInProduction) throw this.#kind.keptInProduction();
      },
      handle: (context, deps) => this.#delete(context as Context, this.#find(context.params, deps), deps),
    });
  }

  /**
   * What a write of it is judged by, where that may be past; undefined when there is nothing to wait for.
   */
  #lent(store: Store, spec: Spec, site: string, name: string): Promise<void> | undefined {
    const { kind, pastWith } = this.#kind;
    return pastWith ? pastRows(store).lend([{ kind, site, name }, ...(this.#kind.judgedBy?.(spec, site) ?? [])]) : undefined;
  }

  /** Of a row that names one resource. */
  #past(): Pick<RouteColumns, 'past'> {
    const { kind, pastWith } = this.#kind;
    return pastWith ? { past: (params) => [{ kind, site: this.#siteOf(params) ?? '', name: params.name as string }] } : {};
  }

  #reply(reply: v.GenericSchema | undefined): Pick<RouteColumns, 'reply'> {
    return reply ? { reply } : {};
  }

  async #create(context: Context, deps: Deps): Promise<Reply> {
    const { store } = deps;
    const site = this.#siteOf(context.params) ?? '';
    const written = this.#ownKeys(split(this.#kind, context.body));
    if (this.#kind.body === 'document') checkDocument(context.body, site);
    const name = written.name;
    if (name === undefined || name === '') throw invalid('missing_field', nameField(this.#kind), 'field name is required');
    this.#refuseControlled(store, site, name);
    if (this.#kind.kind === 'Site') {
      checkResourceName(name, 'name', 58); // decisions Q-ERR-12: room for the namespace `site-{site}`
      if (!mayVisit(context.caller, name)) throw siteScope(name);
    } else checkResourceName(name);
    const decoded = this.#decode(written.spec, context.body, undefined);
    const lent = this.#lent(store, decoded, site, name);
    if (lent) await lent;
    checkReferences(this.#kind, decoded, site, store);
    const spec = this.#kind.admit?.(decoded, { name, site, via: 'rest', before: undefined, read: store }) ?? decoded;
    if (store.get(this.#kind, site, name)) throw conflict('already_exists', `${this.#kind.kind} ${name} exists already`, { kind: this.#kind.kind, name });
    const event: CrudEvent<Spec, Status, Deps> = {
      verb: 'create',
      site,
      name,
      before: undefined,
      spec,
      caller: context.caller,
      read: store,
      deps,
      correlationID: context.correlationID,
    };
    this.#options.refuse?.(event);
    const audit = context.audit({ target: { kind: this.#kind.kind, name, site: site || this.#ownSite(name) }, after: shown(this.#kind, spec) });
    const { resource, headers } = await this.#write(store, event, audit, written);
    const body = this.#options.createdBody ? this.#options.createdBody(resource, store) : this.#options.dto(resource, store, deps);
    const base = this.#path.replace('{site}', encodeURIComponent(site)).replace(/\{(\w+)\}/g, (_, key: string) => {
      const value = context.params[key];
      assert(value !== undefined, `the path names the parameter ${key}`);
      return encodeURIComponent(value);
    });
    return created(body, `${base}/${encodeURIComponent(name)}`, { ETag: this.#etag(resource, this.#options.createdBody ? undefined : body), ...headers });
  }

  /** @param isJudged by what it is written is there. */
  async #update(context: Context, found: Resource<Spec, Status>, deps: Deps, isJudged = false): Promise<Reply> {
    const { store } = deps;
    const { name, site } = found.metadata;
    const before = found;
    this.#refuseControlled(store, site, name);
    const written = this.#ownKeys(split(this.#kind, context.body), before);
    if (this.#kind.body === 'document') checkDocument(context.body, site);
    if (written.name !== undefined && written.name !== name) {
      throw invalid('invalid_field', nameField(this.#kind), `${this.#kind.kind} ${name} cannot be renamed: name must be ${name}, as in the path, or left out`);
    }
    const decoded = this.#decode(this.#options.put === 'replace' ? written.spec : merge(before.spec as Record<string, unknown>, written.spec), context.body, before.spec);
    const lent = isJudged ? undefined : this.#lent(store, decoded, site, name);
    if (lent) {
      await lent;
      return this.#update(context, this.#find(context.params, deps), deps, true); // into what it is now
    }
    checkReferences(this.#kind, decoded, site, store);
    const spec = this.#kind.admit?.(decoded, { name, site, via: 'rest', before, read: store }) ?? decoded;
    this.#checkIfMatch(context.header('if-match'), before, deps);
    const event: CrudEvent<Spec, Status, Deps> = { verb: 'update', site, name, before, spec, caller: context.caller, read: store, deps, correlationID: context.correlationID };
    this.#options.refuse?.(event);
    const audit = context.audit({ target: this.#target(context.params), before: shown(this.#kind, before.spec), after: shown(this.#kind, spec) });
    const { resource, headers } = await this.#write(store, event, audit, written);
    return this.#served(resource, deps, headers);
  }

  async #delete(context: Context, found: Resource<Spec, Status>, deps: Deps): Promise<Reply> {
    const { store } = deps;
    const { name, site } = found.metadata;
    if (!context.beside) this.#refuseControlled(store, site, name);
    let event = this.#judgedDelete(context, found, deps);
    const brought = this.#kind.pastWith ? pastRows(store).bring([{ kind: this.#kind.kind, site, name }]) : undefined;
    if (brought) {
      (await brought)(); // the request holds it, and it is written in this turn
      event = this.#judgedDelete(context, this.#find(context.params, deps), deps);
    }
    const audit = context.audit({ target: this.#target(context.params), before: shown(this.#kind, found.spec) });
    const more = this.#options.also?.(event, audit);
    const beside = context.beside?.();
    await store.write({
      ...more,
      puts: [...(more?.puts ?? []), ...(beside?.puts ?? [])],
      removes: [{ kind: this.#kind.kind, site, name }, ...(more?.removes ?? [])],
      audits: [audit, ...(beside?.audits ?? [])],
    });
    return done();
  }

  /** Told before all that may be wrong with it: nobody mends a body that is not taken. The store judges it again when it is written. */
  #refuseControlled(store: Store, site: string, name: string): void {
    if (this.#kind.controlled) store.judge({ puts: [{ kind: this.#kind, site, name, labels: {} }] });
  }

  /** What is to be deleted, when nothing forbids it. */
  #judgedDelete(context: Context, before: Resource<Spec, Status>, deps: Deps): CrudEvent<Spec, Status, Deps> {
    const { store } = deps;
    const { name, site } = before.metadata;
    this.#checkIfMatch(context.header('if-match'), before, deps);
    const event: CrudEvent<Spec, Status, Deps> = {
      verb: 'delete',
      site,
      name,
      before,
      spec: undefined,
      caller: context.caller,
      read: store,
      deps,
      correlationID: context.correlationID,
    };
    this.#options.refuse?.(event);
    refuseDelete(this.#kind, before, store);
    return event;
  }

  async #write(
    store: Store,
    event: CrudEvent<Spec, Status, Deps>,
    audit: AuditDraft,
    written: Written,
  ): Promise<{ readonly resource: Resource<Spec, Status>; readonly headers: Headers }> {
    const { status, warnings = [], ...more } = this.#options.also?.(event, audit) ?? {};
    const { site, name, before } = event;
    const companions = event.spec ? companionsOf(this.#kind, { site, name, spec: event.spec, before, read: store, by: event.caller.displayName }) : {};
    const put = {
      kind: this.#kind,
      site: event.site,
      name: event.name,
      spec: event.spec,
      ...(companions.status === undefined ? {} : { status: companions.status }),
      ...(status === undefined ? {} : { status }),
      ...(written.labels ? { labels: written.labels } : {}),
      ...(written.annotations ? { annotations: written.annotations } : {}),
    };
    const told = warnings.length === 0 ? audit : { ...audit, details: { ...audit.details, warnings } };
    const applied = await store.write({ ...more, puts: [put, ...(companions.puts ?? []), ...(more.puts ?? [])], audits: [told] });
    return { resource: applied.resources[0] as Resource<Spec, Status>, headers: warnings.length === 0 ? {} : { 'X-Lineside-Warning': warnings.map(inHeader).join('; ') } };
  }

  #ownKeys(written: Written, before?: Resource<Spec, Status>): Written {
    const { openKeys } = this.#kind;
    const prefix = this.#kind.body === 'document' ? 'metadata.' : '';
    const labels = writtenKeys(written.labels, before?.metadata.labels, `${prefix}labels`, openKeys);
    const annotations = writtenKeys(written.annotations, before?.metadata.annotations, `${prefix}annotations`, openKeys);
    return { ...written, labels, annotations };
  }

  /** The whole spec through the kind's schema; a field of the nested forms is named with its `spec.` in front. */
  #decode(spec: Readonly<Record<string, unknown>>, body: unknown, before: Spec | undefined): Spec {
    const prefix = isNested(body) ? 'spec.' : '';
    for (const field of this.#kind.required ?? []) {
      if (spec[field] === undefined || spec[field] === '') throw invalid('missing_field', `${prefix}${field}`, `field ${prefix}${field} is required`);
    }
    const decoded = prefix === '' ? decodeBody(this.#kind.spec, spec) : decodeBody(v.strictObject({ spec: this.#kind.spec }), { spec }).spec;
    checkTexts(decoded, before, prefix);
    return decoded;
  }

  #served(resource: Resource<Spec, Status>, deps: Deps, headers: Headers = {}): Reply {
    const body = this.#options.dto(resource, deps.store, deps);
    return ok(body, { ETag: this.#etag(resource, body), ...headers });
  }

  #checkIfMatch(ifMatch: string | undefined, before: Resource<Spec, Status>, deps: Deps): void {
    checkIfMatch(ifMatch, before.metadata.resourceVersion, () => this.#etag(before, this.#options.dto(before, deps.store, deps)));
  }

  #etag(resource: Resource<Spec, Status>, body: unknown): string {
    const { resourceVersion } = resource.metadata;
    return this.#options.derives && body !== undefined ? etagOfBody(resourceVersion, body) : etagOf(resourceVersion);
  }

  #find(params: Readonly<Record<string, string | undefined>>, { store }: Deps): Resource<Spec, Status> {
    const name = params.name as string;
    const found = store.get(this.#kind, this.#siteOf(params) ?? '', name);
    if (!found) throw absent(store, this.#kind, this.#siteOf(params) ?? '', name);
    return found;
  }

  /** Undefined lists over everything; a cluster kind lives in site ''. */
  #siteOf(params: Readonly<Record<string, string | undefined>>): string | undefined {
    return this.#kind.scope === 'site' ? params.site : '';
  }

  #ownSite(name: string): string {
    return this.#kind.kind === 'Site' ? name : '';
  }

  #target(params: Readonly<Record<string, string | undefined>>): { kind: string; name: string; site: string } {
    const name = params.name as string;
    return { kind: this.#kind.kind, name, site: params.site ?? this.#ownSite(name) };
  }

  #visible(resource: Resource<Spec, Status>, caller: Caller): boolean {
    if (this.#kind.kind === 'Site' && !mayVisit(caller, resource.metadata.name)) return false;
    return this.#options.visible?.(resource, caller) ?? true;
  }
}

/** A spec as audit records show it. */
function shown<Spec, Status>(kind: Kind<Spec, Status>, spec: Spec): Spec {
  return kind.redact?.(spec) ?? spec;
}

function siteScope(site: string): Error {
  return new Refusal('forbidden', `site ${site} is outside your scope`, { code: 'site_scope', site });
}

function nameField(kind: Kind): string {
  return kind.body === 'document' ? 'metadata.name' : 'name';
}

// ---------------------------------------------------------------- bodies

type Entries = Record<string, v.GenericSchema>;
type BodySchema = v.GenericSchema<unknown, Record<string, unknown>>;

/** Members of a strict object, also when checks are piped after it. */
function entriesOf(schema: v.GenericSchema): Entries | undefined {
  const piped = schema as { readonly entries?: Entries; readonly pipe?: readonly v.GenericSchema[] };
  const first = piped.pipe?.[0];
  return piped.entries ?? (first && entriesOf(first));
}

/**
 * What a body may hold, per form and verb. `merge` fills no defaults, so that a member left out keeps its value, and `null`
 * clears (decisions Q-ERR-16); the merged spec then goes through the kind's own schema.
 */
function bodySchema<Spec, Status>(kind: Kind<Spec, Status>, how: 'create' | 'merge' | 'replace'): BodySchema {
  const members = memberEntries(kind, how);
  const name = how === 'create' ? Name : v.optional(Name);
  const labels = how === 'create' ? v.optional(Labels) : LabelChange;
  const called = `${kind.kind}${how === 'create' ? 'Create' : 'Update'}`;
  const words = wordsOfKind(kind);
  if (kind.body === 'flat') {
    const body = v.strictObject({ name, ...members });
    describeAs(body, words);
    nameSchemas({ [called]: body });
    return body as BodySchema;
  }
  const spec = v.strictObject(members);
  describeAs(spec, words);
  if (kind.body === 'document') {
    const metadata = how === 'create' ? metadataSchema(name, v.optional(Labels), v.optional(Annotations)) : v.optional(metadataSchema(name, LabelChange, AnnotationChange));
    const document = v.strictObject({ apiVersion: v.optional(v.string()), kind: v.optional(v.picklist([kind.kind, ...(kind.aliases ?? [])])), metadata, spec });
    describeAs(document, BODY_WORDS);
    nameSchemas({ [called]: document, [`${called}Spec`]: spec });
    return document as BodySchema;
  }
  const nested = v.strictObject({ name, labels, spec });
  const flat = v.strictObject({ name, labels, ...members });
  describeAs(nested, BODY_WORDS);
  describeAs(flat, words);
  nameSchemas({ [called]: flat, [`${called}Nested`]: nested });
  return oneOf<v.GenericSchema>([nested, flat], (input) => (isNested(input) ? nested : flat)) as BodySchema;
}

/** Of bodies that are made of a spec: its fields, by their other names as well, and what stands beside them. */
function wordsOfKind<Spec, Status>({ spec, otherNames = {} }: Kind<Spec, Status>): ShapeWords {
  const own = wordsOfFields(spec) ?? {};
  const others = Object.entries(otherNames).flatMap(([other, member]) => (own[member] === undefined ? [] : [[other, own[member]] as const]));
  return { ...BODY_WORDS, ...own, ...Object.fromEntries(others) };
}

function metadataSchema(name: v.GenericSchema, labels: v.GenericSchema, annotations: v.GenericSchema): v.GenericSchema {
  const metadata = v.strictObject({ name, namespace: v.optional(v.string()), labels, annotations });
  describeFields(metadata, METADATA_WORDS);
  return metadata as v.GenericSchema;
}

function memberEntries<Spec, Status>(kind: Kind<Spec, Status>, how: 'create' | 'merge' | 'replace'): Entries {
  const all = entriesOf(kind.spec as v.GenericSchema);
  if (!all) throw new Error(`the spec of ${kind.kind} must be a strict object`);
  const members: Entries = {};
  const { otherNames = {} } = kind;
  const renamed = Object.values(otherNames);
  const others = Object.entries(otherNames).flatMap(([other, member]) => (all[member] ? [[other, all[member]] as const] : []));
  for (const [member, schema] of [...Object.entries(all), ...others]) {
    if (member === 'name' || kind.writtenElsewhere?.includes(member)) continue;
    const required = kind.required?.includes(member) ?? false;
    if (how === 'merge') members[member] = clearable(schema);
    // no default is filled in beside the other name: the spec's own schema does so later
    else if (renamed.includes(member) || Object.hasOwn(otherNames, member)) members[member] = v.optional(withoutDefault(schema));
    else members[member] = required ? withoutDefault(schema) : schema;
  }
  return members;
}

function isNested(body: unknown): body is { readonly spec: Record<string, unknown> } {
  return typeof body === 'object' && body !== null && 'spec' in body;
}

function split(kind: Kind, body: unknown): Written {
  const written = splitForms(kind, body);
  return kind.otherNames ? { ...written, spec: byOwnNames(written.spec, kind.otherNames, isNested(body) ? 'spec.' : '') } : written;
}

function splitForms(kind: Kind, body: unknown): Written {
  const whole = body as Record<string, unknown>;
  if (kind.body === 'document') {
    const metadata = (whole.metadata ?? {}) as { name?: string; labels?: Record<string, string>; annotations?: Record<string, string> };
    return { name: metadata.name, labels: metadata.labels, annotations: metadata.annotations, spec: whole.spec as Record<string, unknown> };
  }
  const { name, labels, ...rest } = whole;
  const spec = kind.body === 'spec' && isNested(whole) ? whole.spec : rest;
  const flatLabels = kind.body === 'flat' ? undefined : (labels as Record<string, string> | undefined);
  return { name: name as string | undefined, labels: flatLabels, annotations: undefined, spec: kind.body === 'flat' && labels !== undefined ? { ...spec, labels } : spec };
}
