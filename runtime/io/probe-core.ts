/**
 * One I/O probe: takes plans and requests, keeps its modules served, reports (design: one probe per controller, one
 * shared for network protocols). A new plan restarts only what changed (decisions D-IO-03).
 *
 * Invariants: a module that leaves is let go at once, and only who follows it, by its name or at its device, waits until it has let go; no other module,
 * and no later plan, ever does.
 */
import type { ProbeInbound, ProbeModule, ProbeOutbound, ProbePlan } from '../port.js';
import type { Clock } from '../vocabulary/clock.js';
import type { CallOutcome } from './driver.js';
import { isSimulated } from './catalog.js';
import { notDiscovered } from './discovery.js';
import { DRIVERS, type DriverTable } from './drivers.js';
import { badSample, holdRefused, type ModuleRunner, OUTPUTS_UNKNOWN, type RunnerHost, writeRefused } from './module-runner.js';
import { NetworkModule } from './network-module.js';
import { SimulationGroup } from './simulation/group.js';
import { UnservedModule } from './unserved-module.js';

const LOOK_MS = 50; // outputs are seen at once through the wake word; this bounds the wait when a wake was missed

export interface ProbeParts {
  readonly clock: Clock;
  readonly random: () => number;
  readonly post: (message: ProbeOutbound) => void;
  readonly drivers?: DriverTable;
}

/** A module whose runner has met a fault of ours begins anew after this time. */
const FAULT_PAUSE_MS = 1000;

interface Running {
  module: ProbeModule;
  readonly runner: ModuleRunner;
  /** Set once it has met a fault of ours and waits for its end. */
  cancel?: () => void;
}

/** Stands where a runner could not even be made. */
const FAULTED: ModuleRunner = {
  update: () => undefined,
  lookAtOutputs: () => undefined,
  read: async () => [],
  write: async () => writeRefused('device_unreachable', 'the module is not served because of a fault of this program'),
  call: async () => ({ ok: false, reason: 'unreachable', message: 'the module is not served because of a fault of this program' }),
  discover: async () => notDiscovered('the module is not served because of a fault of this program'),
  lastExchange: () => undefined,
  release: () => [],
  hold: async () => holdRefused('device_unreachable', 'the module is not served because of a fault of this program'),
  takeFailSafe: async () => undefined,
  close: async () => undefined,
};

/** What does not close has ended all the same: nothing reaches it any more. */
async function closed({ runner, cancel }: Running): Promise<void> {
  cancel?.();
  await runner.close().catch(() => undefined);
}

/** Address, protocol, options or what it signs in with differ: the module connects again. */
function needsReconnect(before: ProbeModule, after: ProbeModule): boolean {
  return (
    before.protocol !== after.protocol ||
    before.address !== after.address ||
    JSON.stringify([before.options, before.ownership, before.security, before.credentials]) !== JSON.stringify([after.options, after.ownership, after.security, after.credentials])
  );
}

/** It comes after that one: the same module made anew, or another one at its device. */
function follows(module: ProbeModule, left: ProbeModule): boolean {
  return module.module === left.module || (module.protocol === left.protocol && module.address === left.address);
}

export class ProbeCore {
  readonly #clock: Clock;
  readonly #post: (message: ProbeOutbound) => void;
  readonly #drivers: DriverTable;
  readonly #host: RunnerHost;
  readonly #simulation: SimulationGroup;
  readonly #network = new Map<string, Running>();
  /** Modules that have left and have not let go of their device yet, with the end of that. */
  readonly #leaving = new Map<ProbeModule, Promise<void>>();
  #plan: ProbePlan | undefined;
  #plans: Promise<void> = Promise.resolve();
  #cancelLook: () => void = () => {};
  #stopped = false;

  constructor(parts: ProbeParts) {
    this.#clock = parts.clock;
    this.#post = parts.post;
    this.#drivers = parts.drivers ?? DRIVERS;
    this.#host = {
      clock: parts.clock,
      random: parts.random,
      settings: () => ({
        reconnectMinMs: this.#plan?.reconnectMinMs ?? 500,
        reconnectMaxMs: this.#plan?.reconnectMaxMs ?? 30_000,
        readbackTimeoutMs: this.#plan?.readbackTimeoutMs ?? 5000,
      }),
      report: (module, state, message, outputs) => this.#post({ type: 'module', module, state, message, outputs, atMs: this.#clock.wallMs() }),
      nextAttempt: (module, atMs) => this.#post({ type: 'next-attempt', module, atMs }),
      resumed: (module, outputs) => this.#post({ type: 'outputs-resumed', module, outputs, atMs: this.#clock.wallMs() }),
      holdEnded: (module, holder, outputs) => this.#post({ type: 'hold-ended', module, holder, outputs }),
      fault: (module, fault) => this.#faulted(module, fault),
    };
    this.#simulation = new SimulationGroup(this.#host);
    this.#lookAgain();
  }

  /** Takes one message; the promise resolves when it has been dealt with. */
  async receive(message: ProbeInbound): Promise<void> {
    switch (message.type) {
      case 'plan':
        // each plan says all: one that could not be taken does not stand in the way of the next
        return this.#inOrder(() => this.#load(message.plan));
      case 'time-scale':
        if (this.#plan) this.#plan = { ...this.#plan, timeScale: message.timeScale };
        this.#simulation.setTimeScale(message.timeScale);
        return;
      case 'read':
        return this.#read(message);
      case 'write':
        return this.#write(message);
      case 'call':
        return this.#call(message);
      case 'release':
        this.#post({ type: 'release-result', id: message.id, released: this.#release(message.module, message.channels) });
        return;
      case 'statistics':
        this.#post({ type: 'statistics-result', id: message.id, statistics: this.#network.get(message.module)?.runner.statistics?.() });
        return;
      case 'hold':
        return this.#hold(message);
      case 'discover':
        return this.#discover(message);
      case 'exchange': {
        const exchange = this.#network.get(message.module)?.runner.lastExchange();
        this.#post({ type: 'exchange-result', id: message.id, ...(exchange ? { exchange } : {}) });
        return;
      }
      case 'fail-safe':
        return this.#takeFailSafe(message.id);
      case 'stop':
        return this.#stop();
    }
  }

  /** Rejects with what the work has thrown; what comes behind it is done all the same. */
  #inOrder(work: () => Promise<void>): Promise<void> {
    const done = this.#plans.then(work);
    this.#plans = done.catch(() => undefined);
    return done;
  }

  async #load(plan: ProbePlan): Promise<void> {
    if (this.#stopped) return;
    const gone = (this.#plan?.modules ?? []).filter(({ module }) => !plan.modules.some((each) => each.module === module));
    this.#plan = plan;
    const network = plan.modules.filter((module) => !isSimulated(module.protocol));
    const leaving = [...this.#network].filter(([name, running]) => {
      const next = network.find((module) => module.module === name);
      return !next || needsReconnect(running.module, next);
    });
    for (const [name, running] of leaving) {
      this.#network.delete(name);
      this.#letGo(running);
    }
    this.#simulation.configure(
      plan.modules.filter((module) => isSimulated(module.protocol)),
      plan.timeScale,
    );
    for (const { module } of gone) this.#tellLetGo(module, plan.revision);
    await Promise.all(network.map((module) => this.#takeInTurn(module)));
  }

  #letGo(running: Running): void {
    const { module } = running;
    const gone = closed(running).finally(() => {
      this.#leaving.delete(module);
      this.#followers(module);
    });
    this.#leaving.set(module, gone);
  }

  /** To whoever gives it to another probe: once its connection is closed here. */
  #tellLetGo(module: string, revision: number): void {
    const closing = [...this.#leaving].flatMap(([left, gone]) => (left.module === module ? [gone] : []));
    const tell = (): void => this.#post({ type: 'let-go', module, revision });
    Promise.all(closing).then(tell, tell);
  }

  /** Who waited for a module that has let go of its device, as the plan stands then; in order with the plans, so that nobody is taken twice. */
  #followers(left: ProbeModule): void {
    const taken = this.#inOrder(async () => {
      for (const module of this.#plan?.modules ?? []) {
        if (this.#stopped || !follows(module, left) || isSimulated(module.protocol) || this.#network.has(module.module)) continue;
        await this.#takeInTurn(module);
      }
    });
    taken.catch((fault: unknown) => this.#faulted(left.module, fault));
  }

  async #takeInTurn(module: ProbeModule): Promise<void> {
    for (const left of this.#leaving.keys()) if (follows(module, left)) return; // it is taken when that one has let go
    await this.#take(module);
  }

  async #take(module: ProbeModule): Promise<void> {
    const running = this.#network.get(module.module);
    try {
      if (running) {
        running.module = module;
        running.runner.update(module);
        return;
      }
      this.#network.set(module.module, { module, runner: await this.#runner(module) });
    } catch (fault) {
      if (!running) this.#network.set(module.module, { module, runner: FAULTED });
      this.#faulted(module.module, fault);
    }
  }

  /** A fault of ours: what serves the module is thrown away, and the module begins anew after a while; the others go on. */
  #faulted(name: string, fault: unknown): void {
    const running = this.#network.get(name);
    const message = `a fault of this program: ${fault instanceof Error ? fault.message : String(fault)}; the module begins anew`;
    this.#host.report(name, 'Failed', message, OUTPUTS_UNKNOWN);
    if (!running || running.cancel) return;
    const again = (): void => {
      if (this.#stopped || this.#network.get(name) !== running) return;
      this.#network.delete(name);
      this.#letGo(running);
    };
    running.cancel = this.#clock.after(FAULT_PAUSE_MS, again);
  }

  async #runner(module: ProbeModule): Promise<ModuleRunner> {
    const load = this.#drivers[module.protocol];
    if (!load) return new UnservedModule(module, `this build has no driver for the protocol ${module.protocol}`, this.#host);
    try {
      return new NetworkModule(module, await load(), this.#host);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return new UnservedModule(module, `the driver for ${module.protocol} does not load: ${reason}`, this.#host);
    }
  }

  async #read(message: Extract<ProbeInbound, { type: 'read' }>): Promise<void> {
    const { id, module, channels, isForChart = false } = message;
    const runner = this.#network.get(module)?.runner;
    const nowMs = this.#clock.wallMs();
    const values = runner
      ? await runner.read(channels, isForChart)
      : this.#simulation.has(module)
        ? this.#simulation.read(module, channels)
        : channels.map((channel) => badSample(channel, '', nowMs, `this probe does not serve module ${module}`));
    this.#post({ type: 'read-result', id, values });
  }

  async #write(message: Extract<ProbeInbound, { type: 'write' }>): Promise<void> {
    const { id, module, channel, value } = message;
    const runner = this.#network.get(module)?.runner;
    const reply = runner
      ? await runner.write(channel, value)
      : this.#simulation.has(module)
        ? this.#simulation.write(module, channel, value)
        : writeRefused('device_unreachable', `this probe does not serve module ${module}`);
    this.#post({ type: 'write-result', id, ...reply });
  }

  async #call(message: Extract<ProbeInbound, { type: 'call' }>): Promise<void> {
    const { id, module, objectId, methodId, args, timeoutMs } = message;
    const runner = this.#network.get(module)?.runner;
    const outcome: CallOutcome = runner
      ? await runner.call(objectId, methodId, args, timeoutMs)
      : { ok: false, reason: 'unreachable', message: `this probe does not serve module ${module}` };
    this.#post({ type: 'call-result', id, outcome });
  }

  async #hold({ id, module, holder, ask }: Extract<ProbeInbound, { type: 'hold' }>): Promise<void> {
    const runner = this.#network.get(module)?.runner;
    const reply = runner ? await runner.hold(holder, ask) : holdRefused('device_unreachable', `no device of module ${module} is served by this probe`);
    this.#post({ type: 'hold-result', id, ...reply });
  }

  async #discover({ id, module, timeoutMs }: Extract<ProbeInbound, { type: 'discover' }>): Promise<void> {
    const runner = this.#network.get(module)?.runner;
    const reply = runner
      ? await runner.discover(timeoutMs)
      : this.#simulation.has(module)
        ? this.#simulation.discover(module)
        : notDiscovered(`this probe does not serve module ${module}`);
    this.#post({ type: 'discover-result', id, ...reply });
  }

  #release(module: string, channels: readonly string[]): readonly string[] {
    return this.#network.get(module)?.runner.release(channels) ?? this.#simulation.release(module, channels);
  }

  // -------------------------------------------------------------- outputs

  #lookAgain(): void {
    this.#cancelLook = this.#clock.after(LOOK_MS, () => {
      this.lookAtOutputs();
      this.#lookAgain();
    });
  }

  /** Network modules take their outputs now; simulated ones take theirs at the next tick. */
  lookAtOutputs(): void {
    for (const running of this.#network.values()) this.#look(running);
  }

  /** Whoever slept on the wake word of this image was woken. */
  woken(image: SharedArrayBuffer): void {
    for (const running of this.#network.values()) if (running.module.image === image) this.#look(running);
  }

  #look(running: Running): void {
    if (running.cancel) return;
    try {
      running.runner.lookAtOutputs();
    } catch (fault) {
      this.#faulted(running.module.module, fault);
    }
  }

  serves(image: SharedArrayBuffer): boolean {
    for (const { module } of this.#network.values()) if (module.image === image) return true;
    return false;
  }

  /** Process images of the network modules served now, for a waiter outside. */
  images(): readonly SharedArrayBuffer[] {
    return [...this.#network.values()].map(({ module }) => module.image);
  }

  /** Does not wait for a plan under way: whoever asks has a second. One module that cannot does not keep the others from it. */
  async #takeFailSafe(id: number): Promise<void> {
    this.#simulation.takeFailSafe();
    await Promise.allSettled([...this.#network.values()].map(async ({ runner }) => runner.takeFailSafe()));
    this.#post({ type: 'fail-safe-result', id });
  }

  async #stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelLook();
    await this.#plans;
    this.#simulation.close();
    for (const running of this.#network.values()) this.#letGo(running);
    this.#network.clear();
    await Promise.all(this.#leaving.values());
    this.#post({ type: 'stopped' });
  }
}
