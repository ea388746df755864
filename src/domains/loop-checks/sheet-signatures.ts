/** Who has signed a sheet or a page, whoever has conducted it among them (decisions 8.6): each signature as it verifies now. Pure but for reading. */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { SignatureRecord, type SignedRecord } from '../signatures/kind.js';
import type { SigningKeys } from '../signatures/signature.js';
import { signatureProblems } from '../signatures/verify.js';
import { type SealedSheet, sheetProblems } from './sheet.js';

export const SheetSignature = v.strictObject({
  /** GET /api/v1/signatures/{id} tells all of it. */
  id: v.string(),
  meaning: v.string(),
  reason: v.string(),
  signedBy: v.string(),
  accountId: v.string(),
  signedAt: v.string(),
  valid: v.boolean(),
  problems: v.array(v.string()),
});
export type SheetSignature = ToldBy<typeof SheetSignature>;

nameSchemas({ SheetSignature });

/** A sheet or a page where it is stored. */
export interface SignedSheet extends SealedSheet {
  readonly kind: string;
  readonly metadata: { readonly site: string; readonly name: string };
  readonly status: SealedSheet['status'] & { readonly sealedAt: string };
}

/** The one that seals it, then those that were given since, oldest first. */
export function signaturesOf(sheet: SignedSheet, read: StoreReader, keys: SigningKeys): SheetSignature[] {
  const { kind, metadata, spec, status } = sheet;
  const { site, name } = metadata;
  const sealing = status.signature ? [shown(status.signature, sheetProblems(sheet, keys))] : [];
  const digest = canonicalDigest(spec);
  const further = read
    .list(SignatureRecord)
    .filter(({ spec: { target } }) => target.kind === kind && target.name === name && target.site === site)
    .map(({ spec: given }) => {
      const isOfAnother = given.record.subject.digest !== digest;
      return shown(given.record, [...signatureProblems(given, keys), ...(isOfAnother ? ['what is here is not what was signed'] : [])]);
    });
  return [...sealing, ...further.sort((a, b) => (a.signedAt < b.signedAt ? -1 : 1))];
}

function shown({ id, meaning, reason, signer, signedAt }: SignedRecord, problems: readonly string[]): SheetSignature {
  return { id, meaning, reason, signedBy: signer.displayName, accountId: signer.accountId, signedAt, valid: problems.length === 0, problems: [...problems] };
}
