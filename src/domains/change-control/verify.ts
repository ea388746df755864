/**
 * Every change request against its signatures and the audit trail (CHANGE-05; decisions Q-CHANGE-04, D-C-10): what was asked for is what was
 * signed, every step of its life was recorded, what was applied is what the record of the target shows, and none has gone. Request by
 * request, with a turn of the event loop between two.
 */
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import { absence } from '../../platform/store/absent.js';
import type { AuditRecord } from '../../platform/store/audit-record.js';
import { pastRows } from '../../platform/store/past-rows.js';
import type { Store } from '../../platform/store/store.js';
import type { EvidenceCheck } from '../audit/integrity.js';
import type { SigningKeys } from '../signatures/signature.js';
import { ChangeRequest, type ChangeRequestResource } from './kind.js';
import { requestProblems } from './signing.js';
import { shownDigest } from './target.js';
import { CHANGE_CATEGORY, isMove, trailProblems } from './trail.js';

export interface VerifyParts {
  readonly store: Store;
  readonly keys: SigningKeys;
  readonly queries: Pick<LedgerQueries, 'auditOf' | 'auditPage'>;
}

export interface RequestProblem {
  readonly site: string;
  readonly name: string;
  /** One sentence. */
  readonly problem: string;
}

export interface Verified {
  readonly checked: number;
  /** By site and name; all of one request stand together. */
  readonly problems: readonly RequestProblem[];
}

const PAGE = 500;

/** Beside the other evidence of the box, whose verification is an alarm where something is found. */
export async function changeRequestEvidence(parts: VerifyParts): Promise<EvidenceCheck> {
  const { checked, problems } = await verifyRequests(parts);
  return { checked: { changeRequests: checked }, problems: problems.map((problem) => ({ part: 'change-requests', kind: ChangeRequest.kind, ...problem })) };
}

export async function verifyRequests({ store, keys, queries }: VerifyParts, isLookedAt: (site: string) => boolean = () => true): Promise<Verified> {
  // before the trail is read: what is asked for meanwhile is not looked for; and nothing becomes past until all are looked at
  const present = store.list(ChangeRequest).filter(({ metadata }) => isLookedAt(metadata.site));
  const letGo = pastRows(store).walk();
  try {
    return await verified(present, { store, keys, queries }, isLookedAt);
  } finally {
    letGo();
  }
}

/** Those in memory, and then page by page those that are past. */
async function* all(present: readonly ChangeRequestResource[], store: Store, isLookedAt: (site: string) => boolean): AsyncGenerator<ChangeRequestResource> {
  yield* present;
  for (const site of store.pastSites(ChangeRequest)) {
    if (!isLookedAt(site)) continue;
    for await (const page of pastRows(store).each(ChangeRequest, site, '', true)) yield* page;
  }
}

async function verified(present: readonly ChangeRequestResource[], { store, keys, queries }: VerifyParts, isLookedAt: (site: string) => boolean): Promise<Verified> {
  const told = new Map<string, AuditRecord[]>();
  const unreadable = new Set<string>();
  let cursor: string | null | undefined;
  do {
    const page = await queries.auditPage({ category: CHANGE_CATEGORY, order: 'asc', limit: PAGE, ...(cursor ? { cursor } : {}) });
    for (const file of page.unreadable ?? []) unreadable.add(file);
    for (const record of page.items.filter(isMove)) {
      const key = `${record.site}/${record.target.name}`;
      told.set(key, [...(told.get(key) ?? []), record]);
    }
    cursor = page.nextCursor;
  } while (cursor !== null);
  const problems: RequestProblem[] = [];
  const seen = new Set<string>();
  for await (const request of all(present, store, isLookedAt)) {
    const { site, name } = request.metadata;
    seen.add(`${site}/${name}`);
    const moves = told.get(`${site}/${name}`) ?? [];
    const found = [...requestProblems(request, keys), ...trailProblems(request, { moves, unreadable: [...unreadable] }), ...(await appliedProblems(request, moves, queries))];
    const now = store.get(ChangeRequest, site, name);
    if (now === request || store.pastEntry(ChangeRequest, site, name)) for (const problem of found) problems.push({ site, name, problem }); // one that was decided meanwhile is looked at by the next
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  for (const [key, [first]] of told) {
    const [site = '', name = ''] = key.split('/');
    const ref = { kind: ChangeRequest.kind, site, name };
    if (first && isLookedAt(site) && !seen.has(key) && !store.get(ChangeRequest, site, name))
      problems.push({ site, name, problem: `the audit trail tells of it, and it ${absence(store, ref)}` });
  }
  return {
    checked: seen.size,
    problems: problems.sort((a, b) => (`${a.site}/${a.name}` < `${b.site}/${b.name}` ? -1 : `${a.site}/${a.name}` > `${b.site}/${b.name}` ? 1 : 0)),
  };
}

/** What was applied, as the record of the target shows it: both were written in one transaction. */
async function appliedProblems(
  { metadata: { name }, spec, status }: ChangeRequestResource,
  moves: readonly AuditRecord[],
  queries: VerifyParts['queries'],
): Promise<readonly string[]> {
  const move = moves.findLast(({ details }) => details?.phase === 'Applied');
  if (status.phase !== 'Applied' || !move) return [];
  const ofTarget = await Promise.all([move.site, ''].map((site) => queries.auditOf({ site, targets: [{ kind: spec.target.kind, name: spec.target.name }], correlationIDs: [] })));
  const records = ofTarget.flatMap(({ items }) => items).filter(({ correlationID, details }) => correlationID === move.correlationID && details?.changeRequest === name);
  const record = records.find(({ result }) => result === 'Success');
  if (!record) return status.appliedDigest === status.baseDigest ? [] : ['the audit trail does not tell what it changed'];
  const digest = record.after === undefined ? '' : shownDigest(record.after);
  return digest === status.appliedDigest ? [] : ['what was applied is not what the record of its target shows'];
}
