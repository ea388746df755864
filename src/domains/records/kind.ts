/** Batch record (contract 3, Batch record; decisions 8.1): built from facts at the end of a batch, sealed by signature. */
import * as v from 'valibot';
import type { Kind } from '../../platform/store/kind.js';
import type { BatchAlarm } from '../alarms/batch-alarms.js';
import type { ExecutionEvent, ExternalResultFact, OperatorAction } from '../runs/execution-log.js';
import type { ClockSpan } from '../batches/kind.js';
import type { MaterialUse } from '../batches/phases/materials.js';
import type { Condition, Resource } from '../../platform/store/resource.js';
import type { ParameterValue } from '../procedures/kind.js';
import type { ElementFailure } from '../runs/failures.js';

export type RecordPhase = 'Open' | 'Reviewed' | 'Finalized';

export interface PhaseHistoryEntry {
  readonly kind: string;
  readonly name: string;
  readonly path: string;
  readonly unit: string;
  readonly templateRef: string;
  readonly run: number;
  readonly states: readonly { readonly state: string; readonly from: string; readonly to: string; readonly cause: string }[];
}

/** A moment that an audit record evidences; both members are empty when none does. */
export interface GapBound {
  readonly at: string;
  readonly auditRecordRef: string;
}

export interface FailoverGap<Bounds extends string> {
  readonly from: GapBound;
  readonly to: GapBound;
  readonly bounds: Bounds;
}

export interface FailoverEvent {
  readonly unit: string;
  readonly reboundAt: string;
  readonly cause: string;
  readonly controlGap: FailoverGap<'Exact'>;
  readonly dataGap: FailoverGap<'Containing' | 'Overlapping'>;
}

export interface BatchRecordSpec {
  readonly batch: {
    readonly name: string;
    readonly batchID: string;
    readonly uid: string;
    readonly workOrderID: string;
    readonly lotID: string;
    readonly description: string;
    readonly quantity: string;
    readonly engineeringUnit: string;
    readonly priority: number;
    readonly scheduledStartTime: string;
    readonly createdAt: string;
    readonly startedAt: string;
    readonly endedAt: string;
    /** What the wall clock showed meanwhile, where it was set back: the historian holds the batch under these times. */
    readonly clockSpan?: ClockSpan;
  };
  readonly recipe: {
    readonly name: string;
    readonly productID: string;
    readonly productName: string;
    readonly version: string;
    readonly revision: number;
    readonly formulaName: string;
    readonly masterDigest: string;
    readonly controlRecipe: string;
    readonly controlDigest: string;
  };
  readonly equipment: readonly { readonly capability: string; readonly unit: string; readonly allocatedAt: string; readonly releasedAt: string }[];
  readonly parameterValues: readonly (ParameterValue & { readonly element: string })[];
  readonly outputs: readonly {
    readonly element: string;
    readonly name: string;
    readonly type: string;
    readonly unit: string;
    readonly value: string;
    readonly at: string;
    readonly quality: string;
  }[];
  readonly materials: { readonly inputs: readonly MaterialUse[]; readonly outputs: readonly MaterialUse[] };
  readonly operatorActions: readonly OperatorAction[];
  readonly externalResults: readonly ExternalResultFact[];
  /** Units that were bound again while the batch was under way; on one appliance always to the same node. */
  readonly failoverEvents: readonly FailoverEvent[];
  readonly executionEvents: readonly ExecutionEvent[];
  readonly phaseHistory: readonly PhaseHistoryEntry[];
  readonly alarms: readonly BatchAlarm[];
  readonly failure?: ElementFailure;
}

export interface BatchRecordStatus {
  readonly phase: RecordPhase;
  readonly outcome: 'Complete' | 'Stopped' | 'Aborted' | 'Failed';
  readonly digest: string;
  readonly conditions: readonly Condition[];
  readonly review?: { readonly outcome: 'Accepted' | 'Rejected'; readonly comment: string; readonly by: string; readonly at: string };
  readonly comments: readonly { readonly id: string; readonly text: string; readonly reference: string; readonly by: string; readonly at: string }[];
  readonly finalized?: { readonly by: string; readonly at: string; readonly reason: string; readonly signature: string };
}

export type RecordResource = Resource<BatchRecordSpec, BatchRecordStatus>;

export const BatchRecord: Kind<BatchRecordSpec, BatchRecordStatus> = {
  kind: 'BatchRecord',
  group: 'record',
  scope: 'site',
  action: 'batchrecord',
  path: 'batchrecords',
  spec: v.custom<BatchRecordSpec>((spec) => typeof spec === 'object' && spec !== null),
  body: 'document',
  apply: { how: 'no', reason: 'a batch record is the evidence of an execution; it is made when its batch ends' },
  initialStatus: () => ({ phase: 'Open', outcome: 'Complete', digest: '', conditions: [], comments: [] }),
};
