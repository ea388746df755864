/**
 * Whether a record that is not sealed yet is what was recorded (D-C-10): each writing of its content left its digest in the audit
 * trail. It is compared before the record is sealed, so that nobody signs what was changed past the gateway.
 */
import { conflict } from '../../platform/base/refusal.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { AuditRecord } from '../../platform/store/audit-record.js';
import type { RecordResource } from './kind.js';

/** What an audit record says of the content that was written with it; conditions are missing in those of older versions. */
interface Told {
  readonly outcome?: string;
  readonly digest?: string;
  readonly settling?: string;
  readonly conditions?: unknown;
  readonly comment?: unknown;
  readonly review?: unknown;
}

/** One sentence each; none when it is what the audit trail tells. `trail` is that of the record, oldest first. */
export function recordProblems({ metadata, spec, status }: RecordResource, trail: readonly AuditRecord[]): string[] {
  const problems: string[] = [];
  const own = trail.filter(({ target, result, site }) => result === 'Success' && target.name === metadata.name && site === metadata.site);
  const digest = canonicalDigest(spec);
  if (digest !== status.digest) problems.push('its content does not have its digest');
  // who has signed the record as it was has left the digest of that too, and has written nothing
  const written = own.findLast(({ action, details }) => action !== 'Sign' && typeof (details as Told | undefined)?.digest === 'string')?.details as Told | undefined;
  if (!written) problems.push('the audit trail does not tell of its making');
  else {
    if (written.digest !== digest) problems.push('its content is not what the audit trail tells of');
    if (written.outcome !== status.outcome) problems.push('its outcome is not that of the audit trail');
    const conditions = written.conditions === undefined ? written.settling === status.conditions[0]?.reason : same(written.conditions, status.conditions);
    if (!conditions) problems.push('its conditions are not those of the audit trail');
  }
  return [...problems, ...tellings(status, own)];
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

/** @throws Refusal 409 `evidence_mismatch`. */
export function refuseChanged(record: RecordResource, trail: readonly AuditRecord[]): void {
  const problems = recordProblems(record, trail);
  if (problems.length === 0) return;
  throw conflict('evidence_mismatch', `the record of batch ${record.metadata.name} is not what was recorded: ${problems.join('; ')}; it cannot be sealed`, { problems });
}

export function same(a: unknown, b: unknown): boolean {
  return canonicalDigest(a) === canonicalDigest(b);
}
