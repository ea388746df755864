/** A change request beside what the audit trail tells of it (D-C-10): every step of its life is one record, with the phase it led to. */
import { untold } from '../../platform/ledger/unread.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import type { AuditRecord } from '../../platform/store/audit-record.js';
import { ChangeRequest, type ChangeRequestResource } from './kind.js';

export const CHANGE_CATEGORY = 'change-control';

export interface Trail {
  /** Oldest first. */
  readonly moves: readonly AuditRecord[];
  /** Files that could not be looked into. */
  readonly unreadable: readonly string[];
}

/** Steps and not refusals, which stand beside them. */
export function isMove({ category, result, target, details }: AuditRecord): boolean {
  return category === CHANGE_CATEGORY && target.kind === ChangeRequest.kind && (result === 'Success' || result === 'Failed') && typeof details?.phase === 'string';
}

export async function trailOf(queries: Pick<LedgerQueries, 'auditOf'>, site: string, name: string): Promise<Trail> {
  const { items, unreadable = [] } = await queries.auditOf({ site, targets: [{ kind: ChangeRequest.kind, name }], correlationIDs: [] });
  return { moves: items.filter(isMove), unreadable };
}

/** One sentence each; none where the trail tells the same life. */
export function trailProblems({ spec, status }: ChangeRequestResource, { moves, unreadable }: Trail): string[] {
  const told = moves.map(({ name, details, signature }) => [name, details?.phase, (signature as { readonly digest?: string } | undefined)?.digest ?? '']);
  const kept = status.moves.map(({ auditRecordRef, phase }, at) => {
    const signature = at === 0 ? spec.signatures[0] : at === 1 ? spec.signatures[1] : undefined;
    return [auditRecordRef, phase, signature?.digest ?? ''];
  });
  if (JSON.stringify(told) === JSON.stringify(kept) && kept.at(-1)?.[1] === status.phase) return [];
  if (told.length < kept.length) return [untold(unreadable)];
  return [`it is ${status.phase}, and the audit trail tells that it is ${String(told.at(-1)?.[1])}`];
}
