/** Production performance of one batch (decisions Q-MES-16 to Q-MES-18): its record in ISA-95 words, with audit trail and history. */
import { missing, Refusal } from '../../platform/base/refusal.js';
import type { AuditRecord } from '../../platform/store/audit-record.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { Batch } from '../batches/kind.js';
import type { MaterialUse } from '../batches/phases/materials.js';
import { auditTrail, integrityOf, recordedHistory, type RecordSources } from '../records/consolidated.js';
import type { BatchHistory } from '../records/batch-history.js';
import { BatchRecord, type BatchRecordSpec, type RecordResource } from '../records/kind.js';
import type { SealCheck } from '../records/seal.js';
import { type ProductionSummary, productionSummary } from './dto.js';

export interface MaterialMove {
  readonly lotID: string;
  readonly materialID: string;
  readonly quantity: string;
  readonly engineeringUnit: string;
  readonly unit: string;
  readonly at: string;
}

type Historian =
  | { readonly configured: false }
  | { readonly configured: true; readonly tags: readonly HistorianTag[]; readonly alarms: readonly unknown[]; readonly gaps: readonly unknown[] };

interface HistorianTag {
  readonly address: string;
  readonly unit: string;
  readonly samples: number;
  readonly firstAt: string;
  readonly lastAt: string;
  readonly href: string;
}

/** What the record itself holds; B2MML shows this much. */
export interface ProductionContent extends ProductionSummary {
  readonly parameters: readonly { readonly name: string; readonly value: string; readonly engineeringUnit: string; readonly provenance: string }[];
  readonly outputs: readonly { readonly name: string; readonly type: string; readonly unit: string; readonly value: string }[];
  readonly equipment: readonly { readonly unit: string; readonly from: string; readonly to: string | null }[];
  readonly materialInputs: readonly MaterialMove[];
  readonly materialOutputs: readonly MaterialMove[];
  readonly externalResults: BatchRecordSpec['externalResults'];
  readonly operatorActions: BatchRecordSpec['operatorActions'];
  readonly executionEvents: BatchRecordSpec['executionEvents'];
}

export interface ProductionRecord extends ProductionContent {
  readonly auditTrail: readonly AuditRecord[];
  readonly historian: Historian;
  /** Whether the record is what was recorded and signed. */
  readonly integrity: SealCheck;
}

/** The record of a batchID, of two the older. @throws Refusal 404 `not_found`, `no_production_record`. */
export function requireProductionRecord(read: StoreReader, site: string, batchID: string): RecordResource {
  const [record] = read
    .list(BatchRecord, site)
    .filter((candidate) => candidate.spec.batch.batchID === batchID)
    .sort((a, b) => (a.spec.batch.createdAt + a.metadata.name < b.spec.batch.createdAt + b.metadata.name ? -1 : 1));
  if (record) return record;
  const batch = read.list(Batch, site).find((candidate) => candidate.spec.batchID === batchID);
  if (!batch) throw missing('batch', batchID);
  throw new Refusal('missing', `batch ${batchID} is ${batch.status.phase}; it has no production record yet`, { code: 'no_production_record', state: batch.status.phase });
}

export function productionContent(record: RecordResource): ProductionContent {
  const { spec } = record;
  return {
    ...productionSummary(record),
    parameters: spec.parameterValues.filter(({ element }) => element === '').map(({ name, value, unit, source }) => ({ name, value, engineeringUnit: unit, provenance: source })),
    outputs: spec.outputs.map(({ name, type, unit, value }) => ({ name, type, unit, value })),
    equipment: spec.equipment.map(({ unit, allocatedAt, releasedAt }) => ({ unit, from: allocatedAt, to: releasedAt || null })),
    materialInputs: spec.materials.inputs.map(materialMove),
    materialOutputs: spec.materials.outputs.map(materialMove),
    externalResults: spec.externalResults,
    operatorActions: spec.operatorActions,
    executionEvents: spec.executionEvents,
  };
}

export async function productionRecord(sources: RecordSources, record: RecordResource): Promise<ProductionRecord> {
  const { spec, metadata } = record;
  const { site } = metadata;
  const [audit, history] = await Promise.all([auditTrail(sources, site, metadata.name, spec), recordedHistory(sources, site, spec)]);
  return {
    ...productionContent(record),
    auditTrail: audit,
    historian: history ? historianPart(history, site, spec.batch.batchID) : { configured: false },
    integrity: integrityOf(record, audit, sources.keys),
  };
}

function historianPart({ tags, alarms, gaps }: BatchHistory, site: string, batchID: string): Historian {
  const base = `/api/v1/historian/batch/${encodeURIComponent(batchID)}/tags`;
  const href = (unit: string, address: string): string => `${base}?${new URLSearchParams({ site, unit, address })}`;
  return {
    configured: true,
    tags: tags.map(({ address, unit, samples, from, to }) => ({ address, unit, samples, firstAt: from, lastAt: to, href: href(unit, address) })),
    alarms,
    gaps,
  };
}

function materialMove({ lotID, material, quantity, unit, unitName, at }: MaterialUse): MaterialMove {
  return { lotID, materialID: material, quantity, engineeringUnit: unit, unit: unitName, at };
}
