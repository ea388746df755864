/**
 * I/O probes as worker threads of this process: one per controller of a site, one per site shared by the network modules
 * without a controller. The process image of a module is made here and outlives restarts of its probe.
 */
import type { WallMs } from '../../platform/base/times.js';
import { Worker } from 'node:worker_threads';
import type {
  BoxNotice,
  CallOutcome,
  ChannelSample,
  Exchange,
  HoldAsk,
  ProbeInbound,
  ProbeModule,
  ProbeOutbound,
  ProbePlan,
  ProbeStatistics,
  ProbeThread,
} from '../../../runtime/port.js';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import { CONNECTION, IMAGE_HEADER, ProcessImage } from '../../../runtime/vocabulary/process-image.js';
import { QUALITY } from '../../../runtime/vocabulary/quality.js';
import type { Clock } from '../../platform/base/clock.js';
import { contain, guarded, guardedPromise } from '../../platform/base/guarded.js';
import type { Log } from '../../platform/base/log.js';

const PROBE = new URL('../../../runtime/probe.js', import.meta.url);
const REQUEST_TIMEOUT_MS = 10_000;
/** A probe tells of a call that was not answered; one that says nothing for so much longer is not there. */
const CALL_LATER_MS = 5000;
const RESTART_DELAY_MS = 1000;
/** The time to end (2 s), the pause, and the start of a thread on a busy box. */
const PROBE_RESTART_MAX_MS = 20_000;
const LOOK_MS = 1000;
/** Then its inputs are Bad: a silent source is within 3 s (decisions 7). */
const SILENT_LOOKS = 3;
/** Then it is ended and started again, as a scan thread is. */
const STUCK_LOOKS = 15;
/** One that was ended and is still there by then does not let go: it hangs below JavaScript, and only the end of the process ends it. */
const ENDED_LOOKS = 5;

/** Name of the probe that serves modules without a controller. */
export const SHARED_PROBE = 'shared';

export interface ModuleState {
  readonly state: Extract<ProbeOutbound, { type: 'module' }>['state'];
  readonly message: string;
  readonly outputs: Extract<ProbeOutbound, { type: 'module' }>['outputs'];
  readonly atMs: WallMs;
}

export type MethodCall = Pick<Extract<ProbeInbound, { type: 'call' }>, 'objectId' | 'methodId' | 'args' | 'timeoutMs'>;

export type ResumedOutputs = Extract<ProbeOutbound, { type: 'outputs-resumed' }>;

export interface ProbeSettings {
  readonly reconnectMinMs: number;
  readonly reconnectMaxMs: number;
  readonly readbackTimeoutMs: number;
}

export class LocalProbes {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #thread: ProbeThread;
  readonly #settings: ProbeSettings;
  readonly #entry: URL;
  readonly #died: (name: string, fault: string) => void;
  /** Probes that were stopped and have not ended yet: their images are still theirs. */
  readonly #ending = new Map<string, Promise<void>>();
  readonly #probes = new Map<string, Probe>();
  readonly #images = new Map<string, { readonly layout: string; readonly image: ProcessImage }>();
  readonly #listeners: ((site: string, module: string, state: ModuleState) => void)[] = [];
  readonly #notices: ((notice: BoxNotice) => void)[] = [];
  readonly #resumed: ((site: string, module: string, outputs: ResumedOutputs) => void)[] = [];
  readonly #states = new Map<string, ModuleState>();
  #timeScale = 1;

  /** `entry`: of the threads. */
  constructor(options: {
    readonly clock: Clock;
    readonly log: Log;
    readonly goAhead?: boolean;
    readonly settings: ProbeSettings;
    readonly entry?: URL;
    readonly died?: (name: string, fault: string) => void;
  }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#thread = { goAhead: options.goAhead ?? true };
    this.#settings = options.settings;
    this.#entry = options.entry ?? PROBE;
    this.#died = options.died ?? (() => undefined);
  }

  onModule(listener: (site: string, module: string, state: ModuleState) => void): void {
    this.#listeners.push(listener);
  }

  /** What a driver has done to the box itself. */
  onNotice(listener: (notice: BoxNotice) => void): void {
    this.#notices.push(listener);
  }

  onResumed(listener: (site: string, module: string, outputs: ResumedOutputs) => void): void {
    this.#resumed.push(listener);
  }

  /** The image of a module for a given channel list; a changed list gets a new image. */
  image(site: string, module: string, channels: readonly string[]): ProcessImage {
    const key = `${site}/${module}`;
    const layout = JSON.stringify(channels); // an address may hold any character: joined ones could read like another list
    const known = this.#images.get(key);
    if (known?.layout === layout) return known.image;
    const image = new ProcessImage(channels.length);
    this.#images.set(key, { layout, image });
    return image;
  }

  /** The last word on a module that is served; what was said of one that is disabled or removed since is over. */
  moduleState(site: string, module: string): ModuleState | undefined {
    return this.probeOf(site, module) === '' ? undefined : this.#states.get(`${site}/${module}`);
  }

  /** All modules of one probe; an empty list stops it. */
  run(site: string, controller: string, modules: readonly ProbeModule[]): void {
    const probe = `${site}/${controller}`;
    let running = this.#probes.get(probe);
    if (!running) {
      if (modules.length === 0) return;
      running = new Probe({
        name: probe,
        entry: this.#entry,
        thread: this.#thread,
        clock: this.#clock,
        log: this.#log,
        take: (message) => this.#take(site, message),
        died: this.#died,
        after: this.#ending.get(probe),
      });
      this.#probes.set(probe, running);
    }
    running.load({ probe, revision: running.nextRevision(), timeScale: this.#timeScale, modules, ...this.#settings });
    for (const key of this.#states.keys()) if (key.startsWith(`${site}/`) && this.probeOf(site, key.slice(site.length + 1)) === '') this.#states.delete(key);
    if (modules.length === 0) {
      this.#probes.delete(probe);
      const ended = Promise.all([this.#ending.get(probe), running.stop()]).then(() => {
        if (this.#ending.get(probe) === ended) this.#ending.delete(probe);
      });
      this.#ending.set(probe, ended);
      guardedPromise('end of an I/O probe', () => ended);
    }
  }

  setTimeScale(timeScale: number): void {
    this.#timeScale = timeScale;
    for (const probe of this.#probes.values()) probe.setTimeScale(timeScale);
  }

  probeOf(site: string, module: string): string {
    for (const [name, probe] of this.#probes) if (probe.serves(site, module)) return name;
    return '';
  }

  async read(site: string, module: string, channels: readonly string[]): Promise<readonly ChannelSample[] | undefined> {
    const reply = await this.#request(site, module, (id) => ({ type: 'read', id, module, channels }));
    return reply?.type === 'read-result' ? reply.values : undefined;
  }

  async write(site: string, module: string, channel: string, value: Value): Promise<Extract<ProbeOutbound, { type: 'write-result' }> | undefined> {
    const reply = await this.#request(site, module, (id) => ({ type: 'write', id, module, channel, value }));
    return reply?.type === 'write-result' ? reply : undefined;
  }

  /** What the device says; undefined when no probe answers. The probe has `timeoutMs`, less than a request to it. */
  async discover(site: string, module: string, timeoutMs: number): Promise<Extract<ProbeOutbound, { type: 'discover-result' }> | undefined> {
    const reply = await this.#request(site, module, (id) => ({ type: 'discover', id, module, timeoutMs }));
    return reply?.type === 'discover-result' ? reply : undefined;
  }

  /** The bytes of the last request to a device; undefined where none is known. */
  async exchange(site: string, module: string): Promise<Exchange | undefined> {
    const reply = await this.#request(site, module, (id) => ({ type: 'exchange', id, module }));
    return reply?.type === 'exchange-result' ? reply.exchange : undefined;
  }

  /** What came of a call; undefined when no probe answers. */
  async call(site: string, module: string, call: MethodCall): Promise<CallOutcome | undefined> {
    const reply = await this.#request(site, module, (id) => ({ type: 'call', id, module, ...call }), call.timeoutMs + CALL_LATER_MS);
    return reply?.type === 'call-result' ? reply.outcome : undefined;
  }

  async release(site: string, module: string, channels: readonly string[]): Promise<readonly string[] | undefined> {
    const reply = await this.#request(site, module, (id) => ({ type: 'release', id, module, channels }));
    return reply?.type === 'release-result' ? reply.released : undefined;
  }

  /** What was counted of the way to the device; undefined where no wire serves the module, or its probe does not answer. */
  async statistics(site: string, module: string): Promise<ProbeStatistics | undefined> {
    const reply = await this.#request(site, module, (id) => ({ type: 'statistics', id, module }));
    return reply?.type === 'statistics-result' ? reply.statistics : undefined;
  }

  /** Modules of the probe that serves this one, itself among them, as they were planned; none where no probe serves it. */
  servedWith(site: string, module: string): readonly string[] {
    for (const probe of this.#probes.values()) if (probe.serves(site, module)) return probe.modules(site);
    return [];
  }

  /** Each probe with what it serves, in the order in which they were started. */
  served(): readonly { readonly probe: string; readonly modules: readonly { readonly site: string; readonly module: string }[] }[] {
    return [...this.#probes].map(([probe, running]) => ({ probe, modules: running.planned() }));
  }

  /** Outputs of the module in the hand of one holder; undefined when its probe does not answer. */
  async hold(site: string, module: string, holder: string, ask: HoldAsk): Promise<Extract<ProbeOutbound, { type: 'hold-result' }> | undefined> {
    const reply = await this.#request(site, module, (id) => ({ type: 'hold', id, module, holder, ask }));
    return reply?.type === 'hold-result' ? reply : undefined;
  }

  /**
   * Ends the probe of the module and starts it again with the same plan; the process images stay.
   * @returns fulfilled with true when the new thread serves, with false when it did not come within `PROBE_RESTART_MAX_MS`.
   */
  restart(site: string, module: string): Promise<boolean> {
    for (const probe of this.#probes.values()) if (probe.serves(site, module)) return probe.restart();
    return Promise.resolve(false);
  }

  /** What each probe is doing, for the log of a fault. */
  threads(): { readonly probe: string; readonly state: string }[] {
    return [...this.#probes].map(([probe, { state }]) => ({ probe, state }));
  }

  /** A probe that does not come round and did not end when it was told to, in words. */
  get hung(): string | undefined {
    for (const { hung } of this.#probes.values()) if (hung !== undefined) return hung;
    return undefined;
  }

  /** Their last writes; resolves when all probes have answered. A probe that is not there has none to answer. */
  async takeFailSafe(): Promise<void> {
    await Promise.all([...this.#probes.values()].map((probe) => probe.request((id) => ({ type: 'fail-safe', id }))));
  }

  async stop(): Promise<void> {
    await Promise.all([...[...this.#probes.values()].map((probe) => probe.stop()), ...this.#ending.values()]);
  }

  #request(site: string, module: string, build: (id: number) => ProbeInbound, timeoutMs?: number): Promise<ProbeOutbound | undefined> {
    for (const probe of this.#probes.values()) if (probe.serves(site, module)) return probe.request(build, timeoutMs);
    return Promise.resolve(undefined);
  }

  #take(site: string, message: ProbeOutbound): void {
    if (message.type === 'outputs-resumed') for (const listener of this.#resumed) guarded('listener of resumed outputs', () => listener(site, message.module, message));
    if (message.type === 'notice') for (const listener of this.#notices) guarded('listener of notices', () => listener(message.notice));
    if (message.type !== 'module') return;
    const { module } = message;
    const state = { state: message.state, message: message.message, outputs: message.outputs, atMs: message.atMs };
    this.#states.set(`${site}/${module}`, state);
    for (const listener of this.#listeners) guarded('listener of I/O modules', () => listener(site, module, state));
  }
}

/** Whether any sample of the module proves its connection now (D-IO-01). */
export function isConnected(image: ProcessImage): boolean {
  return Atomics.load(image.header, IMAGE_HEADER.connection) === CONNECTION.connected;
}

type ModuleMessage = Extract<ProbeOutbound, { readonly type: 'module' }>;

interface ProbeParts {
  readonly name: string;
  readonly entry: URL;
  readonly thread: ProbeThread;
  readonly clock: Clock;
  readonly log: Log;
  take(message: ProbeOutbound): void;
  /** Told when the thread ends and nobody has asked it to. */
  died(name: string, fault: string): void;
  /** The probe that had its images before: two threads never serve one image. */
  readonly after: Promise<void> | undefined;
}

class Probe {
  readonly #name: string;
  readonly #entry: URL;
  readonly #thread: ProbeThread;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #take: (message: ProbeOutbound) => void;
  readonly #died: (name: string, fault: string) => void;
  /** Until then the images are another thread's. */
  #waits: boolean;
  /** The thread that was asked to end. */
  #asked: Worker | undefined;
  #lastFault = '';
  #worker: Worker | undefined;
  #plan: ProbePlan | undefined;
  #stopping = false;
  #revision = 0;
  #nextId = 1;
  readonly #pending = new Map<number, (message: ProbeOutbound | undefined) => void>();
  /** Told when a thread that was restarted is there. */
  readonly #awaited = new Set<(isBack: boolean) => void>();

  /** What each module has said of itself last: told again when a thread that was silent comes round. */
  readonly #said = new Map<string, ModuleMessage>();
  #rounds = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  #seenRounds = 0;
  #silentLooks = 0;

  constructor({ name, entry, thread, clock, log, take, died, after }: ProbeParts) {
    this.#name = name;
    this.#entry = entry;
    this.#thread = thread;
    this.#clock = clock;
    this.#log = log;
    this.#take = take;
    this.#died = died;
    this.#waits = after !== undefined;
    if (after) guardedPromise('start of an I/O probe', () => after.then(() => this.#begin()));
  }

  #begin(): void {
    this.#waits = false;
    this.#comeBack();
  }

  get state(): string {
    if (!this.#worker) return 'ended';
    return this.#silentLooks >= SILENT_LOOKS ? 'does not come round' : 'serves';
  }

  get hung(): string | undefined {
    if (!this.#worker || this.#silentLooks < STUCK_LOOKS + ENDED_LOOKS) return undefined;
    return `the I/O probe ${this.#name} has not come round for ${(this.#silentLooks * LOOK_MS) / 1000} s and cannot be ended`;
  }

  nextRevision(): number {
    this.#revision += 1;
    return this.#revision;
  }

  serves(site: string, module: string): boolean {
    return this.#plan?.modules.some((candidate) => candidate.site === site && candidate.module === module) ?? false;
  }

  load(plan: ProbePlan): void {
    this.#plan = plan;
    if (this.#worker) this.send({ type: 'plan', plan });
    else if (!this.#waits) this.#start();
  }

  send(message: ProbeInbound): void {
    this.#worker?.postMessage(message);
  }

  /** A thread that comes after this one begins with it, too. */
  setTimeScale(timeScale: number): void {
    if (this.#plan) this.#plan = { ...this.#plan, timeScale };
    this.send({ type: 'time-scale', timeScale });
  }

  request(build: (id: number) => ProbeInbound, timeoutMs = REQUEST_TIMEOUT_MS): Promise<ProbeOutbound | undefined> {
    if (!this.#worker) return Promise.resolve(undefined); // between two of its lives nobody would answer
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const cancel = this.#clock.after(timeoutMs, () => finish(undefined));
      const finish = (message: ProbeOutbound | undefined): void => {
        cancel();
        this.#pending.delete(id);
        resolve(message);
      };
      this.#pending.set(id, finish);
      this.send(build(id));
    });
  }

  /** One that has ended by itself is on its way back already. Fulfilled when the next thread is there. */
  restart(): Promise<boolean> {
    const worker = this.#worker;
    if (this.#stopping) return Promise.resolve(false);
    const back = new Promise<boolean>((resolve) => {
      const cancel = this.#clock.after(PROBE_RESTART_MAX_MS, () => finish(false));
      const finish = (isBack: boolean): void => {
        cancel();
        this.#awaited.delete(finish);
        resolve(isBack);
      };
      this.#awaited.add(finish);
    });
    if (worker) guardedPromise('restart of an I/O probe', () => this.#end(worker));
    return back;
  }

  modules(site: string): readonly string[] {
    return this.planned().flatMap((each) => (each.site === site ? [each.module] : []));
  }

  planned(): readonly { readonly site: string; readonly module: string }[] {
    return (this.#plan?.modules ?? []).map(({ site, module }) => ({ site, module }));
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#isBack(false);
    if (this.#worker) await this.#end(this.#worker);
  }

  async #end(worker: Worker): Promise<void> {
    this.#asked = worker;
    const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    const cancel = this.#clock.after(2000, () => guardedPromise('end of an I/O probe', () => worker.terminate()));
    worker.postMessage({ type: 'stop' } satisfies ProbeInbound);
    await exited;
    cancel();
  }

  #isBack(isBack: boolean): void {
    for (const finish of [...this.#awaited]) finish(isBack);
  }

  /** Unless it was stopped in the meantime, or a new plan has started it already. */
  #comeBack(): void {
    if (!this.#stopping && !this.#worker) this.#start();
  }

  #start(): void {
    const rounds = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    const worker = new Worker(this.#entry, { name: `probe ${this.#name}`, workerData: { ...this.#thread, rounds } satisfies ProbeThread, execArgv: [] });
    this.#worker = worker;
    this.#rounds = new Int32Array(rounds);
    this.#said.clear();
    worker.on('message', (message: ProbeOutbound) => guarded('message of an I/O probe', () => this.#hear(worker, message)));
    worker.on('error', (fault) => {
      this.#lastFault = fault.message;
      this.#log.error({ probe: this.#name, fault: fault.message }, 'I/O probe failed');
    });
    worker.on('exit', () => {
      if (worker !== this.#worker) return;
      this.#worker = undefined;
      guarded('end of an I/O probe', () => this.#gone()); // whatever that meets: its modules wait for another one
      if (worker !== this.#asked) guarded('death of a thread', () => this.#died(`I/O probe ${this.#name}`, this.#lastFault || 'it said nothing'));
      this.#lastFault = '';
      for (const finish of [...this.#pending.values()]) finish(undefined);
      if (!this.#stopping) this.#clock.after(RESTART_DELAY_MS, () => this.#comeBack());
    });
    if (this.#plan) worker.postMessage({ type: 'plan', plan: this.#plan } satisfies ProbeInbound);
  }

  #hear(worker: Worker, message: ProbeOutbound): void {
    if (message.type === 'ready') {
      this.#lookLater(worker);
      if (worker !== this.#asked) this.#isBack(true);
    }
    if (message.type === 'fault') return contain(message.seam, new Error(message.fault));
    if (message.type === 'module') this.#said.set(message.module, message);
    if ('id' in message) this.#pending.get(message.id)?.(message);
    else this.#take(message);
  }

  // ---------------------------------------------------------------- threads that no longer come round

  #lookLater(worker: Worker): void {
    this.#clock.after(LOOK_MS, () => {
      if (worker !== this.#worker) return;
      guarded('look at an I/O probe', () => this.#look(worker));
      this.#lookLater(worker);
    });
  }

  /** Looks are counted, not time: when the whole process stood still, nobody is to blame. */
  #look(worker: Worker): void {
    const rounds = Atomics.load(this.#rounds, 0);
    const wasSilent = this.#silentLooks >= SILENT_LOOKS;
    this.#silentLooks = rounds === this.#seenRounds ? this.#silentLooks + 1 : 0;
    this.#seenRounds = rounds;
    if (this.#silentLooks === SILENT_LOOKS) {
      this.#log.error({ probe: this.#name }, `the I/O probe has not come round for ${SILENT_LOOKS} s: its inputs are Bad`);
      for (const image of this.#images()) image.setSilent(true);
      this.#sayLost('its I/O thread does not answer');
    } else if (wasSilent && this.#silentLooks === 0) {
      this.#log.warn({ probe: this.#name }, 'the I/O probe comes round again');
      for (const image of this.#images()) image.setSilent(false);
      for (const message of this.#said.values()) this.#take(message);
    }
    if (this.#silentLooks !== STUCK_LOOKS) return;
    this.#lastFault = `it has not come round for ${STUCK_LOOKS} s`;
    this.#log.error({ probe: this.#name }, `the I/O probe is ended: ${this.#lastFault}`);
    guardedPromise('end of an I/O probe', () => worker.terminate());
  }

  /** With the thread went every connection: what its images show is of before, at once and not when it has grown old. */
  #gone(): void {
    this.#silentLooks = 0;
    this.#seenRounds = 0;
    for (const image of this.#images()) {
      image.abandonInputs(QUALITY.Bad);
      image.setSilent(false);
    }
    if (!this.#stopping) this.#sayLost('its I/O thread has ended and is started again');
  }

  #images(): ProcessImage[] {
    return (this.#plan?.modules ?? []).map(({ channels, image }) => new ProcessImage(channels.length, image));
  }

  #sayLost(message: string): void {
    for (const said of this.#said.values()) this.#take({ ...said, state: 'Disconnected', message, atMs: this.#clock.wallMs() });
  }
}
