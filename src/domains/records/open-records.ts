/**
 * Whether a record that is not sealed yet is what was recorded (D-C-10): each writing of its content left its digest in the audit
 * trail. It is compared before the record is sealed, so that nobody signs what was changed past the gateway.
 */
import { conflict, type Refusal } from '../../platform/base/refusal.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { LedgerQueries, Page } from '../../platform/ledger/queries.js';
import type { AuditRecord } from '../../platform/store/audit-record.js';
import { unreadPart } from '../../platform/ledger/unread.js';
import { BatchRecord, type RecordResource } from './kind.js';

export const UNLIKE_ITS_DIGEST = 'its content does not have its digest';

/** What an audit record says of the content that was written with it; conditions are missing in those of older versions. */
interface Told {
  readonly outcome?: string;
  readonly digest?: string;
  readonly settling?: string;
  readonly conditions?: unknown;
  readonly comment?: unknown;
  readonly review?: unknown;
}

/** What the audit trail tells of a record, oldest first, and the files of the archive without which it may not be all. */
export type Trail = Pick<Page<AuditRecord>, 'items' | 'unreadable'>;

export interface Comparison {
  /** One sentence each; none when it is what the audit trail tells. */
  readonly problems: readonly string[];
  /** Files that have to be there before it can be compared; empty when it could be. */
  readonly unreadable: readonly string[];
}

export function trailOfRecord(queries: Pick<LedgerQueries, 'auditOf'>, site: string, name: string): Promise<Trail> {
  return queries.auditOf({ site, targets: [{ kind: BatchRecord.kind, name }], correlationIDs: [] });
}

/** What the trail lacks may stand in a file that is not there: then it says nothing of the record. `own` holds whatever the trail tells. */
export function comparison(own: readonly string[], lacking: readonly string[], { unreadable = [] }: Trail): Comparison {
  if (lacking.length === 0 || unreadable.length === 0) return { problems: [...own, ...lacking], unreadable: [] };
  return { problems: [...own, `it cannot be compared with the audit trail: ${unreadPart(unreadable)}`], unreadable };
}

export function compareRecord({ metadata, spec, status }: RecordResource, trail: Trail): Comparison {
  const problems: string[] = [];
  const own = trail.items.filter(({ target, result, site }) => result === 'Success' && target.name === metadata.name && site === metadata.site);
  const digest = canonicalDigest(spec);
  // who has signed the record as it was has left the digest of that too, and has written nothing
  const written = own.findLast(({ action, details }) => action !== 'Sign' && typeof (details as Told | undefined)?.digest === 'string')?.details as Told | undefined;
  if (!written) problems.push('the audit trail does not tell of its making');
  else {
    if (written.digest !== digest) problems.push('its content is not what the audit trail tells of');
    if (written.outcome !== status.outcome) problems.push('its outcome is not that of the audit trail');
    const conditions = written.conditions === undefined ? written.settling === status.conditions[0]?.reason : same(written.conditions, status.conditions);
    if (!conditions) problems.push('its conditions are not those of the audit trail');
  }
  return comparison(digest === status.digest ? [] : [UNLIKE_ITS_DIGEST], [...problems, ...tellings(status, own)], trail);
}

/** Comments and review, which the trail tells one by one. */
export function tellings({ comments, review }: RecordResource['status'], trail: readonly AuditRecord[]): string[] {
  const told = trail.filter(({ action, result }) => action === 'Update' && result === 'Success').map(({ details }) => (details ?? {}) as Told);
  const problems: string[] = [];
  if (
    !same(
      comments,
      told.flatMap(({ comment }) => comment ?? []),
    )
  )
    problems.push('its comments are not those of the audit trail');
  if (!same(review ?? null, told.findLast((each) => each.review !== undefined)?.review ?? null)) problems.push('its review is not that of the audit trail');
  return problems;
}

/** Nobody answers for what was changed past the gateway, nor for what cannot be compared; undefined when it is what was recorded. */
export function refusalToSign({ metadata }: RecordResource, { problems, unreadable }: Comparison, done: 'sealed' | 'signed'): Refusal | undefined {
  if (problems.length === 0) return undefined;
  const isUnread = unreadable.length > 0 && problems.length === 1;
  const what = isUnread ? problems[0] : `it is not what was recorded: ${problems.join('; ')}`;
  const found = isUnread ? { files: unreadable } : { problems };
  return conflict(isUnread ? 'archive_unreadable' : 'evidence_mismatch', `the record of batch ${metadata.name} cannot be ${done}: ${what}`, found);
}

export function same(a: unknown, b: unknown): boolean {
  return canonicalDigest(a) === canonicalDigest(b);
}
