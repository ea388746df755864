/** What is served of the next hours. Times are RFC 3339; '' is: nobody knows. */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { BATCH_STATES } from '../batches/kind.js';

export const PlannedSpan = v.strictObject({
  batch: v.string(),
  batchID: v.string(),
  /** Step of the procedure chart: a unit procedure. */
  step: v.string(),
  from: v.string(),
  to: v.string(),
  /** `Expected` the rest of what runs; `Planned` what waits; `Open` what goes on from now if it is restarted now, or has no experience. */
  state: v.picklist(['Ended', 'Running', 'Held', 'Expected', 'Planned', 'Open']),
  /** It comes later than it could, because the unit is taken. */
  waits: v.boolean(),
});
export type PlannedSpan = ToldBy<typeof PlannedSpan>;

export const PlannedBatch = v.strictObject({
  batch: v.string(),
  batchID: v.string(),
  recipe: v.string(),
  state: v.picklist(BATCH_STATES),
  priority: v.number(),
  /** Of one that waits the earliest. */
  startsAt: v.string(),
  endsAt: v.string(),
  /** To go, without what it is held. */
  remainingSeconds: v.nullable(v.number()),
  /** What is still to come of a started one asks people: how long it takes is theirs too. */
  asks: v.boolean(),
  elapsedSeconds: v.number(),
  /** The median of earlier batches of the same version; null where there was none. */
  expectedSeconds: v.nullable(v.number()),
  /** How many that were. */
  runs: v.number(),
  /** Units that it needs and that another has. */
  waitsFor: v.array(v.strictObject({ unit: v.string(), batch: v.string(), batchID: v.string(), until: v.string() })),
});
export type PlannedBatch = ToldBy<typeof PlannedBatch>;

export const Plan = v.strictObject({
  asOf: v.string(),
  until: v.string(),
  /** Started ones, then those that wait, both in the order of the queue. */
  batches: v.array(PlannedBatch),
  units: v.array(v.strictObject({ unit: v.string(), spans: v.array(PlannedSpan) })),
  /** That wait behind the last one of `batches`. */
  notPlanned: v.number(),
});
export type Plan = ToldBy<typeof Plan>;

nameSchemas({ Plan, PlannedBatch, PlannedSpan });
