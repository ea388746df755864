/**
 * Who names a resource: before somebody changes or removes it, what has to do with it (`references` of the kinds); with `through`, also
 * who names those, as far as an edit reaches. Who names what does not exist is found too. What a caller may not see he is not told of.
 * Nothing here writes.
 */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { invalid, missing, Refusal } from '../../platform/base/refusal.js';
import { type Caller, mayVisit } from '../../platform/http/caller.js';
import { readFlag } from '../../platform/http/log-query.js';
import { flag, parameters, required, text } from '../../platform/http/parameters.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { type Query, type Route, type RouteColumns, routesFor } from '../../platform/http/route.js';
import { absent } from '../../platform/store/absent.js';
import { pastRows } from '../../platform/store/past-rows.js';
import { referencesOf, type Target, touchedBy, type Touched, type Use, usesOf } from '../../platform/store/references.js';
import type { Store } from '../../platform/store/store.js';
import { Batch } from '../batches/kind.js';
import { wholeOf } from '../batches/past-run.js';
import { Site } from '../plant/kind.js';
import { mayRead } from './readable.js';
import type { Ruled } from '../../platform/store/kind.js';

export interface UsedByDeps {
  readonly store: Store;
  /** What is served, by kind. */
  readonly kinds: readonly Ruled[];
  /** Every row that is served. */
  rows(): readonly RouteColumns[];
}

export const UsedBy = v.strictObject({
  kind: v.string(),
  /** '' for what belongs to the plant. */
  site: v.string(),
  name: v.string(),
  /** False: it is named, and is not there. */
  exists: v.boolean(),
  /** There are more than are told with `through`: what is past is left out first, then what is farthest. */
  truncated: v.boolean(),
  items: v.array(
    v.strictObject({
      kind: v.string(),
      site: v.string(),
      name: v.string(),
      /** Member of its spec that names the resource, or the last of `via`; '' where what it does needs it: a batch at work on a unit. */
      member: v.string(),
      /** It cannot be written without it. */
      required: v.boolean(),
      /** Its presence keeps what it names from being removed (409 `has_dependents`). */
      holds: v.boolean(),
      /** 1: it names the resource; 2: it names one that does. */
      distance: v.number(),
      /** Over whom it is reached: first who names the resource, last whom it names itself. Empty at distance 1. */
      via: v.array(v.strictObject({ kind: v.string(), site: v.string(), name: v.string() })),
    }),
  ),
});
export type UsedBy = ToldBy<typeof UsedBy>;

nameSchemas({ UsedBy });

const route = routesFor<UsedByDeps>();

export const usedByRoutes: readonly Route<UsedByDeps>[] = [
  route({
    method: 'GET',
    path: '/api/v1/used-by',
    action: 'resource:used-by',
    tier: 'read',
    query: parameters({
      kind: required(text('kind of the resource')),
      site: text('its site; left out where it belongs to none'),
      name: required(text('its name')),
      through: flag('also who names those, and so on: what an edit may touch, each resource once'),
    }),
    reply: UsedBy,
    errors: { 403: ['site_scope'], 404: ['not_found', 'unreadable_row'] },
    summary: 'Everything that names a resource, by kind, site and name, and with through what an edit of it may touch',
    async handle({ query, caller }, { store, kinds, rows }): Promise<UsedBy> {
      const target = readTarget(query, kinds);
      const isThrough = readFlag(query, 'through') === true;
      requirePlace(caller, target);
      const lent = pastRows(store).lend([target, ...(target.kind === Batch.kind ? wholeOf(target) : [])]); // nobody learns by the time it takes what lies outside his sites
      if (lent) await lent;
      const kind = kinds.find((each) => each.kind === target.kind) as Ruled;
      const resource = store.get(kind, target.site, target.name);
      const readable = new Map(kinds.filter((each) => mayRead(caller, each, rows())).map((each) => [each.kind, each]));
      if (!readable.has(kind.kind)) throw missing(target.kind, target.name);
      const isTold = (use: Use): boolean => readable.has(use.kind) && isInScope(caller, use);
      const refusal = resource ? undefined : absent(store, kind, target.site, target.name);
      if (refusal?.context.code === 'unreadable_row') throw refusal; // it exists
      const { touched, isCut } = isThrough
        ? await touchedBy(target, store, (name) => readable.get(name), isTold)
        : { touched: (await (resource ? usesOf(kind, resource, store) : referencesOf(store).everUsedBy(target))).filter(isTold).map(direct), isCut: false };
      if (refusal && touched.length === 0) throw refusal; // also where nobody is told of who names it
      const items = touched.map(({ kind, site, name, path, when, holds, distance, via }) => ({ kind, site, name, member: path, required: when === 'write', holds, distance, via }));
      return { ...target, exists: resource !== undefined, truncated: isCut, items };
    },
  }),
];

const direct = (use: Use): Touched => ({ ...use, distance: 1, via: [] });

/** @throws Refusal `invalid_query`. */
function readTarget(query: Query<'kind' | 'site' | 'name'>, kinds: readonly Ruled[]): Target {
  const [named, site, name] = [query.get('kind') ?? '', query.get('site') ?? '', query.get('name') ?? ''];
  const kind = kinds.find((each) => each.kind === named || each.aliases?.includes(named));
  const allowed = kinds.map((each) => each.kind);
  if (!kind)
    throw invalid('invalid_query', 'kind', named === '' ? 'kind must say which kind of resource is meant' : `there is no kind ${named}; use ${allowed.join(', ')}`, { allowed });
  if (name === '') throw invalid('invalid_query', 'name', `name must say which ${kind.kind} is meant`);
  if (kind.scope === 'site' && site === '') throw invalid('invalid_query', 'site', `site must say of which site: a ${kind.kind} belongs to one`);
  if (kind.scope === 'cluster' && site !== '') throw invalid('invalid_query', 'site', `site must be left out: a ${kind.kind} belongs to no site`);
  return { kind: kind.kind, site, name };
}

/** A site itself lies in its own scope; what belongs to the plant is in every scope. */
function isInScope(caller: Caller, { kind, site, name }: Target): boolean {
  const place = kind === Site.kind ? name : site;
  return place === '' || mayVisit(caller, place);
}

/** The site is judged before existence, so that nobody learns what lies outside his sites. @throws Refusal 403 `site_scope`. */
function requirePlace(caller: Caller, target: Target): void {
  if (isInScope(caller, target)) return;
  const site = target.kind === Site.kind ? target.name : target.site;
  throw new Refusal('forbidden', `site ${site} is outside your scope`, { code: 'site_scope', site });
}
