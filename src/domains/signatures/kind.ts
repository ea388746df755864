/**
 * A signature given over the content of a resource (decisions Q-AUTH-04), kept under its id so that it can be read again.
 * Internal kind: evidence, written once with its audit record, never applied, changed or exported as a resource.
 */
import * as v from 'valibot';
import type { Kind } from '../../platform/store/kind.js';
import type { SignatureRecord as SignedRecord } from './signature.js';

export interface SignatureRecordSpec {
  /** The signed record as decisions 8.6 describe it. */
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
