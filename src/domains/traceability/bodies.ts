/** What the traces tell (decisions 8.5). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { MaterialUse } from '../batches/kind.js';

export const TraceNode = v.strictObject({
  /** Of a lot its ID, of a batch its name. */
  id: v.string(),
  type: v.picklist(['lot', 'batch']),
  /** Of a lot its ID, of a batch its batch ID. */
  name: v.string(),
  /** What the lot is, or what the batch has made; several with commas between them. */
  material: v.string(),
  /** How much of the lot was made at this site, or how much the batch has made; '' of what came from outside, of nothing made, and of several materials or units. */
  quantity: v.string(),
  unit: v.string(),
});
export type TraceNode = ToldBy<typeof TraceNode>;

/** One entry of a batch, directed with the material: from a lot into a batch (`consumed`), or out of one (`produced`). */
export const TraceEdge = v.strictObject({
  from: v.string(),
  to: v.string(),
  relation: v.picklist(['consumed', 'produced']),
  quantity: v.string(),
  unit: v.string(),
  /** Path of the phase. */
  element: v.string(),
  at: v.string(),
});
export type TraceEdge = ToldBy<typeof TraceEdge>;

/** What does not add up. */
export const TraceException = v.strictObject({
  code: v.literal('lot_gives_more_than_received'),
  lot: v.string(),
  received: v.string(),
  given: v.string(),
  unit: v.string(),
});

const GRAPH = {
  depth: v.number(),
  nodes: v.array(TraceNode),
  edges: v.array(TraceEdge),
  exceptions: v.array(TraceException),
  /** There is more than the pages up to this one tell: on the next page, or beyond the depth. */
  truncated: v.boolean(),
  nextCursor: v.nullable(v.string()),
};

export const LotTrace = v.strictObject({ lotID: v.string(), material: v.string(), direction: v.picklist(['forward', 'backward']), ...GRAPH });
export type LotTrace = ToldBy<typeof LotTrace>;

export const Genealogy = v.strictObject({ lotID: v.string(), material: v.string(), ...GRAPH });

export const BatchMaterials = v.strictObject({ batch: v.string(), batchID: v.string(), inputs: v.array(MaterialUse), outputs: v.array(MaterialUse) });
export type BatchMaterials = ToldBy<typeof BatchMaterials>;

nameSchemas({ TraceNode, TraceEdge, TraceException, LotTrace, Genealogy, BatchMaterials });
