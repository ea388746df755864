/** Production performance of one batch (decisions Q-MES-16 to Q-MES-18): its record in ISA-95 words, with audit trail and history. */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { missing, Refusal } from '../../platform/base/refusal.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { batchesOf } from '../batches/reading/list.js';
import type { MaterialUse } from '../batches/kind.js';
import { auditTrail, compareWith, recordedHistory, type RecordSources } from '../records/consolidated.js';
import { sealCheck } from '../records/seal.js';
import { type BatchHistory, RecordedGap } from '../records/batch-history.js';
import { ExecutionEvent, ExternalResultFact, OperatorAction } from '../runs/execution-log.js';
import { AlarmEvent } from '../alarms/alarm-event.js';
import { AuditRecordBody } from '../audit/bodies.js';
import type { RecordResource } from '../records/kind.js';
import { type ListedRecord, listed, recordsOf } from '../records/past-records.js';
import { SealCheck } from '../records/seal.js';
import { ProductionSummary, productionSummary } from './dto.js';

export const MaterialMove = v.strictObject({
  lotID: v.string(),
  materialID: v.string(),
  quantity: v.string(),
  engineeringUnit: v.string(),
  unit: v.string(),
  at: v.string(),
});
export type MaterialMove = ToldBy<typeof MaterialMove>;

const HistorianTag = v.strictObject({
  address: v.string(),
  unit: v.string(),
  samples: v.number(),
  firstAt: v.string(),
  lastAt: v.string(),
  href: v.string(),
});

const Historian = v.union([
  v.strictObject({ configured: v.literal(false) }),
  v.strictObject({ configured: v.literal(true), tags: v.array(HistorianTag), alarms: v.array(AlarmEvent), gaps: v.array(RecordedGap) }),
]);
type Historian = ToldBy<typeof Historian>;

/** What the record itself holds; B2MML shows this much. */
export const ProductionContent = v.strictObject({
  ...ProductionSummary.entries,
  parameters: v.array(
    v.strictObject({
      name: v.string(),
      value: v.string(),
      engineeringUnit: v.string(),
      provenance: v.string(),
    }),
  ),
  outputs: v.array(
    v.strictObject({
      name: v.string(),
      type: v.string(),
      unit: v.string(),
      value: v.string(),
    }),
  ),
  equipment: v.array(
    v.strictObject({
      unit: v.string(),
      from: v.string(),
      to: v.nullable(v.string()),
    }),
  ),
  materialInputs: v.array(MaterialMove),
  materialOutputs: v.array(MaterialMove),
  externalResults: v.array(ExternalResultFact),
  operatorActions: v.array(OperatorAction),
  executionEvents: v.array(ExecutionEvent),
});
export type ProductionContent = ToldBy<typeof ProductionContent>;

export const ProductionRecord = v.strictObject({
  ...ProductionContent.entries,
  auditTrail: v.array(AuditRecordBody),
  historian: Historian,
  /** Whether the record is what was recorded and signed. */
  integrity: SealCheck,
});
export type ProductionRecord = ToldBy<typeof ProductionRecord>;

nameSchemas({ MaterialMove, ProductionHistorianTag: HistorianTag, ProductionHistorian: Historian, ProductionRecord });

/** The record of a batchID, of two the older. @throws Refusal 404 `not_found`, `no_production_record`. */
export function requireProductionRecord(read: StoreReader, site: string, batchID: string): ListedRecord {
  const [record] = recordsOf(read, batchID, site).sort((a, b) => (a.entry.createdAt + a.name < b.entry.createdAt + b.name ? -1 : 1));
  if (record) return record;
  const [batch] = batchesOf(read, batchID, site);
  if (!batch) throw missing('batch', batchID);
  throw new Refusal('missing', `batch ${batchID} is ${batch.status.phase}; it has no production record yet`, { code: 'no_production_record', state: batch.status.phase });
}

export function productionContent(record: RecordResource): ProductionContent {
  const { spec } = record;
  return {
    ...productionSummary(listed(record)),
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

/** Of a record that cannot be read. */
export function listedContent(record: ListedRecord): ProductionContent {
  const nothing = { parameters: [], outputs: [], equipment: [], materialInputs: [], materialOutputs: [], externalResults: [], operatorActions: [], executionEvents: [] };
  return { ...productionSummary(record), ...nothing };
}

export async function productionRecord(sources: RecordSources, record: RecordResource): Promise<ProductionRecord> {
  const { spec, metadata } = record;
  const { site } = metadata;
  const [trail, history] = await Promise.all([auditTrail(sources, site, metadata.name, spec), recordedHistory(sources, site, spec)]);
  return {
    ...productionContent(record),
    auditTrail: trail.items,
    historian: history ? historianPart(history, site, spec.batch.batchID) : { configured: false },
    integrity: sealCheck(compareWith(trail, record, sources.keys)),
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
