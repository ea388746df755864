/**
 * A signature is taken back by who gave it, or by an administrator (decisions Q-CHANGE-03, ADR 0130): a signed act of its own. The signature stays
 * as it was given and is shown with its withdrawal wherever it is shown.
 */
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { conflict, missing, Refusal } from '../../platform/base/refusal.js';
import type { Caller } from '../../platform/http/caller.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import type { Put, Store } from '../../platform/store/store.js';
import { proofOf } from './freshness.js';
import { SignatureRecord, type SignatureResource } from './kind.js';
import { sign, type SigningKeys } from './signature.js';
import { siteOf } from './target.js';
import { isGiven, WITHDRAW_MEANING, WITHDRAWAL_CATEGORY } from './told.js';

/** An action that administrators alone hold: there is none for the withdrawal of another's signature. */
const ADMINISTERS = 'user:update';

export interface WithdrawParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly keys: SigningKeys;
}

/** Judged and written in one turn: of two who withdraw at once, one does. @throws Refusal 403, 404, 409. */
export async function withdraw(
  { store, clock, keys }: WithdrawParts,
  id: string,
  { caller, reason, audit }: { readonly caller: Caller; readonly reason: string; readonly audit: (entry: Partial<AuditDraft>) => AuditDraft },
): Promise<void> {
  const found = withdrawable(store, id, caller);
  const { spec, status } = found;
  const { record } = spec;
  const withdrawal = sign(
    {
      meaning: WITHDRAW_MEANING,
      signatory: caller,
      reason,
      signedAt: timestamp(clock.wallMs()),
      subject: record.subject,
      content: { action: 'withdraw', withdrawn: id, digest: spec.digest, meaning: record.meaning, proof: proofOf(caller) },
    },
    keys,
  );
  await store.write({
    puts: [{ kind: SignatureRecord, site: '', name: id, status: { ...status, withdrawal } } as Put],
    audits: [
      audit({
        site: siteOf(spec.target),
        category: WITHDRAWAL_CATEGORY,
        target: { kind: spec.target.kind, name: spec.target.name, site: spec.target.site ?? '' },
        operatorReason: reason,
        before: { state: 'Valid' },
        after: { state: 'Withdrawn' },
        details: { withdrawn: id, meaning: record.meaning, signedBy: record.signer.displayName, signedAt: record.signedAt },
        signature: { ...withdrawal.record, digest: withdrawal.digest },
      }),
    ],
  });
}

function withdrawable(store: Store, id: string, caller: Caller): SignatureResource {
  const found = store.get(SignatureRecord, '', id);
  if (!found) throw missing('signature', id);
  const { record } = found.spec;
  if (!isGiven(record)) {
    const message = `signature ${id} (${record.meaning}) brought something about, and is not taken back by itself: undo that by its own route`;
    throw conflict('signature_not_withdrawable', message, { meaning: record.meaning });
  }
  if (record.signer.accountId !== caller.accountId && !caller.may(ADMINISTERS)) {
    const message = `signature ${id} is that of ${record.signer.displayName}, who can withdraw it, or an administrator`;
    throw new Refusal('forbidden', message, { code: 'not_the_signer' });
  }
  const { withdrawal, supersededBy } = found.status;
  if (withdrawal) {
    const { signer, signedAt } = withdrawal.record;
    throw conflict('signature_not_standing', `signature ${id} was withdrawn by ${signer.displayName} at ${signedAt}; it stays withdrawn`, { state: 'Withdrawn' });
  }
  if (supersededBy !== undefined)
    throw conflict('signature_not_standing', `signature ${id} was superseded by ${supersededBy}; withdraw that one`, { state: 'Superseded', supersededBy });
  return found;
}
