/**
 * Composition root: the only file that knows all parts. Read top to bottom it is the start of the appliance, and from the
 * bottom up its end.
 */
import { fileURLToPath } from 'node:url';
import { type Appliance, failInOrder } from './appliance/appliance.js';
import { freeBytes, takeDataDir } from './appliance/data-dir.js';
import { startInRescue } from './appliance/rescue.js';
import { isStorage, openStorage } from './appliance/storage.js';
import { storageTroubles } from './appliance/storage-troubles.js';
import type { Command } from '../runtime/vocabulary/states.js';
import { Access } from './domains/access/access.js';
import { joinAudit } from './domains/audit/join.js';
import { joinControllers } from './domains/edge-controllers/join.js';
import { joinDemo } from './domains/demo/join.js';
import { joinHistorian } from './domains/historian/join.js';
import { joinMes } from './domains/mes/join.js';
import { joinRecords } from './domains/records/join.js';
import { joinSearch } from './domains/search/join.js';
import { joinSignatures } from './domains/signatures/join.js';
import { joinTelemetry } from './domains/telemetry/join.js';
import { forgetEndedElements } from './domains/batches/reading/ended-elements.js';
import { migrateOrders } from './domains/batches/recovery/old-orders.js';
import { publishStates } from './domains/batches/reading/state-channel.js';
import { commandFrame } from './domains/commands/command-frame.js';
import { phaseRequests } from './domains/commands/phase-requests.js';
import { LocalProbes } from './domains/placement/local-probes.js';
import { LocalRuntimes } from './domains/placement/local-runtimes.js';
import { Site, Unit } from './domains/plant/kind.js';
import { verifyEvidence } from './domains/records/evidence.js';
import { Rehearsals } from './domains/rehearsal/rehearsals.js';
import { KINDS } from './domains/index.js';
import { joinControlModules } from './domains/control-modules/join.js';
import { joinIOModules } from './domains/io-modules/join.js';
import { joinBatches } from './domains/batches/join.js';
import { PhaseCommands } from './domains/batches/phases/phase-commands.js';
import { joinUnits } from './domains/units/join.js';
import { commandRoutes } from './domains/commands/routes.js';
import { tagRoutes } from './domains/tags/routes.js';
import { applyRoutes } from './domains/apply/routes.js';
import { rehearsalRoutes } from './domains/rehearsal/routes.js';
import { recipeRoutes } from './domains/recipes/routes.js';
import { procedureRoutes } from './domains/procedures/routes.js';
import { logicRoutes } from './domains/logic/routes.js';
import { plantRoutes } from './domains/plant/routes.js';
import { ACCESS_ROUTES } from './domains/access/routes.js';
import { type SystemView, SYSTEM_ROUTES } from './domains/system/routes.js';
import { joinAlarms } from './domains/alarms/join.js';
import { publishAlarms } from './domains/alarms/alarm-channel.js';
import { TROUBLE_TOPICS, type Troubles } from './domains/alarms/system-conditions.js';
import { alarmCommands, watchSuperseded } from './domains/commands/alarm-commands.js';
import { TagCatalog } from './domains/tags/catalog.js';
import { ModuleHealths } from './domains/control-modules/health-channel.js';
import { type StreamDeps, streamRoutes } from './domains/tags/live-transports.js';
import { publishTags } from './domains/tags/tag-sources.js';
import { writeFrame } from './domains/tags/write-frame.js';
import { unitOfLogLine } from './domains/units/journal.js';
import { type Clock, systemClock } from './platform/base/clock.js';
import { ContainedFaults } from './platform/base/contained-faults.js';
import { createLog } from './platform/base/log.js';
import { LogLines } from './platform/base/log-lines.js';
import { startGateway } from './platform/http/gateway.js';
import { openNonces } from './platform/http/nonces.js';
import { routeSet } from './platform/http/route.js';
import { RouteTable } from './platform/http/route-table.js';
import { checkStateFile } from './platform/ledger/file-check.js';
import { Loops } from './platform/reconcile/loops.js';
import { momentOf } from './platform/store/clock-witness.js';
import { Hub, type Places } from './platform/stream/hub.js';
import type { Settings } from './settings.js';
import { unitRoutes } from './domains/units/unit-routes.js';
import { elementRoutes } from './domains/batches/element-routes.js';

const LOOPBACK = /^(127\.|::1$|localhost$)/;

export async function startAppliance(settings: Settings, product: SystemView['product'], clock: Clock = systemClock): Promise<Appliance> {
  const logLines = new LogLines(unitOfLogLine);
  const log = createLog(logLines);
  const build = `lineside ${product.version}`;
  const startedAtMs = clock.wallMs();
  const production = settings.operatingMode === 'production';
  const lock = takeDataDir(settings.dataDir, log);
  const opened = await openStorage({ settings, clock, log, build: `${build} ${product.commit}` });
  if (!isStorage(opened)) return startInRescue(settings, opened, log, () => lock.release());
  const { ledger, store, queries, keys, witness, earlierNonces, newestAuditMs, faults, died } = opened;
  const loops = new Loops(store);
  await migrateOrders(store);

  const signingKeys = { ...keys, algorithm: settings.signingAlgorithm, authMode: settings.authMode };
  const storageLow = (): boolean => freeBytes(settings.dataDir) < settings.storageReserveBytes;
  const audit = joinAudit({
    store,
    ledger,
    queries,
    clock,
    log,
    keys: signingKeys,
    settings,
    newestMs: newestAuditMs,
    storageLow,
    evidence: () => verifyEvidence({ store, queries, keys: signingKeys }),
    file: () => checkStateFile(settings.dataDir),
  });
  opened.watchDamage((fault) => audit.evidence.damagedFile(fault));

  // ------------------------------------------------------------ access
  const table = new RouteTable();
  const nonces = openNonces(settings, clock, earlierNonces);
  const access = new Access({
    store,
    clock,
    siteExists: (site) => store.get(Site, '', site) !== undefined,
    siteNames: () => store.list(Site, '').map(({ metadata }) => metadata.name),
    time: { now: () => momentOf(clock, witness), synchronised: () => witness().synchronised },
    keys,
    settings,
    firstAdminByCode: settings.newAdminCode || !audit.gaps.hasLost,
    rows: () => table.rows,
  });

  // ------------------------------------------------------------ runtimes and probes
  const runtimes = new LocalRuntimes({ clock, log, heapMb: settings.runtimeHeapMaxMb, threadsMax: settings.scanThreadsMax, realtime: settings.realtimePriority });
  const probes = new LocalProbes({
    clock,
    log,
    goAhead: settings.realtimePriority,
    settings: { reconnectMinMs: settings.ioReconnectMinMs, reconnectMaxMs: settings.ioReconnectMaxMs, readbackTimeoutMs: settings.readbackTimeoutMs },
    died,
  });
  const demo = joinDemo({ store, clock, log, keys: signingKeys, settings, production, folder: settings.demoDir ?? fileURLToPath(new URL('../demo/', import.meta.url)) });
  const { timeScale } = demo;
  probes.setTimeScale(timeScale());
  const runtimeSettings = {
    loopLimit: settings.stLoopLimit,
    statementBudget: settings.stStatementBudget,
    exceptionChartTimeoutMs: settings.exceptionChartTimeoutMs,
    retainIntervalMs: settings.retainIntervalMs,
    readbackTimeoutMs: settings.readbackTimeoutMs,
    ioLostHoldDelayMs: settings.lostHoldDelayMs,
    resumeCancelsPause: settings.resumeCancelsPause,
    orphanTimeoutMs: settings.orphanTimeoutMs,
  };
  const ioModules = joinIOModules({ store, clock, log, probes, timeScale, deviceId: keys.deviceId, build, settings });
  const controlModules = joinControlModules({ store, clock, log, runtimes, settings });
  const catalog = new TagCatalog(store);
  const tagDeps = { store, clock, catalog, runtimes, modeCheckDeviceTags: settings.modeCheckDeviceTags };
  const units = joinUnits({
    store,
    clock,
    log,
    logLines,
    runtimes,
    image: ioModules.image,
    settings: runtimeSettings,
    timeScale,
    build,
    product,
    tags: tagDeps,
    dataDir: settings.dataDir,
    storageLow,
    appliance: settings,
  });

  // ------------------------------------------------------------ batches and records
  const { settleDeadlineMs, holdPropagation, resumeCancelsPause } = settings;
  const treeSettings = { holdPropagation, resumeCancelsPause, storageLow, timeScale };
  const phases = new PhaseCommands(store, runtimes);
  const commandDeps = {
    store,
    runtimes,
    clock,
    reasonLengthMin: settings.reasonLengthMin,
    keys: signingKeys,
    protect: (site: string, scope: string, command: Command) => phases.protect(site, scope, command),
  };
  const batches = joinBatches({
    store,
    runtimes,
    clock,
    log,
    phases,
    requests: phaseRequests(commandDeps),
    settings: { ...treeSettings, production, settleDeadlineMs, mismatch: (target, problem) => audit.evidence.report({ part: 'recipes', ...target, problem }) },
    facts: queries,
    keys: signingKeys,
  });
  const rehearsals = new Rehearsals({ clock, log, heapMb: settings.runtimeHeapMaxMb });

  // ------------------------------------------------------------ alarms
  const historian = await joinHistorian({ store, clock, log, dataDir: settings.dataDir, settings, runtimes, startedAtMs, died });
  const { history } = historian;
  const records = joinRecords({ store, clock, log, queries, history, keys: signingKeys });
  const troubles: Troubles = { ...storageTroubles(opened), ...audit.troubles, ...historian.troubles };
  for (const loop of [...controlModules.reconcilers, ...ioModules.reconcilers, ...units.reconcilers, ...batches.reconcilers, ...records.reconcilers]) loops.add(loop);

  const gatewayCommands = { ...commandDeps, ...treeSettings, production, settleDeadlineMs, wake: batches.wake };
  const alarms = joinAlarms({
    store,
    clock,
    log,
    runtimes,
    timeScale,
    history,
    record: historian.recordAlarm,
    facts: queries,
    commands: alarmCommands({ ...commandDeps, log }),
    probed: (site, module) => probes.moduleState(site, module)?.state,
    appliance: {
      nonceStoreNearlyFull: () => nonces?.nearlyFull ?? false,
      storageLow,
      archiveFault: audit.archiveFault,
      archiveDamage: audit.archiveDamage,
      containedFault: () => (contained.tooMany ? contained.last : null),
      lookFault: (site, kind, name) => loops.faultOf(site, `${kind}/${name}`),
    },
    troubles,
    settings,
  });
  watchSuperseded({ store, again: alarms.again });
  for (const loop of alarms.reconcilers) loops.add(loop);
  loops.watchTrouble(alarms.controllerChanged);
  // no change of the store tells the alarms on states of modules then
  probes.onModule(() => !store.accepting && alarms.lookAtStates());

  store.watchReload(() => {
    if (store.accepting) log.info('the storage accepts changes again');
    else log.error({ reason: store.refusedBecause }, 'the storage refuses changes: nothing can be changed or recorded until it accepts them again; control goes on');
    batches.catchUp();
    units.catchUp();
    ioModules.catchUp();
    loops.wakeAll();
  });
  const contained = new ContainedFaults(clock, log, () => loops.wakeAll());

  // ------------------------------------------------------------ streams and history
  const places: Places = {
    hasSite: (site) => store.get(Site, '', site) !== undefined,
    hasUnit: (site, unit) => (site === undefined ? store.list(Unit).some((candidate) => candidate.metadata.name === unit) : store.get(Unit, site, unit) !== undefined),
  };
  const hub = new Hub({ clock, sessions: access.authenticator, places, recorded: () => store.recorded });
  publishTags({ hub, runtimes, catalog, store });
  publishAlarms({ hub, store, clock });
  const telemetry = joinTelemetry({ store, clock, log, deviceId: keys.deviceId, runtimes, catalog, settings });
  await telemetry.start?.();
  new ModuleHealths({ hub, store, runtimes, clock });
  historian.start();
  publishStates({ hub, store, ...(historian.recordState ? { listener: historian.recordState } : {}) });
  forgetEndedElements({ hub, store });
  hub.start();

  // ------------------------------------------------------------ gateway
  const siteExists = (site: string): boolean => store.get(Site, '', site) !== undefined;
  const inClear = settings.tlsCertFile === null && !LOOPBACK.test(settings.listen);
  const openInClear = production && inClear ? `no certificate (gateway.tls.certFile): passwords and tokens travel in clear to ${settings.listen}` : '';
  if (openInClear !== '') log.warn(openInClear);
  const system: SystemView = {
    product,
    deviceId: keys.deviceId,
    startedAtMs,
    authMode: settings.authMode,
    operatingMode: settings.operatingMode,
    antiReplay: { enabled: settings.antiReplayEnabled, entries: () => nonces?.size ?? 0, nearlyFull: () => nonces?.nearlyFull ?? false },
    settingsWithoutEffect: settings.withoutEffect,
    troubles: () => TROUBLE_TOPICS.flatMap((topic) => troubles[topic]()?.message ?? []),
    notes: () => [openInClear, faults.last].filter((note) => note !== ''),
    integrity: () => audit.evidence.summary,
    storageAccepting: () => store.accepting,
    contained: () => contained.view(),
    lockedNames: () => (settings.authMode === 'local' ? access.lockOuts.locked().length : 0),
    runtimes: () => runtimes.links().map(({ site, unit, ready, message }) => ({ site, unit, ready, message })),
    realtime: () => runtimes.realtime,
    rows: () => table.rows,
  };
  demo.onTimeScale((value) => {
    probes.setTimeScale(value);
    units.lookAtAll();
  });
  const common = { store, clock, runtimes, production };
  const joined = [
    routeSet(ACCESS_ROUTES, { access, siteExists, streamsOf: (sessionId) => hub.streamsOfSession(sessionId) }),
    routeSet(SYSTEM_ROUTES, { system, store }),
    routeSet(plantRoutes, common),
    routeSet(unitRoutes, common),
    ...controlModules.routes,
    ...ioModules.routes,
    routeSet(logicRoutes, common),
    routeSet(elementRoutes, common),
    routeSet(procedureRoutes, common),
    routeSet(recipeRoutes, { ...common, keys: signingKeys, approveRequiresValid: settings.approveRequiresValid }),
    routeSet(rehearsalRoutes, {
      ...common,
      rehearsals,
      image: ioModules.image,
      runtime: runtimeSettings,
      tree: { holdPropagation, resumeCancelsPause, settleDeadlineMs, reasonLengthMin: settings.reasonLengthMin },
      nowMs: () => clock.wallMs(),
    }),
    routeSet(applyRoutes, { ...common, deviceId: keys.deviceId }),
    routeSet(tagRoutes, tagDeps),
    routeSet(streamRoutes, {
      webSocket: {
        hub,
        clock,
        sessions: access.authenticator,
        frames: {
          write: (frame, caller, sourceIP) => writeFrame(tagDeps, frame, caller, sourceIP),
          command: (frame, caller, sourceIP) => commandFrame(gatewayCommands, frame, caller, sourceIP),
        },
        onFault: (err) => log.error({ err }, 'a stream met a fault of ours'),
      },
      sse: { hub, clock, places },
      places,
    } satisfies StreamDeps),
    routeSet(commandRoutes, gatewayCommands),
    ...units.routes,
    ...batches.routes,
    ...joinSignatures({ store, clock, queries, keys: signingKeys, kinds: KINDS }).routes,
    ...joinControllers({ store }).routes,
    ...alarms.routes,
    ...demo.routes,
    ...records.routes,
    ...joinMes({ ...common, keys: signingKeys, queries, history }).routes,
    ...audit.routes,
    ...joinSearch({ store, kinds: KINDS, catalog, rows: system.rows }).routes,
    ...historian.routes,
  ];
  for (const set of joined) table.add(set);
  access.start();
  let ready = false;
  const server = await startGateway({
    settings,
    clock,
    log,
    store,
    nonces,
    authenticator: access.authenticator,
    table,
    siteExists,
    ready: () => ready && store.accepting,
    started: () => ready,
    consoleFolder: fileURLToPath(new URL('../console/', import.meta.url)),
    connections: hub,
  });

  // ------------------------------------------------------------ go
  await audit.start();
  await demo.start();
  loops.start();
  ioModules.start();
  units.start();
  batches.start();
  audit.watch();
  ready = true;
  faults.told();
  log.info({ port: server.port, dataDir: settings.dataDir, authMode: settings.authMode, operatingMode: settings.operatingMode, deviceId: keys.deviceId }, 'lineside is ready');

  return {
    port: server.port,
    rows: table.rows,
    rescue: [],
    waysOn: [],
    get commissioningCode() {
      return access.commissioningCode;
    },
    get resourceVersion() {
      return store.resourceVersion;
    },
    async stop() {
      ready = false;
      await rehearsals.stop();
      await server.stop();
      hub.stop();
      await telemetry.stop?.();
      access.stop();
      batches.stop();
      audit.stop();
      await loops.stop();
      units.stop();
      await ioModules.stop();
      await runtimes.stop();
      await units.closeRecordings();
      await probes.stop();
      await historian.stop();
      await opened.stop();
      lock.release();
      contained.stop();
    },
    fail: (fault) =>
      failInOrder(fault, {
        log,
        state() {
          ready = false;
          const units = runtimes.links().map(({ site, unit, ready: scans, message, epoch }) => ({ site, unit, scans, message, epoch }));
          return { units, probes: probes.threads(), commitsWaiting: ledger.waiting, contained: contained.view().seams };
        },
        takeFailSafe: () => probes.takeFailSafe(),
        closeLedger: () => ledger.close(),
      }),
  };
}
