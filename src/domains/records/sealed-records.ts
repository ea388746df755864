/**
 * Whether every record that was ever sealed is still there as it was signed (21 CFR Part 11, 11.10c and 11.70). The audit
 * trail names each sealed record, and its chain protects the trail: what is gone from the database is found by what the trail
 * says of it, and a deleted entry of the trail by the chain (`audit/verify`).
 */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { between } from '../../platform/base/sorted.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import type { AuditRecord } from '../../platform/store/audit-record.js';
import { absence } from '../../platform/store/absent.js';
import type { Store } from '../../platform/store/store.js';
import type { SigningKeys } from '../signatures/signature.js';
import { BatchRecord } from './kind.js';
import { newestRecords, readRecord } from './past-records.js';
import { trailOfRecord } from './open-records.js';
import { compareSealed, RECORD_CATEGORY } from './seal.js';

export const BrokenSeal = v.strictObject({
  name: v.string(),
  /** When it was sealed and by whom; '' when the trail has no signature of it. */
  sealedAt: v.string(),
  sealedBy: v.string(),
  auditRecordRef: v.string(),
  /** One sentence each. */
  problems: v.array(v.string()),
});
export type BrokenSeal = ToldBy<typeof BrokenSeal>;

export const SealVerification = v.strictObject({
  ok: v.boolean(),
  checked: v.number(),
  checkedAt: v.string(),
  problems: v.array(BrokenSeal),
});
export type SealVerification = ToldBy<typeof SealVerification>;

nameSchemas({ BrokenSeal, SealVerification });

interface Parts {
  readonly store: Store;
  readonly queries: Pick<LedgerQueries, 'auditOf' | 'auditPage'>;
  readonly keys: SigningKeys;
}

const PAGE = 500;

export async function verifySeals({ store, queries, keys }: Parts, site: string, checkedAt: string): Promise<SealVerification> {
  const signed = await signings(queries, site);
  const finalized = await newestRecords(store, site, { phase: 'Finalized' });
  const names = [...new Set([...signed.keys(), ...between(finalized, 0, finalized.length).map(({ name }) => name)])].sort();
  const problems: BrokenSeal[] = [];
  for (const name of names) {
    const record = await readRecord(store, site, name);
    const sealed = record ? compareSealed(record, await trailOfRecord(queries, site, name), keys).problems : [];
    const times = signed.get(name) ?? [];
    const found = [
      ...(record ? [] : [`it was sealed and ${absence(store, { kind: BatchRecord.kind, site, name })}`]),
      ...(times.length > 1 ? [`it was sealed ${times.length} times, so that another record has taken the place of the first`] : []),
      ...(record && record.status.phase !== 'Finalized' ? [`it was sealed and is ${record.status.phase}`] : []),
      ...sealed,
    ];
    const by = times.at(0);
    if (found.length > 0) problems.push({ name, sealedAt: by?.timestamp ?? '', sealedBy: by?.displayName ?? '', auditRecordRef: by?.name ?? '', problems: found });
  }
  return { ok: problems.length === 0, checked: names.length, checkedAt, problems };
}

/** The signatures in the trail by the record they are of, oldest first. */
async function signings(queries: Parts['queries'], site: string): Promise<Map<string, AuditRecord[]>> {
  const signed = new Map<string, AuditRecord[]>();
  let cursor: string | null | undefined;
  do {
    const page = await queries.auditPage({
      site,
      action: 'Sign',
      category: RECORD_CATEGORY,
      kind: BatchRecord.kind,
      result: 'Success',
      order: 'asc',
      limit: PAGE,
      ...(cursor ? { cursor } : {}),
    });
    for (const record of page.items) signed.set(record.target.name, [...(signed.get(record.target.name) ?? []), record]);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return signed;
}
