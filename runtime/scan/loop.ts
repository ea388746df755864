/**
 * One unit, scan by scan, in the order of decisions 2.4: messages, inputs latched, charts, networks, outputs, values
 * published. Everything outside the process arrives as a message between two scans and leaves as a message.
 *
 * The loop knows no thread: `host.ts` gives it its turns, messages and a clock, tests give it arrays and a clock of their own.
 */
import type { AlarmEdge } from '../vocabulary/alarm.js';
import { AlarmSet } from '../vocabulary/alarm-set.js';
import type { ChartHost } from '../chart/host.js';
import { NetworkSet, type WriteRefusal } from '../network/network-set.js';
import type { IoLink } from '../network/io-link.js';
import { TextTable } from '../network/texts.js';
import type { AlarmPlan, RecordingEnding, UnitInbound, UnitOutbound, UnitPlan } from '../port.js';
import { CHECKSUM_EVERY, Recorder, RECORDING_FORM } from '../replay/recorder.js';
import { withoutMemory } from '../replay/shared-memory.js';
import type { UnitState } from '../replay/unit-state.js';
import { TagTable } from '../vocabulary/tag-table.js';
import { AlarmGlance } from './alarm-glance.js';
import { AlarmPasses } from './alarm-passes.js';
import type { ScanClock } from './clock.js';
import { ControllerSilence } from './controller-silence.js';
import { Downloads } from './download.js';
import { Outlet } from './outlet.js';
import type { PhaseEngine, PhaseEngineFactory } from './phase-engine.js';
import { RetainedSaver } from './retained.js';
import { ScanStats } from './stats.js';
import { Uuids } from './uuids.js';

/** Elapsed periods the charts and the plant clock see at most, as the blocks do (decisions 5.1 rule 4). */
const ELAPSED_PERIODS_MAX = 10;
/** Share of the time until the next scan in which steps of a download may begin: the last one may be a long one. */
const DOWNLOAD_SHARE = 0.5;
/** Share of the period that a download takes even where scans leave no time: it must come to an end, it may be what relieves the unit. */
const DOWNLOAD_SHARE_MIN = 0.05;
/** Share of the period that messages take even where another unit of the thread is due. */
const MESSAGES_SHARE_MIN = 0.05;

/** The other units of the same thread (ADR 0012). */
export interface Mates {
  /** There are some: whatever takes long is done in steps. */
  readonly present: () => boolean;
  /** One of them is due. */
  readonly due: () => boolean;
}

export interface LoopParts {
  readonly receive: () => UnitInbound | undefined;
  readonly post: (message: UnitOutbound, transfer?: readonly ArrayBuffer[]) => void;
  readonly clock: ScanClock;
  readonly monoMs: () => number;
  readonly wallMs: () => number;
  readonly phases: PhaseEngineFactory;
  readonly mates?: Mates;
  /** A replay: gives the channels what was latched then. */
  readonly inputs?: (io: IoLink) => void;
  /** A replay: gives a pass over the alarms what it saw then. */
  readonly glance?: (glance: AlarmGlance) => void;
}

type Message<Type extends UnitInbound['type']> = Extract<UnitInbound, { readonly type: Type }>;

/** Rule of decisions 3.5 for a refused write of a chart. */
const WRITE_RULES: Readonly<Record<WriteRefusal['code'], string>> = {
  unknown_tag: 'unbound-role',
  read_only_tag: 'write-read-only',
  out_of_range: 'write-range',
  invalid_value: 'type-mismatch',
  write_failed: 'write-failed',
  device_unreachable: 'write-failed',
  outputs_withheld: 'write-failed',
};

export class UnitLoop {
  readonly #parts: LoopParts;
  readonly #texts: TextTable;
  readonly #downloads: Downloads;
  readonly #outlet: Outlet;
  readonly #stats = new ScanStats();
  readonly #retained: RetainedSaver;
  readonly #signals = new Map<string, ReadonlySet<string>>();
  readonly #early: UnitInbound[] = [];
  /** Answered when the scan has run, so that an answer shows one scan and nothing of the next (Q-UNIT-07). */
  readonly #inspections: Message<'inspect'>[] = [];
  readonly #uuids = new Uuids();
  readonly #silence = new ControllerSilence();
  /** The clocks as one scan or message sees them, however long it takes: read once, so that a replay can say the same. */
  readonly #now = { wallMs: 0, monoMs: 0 };
  #recorder: Recorder | undefined;
  #recording = '';
  readonly #host: ChartHost;
  #networks: NetworkSet | undefined;
  #phases: PhaseEngine | undefined;
  #table = new TagTable(0);
  #values = new Float64Array(0);
  #timestamps = new Float64Array(0);
  #quality = new Uint8Array(0);
  #alarms = new AlarmSet();
  readonly #passes = new AlarmPasses();
  /** Of a slow unit with alarms. */
  #glance: AlarmGlance | undefined;
  readonly #readings: { values: Float64Array; quality: Uint8Array; readonly stale: (tag: number) => boolean };
  readonly #tellEdge: (alarm: AlarmPlan, edge: AlarmEdge) => void;
  readonly #tellGlanced: (alarm: AlarmPlan, edge: AlarmEdge) => void;
  /** Scans of each network, where the gateway reads them. */
  #scans: Float64Array = new Float64Array(0);
  #timeScale = 1;
  #plantMs = 0;
  /** Scans of this unit for one of its charts, and how many have passed since their last one; -1: none yet. */
  #chartsEvery = 1;
  #sinceCharts = -1;
  #stopped = false;

  constructor(parts: LoopParts) {
    this.#parts = parts;
    this.#texts = new TextTable({
      announce: (id, text) => parts.post({ type: 'text', id, text }),
      release: (ids) => parts.post({ type: 'texts-released', ids }),
    });
    this.#outlet = new Outlet(parts.post);
    this.#retained = new RetainedSaver(parts.post, this.#stats);
    this.#host = this.#makeHost();
    this.#downloads = new Downloads({
      receive: parts.receive,
      post: parts.post,
      texts: this.#texts,
      monoMs: parts.monoMs,
      running: () => this.#networks,
      mayWait: () => this.#networks !== undefined || (parts.mates?.present() ?? false),
    });
    this.#readings = { values: this.#values, quality: this.#quality, stale: (tag) => this.#networks?.stale(tag) ?? true };
    const tell = ({ definition, tag }: AlarmPlan, edge: AlarmEdge, value: number): void => {
      parts.post({ type: 'alarm-edge', definition, edge, value: this.#networks?.show(tag, value) ?? null, atMs: this.#now.wallMs });
    };
    this.#tellEdge = (alarm, edge) => tell(alarm, edge, this.#values[alarm.tag] ?? Number.NaN);
    this.#tellGlanced = (alarm, edge) => tell(alarm, edge, this.#glance?.values[alarm.tag] ?? Number.NaN);
  }

  /** What is due now: messages, and one scan if there is a plan; or, between two scans, a look at the alarms. */
  turn(): void {
    const { clock, monoMs } = this.#parts;
    if (this.#passes.dueMs < clock.dueMs && monoMs() < clock.dueMs) return this.judgeAlarms();
    const elapsed = this.#parts.clock.begin();
    this.receiveReady();
    if (!this.#stopped) this.scan(elapsed);
  }

  /** Goes on with a download, if one waits, in the time the thread has until somebody is due. */
  prepareBeside(restMs: number): void {
    if (!this.#downloads.isPreparing) return;
    this.prepare(Math.max(restMs * DOWNLOAD_SHARE, this.#parts.clock.periodMs * DOWNLOAD_SHARE_MIN));
  }

  /** It has thrown and gets no further turn. */
  failed(): void {
    this.#recorder?.end('fault', this.#now);
  }

  /** When its next turn is due, on the monotonic clock. */
  get dueMs(): number {
    return Math.min(this.#parts.clock.dueMs, this.#passes.dueMs);
  }

  /** When its next scan is due. */
  get scanDueMs(): number {
    return this.#parts.clock.dueMs;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  // ---------------------------------------------------------------- messages

  /** Takes over everything that has arrived, a plan at once: what replays or rehearses has nobody who waits for a scan. */
  receive(): void {
    for (let message = this.#parts.receive(); message && !this.#stopped; message = this.#parts.receive()) this.#take(message);
  }

  /** Takes over what has arrived, of a plan that may wait when `prepare` is done with it. Much of it leaves room for the mates. */
  receiveReady(): void {
    const { mates, monoMs, clock } = this.#parts;
    const shareEndsMs = mates?.present() ? monoMs() + clock.periodMs * MESSAGES_SHARE_MIN : Number.POSITIVE_INFINITY;
    for (let message = this.#downloads.next(); message; message = this.#downloads.next()) {
      this.#take(message);
      if (this.#stopped || (mates && monoMs() >= shareEndsMs && mates.due())) return;
    }
  }

  /** Goes on with the preparation of a plan, if one waits: at least by one step, of which none begins after `forMs`. */
  prepare(forMs: number): void {
    this.#downloads.work(this.#parts.monoMs() + forMs);
  }

  #readClocks(): void {
    this.#now.wallMs = this.#parts.wallMs();
    this.#now.monoMs = this.#parts.monoMs();
  }

  #take(message: UnitInbound): void {
    this.#readClocks();
    this.#recorder?.message(message, this.#now);
    this.#handle(message);
    if (this.#networks) this.#recorder?.handled({ io: this.#networks.io, glance: this.#glance }, message.type === 'plan', this.#now.monoMs);
  }

  #handle(message: UnitInbound): void {
    if (message.type === 'plan') this.#load(message.plan);
    else if (message.type === 'stop') this.#stop();
    else if (!this.#networks || !this.#phases) this.#early.push(message);
    else this.#dispatch(message, this.#networks, this.#phases);
  }

  #dispatch(message: UnitInbound, networks: NetworkSet, phases: PhaseEngine): void {
    switch (message.type) {
      case 'phase':
        this.#outlet.forget(message.phase.name);
        return phases.load(message.phase);
      case 'drop-phase':
        this.#outlet.forget(message.phase);
        return this.#drop(message.phase, phases);
      case 'command':
        return phases.command(message);
      case 'phase-mode':
        return phases.setMode(message.phase, message.mode);
      case 'active-step':
        return phases.steer(message.phase, message.change);
      case 'answer':
        return phases.answer(message.phase, message.waitId, message.value);
      case 'request-result':
        return phases.requestResult(message);
      case 'signals':
        this.#signals.set(message.scope, new Set(message.raised));
        return phases.signalsChanged();
      case 'module-mode':
        return networks.setModuleMode(message.module, message.mode);
      case 'alarm-gates':
        return this.#alarms.setGates(message.gates);
      case 'bypass':
        return networks.setBypass(message.module, message.active, message.blocks);
      case 'reset-devices':
        return networks.askReset(message.id, message.module, message.moves);
      case 'write':
        return this.#write(message, networks);
      case 'inspect':
        this.#inspections.push(message);
        return;
      case 'time-scale':
        this.#timeScale = message.timeScale;
        this.#passes.setPace(networks.plan.scanIntervalMs, this.#timeScale, this.#now.monoMs);
        return this.#parts.clock.setPeriod(networks.plan.scanIntervalMs, this.#timeScale);
      case 'record':
        return this.#record(message, networks, phases);
      case 'record-stop':
        return message.recording === this.#recording ? this.#endRecording('stopped') : undefined;
      case 'alive':
        return this.#silence.heard(this.#now.monoMs);
      case 'withdraw': // a write was taken in time
        return networks.withdrawReset(message.id);
      case 'plan':
      case 'stop':
        return;
    }
  }

  /** With its last phase a scope goes, and with it its signals. */
  #drop(name: string, phases: PhaseEngine): void {
    const scope = phases.scopeOf(name);
    phases.drop(name);
    if (scope !== undefined && !phases.hasScope(scope)) this.#signals.delete(scope);
  }

  #write(message: Message<'write'>, networks: NetworkSet): void {
    const slot = networks.slot(message.address);
    const refusal: WriteRefusal | null = slot < 0 ? { code: 'unknown_tag', message: `there is no tag ${message.address}` } : networks.write(slot, message.value);
    this.#parts.post({ type: 'write-result', id: message.id, ok: refusal === null, ...(refusal && { code: refusal.code }), message: refusal?.message ?? '' });
  }

  #inspect(message: Message<'inspect'>, networks: NetworkSet, phases: PhaseEngine): unknown {
    if (message.what === 'network') return networks.inspect(message.name);
    if (message.what === 'phase') return phases.inspect(message.name);
    const faulted = networks.reports().filter((report) => report.faultedBlocks.length > 0);
    return {
      ...this.#stats.inspect(networks.plan.unit, this.#parts.clock.missed, networks.io.inspect(this.#parts.monoMs())),
      messagesShed: this.#outlet.shed,
      faultedBlocks: faulted.flatMap(({ network, faultedBlocks }) => faultedBlocks.map((block) => ({ network, block }))),
    };
  }

  #tellOverrides(networks: NetworkSet): void {
    networks.overridesChanged = false;
    this.#outlet.tell({ type: 'overrides', overrides: networks.overrides() });
  }

  #answerInspections(networks: NetworkSet, phases: PhaseEngine): void {
    for (const message of this.#inspections.splice(0)) {
      this.#parts.post({ type: 'inspect-result', id: message.id, result: this.#inspect(message, networks, phases) ?? null });
    }
  }

  /** Hot swap: the old networks are asked for their retained values, then hand their state to the new ones. */
  #load(plan: UnitPlan): void {
    const previous = this.#networks;
    this.#outlet.flush(this.#now.monoMs, this.#now.wallMs);
    this.#silence.heard(this.#now.monoMs);
    if (previous) this.#retained.flush(previous);
    const prepared = this.#downloads.takePrepared();
    const networks = new NetworkSet(plan, { texts: this.#texts, clockMs: this.#parts.monoMs, ...(previous && { previous }), ...(prepared && { prepared }) });
    this.#networks = networks;
    this.#alarms = new AlarmSet(plan.alarms, this.#alarms);
    this.#openTable(plan);
    this.#timeScale = plan.timeScale;
    this.#paceCharts(plan);
    this.#passes.setPace(plan.scanIntervalMs, plan.timeScale, this.#now.monoMs);
    this.#openGlance(networks);
    this.#parts.clock.setPeriod(plan.scanIntervalMs, plan.timeScale);
    if (this.#phases) this.#phases.rebind();
    else this.#phases = this.#parts.phases(this.#host, plan.settings);
    this.#parts.post({ type: 'plan-loaded', revision: plan.revision, networks: networks.reports() });
    for (const message of this.#early.splice(0)) this.#dispatch(message, networks, this.#phases);
  }

  #paceCharts(plan: UnitPlan): void {
    const every = chartsEvery(plan);
    if (every !== this.#chartsEvery && this.#sinceCharts >= 0) this.#sinceCharts = Math.floor((this.#sinceCharts * every) / this.#chartsEvery);
    this.#chartsEvery = every;
  }

  #openTable(plan: UnitPlan): void {
    this.#table = new TagTable(plan.tags.length, plan.table);
    this.#values = new Float64Array(plan.tags.length);
    this.#timestamps = new Float64Array(plan.tags.length);
    this.#quality = new Uint8Array(plan.tags.length);
    this.#readings.values = this.#values;
    this.#readings.quality = this.#quality;
    this.#scans = plan.scans ? new Float64Array(plan.scans) : new Float64Array(0);
  }

  #openGlance(networks: NetworkSet): void {
    this.#glance = this.#passes.areNeeded && this.#alarms.plans.length > 0 ? new AlarmGlance(networks.plan, networks) : undefined;
  }

  #stop(): void {
    this.#stopped = true;
    this.#endRecording('runtime-stopped');
    if (this.#networks && this.#phases) this.#answerInspections(this.#networks, this.#phases);
    if (this.#networks) this.#retained.flush(this.#networks);
    this.#outlet.flush(this.#now.monoMs, this.#now.wallMs);
    this.#parts.post({ type: 'stopped' });
  }

  // ---------------------------------------------------------------- one scan

  /** One scan; `elapsed` periods have passed since the last one. */
  scan(elapsed: number): void {
    const networks = this.#networks;
    const phases = this.#phases;
    if (!networks || !phases) return;
    const { clock, monoMs, inputs } = this.#parts;
    this.#readClocks();
    const { wallMs: nowMs, monoMs: began } = this.#now;
    const latenessMs = clock.latenessMs;
    const dtMs = networks.plan.scanIntervalMs * Math.min(elapsed, ELAPSED_PERIODS_MAX);
    this.#plantMs += dtMs;
    this.#outlet.begin(began);
    networks.latch(began, inputs);
    this.#recorder?.latched(elapsed, this.#now);
    if (this.#silence.becomesLost(began, networks.plan.settings.orphanTimeoutMs)) phases.controllerLost();
    this.#scanCharts(phases, networks.plan, elapsed);
    networks.scan(elapsed);
    networks.drive(began);
    networks.publish(this.#values, this.#timestamps, this.#quality, nowMs);
    this.#alarms.scan(this.#passes.judged(began, dtMs), this.#readings, this.#tellEdge);
    if (this.#glance) this.#passes.plan(this.#alarms.restMs());
    networks.countScans(this.#scans);
    this.#stats.publish(this.#table, { nowMs, monoMs: began, missed: clock.missed, plantMs: this.#plantMs, timeScale: this.#timeScale, latenessMs });
    this.#table.publish(this.#values, this.#timestamps, this.#quality);
    if (networks.hasReports) for (const report of networks.takeReports()) this.#outlet.tell({ type: 'network', ...report });
    for (const trip of networks.takeShadowTrips()) this.#outlet.tell({ type: 'shadow-trip', ...trip, atMs: nowMs });
    for (const answer of networks.takeResets()) this.#parts.post({ type: 'reset-result', ...answer });
    if (networks.overridesChanged) this.#tellOverrides(networks);
    this.#outlet.end(began, nowMs);
    const ended = monoMs();
    this.#retained.run(networks, ended);
    this.#stats.note(latenessMs, ended - began, networks.plan.scanIntervalMs / this.#timeScale, elapsed, ended);
    if (this.#texts.isSweepDue) this.#texts.sweep([...networks.texts, this.#values]);
    if (this.#inspections.length > 0) this.#answerInspections(networks, phases);
    const ending = this.#recorder?.scanned(networks, phases, began);
    if (ending) this.#endRecording(ending);
  }

  /** Charts keep the interval of the unit where a network made the worker come round more often. */
  #scanCharts(phases: PhaseEngine, plan: UnitPlan, elapsed: number): void {
    const every = this.#chartsEvery;
    this.#sinceCharts = this.#sinceCharts < 0 ? Math.max(every, elapsed) : this.#sinceCharts + elapsed;
    if (this.#sinceCharts < every) return;
    const periods = Math.floor(this.#sinceCharts / every);
    this.#sinceCharts -= periods * every;
    phases.scan(plan.scanIntervalMs * every * Math.min(periods, ELAPSED_PERIODS_MAX));
  }

  /** Between two scans of a unit that scans seldom: reads and compares, and nothing but the alarms can tell (ADR 0005). */
  judgeAlarms(): void {
    if (!this.#glance) return;
    this.#readClocks();
    const { monoMs } = this.#now;
    if (this.#parts.glance) this.#parts.glance(this.#glance);
    else this.#glance.look(this.#values, this.#quality, monoMs);
    this.#recorder?.glanced(this.#glance, this.#now);
    this.#alarms.scan(this.#passes.judged(monoMs, 0), this.#glance, this.#tellGlanced);
    this.#passes.plan(this.#alarms.restMs());
  }

  // ---------------------------------------------------------------- recording and replay (ADR 0005)

  #record({ recording, durationMaxMs, bytesMax }: Message<'record'>, networks: NetworkSet, phases: PhaseEngine): void {
    const { post } = this.#parts;
    if (this.#recorder) return post({ type: 'recording', recording, part: { kind: 'refused', message: `recording ${this.#recording} is under way` } });
    const { site, unit } = networks.plan;
    const start = {
      form: RECORDING_FORM,
      site,
      unit,
      scan: this.#stats.scanCount,
      wallMs: this.#now.wallMs,
      checksumEvery: CHECKSUM_EVERY,
      plan: withoutMemory(networks.plan),
      state: this.#snapshot(networks, phases),
    };
    this.#recording = recording;
    this.#recorder = new Recorder(
      { post: (part, transfer) => post({ type: 'recording', recording, part }, transfer), texts: this.#texts, durationMaxMs, bytesMax },
      start,
      { io: networks.io, glance: this.#glance },
      this.#now,
    );
  }

  #endRecording(ending: RecordingEnding): void {
    this.#recorder?.end(ending, this.#now, this.snapshot());
    this.#recorder = undefined;
    this.#recording = '';
  }

  /** Undefined before the first plan; taken between two scans. */
  snapshot(): UnitState | undefined {
    return this.#networks && this.#phases && this.#snapshot(this.#networks, this.#phases);
  }

  #snapshot(networks: NetworkSet, phases: PhaseEngine): UnitState {
    return {
      texts: this.#texts.snapshot(),
      uuids: this.#uuids.snapshot(),
      silence: this.#silence.snapshot(),
      signals: [...this.#signals].map(([scope, raised]) => [scope, [...raised]]),
      timeScale: this.#timeScale,
      plantMs: this.#plantMs,
      sinceCharts: this.#sinceCharts,
      networks: networks.snapshot(),
      phases: phases.snapshot(),
      alarms: this.#alarms.snapshot(),
      alarmPasses: this.#passes.snapshot(),
      published: { values: this.#values.slice(), timestamps: this.#timestamps.slice(), quality: this.#quality.slice() },
    };
  }

  /** A loop that has done nothing yet goes on from a snapshot; `plan` is the one that was loaded then. */
  restore(plan: UnitPlan, saved: UnitState): void {
    this.#texts.restore(saved.texts);
    this.#uuids.restore(saved.uuids);
    this.#silence.restore(saved.silence);
    for (const [scope, raised] of saved.signals) this.#signals.set(scope, new Set(raised));
    this.#networks = new NetworkSet({ ...plan, retained: {} }, { texts: this.#texts, clockMs: this.#parts.monoMs });
    this.#networks.restore(saved.networks);
    this.#alarms = new AlarmSet(plan.alarms);
    this.#alarms.restore(saved.alarms);
    this.#openTable(plan);
    this.#values.set(saved.published.values);
    this.#timestamps.set(saved.published.timestamps);
    this.#quality.set(saved.published.quality);
    this.#timeScale = saved.timeScale;
    this.#passes.restore(saved.alarmPasses, plan.scanIntervalMs, saved.timeScale);
    this.#openGlance(this.#networks);
    this.#plantMs = saved.plantMs;
    this.#chartsEvery = chartsEvery(plan);
    this.#sinceCharts = saved.sinceCharts;
    this.#phases = this.#parts.phases(this.#host, saved.phases.settings);
    this.#phases.restore(saved.phases);
  }

  /** For reading only. */
  get networks(): NetworkSet | undefined {
    return this.#networks;
  }

  get phases(): PhaseEngine | undefined {
    return this.#phases;
  }

  get texts(): TextTable {
    return this.#texts;
  }

  // ---------------------------------------------------------------- what charts may ask

  #makeHost(): ChartHost {
    const networks = (): NetworkSet => {
      if (!this.#networks) throw new Error('charts run only after a plan was loaded');
      return this.#networks;
    };
    return {
      slot: (address) => networks().slot(address),
      type: (slot) => networks().type(slot),
      read: (slot) => networks().read(slot),
      quality: (slot) => networks().quality(slot),
      stale: (slot) => networks().stale(slot),
      mode: (slot) => networks().modeOf(slot),
      write: (slot, value) => {
        const refusal = networks().write(slot, value);
        return refusal && { rule: WRITE_RULES[refusal.code], message: refusal.message };
      },
      writeSettled: (slot) => networks().writeSettled(slot),
      ioLost: (module) => networks().io.lostForMs(module, this.#now.monoMs) > networks().plan.settings.ioLostHoldDelayMs,
      signal: (scope, name) => this.#signals.get(scope)?.has(name) ?? false,
      emit: (message) => this.#outlet.tell(message),
      nowMs: () => this.#now.wallMs,
      monoMs: () => this.#now.monoMs,
      uuid: () => this.#uuids.next(),
    };
  }
}

function chartsEvery({ chartIntervalMs, scanIntervalMs }: UnitPlan): number {
  return Math.max(1, Math.round((chartIntervalMs ?? scanIntervalMs) / scanIntervalMs));
}
