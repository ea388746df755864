/**
 * A signature given over the content of a resource (decisions Q-AUTH-04), kept under its id so that it can be read again.
 * Internal kind: evidence, written once with its audit record, never applied, changed or exported as a resource.
 */
import * as v from 'valibot';
import type { Kind } from '../../platform/store/kind.js';

export type SignatureAlgorithm = 'HMAC-SHA256' | 'Ed25519';

export interface SignatureSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  /** D(spec of the subject) at the time of signing. */
  readonly digest: string;
}

/** The signed record as decisions 8.6 describe it. */
export interface SignedRecord {
  readonly id: string;
  readonly meaning: string;
  readonly signer: { readonly accountId: string; readonly displayName: string; readonly groups: readonly string[] };
  readonly authMode: string;
  readonly signedAt: string;
  readonly tokenIssuedAt: string;
  readonly reason: string;
  readonly subject: SignatureSubject;
  /** Further signed facts, for example `{action, from, to}` of a lifecycle step. */
  readonly content: Readonly<Record<string, unknown>>;
  readonly algorithm: SignatureAlgorithm;
  readonly keyId: string;
  readonly value: string;
}

export interface SignatureRecordSpec {
  readonly record: SignedRecord;
  /** D(record without `value`): the `signature` of responses. */
  readonly digest: string;
  readonly target: { readonly kind: string; readonly name: string; readonly site?: string };
  readonly correlationID: string;
}

export const SignatureRecord: Kind<SignatureRecordSpec, object> = {
  kind: 'SignatureRecord',
  group: 'record',
  scope: 'cluster',
  action: 'signature',
  body: 'flat',
  apply: { how: 'no', reason: 'a signature is evidence; it is given through POST /api/v1/signatures' },
  spec: v.custom<SignatureRecordSpec>((spec) => typeof spec === 'object' && spec !== null),
  initialStatus: () => ({}),
};
