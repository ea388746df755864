/** The audit trail: its archive, its gaps, the checks of what is evidence, and what is asked of it. */
import { hostname } from 'node:os';
import type { Clock } from '../../platform/base/clock.js';
import { guardedPromise } from '../../platform/base/guarded.js';
import type { Log } from '../../platform/base/log.js';
import { routeSet } from '../../platform/http/route.js';
import { Archiver } from '../../platform/ledger/archiver.js';
import type { ThreadLedger } from '../../platform/ledger/ledger.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import type { Store } from '../../platform/store/store.js';
import type { SyslogSource } from '../../platform/syslog/message.js';
import type { Settings, SettingsOf } from '../../settings.js';
import type { Troubles } from '../alarms/system-conditions.js';
import type { SigningKeys } from '../signatures/signature.js';
import { AnchorTopic, type AnchorTopicParts } from './anchor-topic.js';
import { AuditAnchors } from './anchors.js';
import { ArchiveIntegrity } from './archive-integrity.js';
import { noteArchived } from './archive-record.js';
import { EVIDENCE_ROUTES } from './evidence-routes.js';
import { AuditGaps } from './gaps.js';
import { Integrity, type IntegrityParts } from './integrity.js';
import type { SyslogHealth } from './bodies.js';
import { draftsBy, scheduleIntegrity } from './integrity-schedule.js';
import { AUDIT_ROUTES } from './routes.js';
import { SyslogSender } from './syslog/sender.js';

/** After a start the evidence is verified: what a start brings about comes first. */
const VERIFIED_AFTER_MS = 5000;

/** `evidence`, `file`: what the verification asks beside the trail (integrity.ts). */
export interface AuditParts extends Pick<IntegrityParts, 'evidence' | 'file'> {
  readonly store: Store;
  readonly ledger: ThreadLedger;
  readonly queries: LedgerQueries;
  readonly clock: Clock;
  readonly log: Log;
  readonly keys: SigningKeys & { readonly deviceId: string };
  readonly dataDir: string;
  readonly settings: SettingsOf<'audit'> & SettingsOf<'integrity'> & SettingsOf<'mqtt'> & Pick<Settings, 'publicName'>;
  /** Time of the newest record before this start; null where it cannot be read. */
  readonly newestMs: number | null;
  /** Little space is kept for what must be written. */
  readonly storageLow: () => boolean;
}

export function joinAudit({ store, ledger, queries, clock, log, keys, settings, newestMs, storageLow, evidence: held, file, dataDir }: AuditParts) {
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
  const syslog = settings.auditSyslogEnabled ? new SyslogSender({ settings, store, queries, clock, log, dataDir, source: sourceOf(settings, keys) }) : undefined;
  const topic = anchorTopicOf(settings, { clock, log, deviceId: keys.deviceId });
  const anchors = new AuditAnchors({
    folder: settings.auditAnchorsFolder,
    intervalMs: settings.auditAnchorsIntervalMs,
    queries,
    keys,
    clock,
    sends:
      syslog || topic
        ? (line, end) => {
            syslog?.anchor(line, end);
            topic?.publish(line);
          }
        : undefined,
  });
  const evidence = new Integrity({ store, queries, clock, anchors, evidence: held, file });
  const troubles: Pick<Troubles, 'integrity' | 'audit-gap' | 'audit-anchors' | 'audit-syslog'> = {
    integrity: () => (evidence.damage === undefined ? undefined : { severity: 'High', message: evidence.damage }),
    'audit-gap': () => gaps.trouble(),
    'audit-anchors'() {
      const message = anchors.fault ?? topic?.fault;
      return message === undefined ? undefined : { severity: 'Medium', message };
    },
    'audit-syslog': () => syslog?.trouble(),
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
    syslog: (): SyslogHealth => syslog?.health ?? SYSLOG_OFF,
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
      syslog?.start();
      if (topic) guardedPromise('anchors at the broker', () => topic.start());
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
    async stop(): Promise<void> {
      for (const end of ends) end();
      await Promise.all([syslog?.stop(), topic?.stop()]);
    },
  };
}

const SYSLOG_OFF: SyslogHealth = { configured: false, state: 'off', receiver: '', sent: 0, confirmed: 0, lag: 0, gaps: [], message: '' };

function anchorTopicOf(settings: AuditParts['settings'], parts: Pick<AnchorTopicParts, 'clock' | 'log' | 'deviceId'>): AnchorTopic | undefined {
  const { auditAnchorsMqttTopic: topic, mqttUrl: url, mqttClientId: clientId, mqttUsername: username, mqttPasswordFile: passwordFile, mqttCaFile: caFile } = settings;
  return topic === null || url === null ? undefined : new AnchorTopic({ topic, url, clientId, username, passwordFile, caFile, ...parts });
}

function sourceOf({ auditSyslogFacility: facility, auditSyslogAppName: appName, publicName }: AuditParts['settings'], { deviceId }: AuditParts['keys']): SyslogSource {
  return { facility, appName, hostname: publicName ?? hostname(), procId: String(process.pid), deviceId };
}
