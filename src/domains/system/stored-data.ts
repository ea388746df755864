/** Rows of the store that could not be used as they were read (D-C-02): what is told of them, and how one is discarded. */
import { missing } from '../../platform/base/refusal.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import { pastRows, type Release } from '../../platform/store/past-rows.js';
import { title } from '../../platform/store/read-row.js';
import type { Ref, RowFault } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import type { Trouble } from '../alarms/system-conditions.js';

const NAMED_MAX = 5; // the alarm stays readable; health lists all of them

/** @param found what a verification found of the stored rows, in words */
export function storedDataTrouble(faults: readonly RowFault[], found: readonly string[]): Trouble | undefined {
  const all = [...faults.map((fault) => `${title(fault)} ${fault.kept ? 'is used as far as it can be' : 'cannot be used and is left out'} (${fault.fault})`), ...found];
  if (all.length === 0) return undefined;
  const more = all.length > NAMED_MAX ? `, and ${all.length - NAMED_MAX} more` : '';
  const wayOut = faults.length > 0 ? 'write it again or remove it' : 'GET /api/v1/system/integrity tells all of it';
  return { severity: 'High', message: `stored data in state.db is not as it was written: ${all.slice(0, NAMED_MAX).join('; ')}${more}; ${wayOut}` };
}

/**
 * Removes a row that no other route can reach, because its resource is not in memory. That of what has left the memory comes back
 * with the run it belongs to, which names it from then on as a start would.
 * @throws Refusal 404 for what can be read.
 */
export async function discardRow(store: Store, ref: Ref, audit: (entry: Pick<AuditDraft, 'target' | 'details'>) => AuditDraft): Promise<void> {
  const release = await broughtBack(store, ref);
  try {
    const fault = store.faults.find(({ kind, site, name, kept }) => !kept && kind === ref.kind && site === ref.site && name === ref.name);
    if (!fault) throw missing('stored row', title(ref));
    await store.write({ removes: [ref], audits: [audit({ target: ref, details: { fault: fault.fault, unreadable: true } })] });
  } finally {
    release?.();
  }
}

/** Only for a row that is damaged: a mistaken name brings back nothing. */
async function broughtBack(store: Store, ref: Ref): Promise<Release | undefined> {
  const past = pastRows(store);
  const lent = await past.borrow([ref]);
  try {
    return past.isUnreadable(ref) ? await past.bring([ref]) : undefined;
  } finally {
    lent?.();
  }
}
