/** A data directory whose audit trail is long, as after years. */
import { openDeviceKeys } from '../../src/platform/ledger/keys.js';
import { openLedger } from '../../src/platform/ledger/ledger.js';
import { auditDraft, transaction } from '../support/ledger-data.js';

const AT_ONCE = 500;

/** @param note of each record, for those that are to be long. */
export async function filledTrail(dataDir: string, records: number, note = ''): Promise<void> {
  openDeviceKeys(dataDir);
  const ledger = await openLedger(dataDir);
  const more = note === '' ? {} : { details: { note } };
  for (let sequence = (await ledger.load(0)).auditSequence; sequence < records; sequence += AT_ONCE)
    await ledger.commit(transaction({ audits: Array.from({ length: AT_ONCE }, (_, at) => auditDraft(sequence + at + 1, more)) }));
  await ledger.close();
}
