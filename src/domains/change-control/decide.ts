/**
 * Approve, reject and withdraw (CHANGE-08; decisions Q-CHANGE-02, Q-CHANGE-03; ADR 0111). An approval applies what was asked for as if the
 * approver had applied it, in the transaction that moves the request: whatever happens to the box, both are there or neither.
 *
 * Invariant: between the last look at a request and its write there is no wait; of two who decide at once one is told that it is decided.
 */
import { assert } from '../../platform/base/assert.js';
import { timestamp, type Clock } from '../../platform/base/clock.js';
import { conflict, missing, Refusal } from '../../platform/base/refusal.js';
import { unreadPart } from '../../platform/ledger/unread.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import { type Caller, mayVisit } from '../../platform/http/caller.js';
import type { BoundRoute, Params, RequestContext } from '../../platform/http/route.js';
import { absent } from '../../platform/store/absent.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import type { Put, Store } from '../../platform/store/store.js';
import { applyManifests, type Beside } from '../apply/apply.js';
import { specChanges } from '../apply/changes.js';
import type { ApplyActor, ApplyDeps } from '../apply/context.js';
import type { SigningKeys } from '../signatures/signature.js';
import { type ChangedValue, type ChangePhase, ChangeRequest, type ChangeRequestResource, type ChangeRequestStatus } from './kind.js';
import { authorOf, leftMsOf, refuseMove, refuseSelf } from './rules.js';
import { decidedContent, requestProblems, stampSignature } from './signing.js';
import { digestOf, present, requireAction, scopeOf, targetOf, type TargetPlace } from './target.js';
import { CHANGE_CATEGORY, trailOf, trailProblems } from './trail.js';

export interface DecideDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly keys: SigningKeys;
  readonly queries: Pick<LedgerQueries, 'auditOf'>;
  /** Without the gate of change control: an approval is what passes it. */
  readonly applying: ApplyDeps;
  /** Setting `changeControl.allowSelfApproval`, or authentication is off. */
  readonly selfApproval: boolean;
  /** The row that deletes what an action of that name deletes. */
  deletes(action: string): BoundRoute | undefined;
  /** Told of a request that is not what was signed. */
  mismatch(target: { readonly kind: string; readonly name: string; readonly site: string }, problem: string): void;
}

export interface OfRequest {
  readonly site: string;
  readonly name: string;
}

type Context = RequestContext<Params, unknown>;

/** More, nobody reads; how many there were is told by the record of the target. */
const CHANGES_KEPT_MAX = 200;
/** Of who approves, or of the request itself: they leave it as it is. */
const NOT_OF_THE_REQUEST: readonly string[] = ['action_missing', 'site_scope', 'self_approval', 'change_request_state', 'evidence_mismatch', 'archive_unreadable'];

export function requestOf(store: Store, { site, name }: OfRequest): ChangeRequestResource {
  const request = store.get(ChangeRequest, site, name);
  if (!request) throw absent(store, ChangeRequest, site, name, 'change request');
  return request;
}

export async function approve(deps: DecideDeps, ref: OfRequest, reason: string, context: Context): Promise<ChangeRequestResource> {
  const request = await genuine(deps, ref, 'approve', context);
  const { manifest, operation } = request.spec;
  const target = targetOf(request.spec, ref.site, deps.applying.kinds);
  if (operation !== 'Delete' && manifest === undefined) return decided(deps, request, 'Approved', reason, context);
  try {
    if (operation === 'Delete') await remove(deps, request, target, reason, context);
    else await apply(deps, request, target, reason, context);
    return requestOf(deps.store, ref);
  } catch (fault) {
    if (!(fault instanceof Refusal) || !isOfRequest(fault)) throw fault;
    context.judgeAgain();
    return decided(deps, stillOpen(deps, request, 'approve', context), 'Failed', reason, context, fault.message);
  }
}

export async function reject(deps: DecideDeps, ref: OfRequest, reason: string, context: Context): Promise<ChangeRequestResource> {
  return decided(deps, await genuine(deps, ref, 'reject', context), 'Rejected', reason, context);
}

/** By its author, or who may administer (decisions Q-CHANGE-03). @throws Refusal 403 `not_the_author`. */
export async function withdraw(deps: DecideDeps, ref: OfRequest, reason: string, context: Context): Promise<ChangeRequestResource> {
  const request = await genuine(deps, ref, 'withdraw', context);
  return decided(deps, request, 'Withdrawn', reason, context);
}

/** An action that administrators alone hold: there is none for a withdrawal of another's request. */
const ADMINISTERS = 'user:update';

/**
 * The request, when it can be decided by the caller and is what was signed and told; what is looked up in the trail takes a wait, and all
 * else is judged after it.
 */
async function genuine(deps: DecideDeps, ref: OfRequest, by: 'approve' | 'reject' | 'withdraw', context: Context): Promise<ChangeRequestResource> {
  for (;;) {
    const request = requestOf(deps.store, ref);
    refuseWho(deps, request, by, context);
    const problems = requestProblems(request, deps.keys);
    const trail = await trailOf(deps.queries, ref.site, ref.name);
    context.judgeAgain();
    if (requestOf(deps.store, ref) !== request) continue; // decided while the trail was read
    refuseWho(deps, request, by, context);
    const told = [...problems, ...trailProblems(request, trail)];
    const [first] = told;
    if (first === undefined) return request;
    const isUnread = problems.length === 0 && trail.unreadable.length > 0;
    if (isUnread)
      throw conflict('archive_unreadable', `change request ${ref.name} cannot be compared with the audit trail: ${unreadPart(trail.unreadable)}`, { files: trail.unreadable });
    deps.mismatch({ kind: ChangeRequest.kind, ...ref }, first);
    throw conflict('evidence_mismatch', `change request ${ref.name} is not what was recorded: ${told.join('; ')}; nothing is done with it, make another one`, { problems: told });
  }
}

function refuseWho({ store, selfApproval }: DecideDeps, request: ChangeRequestResource, by: 'approve' | 'reject' | 'withdraw', { caller }: Context): void {
  if (by === 'withdraw') refuseOthers(request, caller);
  else refuseSelf(request, caller.accountId, selfApproval);
  refuseMove(request, by, leftMsOf(request, store.terms));
}

function refuseOthers(request: ChangeRequestResource, caller: Caller): void {
  if (authorOf(request) === caller.accountId || caller.may(ADMINISTERS)) return;
  const message = `change request ${request.metadata.name} is that of ${request.status.author}, who can withdraw it, or an administrator; you can reject it where you may`;
  throw new Refusal('forbidden', message, { code: 'not_the_author' });
}

/** In the turn of the write. @throws Refusal 409 `change_request_state` when somebody else was faster. */
function stillOpen(deps: DecideDeps, request: ChangeRequestResource, by: 'approve', context: Context): ChangeRequestResource {
  const { site, name } = request.metadata;
  const now = requestOf(deps.store, { site, name });
  refuseWho(deps, now, by, context);
  if (now !== request) throw conflict('change_request_state', `change request ${name} was written meanwhile; look at it again`, { phase: now.status.phase });
  return now;
}

/** What is wrong with what was asked for, now; who may not approve it, or cannot for the moment, leaves it as it is. */
function isOfRequest({ kind, context: { code = '' } }: Refusal): boolean {
  return kind !== 'unavailable' && kind !== 'unauthenticated' && kind !== 'limited' && !NOT_OF_THE_REQUEST.includes(code);
}

async function apply(deps: DecideDeps, request: ChangeRequestResource, target: TargetPlace, reason: string, context: Context): Promise<void> {
  const { site, name } = request.metadata;
  requireAction(context.caller, 'apply:create', `applying change request ${name}`);
  const actor: ApplyActor = {
    displayName: context.caller.displayName,
    changeRequest: name,
    get sites() {
      return context.caller.sites;
    },
    may: (action) => context.caller.may(action),
    judgeAgain: () => context.judgeAgain(),
    audit: (entry) => context.audit(naming(entry, request)),
  };
  await applyManifests([request.spec.manifest], actor, deps.applying, {
    site,
    beside: ({ outcomes, auditOffset }): Beside => {
      const [outcome] = outcomes;
      const put = outcome?.puts.find((each) => each.kind.kind === target.kind.kind && each.name === target.name && each.site === target.site);
      const before = requireBase(deps, stillOpen(deps, request, 'approve', context), target);
      const after = put?.spec === undefined ? before : put.spec;
      const changes = outcome?.changes() ?? [];
      return applied(deps, request, digestOf(target.kind, after), changes, reason, context, auditOffset);
    },
  });
}

/** As its own DELETE would, in the transaction that moves the request. */
async function remove(deps: DecideDeps, request: ChangeRequestResource, target: TargetPlace, reason: string, context: Context): Promise<void> {
  const { kind, site, name } = target;
  const action = `${kind.action}:delete`;
  requireAction(context.caller, action, `deleting ${kind.kind} ${name}`);
  const scope = scopeOf(target);
  if (scope !== '' && !mayVisit(context.caller, scope)) throw new Refusal('forbidden', `site ${scope} is outside your scope`, { code: 'site_scope', site: scope });
  const row = deps.deletes(action);
  assert(row, 'a request to delete is taken of kinds that a route deletes');
  const found = present(target, deps.store);
  if (!found) throw missing(kind.kind, name);
  const changes = specChanges(kind, found.spec, undefined);
  const params: Params = { name, ...(site === '' ? {} : { site }) };
  let isAsked = false;
  row.exists?.(params);
  row.barrier?.(params, context.caller, NO_QUERY);
  await row.handle({
    params,
    body: undefined,
    query: NO_QUERY,
    caller: context.caller,
    correlationID: context.correlationID,
    sourceIP: context.sourceIP,
    method: 'DELETE',
    path: context.path,
    secure: context.secure,
    format: 'json',
    header: () => undefined,
    judgeAgain: () => context.judgeAgain(),
    audit: (entry) => context.audit(naming({ site: scope, action: 'Delete', category: kind.action, ...entry, details: { ...entry.details, via: 'change-request' } }, request)),
    about: () => undefined,
    audited: context.audited,
    beside: () => {
      isAsked = true;
      requireBase(deps, stillOpen(deps, request, 'approve', context), target);
      return applied(deps, request, '', changes, reason, context, 1);
    },
  });
  assert(isAsked, 'a row that deletes writes what stands beside it');
}

const NO_QUERY = { get: () => undefined, all: () => [] };

function naming(entry: Partial<AuditDraft>, { metadata: { name }, spec }: ChangeRequestResource): Partial<AuditDraft> {
  return { operatorReason: spec.reason, ...entry, details: { ...entry.details, changeRequest: name } };
}

/** @returns the spec of the target. @throws Refusal 409 `base_changed` where it is not the one that the request was made for. */
function requireBase({ store }: DecideDeps, { metadata, status }: ChangeRequestResource, target: TargetPlace): unknown {
  const spec = present(target, store)?.spec;
  if (digestOf(target.kind, spec) === status.baseDigest) return spec;
  const what = `${target.kind.kind} ${target.name}`;
  const how = status.baseDigest === '' ? `${what} was made` : spec === undefined ? `${what} was removed` : `${what} was changed`;
  throw conflict('base_changed', `${how} after change request ${metadata.name} was made at ${status.createdAt}; make another request for what is there now`);
}

function applied(
  deps: DecideDeps,
  request: ChangeRequestResource,
  appliedDigest: string,
  changes: readonly ChangedValue[],
  reason: string,
  context: Context,
  auditOffset: number,
): Beside {
  const { put, audit } = step(deps, request, { to: 'Applied', reason, appliedDigest, changes: changes.slice(0, CHANGES_KEPT_MAX) }, context, auditOffset);
  return { puts: [put], audits: [audit] };
}

interface Step {
  readonly to: ChangePhase;
  readonly reason: string;
  readonly appliedDigest?: string;
  readonly error?: string;
  readonly changes?: readonly ChangedValue[];
}

async function decided(deps: DecideDeps, request: ChangeRequestResource, to: ChangePhase, reason: string, context: Context, error?: string): Promise<ChangeRequestResource> {
  const { put, audit } = step(deps, request, { to, reason, ...(error === undefined ? {} : { error }) }, context, 0);
  await deps.store.write({ puts: [put], audits: [audit] });
  return requestOf(deps.store, request.metadata);
}

/** What a step writes: the request with one more signature, where the step is signed, and its record. */
function step(
  { store, clock, keys }: DecideDeps,
  { metadata: { site, name }, spec, status }: ChangeRequestResource,
  { to, reason, appliedDigest = '', error = '', changes }: Step,
  { caller, audit }: Context,
  auditOffset: number,
): { readonly put: Put; readonly audit: AuditDraft } {
  const at = timestamp(clock.wallMs());
  const action = to === 'Withdrawn' ? 'withdraw' : to === 'Rejected' ? 'reject' : 'approve';
  const move = {
    ts: at,
    phase: to,
    by: caller.displayName,
    reason,
    digestBefore: status.baseDigest,
    digestAfter: to === 'Applied' ? appliedDigest : status.baseDigest,
    auditRecordRef: store.nextAuditName(auditOffset),
  };
  const after: ChangeRequestStatus = {
    ...status,
    phase: to,
    decidedBy: caller.displayName,
    decidedAt: at,
    decisionReason: reason,
    appliedAt: to === 'Applied' ? at : '',
    error,
    appliedDigest,
    ...(changes === undefined ? {} : { changes: [...changes] }),
    moves: [...status.moves, move],
  };
  const signature =
    action === 'withdraw'
      ? undefined
      : stampSignature(
          { site, name, meaning: action === 'reject' ? 'change-reject' : 'change-approve', signatory: caller, reason, at, spec, content: decidedContent(action, to, after) },
          keys,
        );
  return {
    put: { kind: ChangeRequest, site, name, spec: signature ? { ...spec, signatures: [...spec.signatures, signature] } : spec, status: after } as Put,
    audit: audit({
      site,
      action: 'Lifecycle',
      category: CHANGE_CATEGORY,
      target: { kind: ChangeRequest.kind, name, site },
      result: to === 'Failed' ? 'Failed' : 'Success',
      ...(to === 'Failed' ? { reason: 'NotApplied' } : {}),
      operatorReason: reason,
      before: { phase: status.phase },
      after: { phase: to },
      details: { phase: to, changed: spec.target, operation: spec.operation, digestBefore: move.digestBefore, digestAfter: move.digestAfter, ...(error === '' ? {} : { error }) },
      ...(signature ? { signature } : {}),
    }),
  };
}
