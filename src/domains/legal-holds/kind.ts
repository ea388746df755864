/**
 * A legal hold (ADR 0132): what is in its scope is removed by no retention and no delete while it stands. Set and lifted by an administrator, kept for
 * ever. Internal kind: it is never applied, edited or removed; its spec is written once.
 */
import * as v from 'valibot';
import { describeFields } from '../../platform/base/field-words.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { Kind } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { LEGAL_HOLD_SCOPE_WORDS } from './field-words.js';

/** The whole site; of it the named batch records; or what ran there between two instants. */
export const LegalHoldScope = v.strictObject({
  site: v.string(),
  batchRecords: v.array(v.string()),
  from: v.string(),
  to: v.string(),
});
export type LegalHoldScope = ToldBy<typeof LegalHoldScope>;

nameSchemas({ LegalHoldScope });
describeFields(LegalHoldScope, LEGAL_HOLD_SCOPE_WORDS);

/** What of the historian is kept for it: of a batch that has not ended, `to` is ''. */
export const HeldSpan = v.strictObject({ site: v.string(), units: v.array(v.string()), from: v.string(), to: v.string() });
export type HeldSpan = ToldBy<typeof HeldSpan>;

const Person = v.strictObject({ accountId: v.string(), displayName: v.string() });

export const LegalHoldSpec = v.strictObject({
  reason: v.string(),
  scope: LegalHoldScope,
  spans: v.array(HeldSpan),
  setBy: Person,
  setAt: v.string(),
});
export type LegalHoldSpec = ToldBy<typeof LegalHoldSpec>;

export const LegalHoldStatus = v.strictObject({ lifted: v.optional(v.strictObject({ by: Person, at: v.string(), reason: v.string() })) });
export type LegalHoldStatus = ToldBy<typeof LegalHoldStatus>;
export type LegalHoldResource = Resource<LegalHoldSpec, LegalHoldStatus>;

export const LegalHold: Kind<LegalHoldSpec, LegalHoldStatus> = {
  kind: 'LegalHold',
  group: 'record',
  scope: 'cluster',
  action: 'legalhold',
  body: 'flat',
  apply: { how: 'no', reason: 'a legal hold is set and lifted through its own routes' },
  spec: LegalHoldSpec,
  initialStatus: () => ({}),
  status: LegalHoldStatus.entries,
};
