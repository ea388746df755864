/** Legal holds (ADR 0132): set, looked at and lifted. Judged and written in one turn, so that nothing leaves between the two. */
import * as v from 'valibot';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { conflict, invalid, missing, Refusal } from '../../platform/base/refusal.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { type Caller, mayVisit } from '../../platform/http/caller.js';
import { readInstant } from '../../platform/http/instant-field.js';
import { parameters, word } from '../../platform/http/parameters.js';
import { readWord } from '../../platform/http/log-query.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { created, type Route, routesFor } from '../../platform/http/route.js';
import { Required } from '../../platform/store/fields.js';
import type { Put, Store } from '../../platform/store/store.js';
import { Batch } from '../batches/kind.js';
import { Site } from '../plant/kind.js';
import { BatchRecord, listedOf, type PastRecord } from '../records/kind.js';
import { timeOfBatch } from './holds.js';
import { type HeldSpan, LegalHold, type LegalHoldResource, LegalHoldScope, type LegalHoldSpec } from './kind.js';
import { spanOfBatch } from './span-of-batch.js';

export interface LegalHoldDeps {
  readonly store: Store;
  readonly clock: Clock;
}

const PATH = '/api/v1/legal-holds';
const RECORDS_MAX = 1000;
const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const route = routesFor<LegalHoldDeps>();

const HoldRequest = v.strictObject({
  name: Required,
  reason: v.string(),
  scope: v.strictObject({
    site: Required,
    batchRecords: v.optional(v.pipe(v.array(Required), v.minLength(1), v.maxLength(RECORDS_MAX))),
    from: v.optional(v.string()),
    to: v.optional(v.string()),
  }),
});
const HoldBody = v.strictObject({
  name: v.string(),
  state: v.picklist(['Standing', 'Lifted']),
  reason: v.string(),
  scope: LegalHoldScope,
  setBy: v.string(),
  setAt: v.string(),
  liftedBy: v.string(),
  liftedAt: v.string(),
  liftReason: v.string(),
});
type HoldBody = ToldBy<typeof HoldBody>;
const HoldDetail = v.strictObject({
  ...HoldBody.entries,
  /** Batch records in its scope, by name; the first thousand. */
  holds: v.array(v.string()),
  holdsTotal: v.number(),
});

nameSchemas({ LegalHoldRequest: HoldRequest, LegalHoldBody: HoldBody, LegalHoldDetail: HoldDetail });

export const legalHoldRoutes: readonly Route<LegalHoldDeps>[] = [
  route({
    method: 'POST',
    path: PATH,
    action: 'legalhold:create',
    tier: 'admin',
    reason: 'policy',
    body: HoldRequest,
    reply: HoldBody,
    errors: { 400: ['invalid_name', 'unknown_reference'], 403: ['site_scope'], 409: ['already_exists'] },
    summary: 'Set a legal hold on a site, on batch records, or on what ran in a time: nothing of it is removed until it is lifted',
    audit: { action: 'Create', category: 'legal-hold', target: () => ({ kind: LegalHold.kind, name: '', site: '' }) },
    async handle(context, { store, clock }) {
      const { name, reason } = context.body;
      if (!NAME.test(name)) throw invalid('invalid_name', 'name', `name ${name} must be small letters, digits and hyphens, at most 63`);
      requireScope(context.caller, context.body.scope.site);
      const scope = scopeOf(context.body.scope, store);
      const spans = await spansOf(store, scope);
      context.judgeAgain();
      scopeOf(context.body.scope, store); // what was there may have gone while its record was read
      const { caller } = context;
      requireScope(caller, scope.site);
      if (store.get(LegalHold, '', name)) throw conflict('already_exists', `there is a legal hold ${name}; names are not used again`);
      const { accountId, displayName } = caller;
      const spec: LegalHoldSpec = { reason: reason.trim(), scope, spans, setBy: { accountId, displayName }, setAt: timestamp(clock.wallMs()) };
      const target = { kind: LegalHold.kind, name, site: '' };
      await store.write({
        puts: [{ kind: LegalHold, site: '', name, spec } as Put],
        audits: [context.audit({ site: scope.site, target, operatorReason: spec.reason, after: { scope } })],
      });
      return created(bodyOf(requireHold(store, name, caller)), `${PATH}/${name}`);
    },
  }),
  route({
    method: 'GET',
    path: PATH,
    action: 'legalhold:list',
    tier: 'read',
    query: parameters({ state: word(['Standing', 'Lifted']) }),
    reply: v.strictObject({ items: v.array(HoldBody) }),
    summary: 'Legal holds, those that were lifted too; query state',
    handle({ query, caller }, { store }) {
      const state = readWord(query, 'state', ['Standing', 'Lifted']);
      const seen = store.list(LegalHold).filter(({ spec }) => mayVisit(caller, spec.scope.site));
      return { items: seen.map(bodyOf).filter((hold) => state === undefined || hold.state === state) };
    },
  }),
  route({
    method: 'GET',
    path: `${PATH}/{name}`,
    action: 'legalhold:read',
    tier: 'read',
    reply: HoldDetail,
    summary: 'One legal hold, with the batch records in its scope',
    handle({ params, caller }, { store }) {
      const hold = requireHold(store, params.name, caller);
      const names = recordsIn(store, hold.spec.scope);
      return { ...bodyOf(hold), holds: names.slice(0, RECORDS_MAX), holdsTotal: names.length };
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/{name}/lift`,
    action: 'legalhold:lift',
    tier: 'admin',
    reason: 'policy',
    body: v.strictObject({ reason: v.string() }),
    reply: { 200: HoldBody },
    errors: { 404: ['not_found'], 409: ['legal_hold_lifted'] },
    summary: 'Lift a legal hold; it stays listed, and what it kept is treated as all else again',
    audit: { action: 'Update', category: 'legal-hold', target: ({ name }) => ({ kind: LegalHold.kind, name, site: '' }) },
    async handle({ params, body, caller, audit }, { store, clock }) {
      const { spec, status } = requireHold(store, params.name, caller);
      if (status.lifted) throw conflict('legal_hold_lifted', `legal hold ${params.name} was lifted by ${status.lifted.by.displayName} at ${status.lifted.at}`);
      const { accountId, displayName } = caller;
      const lifted = { by: { accountId, displayName }, at: timestamp(clock.wallMs()), reason: body.reason.trim() };
      const target = { kind: LegalHold.kind, name: params.name, site: '' };
      await store.write({
        puts: [{ kind: LegalHold, site: '', name: params.name, status: { lifted } } as Put],
        audits: [
          audit({ site: spec.scope.site, target, operatorReason: lifted.reason, before: { state: 'Standing' }, after: { state: 'Lifted' }, details: { scope: spec.scope } }),
        ],
      });
      return bodyOf(requireHold(store, params.name, caller));
    },
  }),
];

/** A deployment may grant it to somebody who is confined. @throws Refusal 403, before anything is said of what is there. */
function requireScope(caller: Caller, site: string): void {
  if (!mayVisit(caller, site)) throw new Refusal('forbidden', `site ${site} is outside your scope`, { code: 'site_scope', site });
}

/** Of a site that he may not visit nobody learns whether there is one. */
function requireHold(store: Store, name: string, caller: Caller): LegalHoldResource {
  const found = store.get(LegalHold, '', name);
  if (!found || !mayVisit(caller, found.spec.scope.site)) throw missing('legal hold', name);
  return found;
}

function bodyOf({ metadata: { name }, spec: { reason, scope, setBy, setAt }, status: { lifted } }: LegalHoldResource): HoldBody {
  return {
    name,
    state: lifted ? 'Lifted' : 'Standing',
    reason,
    scope,
    setBy: setBy.displayName,
    setAt,
    liftedBy: lifted?.by.displayName ?? '',
    liftedAt: lifted?.at ?? '',
    liftReason: lifted?.reason ?? '',
  };
}

type Given = v.InferOutput<typeof HoldRequest>['scope'];

/** @throws Refusal 400 naming the field. */
function scopeOf({ site, batchRecords = [], from = '', to = '' }: Given, store: Store): LegalHoldScope {
  if (!store.get(Site, '', site)) throw invalid('unknown_reference', 'scope.site', `site ${site} does not exist`);
  const isOfTime = from !== '' || to !== '';
  if (isOfTime && batchRecords.length > 0) throw invalid('invalid_field', 'scope.from', 'scope.from and scope.to must be left out where scope.batchRecords names records');
  batchRecords.forEach((name, at) => {
    if (!timeOfBatch(store, site, name)) throw unknownRecord(store, site, name, `scope.batchRecords[${at}]`);
  });
  if (!isOfTime) return { site, batchRecords: [...new Set(batchRecords)].sort(), from: '', to: '' };
  const open = from === '' ? 'scope.from' : to === '' ? 'scope.to' : undefined;
  if (open !== undefined) throw invalid('invalid_field', open, `${open} is needed: a hold on a time has both ends, scope.from and scope.to`);
  const [fromMs, toMs] = [readInstant(from, 'scope.from'), readInstant(to, 'scope.to')];
  if (fromMs > toMs) throw invalid('invalid_field', 'scope.to', 'scope.to must not be before scope.from');
  return { site, batchRecords: [], from: timestamp(fromMs), to: timestamp(toMs) };
}

/** Who gives a batchID is told what the record of it is called. */
function unknownRecord(store: Store, site: string, given: string, field: string): Refusal {
  const known = [
    ...store.list(BatchRecord, site).map((record) => ({ name: record.metadata.name, batchID: listedOf(record).batchID })),
    ...store.pastIndex<PastRecord>(BatchRecord, site).map(({ name, entry }) => ({ name, batchID: entry.batchID })),
    ...store.list(Batch, site).map(({ metadata, spec }) => ({ name: metadata.name, batchID: spec.batchID })),
  ];
  const names = [...new Set(known.filter(({ batchID }) => batchID === given).map(({ name }) => name))];
  const meant =
    names.length === 0 ? '; records are named as in column record of lineside records list, not by batchID' : `; ${given} is a batchID, and its record is ${names.join(' or ')}`;
  return invalid('unknown_reference', field, `there is neither a batch record nor a batch ${given} in site ${site}${meant}`, { name: given });
}

/** What the historian keeps for it: of a batch its units, of a time all that was there. */
async function spansOf(store: Store, { site, batchRecords, from, to }: LegalHoldScope): Promise<HeldSpan[]> {
  if (batchRecords.length === 0) return [{ site, units: [], from, to }];
  const spans: HeldSpan[] = [];
  for (const name of batchRecords) spans.push(await spanOfBatch(store, site, name));
  return spans;
}

function recordsIn(store: Store, scope: LegalHoldScope): string[] {
  const { site, batchRecords } = scope;
  if (batchRecords.length > 0) return [...batchRecords];
  const present = store.list(BatchRecord, site).map(({ metadata }) => metadata.name);
  const names = new Set([...present, ...store.pastIndex(BatchRecord, site).map(({ name }) => name), ...store.list(Batch, site).map(({ metadata }) => metadata.name)]);
  const isIn = (name: string): boolean => {
    if (scope.from === '') return true;
    const time = timeOfBatch(store, site, name);
    return time !== undefined && time.from <= scope.to && (time.to === '' || time.to >= scope.from);
  };
  return [...names].filter(isIn).sort();
}
