/**
 * The page of an acceptance of the cable of one I/O module (installation qualification; ADR 0079): what a person did to cable and device,
 * and what the box showed meanwhile. Evidence: nothing is driven by it, and it is never written again once it is sealed.
 */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { Scalar } from '../../platform/store/fields.js';
import type { Kind } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { CONDUCTED, EVIDENCE_OUTCOMES, evidenceKind, type EvidenceStatus } from './evidence-kind.js';

/** What is tried. Of the first three the device is gone for as long as the trial lasts. */
export const TRIALS = ['cable-pulled', 'half-open', 'device-restarted', 'delayed', 'duplicated', 'clock-jumped', 'other'] as const;
export type TrialName = (typeof TRIALS)[number];

const Output = v.strictObject({ channel: v.string(), before: v.nullable(Scalar), after: v.nullable(Scalar), isSame: v.boolean() });

export const CableTrial = v.strictObject({
  trial: v.picklist(TRIALS),
  note: v.string(),
  begunAt: v.string(),
  endedAt: v.string(),
  /** Channels that were Good when it began: they are what is watched. */
  watched: v.number(),
  /** From the begin until the first, and until the last of them was Good no more; null where that did not happen. */
  firstBadMs: v.nullable(v.number()),
  allBadMs: v.nullable(v.number()),
  /** Channels that became Good again before the end was told. */
  goodWhileGone: v.array(v.string()),
  /** The oldest sample that was shown as Good. */
  oldestGoodMs: v.number(),
  /** From the end until all of them were Good again; null where they were not. */
  goodAgainMs: v.nullable(v.number()),
  failSafeTaken: v.boolean(),
  /** How far the wall clock was set meanwhile. */
  clockStepMs: v.number(),
  outputs: v.array(Output),
  /** What is not as the product promises, one sentence each. */
  problems: v.array(v.string()),
  /** Why it shows nothing of what it was for, one sentence each. Absent of a page of 0.3.0 and before. */
  incomplete: v.optional(v.array(v.string())),
});
export type CableTrial = ToldBy<typeof CableTrial>;

export const CableSheet = v.strictObject({
  ...CONDUCTED,
  trials: v.array(CableTrial),
  outcome: v.picklist(EVIDENCE_OUTCOMES),
  end: v.nullable(v.strictObject({ reason: v.picklist(['finished', 'timed-out', 'module-changed', 'restart', 'shutdown']), at: v.string(), by: v.string() })),
});
export type CableSheet = ToldBy<typeof CableSheet>;

export const CABLE_PHASES = ['Running', 'Sealed'] as const;

export type CableStatus = EvidenceStatus<(typeof CABLE_PHASES)[number]>;

nameSchemas({ CableTrial, CableSheet });

export type CableResource = Resource<CableSheet, CableStatus>;

export const CableAcceptance: Kind<CableSheet, CableStatus> = evidenceKind('CableAcceptance', CABLE_PHASES, 'POST /api/v1/sites/{site}/iomodules/{name}/cable-acceptance');
