/**
 * Unit runtimes in scan threads of this process: the placement every box starts with. A runtime that stops unexpectedly
 * is started again, at most 3 times in 60 s, and then stays down until somebody restarts it (D-UNIT-04); its link stays.
 */
import type { PhasePlan, UnitInbound, UnitOutbound, UnitPlan } from '../../../runtime/port.js';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import type { Clock } from '../../platform/base/clock.js';
import { contain, guarded, guardedPromise } from '../../platform/base/guarded.js';
import type { Log } from '../../platform/base/log.js';
import { type Prioritise, REALTIME_UNASKED, RealtimePriority } from './realtime.js';
import type { HostedRuntime, RuntimeEnd, ScanThread } from './scan-thread.js';
import { ScanThreads } from './scan-threads.js';
import { StartQueue } from './start-queue.js';
import { type DeviceResetResult, type Realtime, RESTART_ASKED, STARTING, type UnitLink, type UnitRuntimes, type WriteResult } from './runtimes.js';
import { ViewedUnit } from './viewed-unit.js';

const RESTARTS_MAX = 3;
const RESTART_WINDOW_MS = 60_000;
/** Beyond the scans that an answer may take. */
const REQUEST_TIMEOUT_MS = 5000;
/** A request is taken at the top of the next scan, which may be one further away than the next, and answered behind it. */
const REQUEST_SCANS = 2;
/** For an answer that is under way when its write is withdrawn. */
const WITHDRAW_TIMEOUT_MS = 1000;
const STOP_TIMEOUT_MS = 2000;
/** Where a machine does not say otherwise, up to so many units have a thread each. */
const THREADS_MAX = 12;

type Change = 'ready' | 'down' | 'plan';

export interface LocalRuntimesOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Heap limit of a scan thread. */
  readonly heapMb: number;
  readonly threadsMax?: number;
  /** So many units are on their way to their first scan at a time; all processors but one where it is not given. */
  readonly startsMax?: number;
  /** Real-time priority is asked for unless this says no. */
  readonly realtime?: boolean;
  readonly prioritise?: Prioritise;
  readonly demote?: Prioritise;
  /** Entry of the scan threads. */
  readonly entry?: URL;
}

export class LocalRuntimes implements UnitRuntimes {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #threads: ScanThreads;
  readonly #starts: StartQueue;
  readonly #links = new Map<string, LocalLink>();
  readonly #messageListeners: ((link: UnitLink, message: UnitOutbound) => void)[] = [];
  readonly #changeListeners: ((link: UnitLink, what: Change) => void)[] = [];
  #sorted: readonly UnitLink[] = [];
  readonly #priority: RealtimePriority;

  constructor({ clock, log, heapMb, threadsMax = THREADS_MAX, startsMax, realtime = true, prioritise, demote, entry }: LocalRuntimesOptions) {
    this.#clock = clock;
    this.#log = log;
    this.#priority = new RealtimePriority({ wanted: realtime, log, ...(prioritise && { prioritise }), ...(demote && { demote }) });
    this.#starts = new StartQueue(clock, startsMax);
    this.#threads = new ScanThreads({
      clock,
      log,
      heapMb,
      threadsMax,
      ...(entry && { entry }),
      prioritise: (osThreadId) => this.#priority.ask(osThreadId),
      takePriorityBack: (osThreadId) => this.#priority.takeBack(osThreadId),
    });
  }

  /** Of the scan threads of this box. */
  get realtime(): Realtime {
    return this.#priority.state;
  }

  /** A scan thread that nobody can end any more, in words. */
  get hung(): string | undefined {
    return this.#threads.hung;
  }

  link(site: string, unit: string): LocalLink | undefined {
    return this.#links.get(`${site}/${unit}`);
  }

  links(): readonly UnitLink[] {
    return this.#sorted;
  }

  onMessage(listener: (link: UnitLink, message: UnitOutbound) => void): void {
    this.#messageListeners.push(listener);
  }

  onChange(listener: (link: UnitLink, what: Change) => void): void {
    this.#changeListeners.push(listener);
  }

  /** Starts the unit's runtime when there is none, `atOnce` or when it is its turn, and gives it the plan. */
  run(plan: UnitPlan, atOnce = false): void {
    const key = `${plan.site}/${plan.unit}`;
    let link = this.#links.get(key);
    if (!link) {
      link = new LocalLink(plan, {
        clock: this.#clock,
        log: this.#log,
        threads: this.#threads,
        starts: this.#starts,
        message: (from, message) => {
          // per message of a scan thread: no closure is made for it
          for (const listener of this.#messageListeners) {
            try {
              listener(from, message);
            } catch (fault) {
              contain(`listener of unit messages (${message.type})`, fault);
            }
          }
        },
        change: (from, what) => {
          for (const listener of this.#changeListeners) guarded(`listener of unit links (${what})`, () => listener(from, what));
        },
      });
      this.#links.set(key, link);
      this.#sorted = [...this.#links.values()].sort((a, b) => (`${a.site}/${a.unit}` < `${b.site}/${b.unit}` ? -1 : 1));
      link.start(atOnce);
      return;
    }
    link.load(plan);
  }

  /** Plans on their way to the runtime of a unit. */
  plansComing(site: string, unit: string): number {
    return this.#links.get(`${site}/${unit}`)?.plansComing ?? 0;
  }

  /** Modes of the modules of a unit whose plan is otherwise as it was. */
  setModes(site: string, unit: string, modes: UnitPlan['moduleModes']): void {
    this.#links.get(`${site}/${unit}`)?.setModes(modes);
  }

  async remove(site: string, unit: string): Promise<void> {
    const key = `${site}/${unit}`;
    const link = this.#links.get(key);
    if (!link) return;
    this.#links.delete(key);
    this.#sorted = this.#sorted.filter((other) => other !== link);
    await link.stop();
  }

  async stop(): Promise<void> {
    this.#starts.close();
    await Promise.all([...this.#links.values()].map((link) => link.stop()));
    await this.#threads.stop();
    this.#priority.close();
  }
}

interface LinkParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly threads: ScanThreads;
  readonly starts: StartQueue;
  message(link: LocalLink, message: UnitOutbound): void;
  change(link: LocalLink, what: Change): void;
}

export class LocalLink extends ViewedUnit implements UnitLink, HostedRuntime {
  readonly site: string;
  readonly unit: string;
  epoch = 0;
  ready = false;
  message = STARTING;
  startedAtMs = 0;
  startedMonoMs = 0;
  readonly #parts: LinkParts;
  /** The thread of the runtime; where it goes on without it, the next runtime is in it again. */
  #thread: ScanThread | undefined;
  /** Number in the thread; 0 while there is no runtime. */
  #runtime = 0;
  /** It shared a thread that ended. */
  #apart = false;
  #stopping = false;
  /** The runtime that ends next was told to. */
  #restartAsked = false;
  #plan: UnitPlan;
  /** Sent and not loaded yet, in order; the worker skips those that another one overtook. */
  #coming: UnitPlan[] = [];
  /** What the worker asked to be kept: a restarted one begins with this, not with what its plan once carried (decisions 3.8). */
  #retained: UnitPlan['retained'];
  #restartsAtMs: number[] = [];
  #nextId = 1;
  readonly #pending = new Map<number, { readonly resolve: (message: UnitOutbound | undefined) => void; cancel: () => void }>();

  constructor(plan: UnitPlan, parts: LinkParts) {
    super();
    this.site = plan.site;
    this.unit = plan.unit;
    this.#plan = plan;
    this.#retained = plan.retained;
    this.#parts = parts;
  }

  get timeScale(): number {
    return this.#plan.timeScale;
  }

  start(atOnce: boolean): void {
    this.epoch += 1;
    this.view.startOver();
    this.startedAtMs = this.#parts.clock.wallMs();
    this.startedMonoMs = this.#parts.clock.monoMs();
    if (atOnce) this.host();
    else this.#parts.starts.enter(this);
  }

  host(): void {
    this.#coming = [this.#plan];
    if (!this.#thread?.isOpen) this.#thread = this.#parts.threads.place(this.scanIntervalMs, this.#apart);
    this.#runtime = this.#thread.host(this);
    const { threadId, hosted } = this.#thread;
    this.#parts.log.info({ unit: this.unit, site: this.site, epoch: this.epoch, threadId, unitsOfThread: hosted.length }, 'unit runtime started');
    this.send({ type: 'plan', plan: { ...this.#plan, retained: this.#retained } });
  }

  load(plan: UnitPlan): void {
    this.#plan = plan;
    this.#retained = { ...plan.retained, ...this.#retained };
    if (this.#runtime === 0) return; // the next runtime begins with it
    this.#coming.push(plan);
    this.send({ type: 'plan', plan });
  }

  /** Plans that the runtime has been sent and does not scan yet. */
  get plansComing(): number {
    return this.#runtime === 0 ? 0 : this.#coming.length;
  }

  /** Modes of the modules as the present plan would have them: told one by one, for a mode is no reason to make the networks anew. */
  setModes(modes: UnitPlan['moduleModes']): void {
    const before = this.#plan.moduleModes;
    this.#plan = { ...this.#plan, moduleModes: modes };
    for (const module of new Set([...Object.keys(before), ...Object.keys(modes)])) {
      const mode = modes[module] ?? 'Automatic';
      if (mode !== (before[module] ?? 'Automatic')) this.send({ type: 'module-mode', module, mode });
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.ready = false;
    this.#parts.starts.leave(this);
    const [thread, runtime] = [this.#thread, this.#runtime];
    if (!thread || runtime === 0) return;
    const cancel = this.#parts.clock.after(STOP_TIMEOUT_MS, () => guardedPromise('end of a unit runtime', () => thread.end(runtime)));
    this.send({ type: 'stop' });
    await thread.untilEnded(runtime);
    cancel();
  }

  /** Ends the runtime at once; the supervision starts it again (runtime/restart). Units of the same thread go on. */
  async restart(): Promise<void> {
    this.#restartsAtMs = [];
    if (!this.#thread || this.#runtime === 0) {
      this.#parts.starts.leave(this);
      return this.start(true);
    }
    this.#restartAsked = true;
    await this.#thread.end(this.#runtime);
  }

  get scanIntervalMs(): number {
    return this.#plan.scanIntervalMs;
  }

  get realtime(): Realtime {
    return this.#thread?.realtime ?? REALTIME_UNASKED;
  }

  /** The other units that its thread scans now. */
  get sharedWith(): readonly { readonly site: string; readonly unit: string }[] {
    return this.#runtime === 0 ? [] : (this.#thread?.hosted ?? []).filter((runtime) => runtime !== this);
  }

  async write(address: string, value: Value): Promise<WriteResult> {
    const reply = await this.#request(
      (id) => ({ type: 'write', id, address, value }),
      (id) => ({ type: 'withdraw', id }),
    );
    if (reply?.type !== 'write-result' || reply.code === 'withdrawn')
      return { ok: false, code: 'runtime_unreachable', message: `the runtime of unit ${this.unit} does not answer; the write is withdrawn and takes no effect later` };
    return { ok: reply.ok, ...(reply.code ? { code: reply.code } : {}), message: reply.message };
  }

  async resetDevices(module: string, moves: boolean): Promise<DeviceResetResult> {
    const reply = await this.#request(
      (id) => ({ type: 'reset-devices', id, module, moves }),
      (id) => ({ type: 'withdraw', id }),
    );
    if (reply?.type !== 'reset-result')
      return { ok: false, message: `the runtime of unit ${this.unit} does not answer; the reset is withdrawn and takes no effect later`, blocks: [] };
    return reply.isLoaded
      ? { ok: true, message: '', blocks: reply.blocks }
      : { ok: false, message: `the logic of ${module} is not executed now, so nobody knows what is in fault`, blocks: [] };
  }

  async inspect(what: 'network' | 'diagnostics' | 'phase', name: string): Promise<unknown> {
    const reply = await this.#request((id) => ({ type: 'inspect', id, what, name }));
    return reply?.type === 'inspect-result' ? reply.result : undefined;
  }

  loadPhase(phase: PhasePlan): void {
    this.send({ type: 'phase', phase });
  }

  send(message: UnitInbound): void {
    if (this.#runtime !== 0) this.#thread?.send(this.#runtime, message);
  }

  /** `withdraw`: told when nobody waits any longer, for a request that must not be carried out later. */
  #request(build: (id: number) => UnitInbound, withdraw?: (id: number) => UnitInbound): Promise<UnitOutbound | undefined> {
    if (!this.ready) return Promise.resolve(undefined);
    const { clock } = this.#parts;
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const give = { resolve, cancel: () => {} };
      const giveUp = (): void => {
        this.#pending.delete(id);
        resolve(undefined);
      };
      const late = (): void => {
        if (!withdraw) return giveUp();
        this.send(withdraw(id));
        give.cancel = clock.after(WITHDRAW_TIMEOUT_MS, giveUp);
      };
      give.cancel = clock.after(REQUEST_TIMEOUT_MS + (REQUEST_SCANS * this.scanIntervalMs) / this.#plan.timeScale, late);
      this.#pending.set(id, give);
      this.send(build(id));
    });
  }

  take(message: UnitOutbound): void {
    switch (message.type) {
      case 'text':
        this.view.addText(message.id, message.text);
        break;
      case 'texts-released':
        this.view.releaseTexts(message.ids);
        break;
      case 'plan-loaded':
        this.#adopt(message.revision);
        break;
      case 'retained':
        this.#retained = { ...this.#retained, ...message.networks };
        break;
      case 'write-result':
      case 'reset-result':
      case 'inspect-result':
        this.#settle(message.id, message);
        break;
      default:
        break;
    }
    this.#parts.message(this, message);
    if (message.type === 'plan-loaded') this.#parts.change(this, 'plan');
  }

  /** The worker now writes the table of this plan: readers move over together with its tag list. */
  #adopt(revision: number): void {
    const loaded = this.#coming.findIndex((plan) => plan.revision === revision);
    const plan = this.#coming[loaded];
    if (!plan) return;
    this.#coming = this.#coming.slice(loaded + 1);
    this.view.adopt(plan);
    if (!this.ready && plan.revision === this.#plan.revision) {
      this.ready = true;
      this.message = '';
      this.#parts.change(this, 'ready');
      this.#parts.starts.leave(this);
    }
  }

  #settle(id: number, message: UnitOutbound): void {
    const waiting = this.#pending.get(id);
    if (!waiting) return;
    this.#pending.delete(id);
    waiting.cancel();
    waiting.resolve(message);
  }

  ended({ exitCode, withOthers }: RuntimeEnd): void {
    this.#runtime = 0;
    this.#parts.starts.leave(this);
    this.#apart ||= withOthers;
    this.ready = false;
    for (const waiting of this.#pending.values()) {
      waiting.cancel();
      waiting.resolve(undefined);
    }
    this.#pending.clear();
    if (this.#stopping) return;
    this.#parts.log.warn({ unit: this.unit, site: this.site, epoch: this.epoch, code: exitCode }, 'unit runtime ended');
    if (this.#restartAsked) return this.#startAsAsked();
    const now = this.#parts.clock.monoMs();
    this.#restartsAtMs = this.#restartsAtMs.filter((at) => now - at < RESTART_WINDOW_MS);
    const again = this.#restartsAtMs.length < RESTARTS_MAX;
    this.message = again ? 'restarting' : `the runtime stopped ${RESTARTS_MAX} times within ${RESTART_WINDOW_MS / 1000} s; restart it when the cause is found`;
    this.#parts.change(this, 'down');
    if (!again) return;
    this.#restartsAtMs.push(now);
    this.start(true);
  }

  /** No loss that is counted: the next runtime has its three starts again. */
  #startAsAsked(): void {
    this.#restartAsked = false;
    this.message = RESTART_ASKED;
    this.#parts.change(this, 'down');
    this.start(true);
  }
}
