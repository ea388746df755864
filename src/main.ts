/**
 * Composition root: the only file that knows all parts. Read top to bottom it is the start of the appliance, and from the
 * bottom up its end.
 */
import { chmodSync, mkdirSync, readdirSync, statfsSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from '../runtime/vocabulary/states.js';
import { Access } from './domains/access/access.js';
import { AdhocController } from './domains/batches/adhoc-reconciler.js';
import { joinBatchControl } from './domains/batches/batch-control.js';
import { HeldByAlarm } from './domains/batches/tree/held-by-alarm.js';
import { batchesOnUnit } from './domains/batches/unit-wakes.js';
import { Batch, isFinalBatch } from './domains/batches/kind.js';
import { isAdhoc, ROOT_KINDS } from './domains/procedures/roots.js';
import { forgetEndedElements } from './domains/batches/reading/ended-elements.js';
import { migrateOrders } from './domains/batches/recovery/old-orders.js';
import { publishStates } from './domains/batches/reading/state-channel.js';
import { commandFrame } from './domains/commands/command-frame.js';
import { phaseRequests } from './domains/commands/phase-requests.js';
import { ControlModule, ControlModuleTemplate } from './domains/control-modules/kind.js';
import { ControlModuleReconciler } from './domains/control-modules/reconciler.js';
import { unitOf } from './domains/control-modules/rules.js';
import { ArchiveIntegrity } from './domains/audit/archive-integrity.js';
import { AuditGaps } from './domains/audit/gaps.js';
import { noteArchived } from './domains/audit/archive-record.js';
import { Integrity } from './domains/audit/integrity.js';
import { draftsBy, scheduleIntegrity } from './domains/audit/integrity-schedule.js';
import { DemoPlant } from './domains/demo/demo.js';
import { PlantTimeScale } from './domains/demo/time-scale.js';
import { alarmRecorder, openHistorian, recordTags, stateRecorder } from './domains/historian/recording.js';
import { IOModule, SimulationPreset } from './domains/io-modules/kind.js';
import { IOModuleReconciler } from './domains/io-modules/reconciler.js';
import { ControlProgram, FunctionBlockType } from './domains/logic/kind.js';
import { ContentsKeeper } from './domains/io-modules/simulation-contents.js';
import { secretsIn } from './domains/io-modules/secrets.js';
import { LocalProbes } from './domains/placement/local-probes.js';
import { LocalRuntimes } from './domains/placement/local-runtimes.js';
import { Site, Unit } from './domains/plant/kind.js';
import { verifyEvidence } from './domains/records/evidence.js';
import { RecordReconciler } from './domains/records/reconciler.js';
import { Rehearsals } from './domains/rehearsal/rehearsals.js';
import { KINDS, routeGroups, STORED_KINDS } from './domains/index.js';
import { SearchIndex } from './domains/search/search-index.js';
import type { SystemView } from './domains/system/routes.js';
import { storedDataTrouble } from './domains/system/stored-data.js';
import { AlarmBook } from './domains/alarms/alarm-register.js';
import { alarmView, isActive } from './domains/alarms/counts.js';
import { publishAlarms } from './domains/alarms/alarm-channel.js';
import { DefinitionWatch } from './domains/alarms/definition-reconciler.js';
import { ExceptionCommands } from './domains/alarms/exception-commands.js';
import { Alarm, AlarmDefinition, type AlarmStatus } from './domains/alarms/kind.js';
import { AlarmReconciler } from './domains/alarms/reconciler.js';
import { unitsConcerned } from './domains/alarms/sources.js';
import { type Trouble, TROUBLE_TOPICS, type TroubleTopic } from './domains/alarms/system-conditions.js';
import { controllerKey, signalKey, SystemWatch, wakeSystemAlarms } from './domains/alarms/system-alarm-reconciler.js';
import { wakeAlarms } from './domains/alarms/wakes.js';
import { alarmCommands, watchSuperseded } from './domains/commands/alarm-commands.js';
import { TagCatalogue } from './domains/tags/catalog.js';
import { ModuleHealths } from './domains/control-modules/health-channel.js';
import type { StreamDeps } from './domains/tags/live-transports.js';
import { publishTags } from './domains/tags/tag-sources.js';
import { openTelemetry, type TelemetrySettings } from './domains/telemetry/open.js';
import { writeFrame } from './domains/tags/write-frame.js';
import { UnitJournal, unitOfLogLine } from './domains/units/journal.js';
import { keepOverrides } from './domains/units/overrides.js';
import { touchesPlan } from './domains/units/plan.js';
import { madeBy } from './domains/units/recording-file.js';
import { watchClock } from './domains/batches/reading/clock-span.js';
import { startControllerPulse } from './domains/units/controller-pulse.js';
import { UnitReconciler } from './domains/units/reconciler.js';
import { Recordings } from './domains/units/recordings.js';
import { type Clock, systemClock } from './platform/base/clock.js';
import { DataFileFault, obstacleOf } from './platform/base/data-file.js';
import { openFatalFaults, waysOnFromFaults } from './platform/base/fatal-faults.js';
import { ContainedFaults } from './platform/base/contained-faults.js';
import { contain, guarded } from './platform/base/guarded.js';
import { createLog, type Log } from './platform/base/log.js';
import { LogLines } from './platform/base/log-lines.js';
import { type Gateway, startGateway } from './platform/http/gateway.js';
import { STORAGE_LOST, startRescue, waysOn } from './platform/http/rescue.js';
import type { RouteColumns } from './platform/http/route.js';
import { RouteTable } from './platform/http/route-table.js';
import { Archiver } from './platform/ledger/archiver.js';
import { openDeviceKeys } from './platform/ledger/keys.js';
import { putAside } from './platform/base/put-aside.js';
import { ThreadEnds } from './platform/base/thread-ends.js';
import type { Finding } from './platform/ledger/gaps.js';
import { inspectDataDir, lostWhole } from './platform/ledger/inspect.js';
import { LedgerFault, openLedger, type ThreadLedger } from './platform/ledger/ledger.js';
import { lockDataDir } from './platform/ledger/lock.js';
import { checkStateFile } from './platform/ledger/file-check.js';
import { openQueries } from './platform/ledger/queries.js';
import { ReconcileLoop } from './platform/reconcile/loop.js';
import { Loops } from './platform/reconcile/loops.js';
import { momentOf, witnessOf } from './platform/store/clock-witness.js';
import { Store } from './platform/store/store.js';
import { Hub, type Places } from './platform/stream/hub.js';
import type { Settings } from './settings.js';

/** From here on writing is so slow that whoever looks after the machine should know. */
const SLOW_COMMIT_MS = 250;
/** A second for the devices, and what a slow disk needs for the last commits. */
const FAIL_SAFE_MS = 1000;
const LAST_COMMITS_MS = 2000;
const FAILED_AGAIN = 'this program has ended by a fault of its own more than three times within ten minutes';
/** Of SQLite: what is in the file is not what it has to be. */
const UNFIT_CODES: readonly string[] = ['SQLITE_ERROR', 'SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_SCHEMA', 'SQLITE_MISMATCH', 'SQLITE_CONSTRAINT'];
const LOOPBACK = /^(127\.|::1$|localhost$)/;

export interface Appliance {
  readonly port: number;
  readonly rows: readonly RouteColumns[];
  readonly commissioningCode: string;
  /** What is missing, where the appliance is in rescue; else empty. */
  readonly rescue: readonly string[];
  readonly waysOn: readonly string[];
  stop(): Promise<void>;
  /** After a fault that nobody caught; the process ends when it resolves, which takes FAIL_MS at most. */
  fail(fault: unknown): Promise<void>;
}

/** The appliance would start in rescue, and was told not to (`--no-rescue`): exit code 3. */
export class RescueNeeded extends Error {}

export async function startAppliance(settings: Settings, product: SystemView['product'], clock: Clock = systemClock): Promise<Appliance> {
  const logLines = new LogLines(unitOfLogLine);
  const log = createLog(logLines);
  const build = `lineside ${product.version}`;
  const startedAtMs = clock.wallMs();
  const production = settings.operatingMode === 'production';
  process.umask(0o077); // what is made from here on is for the owner only
  makeDataDir(settings.dataDir);
  const lock = lockDataDir(settings.dataDir);

  tighten(settings.dataDir, log);

  // ------------------------------------------------------------ storage
  const inspection = inspectDataDir(settings.dataDir);
  if (inspection.losses.length > 0 && (!settings.acceptLoss || inspection.isOutOfReach))
    return rescue(settings, { why: STORAGE_LOST, losses: inspection.losses, waysOn: waysOn(settings.dataDir, !inspection.isOutOfReach) }, log, () => lock.release());
  const faults = openFatalFaults(settings.dataDir, `${build} ${product.commit}`, clock);
  if (settings.acceptFaults) faults.forget();
  if (faults.repeated.length > 0) return rescue(settings, { why: FAILED_AGAIN, losses: faults.repeated, waysOn: waysOnFromFaults(settings.dataDir) }, log, () => lock.release());
  for (const name of inspection.inTheWay) {
    const aside = putAside(settings.dataDir, name, new Date(startedAtMs).toISOString());
    log.error({ aside }, `${name} is in the way of a file of this appliance; it is kept under another name`);
  }
  if (!inspection.usable) {
    const aside = putAside(settings.dataDir, 'state.db', new Date(startedAtMs).toISOString());
    log.error({ aside }, 'state.db cannot be worked with; it is kept under another name and a new one is made');
  }
  for (const { text } of inspection.findings) log.error(text);
  const keys = openDeviceKeys(settings.dataDir);
  const tryToOpen = async (findings: readonly Finding[]): Promise<ThreadLedger | LedgerFault> =>
    openLedger(settings.dataDir, findings).catch((fault: unknown) => {
      if (fault instanceof LedgerFault) return fault;
      throw fault;
    });
  let opened = await tryToOpen(inspection.findings);
  if (opened instanceof LedgerFault) {
    const text = `${path.join(settings.dataDir, 'state.db')} cannot be opened: ${opened.message}`;
    const { code } = opened;
    // never for a full disk, a lock or a newer version: what is in the file is whole then
    const canGoOnWithout = UNFIT_CODES.some((unfit) => code === unfit || code?.startsWith(`${unfit}_`));
    if (settings.acceptLoss && canGoOnWithout) {
      const aside = putAside(settings.dataDir, 'state.db', new Date(startedAtMs).toISOString());
      log.error({ aside }, `${text}; it is kept under another name and a new one is made`);
      opened = await tryToOpen([...inspection.findings, lostWhole(text, settings.dataDir)]);
    }
    if (opened instanceof LedgerFault) return rescue(settings, { why: STORAGE_LOST, losses: [text], waysOn: waysOn(settings.dataDir, canGoOnWithout) }, log, () => lock.release());
  }
  const ledger = opened;
  const ends = new ThreadEnds(clock);
  const died = (name: string, fault: string): void => {
    log.error({ fault }, `the ${name} thread ended by itself; it is started again when it is needed`);
    ends.note(name, fault);
  };
  ledger.died = died;
  const queries = openQueries(
    settings.dataDir,
    () => store.recorded,
    died,
    (fault) => evidence.damagedFile(fault),
  );
  const witness = witnessOf(clock);
  const store = new Store(ledger, clock, witness, STORED_KINDS);
  const newestMs = await queries.newestAuditMs().catch(() => null); // a damaged trail is told of elsewhere
  const loops = new Loops(store);
  const earlierNonces = await store.open(settings.antiReplayWindowMs);
  await migrateOrders(store);

  const signingKeys = { ...keys, algorithm: settings.signingAlgorithm, authMode: settings.authMode };
  const gaps = new AuditGaps({ store, ledger, clock, keys: signingKeys });

  // ------------------------------------------------------------ access
  let commissioningCode = '';
  const hubRef: { hub?: Hub } = {};
  const access = new Access({
    store,
    clock,
    siteExists: (site) => store.get(Site, '', site) !== undefined,
    siteNames: () => store.list(Site, '').map(({ metadata }) => metadata.name),
    time: { now: () => momentOf(clock, witness), synchronised: () => witness().synchronised },
    keys,
    settings,
    firstAdminByCode: settings.newAdminCode || !gaps.hasLost,
    announceCode: (code) => {
      commissioningCode = code;
    },
    streamsOf: (sessionId) => hubRef.hub?.streamsOfSession(sessionId) ?? 0,
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
  const scale = new PlantTimeScale({ store, log, production, initial: settings.timeScale });
  const timeScale = (): number => scale.value;
  const contents = new ContentsKeeper({ store, probes, clock, timeScale });
  const ioModules = new IOModuleReconciler({ store, probes, clock, contents, box: { setting: settings.outputs, deviceId: keys.deviceId } });
  probes.setTimeScale(scale.value);
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
  const units = new UnitReconciler({
    store,
    clock,
    runtimes,
    image: (site) => (module) => ioModules.image(site, module),
    settings: runtimeSettings,
    timeScale,
    build,
  });
  const journal = new UnitJournal({ store, runtimes, clock, log });
  keepOverrides({ store, runtimes, clock });
  const unitLoop = new ReconcileLoop(units, clock, log);
  const ioLoop = new ReconcileLoop(ioModules, clock, log);
  const moduleLoop = new ReconcileLoop(new ControlModuleReconciler({ store }), clock, log);

  // ------------------------------------------------------------ batches and records
  const storageLow = (): boolean => freeBytes(settings.dataDir) < settings.storageReserveBytes;
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
  const integrity = new ArchiveIntegrity({ store, queries, clock });
  const evidence = new Integrity({
    store,
    queries,
    clock,
    evidence: () => verifyEvidence({ store, queries, keys: signingKeys }),
    file: () => checkStateFile(settings.dataDir),
  });
  const { settleDeadlineMs, holdPropagation, resumeCancelsPause } = settings;
  const treeSettings = { holdPropagation, resumeCancelsPause, storageLow, timeScale };
  const commandDeps = {
    store,
    runtimes,
    clock,
    reasonLengthMin: settings.reasonLengthMin,
    keys: signingKeys,
    protect: (site: string, scope: string, command: Command) => phases.protect(site, scope, command),
  };
  const {
    controller: batches,
    phases,
    desk,
  } = joinBatchControl({
    store,
    runtimes,
    clock,
    log,
    settings: { ...treeSettings, production, settleDeadlineMs, mismatch: (target, problem) => evidence.report({ part: 'recipes', ...target, problem }) },
    requests: phaseRequests(commandDeps),
    wake: (site, scope) => wakeScope(site, scope),
  });
  const batchLoop = new ReconcileLoop(batches, clock, log);
  const adhocLoop = new ReconcileLoop(new AdhocController({ store, runtimes, phases, clock, settings: treeSettings }), clock, log);
  const wakeScope = (site: string, scope: string): void => {
    batchLoop.wake(site, scope);
    adhocLoop.wake(site, scope);
  };
  const records = new RecordReconciler({ store, facts: queries });
  const recordLoop = new ReconcileLoop(records, clock, log);
  const rehearsals = new Rehearsals({ clock, log, heapMb: settings.runtimeHeapMaxMb });

  // ------------------------------------------------------------ alarms
  let noHistory = '';
  const history = settings.historianEnabled
    ? await openHistorian(settings.dataDir, settings, died, store).catch((fault: unknown) => {
        noHistory = `historian.db cannot be opened (${(fault as Error).message}): nothing is recorded by it until the next start`;
        return undefined;
      })
    : undefined;
  if (history?.aside) {
    const { name, fault } = history.aside;
    const lost = name === '' ? 'is missing and was begun anew' : `could not be opened (${fault}): it is kept as ${name}, recording goes on in a new one`;
    noHistory = `historian.db ${lost}, and what it held is not served`;
    for (const { metadata } of store.list(Unit)) {
      history.recordGap({
        site: metadata.site,
        unit: metadata.name,
        address: '',
        fromMs: Date.parse(metadata.createdAt),
        toMs: startedAtMs,
        cause: 'HistoryLost',
        bounds: 'Containing',
      });
    }
  }
  noHistory = [...(noHistory === '' ? [] : [noHistory]), ...(history?.partsLost ?? [])].join('; ');
  if (noHistory !== '') log.error(noHistory);
  const alarmBook = new AlarmBook({ store, clock, record: history && alarmRecorder(history) });
  const exceptions = new ExceptionCommands(store, alarmCommands({ ...commandDeps, log }));
  watchSuperseded({ store, again: (site, alarm, target) => exceptions.again(site, alarm, target) });
  const definitions = new DefinitionWatch({
    store,
    clock,
    runtimes,
    book: alarmBook,
    timeScale,
    exceptions,
    lostChanged: (site, module) => wakeSystem(site, signalKey(module)),
    toldState: (site, module) => probes.moduleState(site, module)?.state,
  });
  const definitionLoop = new ReconcileLoop(definitions, clock, log);
  const alarmLoop = new ReconcileLoop(new AlarmReconciler({ store, clock, book: alarmBook, exceptions, resolvedRetentionMs: settings.resolvedRetentionMs }), clock, log);
  const troubles: Readonly<Record<TroubleTopic, () => Trouble | undefined>> = {
    'stored-data': () => storedDataTrouble(store.faults),
    integrity: () => (evidence.damage === undefined ? undefined : { severity: 'High', message: evidence.damage }),
    'audit-gap': () => gaps.trouble(),
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
    historian: () => (noHistory === '' ? undefined : { severity: 'Medium', message: noHistory }),
    'service-thread': () => (ends.words === undefined ? undefined : { severity: 'Medium', message: ends.words }),
  };
  const systemAlarms = new SystemWatch({
    store,
    clock,
    book: alarmBook,
    facts: {
      lostTags: (site, module) => definitions.lostTags(site, module),
      nonceStoreNearlyFull: () => served.gateway?.nonces?.nearlyFull ?? false,
      storageLow,
      archiveFault: () => archiver.fault,
      archiveDamage: () => integrity.damage,
      containedFault: () => (contained.tooMany ? contained.last : null),
      trouble: (topic) => troubles[topic](),
      lookFault: (site, kind, name) => loops.faultOf(site, `${kind}/${name}`),
    },
  });
  const systemLoop = new ReconcileLoop(systemAlarms, clock, log);
  for (const loop of [moduleLoop, ioLoop, unitLoop, batchLoop, adhocLoop, recordLoop, definitionLoop, alarmLoop, systemLoop]) loops.add(loop);
  loops.watchTrouble((site, source) => wakeSystem(site, controllerKey(source)));
  const wakeSystem = (site: string, name: string): void => systemLoop.wake(site, name);
  wakeSystemAlarms(store, wakeSystem);
  wakeAlarms({ store, wakeDefinition: (site, name) => definitionLoop.wake(site, name), wakeAlarm: (site, name) => alarmLoop.wake(site, name) });

  const gatewayCommands = { ...commandDeps, ...treeSettings, production, settleDeadlineMs, wake: wakeScope };
  const recordings = new Recordings({
    folder: path.join(settings.dataDir, 'recordings'),
    clock,
    log,
    settings: { durationMaxMs: settings.recordingDurationMaxMs, bytesMax: settings.recordingBytesMax, keep: settings.recordingsKept },
    storageLow,
    madeBy: madeBy(product),
  });

  // one listener each: what one of them throws does not keep the message from the next
  for (const owner of [units, desk, recordings, definitions]) runtimes.onMessage((link, message) => owner.take(link, message));
  runtimes.onMessage((link, message) => systemAlarms.take(link, message, wakeSystem));
  for (const owner of [units, definitions]) runtimes.onChange((link, what) => owner.linkChanged(link, what));
  runtimes.onChange((link, what) => what === 'down' && recordings.linkDown(link));
  runtimes.onChange((link, what) => {
    if (what !== 'ready') return;
    phases.reload(link);
    batchLoop.wakeAll();
    adhocLoop.wakeAll();
  });
  probes.onModule((site, module, state) => {
    ioModules.moduleChanged(site, module, state);
    if (!store.accepting) definitionLoop.wakeAll(); // no change of the store tells its alarms
  });
  probes.onResumed((site, module, resumed) => ioModules.outputsResumed(site, module, resumed));

  // what wakes whom
  store.watch(Unit, ({ resource, before, configuration }) => {
    if (configuration) unitLoop.wake(resource.metadata.site, resource.metadata.name);
    for (const scope of batchesOnUnit(store, resource, before)) wakeScope(resource.metadata.site, scope);
  });
  for (const kind of [ControlModule, ControlProgram]) {
    store.watch(kind, (event) => {
      if (!touchesPlan(event)) return;
      const { resource, before } = event;
      for (const version of [resource, before]) {
        const spec = version?.spec as { unitRef?: string } | undefined;
        const unit = spec ? (spec.unitRef ?? unitOf(store, resource.metadata.site, spec as never)) : '';
        if (unit) unitLoop.wake(resource.metadata.site, unit);
      }
    });
  }
  store.watch(AlarmDefinition, ({ resource, before, configuration }) => {
    if (!configuration) return;
    const { site } = resource.metadata;
    for (const version of [resource, before]) for (const unit of version ? unitsConcerned(version.spec, store, site) : []) unitLoop.wake(site, unit);
  });
  store.watch(ControlModule, (event) => touchesPlan(event) && moduleLoop.wake(event.resource.metadata.site, event.resource.metadata.name));
  store.watch(ControlModuleTemplate, ({ configuration }) => configuration && moduleLoop.wakeAll());
  for (const kind of [ControlModuleTemplate, FunctionBlockType]) store.watch(kind, ({ configuration }) => configuration && unitLoop.wakeAll());
  for (const kind of [IOModule, SimulationPreset]) {
    store.watch(kind, ({ resource, configuration }) => {
      if (!configuration) return;
      ioLoop.wakeAll();
      if (resource.kind === 'IOModule') {
        const key = ioModules.keyOf(resource);
        ioLoop.wake(key.site, key.name);
        unitLoop.wakeAll();
      }
    });
  }
  store.watch(Batch, ({ type, resource }) => {
    if (type === 'remove') return;
    const { site, name } = resource.metadata;
    batchLoop.wake(site, name);
    if (isFinalBatch(resource.status.phase)) recordLoop.wake(site, name);
  });
  for (const kind of Object.values(ROOT_KINDS)) {
    store.watch(kind, ({ type, resource }) => {
      if (type === 'put' && isAdhoc(resource)) adhocLoop.wake(resource.metadata.site, resource.metadata.name);
    });
  }
  // what an alarm has held can be restarted once it clears
  const heldByAlarm = new HeldByAlarm(store);
  store.watch(Alarm, ({ type, resource, before }) => {
    const [now, was] = [resource.status as AlarmStatus, before?.status as AlarmStatus | undefined];
    if (!now.exceptionAction || (type === 'put' && was && isActive(was.state) === isActive(now.state))) return;
    const { site, name } = resource.metadata;
    for (const root of heldByAlarm.of(site, name)) wakeScope(site, root);
  });
  store.watchReload(() => {
    if (store.accepting) log.info('the storage accepts changes again');
    else log.error({ reason: store.refusedBecause }, 'the storage refuses changes: nothing can be changed or recorded until it accepts them again; control goes on');
    desk.takeKept();
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
  hubRef.hub = hub;
  const catalogue = new TagCatalogue(store);
  const tagDeps = { store, clock, catalogue, runtimes, modeCheckDeviceTags: settings.modeCheckDeviceTags };
  publishTags({ hub, runtimes, catalogue, store });
  publishAlarms({ hub, store, clock });
  const broadcast =
    settings.mqttUrl !== null && settings.mqttEnabled ? openTelemetry(telemetrySettings(settings, settings.mqttUrl), { store, clock, log, deviceId: keys.deviceId }) : undefined;
  if (broadcast) {
    const { telemetry } = broadcast;
    publishTags({ hub: telemetry, runtimes, catalogue, store });
    publishAlarms({ hub: telemetry, store, clock });
    publishStates({ hub: telemetry, store });
    await broadcast.start();
  }
  new ModuleHealths({ hub, store, runtimes, clock });
  const stopRecording = history ? recordTags({ history, runtimes, clock, intervalMinMs: settings.historianIntervalMinMs }) : () => undefined;
  publishStates({ hub, store, ...(history ? { listener: stateRecorder(history, store, startedAtMs) } : {}) });
  forgetEndedElements({ hub, store });
  hub.start();

  // ------------------------------------------------------------ gateway
  const alarms = alarmView(store);
  const siteExists = (site: string): boolean => store.get(Site, '', site) !== undefined;
  const served: { gateway?: Gateway } = {};
  const inClear = settings.tlsCertFile === null && !LOOPBACK.test(settings.listen);
  const openInClear = production && inClear ? `no certificate (gateway.tls.certFile): passwords and tokens travel in clear to ${settings.listen}` : '';
  if (openInClear !== '') log.warn(openInClear);
  const system: SystemView = {
    product,
    deviceId: keys.deviceId,
    startedAtMs,
    authMode: settings.authMode,
    operatingMode: settings.operatingMode,
    antiReplay: { enabled: settings.antiReplayEnabled, entries: () => served.gateway?.nonces?.size ?? 0, nearlyFull: () => served.gateway?.nonces?.nearlyFull ?? false },
    settingsWithoutEffect: settings.withoutEffect,
    troubles: () => TROUBLE_TOPICS.flatMap((topic) => troubles[topic]()?.message ?? []),
    notes: () => [openInClear, faults.last].filter((note) => note !== ''),
    integrity: () => evidence.summary,
    storageAccepting: () => store.accepting,
    contained: () => contained.view(),
    lockedNames: () => (settings.authMode === 'local' ? access.lockOuts.locked().length : 0),
    runtimes: () => runtimes.links().map(({ site, unit, ready, message }) => ({ site, unit, ready, message })),
    realtime: () => runtimes.realtime,
    rows: () => served.gateway?.rows ?? [],
  };
  const demo = new DemoPlant({
    store,
    clock,
    keys: signingKeys,
    enabled: settings.demoEnabled,
    production,
    folder: settings.demoDir ?? fileURLToPath(new URL('../demo/', import.meta.url)),
  });
  scale.onChange((value) => {
    probes.setTimeScale(value);
    unitLoop.wakeAll();
  });
  const common = { store, clock, runtimes, production };
  const groups = routeGroups(secretsIn(settings.secretsDir), production);
  const deps: { readonly [Group in keyof typeof groups]: unknown } = {
    access: { access, siteExists },
    system: { system, store },
    signatures: { store, clock, queries, keys: signingKeys, kinds: KINDS },
    plant: common,
    controlModules: { ...common, bypassDefaultMs: settings.bypassDefaultMs, bypassMaxMs: settings.bypassMaxMs },
    ioModules: { ...common, probes, ioModules, image: build, modeCheckDeviceTags: settings.modeCheckDeviceTags },
    controllers: common,
    alarmDefinitions: common,
    logic: common,
    procedures: common,
    recipes: { ...common, keys: signingKeys, approveRequiresValid: settings.approveRequiresValid },
    rehearsal: {
      ...common,
      rehearsals,
      image: (site: string) => (module: string) => ioModules.image(site, module),
      runtime: runtimeSettings,
      tree: { holdPropagation, resumeCancelsPause, settleDeadlineMs, reasonLengthMin: settings.reasonLengthMin },
      nowMs: () => clock.wallMs(),
    },
    alarms: {
      ...common,
      book: alarmBook,
      facts: queries,
      isEvaluable: (site: string, definition: string) => definitions.isEvaluable(site, definition),
      shelveMaxMs: settings.maxShelveDurationMs,
      history,
      timeScale,
      intervalMinMs: settings.historianIntervalMinMs,
    },
    apply: { ...common, deviceId: keys.deviceId },
    demo: { demo, setTimeScale: (value: number) => scale.set(value), timeScale },
    tags: tagDeps,
    streams: {
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
    } satisfies StreamDeps,
    commands: gatewayCommands,
    recordings: { ...common, recordings, secondsMax: settings.recordingDurationMaxMs / 1000 },
    units: { ...common, alarms, nowMs: () => clock.wallMs(), timeScale, nodeName: settings.nodeName, image: build, tags: tagDeps, journal, logLines },
    batches: { ...common, facts: queries, storageLow },
    adhoc: { ...common, storageLow, keys: signingKeys },
    records: { ...common, queries, history, keys: signingKeys },
    mes: { ...common, keys: signingKeys, queries, history },
    audit: { store, queries, integrity, gaps },
    evidence: { evidence },
    search: { store, index: new SearchIndex(store, KINDS), catalogue: tagDeps.catalogue, rows: system.rows },
    historian: { history, store },
  };
  const table = new RouteTable();
  for (const group of Object.keys(groups) as (keyof typeof groups)[]) table.add({ rows: groups[group], deps: deps[group] });
  access.useRoutes(table.rows);
  let ready = false;
  const gateway = await startGateway({
    settings,
    clock,
    log,
    store,
    earlierNonces,
    authenticator: access.authenticator,
    table,
    siteExists,
    ready: () => ready && store.accepting,
    started: () => ready,
    consoleFolder: fileURLToPath(new URL('../console/', import.meta.url)),
    census: hub,
  });
  served.gateway = gateway;

  // ------------------------------------------------------------ go
  await gaps.record().catch((fault: unknown) => log.error({ fault: (fault as Error).message }, 'what the start found could not be recorded'));
  if (settings.demoEnabled && !production) {
    // the plant that is there goes before the one that is shown
    await demo
      .provisionOnce()
      .catch((fault: unknown) => log.warn({ fault: (fault as Error).message }, 'the demonstration plant could not be brought up to date and stays as it is'));
  }
  await integrity.recall(); // its alarm stands over a restart
  await evidence.recall();
  loops.start();
  const stopClockWatch = watchClock(
    clock,
    () => batches.lookAtClock(),
    () => batchLoop.wakeAll(),
  );
  const stopPulse = startControllerPulse(clock, () => runtimes.links(), settings.orphanTimeoutMs);
  contents.start();
  journal.start();
  archiver.start();
  const stopChecks = scheduleIntegrity({ integrity, clock, log, intervalMs: settings.archiveIntegrityIntervalMs });
  const stopVerifying = scheduleIntegrity({
    integrity: evidence,
    clock,
    log,
    intervalMs: settings.integrityIntervalMs,
    firstMs: 5000, // what a start brings about comes first
    what: 'the evidence',
    audit: draftsBy('integrity', 'integrity'),
  });
  ready = true;
  faults.told();
  log.info(
    { port: gateway.server.port, dataDir: settings.dataDir, authMode: settings.authMode, operatingMode: settings.operatingMode, deviceId: keys.deviceId },
    'lineside is ready',
  );

  return {
    port: gateway.server.port,
    rows: gateway.rows,
    rescue: [],
    waysOn: [],
    get commissioningCode() {
      return commissioningCode;
    },
    async stop() {
      ready = false;
      await rehearsals.stop();
      await gateway.server.stop();
      hub.stop();
      await broadcast?.stop();
      access.stop();
      stopPulse();
      stopClockWatch();
      archiver.stop();
      stopChecks();
      stopVerifying();
      await loops.stop();
      journal.stop();
      await contents.stop();
      await runtimes.stop();
      await recordings.close();
      await probes.stop();
      stopRecording();
      await store.recorded.catch(() => undefined); // the historian is told of what is on disk
      await history?.close();
      await queries.close();
      await ledger.close();
      lock.release();
      contained.stop();
    },
    async fail(fault) {
      ready = false;
      guarded('log of a fault that nobody caught', () => {
        const units = runtimes.links().map(({ site, unit, ready: scans, message, epoch }) => ({ site, unit, scans, message, epoch }));
        log.fatal(
          { fault: textOf(fault), units, probes: probes.threads(), commitsWaiting: ledger.waiting, contained: contained.view().seams },
          'nobody caught a fault of ours: outputs take their fail-safe values, and the process ends',
        );
      });
      // no other part is asked: what it would do now is not known
      await Promise.all([within(FAIL_SAFE_MS, () => probes.takeFailSafe()), within(LAST_COMMITS_MS, () => ledger.close())]);
    },
  };
}

/** Resolves when the work is done, has failed, or time is up. */
async function within(ms: number, work: () => Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  const done = guarded('last work of the process', work)?.catch((fault: unknown) => contain('last work of the process', fault));
  await Promise.race([timeUp, done]);
  clearTimeout(timer);
}

function textOf(fault: unknown): string {
  return fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
}

function makeDataDir(dataDir: string): void {
  const obstacle = obstacleOf(dataDir, { as: 'folder', to: 'write' });
  if (obstacle) throw new DataFileFault(obstacle, 'it is to be the data directory: put it right, or name another one with --data-dir');
  mkdirSync(dataDir, { recursive: true, mode: 0o750 });
}

/** Password hashes are in there: a directory that somebody made beforehand, and files of an earlier version, are for the owner only. */
function tighten(dataDir: string, log: Log): void {
  try {
    const { mode } = statSync(dataDir);
    if (mode & 0o027) {
      chmodSync(dataDir, mode & 0o750);
      log.warn({ dataDir }, 'the data directory could be read by everybody on this machine; it is for its owner and group now');
    }
    for (const entry of readdirSync(dataDir, { withFileTypes: true })) if (entry.isFile() && entry.name !== 'config.yaml') chmodSync(path.join(dataDir, entry.name), 0o600);
  } catch (fault) {
    log.warn({ dataDir, fault: (fault as Error).message }, 'the data directory cannot be kept from other users of this machine');
  }
}

/** No thread is started and nothing is opened: what is there stays as it is until somebody decides. */
async function rescue(
  settings: Settings,
  reason: { readonly why: string; readonly losses: readonly string[]; readonly waysOn: readonly string[] },
  log: Log,
  release: () => void,
): Promise<Appliance> {
  const { losses } = reason;
  if (settings.noRescue) {
    release();
    throw new RescueNeeded(`${losses.join('; ')}. Ways on: ${reason.waysOn.join('; ')}`);
  }
  const { tlsCertFile, tlsKeyFile, listen, httpPort } = settings;
  const tls = tlsCertFile && tlsKeyFile ? { certFile: tlsCertFile, keyFile: tlsKeyFile } : undefined;
  const server = await startRescue({ host: listen, port: httpPort, ...(tls ? { tls } : {}), ...reason });
  log.error({ missing: losses, why: reason.why }, 'lineside is in rescue: no unit is driven');
  return {
    port: server.port,
    rows: [],
    commissioningCode: '',
    rescue: losses,
    waysOn: reason.waysOn,
    async stop() {
      await server.stop();
      release();
    },
    async fail(fault) {
      log.fatal({ fault: textOf(fault) }, 'nobody caught a fault of ours: the process ends');
    },
  };
}

function telemetrySettings(settings: Settings, url: string): TelemetrySettings {
  const { mqttClientId, mqttUsername, mqttPasswordFile, mqttCaFile, mqttTopicPrefix, mqttSites, mqttTagIntervalMs, mqttTagRefreshMs } = settings;
  return {
    url,
    clientId: mqttClientId,
    username: mqttUsername,
    passwordFile: mqttPasswordFile,
    caFile: mqttCaFile,
    topicPrefix: mqttTopicPrefix,
    sites: mqttSites,
    tagIntervalMs: mqttTagIntervalMs,
    tagRefreshMs: mqttTagRefreshMs,
  };
}

/** A folder that cannot be looked at (taken away, a volume that does not answer) has another alarm: its storage refuses changes. */
function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
