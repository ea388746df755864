/** Who applies, and what apply works on. */
import type { Clock } from '../../platform/base/clock.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import type { Refusal } from '../../platform/base/refusal.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Store } from '../../platform/store/store.js';
import type { Signatory } from '../signatures/signature.js';
import type { Box } from './differs.js';
import type { AnyKind, AppliedKinds } from './kinds.js';
import type { Snapshots } from './snapshots.js';

/** Who applies: a caller behind the route, or a component such as the demo. */
export interface ApplyActor {
  readonly displayName: string;
  /** Sites the caller is confined to; null when unrestricted. */
  readonly sites: readonly string[] | null;
  /** Who signs what is signed as it is made; absent of a component. */
  readonly signatory?: Signatory;
  /** Whose approval applies it, where one does. */
  readonly changeRequest?: string;
  /** A component of the product, which writes reserved labels. */
  readonly isComponent?: true;
  may(action: string): boolean;
  /** After a wait. @throws Refusal where he may not be here any more. */
  judgeAgain?(): void;
  audit(entry: Partial<AuditDraft>): AuditDraft;
}

/** What is stored of a kind that the gateway signs as it is made, and what its record tells beside that. */
export interface Stamped {
  readonly spec: unknown;
  readonly status: unknown;
  readonly audit: Partial<AuditDraft>;
}

export interface Unstamped {
  readonly site: string;
  readonly name: string;
  readonly spec: unknown;
  readonly read: StoreReader;
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
  /** Why a resource is changed by nobody but an approval; undefined where nothing keeps it (`changeControl.enforce`). */
  readonly controlled?: (kind: AnyKind, name: string) => Refusal | undefined;
  /** Keep what is configured before something is applied; absent where nobody would return to it. */
  readonly snapshots?: Pick<Snapshots, 'take'>;
  /** Change requests, which are signed by who applies them. */
  readonly stamp?: (request: Unstamped, actor: ApplyActor) => Stamped;
}
