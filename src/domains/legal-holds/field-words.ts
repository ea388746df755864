/** What the fields of a legal hold mean. */

export const LEGAL_HOLD_SCOPE_WORDS = {
  site: ['Site that it is about.', 'north'],
  batchRecords: ['Names of batch records (and so of their batches): with all that belongs to them; empty where it is about a time or the whole site.', ['b-1042']],
  from: ['First instant of the time it is about; empty where it is about batch records or the whole site.', '2026-01-01T00:00:00.000Z'],
  to: ['Last instant of it.', '2026-02-01T00:00:00.000Z'],
} as const;
