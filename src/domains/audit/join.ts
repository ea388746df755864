/** The audit trail: its archive, its gaps, the checks of what is evidence, and what is asked of it. */
import type { Clock } from '../../platform/base/clock.js';
import type { Log } from '../../platform/base/log.js';
import { routeSet } from '../../platform/http/route.js';
import { Archiver } from '../../platform/ledger/archiver.js';
import type { ThreadLedger } from '../../platform/ledger/ledger.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import type { Store } from '../../platform/store/store.js';
import type { SettingsOf } from '../../settings.js';
import type { Troubles } from '../alarms/system-conditions.js';
import type { SigningKeys } from '../signatures/signature.js';
import { AuditAnchors } from './anchors.js';
import { ArchiveIntegrity } from './archive-integrity.js';
import { noteArchived } from './archive-record.js';
import { EVIDENCE_ROUTES } from './evidence-routes.js';
import { AuditGaps } from './gaps.js';
import { Integrity, type IntegrityParts } from './integrity.js';
import { draftsBy, scheduleIntegrity } from './integrity-schedule.js';
import { AUDIT_ROUTES } from './routes.js';

/** After a start the evidence is verified: what a start brings about comes first. */
const VERIFIED_AFTER_MS = 5000;

/** `evidence`, `file`: what the verification asks beside the trail (integrity.ts). */
export interface AuditParts extends Pick<IntegrityParts, 'evidence' | 'file'> {
  readonly store: Store;
  readonly ledger: ThreadLedger;
  readonly queries: LedgerQueries;
  readonly clock: Clock;
  readonly log: Log;
  readonly keys: SigningKeys;
  readonly settings: SettingsOf<'audit'> & SettingsOf<'integrity'>;
  /** Time of the newest record before this start; null where it cannot be read. */
  readonly newestMs: number | null;
  /** Little space is kept for what must be written. */
  readonly storageLow: () => boolean;
}

export function joinAudit({ store, ledger, queries, clock, log, keys, settings, newestMs, storageLow, evidence: held, file }: AuditParts) {
  const gaps = new AuditGaps({ store, ledger, clock, keys });
  const archiver = new Archiver({
    queries,
    ledger,
    clock,
    log,
    newestMs,
    limits: { recordsMax: settings.auditRecordsMax, ageMaxMs: settings.auditAgeMaxMs },
    storageLow,
    archived: (note) => noteArchived(store, note),
  });
  const archive = new ArchiveIntegrity({ store, queries, clock });
  const anchors = new AuditAnchors({ folder: settings.auditAnchorsFolder, intervalMs: settings.auditAnchorsIntervalMs, queries, keys, clock });
  const evidence = new Integrity({ store, queries, clock, anchors, evidence: held, file });
  const troubles: Pick<Troubles, 'integrity' | 'audit-gap' | 'audit-anchors'> = {
    integrity: () => (evidence.damage === undefined ? undefined : { severity: 'High', message: evidence.damage }),
    'audit-gap': () => gaps.trouble(),
    'audit-anchors': () => (anchors.fault === undefined ? undefined : { severity: 'Medium', message: anchors.fault }),
  };
  let ends: readonly (() => void)[] = [];
  return {
    gaps,
    evidence,
    troubles,
    /** Why records that should be archived are not; null when nothing keeps them. */
    archiveFault: () => archiver.fault,
    /** What the last check of the archive found wrong; null when nothing. */
    archiveDamage: () => archive.damage,
    routes: [routeSet(AUDIT_ROUTES, { store, queries, integrity: archive, gaps, anchors, clock, keys }), routeSet(EVIDENCE_ROUTES, { evidence })],
    /** What the start found goes on record; what was found before it is known again before anybody asks for an alarm of it. */
    async start(): Promise<void> {
      await gaps.record().catch((fault: unknown) => log.error({ fault: (fault as Error).message }, 'what the start found could not be recorded'));
      await archive.recall();
      await evidence.recall();
    },
    /** After everything that a start brings about. */
    watch(): void {
      archiver.start();
      ends = [
        () => archiver.stop(),
        anchors.start(),
        scheduleIntegrity({ integrity: archive, clock, log, intervalMs: settings.archiveIntegrityIntervalMs }),
        scheduleIntegrity({
          integrity: evidence,
          clock,
          log,
          intervalMs: settings.integrityIntervalMs,
          firstMs: VERIFIED_AFTER_MS,
          what: 'the evidence',
          audit: draftsBy('integrity', 'integrity'),
        }),
      ];
    },
    stop(): void {
      for (const end of ends) end();
    },
  };
}
