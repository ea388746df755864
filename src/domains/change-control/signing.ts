/**
 * What is signed of a change request (decisions 8.6, Q-CHANGE-03): its content without its signatures, and what the step rests on. By it a
 * request that was edited past the gateway is told from one that was asked for (D-C-10).
 */
import { timestamp } from '../../platform/base/clock.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import { apiVersionOf } from '../../platform/store/manifest.js';
import { type Signatory, sign, type SigningKeys } from '../signatures/signature.js';
import { signedProblems } from '../signatures/verify.js';
import { ChangeRequest, type ChangePhase, type ChangeRequestResource, type ChangeRequestSpec, type ChangeRequestStatus, type StampedSignature } from './kind.js';

export type ChangeMeaning = 'change-create' | 'change-approve' | 'change-reject';

/** Which signature a phase rests on beside that of the author; an end without one is told by the audit trail. */
const SIGNED_BY: Readonly<Record<ChangePhase, ChangeMeaning | undefined>> = {
  Pending: undefined,
  Approved: 'change-approve',
  Applied: 'change-approve',
  Failed: 'change-approve',
  Rejected: 'change-reject',
  Withdrawn: undefined,
  Expired: undefined,
};

/** Of what people have written; the signatures are made over it. */
export function contentDigest(spec: ChangeRequestSpec): string {
  return canonicalDigest({ ...spec, signatures: [] });
}

interface Place {
  readonly site: string;
  readonly name: string;
}

export interface StampRequest extends Place {
  readonly meaning: ChangeMeaning;
  readonly signatory: Signatory;
  readonly reason: string;
  readonly at: string;
  readonly spec: ChangeRequestSpec;
  readonly content: Readonly<Record<string, unknown>>;
}

export function stampSignature({ site, name, meaning, signatory, reason, at, spec, content }: StampRequest, keys: SigningKeys): StampedSignature {
  const subject = {
    apiVersion: apiVersionOf(ChangeRequest),
    kind: ChangeRequest.kind,
    namespace: `site-${site}`,
    name,
    revision: spec.signatures.length + 1,
    digest: contentDigest(spec),
  };
  const { record, digest } = sign({ meaning, signatory, reason, signedAt: at, subject, content }, keys);
  // as it will be read back: mutable copies of what the record holds
  return { ...record, signer: { ...record.signer, groups: [...record.signer.groups] }, content: { ...record.content }, subject: { ...record.subject }, digest };
}

/** What an author signs beside the content. */
export function createdContent({ spec, status }: Pick<ChangeRequestResource, 'spec' | 'status'>): Readonly<Record<string, unknown>> {
  const { target, operation } = spec;
  return { action: 'create', target, operation, baseDigest: status.baseDigest, until: status.until, lifeMs: status.term?.durationMs ?? 0 };
}

/** What an approver or rejecter signs beside it. */
export function decidedContent(
  action: 'approve' | 'reject',
  to: ChangePhase,
  { baseDigest, appliedDigest, error }: Pick<ChangeRequestStatus, 'baseDigest' | 'appliedDigest' | 'error'>,
) {
  return { action, from: 'Pending', to, baseDigest, appliedDigest, error };
}

/** One sentence each; none of a request that is what its signatures say. */
export function requestProblems(request: ChangeRequestResource, keys: SigningKeys): string[] {
  const { spec, status } = request;
  const [created, decided, ...more] = spec.signatures;
  if (!created || created.meaning !== 'change-create') return ['its author has not signed it'];
  const wanted = SIGNED_BY[status.phase];
  const problems = spec.signatures.flatMap((signature) => signatureProblems(request, signature, keys));
  if (problems.length > 0) return problems;
  if (more.length > 0 || decided?.meaning !== wanted) return [`it is ${status.phase}, which its signatures do not say`];
  const told = [
    canonicalDigest(created.content) === canonicalDigest(createdContent(request)) || 'what it rests on is not what its author has signed',
    (created.signer.displayName === status.author && created.signedAt === status.createdAt) || 'its author is not who has signed it',
    isTermAsSigned(status) || 'its time is not the one that was signed',
  ];
  if (decided) {
    const { signer, signedAt, reason, content } = decided;
    const action = wanted === 'change-reject' ? 'reject' : 'approve';
    told.push(
      canonicalDigest(content) === canonicalDigest(decidedContent(action, status.phase, status)) || 'what came of it is not what was signed',
      (signer.displayName === status.decidedBy && signedAt === status.decidedAt && reason === status.decisionReason) || 'its decision is not the one that was signed',
    );
  }
  return told.filter((problem) => typeof problem === 'string');
}

function signatureProblems({ metadata: { site, name }, spec }: ChangeRequestResource, { digest, ...record }: StampedSignature, keys: SigningKeys): string[] {
  const what = `signature ${record.id} (${record.meaning})`;
  const problems = signedProblems(record, digest, keys).map((problem) => `${what}: ${problem}`);
  if (problems.length > 0) return problems;
  const { subject } = record;
  if (subject.kind !== ChangeRequest.kind || subject.name !== name || subject.namespace !== `site-${site}`) return [`${what} was given to another request`];
  return subject.digest === contentDigest(spec) ? [] : [`its content is not what ${what} was given for`];
}

/** The instant that people are told is the one that is judged. */
function isTermAsSigned({ until, term }: ChangeRequestStatus): boolean {
  return term !== undefined && timestamp(term.from.wallMs + term.durationMs) === until;
}
