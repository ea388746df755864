/** Reading the append-only facts of a batch back from the ledger. */
import type { LedgerQueries } from '../../platform/ledger/queries.js';

export type FactReader = Pick<LedgerQueries, 'facts' | 'factPageJson'>;
