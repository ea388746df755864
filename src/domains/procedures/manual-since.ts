/** Why a level of a procedure is in Manual, as it is kept with the element (manual-levels.ts). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';

export const LevelReference = v.strictObject({
  kind: v.string(),
  name: v.string(),
  /** '' of the procedure itself. */
  path: v.string(),
});
export type LevelRef = ToldBy<typeof LevelReference>;

/** Of a level in Manual: what was set to Manual, the level itself or one below it; absent in what a release before this one has kept. */
export const ManualSince = v.strictObject({ since: v.string(), because: LevelReference });
export type ManualSince = ToldBy<typeof ManualSince>;

nameSchemas({ LevelReference, ManualSince });
