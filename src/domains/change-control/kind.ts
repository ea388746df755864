/**
 * A request to change something that is configured (contract 3, Other kinds; decisions Q-CHANGE-01, Q-CHANGE-02): who asks for what and why, who
 * decided it, and what came of it. The spec is written once; after that the gateway adds its signatures and nothing else. How far it has
 * come is typed status, which no request of the interface writes.
 */
import * as v from 'valibot';
import { describeFields } from '../../platform/base/field-words.js';
import { SIGNED_RECORD_WORDS } from '../signatures/field-words.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { isText, maybe } from '../../platform/store/past-shape.js';
import { Required, StoredTerm } from '../../platform/store/fields.js';
import { freeMap } from '../../platform/store/free-map.js';
import type { Kind } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { SignedRecord } from '../signatures/kind.js';
import { CHANGE_EVIDENCE_WORDS, CHANGE_REQUEST_WORDS, CHANGE_TARGET_WORDS } from './field-words.js';

export const OPERATIONS = ['Create', 'Update', 'Delete'] as const;
export type ChangeOperation = (typeof OPERATIONS)[number];

export const RISKS = ['Low', 'Medium', 'High'] as const;

export const CHANGE_PHASES = ['Pending', 'Approved', 'Rejected', 'Withdrawn', 'Applied', 'Failed', 'Expired'] as const;
export type ChangePhase = (typeof CHANGE_PHASES)[number];

/** As long as the reason of a signature. */
const REASON_CHARACTERS_MAX = 1024;
const DESCRIPTION_CHARACTERS_MAX = 4000;
/** More, nobody reads before he decides. */
const EVIDENCE_MAX = 50;

export const ChangeReason = v.pipe(
  v.string(),
  v.check((text) => text.trim() !== '', 'must not be empty'),
  v.maxLength(REASON_CHARACTERS_MAX),
);

const Target = v.strictObject({ apiVersion: Required, kind: Required, name: Required });
const Evidence = v.strictObject({ kind: Required, name: Required, digest: Required });

/** With its digest, by which audit records name it. */
export const StampedSignature = v.strictObject({ ...SignedRecord.entries, digest: v.string() });
export type StampedSignature = v.InferOutput<typeof StampedSignature>;

export const ChangeRequestSpec = v.strictObject({
  target: Target,
  operation: v.optional(v.picklist(OPERATIONS), 'Update'),
  reason: ChangeReason,
  description: v.optional(v.pipe(v.string(), v.maxLength(DESCRIPTION_CHARACTERS_MAX)), ''),
  risk: v.optional(v.picklist(RISKS), 'Low'),
  manifest: v.optional(freeMap(v.unknown())),
  evidence: v.optional(v.pipe(v.array(Evidence), v.maxLength(EVIDENCE_MAX)), []),
  signatures: v.optional(v.array(StampedSignature), []),
});
export type ChangeRequestSpec = v.InferOutput<typeof ChangeRequestSpec>;

describeFields(Target, CHANGE_TARGET_WORDS);
describeFields(Evidence, CHANGE_EVIDENCE_WORDS);
describeFields(ChangeRequestSpec, CHANGE_REQUEST_WORDS);
describeFields(StampedSignature, { ...SIGNED_RECORD_WORDS, digest: 'SHA-256 of the canonical form of the signature without its value, by which audit records name it.' });

const Value = v.union([v.string(), v.number(), v.boolean(), v.null(), v.array(v.unknown()), v.record(v.string(), v.unknown())]);
/** As a dry run of apply tells it. */
export const ChangedValue = v.strictObject({ path: v.string(), from: Value, to: Value });
export type ChangedValue = ToldBy<typeof ChangedValue>;

/** One step of its life, as the history tells it. */
export const ChangeMove = v.strictObject({
  ts: v.string(),
  phase: v.picklist(CHANGE_PHASES),
  /** Display name; '' where its time was over. */
  by: v.string(),
  reason: v.string(),
  /** Of the target; '' where there is none. */
  digestBefore: v.string(),
  digestAfter: v.string(),
  auditRecordRef: v.string(),
});
export type ChangeMove = ToldBy<typeof ChangeMove>;

export const ChangeHistoryRow = v.strictObject({
  ts: v.string(),
  changeRequest: v.string(),
  namespace: v.string(),
  target: v.strictObject({ apiVersion: v.string(), kind: v.string(), name: v.string() }),
  operation: v.picklist(OPERATIONS),
  /** That it came to. */
  phase: v.picklist(CHANGE_PHASES),
  author: v.string(),
  /** Of this step; '' of the first, and where its time was over. */
  decidedBy: v.string(),
  reason: v.string(),
  /** Of the target; '' where there is none. */
  digestBefore: v.string(),
  digestAfter: v.string(),
  auditRecordRef: v.string(),
});
export type ChangeHistoryRow = ToldBy<typeof ChangeHistoryRow>;

export interface ChangeRequestStatus {
  readonly phase: ChangePhase;
  /** Display name; who it was is told by the signature of the request. */
  readonly author: string;
  readonly createdAt: string;
  readonly decidedBy: string;
  readonly decidedAt: string;
  readonly decisionReason: string;
  readonly appliedAt: string;
  /** Why it was not applied. */
  readonly error: string;
  /** Of the target when the request was made; '' where there was none. */
  readonly baseDigest: string;
  /** Of the target as it was left by the approval; '' where it is gone, or nothing was applied. */
  readonly appliedDigest: string;
  /** Until when it can be approved, for people; judged by `term` (D-C-07). */
  readonly until: string;
  readonly term?: v.InferOutput<typeof StoredTerm> | undefined;
  /** What the approval changed, when it was applied. */
  readonly changes?: readonly ChangedValue[] | undefined;
  readonly moves: readonly ChangeMove[];
}

export const ChangeRequest: Kind<ChangeRequestSpec, ChangeRequestStatus> = {
  kind: 'ChangeRequest',
  group: 'system',
  scope: 'site',
  besideSite: true, // evidence outlives what it speaks of
  action: 'changerequest',
  spec: ChangeRequestSpec,
  body: 'spec',
  apply: { how: 'create-only' },
  required: ['target', 'reason'],
  writtenElsewhere: ['signatures'],
  initialStatus: () => ({
    phase: 'Failed', // one that nobody signed is approved by nobody
    author: '',
    createdAt: '',
    decidedBy: '',
    decidedAt: '',
    decisionReason: '',
    appliedAt: '',
    error: 'it was not made by the gateway',
    baseDigest: '',
    appliedDigest: '',
    until: '',
    moves: [],
  }),
  status: {
    phase: v.picklist(CHANGE_PHASES),
    author: v.string(),
    createdAt: v.string(),
    decidedBy: v.string(),
    decidedAt: v.string(),
    decisionReason: v.string(),
    appliedAt: v.string(),
    error: v.string(),
    baseDigest: v.string(),
    appliedDigest: v.string(),
    until: v.string(),
    term: v.optional(StoredTerm),
    changes: v.optional(v.array(ChangedValue)),
    moves: v.array(ChangeMove),
  },
  pastShape: { phase: maybe(isText), history: maybe(isText) },
  pastIndex: (request): Readonly<Record<keyof PastRequest, string>> => ({ phase: request.status.phase, history: JSON.stringify(historyRowsOf(request)) }),
};

/** What stays in memory of one that was decided long ago; what it asked for stays on the disk (ADR 0133). */
export interface PastRequest {
  readonly phase: string;
  /** Its rows of the history, as JSON. */
  readonly history: string;
}

/** One row for each step. */
export function historyRowsOf({ metadata: { site, name }, spec, status }: ChangeRequestResource): readonly ChangeHistoryRow[] {
  return status.moves.map(({ ts, phase, by, reason, digestBefore, digestAfter, auditRecordRef }, at) => ({
    ts,
    changeRequest: name,
    namespace: `site-${site}`,
    target: spec.target,
    operation: spec.operation,
    phase,
    author: status.author,
    decidedBy: at === 0 ? '' : by,
    reason,
    digestBefore,
    digestAfter,
    auditRecordRef,
  }));
}

export type ChangeRequestResource = Resource<ChangeRequestSpec, ChangeRequestStatus>;

nameSchemas({ ChangeTarget: Target, ChangeEvidence: Evidence, StampedSignature, ChangeMove });
