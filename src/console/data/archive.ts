/** What the last integrity run over the audit archive found (contract 2, Audit). */
import { ApiError, get } from './api.js';

export interface ArchiveFinding {
  readonly file: string;
  readonly ok: boolean;
  readonly problem?: string;
  /** Of the record at which the problem was found; absent when it is the file. */
  readonly sequence?: number;
  /** Somebody has unpacked the file and packed it again. */
  readonly repacked?: boolean;
}

export interface IntegrityRun {
  readonly finishedAt: string;
  readonly ok: boolean;
  /** Records read. */
  readonly checked: number;
  readonly archives: readonly ArchiveFinding[];
}

/** Null when nobody has asked for a run yet. */
export async function readIntegrity(): Promise<IntegrityRun | null> {
  try {
    return await get<IntegrityRun>('/api/v1/audit/archive-integrity/latest');
  } catch (refused) {
    if (refused instanceof ApiError && refused.status === 404) return null;
    throw refused;
  }
}
