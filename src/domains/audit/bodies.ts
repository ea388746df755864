/** What is told of the audit trail and its verifications, as schemas (contract 2, Audit; decisions 8.6, D-C-09, D-C-10). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { ARCHIVE_PROBLEMS, CHAIN_PROBLEMS } from '../../platform/ledger/problems.js';
import { Gap } from '../../platform/ledger/gaps.js';
import { ACTOR_TYPES, AUDIT_ACTIONS, AUDIT_RESULTS } from '../../platform/store/audit-record.js';

/** What a member held is what the kind or the action holds: resources, samples of a body, signatures (docs/contract/2). */
const Held = v.optional(v.record(v.string(), v.unknown()));

export const AuditRecordBody = v.strictObject({
  name: v.string(),
  sequence: v.number(),
  timestamp: v.string(),
  site: v.string(),
  action: v.picklist(AUDIT_ACTIONS),
  category: v.string(),
  target: v.strictObject({ kind: v.string(), name: v.string(), site: v.string() }),
  result: v.picklist(AUDIT_RESULTS),
  reason: v.optional(v.string()),
  operatorReason: v.optional(v.string()),
  rule: v.optional(v.string()),
  before: v.optional(v.unknown()),
  after: v.optional(v.unknown()),
  details: Held,
  signature: Held,
  correlationID: v.string(),
  accountId: v.string(),
  displayName: v.string(),
  actorType: v.picklist(ACTOR_TYPES),
  component: v.optional(v.string()),
  sourceIP: v.optional(v.string()),
  previousHash: v.string(),
  hash: v.string(),
});
export type AuditRecordBody = ToldBy<typeof AuditRecordBody>;

export const AuditPage = v.strictObject({
  items: v.array(AuditRecordBody),
  nextCursor: v.nullable(v.string()),
  /** Files of the archive that hold what may belong to the page and could not be read; absent when there are none. */
  unreadable: v.optional(v.array(v.string())),
  damaged: v.optional(v.array(v.string())),
});

const GapBody = v.strictObject({ ...Gap.entries, acknowledged: v.nullable(v.strictObject(Gap.entries.acknowledged.wrapped.entries)) });
export const Gaps = v.strictObject({ items: v.array(GapBody) });
export type Gaps = ToldBy<typeof Gaps>;
/** `nextCursor` of a page only: whole they are answered as before there were pages. */
export const GapsPage = v.strictObject({ ...Gaps.entries, nextCursor: v.optional(v.nullable(v.string())) });
export type GapsPage = ToldBy<typeof GapsPage>;

const CHECKED = {
  ok: v.boolean(),
  checked: v.number(),
  firstSequence: v.number(),
  lastSequence: v.number(),
  headHash: v.string(),
  archivedTo: v.number(),
  checkedAt: v.string(),
  problems: v.array(v.strictObject({ sequence: v.number(), name: v.string(), problem: v.picklist(CHAIN_PROBLEMS) })),
};
/** Ends of the trail that were kept outside the box. */
export const AnchorsState = v.strictObject({
  configured: v.boolean(),
  checked: v.number(),
  newest: v.nullable(v.strictObject({ sequence: v.number(), at: v.string() })),
  problems: v.array(v.string()),
  /** What cannot be seen without them, in words; '' when nothing. */
  note: v.string(),
});
export type AnchorsState = ToldBy<typeof AnchorsState>;

export const VerificationBody = v.strictObject({ ...CHECKED, gaps: v.array(GapBody), anchors: AnchorsState });
export type VerificationBody = ToldBy<typeof VerificationBody>;
/** The gaps are those of the live trail. */
export const ArchivedVerification = v.strictObject(CHECKED);
export type ArchivedVerification = ToldBy<typeof ArchivedVerification>;

export const ArchiveRun = v.strictObject({
  runId: v.string(),
  startedAt: v.string(),
  finishedAt: v.string(),
  ok: v.boolean(),
  /** Records read. */
  checked: v.number(),
  archives: v.array(
    v.strictObject({
      file: v.string(),
      firstSequence: v.number(),
      lastSequence: v.number(),
      ok: v.boolean(),
      problem: v.optional(v.picklist(ARCHIVE_PROBLEMS)),
      sequence: v.optional(v.number()),
      repacked: v.optional(v.literal(true)),
    }),
  ),
});
export type ArchiveRun = ToldBy<typeof ArchiveRun>;

export const IntegrityProblem = v.strictObject({
  /** `audit-trail`, `audit-archive`, a table of state.db, or what a domain calls its evidence. */
  part: v.string(),
  /** Of the resource it is about; '' where it is about none. */
  kind: v.string(),
  name: v.string(),
  site: v.string(),
  /** One sentence. */
  problem: v.string(),
});
export type IntegrityProblem = ToldBy<typeof IntegrityProblem>;

/** What the last verification of everything that is evidence found. */
export const EvidenceRun = v.strictObject({
  runId: v.string(),
  startedAt: v.string(),
  finishedAt: v.string(),
  ok: v.boolean(),
  /** Counts by name, for example `records`. */
  checked: v.record(v.string(), v.number()),
  /** Rows and facts of a version that had no seals, taken over as they were, and when. */
  madeBefore: v.strictObject({ rows: v.number(), adoptedAt: v.string() }),
  problems: v.array(IntegrityProblem),
});
export type EvidenceRun = ToldBy<typeof EvidenceRun>;

export const EvidenceState = v.strictObject({
  running: v.boolean(),
  /** Problems that were met since the last run. */
  met: v.array(IntegrityProblem),
  last: v.nullable(EvidenceRun),
});
export type EvidenceState = ToldBy<typeof EvidenceState>;

/** The audit trail on its way to a receiver of syslog. */
export const SyslogHealth = v.strictObject({
  configured: v.boolean(),
  state: v.picklist(['off', 'connecting', 'connected', 'waiting']),
  /** Address and port; '' when off. */
  receiver: v.string(),
  /** Last record that was sent, and the last that the receiver is known to have read. */
  sent: v.number(),
  confirmed: v.number(),
  /** Records that are not sent yet. */
  lag: v.number(),
  /** The newest of those that could not be sent. */
  gaps: v.array(v.strictObject({ first: v.number(), last: v.number(), why: v.string(), at: v.string() })),
  /** The last fault; '' when all is well. */
  message: v.string(),
});
export type SyslogHealth = ToldBy<typeof SyslogHealth>;

/** PEM (RFC 8410). */
export const PublicKey = v.strictObject({ keyId: v.string(), algorithm: v.literal('Ed25519'), publicKey: v.string() });

nameSchemas({
  SyslogHealth,
  AuditAnchors: AnchorsState,
  AuditPublicKey: PublicKey,
  AuditRecordBody,
  AuditPage,
  AuditGapBody: GapBody,
  AuditGaps: Gaps,
  AuditGapsPage: GapsPage,
  AuditVerification: VerificationBody,
  ArchivedVerification,
  ArchiveRun,
  IntegrityProblem,
  EvidenceRun,
  EvidenceState,
});
