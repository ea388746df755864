/** A module that this build cannot serve: Failed with the reason, every channel Bad, every write refused. */
import type { ChannelSample, ProbeModule } from '../port.js';
import type { CallOutcome } from './driver.js';
import { ProcessImage, WRITE_STATUS } from '../vocabulary/process-image.js';
import { QUALITY } from '../vocabulary/quality.js';
import { type DiscoverReply, notDiscovered } from './discovery.js';
import { badSample, type HoldReply, holdRefused, type ModuleRunner, OUTPUTS_UNKNOWN, type RunnerHost, type WriteReply, writeRefused } from './module-runner.js';

export class UnservedModule implements ModuleRunner {
  readonly #reason: string;
  readonly #host: RunnerHost;
  #module: ProbeModule;
  #image: ProcessImage;

  constructor(module: ProbeModule, reason: string, host: RunnerHost) {
    this.#module = module;
    this.#reason = reason;
    this.#host = host;
    this.#image = new ProcessImage(module.channels.length, module.image);
    this.#markBad();
    host.report(module.module, 'Failed', reason, OUTPUTS_UNKNOWN);
  }

  #markBad(): void {
    this.#image.beginInputs();
    this.#image.quality.fill(QUALITY.Bad);
    this.#image.endInputs();
  }

  update(module: ProbeModule): void {
    this.#module = module;
    this.#image = new ProcessImage(module.channels.length, module.image);
    this.#markBad();
  }

  lookAtOutputs(): void {
    const image = this.#image;
    for (let channel = 0; channel < image.size; channel += 1) {
      const sequence = Atomics.load(image.outSeq, channel);
      if (sequence === Atomics.load(image.outDone, channel)) continue;
      image.outStatus[channel] = WRITE_STATUS.failed;
      Atomics.store(image.outDone, channel, sequence);
    }
  }

  async read(channels: readonly string[]): Promise<readonly ChannelSample[]> {
    const nowMs = this.#host.clock.wallMs();
    return channels.map((name) => {
      const channel = this.#module.channels.find((row) => row.name === name || row.address === name);
      return channel ? badSample(channel.name, channel.address, nowMs, this.#reason) : badSample(name, '', nowMs, `module ${this.#module.module} has no channel ${name}`);
    });
  }

  async write(name: string): Promise<WriteReply> {
    const known = this.#module.channels.some((row) => row.name === name || row.address === name);
    return known ? writeRefused('device_unreachable', this.#reason) : writeRefused('unknown_channel', `module ${this.#module.module} has no channel ${name}`);
  }

  async call(): Promise<CallOutcome> {
    return { ok: false, reason: 'unreachable', message: this.#reason };
  }

  async discover(): Promise<DiscoverReply> {
    return notDiscovered(this.#reason);
  }

  lastExchange(): undefined {
    return undefined;
  }

  release(): readonly string[] {
    return [];
  }

  async hold(): Promise<HoldReply> {
    return holdRefused('device_unreachable', this.#reason);
  }

  async takeFailSafe(): Promise<void> {}

  async close(): Promise<void> {}
}
