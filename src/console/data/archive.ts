/** What the last integrity run over the audit archive found (contract 2, Audit). */
import { get } from './api.js';
import type { IntegrityRun, LogPage } from './types.js';

/** Null when nobody has asked for a run yet. The last of all runs: of the route `latest`, which refuses where there is none, browsers complain. */
export async function readIntegrity(): Promise<IntegrityRun | null> {
  const { items } = await get<LogPage<IntegrityRun>>('/api/v1/audit/archive-integrity/history?limit=1');
  return items[0] ?? null;
}
