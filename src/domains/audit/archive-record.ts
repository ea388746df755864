/** That records were archived is on record itself: which, into which file, and the hash the chain goes on from. */
import { randomUUID } from 'node:crypto';
import type { ArchiveNote } from '../../platform/ledger/archive-format.js';
import { component } from '../../platform/store/audit-record.js';
import type { Store } from '../../platform/store/store.js';

export function noteArchived(store: Store, { file, first, last, records, headHash, sha256 }: ArchiveNote): void {
  if (!store.accepting) return; // the note of the ledger stands; only its record is missing
  store.apply({
    audits: [
      {
        site: '',
        actor: component('archiver'),
        action: 'Execute',
        category: 'audit-archive',
        target: { kind: 'AuditArchive', name: file, site: '' },
        result: 'Success',
        details: { firstSequence: first, lastSequence: last, records, headHash, sha256 },
        correlationID: randomUUID(),
      },
    ],
  });
}
