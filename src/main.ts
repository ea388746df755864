/**
 * Composition root: the only file that knows all parts. Read top to bottom it is the start of the appliance, and from the bottom up its
 * end: a part that is made of another one stops before it. Each domain is one join (domains/index.ts).
 */
import { fileURLToPath } from 'node:url';
import { type Appliance, type Made, running } from './appliance/appliance.js';
import { chooseBox, historianBytes, tellBox } from './appliance/box.js';
import { takeDataDir } from './appliance/data-dir.js';
import { layGround } from './appliance/ground.js';
import { openTls, speaksTls } from './appliance/gateway-tls.js';
import { Joins } from './appliance/joins.js';
import { plantSize } from './appliance/plant-counts.js';
import { beyondLimits, limitPlant } from './appliance/plant-limits.js';
import { startInRescue } from './appliance/rescue.js';
import { isStorage, openStorage } from './appliance/storage.js';
import { storageTroubles } from './appliance/storage-troubles.js';
import { Access } from './domains/access/access.js';
import { PhaseCommands } from './domains/batches/phases/phase-commands.js';
import { migrateOrders } from './domains/batches/recovery/old-orders.js';
import * as domains from './domains/index.js';
import { verifyEvidence } from './domains/records/evidence.js';
import type { SystemView } from './domains/system/routes.js';
import { unitOfLogLine } from './domains/units/journal.js';
import { type Clock, systemClock } from './platform/base/clock.js';
import { ContainedFaults } from './platform/base/contained-faults.js';
import { contain } from './platform/base/guarded.js';
import { createLog } from './platform/base/log.js';
import { LogLines } from './platform/base/log-lines.js';
import { Parts } from './platform/base/parts.js';
import { startGateway } from './platform/http/gateway.js';
import { openNonces } from './platform/http/nonces.js';
import type { Settings } from './settings.js';

const shipped = (folder: string): string => fileURLToPath(new URL(`../${folder}/`, import.meta.url));

/** @throws what keeps the appliance from starting, when all that was made so far has stopped. */
export async function startAppliance(settings: Settings, product: SystemView['product'], clock: Clock = systemClock, made: Made = () => undefined): Promise<Appliance> {
  const parts = new Parts();
  return start(parts, settings, product, clock, made).catch(async (fault: unknown) => {
    await parts.stop().catch((end: unknown) => contain('end of a start that failed', end));
    throw fault;
  });
}

async function start(parts: Parts, settings: Settings, product: SystemView['product'], clock: Clock, made: Made): Promise<Appliance> {
  const startedAtMs = clock.wallMs();
  const logLines = new LogLines(unitOfLogLine);
  const log = createLog(logLines);
  const contained = parts.add(new ContainedFaults(clock, log));
  const { dataDir, demoDir } = settings;
  const box = chooseBox(shipped('firmware-profiles'), settings.boxProfile);
  const { profile } = box;
  tellBox(box, log);
  parts.add(takeDataDir(dataDir, log));
  const build = `lineside ${product.version}`;
  const storage = await openStorage({ settings, clock, log, build: `${build} ${product.commit}` });
  if (!isStorage(storage)) return startInRescue(settings, { ...storage, documentsFolder: shipped('docs') }, log, parts);
  const { store, ledger, queries, faults, died } = parts.add(storage);
  await migrateOrders(store);
  limitPlant(profile, store, log);

  const joins = new Joins(parts, store);
  const { table, loops } = joins;
  contained.watch(() => loops.wakeAll());
  const ground = layGround({ settings, log, clock, storage });
  const restoration = await domains.openRestoration(ground);
  const outputsOfBox = () => (restoration.waits ? 'restored' : settings.outputs);
  restoration.onConfirmed(() => loops.wakeAll());
  const { keys, runtimes, probes } = ground;

  // ------------------------------------------------------------ what is recorded and driven
  const historian = joins.join(await domains.joinHistorian({ ...ground, settings: { ...settings, historianBytesMax: historianBytes(box, settings) }, startedAtMs, died }));
  const { history } = historian;
  joins.join(domains.joinLegalHolds({ ...ground, history }));
  parts.add(probes);
  const { recordings } = parts.add(domains.openRecordings({ ...ground, product }));
  parts.add(runtimes);

  // ------------------------------------------------------------ the plant and its equipment
  const { siteExists, siteNames } = joins.join(domains.joinPlant(ground));
  joins.join(domains.joinControlModules(ground));
  const ioModules = joins.join(domains.joinIOModules({ ...ground, outputsOfBox, build }));
  joins.join(domains.joinDiscovery({ ...ground, outputsOfBox, credentials: ioModules.credentials, security: ioModules.security, notice: ioModules.notice }));
  joins.join(domains.joinLoopChecks({ ...ground, outputsOfBox, lapsed: (...of) => access.authenticator.lapsed(...of), image: (site, module) => ioModules.image(site)(module) }));
  joins.join(domains.joinControllers(ground));
  joins.join(domains.joinLogic(ground));
  const tags = joins.join(domains.joinTags(ground));
  joins.join(domains.joinUnits({ ...ground, logLines, build, image: ioModules.image, tags: tags.deps, recordings }));
  parts.add({ stop: () => loops.stop() }); // before what they look at; they start when all parts have

  // ------------------------------------------------------------ records, batches and alarms
  const evidence = () => verifyEvidence({ store, queries, keys }, [domains.changeRequestEvidence, domains.reviewEvidence]);
  const audit = joins.join(domains.joinAudit({ ...ground, ledger, newestMs: storage.newestAuditMs, evidence, file: storage.checkFile }));
  storage.watchDamage((damage) => audit.evidence.damaged(damage));
  const reviews = joins.join(domains.joinReviews({ ...ground, rightsOf: (groups) => access.roles.rightsOf(groups) }));
  joins.join(domains.joinProcedures(ground));
  joins.join(domains.joinRecipes(ground));
  const phases = new PhaseCommands(store, runtimes);
  const { services } = joins.join(domains.joinMtp({ ...ground, image: ioModules.image }));
  const commanded = domains.commandWays({ ...ground, phases, services });
  const batches = joins.join(
    domains.joinBatches({
      ...ground,
      phases,
      requests: commanded.ofCharts,
      mismatch: (target, problem) => audit.evidence.report({ part: 'recipes', ...target, problem }),
      recordState: historian.recordState,
    }),
  );
  const records = joins.join(domains.joinRecords({ ...ground, history }));
  const backups = new domains.Backups({ ...ground, product, time: storage.time, died });
  const nonces = openNonces(settings, clock, storage.earlierNonces);
  const troubles = {
    ...storageTroubles(storage, () => audit.evidence.damagedRows),
    ...audit.troubles,
    ...historian.troubles,
    ...reviews.troubles,
    backup: () => backups.trouble(),
    restored: () => restoration.trouble(),
    'admin-recovery': () => domains.recoveryTrouble(store),
  };
  const troubleEnds = { restored: () => restoration.confirmation };
  const alarms = joins.join(
    domains.joinAlarms({ ...ground, history, record: historian.recordAlarm, commands: commanded.ofAlarms, loops, troubles, troubleEnds, archive: audit, contained, nonces }),
  );
  const commands = joins.join(domains.joinCommands({ ...ground, phases, wake: batches.wake, again: alarms.again, beside: (...of) => access.beside(...of) }));

  // ------------------------------------------------------------ who may see it, and what is told live
  const rows = () => table.rows;
  const firstAdminByCode = settings.newAdminCode || !audit.gaps.hasLost;
  const access = parts.add(
    new Access({ ...ground, served: { speaksTls: speaksTls(settings), port: (): number => server.port }, siteExists, siteNames, time: storage.time, firstAdminByCode, rows }),
  );
  joins.join(domains.joinTelemetry({ ...ground, catalog: tags.catalog }));
  const sessions = access.authenticator;
  const streams = joins.join(domains.joinStreams({ ...ground, sessions, frames: { write: tags.write, command: commands.command }, publishers: joins.publishers }));

  // ------------------------------------------------------------ the gateway
  const rehearsal = joins.join(domains.joinRehearsal({ ...ground, image: ioModules.image }));
  const tls = openTls(settings, clock, log);
  const boxView = { ...box, size: () => ({ ...plantSize(store), streams: streams.hub.streamsOpen }), beyond: () => beyondLimits(profile, store) };
  joins.join(domains.joinAccess({ access, siteExists, streamsOf: streams.streamsOf }));
  joins.join(
    domains.joinSystem({
      ...ground,
      product,
      startedAtMs,
      nonces,
      troubles,
      faults,
      evidence: audit.evidence,
      contained,
      lockOuts: access.lockOuts,
      box: boxView,
      backups,
      restoration,
      syslog: audit.syslog,
      accessNotes: () => access.notes,
      tls: tls?.served,
      rows,
    }),
  );
  const snapshots = new domains.Snapshots({ ...ground, kinds: domains.APPLIED_KINDS });
  const changes = joins.join(
    domains.joinChangeControl({
      ...ground,
      snapshots,
      kinds: domains.APPLIED_KINDS,
      rows,
      deletes: (action) => table.deletes(action),
      report: (problem) => audit.evidence.report(problem),
    }),
  );
  joins.join(domains.joinApply({ ...ground, ...changes.gate, snapshots, outputsOfBox, kinds: domains.APPLIED_KINDS }));
  joins.join(domains.joinMtpImport({ ...ground, ...changes.gate, snapshots, outputsOfBox, kinds: domains.APPLIED_KINDS }));
  joins.join(domains.joinSignatures({ ...ground, kinds: domains.KINDS, refusalToSign: records.refusalToSign }));
  joins.join(domains.joinShift(ground));
  joins.join(domains.joinTraceability(ground));
  joins.join(domains.joinMes({ ...ground, history }));
  joins.join(domains.joinSearch({ ...ground, kinds: domains.KINDS, catalog: tags.catalog, rows }));
  joins.join(domains.joinDemo({ ...ground, kinds: domains.APPLIED_KINDS, folder: demoDir ?? shipped('demo') }));
  access.checkRoles();
  const readiness = { ready: () => parts.areUp && store.accepting, started: () => parts.areUp };
  const live = { connections: streams.hub, streamsMax: { count: profile.limits.streams, because: `hardware profile ${profile.name}` } };
  const folders = { consoleFolder: shipped('console'), documentsFolder: shipped('docs') };
  const server = parts.add(await startGateway({ ...ground, ...readiness, ...live, ...folders, tls: tls?.wish, table, nonces, authenticator: sessions, siteExists }));
  tls?.serveBy(server, store);
  if (tls) parts.add(tls);
  parts.add(rehearsal.rehearsals); // a request waits for it

  // ------------------------------------------------------------ go
  parts.add({ start: () => loops.start() });
  parts.add({ start: () => audit.watch() });
  const appliance = running({ parts, server, tls, table, access, store, ledger, runtimes, probes, contained, log });
  made(appliance);
  await parts.start();
  faults.told();
  log.info({ port: server.port, dataDir, authMode: settings.authMode, operatingMode: settings.operatingMode, deviceId: ground.deviceId }, 'lineside is ready');
  return appliance;
}
