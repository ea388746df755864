/** Why an element failed, or is held by a failure of its own, as its status keeps it. */
import * as v from 'valibot';
import type { Told } from '../../../runtime/vocabulary/told.js';
import { ToldSchema } from './told-schema.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';

/** By which rule something failed or was refused, and what exactly. */
export interface Reason {
  readonly rule: string;
  readonly message: string;
  readonly told?: Told | undefined;
}

export const ElementFailure = v.strictObject({
  class: v.picklist(['hold', 'fail']),
  rule: v.string(),
  message: v.string(),
  /** Missing in what a release before this one has kept. */
  told: v.optional(ToldSchema),
  step: v.string(),
  since: v.string(),
  active: v.boolean(),
  auditRecordRef: v.string(),
  /** Of an `alarm-exception`: the alarms that have commanded the root since it was last started. */
  alarms: v.optional(v.array(v.string())),
});
export type ElementFailure = ToldBy<typeof ElementFailure>;

nameSchemas({ ElementFailure });
