/**
 * Electronic signatures over the present content of one resource (contract 1, Authentication 8; decisions Q-AUTH-04, 8.6).
 * The resource itself is not changed. Record and audit record are one transaction, on disk before the answer.
 */
import * as v from 'valibot';
import { timestamp } from '../../platform/base/clock.js';
import { conflict } from '../../platform/base/refusal.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { parameters, text } from '../../platform/http/parameters.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { created, routesFor } from '../../platform/http/route.js';
import type { Put, Store } from '../../platform/store/store.js';
import type { SignatureDeps } from './deps.js';
import { followed } from './follow.js';
import { freshness, proofOf } from './freshness.js';
import { SignatureRecord, type SignatureRecordSpec, type SignatureResource } from './kind.js';
import { offered, OfferedMeaning, requireMeaning } from './meanings.js';
import { served, Signature, VerifiedSignature, verified } from './served.js';
import { sign } from './signature.js';
import { findTarget, lent, requireSite, siteOf, subjectOf, unchangedTarget } from './target.js';
import { isGiven, SIGNATURE_CATEGORY } from './told.js';

export type { SignatureDeps } from './deps.js';

const route = routesFor<SignatureDeps>();
const PATH = '/api/v1/signatures';

const SignatureBody = v.strictObject({
  target: v.strictObject({ kind: v.pipe(v.string(), v.minLength(1)), name: v.pipe(v.string(), v.minLength(1)), site: v.optional(v.string()) }),
  meaning: v.pipe(v.string(), v.minLength(1), v.maxLength(64)),
  reason: v.string(),
  /** Of what was shown to the signer, as `signature-meanings` tells it: nobody signs what he has not seen. */
  digest: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be the 64 hex digits that signature-meanings tells'))),
});

nameSchemas({ SignatureRequest: SignatureBody });

export const signatureRoutes = [
  route({
    method: 'POST',
    path: PATH,
    action: 'signature:create',
    tier: 'read',
    ...freshness,
    reason: 'nonempty',
    body: SignatureBody,
    reply: Signature,
    errors: { 404: ['not_found', 'unreadable_row'], 409: ['meaning_not_applicable', 'shown_digest_differs', 'evidence_mismatch', 'archive_unreadable'] },
    summary: 'Sign the present content of a resource, which stays as it is; with `digest` nothing else than what was shown',
    audit: { action: 'Sign', category: SIGNATURE_CATEGORY },
    async handle(context, deps) {
      const { body, audit, correlationID } = context;
      const { target, reason } = body;
      const signed = await unchangedTarget(deps, target, context.caller);
      context.judgeAgain();
      const { caller } = context;
      const meaning = requireMeaning(body.meaning, signed.kind.kind, signed.resource, caller);
      const subject = subjectOf(signed.kind, signed.resource);
      requireShown(body.digest, subject.digest, `${signed.kind.kind} ${target.name}`);
      const content = { action: 'sign', proof: proofOf(caller), ...(body.digest === undefined ? {} : { shown: body.digest }) };
      const { record, digest } = sign({ meaning, signatory: caller, reason, signedAt: timestamp(deps.clock.wallMs()), subject, content }, deps.keys);
      const { name, site } = signed.resource.metadata;
      const spec: SignatureRecordSpec = { record, digest, target: { kind: signed.kind.kind, name, ...(site === '' ? {} : { site }) }, correlationID };
      const earlier = standing(deps.store, spec);
      const superseded = earlier.map(({ metadata, status }) => ({ kind: SignatureRecord, site: '', name: metadata.name, status: { ...status, supersededBy: record.id } }) as Put);
      await deps.store.write({
        puts: [{ kind: SignatureRecord, site: '', name: record.id, spec } as Put, ...superseded],
        audits: [
          audit({
            site: siteOf(spec.target),
            target: { kind: signed.kind.kind, name, site },
            operatorReason: reason,
            details: {
              meaning,
              revision: subject.revision,
              digest: subject.digest,
              ...(earlier.length === 0 ? {} : { supersedes: earlier.map(({ metadata }) => metadata.name) }),
            },
            signature: { ...record, digest },
          }),
        ],
      });
      return created(served(spec), `${PATH}/${record.id}`);
    },
  }),
  route({
    method: 'GET',
    path: `${PATH}/{id}`,
    action: 'signature:read',
    tier: 'read',
    reply: VerifiedSignature,
    summary: 'One signature by its id, or by the digest that a record or a recipe names (`signatureRef`); whether it still is what was signed',
    async handle({ params, caller }, deps): Promise<ToldBy<typeof VerifiedSignature>> {
      const told = await followed(deps, params.id);
      requireSite(caller, siteOf(told.target));
      return verified(told);
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/signature-meanings',
    action: 'signature:meanings',
    tier: 'read',
    query: parameters({ kind: text(), name: text(), site: text() }),
    reply: v.strictObject({ items: v.array(OfferedMeaning), digest: v.optional(v.string()), revision: v.optional(v.number()) }),
    errors: { 404: ['not_found', 'unreadable_row'] },
    summary: 'What a signature may mean; query kind; with name (and site) whether the caller may sign that resource with it now, and the digest of what he signs',
    async handle({ query, caller }, deps) {
      const [kind, name, site] = [query.get('kind') ?? undefined, query.get('name'), query.get('site')];
      if (!name) return { items: offered(kind) };
      const target = { kind: kind ?? '', name, ...(site ? { site } : {}) };
      await lent(deps, target, caller);
      const signed = findTarget(deps, target, caller);
      const { digest, revision } = subjectOf(signed.kind, signed.resource);
      return { items: offered(signed.kind.kind, signed.resource, caller), digest, revision };
    },
  }),
];

/** @throws Refusal 409 `shown_digest_differs` naming both. */
function requireShown(shown: string | undefined, present: string, what: string): void {
  if (shown === undefined || shown === present) return;
  throw conflict('shown_digest_differs', `${what} has the digest ${present} now, and what was shown to you had ${shown}: look at it again, then sign`, { shown, present });
}

/** What the same person has said with the same meaning, and what another has said stands beside it (ADR 0130). By what is stored: clocks step. */
function standing(store: Store, { record, target }: SignatureRecordSpec): SignatureResource[] {
  return store
    .list(SignatureRecord)
    .filter(
      ({ spec, status }) =>
        spec.target.name === target.name &&
        spec.target.kind === target.kind &&
        spec.target.site === target.site &&
        spec.record.meaning === record.meaning &&
        spec.record.signer.accountId === record.signer.accountId &&
        isGiven(spec.record) &&
        status.withdrawal === undefined &&
        status.supersededBy === undefined,
    );
}
