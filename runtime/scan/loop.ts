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
import { assert, inside } from '../vocabulary/assert.js';
import type { Fate, KeptOf } from '../vocabulary/kept.js';
import { TagTable } from '../vocabulary/tag-table.js';
import { AlarmImage } from './alarm-image.js';
import { AlarmSchedule } from './alarm-schedule.js';
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
export interface ThreadSharers {
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
  readonly sharers?: ThreadSharers;
  /** A replay or a rehearsal, whose clock stands while it loads: networks are not warmed up. */
  readonly cold?: boolean;
  /** A replay: gives the channels what was latched then. */
  readonly inputs?: (io: IoLink) => void;
  /** A replay: gives a pass over the alarms what it saw then. */
  readonly alarmImage?: (alarmImage: AlarmImage) => void;
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

/** What a scan has published, by tag. */
type Published = UnitState['published'];

/** What a unit carries from scan to scan; messages on their way in and out are none of it. */
interface UnitMemory {
  readonly texts: TextTable;
  readonly uuids: Uuids;
  readonly silence: ControllerSilence;
  /** Raised signals by scope. */
  readonly signals: Map<string, ReadonlySet<string>>;
  timeScale: number;
  plantMs: number;
  /** Scans of this unit since its charts ran last; -1: they have not yet. */
  sinceCharts: number;
  networks: NetworkSet | undefined;
  phases: PhaseEngine | undefined;
  alarms: AlarmSet;
  readonly alarmPasses: AlarmSchedule;
  published: Published;
  /** Of a slow unit with alarms. */
  alarmImage: AlarmImage | undefined;
  /** Scans of this unit for one of its charts. */
  chartsEvery: number;
  table: TagTable;
  /** Scans of each network, where the gateway reads them. */
  scans: Float64Array;
  /** What has come before the first plan. */
  readonly early: UnitInbound[];
  /** Answered when the scan has run, so that an answer shows one scan and nothing of the next (Q-UNIT-07). */
  readonly inspections: Message<'inspect'>[];
  isStopped: boolean;
}

/** What a replay gets of each field (ADR 0005). After a restart of the thread a unit begins with what the gateway sends: plan, retained values, checkpoints. */
const KEPT = {
  texts: 'kept',
  uuids: 'kept',
  silence: 'kept',
  signals: 'kept',
  timeScale: 'kept',
  plantMs: 'kept',
  sinceCharts: 'kept',
  networks: 'kept',
  phases: 'kept',
  alarms: 'kept',
  alarmPasses: 'kept',
  published: 'kept',
  alarmImage: 'derived', // of the plan: it sees anew at each pass
  chartsEvery: 'derived', // of the plan
  table: 'derived', // of the plan: each scan publishes all of it
  scans: 'derived', // of the plan: counted by the networks
  early: 'lost', // empty once there is a plan
  inspections: 'lost', // nothing in a scan depends on a question
  isStopped: 'lost', // what has stopped is not recorded
} as const satisfies Record<keyof UnitMemory, Fate>;

/** One for every kept field, and none for another. */
type StateRows = {
  readonly [K in KeptOf<typeof KEPT> | keyof UnitState]: {
    readonly save: (live: NonNullable<UnitMemory[K]>) => UnitState[K];
    readonly load: (saved: UnitState[K], loop: UnitLoop, plan: UnitPlan) => void;
  };
};

const UNIT_STATE = Object.keys(KEPT).filter((field): field is keyof UnitState => KEPT[field as keyof UnitMemory] === 'kept');

export class UnitLoop {
  readonly #parts: LoopParts;
  readonly #downloads: Downloads;
  readonly #outlet: Outlet;
  readonly #stats = new ScanStats();
  readonly #retained: RetainedSaver;
  readonly #memory: UnitMemory;
  /** The clocks as one scan or message sees them, however long it takes: read once, so that a replay can say the same. */
  readonly #now = { wallMs: 0, monoMs: 0 };
  #recorder: Recorder | undefined;
  #recording = '';
  readonly #host: ChartHost;
  readonly #readings: { values: Float64Array; quality: Uint8Array; readonly stale: (tag: number) => boolean };
  readonly #tellEdge: (alarm: AlarmPlan, edge: AlarmEdge) => void;
  readonly #tellBetween: (alarm: AlarmPlan, edge: AlarmEdge) => void;

  constructor(parts: LoopParts) {
    this.#parts = parts;
    this.#memory = {
      texts: new TextTable({
        announce: (id, text) => parts.post({ type: 'text', id, text }),
        release: (ids) => parts.post({ type: 'texts-released', ids }),
      }),
      uuids: new Uuids(),
      silence: new ControllerSilence(),
      signals: new Map(),
      timeScale: 1,
      plantMs: 0,
      sinceCharts: -1,
      networks: undefined,
      phases: undefined,
      alarms: new AlarmSet(),
      alarmPasses: new AlarmSchedule(),
      published: emptyTable(0),
      alarmImage: undefined,
      chartsEvery: 1,
      table: new TagTable(0),
      scans: new Float64Array(0),
      early: [],
      inspections: [],
      isStopped: false,
    };
    this.#outlet = new Outlet(parts.post);
    this.#retained = new RetainedSaver(parts.post, this.#stats);
    this.#host = this.#makeHost();
    this.#downloads = new Downloads({
      receive: parts.receive,
      post: parts.post,
      texts: this.#memory.texts,
      monoMs: parts.monoMs,
      cold: parts.cold ?? false,
      running: () => this.#memory.networks,
      mayWait: () => this.#memory.networks !== undefined || (parts.sharers?.present() ?? false),
    });
    const { values, quality } = this.#memory.published;
    this.#readings = { values, quality, stale: (tag) => this.#memory.networks?.stale(tag) ?? true };
    const tell = ({ definition, tag }: AlarmPlan, edge: AlarmEdge, value: number): void => {
      parts.post({ type: 'alarm-edge', definition, edge, value: this.#memory.networks?.show(tag, value) ?? null, atMs: this.#now.wallMs });
    };
    this.#tellEdge = (alarm, edge) => tell(alarm, edge, this.#memory.published.values[alarm.tag] ?? Number.NaN);
    this.#tellBetween = (alarm, edge) => tell(alarm, edge, this.#memory.alarmImage?.values[alarm.tag] ?? Number.NaN);
  }

  /** What is due now: messages, and one scan if there is a plan; or, between two scans, a look at the alarms. */
  turn(): void {
    const { clock, monoMs } = this.#parts;
    if (this.#memory.alarmPasses.dueMs < clock.dueMs && monoMs() < clock.dueMs) return this.judgeAlarms();
    const elapsed = this.#parts.clock.begin();
    this.receiveReady();
    if (!this.#memory.isStopped) this.scan(elapsed);
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
    return Math.min(this.#parts.clock.dueMs, this.#memory.alarmPasses.dueMs);
  }

  /** When its next scan is due. */
  get scanDueMs(): number {
    return this.#parts.clock.dueMs;
  }

  get stopped(): boolean {
    return this.#memory.isStopped;
  }

  // ---------------------------------------------------------------- messages

  /** Takes over everything that has arrived, a plan at once: what replays or rehearses has nobody who waits for a scan. */
  receive(): void {
    for (let message = this.#parts.receive(); message && !this.#memory.isStopped; message = this.#parts.receive()) this.#take(message);
  }

  /** Takes over what has arrived, of a plan that may wait when `prepare` is done with it. Much of it leaves room for those who share the thread. */
  receiveReady(): void {
    const { sharers, monoMs, clock } = this.#parts;
    const shareEndsMs = sharers?.present() ? monoMs() + clock.periodMs * MESSAGES_SHARE_MIN : Number.POSITIVE_INFINITY;
    for (let message = this.#downloads.next(); message; message = this.#downloads.next()) {
      this.#take(message);
      if (this.#memory.isStopped || (sharers && monoMs() >= shareEndsMs && sharers.due())) return;
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
    if (this.#memory.networks) this.#recorder?.handled({ io: this.#memory.networks.io, alarmImage: this.#memory.alarmImage }, message.type === 'plan', this.#now.monoMs);
  }

  #handle(message: UnitInbound): void {
    if (message.type === 'plan') this.#load(message.plan);
    else if (message.type === 'stop') this.#stop();
    else if (!this.#memory.networks || !this.#memory.phases) this.#memory.early.push(message);
    else this.#dispatch(message, this.#memory.networks, this.#memory.phases);
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
        this.#memory.signals.set(message.scope, new Set(message.raised));
        return phases.signalsChanged();
      case 'module-mode':
        return networks.setModuleMode(message.module, message.mode);
      case 'alarm-gates':
        return this.#memory.alarms.setGates(message.gates);
      case 'bypass':
        return networks.setBypass(message.module, message.active, message.blocks);
      case 'reset-devices':
        return networks.askReset(message.id, message.module, message.moves);
      case 'write':
        return this.#write(message, networks);
      case 'inspect':
        this.#memory.inspections.push(message);
        return;
      case 'time-scale':
        this.#memory.timeScale = message.timeScale;
        this.#memory.alarmPasses.setPace(networks.plan.scanIntervalMs, this.#memory.timeScale, this.#now.monoMs);
        return this.#parts.clock.setPeriod(networks.plan.scanIntervalMs, this.#memory.timeScale);
      case 'record':
        return this.#record(message, networks);
      case 'record-stop':
        return message.recording === this.#recording ? this.#endRecording('stopped') : undefined;
      case 'alive':
        return this.#memory.silence.heard(this.#now.monoMs);
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
    if (scope !== undefined && !phases.hasScope(scope)) this.#memory.signals.delete(scope);
  }

  #write(message: Message<'write'>, networks: NetworkSet): void {
    const slot = networks.slot(message.address);
    const refusal: Omit<WriteRefusal, 'told'> | null = slot < 0 ? { code: 'unknown_tag', message: `there is no tag ${message.address}` } : networks.write(slot, message.value);
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
    for (const message of this.#memory.inspections.splice(0)) {
      this.#parts.post({ type: 'inspect-result', id: message.id, result: this.#inspect(message, networks, phases) ?? null });
    }
  }

  /** Hot swap: the old networks are asked for their retained values, then hand their state to the new ones. */
  #load(plan: UnitPlan): void {
    const previous = this.#memory.networks;
    this.#outlet.flush(this.#now.monoMs, this.#now.wallMs);
    this.#memory.silence.heard(this.#now.monoMs);
    if (previous) this.#retained.flush(previous);
    const prepared = this.#downloads.takePrepared();
    const networks = new NetworkSet(plan, {
      texts: this.#memory.texts,
      clockMs: this.#parts.monoMs,
      cold: this.#parts.cold,
      ...(previous && { previous }),
      ...(prepared && { prepared }),
    });
    this.#memory.networks = networks;
    this.#memory.alarms = new AlarmSet(plan.alarms, this.#memory.alarms);
    const { published } = this.#memory;
    this.#openTable(plan);
    if (previous) this.#keepChanges(plan, previous, published);
    this.#memory.timeScale = plan.timeScale;
    this.#paceCharts(plan);
    this.#memory.alarmPasses.setPace(plan.scanIntervalMs, plan.timeScale, this.#now.monoMs);
    this.#openAlarmImage(networks);
    this.#parts.clock.setPeriod(plan.scanIntervalMs, plan.timeScale);
    if (this.#memory.phases) this.#memory.phases.rebind();
    else this.#memory.phases = this.#parts.phases(this.#host, plan.settings);
    this.#parts.post({ type: 'plan-loaded', revision: plan.revision, networks: networks.reports() });
    for (const message of this.#memory.early.splice(0)) this.#dispatch(message, networks, this.#memory.phases);
  }

  #paceCharts(plan: UnitPlan): void {
    const every = chartsEvery(plan);
    if (every !== this.#memory.chartsEvery && this.#memory.sinceCharts >= 0) this.#memory.sinceCharts = Math.floor((this.#memory.sinceCharts * every) / this.#memory.chartsEvery);
    this.#memory.chartsEvery = every;
  }

  #openTable(plan: UnitPlan): Published {
    const published = emptyTable(plan.tags.length);
    this.#memory.table = new TagTable(plan.tags.length, plan.table);
    this.#memory.published = published;
    this.#readings.values = published.values;
    this.#readings.quality = published.quality;
    this.#memory.scans = plan.scans ? new Float64Array(plan.scans) : new Float64Array(0);
    return published;
  }

  /** A download is no change of a tag: one that is published on change keeps its value and the time of it. */
  #keepChanges({ tags }: UnitPlan, previous: NetworkSet, before: Published): void {
    const { values, timestamps } = this.#memory.published;
    tags.forEach(({ address, cyclic }, tag) => {
      const then = cyclic ? -1 : previous.slot(address);
      if (then < 0 || then >= before.values.length) return; // behind the tags lie the channels
      values[tag] = inside(before.values, then, 'a tag has its place in the table');
      timestamps[tag] = inside(before.timestamps, then, 'a tag has its place in the table');
    });
  }

  #openAlarmImage(networks: NetworkSet): void {
    this.#memory.alarmImage = this.#memory.alarmPasses.areNeeded && this.#memory.alarms.plans.length > 0 ? new AlarmImage(networks.plan, networks) : undefined;
  }

  #stop(): void {
    this.#memory.isStopped = true;
    this.#endRecording('runtime-stopped');
    if (this.#memory.networks && this.#memory.phases) this.#answerInspections(this.#memory.networks, this.#memory.phases);
    if (this.#memory.networks) this.#retained.flush(this.#memory.networks);
    this.#outlet.flush(this.#now.monoMs, this.#now.wallMs);
    this.#parts.post({ type: 'stopped' });
  }

  // ---------------------------------------------------------------- one scan

  /** One scan; `elapsed` periods have passed since the last one. */
  scan(elapsed: number): void {
    const networks = this.#memory.networks;
    const phases = this.#memory.phases;
    if (!networks || !phases) return;
    const { clock, monoMs, inputs } = this.#parts;
    this.#readClocks();
    const { wallMs: nowMs, monoMs: began } = this.#now;
    const latenessMs = clock.latenessMs;
    const dtMs = networks.plan.scanIntervalMs * Math.min(elapsed, ELAPSED_PERIODS_MAX);
    this.#memory.plantMs += dtMs;
    this.#outlet.begin(began);
    networks.latch(began, inputs);
    this.#recorder?.latched(elapsed, this.#now);
    if (this.#memory.silence.becomesLost(began, networks.plan.settings.orphanTimeoutMs)) phases.controllerLost();
    this.#scanCharts(phases, networks.plan, elapsed);
    networks.scan(elapsed);
    networks.drive(began);
    networks.publish(this.#memory.published.values, this.#memory.published.timestamps, this.#memory.published.quality, nowMs);
    this.#memory.alarms.scan(this.#memory.alarmPasses.judged(began, dtMs), this.#readings, this.#tellEdge);
    if (this.#memory.alarmImage) this.#memory.alarmPasses.plan(this.#memory.alarms.restMs());
    networks.countScans(this.#memory.scans);
    this.#stats.publish(this.#memory.table, { nowMs, monoMs: began, missed: clock.missed, plantMs: this.#memory.plantMs, timeScale: this.#memory.timeScale, latenessMs });
    this.#memory.table.publish(this.#memory.published.values, this.#memory.published.timestamps, this.#memory.published.quality);
    if (networks.hasReports) for (const report of networks.takeReports()) this.#outlet.tell({ type: 'network', ...report });
    for (const trip of networks.takeShadowTrips()) this.#outlet.tell({ type: 'shadow-trip', ...trip, atMs: nowMs });
    for (const answer of networks.takeResets()) this.#parts.post({ type: 'reset-result', ...answer });
    if (networks.overridesChanged) this.#tellOverrides(networks);
    this.#outlet.end(began, nowMs);
    const ended = monoMs();
    this.#retained.run(networks, ended);
    this.#stats.note(latenessMs, ended - began, networks.plan.scanIntervalMs / this.#memory.timeScale, elapsed, ended);
    if (this.#memory.texts.isSweepDue) this.#memory.texts.sweep([...networks.texts, this.#memory.published.values]);
    if (this.#memory.inspections.length > 0) this.#answerInspections(networks, phases);
    const ending = this.#recorder?.scanned(networks, phases, began);
    if (ending) this.#endRecording(ending);
  }

  /** Charts keep the interval of the unit where a network made the worker come round more often. */
  #scanCharts(phases: PhaseEngine, plan: UnitPlan, elapsed: number): void {
    const every = this.#memory.chartsEvery;
    this.#memory.sinceCharts = this.#memory.sinceCharts < 0 ? Math.max(every, elapsed) : this.#memory.sinceCharts + elapsed;
    if (this.#memory.sinceCharts < every) return;
    const periods = Math.floor(this.#memory.sinceCharts / every);
    this.#memory.sinceCharts -= periods * every;
    phases.scan(plan.scanIntervalMs * every * Math.min(periods, ELAPSED_PERIODS_MAX));
  }

  /** Between two scans of a unit that scans seldom: reads and compares, and nothing but the alarms can tell (ADR 0005). */
  judgeAlarms(): void {
    if (!this.#memory.alarmImage) return;
    this.#readClocks();
    const { monoMs } = this.#now;
    if (this.#parts.alarmImage) this.#parts.alarmImage(this.#memory.alarmImage);
    else this.#memory.alarmImage.latch(this.#memory.published.values, this.#memory.published.quality, monoMs);
    this.#recorder?.judgedBetween(this.#memory.alarmImage, this.#now);
    this.#memory.alarms.scan(this.#memory.alarmPasses.judged(monoMs, 0), this.#memory.alarmImage, this.#tellBetween);
    this.#memory.alarmPasses.plan(this.#memory.alarms.restMs());
  }

  // ---------------------------------------------------------------- recording and replay (ADR 0005)

  #record({ recording, durationMaxMs, bytesMax }: Message<'record'>, networks: NetworkSet): void {
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
      state: this.#snapshot(),
    };
    this.#recording = recording;
    this.#recorder = new Recorder(
      { post: (part, transfer) => post({ type: 'recording', recording, part }, transfer), texts: this.#memory.texts, durationMaxMs, bytesMax },
      start,
      { io: networks.io, alarmImage: this.#memory.alarmImage },
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
    return this.#memory.networks && this.#memory.phases && this.#snapshot();
  }

  /** In the order in which a recording has it, which is also that of the way back: phases ask the networks for their slots. */
  static readonly #STATE: StateRows = {
    texts: { save: (texts) => texts.snapshot(), load: (saved, loop) => loop.#memory.texts.restore(saved) },
    uuids: { save: (uuids) => uuids.snapshot(), load: (saved, loop) => loop.#memory.uuids.restore(saved) },
    silence: { save: (silence) => silence.snapshot(), load: (saved, loop) => loop.#memory.silence.restore(saved) },
    signals: {
      save: (signals) => [...signals].map(([scope, raised]) => [scope, [...raised]]),
      load: (saved, loop) => {
        for (const [scope, raised] of saved) loop.#memory.signals.set(scope, new Set(raised));
      },
    },
    timeScale: {
      save: (timeScale) => timeScale,
      load: (saved, loop) => {
        loop.#memory.timeScale = saved;
      },
    },
    plantMs: {
      save: (plantMs) => plantMs,
      load: (saved, loop) => {
        loop.#memory.plantMs = saved;
      },
    },
    sinceCharts: {
      save: (sinceCharts) => sinceCharts,
      load: (saved, loop) => {
        loop.#memory.sinceCharts = saved;
      },
    },
    networks: {
      save: (networks) => networks.snapshot(),
      load: (saved, loop, plan) => {
        loop.#memory.networks = new NetworkSet({ ...plan, retained: {} }, { texts: loop.#memory.texts, clockMs: loop.#parts.monoMs, cold: loop.#parts.cold });
        loop.#memory.networks.restore(saved);
      },
    },
    phases: {
      save: (phases) => phases.snapshot(),
      load: (saved, loop) => {
        loop.#memory.phases = loop.#parts.phases(loop.#host, saved.settings);
        loop.#memory.phases.restore(saved);
      },
    },
    alarms: {
      save: (alarms) => alarms.snapshot(),
      load: (saved, loop, plan) => {
        loop.#memory.alarms = new AlarmSet(plan.alarms);
        loop.#memory.alarms.restore(saved);
      },
    },
    alarmPasses: {
      save: (passes) => passes.snapshot(),
      load: (saved, loop, plan) => loop.#memory.alarmPasses.restore(saved, plan.scanIntervalMs, loop.#memory.timeScale),
    },
    published: {
      save: ({ values, timestamps, quality }) => ({ values: values.slice(), timestamps: timestamps.slice(), quality: quality.slice() }),
      load: (saved, loop, plan) => {
        const { values, timestamps, quality } = loop.#openTable(plan);
        values.set(saved.values);
        timestamps.set(saved.timestamps);
        quality.set(saved.quality);
      },
    },
  };

  #snapshot(): UnitState {
    const state: Partial<Record<keyof UnitState, unknown>> = {};
    const save = <K extends keyof UnitState>(field: K): void => {
      const live = this.#memory[field];
      assert(live !== undefined && live !== null, 'a unit with a plan has its networks and phases');
      state[field] = UnitLoop.#STATE[field].save(live);
    };
    for (const field of UNIT_STATE) save(field);
    return state as UnitState;
  }

  /** A loop that has done nothing yet goes on from a snapshot; `plan` is the one that was loaded then. */
  restore(plan: UnitPlan, saved: UnitState): void {
    const load = <K extends keyof UnitState>(field: K): void => UnitLoop.#STATE[field].load(saved[field], this, plan);
    for (const field of UNIT_STATE) load(field);
    if (this.#memory.networks) this.#openAlarmImage(this.#memory.networks);
    this.#memory.chartsEvery = chartsEvery(plan);
  }

  /** For reading only. */
  get networks(): NetworkSet | undefined {
    return this.#memory.networks;
  }

  get phases(): PhaseEngine | undefined {
    return this.#memory.phases;
  }

  get texts(): TextTable {
    return this.#memory.texts;
  }

  // ---------------------------------------------------------------- what charts may ask

  #makeHost(): ChartHost {
    const networks = (): NetworkSet => {
      if (!this.#memory.networks) throw new Error('charts run only after a plan was loaded');
      return this.#memory.networks;
    };
    return {
      slot: (address) => networks().slot(address),
      type: (slot) => networks().type(slot),
      read: (slot) => networks().read(slot),
      quality: (slot) => networks().quality(slot),
      stale: (slot) => networks().stale(slot),
      exceededAgeMs: (slot) => networks().exceededAgeMs(slot),
      mode: (slot) => networks().modeOf(slot),
      write: (slot, value) => {
        const refusal = networks().write(slot, value);
        return refusal && { rule: WRITE_RULES[refusal.code], message: refusal.message, told: refusal.told };
      },
      writeSettled: (slot) => networks().writeSettled(slot),
      ioLost: (module) => networks().io.lostForMs(module, this.#now.monoMs) > networks().plan.settings.ioLostHoldDelayMs,
      signal: (scope, name) => this.#memory.signals.get(scope)?.has(name) ?? false,
      emit: (message) => this.#outlet.tell(message),
      nowMs: () => this.#now.wallMs,
      monoMs: () => this.#now.monoMs,
      uuid: () => this.#memory.uuids.next(),
    };
  }
}

function emptyTable(tags: number): Published {
  return { values: new Float64Array(tags), timestamps: new Float64Array(tags), quality: new Uint8Array(tags) };
}

function chartsEvery({ chartIntervalMs, scanIntervalMs }: UnitPlan): number {
  return Math.max(1, Math.round((chartIntervalMs ?? scanIntervalMs) / scanIntervalMs));
}
