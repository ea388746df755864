/** Who applies, and what apply works on. */
import type { Clock } from '../../platform/base/clock.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import type { Store } from '../../platform/store/store.js';
import type { Box } from './differs.js';
import type { AppliedKinds } from './kinds.js';

/** Who applies: a caller behind the route, or a component such as the demo. */
export interface ApplyActor {
  readonly displayName: string;
  /** Sites the caller is confined to; null when unrestricted. */
  readonly sites: readonly string[] | null;
  /** A component of the product, which writes reserved labels. */
  readonly isComponent?: true;
  may(action: string): boolean;
  /** After a wait. @throws Refusal where he may not be here any more. */
  judgeAgain?(): void;
  audit(entry: Partial<AuditDraft>): AuditDraft;
}

export interface ApplyDeps {
  /** Of this box; undefined where nothing comes from elsewhere. */
  readonly deviceId?: string;
  readonly box?: Box;
  readonly store: Store;
  readonly clock: Clock;
  readonly kinds: AppliedKinds;
  /** Setting `gateway.operatingMode` is `production`. */
  readonly production?: boolean;
}
