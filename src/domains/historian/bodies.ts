/** What the historian tells, as schemas (decisions 8.9, Q-CHANGE-14); its thread writes the lists as text. */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { QUALITY_WORDS } from '../../../runtime/vocabulary/quality.js';
import { GAP_BOUNDS, GAP_CAUSES, HISTORY_DATA_TYPES } from '../../platform/history/words.js';
import { AlarmEvent } from '../alarms/alarm-event.js';

const TAG = { site: v.string(), unit: v.string(), address: v.string(), tag: v.string() };
/** As in decisions Q-TAG-01; null where no value was. */
const Value = v.nullable(v.union([v.boolean(), v.number(), v.string()]));

/** Lists, and what counts the samples that come in, answer so where `historian.enabled` is false. */
export const NotConfigured = v.strictObject({ configured: v.literal(false), items: v.tuple([]), nextCursor: v.null() });

/** A list of the historian, whether there is one or not. */
function listOf<const Item extends v.GenericSchema>(item: Item) {
  return v.union([v.strictObject({ configured: v.literal(true), items: v.array(item), nextCursor: v.nullable(v.string()) }), NotConfigured]);
}

export const Samples = listOf(v.strictObject({ ...TAG, ts: v.string(), value: Value, quality: v.picklist(QUALITY_WORDS) }));
export const RecordedTags = listOf(v.strictObject({ ...TAG, dataType: v.picklist(HISTORY_DATA_TYPES), firstTs: v.string(), lastTs: v.string(), samples: v.number() }));
export const RecordedAlarms = listOf(AlarmEvent);
export const RecordedStates = listOf(
  v.strictObject({
    site: v.string(),
    ts: v.string(),
    kind: v.string(),
    name: v.string(),
    unit: v.string(),
    from: v.string(),
    to: v.string(),
    cause: v.string(),
    actor: v.string(),
    batchID: v.string(),
    /** Of a phase. */
    templateRef: v.optional(v.string()),
  }),
);
export const RecordedGaps = listOf(
  v.strictObject({
    site: v.string(),
    unit: v.string(),
    address: v.string(),
    from: v.string(),
    to: v.string(),
    cause: v.picklist(GAP_CAUSES),
    bounds: v.picklist(GAP_BOUNDS),
  }),
);

export const HistorianStatus = v.union([
  v.strictObject({
    configured: v.literal(true),
    backend: v.literal('sqlite'),
    sizeBytes: v.number(),
    oldest: v.nullable(v.string()),
    newest: v.nullable(v.string()),
    samples: v.number(),
    retention: v.string(),
    writeRate: v.number(),
    lagMs: v.number(),
    error: v.string(),
  }),
  v.strictObject({ configured: v.literal(false) }),
]);
export type HistorianStatus = v.InferOutput<typeof HistorianStatus>;

export const Ingest = v.union([
  v.strictObject({
    configured: v.literal(true),
    queues: v.array(v.strictObject({ unit: v.string(), depth: v.number(), capacity: v.number(), oldestTs: v.nullable(v.string()), dropped: v.number() })),
    writtenTotal: v.number(),
    droppedTotal: v.number(),
  }),
  NotConfigured,
]);
export type Ingest = v.InferOutput<typeof Ingest>;

nameSchemas({
  HistorianNotConfigured: NotConfigured,
  RecordedSamples: Samples,
  RecordedTags,
  RecordedAlarms,
  RecordedStates,
  RecordedGaps,
  HistorianStatus,
  HistorianIngest: Ingest,
});
