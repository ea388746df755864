/**
 * Alarms as they are read, acknowledged, shelved and cleaned up (contract 2, Alarms; decisions ALARM). They are made by the
 * system or restored by apply, never created or edited over these routes.
 */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { Clock } from '../../platform/base/clock.js';
import { parseDuration } from '../../platform/base/duration-text.js';
import { checkReason } from '../../platform/http/reason.js';
import { conflict, invalid, missing } from '../../platform/base/refusal.js';
import type { Caller } from '../../platform/http/caller.js';
import { readChoice, readLogQuery, wordsOf } from '../../platform/http/log-query.js';
import { listReply, those } from '../../platform/http/paged-list.js';
import { checkIfMatch, etagOfBody } from '../../platform/http/revision.js';
import { LIST, LOG, parameters, text, texts, word } from '../../platform/http/parameters.js';
import { factPage, type ToldBy } from '../../platform/http/replies.js';
import { done, ok, type Query, rendered, type Route, routesFor } from '../../platform/http/route.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import type { AuditTarget } from '../../platform/store/audit-record.js';
import type { Store } from '../../platform/store/store.js';
import type { AlarmRegister } from './alarm-register.js';
import { AlarmEvent, alarmStream } from './alarm-event.js';
import { isShelved, unshelved } from './counts.js';
import { ALARM_FILTER, AlarmBody, alarmDto, readAlarmFilter } from './dto.js';
import { Alarm, ALARM_SEVERITIES, ALARM_STATES, type AlarmResource } from './kind.js';
import { metricsRoutes } from './metrics-routes.js';
import { ALARM_EVENT_WORDS, shelfObstacle } from './transitions.js';
import { unstoredAlarms } from './unstored-alarms.js';
import { type WhatIfDeps, whatIfRoutes } from './what-if.js';

export interface AlarmRouteDeps extends WhatIfDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly register: AlarmRegister;
  readonly facts: Pick<LedgerQueries, 'factPageJson' | 'timedFacts'>;
  /** Whether the alarms of a definition can come and go now. */
  readonly isEvaluable: (site: string, definition: string) => boolean;
  /** Setting `alarms.maxShelveDuration`. */
  readonly shelveMaxMs: number;
  /** Setting `commands.reasonPolicy`: letters of a reason that is given. */
  readonly reasonLengthMin: number;
}

type Named = { readonly site: string; readonly name: string };

/** Parameters that the way on to the next page keeps. */
const LIST_QUERY = { name: texts(), ...ALARM_FILTER };
const COMMENT_LENGTH_MAX = 1024; // decisions Q-ALARM-03
const SHELVE_MIN_MS = 1000; // decisions Q-ALARM-05
const SHELVE_TEXT = /^(\d+(\.\d+)?[smh])+$/;
const FAMILY = '/api/v1/sites/{site}/alarms';
const ALARM = `${FAMILY}/{name}` as const;
/** As it is at the time of the reply; the verdict may follow. */
const Answer = v.strictObject({
  ok: v.literal(true),
  name: v.string(),
  state: v.picklist(ALARM_STATES),
  acknowledgedBy: v.string(),
  shelved: v.boolean(),
  shelvedUntil: v.string(),
  message: v.string(),
});
type Answer = ToldBy<typeof Answer>;

nameSchemas({ AlarmAnswer: Answer });

const route = routesFor<AlarmRouteDeps>();
const exists = ({ site, name }: Named, { store }: AlarmRouteDeps): void => void requireAlarm(store, site, name);
const target = ({ site, name }: Named): AuditTarget => ({ kind: Alarm.kind, name, site });

const EVENT_QUERY = { alarm: text(), definition: text(), severity: word(ALARM_SEVERITIES), unit: text(), event: word(ALARM_EVENT_WORDS) };

export const alarmRoutes: readonly Route<AlarmRouteDeps>[] = [
  route({
    method: 'GET',
    path: FAMILY,
    action: 'alarm:list',
    tier: 'read',
    query: parameters({ ...LIST, ...LIST_QUERY }),
    reply: v.array(AlarmBody),
    summary: 'Alarms of the site; query name, state, severity, type, source, unit, definition, shelved, active, limit, cursor',
    handle: async ({ params, path, query }, deps) => {
      const names = wordsOf(query, 'name')?.split(',');
      const asked = readAlarmFilter(query);
      const found = unstoredAlarms(deps.store).list(params.site);
      const isFiltered = Object.keys(ALARM_FILTER).some((name) => query.all(name as keyof typeof ALARM_FILTER).length > 0);
      const items = names || isFiltered ? await those(found, (alarm) => names?.includes(alarm.metadata.name) !== false && asked(served(alarm, deps))) : found;
      return listReply(
        { path, query },
        { list: 'alarms', items, kept: Object.keys(LIST_QUERY) as (keyof typeof LIST_QUERY)[], keyOf: ({ metadata }) => [metadata.name], render: (alarm) => served(alarm, deps) },
      );
    },
  }),
  route({
    method: 'GET',
    path: ALARM,
    action: 'alarm:read',
    tier: 'read',
    reply: AlarmBody,
    summary: 'One alarm',
    exists,
    handle({ params }, deps) {
      const alarm = requireAlarm(deps.store, params.site, params.name);
      const body = served(alarm, deps);
      return ok(body, { ETag: etagOfBody(alarm.metadata.resourceVersion, body) });
    },
  }),
  route({
    method: 'POST',
    path: `${ALARM}/acknowledge`,
    action: 'alarm:acknowledge',
    tier: 'operate',
    body: v.strictObject({ comment: v.optional(v.pipe(v.string(), v.maxLength(COMMENT_LENGTH_MAX)), '') }),
    reply: Answer,
    summary: 'Records who acknowledges; the alarm controller gives its verdict',
    audit: { action: 'Acknowledge', category: 'alarm', target },
    exists,
    async handle({ params, body, caller, correlationID, audit }, deps) {
      const { metadata, spec, status } = requireAlarm(deps.store, params.site, params.name);
      const { accountId, displayName } = caller;
      const acknowledging = [...(status.acknowledging ?? []), { accountId, displayName, correlationID, comment: body.comment }];
      const draft = audit({ target: target(params), result: 'Accepted', ...(body.comment ? { details: { comment: body.comment } } : {}) });
      await deps.register.write({ site: metadata.site, name: metadata.name, spec, status: { ...status, acknowledging } }, { audits: [draft] }).durable;
      return answer(params, deps, `acknowledgement of alarm ${params.name} recorded`);
    },
  }),
  route({
    method: 'POST',
    path: `${ALARM}/shelve`,
    action: 'alarm:shelve',
    tier: 'operate',
    body: v.strictObject({ duration: v.string(), reason: v.optional(v.string()) }),
    reply: Answer,
    errors: { 400: ['reason_too_short', 'reason_too_long'], 409: ['not_active_acknowledged'] },
    summary: 'Suppresses the annunciation of an active, acknowledged alarm for a time',
    audit: { action: 'Shelve', category: 'alarm', target },
    exists,
    async handle({ params, body, caller, audit }, deps) {
      const durationMs = readShelf(body.duration, deps.shelveMaxMs);
      const reason = body.reason === undefined ? '' : checkReason(body.reason, deps.reasonLengthMin);
      const alarm = requireAlarm(deps.store, params.site, params.name);
      refuse('shelve', alarm, deps.store);
      const { until: shelvedUntil, term } = deps.store.terms.begin(durationMs);
      const draft = audit({ target: target(params), details: { duration: body.duration, shelvedUntil, ...(reason === '' ? {} : { operatorReason: reason }) } });
      const { metadata, spec, status } = alarm;
      const shelf = { ...unshelved(status), shelvedUntil, shelvedBy: caller.displayName, shelf: term, ...(reason === '' ? {} : { shelfReason: reason }) };
      await deps.register.write({ site: metadata.site, name: metadata.name, spec, status: shelf, event: 'Shelved', by: by(caller), comment: reason }, { audits: [draft] }).durable;
      return answer(params, deps, `alarm ${params.name} is shelved until ${shelvedUntil}`);
    },
  }),
  route({
    method: 'POST',
    path: `${ALARM}/unshelve`,
    action: 'alarm:unshelve',
    tier: 'operate',
    reply: Answer,
    errors: { 409: ['not_shelved'] },
    summary: 'Ends a shelf; annunciation resumes while the condition is active',
    audit: { action: 'Unshelve', category: 'alarm', target },
    exists,
    async handle({ params, caller, audit }, deps) {
      const alarm = requireAlarm(deps.store, params.site, params.name);
      refuse('unshelve', alarm, deps.store);
      const { metadata, spec, status } = alarm;
      const draft = audit({ target: target(params), details: { shelvedUntil: status.shelvedUntil, shelvedBy: status.shelvedBy } });
      const bare = unshelved(status);
      await deps.register.write({ site: metadata.site, name: metadata.name, spec, status: bare, event: 'Unshelved', by: by(caller) }, { audits: [draft] }).durable;
      return answer(params, deps, `alarm ${params.name} is no longer shelved`);
    },
  }),
  route({
    method: 'DELETE',
    path: ALARM,
    action: 'alarm:delete',
    tier: 'engineer',
    errors: { 409: ['alarm_unacknowledged', 'legal_hold'] },
    summary: 'Cleanup of an acknowledged alarm; a condition that is still true raises a new one',
    audit: { action: 'Delete', category: 'alarm', target },
    exists,
    async handle({ params, caller, audit, header }, deps) {
      const alarm = requireAlarm(deps.store, params.site, params.name);
      const { metadata, spec, status } = alarm;
      const { site, name } = metadata;
      checkIfMatch(header('if-match'), metadata.resourceVersion, () => etagOfBody(metadata.resourceVersion, served(alarm, deps)));
      if (status.state.endsWith('Unacknowledged')) throw conflict('alarm_unacknowledged', `alarm ${name} is ${status.state}; acknowledge it first`, { alarm: name });
      const draft = audit({ target: target(params), before: { ...spec, state: status.state } });
      await deps.register.write({ site, name, spec, status, event: 'Deleted', by: by(caller) }, { audits: [draft], remove: true }).durable;
      return done();
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/alarmevents',
    action: 'alarm:history',
    tier: 'read',
    query: parameters({ ...LOG, ...EVENT_QUERY }),
    reply: factPage(AlarmEvent),
    summary: 'History of the alarms of a site, newest first; query from, to, alarm, definition, severity, unit, event, order, limit, cursor',
    handle: async ({ params, query }, { facts }) => rendered(await facts.factPageJson(alarmStream(params.site), { ...readLogQuery(query), equals: equalsOf(query) })),
  }),
  ...metricsRoutes,
  ...whatIfRoutes,
];

/** Query parameter to member of an event. */
const EVENT_FILTERS = { alarm: 'alarm', definition: 'definitionRef', severity: 'severity', unit: 'unit', event: 'event' } as const;

/** @throws Refusal `invalid_query` for a word there is not. */
function equalsOf(query: Query<keyof typeof EVENT_QUERY>): Record<string, string> {
  readChoice(query, 'severity', ALARM_SEVERITIES);
  readChoice(query, 'event', ALARM_EVENT_WORDS);
  return Object.fromEntries(
    (Object.keys(EVENT_FILTERS) as (keyof typeof EVENT_FILTERS)[]).flatMap((parameter) => {
      const member = EVENT_FILTERS[parameter];
      const value = query.get(parameter);
      return value === undefined || value === '' ? [] : [[member, value]];
    }),
  );
}

function requireAlarm(store: Store, site: string, name: string): AlarmResource {
  const alarm = unstoredAlarms(store).get(site, name);
  if (!alarm) throw missing('Alarm', name);
  return alarm;
}

function served(alarm: AlarmResource, { store, isEvaluable }: AlarmRouteDeps): AlarmBody {
  const { spec, status, metadata } = alarm;
  const evaluable = spec.definitionRef === '' ? status.origin === 'system' : isEvaluable(metadata.site, spec.definitionRef);
  return alarmDto(alarm, store.terms, evaluable);
}

function answer({ site, name }: Named, { store }: AlarmRouteDeps, message: string): Answer {
  const { status } = requireAlarm(store, site, name);
  const { state, acknowledgedBy, shelvedUntil } = status;
  return { ok: true, name, state, acknowledgedBy, shelved: isShelved(status, store.terms), shelvedUntil, message };
}

function by({ accountId, displayName }: Caller): { readonly accountId: string; readonly displayName: string } {
  return { accountId, displayName };
}

/** @throws Refusal 409: shelve outside ActiveAcknowledged, unshelve with no shelf in effect. */
function refuse(verb: 'shelve' | 'unshelve', { metadata: { name }, status }: AlarmResource, { terms }: Store): void {
  const why = shelfObstacle(verb, name, status, terms);
  if (why !== '') throw conflict(verb === 'shelve' ? 'not_active_acknowledged' : 'not_shelved', why, { state: status.state });
}

/** @throws Refusal `invalid_field` with the longest duration there is (decisions Q-ALARM-05). */
function readShelf(text: string, maxMs: number): number {
  const ms = SHELVE_TEXT.test(text) ? (parseDuration(text) ?? 0) : 0;
  const max = `${maxMs / 1000}s`;
  if (ms < SHELVE_MIN_MS || ms > maxMs) throw invalid('invalid_field', 'duration', `duration must be a duration such as 30m or 1h30m, from 1s to ${max}`, { max });
  return ms;
}
