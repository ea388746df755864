/** What the last integrity run over the audit archive found (contract 2, Audit). */
import { ApiError, get } from './api.js';
import type { IntegrityRun } from './types.js';

/** Null when nobody has asked for a run yet. */
export async function readIntegrity(): Promise<IntegrityRun | null> {
  try {
    return await get<IntegrityRun>('/api/v1/audit/archive-integrity/latest');
  } catch (refused) {
    if (refused instanceof ApiError && refused.status === 404) return null;
    throw refused;
  }
}
