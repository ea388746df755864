/** What the storage and the threads of the appliance tell of themselves, each as an alarm of every site. */
import type { Troubles } from '../domains/alarms/system-conditions.js';
import { storedDataTrouble } from '../domains/system/stored-data.js';
import type { Storage } from './storage.js';

/** From here on writing is so slow that whoever looks after the machine should know. */
const SLOW_COMMIT_MS = 250;

/** @param damagedRows what the last verification found of the stored rows, in words */
export function storageTroubles(
  { store, ledger, ends }: Pick<Storage, 'store' | 'ledger' | 'ends'>,
  damagedRows: () => readonly string[],
): Pick<Troubles, 'stored-data' | 'slow-storage' | 'checkpoint' | 'service-thread'> {
  return {
    'stored-data': () => storedDataTrouble(store.faults, damagedRows()),
    'slow-storage': () => {
      const { commitMs } = ledger;
      if (commitMs < SLOW_COMMIT_MS) return undefined;
      return { severity: 'High', message: `the storage is slow: what is written takes ${Math.round(commitMs)} ms to reach the disk; look after the disk before it fails` };
    },
    checkpoint: () => {
      const { checkpointTrouble } = ledger;
      if (checkpointTrouble === null) return undefined;
      const way = 'everything is safe in state.db-wal, which grows until the disk is full: look after the disk, end what reads state.db from outside, or start the appliance again';
      return { severity: 'High', message: `state.db is not brought up to date (${checkpointTrouble}); ${way}` };
    },
    'service-thread': () => (ends.words === undefined ? undefined : { severity: 'Medium', message: ends.words }),
  };
}
