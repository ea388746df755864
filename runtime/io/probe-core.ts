/**
 * One I/O probe: takes plans and requests, keeps its modules served, reports (design: one probe per controller, one
 * shared for network protocols). A new plan restarts only what changed (decisions D-IO-03).
 */
import type { ProbeInbound, ProbeModule, ProbeOutbound, ProbePlan } from '../port.js';
import { IMAGE_HEADER } from '../vocabulary/process-image.js';
import type { Clock } from './driver.js';
import { DRIVERS, type DriverTable } from './drivers.js';
import { badSample, type ModuleRunner, type RunnerHost, writeRefused } from './module-runner.js';
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

interface Running {
  module: ProbeModule;
  readonly runner: ModuleRunner;
}

/** Address, protocol or options differ: the module connects again. */
function needsReconnect(before: ProbeModule, after: ProbeModule): boolean {
  return before.protocol !== after.protocol || before.address !== after.address || JSON.stringify(before.options) !== JSON.stringify(after.options);
}

export class ProbeCore {
  readonly #clock: Clock;
  readonly #post: (message: ProbeOutbound) => void;
  readonly #drivers: DriverTable;
  readonly #host: RunnerHost;
  readonly #simulation: SimulationGroup;
  readonly #network = new Map<string, Running>();
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
      report: (module, state, message) => this.#post({ type: 'module', module, state, message, atMs: this.#clock.wallMs() }),
    };
    this.#simulation = new SimulationGroup(this.#host);
    this.#lookAgain();
  }

  /** Takes one message; the promise resolves when it has been dealt with. */
  async receive(message: ProbeInbound): Promise<void> {
    switch (message.type) {
      case 'plan':
        this.#plans = this.#plans.then(() => this.#load(message.plan));
        return this.#plans;
      case 'time-scale':
        if (this.#plan) this.#plan = { ...this.#plan, timeScale: message.timeScale };
        this.#simulation.setTimeScale(message.timeScale);
        return;
      case 'read':
        return this.#read(message);
      case 'write':
        return this.#write(message);
      case 'release':
        this.#post({ type: 'release-result', id: message.id, released: this.#release(message.module, message.channels) });
        return;
      case 'stop':
        return this.#stop();
    }
  }

  async #load(plan: ProbePlan): Promise<void> {
    if (this.#stopped) return;
    this.#plan = plan;
    const network = plan.modules.filter((module) => module.protocol !== 'simulation');
    const leaving = [...this.#network].filter(([name, running]) => {
      const next = network.find((module) => module.module === name);
      return !next || needsReconnect(running.module, next);
    });
    for (const [name] of leaving) this.#network.delete(name);
    await Promise.all(leaving.map(([, running]) => running.runner.close()));
    this.#simulation.configure(
      plan.modules.filter((module) => module.protocol === 'simulation'),
      plan.timeScale,
    );
    await Promise.all(network.map((module) => this.#take(module)));
  }

  async #take(module: ProbeModule): Promise<void> {
    const running = this.#network.get(module.module);
    if (running) {
      running.module = module;
      running.runner.update(module);
      return;
    }
    this.#network.set(module.module, { module, runner: await this.#runner(module) });
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
    const { id, module, channels } = message;
    const runner = this.#network.get(module)?.runner;
    const nowMs = this.#clock.wallMs();
    const values = runner
      ? await runner.read(channels)
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
    for (const { runner } of this.#network.values()) runner.lookAtOutputs();
  }

  /** Wake words of the network modules served now, for a waiter outside. */
  wakeWords(): { readonly module: string; readonly header: Int32Array; readonly index: number }[] {
    return [...this.#network.values()].map(({ module }) => ({ module: module.module, header: new Int32Array(module.image, 0, 16), index: IMAGE_HEADER.wake }));
  }

  async #stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelLook();
    await this.#plans;
    this.#simulation.close();
    await Promise.all([...this.#network.values()].map(({ runner }) => runner.close()));
    this.#network.clear();
    this.#post({ type: 'stopped' });
  }
}
