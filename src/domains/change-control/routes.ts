/** Routes of change control (contract 3, Additional routes; decisions Q-CHANGE-01 to 04). */
import * as v from 'valibot';
import { timestamp } from '../../platform/base/clock.js';
import { missing } from '../../platform/base/refusal.js';
import { describeAs } from '../../platform/base/field-words.js';
import { checkResourceName } from '../../platform/base/resource-name.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { oneOf } from '../../platform/http/alternatives.js';
import { mayVisit } from '../../platform/http/caller.js';
import { decode } from '../../platform/http/json-body.js';
import { readChoices, readLogQuery } from '../../platform/http/log-query.js';
import { listPage, listReply, type SortKey, sortedBy } from '../../platform/http/paged-list.js';
import { LIST, LOG, parameters, text, words } from '../../platform/http/parameters.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { etagOf } from '../../platform/http/revision.js';
import { created, inPieces, ok, type Params, type Reply, type RequestContext, routesFor } from '../../platform/http/route.js';
import type { Ref } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { checkTexts } from '../../platform/store/texts.js';
import { pastRows } from '../../platform/store/past-rows.js';
import { BODY_WORDS } from '../../platform/store/field-words.js';
import { approve, type DecideDeps, type OfRequest, reject, requestOf, withdraw } from './decide.js';
import { pastEvidence } from './evidence.js';
import { CHANGE_REQUEST_WORDS } from './field-words.js';
import { ChangeHistory, historyOf } from './history.js';
import { CHANGE_PHASES, ChangeRequest, type ChangeRequestResource, ChangeRequestSpec } from './kind.js';
import { type ListedRequest, listedRequests, readRequest, requestRef } from './past-requests.js';
import { newRequest, nextName, type RequestDeps } from './request.js';
import { changeRequestRules } from './rules.js';
import { CHANGE_CATEGORY } from './trail.js';
import { verifyRequests, type VerifyParts } from './verify.js';
import { ChangeRequestBody, ChangeRequestDetail, requestBody, requestDetail, type ViewDeps } from './view.js';

export interface ChangeRouteDeps extends DecideDeps, RequestDeps, VerifyParts, ViewDeps {
  readonly store: DecideDeps['store'];
  readonly clock: DecideDeps['clock'];
  readonly keys: DecideDeps['keys'];
  readonly kinds: RequestDeps['kinds'];
  readonly queries: VerifyParts['queries'];
}

const route = routesFor<ChangeRouteDeps>();

const ONE = '/api/v1/changerequests/{namespace}/{name}';
const NAMESPACE = /^site-(.+)$/;

type OfPath = { readonly namespace: string; readonly name: string };

/** @throws Refusal 404 of a namespace that is none. */
function placeOf({ namespace, name }: OfPath): OfRequest {
  const site = NAMESPACE.exec(namespace)?.[1];
  if (site === undefined) throw missing('namespace', namespace);
  return { site, name };
}

const exists = (params: OfPath, { store }: ChangeRouteDeps): void => void requestOf(store, placeOf(params));
/** One that is past is read, and refused a decision, as one in memory. */
const pastOf = ({ namespace = '', name = '' }: Params): readonly Ref[] => [requestRef({ site: NAMESPACE.exec(namespace)?.[1] ?? '', name })];
const targetOf = ({ namespace, name }: OfPath) => ({ kind: ChangeRequest.kind, name, site: namespace.replace(NAMESPACE, '$1') });

function served(request: ChangeRequestResource): Reply<ChangeRequestBody> {
  return ok(requestBody(request), { ETag: etagOf(request.metadata.resourceVersion) });
}

const keyOfRequest = ({ name, site }: OfRequest): SortKey => [name, site];

/** Read one by one and as fast as the reader takes them: what was decided long ago is not in memory. */
async function* bodiesOf(items: readonly ListedRequest[], store: Store): AsyncGenerator<string, void> {
  let before = '[';
  for (const item of items) {
    const request = await readRequest(store, item);
    if (!request) continue;
    yield before + JSON.stringify(requestBody(request));
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

// ---------------------------------------------------------------- bodies

/** Signatures are told apart by the rule that they are empty, whatever stands in them. */
const { signatures: _stamped, ...ASKED } = ChangeRequestSpec.entries;
const MEMBERS = { ...ASKED, signatures: v.optional(v.array(v.unknown())) };
const Name = v.optional(v.string());
const Nested = v.strictObject({ name: Name, spec: v.strictObject(MEMBERS) });
const Flat = v.strictObject({ name: Name, ...MEMBERS });

describeAs(Nested, { ...BODY_WORDS, spec: 'What is asked for.' });
describeAs(Nested.entries.spec, CHANGE_REQUEST_WORDS);
describeAs(Flat, { ...BODY_WORDS, ...CHANGE_REQUEST_WORDS });
nameSchemas({ ChangeRequestCreate: Flat, ChangeRequestCreateNested: Nested });

type Asked = v.InferOutput<typeof Nested> | v.InferOutput<typeof Flat>;
const isNested = (body: unknown): body is v.InferOutput<typeof Nested> => typeof body === 'object' && body !== null && 'spec' in body;
const CreateBody = oneOf<v.GenericSchema<unknown, Asked>>([Nested, Flat], (input) => (isNested(input) ? Nested : Flat));

/** @throws Refusal 400 of signatures that are not empty (CHANGE-03). */
function askedSpec(body: Asked): { readonly name: string | undefined; readonly spec: ChangeRequestSpec } {
  const { name, ...flat } = body;
  const { signatures = [], ...members } = isNested(body) ? body.spec : (flat as v.InferOutput<typeof Nested>['spec']);
  const spec = decode(v.strictObject({ spec: ChangeRequestSpec }), { spec: members }).spec;
  checkTexts(spec, undefined, 'spec.');
  if (signatures.length > 0)
    changeRequestRules.admit?.({ ...spec, signatures: signatures as ChangeRequestSpec['signatures'] }, { name: '', site: '', via: 'rest', before: undefined, read: NOBODY });
  return { name, spec };
}

const NOBODY = { get: () => undefined, list: () => [], pastIndex: () => [] };

const Decision = v.strictObject({ reason: v.optional(v.string(), '') });
const Withdrawal = v.strictObject({ reason: v.optional(v.string(), '') });

nameSchemas({ ChangeDecision: Decision, ChangeWithdrawal: Withdrawal });

// ---------------------------------------------------------------- answers

const Backend = v.strictObject({ name: v.string(), type: v.picklist(['internal']), enabled: v.boolean(), default: v.boolean(), description: v.string() });

const BACKENDS: readonly ToldBy<typeof Backend>[] = [
  {
    name: 'builtin',
    type: 'internal',
    enabled: true,
    default: true,
    description: 'Change requests are kept, signed and applied by this appliance.',
  },
];

export const Verification = v.strictObject({
  ok: v.boolean(),
  /** Change requests that were looked at. */
  checked: v.number(),
  firstInvalid: v.nullable(v.strictObject({ name: v.string(), reason: v.string() })),
  checkedAt: v.string(),
});

nameSchemas({ ChangeRequestBackend: Backend, ChangeVerification: Verification });

/** As the record of a step says it; the refusal of one has the same place. */
const decision = (action: 'approve' | 'reject' | 'withdraw') =>
  ({
    method: 'POST',
    path: `${ONE}/${action}`,
    action: `changerequest:${action}`,
    reply: { 200: ChangeRequestBody },
    audit: { action: 'Lifecycle', category: CHANGE_CATEGORY, target: targetOf },
    exists,
    past: pastOf,
  }) as const;

const BY_OTHERS = { 403: ['self_approval', 'action_missing', 'site_scope'], 409: ['change_request_state', 'evidence_mismatch', 'archive_unreadable'] } as const;

type DecisionContext = RequestContext<OfPath, { readonly reason: string }>;

export const changeControlRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/changerequests',
    action: 'changerequest:list',
    tier: 'read',
    query: parameters({ ...LIST, site: text('those of one site'), phase: words(CHANGE_PHASES, 'those that have come so far') }),
    reply: v.array(ChangeRequestBody),
    summary: 'Change requests of the sites of the caller; query site, phase, limit, cursor',
    async handle(context, { store }): Promise<Reply<readonly ChangeRequestBody[]>> {
      const { query, caller } = context;
      const phases = readChoices(query, 'phase', CHANGE_PHASES);
      const site = query.get('site') || undefined;
      const asked = listedRequests(store, site).filter((request) => mayVisit(caller, request.site) && (phases === undefined || phases.includes(request.phase)));
      const items = sortedBy(asked, keyOfRequest);
      const page = listPage(context, { list: 'change requests', items, kept: ['site', 'phase'], keyOf: keyOfRequest });
      return inPieces(bodiesOf(page.items, store), page.headers);
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/sites/{site}/changerequests',
    action: 'changerequest:create',
    tier: 'engineer',
    freshToken: true,
    body: CreateBody,
    reply: { 201: ChangeRequestBody },
    errors: { 400: ['invalid_name', 'unsupported_kind', 'unknown_reference'], 404: ['not_found'], 409: ['already_exists', 'too_many_open'], 422: ['kind_not_applied'] },
    summary: 'Ask for a change: signed by who sends it, and applied when somebody else approves it',
    audit: { action: 'Create', category: CHANGE_CATEGORY, target: ({ site }) => ({ kind: ChangeRequest.kind, name: '*', site }) },
    async handle(context, deps) {
      const { store } = deps;
      const { site } = context.params;
      const { name: given, spec } = askedSpec(context.body);
      if (given !== undefined) checkResourceName(given);
      context.about({ target: { kind: ChangeRequest.kind, name: given ?? '*', site } });
      return pastRows(store).during(pastEvidence(spec, site), async () => {
        context.judgeAgain();
        const name = given ?? nextName(store, site);
        const before = store.get(ChangeRequest, site, name);
        changeRequestRules.admit?.(spec, { name, site, via: 'rest', before, read: store });
        const made = newRequest({ site, name, spec, read: store }, context.caller, deps);
        const { resources } = await store.write({ puts: [{ kind: ChangeRequest, site, name, spec: made.spec, status: made.status }], audits: [context.audit(made.audit)] });
        const request = resources[0] as ChangeRequestResource;
        return created(requestBody(request), `/api/v1/changerequests/site-${site}/${name}`, { ETag: etagOf(request.metadata.resourceVersion) });
      });
    },
  }),
  route({
    method: 'GET',
    path: ONE,
    action: 'changerequest:read',
    tier: 'read',
    reply: ChangeRequestDetail,
    summary: 'One change request: what it would change of the target as it is now, whether that has changed since, and what uses it',
    exists,
    past: pastOf,
    async handle({ params, caller }, deps) {
      const request = requestOf(deps.store, placeOf(params));
      return ok(await requestDetail(request, caller, deps));
    },
  }),
  route({
    ...decision('approve'),
    tier: 'supervise',
    freshToken: true,
    reason: 'nonempty',
    body: Decision,
    errors: { ...BY_OTHERS, 503: ['plant_changing'] },
    summary: 'Approve a change request with a signature; what it holds is applied at once, or the request is Failed and says why',
    handle: async (context, deps) => served(await approve(deps, placeOf(context.params), context.body.reason, context)),
  }),
  route({
    ...decision('reject'),
    tier: 'supervise',
    freshToken: true,
    reason: 'nonempty',
    body: Decision,
    errors: BY_OTHERS,
    summary: 'Reject a change request with a signature',
    handle: async (context, deps) => served(await reject(deps, placeOf(context.params), context.body.reason, context)),
  }),
  route({
    ...decision('withdraw'),
    tier: 'engineer',
    body: Withdrawal,
    errors: { 403: ['not_the_author'], 409: ['change_request_state', 'evidence_mismatch', 'archive_unreadable'] },
    summary: 'Withdraw a change request: its author, or an administrator',
    handle: async (context: DecisionContext, deps: ChangeRouteDeps) => served(await withdraw(deps, placeOf(context.params), context.body.reason, context)),
  }),
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/change-control/history',
    action: 'changecontrol:history',
    tier: 'read',
    query: parameters(LOG),
    reply: ChangeHistory,
    summary: 'What became of the change requests of a site, step by step, the latest first',
    handle: ({ params: { site }, query }, { store, clock }) => historyOf(store, site, readLogQuery(query), clock),
  }),
  route({
    method: 'GET',
    path: '/api/v1/change-control/verify',
    action: 'changecontrol:verify',
    tier: 'supervise',
    reply: Verification,
    summary: 'Whether every change request is what was signed, recorded and applied; of the sites of the caller',
    async handle({ caller }, deps): Promise<ToldBy<typeof Verification>> {
      const { checked, problems } = await verifyRequests(deps, (site) => mayVisit(caller, site));
      const [first] = problems;
      const firstInvalid = first ? { name: first.name, reason: `site ${first.site}: ${first.problem}` } : null;
      return { ok: problems.length === 0, checked, firstInvalid, checkedAt: timestamp(deps.clock.wallMs()) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/system/changerequest-backends',
    action: 'changerequest:backends',
    tier: 'read',
    query: parameters(LIST),
    reply: v.array(Backend),
    summary: 'Where change requests are kept; query limit, cursor',
    handle: (context) => listReply(context, { list: 'change request backends', items: BACKENDS, keyOf: ({ name }) => [name], render: (backend) => backend }),
  }),
];
