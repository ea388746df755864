/**
 * Every stored signature against the audit trail (D-C-10): none has gone, each is what was signed, and what became of it is what was told. Item by
 * item, with a turn of the event loop between two.
 */
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import { untold } from '../../platform/ledger/unread.js';
import { absence } from '../../platform/store/absent.js';
import type { AuditRecord } from '../../platform/store/audit-record.js';
import type { Store } from '../../platform/store/store.js';
import { SignatureRecord, type SignatureResource } from './kind.js';
import type { SigningKeys } from './signature.js';
import { isGiven, SIGNATURE_CATEGORY, signedIn, supersessionProblems, trailOf, WITHDRAWAL_CATEGORY, withdrawalProblems } from './told.js';
import { signatureProblems } from './verify.js';

export interface SignatureEvidenceParts {
  readonly store: Store;
  readonly queries: Pick<LedgerQueries, 'auditPage'>;
  readonly keys: SigningKeys;
  /** Records of a category, oldest first; files that could not be read are noted in `unread`. */
  readonly trail: (category: string) => AsyncIterable<AuditRecord>;
  readonly unread: ReadonlySet<string>;
  readonly report: (part: string, target: { readonly kind: string; readonly name: string; readonly site: string }, problems: readonly string[]) => void;
}

/** @returns how many were looked at. */
export async function verifySignatures(parts: SignatureEvidenceParts): Promise<number> {
  const { store, report } = parts;
  const signatures = store.list(SignatureRecord); // before the trail is read: what is signed meanwhile is not looked for
  const signed = new Set<string>();
  /** What is told of what became of a signature, by its id. */
  const after = new Map<string, AuditRecord[]>();
  const note = (id: string, record: AuditRecord): void => void after.set(id, [...(after.get(id) ?? []), record]);
  for await (const record of parts.trail(SIGNATURE_CATEGORY)) {
    const found = record.result === 'Success' ? signedIn(record) : undefined;
    if (!found) continue;
    const { id } = found.record;
    signed.add(id);
    for (const earlier of Array.isArray(record.details?.supersedes) ? record.details.supersedes : []) note(String(earlier), record);
    const ref = { kind: SignatureRecord.kind, name: id, site: record.site };
    const stored = store.get(SignatureRecord, '', id);
    if (!stored) report('signatures', ref, [`the signature of ${record.displayName} at ${record.timestamp} ${absence(store, { ...ref, site: '' })}`]);
    else if (stored.spec.digest !== found.digest) report('signatures', ref, ['it is not the one that the audit trail tells of']);
  }
  for await (const record of parts.trail(WITHDRAWAL_CATEGORY)) if (record.result === 'Success') note(String(record.details?.withdrawn), record);
  for (const signature of signatures) {
    const { metadata, spec } = signature;
    const isTold = signed.has(metadata.name) || (!isGiven(spec.record) && (await isToldOfWork(parts, signature)));
    const told = { items: after.get(metadata.name) ?? [], unreadable: [...parts.unread] };
    const unknown = isTold ? [] : [untold(told.unreadable)];
    const since = store.get(SignatureRecord, '', metadata.name) === signature ? [...withdrawalProblems(signature, told, parts.keys), ...supersessionProblems(signature, told)] : [];
    report('signatures', { kind: SignatureRecord.kind, name: metadata.name, site: spec.target.site ?? '' }, [...signatureProblems(spec, parts.keys), ...unknown, ...since]);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return signatures.length;
}

/** Of one that came with what it brought about: the record of that tells of it. */
async function isToldOfWork({ queries }: SignatureEvidenceParts, { spec }: SignatureResource): Promise<boolean> {
  const { items } = await trailOf(queries, spec.target, ['Execute']);
  return items.some((record) => signedIn(record)?.record.id === spec.record.id);
}
