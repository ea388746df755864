/** Whether a review still is what was signed and told (D-C-10): judged each time it is read, and by the verification of all evidence. */
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import { untold } from '../../platform/ledger/unread.js';
import { absence } from '../../platform/store/absent.js';
import type { AuditRecord } from '../../platform/store/audit-record.js';
import type { Store } from '../../platform/store/store.js';
import type { EvidenceCheck } from '../audit/integrity.js';
import type { SigningKeys } from '../signatures/signature.js';
import { signedIn } from '../signatures/told.js';
import { signedProblems } from '../signatures/verify.js';
import { PeriodicReview, type ReviewResource } from './kind.js';

export const REVIEW_CATEGORY = 'review';
const PAGE = 500;

interface Parts {
  readonly store: Store;
  readonly queries: Pick<LedgerQueries, 'auditPage'>;
  readonly keys: SigningKeys;
}

/** One sentence each; `told` is its record of the audit trail. */
export function reviewProblems({ metadata, spec }: ReviewResource, told: AuditRecord | undefined, unreadable: readonly string[], keys: SigningKeys): string[] {
  const { content, list, record, digest, correlationID } = spec;
  const problems = signedProblems(record, digest, keys);
  const { subject } = record;
  if (subject.kind !== PeriodicReview.kind || subject.name !== metadata.name) problems.push('it is kept under another name than the one that was signed');
  if (subject.digest !== canonicalDigest(content)) problems.push('its content is not what was signed');
  if (content.access && canonicalDigest(list ?? null) !== content.access.digest) problems.push('its list is not the one that was reviewed');
  if (!told) problems.push(untold(unreadable));
  else if (signedIn(told)?.digest !== digest || told.correlationID !== correlationID) problems.push('it is not the one that the audit trail tells of');
  return problems;
}

export async function toldOfReview(queries: Parts['queries'], name: string): Promise<{ readonly told: AuditRecord | undefined; readonly unreadable: readonly string[] }> {
  const { items, unreadable = [] } = await queries.auditPage({ category: REVIEW_CATEGORY, kind: PeriodicReview.kind, name, result: 'Success', order: 'asc', limit: PAGE });
  return { told: items[0], unreadable };
}

/** Beside the other evidence of the box. */
export async function reviewEvidence({ store, queries, keys }: Parts): Promise<EvidenceCheck> {
  const reviews = store.list(PeriodicReview); // before the trail is read: what is signed meanwhile is not looked for
  const problems: EvidenceCheck['problems'][number][] = [];
  const told = new Map<string, AuditRecord>();
  const unreadable = new Set<string>();
  let cursor: string | null | undefined;
  do {
    const page = await queries.auditPage({ category: REVIEW_CATEGORY, result: 'Success', order: 'asc', limit: PAGE, ...(cursor ? { cursor } : {}) });
    for (const file of page.unreadable ?? []) unreadable.add(file);
    for (const record of page.items) told.set(record.target.name, record);
    cursor = page.nextCursor;
  } while (cursor !== null);
  const report = (name: string, problem: string): void => void problems.push({ part: 'reviews', kind: PeriodicReview.kind, name, site: '', problem });
  for (const review of reviews) {
    const { name } = review.metadata;
    for (const problem of reviewProblems(review, told.get(name), [...unreadable], keys)) report(name, problem);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  for (const name of told.keys()) {
    const ref = { kind: PeriodicReview.kind, site: '', name };
    if (!store.get(PeriodicReview, '', name)) report(name, `the audit trail tells of it, and it ${absence(store, ref)}`);
  }
  return { checked: { reviews: reviews.length }, problems };
}
