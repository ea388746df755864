/**
 * Electronic signatures over the present content of one resource (contract 1, Authentication 8; decisions Q-AUTH-04, 8.6).
 * The resource itself is not changed. Record and audit record are one transaction, on disk before the answer.
 */
import * as v from 'valibot';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { invalid, missing, Refusal } from '../../platform/base/refusal.js';
import { type Caller, mayVisit } from '../../platform/http/caller.js';
import { created, routesFor } from '../../platform/http/route.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { Kind } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { sign, type SignatureSubject, type SigningKeys } from '../recipes/signature.js';
import { SignatureRecord, type SignatureRecordSpec } from './kind.js';

export interface SignatureDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly keys: SigningKeys;
  /** What can be signed: every kind that is served, none of the internal ones. */
  readonly kinds: readonly Kind[];
}

const route = routesFor<SignatureDeps>();
const PATH = '/api/v1/signatures';
const REPLY = '{id, target, meaning, reason, digest, signature, keyId, signedBy {accountId, displayName}, signedAt, correlationID}';

const SignatureBody = v.strictObject({
  target: v.strictObject({ kind: v.pipe(v.string(), v.minLength(1)), name: v.pipe(v.string(), v.minLength(1)), site: v.optional(v.string()) }),
  meaning: v.pipe(v.string(), v.minLength(1), v.maxLength(64)),
  reason: v.string(),
});
type Target = v.InferOutput<typeof SignatureBody>['target'];

export const signatureRoutes = [
  route({
    method: 'POST',
    path: PATH,
    action: 'signature:create',
    tier: 'read',
    freshToken: true,
    reason: 'nonempty',
    body: SignatureBody,
    reply: REPLY,
    summary: 'Sign the present content of a resource, which stays as it is',
    audit: { action: 'Sign', category: 'signature' },
    async handle({ body, caller, audit, correlationID }, deps) {
      const { target, meaning, reason } = body;
      const signed = findTarget(deps, target, caller);
      const { record, digest } = sign(
        { meaning, signatory: caller, reason, signedAt: timestamp(deps.clock.wallMs()), subject: subjectOf(signed.kind, signed.resource), content: { action: 'sign' } },
        deps.keys,
      );
      const { name, site } = signed.resource.metadata;
      const spec: SignatureRecordSpec = { record, digest, target: { kind: signed.kind.kind, name, ...(site === '' ? {} : { site }) }, correlationID };
      await deps.store.write({
        puts: [{ kind: SignatureRecord, site: '', name: record.id, spec }],
        audits: [
          audit({
            site: siteOf(spec.target),
            target: { kind: signed.kind.kind, name, site },
            operatorReason: reason,
            details: { meaning, revision: record.subject.revision, digest: record.subject.digest },
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
    reply: REPLY,
    summary: 'One signature',
    exists: ({ id }, deps) => void findSignature(deps, id),
    handle({ params, caller }, deps) {
      const { spec } = findSignature(deps, params.id);
      requireSite(caller, siteOf(spec.target));
      return served(spec);
    },
  }),
];

function findSignature({ store }: SignatureDeps, id: string): Resource<SignatureRecordSpec, object> {
  const signature = store.get(SignatureRecord, '', id);
  if (!signature) throw missing('signature', id);
  return signature;
}

/** The site is judged before existence, so that nobody learns what lies outside his sites. @throws Refusal 403, 404, 400. */
function findTarget({ store, kinds }: SignatureDeps, target: Target, caller: Caller): { readonly kind: Kind; readonly resource: Resource } {
  requireSite(caller, siteOf(target));
  const kind = kinds.find((known) => known.kind === target.kind || known.aliases?.includes(target.kind));
  if (!kind) throw missing('kind', target.kind);
  const site = target.site ?? '';
  if (kind.scope === 'site' && site === '') throw invalid('missing_field', 'target.site', `field target.site is required: a ${kind.kind} belongs to a site`);
  if (kind.scope === 'cluster' && site !== '') throw invalid('invalid_field', 'target.site', `target.site must be left out: a ${kind.kind} belongs to no site`);
  const resource = store.get(kind, site, target.name);
  if (!resource) throw missing(kind.kind, target.name);
  return { kind, resource };
}

function requireSite(caller: Caller, site: string): void {
  if (site !== '' && !mayVisit(caller, site)) throw new Refusal('forbidden', `site ${site} is outside your scope`, { code: 'site_scope', site });
}

/** A site itself lies in its own scope. */
function siteOf({ kind, name, site }: Target): string {
  return kind === 'Site' ? name : (site ?? '');
}

/** Kinds with revisions of their own (recipes) count those, the others every change of their spec. */
function subjectOf(kind: Kind, { metadata, spec, status }: Resource): SignatureSubject {
  const counted = (status as { readonly revision?: unknown } | undefined)?.revision;
  return {
    apiVersion: `${kind.group}.lineside.io/v1alpha1`,
    kind: kind.kind,
    namespace: metadata.site === '' ? '' : `site-${metadata.site}`,
    name: metadata.name,
    revision: typeof counted === 'number' ? counted : metadata.generation,
    digest: canonicalDigest(spec),
  };
}

function served({ record, digest, target, correlationID }: SignatureRecordSpec): unknown {
  const { id, meaning, reason, subject, keyId, signer, signedAt } = record;
  return {
    id,
    target,
    meaning,
    reason,
    digest: subject.digest,
    signature: digest,
    keyId,
    signedBy: { accountId: signer.accountId, displayName: signer.displayName },
    signedAt,
    correlationID,
  };
}
