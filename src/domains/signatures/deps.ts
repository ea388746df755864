/** What the routes of signatures work on. */
import type { Clock } from '../../platform/base/clock.js';
import type { Refusal } from '../../platform/base/refusal.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import type { Kind } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import type { SigningKeys } from './signature.js';

export interface SignatureDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly keys: SigningKeys;
  readonly queries: Pick<LedgerQueries, 'auditPage' | 'auditOf' | 'isRowRecorded' | 'verify' | 'verifyArchives'>;
  /** What can be signed: every kind that is served, none of the internal ones. */
  readonly kinds: readonly Kind[];
  /** Why a resource is not signed for, with what is recorded of it; undefined where no record could tell. */
  readonly refusalToSign: (resource: Resource) => Promise<Refusal | undefined> | undefined;
}
