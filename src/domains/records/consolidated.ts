/**
 * The consolidated record of a batch (decisions 8.2): its record, or what there is of it before the end, with everything
 * that was written down around it: comments, signatures, audit trail, what the historian holds. The digest covers all of it.
 */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { AuditRecord } from '../../platform/store/audit-record.js';
import type { Kind } from '../../platform/store/kind.js';
import { pastRows } from '../../platform/store/past-rows.js';
import type { Store } from '../../platform/store/store.js';
import { missing } from '../../platform/base/refusal.js';
import { wallSpan } from '../batches/reading/clock-span.js';
import { elementIndex } from '../batches/tree/element-index.js';
import { Batch } from '../batches/kind.js';
import { runOf } from '../batches/past-run.js';
import { AuditRecordBody } from '../audit/bodies.js';
import { judgeParts } from '../signatures/follow.js';
import { SignedRecord } from '../signatures/kind.js';
import { ListedSignature, listed } from '../signatures/served.js';
import type { SigningKeys } from '../signatures/signature.js';
import { toldSignatures } from '../signatures/told.js';
import { assembleRecord } from './assembly.js';
import { type BatchHistorian, type BatchHistory, type HistorySpan, readHistory, RecordedGap, RecordedTag } from './batch-history.js';
import { BatchRecord, BatchRecordSpec, RECORD_PHASES, RecordComment, type RecordResource } from './kind.js';
import { compareRecord, type Comparison, type Trail } from './open-records.js';
import { readFacts } from './reconciler.js';
import { compareSealed, isSealing, SealCheck, sealCheck } from './seal.js';

export interface RecordSources {
  readonly store: Store;
  readonly queries: Pick<LedgerQueries, 'facts' | 'factPageJson' | 'auditOf' | 'auditPage'>;
  /** Absent when `historian.enabled` is false. */
  readonly history?: BatchHistorian | null | undefined;
  readonly keys: SigningKeys;
}

const { parameterValues: parameters, ...content } = BatchRecordSpec.entries;

export const ConsolidatedRecord = v.strictObject({
  provisional: v.boolean(),
  ...content,
  parameters,
  comments: v.array(RecordComment),
  signatures: v.array(SignedRecord),
  /** Each of them with what it is worth by now, in words: withdrawn and superseded ones too. */
  signatureStates: v.array(ListedSignature),
  audit: v.array(AuditRecordBody),
  historian: v.strictObject({ configured: v.boolean(), tags: v.array(RecordedTag), gaps: v.array(RecordedGap) }),
  /** Null before the end of the batch. */
  record: v.nullable(v.strictObject({ name: v.string(), phase: v.picklist(RECORD_PHASES), digest: v.string() })),
  /** The digest of all of this, and whether the record in it is what was recorded and signed. */
  integrity: v.strictObject({ ...SealCheck.entries, digest: v.string() }),
});
export type ConsolidatedRecord = ToldBy<typeof ConsolidatedRecord>;

nameSchemas({ ConsolidatedRecord });

/** @throws Refusal 404 when there is neither a batch nor the record of one. */
export async function consolidatedRecord(sources: RecordSources, site: string, name: string): Promise<ConsolidatedRecord> {
  const record = sources.store.get(BatchRecord, site, name);
  const { parameterValues, ...content } = record?.spec ?? (await provisional(sources, site, name));
  const [trail, history] = await Promise.all([auditTrail(sources, site, name, content), recordedHistory(sources, site, content)]);
  const body = {
    provisional: record === undefined,
    ...content,
    parameters: parameterValues,
    comments: record?.status.comments ?? [],
    signatures: signaturesIn(trail.items),
    signatureStates: signatureStates(trail, sources),
    audit: trail.items,
    historian: { configured: history !== undefined, tags: history?.tags ?? [], gaps: history?.gaps ?? [] },
    record: record ? { name, phase: record.status.phase, digest: record.status.digest } : null,
  };
  const isLost = record === undefined && sources.store.pastEntry(BatchRecord, site, name) !== undefined;
  const compared = isLost
    ? { problems: [`record ${name} cannot be read from the disk; this was put together from the log of the batch`] }
    : compareWith(trail, record, sources.keys);
  return { ...body, integrity: { digest: canonicalDigest(body), ...sealCheck(compared) } };
}

/**
 * What is handed out is compared first (D-C-10): who reads a record that was changed past the gateway is told so with it. The trail holds that of the record,
 * other records beside it.
 */
export function compareWith({ items, ...beside }: Trail, record: RecordResource | undefined, keys: SigningKeys): Comparison {
  if (!record) return { problems: [], unreadable: [] };
  const { metadata, status } = record;
  const trail = { ...beside, items: items.filter(({ target }) => target.kind === BatchRecord.kind && target.name === metadata.name) };
  const sealed = trail.items.some(isSealing);
  if (!sealed && status.phase !== 'Finalized') return compareRecord(record, trail);
  const compared = compareSealed(record, trail, keys);
  return status.phase === 'Finalized' ? compared : { ...compared, problems: [`it was sealed and is ${status.phase}`, ...compared.problems] };
}

async function provisional({ store, queries }: RecordSources, site: string, name: string): Promise<BatchRecordSpec> {
  const batch = store.get(Batch, site, name);
  if (!batch) throw missing('Batch', name);
  return assembleRecord(batch, store, await readFacts(queries, batch));
}

/** Records that name the batch, its record, its elements or its coordination, and whatever their commands brought about. */
export async function auditTrail(
  { store, queries }: Pick<RecordSources, 'store' | 'queries'>,
  site: string,
  name: string,
  spec: Pick<BatchRecordSpec, 'executionEvents' | 'phaseHistory'>,
): Promise<Trail> {
  const targets = new Map<string, { kind: string; name: string }>();
  const add = (kind: string, target: string): void => void targets.set(`${kind}/${target}`, { kind, name: target });
  for (const kind of ['Batch', 'ControlRecipe', 'BatchRecord']) add(kind, name);
  for (const element of spec.phaseHistory) add(element.kind, element.name);
  const lent = pastRows(store).lend(runOf({ site, name }));
  if (lent) await lent;
  const index = elementIndex(store);
  for (const { kind, metadata } of [...index.elementsOf(site, name), ...index.blocksOf(site, name), ...index.barriersOf(site, name)]) add(kind, metadata.name);
  const correlationIDs = [...new Set(spec.executionEvents.map((event) => event.correlationID).filter((id) => id !== ''))];
  return queries.auditOf({ site, targets: [...targets.values()], correlationIDs });
}

/** Undefined without a historian. */
export async function recordedHistory(
  { history }: Pick<RecordSources, 'history'>,
  site: string,
  { batch, equipment }: Pick<BatchRecordSpec, 'batch' | 'equipment'>,
): Promise<BatchHistory | undefined> {
  return history ? readHistory(history, historySpan(site, { batch, equipment })) : undefined;
}

export function historySpan(site: string, { batch, equipment }: Pick<BatchRecordSpec, 'batch' | 'equipment'>): HistorySpan {
  return { site, units: [...new Set(equipment.map(({ unit }) => unit))], ...wallSpan(batch) };
}

/** Of what the trail holds of the batch; its elements run once, and are not changed afterwards. */
export function signatureStates({ items, unreadable = [] }: Trail, { store, keys }: Pick<RecordSources, 'store' | 'keys'>): ListedSignature[] {
  return toldSignatures({ items, unreadable }, judgeParts({ store, keys, kinds: [Batch, BatchRecord] as readonly Kind[] })).map(listed);
}

function signaturesIn(audit: readonly AuditRecord[]): SignedRecord[] {
  return audit.flatMap(({ signature }) => {
    if (!signature) return [];
    const { digest: _digest, ...record } = signature as SignedRecord & { readonly digest?: string };
    return [record];
  });
}
