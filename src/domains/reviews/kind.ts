/**
 * A periodic review as a signed act (21 CFR 11.10(e), 11.300(b); EU Annex 11, 9 and 12; ADR 0131): of the audit trail of a time, or of who has which
 * access. Internal kind: evidence, written once with its signature and its audit record, never applied, changed or removed.
 */
import * as v from 'valibot';
import { describeFields } from '../../platform/base/field-words.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { StoredTerm } from '../../platform/store/fields.js';
import type { Kind } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { SignedRecord } from '../signatures/kind.js';
import { ACCESS_ENTRY_WORDS, KEY_ACCESS_WORDS, PANEL_ACCESS_WORDS } from './field-words.js';

export const REVIEW_TYPES = ['audit-trail', 'user-access'] as const;
export type ReviewType = (typeof REVIEW_TYPES)[number];
export const REVIEW_OUTCOMES = ['Accepted', 'Findings'] as const;

/** Of the trail: what was looked at, and what its chain said at that moment. */
export const TrailScope = v.strictObject({
  /** '' for the whole appliance. */
  site: v.string(),
  from: v.string(),
  to: v.string(),
  /** Of all sites: the chain that was verified is one. */
  records: v.number(),
  /** Whether no record lies before `from`; of a site: none of that site. */
  fromBegin: v.boolean(),
  /** 0 where no record is of that time. */
  firstSequence: v.number(),
  lastSequence: v.number(),
  headHash: v.string(),
  chainOk: v.boolean(),
});
export type TrailScope = ToldBy<typeof TrailScope>;

export const AccessEntry = v.strictObject({
  accountId: v.string(),
  username: v.string(),
  displayName: v.string(),
  origin: v.picklist(['local', 'oidc']),
  enabled: v.boolean(),
  groups: v.array(v.string()),
  tiers: v.array(v.string()),
  sites: v.nullable(v.array(v.string())),
});
export type AccessEntry = ToldBy<typeof AccessEntry>;

/** Programs have an access too. When it was used last is told beside the list: what changes with every request is signed by nobody. */
export const KeyAccess = v.strictObject({
  name: v.string(),
  site: v.string(),
  keyPrefix: v.string(),
  createdBy: v.string(),
  expiresAt: v.nullable(v.string()),
  test: v.boolean(),
});
export type KeyAccess = ToldBy<typeof KeyAccess>;

export const PanelAccess = v.strictObject({ name: v.string(), displayName: v.string(), site: v.string(), enrolledBy: v.string() });
export type PanelAccess = ToldBy<typeof PanelAccess>;

export const AccessList = v.strictObject({ users: v.array(AccessEntry), apiKeys: v.array(KeyAccess), panels: v.array(PanelAccess) });
export type AccessList = ToldBy<typeof AccessList>;

/** Of the access: how many of each there were, with the digest of the list that was signed. */
export const AccessScope = v.strictObject({ users: v.number(), apiKeys: v.number(), panels: v.number(), digest: v.string() });

nameSchemas({ ReviewedTrail: TrailScope, AccessEntry, KeyAccess, PanelAccess, AccessList, ReviewedAccess: AccessScope });
describeFields(AccessEntry, ACCESS_ENTRY_WORDS);
describeFields(KeyAccess, KEY_ACCESS_WORDS);
describeFields(PanelAccess, PANEL_ACCESS_WORDS);

export const ReviewContent = v.strictObject({
  type: v.picklist(REVIEW_TYPES),
  outcome: v.picklist(REVIEW_OUTCOMES),
  remarks: v.string(),
  trail: v.optional(TrailScope),
  access: v.optional(AccessScope),
});
export type ReviewContent = ToldBy<typeof ReviewContent>;

export const ReviewSpec = v.strictObject({
  content: ReviewContent,
  /** Of a review of the access: each account, key and panel as it was. */
  list: v.optional(AccessList),
  record: SignedRecord,
  /** Of the record without its value. */
  digest: v.string(),
  correlationID: v.string(),
});
export type ReviewSpec = ToldBy<typeof ReviewSpec>;

/** When it was by the clocks of the machine, so that a clock that steps makes none due. */
export const ReviewStatus = v.object({ from: StoredTerm.entries.from });
export type ReviewStatus = ToldBy<typeof ReviewStatus>;
export type ReviewResource = Resource<ReviewSpec, ReviewStatus>;

export const PeriodicReview: Kind<ReviewSpec, ReviewStatus> = {
  kind: 'PeriodicReview',
  group: 'record',
  scope: 'cluster',
  action: 'review',
  body: 'flat',
  apply: { how: 'no', reason: 'a review is evidence; it is given through its own routes' },
  spec: ReviewSpec,
  initialStatus: () => ({ from: { wallMs: 0, bootID: '', bootMs: 0 } }),
  status: ReviewStatus.entries,
};
