/**
 * I/O probes as worker threads of this process: one per controller of a site, one per site shared by the network modules
 * without a controller. The process image of a module is made here and outlives restarts of its probe.
 */
import type { WallMs } from '../../platform/base/times.js';
import type {
  BoxNotice,
  CallOutcome,
  ChannelSample,
  Exchange,
  HeldOutput,
  HoldAsk,
  ProbeInbound,
  ProbeModule,
  ProbeOutbound,
  ProbeStatistics,
  ProbeThread,
  SimulationForce,
} from '../../../runtime/port.js';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import { CONNECTION, IMAGE_HEADER, ProcessImage } from '../../../runtime/vocabulary/process-image.js';
import type { Clock } from '../../platform/base/clock.js';
import { guarded, guardedPromise } from '../../platform/base/guarded.js';
import type { Log } from '../../platform/base/log.js';
import { Probe } from './probe-thread.js';

const PROBE = new URL('../../../runtime/probe.js', import.meta.url);
/** A probe tells of a call that was not answered; one that says nothing for so much longer is not there. */
const CALL_LATER_MS = 5000;
/** Name of the probe that serves modules without a controller. */
export const SHARED_PROBE = 'shared';

type HoldReply = Omit<Extract<ProbeOutbound, { type: 'hold-result' }>, 'type' | 'id'>;

export interface Hold {
  readonly holder: string;
  /** What became of each when the module was no longer served; undefined while its probe has not told yet, none where it ended before it could. */
  readonly left: readonly HeldOutput[] | undefined;
}

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
  /** The probe that has a module in its hands, by site and module: another one waits until it has let go. */
  readonly #hands = new Map<string, string>();
  /** Plans with modules that are still in the hands of another probe. */
  readonly #waiting = new Map<string, { readonly site: string; readonly controller: string; readonly modules: readonly ProbeModule[] }>();
  readonly #listeners: ((site: string, module: string, state: ModuleState) => void)[] = [];
  readonly #notices: ((notice: BoxNotice) => void)[] = [];
  readonly #resumed: ((site: string, module: string, outputs: ResumedOutputs) => void)[] = [];
  readonly #states = new Map<string, ModuleState>();
  /** The last one of each module, by site and module, until it is known to be back. */
  readonly #holds = new Map<string, Hold>();
  /** When a module that is away is tried again, by site and module. */
  readonly #attempts = new Map<string, WallMs>();
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

  /**
   * The image of a module for a given channel list. `device`: which module and device it is of; another one, and a changed list, get a new image: what was
   * commanded to one device, and what one has shown, is nothing that another one knows of.
   */
  image(site: string, module: string, channels: readonly string[], device = ''): ProcessImage {
    const key = `${site}/${module}`;
    const layout = JSON.stringify([device, ...channels]); // an address may hold any character: joined ones could read like another list
    const known = this.#images.get(key);
    if (known?.layout === layout) return known.image;
    known?.image.setSilent(true);
    const image = new ProcessImage(channels.length);
    this.#images.set(key, { layout, image });
    return image;
  }

  /** The module was deleted. */
  forget(site: string, module: string): void {
    this.#images.get(`${site}/${module}`)?.image.setSilent(true);
    this.#attempts.delete(`${site}/${module}`);
    this.#images.delete(`${site}/${module}`);
  }

  /** The last word on a module that is served; what was said of one that is disabled or removed since is over. */
  moduleState(site: string, module: string): ModuleState | undefined {
    return this.probeOf(site, module) === '' ? undefined : this.#states.get(`${site}/${module}`);
  }

  /** When the device of a module that is away is tried again; undefined: it is not away, is being tried now, or nobody tries. */
  nextAttempt(site: string, module: string): WallMs | undefined {
    return this.moduleState(site, module) && this.#attempts.get(`${site}/${module}`);
  }

  /** All modules of one probe; an empty list stops it. One that another probe still has in its hands is served once that has let go. */
  run(site: string, controller: string, wanted: readonly ProbeModule[]): void {
    const probe = `${site}/${controller}`;
    const modules = wanted.filter(({ module }) => (this.#hands.get(`${site}/${module}`) ?? probe) === probe);
    if (modules.length < wanted.length) this.#waiting.set(probe, { site, controller, modules: wanted });
    else this.#waiting.delete(probe);
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
        letGo: (of, module) => this.#letGo(of, module, probe),
        after: this.#ending.get(probe),
      });
      this.#probes.set(probe, running);
    }
    for (const { module } of modules) this.#hands.set(`${site}/${module}`, probe);
    running.load({ probe, revision: running.nextRevision(), timeScale: this.#timeScale, modules, ...this.#settings });
    for (const key of this.#states.keys()) if (key.startsWith(`${site}/`) && this.probeOf(site, key.slice(site.length + 1)) === '') this.#states.delete(key);
    if (wanted.length === 0) {
      this.#probes.delete(probe);
      const ended = Promise.all([this.#ending.get(probe), running.stop()]).then(() => {
        if (this.#ending.get(probe) === ended) this.#ending.delete(probe);
      });
      this.#ending.set(probe, ended);
      guardedPromise('end of an I/O probe', () => ended);
    }
  }

  #letGo(site: string, module: string, probe: string): void {
    const key = `${site}/${module}`;
    if (this.#hands.get(key) !== probe || this.#probes.get(probe)?.serves(site, module)) return;
    this.#hands.delete(key);
    const hold = this.#holds.get(key);
    if (hold) this.#holds.set(key, { ...hold, left: hold.left ?? [] });
    for (const waiting of [...this.#waiting.values()])
      if (waiting.site === site && waiting.modules.some((each) => each.module === module)) this.run(site, waiting.controller, waiting.modules);
  }

  setTimeScale(timeScale: number): void {
    this.#timeScale = timeScale;
    for (const probe of this.#probes.values()) probe.setTimeScale(timeScale);
  }

  probeOf(site: string, module: string): string {
    for (const [name, probe] of this.#probes) if (probe.serves(site, module)) return name;
    return '';
  }

  /** What the device has now, of each channel; undefined when no probe answers. What charts ask goes before what people ask, and waits for none of it. */
  async read(site: string, module: string, channels: readonly string[], asker: 'person' | 'chart' = 'person'): Promise<readonly ChannelSample[] | undefined> {
    const reply = await this.#request(site, module, (id) => ({ type: 'read', id, module, channels, isForChart: asker === 'chart' }));
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

  /** What is forced in a simulated module now, for the threads that come after the present one. */
  keepForces(site: string, module: string, forces: readonly SimulationForce[]): void {
    for (const probe of this.#probes.values()) probe.keepForces(site, module, forces);
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
  async hold(site: string, module: string, holder: string, ask: HoldAsk): Promise<HoldReply | undefined> {
    const key = `${site}/${module}`;
    const back = ask.kind === 'return' ? (this.holdOf(site, module, holder)?.left ?? []).filter(({ isReturned }) => isReturned === true) : [];
    const isBack = ({ channel }: HeldOutput): boolean => back.some((row) => row.channel === channel);
    if (ask.kind === 'return' && back.length > 0 && ask.before.every(isBack)) return { ok: true, message: '', outputs: back };
    const asked = ask.kind === 'return' ? { ...ask, before: ask.before.filter((row) => !isBack(row)) } : ask;
    const reply = await this.#request(site, module, (id) => ({ type: 'hold', id, module, holder, ask: asked }));
    if (reply?.type !== 'hold-result') return undefined;
    if (ask.kind === 'take' && reply.ok) this.#holds.set(key, { holder, left: undefined });
    if (ask.kind === 'return' && reply.ok && this.holdOf(site, module, holder)) this.#holds.delete(key);
    return { ...reply, outputs: [...back, ...reply.outputs] };
  }

  /** Outputs that a probe of this process has given into the hand of the holder, and that are not known to be back. */
  holdOf(site: string, module: string, holder: string): Hold | undefined {
    const hold = this.#holds.get(`${site}/${module}`);
    return hold?.holder === holder ? hold : undefined;
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

  #holdEnded(key: string, { holder, outputs }: Extract<ProbeOutbound, { type: 'hold-ended' }>): void {
    const hold = this.#holds.get(key);
    if (hold?.holder === holder) this.#holds.set(key, { holder, left: outputs });
  }

  #noteAttempt(key: string, atMs: WallMs): void {
    if (atMs === 0) this.#attempts.delete(key);
    else this.#attempts.set(key, atMs);
  }

  #take(site: string, message: ProbeOutbound): void {
    if (message.type === 'outputs-resumed') for (const listener of this.#resumed) guarded('listener of resumed outputs', () => listener(site, message.module, message));
    if (message.type === 'hold-ended') this.#holdEnded(`${site}/${message.module}`, message);
    if (message.type === 'notice') for (const listener of this.#notices) guarded('listener of notices', () => listener(message.notice));
    if (message.type === 'next-attempt') this.#noteAttempt(`${site}/${message.module}`, message.atMs);
    if (message.type !== 'module') return;
    const { module } = message;
    if (message.state !== 'Disconnected') this.#noteAttempt(`${site}/${module}`, 0); // a thread that has ended meanwhile has not taken it back
    const state = { state: message.state, message: message.message, outputs: message.outputs, atMs: message.atMs };
    this.#states.set(`${site}/${module}`, state);
    for (const listener of this.#listeners) guarded('listener of I/O modules', () => listener(site, module, state));
  }
}

/** Whether any sample of the module proves its connection now (D-IO-01). */
export function isConnected(image: ProcessImage): boolean {
  return Atomics.load(image.header, IMAGE_HEADER.connection) === CONNECTION.connected;
}
