/**
 * What the domains hold as evidence, against the audit trail (D-C-10): records open and sealed, signatures, recipes, control
 * recipes, and the sheets of loop checks and cable acceptances. The trail is protected by its chain; what it tells of has to be there as it tells. Item by item, with a turn of the
 * event loop between two.
 */
import { itemAt } from '../../platform/base/sorted.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import type { AuditRecord } from '../../platform/store/audit-record.js';
import { absence, UNREADABLE } from '../../platform/store/absent.js';
import { pastRows } from '../../platform/store/past-rows.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import type { IntegrityProblem } from '../audit/bodies.js';
import type { EvidenceCheck } from '../audit/integrity.js';
import { Batch, type ListedBatch } from '../batches/kind.js';
import { listedBatches } from '../batches/reading/list.js';
import { controlRecipeMismatch, recipeMismatch } from '../recipes/evidence.js';
import { ControlRecipe, type ControlRecipeSpec, MasterRecipe } from '../recipes/kind.js';
import type { SigningKeys } from '../signatures/signature.js';
import { verifySignatures } from '../signatures/evidence.js';
import { BatchRecord, type RecordResource } from './kind.js';
import { compareRecord, trailOfRecord } from './open-records.js';
import { readRecord } from './past-records.js';
import { compareSealed } from './seal.js';
import { verifySheets } from './sheets.js';

export interface EvidenceParts {
  readonly store: Store;
  readonly queries: Pick<LedgerQueries, 'auditOf' | 'auditPage'>;
  readonly keys: SigningKeys;
}

const PAGE = 500;
const BATCHES_PER_TURN = 1000;

/** @param more what domains above this one hold as evidence. */
export async function verifyEvidence({ store, queries, keys }: EvidenceParts, more: readonly ((parts: EvidenceParts) => Promise<EvidenceCheck>)[] = []): Promise<EvidenceCheck> {
  const problems: IntegrityProblem[] = [];
  const report = (part: string, { kind, name, site }: { readonly kind: string; readonly name: string; readonly site: string }, found: readonly string[]): void => {
    for (const problem of found) problems.push({ part, kind, name, site, problem });
  };
  const made = new Map<string, AuditRecord>();
  const unread = new Set<string>();
  for await (const record of trailOf(queries, { kind: BatchRecord.kind }, unread)) {
    if (record.result === 'Success') made.set(`${record.site}/${record.target.name}`, record);
  }
  const trail = (category: string): AsyncIterable<AuditRecord> => trailOf(queries, { category }, unread);
  const signatures = await verifySignatures({ store, queries, keys, trail, unread, report });
  const sheets = await verifySheets({ store, keys, trail, report });
  const records = new Set<string>();
  const look = async (record: RecordResource, isUnchanged: () => boolean): Promise<void> => {
    const { site, name } = record.metadata;
    records.add(`${site}/${name}`);
    const told = await trailOfRecord(queries, site, name);
    if (!isUnchanged()) return; // written meanwhile: the next run looks at it
    report('records', { kind: BatchRecord.kind, name, site }, (record.status.phase === 'Finalized' ? compareSealed(record, told, keys) : compareRecord(record, told)).problems);
    await turn();
  };
  for (const record of store.list(BatchRecord)) await look(record, () => store.get(BatchRecord, record.metadata.site, record.metadata.name) === record);
  const past = pastRows(store);
  for (const { site, name } of store.pastIndex(BatchRecord)) {
    const { returns } = past;
    const record = await readRecord(store, site, name);
    if (record) await look(record, () => past.returns === returns && store.pastEntry(BatchRecord, site, name) !== undefined);
  }
  const isThere = (site: string, name: string): boolean => store.get(BatchRecord, site, name) !== undefined || records.has(`${site}/${name}`);
  for (const { site, target } of made.values()) {
    const ref = { kind: BatchRecord.kind, name: target.name, site };
    if (!isThere(site, target.name)) report('records', ref, [`the audit trail tells of it, and it ${absence(store, ref)}`]);
  }
  for await (const { metadata, status } of allBatches(store)) {
    const known = made.has(`${metadata.site}/${metadata.name}`);
    const ref = { kind: BatchRecord.kind, name: status.recordRef, site: metadata.site };
    if (status.recordRef !== '' && !known && !isThere(metadata.site, status.recordRef)) report('records', ref, [`batch ${metadata.name} has a record that ${absence(store, ref)}`]);
  }
  const recipes = store.list(MasterRecipe);
  for (const recipe of recipes) {
    report('recipes', { kind: MasterRecipe.kind, ...recipe.metadata }, [recipeMismatch(store, recipe) ?? []].flat());
    await turn();
  }
  const seen = new Set<string>();
  for await (const controlRecipes of presentAndPast(store)) {
    for (const { metadata, spec } of controlRecipes) {
      const key = `${metadata.site}/${metadata.name}`;
      if (seen.has(key)) continue; // it became past on the way
      seen.add(key);
      report('control-recipes', { kind: ControlRecipe.kind, ...metadata }, [controlRecipeMismatch(metadata.name, spec) ?? []].flat());
      await turn();
    }
  }
  for await (const { metadata } of allBatches(store)) {
    const ref = { kind: ControlRecipe.kind, name: metadata.name, site: metadata.site }; // which has the name of its batch
    if (seen.has(`${ref.site}/${ref.name}`)) continue; // where it was deleted, the trail tells who did it
    const found = await past.during([ref], () => absence(store, ref));
    if (found === UNREADABLE) report('control-recipes', ref, [`batch ${metadata.name} was run by it, and it ${found}`]);
  }
  const others: Record<string, number> = {};
  for (const check of more) {
    const found = await check({ store, queries, keys });
    Object.assign(others, found.checked);
    problems.push(...found.problems);
  }
  return { checked: { signatures, sheets, records: records.size, recipes: recipes.length, controlRecipes: seen.size, ...others }, problems };
}

/** Present and past, those of each site in one moment. */
async function* allBatches(store: Store): AsyncGenerator<ListedBatch> {
  const sites = new Set([...store.pastSites(Batch), ...store.list(Batch).map(({ metadata }) => metadata.site)]);
  for (const site of [...sites].sort()) {
    const batches = listedBatches(store, site);
    for (let n = 0; n < batches.length; n += 1) {
      if (n % BATCHES_PER_TURN === BATCHES_PER_TURN - 1) await turn();
      yield itemAt(batches, n);
    }
  }
}

/** Those of batches that run, and those of all batches that were. */
async function* presentAndPast(store: Store): AsyncGenerator<readonly Resource<ControlRecipeSpec, unknown>[]> {
  const past = pastRows(store);
  const { returns } = past;
  yield store.list(ControlRecipe);
  yield* past.everywhere(ControlRecipe, true);
  if (past.returns !== returns) yield store.list(ControlRecipe); // one that came back meanwhile was in neither
}

/** `unread` gets the files that could not be looked into. */
async function* trailOf(queries: EvidenceParts['queries'], filter: { readonly kind?: string; readonly category?: string }, unread: Set<string>): AsyncGenerator<AuditRecord> {
  let cursor: string | null | undefined;
  do {
    const page = await queries.auditPage({ ...filter, order: 'asc', limit: PAGE, ...(cursor ? { cursor } : {}) });
    yield* page.items;
    for (const file of page.unreadable ?? []) unread.add(file);
    cursor = page.nextCursor;
  } while (cursor !== null);
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
