/** Whether a stored signature still is what was signed (D-C-10): judged each time it is read, and by each verification. */
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import { isSignatureValid, type SigningKeys } from './signature.js';
import type { SignatureRecordSpec, SignedRecord } from './kind.js';

/** One sentence each; none when it is genuine. */
export function signedProblems(record: SignedRecord, digest: string, keys: SigningKeys): string[] {
  try {
    const { value: _value, ...base } = record;
    return [
      ...(isSignatureValid(record, keys) ? [] : ['it is not what was signed with a key of this appliance']),
      ...(canonicalDigest(base) === digest ? [] : ['it does not have its digest']),
    ];
  } catch {
    return ['it cannot be read as a signature'];
  }
}

export function signatureProblems({ record, digest, target }: SignatureRecordSpec, keys: SigningKeys): string[] {
  const problems = signedProblems(record, digest, keys);
  if (problems.length > 0) return problems;
  const { kind, name, namespace } = record.subject;
  const site = target.site === undefined ? '' : `site-${target.site}`;
  return kind === target.kind && name === target.name && namespace === site ? [] : ['it is kept under another resource than the one that was signed'];
}
