/**
 * Electronic signatures over the present content of one resource (contract 1, Authentication 8; decisions Q-AUTH-04, 8.6).
 * The resource itself is not changed. Record and audit record are one transaction, on disk before the answer.
 */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { invalid, missing, Refusal } from '../../platform/base/refusal.js';
import { type Caller, mayVisit } from '../../platform/http/caller.js';
import { parameters, text } from '../../platform/http/parameters.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { created, routesFor } from '../../platform/http/route.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import { absent } from '../../platform/store/absent.js';
import type { Kind } from '../../platform/store/kind.js';
import { pastRows } from '../../platform/store/past-rows.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { untold } from '../../platform/ledger/unread.js';
import { sign, type SigningKeys } from './signature.js';
import { SignatureRecord, type SignatureRecordSpec, type SignatureSubject } from './kind.js';
import { offered, OfferedMeaning, requireMeaning } from './meanings.js';
import { signatureProblems, signedProblems } from './verify.js';

export interface SignatureDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly keys: SigningKeys;
  readonly queries: Pick<LedgerQueries, 'auditOf' | 'auditPage'>;
  /** What can be signed: every kind that is served, none of the internal ones. */
  readonly kinds: readonly Kind[];
  /** Why a resource is not signed for, with what is recorded of it; undefined where no record could tell. */
  readonly refusalToSign: (resource: Resource) => Promise<Refusal | undefined> | undefined;
}

const route = routesFor<SignatureDeps>();
const PATH = '/api/v1/signatures';
/** An id, or a digest. */
const NAME = /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64})$/;
/** Records that name a signature: its own, and those that refer to it. */
const TEXT_HITS_MAX = 20;

const SignatureBody = v.strictObject({
  target: v.strictObject({ kind: v.pipe(v.string(), v.minLength(1)), name: v.pipe(v.string(), v.minLength(1)), site: v.optional(v.string()) }),
  meaning: v.pipe(v.string(), v.minLength(1), v.maxLength(64)),
  reason: v.string(),
});
type Target = v.InferOutput<typeof SignatureBody>['target'];

const Signature = v.strictObject({
  id: v.string(),
  target: v.strictObject({ kind: v.string(), name: v.string(), site: v.optional(v.string()) }),
  meaning: v.string(),
  reason: v.string(),
  /** Of the content that was signed. */
  digest: v.string(),
  /** Digest of the signed record, as other records name it. */
  signature: v.string(),
  keyId: v.string(),
  signedBy: v.strictObject({ accountId: v.string(), displayName: v.string() }),
  signedAt: v.string(),
  correlationID: v.string(),
});
type Signature = ToldBy<typeof Signature>;

const VerifiedSignature = v.strictObject({ ...Signature.entries, valid: v.boolean(), problems: v.array(v.string()), auditRecordRef: v.string() });

nameSchemas({ SignatureRequest: SignatureBody, SignatureBody: Signature, VerifiedSignature });

export const signatureRoutes = [
  route({
    method: 'POST',
    path: PATH,
    action: 'signature:create',
    tier: 'read',
    freshToken: true,
    reason: 'nonempty',
    body: SignatureBody,
    reply: Signature,
    errors: { 404: ['not_found', 'unreadable_row'], 409: ['meaning_not_applicable', 'evidence_mismatch', 'archive_unreadable'] },
    summary: 'Sign the present content of a resource, which stays as it is',
    audit: { action: 'Sign', category: 'signature' },
    async handle({ body, caller, audit, correlationID }, deps) {
      const { target, reason } = body;
      const signed = await unchangedTarget(deps, target, caller);
      const meaning = requireMeaning(body.meaning, signed.kind.kind, signed.resource, caller);
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
    reply: VerifiedSignature,
    summary: 'One signature by its id, or by the digest that a record or a recipe names (`signatureRef`); whether it still is what was signed',
    async handle({ params, caller }, deps): Promise<ToldBy<typeof VerifiedSignature>> {
      const { spec, problems, auditRecordRef } = await followed(deps, params.id);
      requireSite(caller, siteOf(spec.target));
      return { ...served(spec), valid: problems.length === 0, problems, auditRecordRef };
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/signature-meanings',
    action: 'signature:meanings',
    tier: 'read',
    query: parameters({ kind: text(), name: text(), site: text() }),
    reply: v.strictObject({ items: v.array(OfferedMeaning) }),
    errors: { 404: ['not_found', 'unreadable_row'] },
    summary: 'What a signature may mean; query kind; with name (and site) whether the caller may sign that resource with it now',
    async handle({ query, caller }, deps) {
      const [kind, name, site] = [query.get('kind') ?? undefined, query.get('name'), query.get('site')];
      if (!name) return { items: offered(kind) };
      const target = { kind: kind ?? '', name, ...(site ? { site } : {}) };
      await lent(deps, target, caller);
      const signed = findTarget(deps, target, caller);
      return { items: offered(signed.kind.kind, signed.resource, caller) };
    },
  }),
];

interface Followed {
  readonly spec: SignatureRecordSpec;
  readonly problems: readonly string[];
  /** '' when the audit trail does not tell of it. */
  readonly auditRecordRef: string;
}

/**
 * Signatures of prompts, life cycles and seals live in the audit record of what they brought about; those of POST /signatures
 * are kept beside it as well, and have to agree with it.
 */
async function followed({ store, queries, keys }: SignatureDeps, id: string): Promise<Followed> {
  if (!NAME.test(id)) throw missing('signature', id);
  const stored = store.get(SignatureRecord, '', id)?.spec;
  const told = stored
    ? await queries.auditOf({ site: siteOf(stored.target), targets: [], correlationIDs: [stored.correlationID] })
    : await queries.auditPage({ text: id, order: 'asc', limit: TEXT_HITS_MAX });
  const audit = told.items.find(({ signature, result }) => result === 'Success' && (signature?.id === id || signature?.digest === id));
  if (stored) {
    const agrees = audit === undefined ? [untold(told.unreadable)] : audit.signature?.digest === stored.digest ? [] : ['it is not the one that the audit trail tells of'];
    return { spec: stored, problems: [...signatureProblems(stored, keys), ...agrees], auditRecordRef: audit?.name ?? '' };
  }
  if (!audit) throw missing('signature', id);
  const { digest, ...record } = audit.signature as SignatureRecordSpec['record'] & { readonly digest: string };
  const site = record.subject.namespace.replace(/^site-/, '');
  const target = { kind: record.subject.kind, name: record.subject.name, ...(site === '' ? {} : { site }) };
  const gone = audit.category === 'signature' ? ['it does not exist any more: this is what the audit trail tells of it'] : [];
  return { spec: { record, digest, target, correlationID: audit.correlationID }, problems: [...signedProblems(record, digest, keys), ...gone], auditRecordRef: audit.name };
}

/** What has ended and is past is signed as what is present. */
async function lent({ store, kinds }: SignatureDeps, { kind, name, site = '' }: Target, caller: Caller): Promise<void> {
  if (site !== '' && !mayVisit(caller, site)) return; // he is refused without learning by the time it takes what is there
  const named = kinds.find((known) => known.kind === kind || known.aliases?.includes(kind));
  if (named) await pastRows(store).lend([{ kind: named.kind, site, name }]);
}

interface Found {
  readonly kind: Kind;
  readonly resource: Resource;
}

/** The site is judged before existence, so that nobody learns what lies outside his sites. @throws Refusal 403, 404, 400. */
function findTarget({ store, kinds }: SignatureDeps, target: Target, caller: Caller): Found {
  requireSite(caller, siteOf(target));
  const kind = kinds.find((known) => known.kind === target.kind || known.aliases?.includes(target.kind));
  if (!kind) throw missing('kind', target.kind);
  const site = target.site ?? '';
  if (kind.scope === 'site' && site === '') throw invalid('missing_field', 'target.site', `field target.site is required: a ${kind.kind} belongs to a site`);
  if (kind.scope === 'cluster' && site !== '') throw invalid('invalid_field', 'target.site', `target.site must be left out: a ${kind.kind} belongs to no site`);
  const resource = store.get(kind, site, target.name);
  if (!resource) throw absent(store, kind, site, target.name);
  return { kind, resource };
}

function requireSite(caller: Caller, site: string): void {
  if (site !== '' && !mayVisit(caller, site)) throw new Refusal('forbidden', `site ${site} is outside your scope`, { code: 'site_scope', site });
}

/** A site itself lies in its own scope. */
function siteOf({ kind, name, site }: Target): string {
  return kind === 'Site' ? name : (site ?? '');
}

/** Nobody signs for what somebody has changed past the gateway. @throws Refusal 409 `evidence_mismatch`, `archive_unreadable`. */
async function unchangedTarget(deps: SignatureDeps, target: Target, caller: Caller): Promise<Found> {
  for (;;) {
    await lent(deps, target, caller);
    const found = findTarget(deps, target, caller);
    const comparing = deps.refusalToSign(found.resource);
    if (!comparing) return found;
    const refusal = await comparing;
    await lent(deps, target, caller);
    if (findTarget(deps, target, caller).resource !== found.resource) continue; // written while the trail was read
    if (!refusal) return found;
    throw refusal;
  }
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

function served({ record, digest, target, correlationID }: SignatureRecordSpec): Signature {
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
