/**
 * A signature given over the content of a resource (decisions Q-AUTH-04), kept under its id so that it can be read again.
 * Internal kind: evidence, written once with its audit record, never applied, changed or exported as a resource. Its status tells whether it
 * was withdrawn or superseded (ADR 0130).
 */
import * as v from 'valibot';
import { describeFields } from '../../platform/base/field-words.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { Kind } from '../../platform/store/kind.js';
import { SIGNATURE_SUBJECT_WORDS, SIGNED_RECORD_WORDS, SIGNER_WORDS } from './field-words.js';
import type { Resource } from '../../platform/store/resource.js';

export const SIGNATURE_ALGORITHMS = ['HMAC-SHA256', 'Ed25519'] as const;
export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number];

export const SignatureSubject = v.strictObject({
  apiVersion: v.string(),
  kind: v.string(),
  namespace: v.string(),
  name: v.string(),
  revision: v.number(),
  /** D(spec of the subject) at the time of signing. */
  digest: v.string(),
});
export type SignatureSubject = ToldBy<typeof SignatureSubject>;

const Signer = v.strictObject({ accountId: v.string(), displayName: v.string(), groups: v.array(v.string()) });

/** The signed record as decisions 8.6 describe it. */
export const SignedRecord = v.strictObject({
  id: v.string(),
  meaning: v.string(),
  signer: Signer,
  authMode: v.string(),
  signedAt: v.string(),
  tokenIssuedAt: v.string(),
  reason: v.string(),
  subject: SignatureSubject,
  /** Further signed facts, for example `{action, from, to}` of a lifecycle step. */
  content: v.record(v.string(), v.unknown()),
  algorithm: v.picklist(SIGNATURE_ALGORITHMS),
  keyId: v.string(),
  value: v.string(),
});
export type SignedRecord = ToldBy<typeof SignedRecord>;

nameSchemas({ SignatureSubject, SignedRecord });
describeFields(SignatureSubject, SIGNATURE_SUBJECT_WORDS);
describeFields(Signer, SIGNER_WORDS);
describeFields(SignedRecord, SIGNED_RECORD_WORDS);

/** Every list of signatures reads all of them: a row of another shape is left out and named, and the audit trail tells of what it held. */
export const SignatureRecordSpec = v.strictObject({
  record: SignedRecord,
  /** D(record without `value`): the `signature` of responses. */
  digest: v.string(),
  target: v.strictObject({ kind: v.string(), name: v.string(), site: v.optional(v.string()) }),
  correlationID: v.string(),
});
export type SignatureRecordSpec = ToldBy<typeof SignatureRecordSpec>;

/** What came of it afterwards: the signature itself is never changed. Absent in data of 0.1. */
const Withdrawal = v.object({
  /** The signature of the withdrawal, over the digest of what is withdrawn. */
  record: SignedRecord,
  digest: v.string(),
});
export const SignatureStatus = v.object({
  withdrawal: v.optional(Withdrawal),
  /** Id of the newer one that the same person gave with the same meaning. */
  supersededBy: v.optional(v.string()),
});
export type SignatureStatus = ToldBy<typeof SignatureStatus>;
export type SignatureResource = Resource<SignatureRecordSpec, SignatureStatus>;

export const SignatureRecord: Kind<SignatureRecordSpec, SignatureStatus> = {
  kind: 'SignatureRecord',
  group: 'record',
  scope: 'cluster',
  action: 'signature',
  body: 'flat',
  apply: { how: 'no', reason: 'a signature is evidence; it is given through POST /api/v1/signatures' },
  spec: SignatureRecordSpec,
  initialStatus: () => ({}),
  status: SignatureStatus.entries,
};
