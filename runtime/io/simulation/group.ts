/**
 * All simulation modules of one probe: the engine, its tick, and the way between it and the process images
 * (decisions 6.1, 6.7). Wall period of a tick = tick / time scale; the plant's dt never changes.
 */
import type { MonoMs } from '../../vocabulary/times.js';
import type { ChannelSample, ProbeModule } from '../../port.js';
import { assert, inside } from '../../vocabulary/assert.js';
import type { Value } from '../../vocabulary/data-types.js';
import { CONNECTION, IMAGE_HEADER, ProcessImage, WRITE_STATUS } from '../../vocabulary/process-image.js';
import { QUALITY } from '../../vocabulary/quality.js';
import type { ChannelType } from '../description.js';
import { NO_IDENTITY, type OfferedChannel } from '../device-answers.js';
import { type DiscoverReply, notDiscovered } from '../discovery.js';
import { decideFailSafe, RuntimeWatch } from '../fail-safe.js';
import { badSample, OUTPUTS_UNKNOWN, type RunnerHost, type WriteReply, writeRefused } from '../module-runner.js';
import { numberOption, resolveOptions } from '../options.js';
import { readbackAgrees } from '../readback.js';
import { convertValue, exactValue, messageValue, qualityWord } from '../values.js';
import { simulationDescription } from './description.js';
import { type SimulatedModule, type SimulatedSample, SimulationEngine } from './engine.js';

const HEARTBEAT_TICKS_MS = 1000; // decisions 7.6: toggled every second
/** More missed ticks than this are skipped, not caught up: the plant then simply stood still for a while. */
const CATCH_UP_TICKS_MAX = 20;

/** A written value and the channel that shows whether the device took it (decisions 7.7). */
interface Readback {
  readonly value: number | string;
  readonly deadlineMonoMs: MonoMs;
  /** Newest sequence that carries the value. */
  sequence: number;
  /** Undefined until it agreed or its time was over. */
  verdict: typeof WRITE_STATUS.done | typeof WRITE_STATUS.mismatch | undefined;
}

interface Served {
  module: ProbeModule;
  image: ProcessImage;
  readonly watch: RuntimeWatch;
  problem: string;
  failSafeTaken: boolean;
  heartbeat: boolean;
  heartbeatMonoMs: MonoMs;
  seen: Int32Array;
  /** By channel: what waits to read back, or has, what was written. */
  readbacks: Map<number, Readback>;
  mismatched: readonly string[];
  reported: string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function simulatedModule(module: ProbeModule): SimulatedModule {
  const options = resolveOptions(simulationDescription.options, module.options);
  return {
    name: module.module,
    tickMs: numberOption(options, 'tick'),
    seed: module.simulation?.seed ?? 0,
    channels: module.channels.map(({ address, dataType, initial }) => ({ address, dataType, initial: initialOf(initial ?? null, dataType) })),
    behaviors: module.simulation?.behaviors ?? [],
    faults: module.simulation?.faults ?? [],
  };
}

const READ_BACK = 'a read-back belongs to a channel of the plan it was made under';
const IMAGE_OF_CHANNELS = 'a module has one slot of its image per channel';

function faultOf(fault: unknown): string {
  return `a fault of this program in the simulation: ${fault instanceof Error ? fault.message : String(fault)}`;
}

function initialOf(initial: Value, dataType: ChannelType): number | string {
  return convertValue(initial, dataType) ?? (dataType === 'string' ? '' : 0);
}

export class SimulationGroup {
  readonly #host: RunnerHost;
  #engine = new SimulationEngine();
  readonly #served = new Map<string, Served>();
  #timeScale = 1;
  #cancel: () => void = () => {};
  #dueMonoMs = 0;

  constructor(host: RunnerHost) {
    this.#host = host;
  }

  /** Replaces the set of modules; unchanged behaviours, written and forced values keep their state. */
  configure(modules: readonly ProbeModule[], timeScale: number): void {
    for (const [name, served] of this.#served) {
      if (modules.some((module) => module.module === name)) continue;
      this.#markBad(served);
      this.#served.delete(name);
    }
    const problems = this.#configured(modules.filter((module) => this.#isServed(module)));
    for (const [name, served] of this.#served) {
      served.problem = problems.get(name) ?? '';
      if (served.problem === '') continue; // connected is what has delivered values: told with the first ones
      this.#markBad(served);
      this.#reportState(served);
    }
    this.setTimeScale(timeScale);
  }

  /** A module that cannot be set up is told as a fault of it, and is none of the plant: those beside it go on. */
  #isServed(module: ProbeModule): boolean {
    try {
      this.#serve(module);
      return true;
    } catch (fault) {
      const served = this.#served.get(module.module);
      if (served) this.#markBad(served);
      this.#served.delete(module.module);
      this.#host.fault(module.module, fault);
      return false;
    }
  }

  /** Problems by module. A fault of ours concerns the whole plant, whose modules read each other: it is a problem of all. */
  #configured(modules: readonly ProbeModule[]): ReadonlyMap<string, string> {
    try {
      return this.#engine.configure(modules.map(simulatedModule));
    } catch (fault) {
      this.#engine = new SimulationEngine();
      return new Map(modules.map(({ module }) => [module, faultOf(fault)]));
    }
  }

  #serve(module: ProbeModule): void {
    const served = this.#served.get(module.module);
    if (!served) {
      const image = new ProcessImage(module.channels.length, module.image);
      const fresh: Served = {
        module,
        image,
        watch: new RuntimeWatch(image),
        problem: '',
        failSafeTaken: false,
        heartbeat: false,
        heartbeatMonoMs: 0,
        seen: new Int32Array(module.channels.length),
        readbacks: new Map(),
        mismatched: [],
        reported: '',
      };
      this.#markBad(fresh);
      this.#served.set(module.module, fresh);
      return;
    }
    if (served.module.image !== module.image) {
      served.image = new ProcessImage(module.channels.length, module.image);
      served.watch.rebind(served.image);
      served.seen = new Int32Array(module.channels.length);
      served.readbacks = new Map();
      this.#markBad(served);
    }
    if (JSON.stringify(served.module.channels) !== JSON.stringify(module.channels)) served.readbacks = new Map();
    assert(served.image.size === module.channels.length, IMAGE_OF_CHANNELS);
    served.module = module;
  }

  #markBad(served: Served): void {
    const { image } = served;
    image.beginInputs();
    image.quality.fill(QUALITY.Bad);
    image.endInputs();
    const word = Atomics.load(image.header, IMAGE_HEADER.connection);
    if (word === CONNECTION.connected) Atomics.store(image.header, IMAGE_HEADER.connection, CONNECTION.lost);
  }

  #reportState(served: Served): void {
    const { problem, failSafeTaken, module } = served;
    const state = problem !== '' ? 'Failed' : failSafeTaken ? 'Degraded' : 'Connected';
    const message = problem || (failSafeTaken ? 'the unit runtime is silent: fail-safe values written' : '');
    const key = `${state} ${message} ${served.mismatched.join(' ')}`;
    if (served.reported === key) return;
    served.reported = key;
    this.#host.report(module.module, state, message, { ...OUTPUTS_UNKNOWN, mismatched: served.mismatched, failSafeTaken });
  }

  // -------------------------------------------------------------- time

  setTimeScale(timeScale: number): void {
    this.#timeScale = timeScale > 0 ? timeScale : 1;
    this.#cancel();
    if (this.#served.size === 0) return;
    this.#dueMonoMs = this.#host.clock.monoMs() + this.#periodMs();
    this.#schedule();
  }

  #periodMs(): number {
    return this.#engine.tickMs / this.#timeScale;
  }

  #schedule(): void {
    this.#cancel = this.#host.clock.after(this.#dueMonoMs - this.#host.clock.monoMs(), () => {
      const nowMs = this.#host.clock.monoMs();
      for (let ticks = 0; this.#dueMonoMs <= nowMs && ticks < CATCH_UP_TICKS_MAX; ticks += 1) {
        this.#guardedTick();
        this.#dueMonoMs += this.#periodMs();
      }
      if (this.#dueMonoMs <= nowMs) this.#dueMonoMs = nowMs + this.#periodMs();
      this.#schedule();
    });
  }

  /** A fault of ours in a tick costs that tick and is told of every module it may concern; the plant goes on with the next. */
  #guardedTick(): void {
    try {
      this.tick();
    } catch (fault) {
      for (const served of this.#served.values()) {
        this.#markBad(served);
        served.reported = '';
        this.#host.report(served.module.module, 'Failed', faultOf(fault), OUTPUTS_UNKNOWN);
      }
    }
  }

  /** One tick: outputs of the images in, one step of the plant, its values out. */
  tick(): void {
    const nowMs = this.#host.clock.wallMs();
    for (const served of this.#served.values()) this.#takeOutputs(served);
    for (const name of this.#engine.tick(nowMs)) {
      const served = this.#served.get(name);
      if (served) this.#publish(served);
    }
  }

  #takeOutputs(served: Served): void {
    const { image, module } = served;
    this.#watchRuntime(served);
    for (const [channel, { address, dataType }] of module.channels.entries()) {
      const sequence = Atomics.load(image.outSeq, channel);
      if (sequence === served.seen[channel]) continue;
      served.seen[channel] = sequence;
      const refused = served.problem !== '' || module.failSafe?.posture === 'observed';
      const value = dataType === 'string' ? decoder.decode(image.getText(channel)) : image.commanded(channel);
      if (!refused) this.#engine.write(module.module, address, value);
      if (!refused && this.#readbackOf(module, channel)) {
        const before = served.readbacks.get(channel);
        if (before?.value === value) before.sequence = sequence;
        else served.readbacks.set(channel, { value, sequence, verdict: undefined, deadlineMonoMs: this.#host.clock.monoMs() + this.#host.settings().readbackTimeoutMs });
        continue;
      }
      image.outStatus[channel] = refused ? WRITE_STATUS.failed : WRITE_STATUS.done;
      image.readback[channel] = image.commanded(channel);
      Atomics.store(image.outDone, channel, sequence);
    }
  }

  /** What the readback address of an output shows; undefined when it has none, or one that this simulation does not have. */
  #readbackOf(module: ProbeModule, channel: number): SimulatedSample | undefined {
    const { readbackAddress } = inside(module.channels, channel, READ_BACK);
    return readbackAddress === '' ? undefined : this.#engine.sample(module.module, readbackAddress);
  }

  /** Compares written values with what they read back, for as long as they stand. */
  #compare(served: Served): void {
    const { module, image } = served;
    for (const [channel, readback] of served.readbacks) {
      const { dataType, span } = inside(module.channels, channel, READ_BACK);
      const shown = this.#readbackOf(module, channel);
      if (!shown) continue;
      image.readback[channel] = shown.value;
      const agrees = readbackAgrees(readback.value, shown.text ?? shown.value, dataType, span);
      if (agrees) readback.verdict = WRITE_STATUS.done;
      else if (readback.verdict !== undefined || this.#host.clock.monoMs() >= readback.deadlineMonoMs) readback.verdict = WRITE_STATUS.mismatch;
      if (readback.verdict === undefined) continue;
      image.outStatus[channel] = readback.verdict;
      Atomics.store(image.outDone, channel, readback.sequence);
    }
    served.mismatched = [...served.readbacks].filter(([, { verdict }]) => verdict === WRITE_STATUS.mismatch).map(([channel]) => inside(module.channels, channel, READ_BACK).name);
  }

  /** Fail-safe values and heartbeat of a simulated device (decisions 7.6). */
  #watchRuntime(served: Served): void {
    const { module, watch } = served;
    const nowMs = this.#host.clock.monoMs();
    const moved = watch.look(nowMs);
    const step = decideFailSafe(served.failSafeTaken, moved, watch.silentMs(nowMs), module.failSafe?.timeoutMs ?? 0);
    if (step !== 'none') {
      served.failSafeTaken = step === 'take';
      if (step === 'take') this.#writeFailSafe(module);
      else this.#rewrite(served);
      this.#reportState(served);
    }
    const heartbeat = module.failSafe?.heartbeatChannel ?? '';
    if (heartbeat === '' || !watch.alive(nowMs) || nowMs - served.heartbeatMonoMs < HEARTBEAT_TICKS_MS) return;
    served.heartbeatMonoMs = nowMs;
    served.heartbeat = !served.heartbeat;
    this.#engine.write(module.module, this.#addressOf(module, heartbeat), served.heartbeat ? 1 : 0);
  }

  /** The simulated devices end with this process: it is written for whoever still looks. */
  takeFailSafe(): void {
    for (const { module } of this.#served.values()) if ((module.failSafe?.timeoutMs ?? 0) > 0) this.#writeFailSafe(module);
  }

  #writeFailSafe(module: ProbeModule): void {
    for (const { channel: name, value } of module.failSafe?.outputs ?? []) {
      const channel = module.channels.find((row) => row.name === name || row.address === name);
      const converted = channel ? convertValue(value, channel.dataType) : undefined;
      if (channel && converted !== undefined) this.#engine.write(module.module, channel.address, converted);
    }
  }

  /** The runtime is back: everything it has written counts again. */
  #rewrite(served: Served): void {
    for (const [channel, seen] of served.seen.entries()) {
      if (Atomics.load(served.image.outSeq, channel) !== 0) served.seen[channel] = seen - 1;
    }
  }

  #publish(served: Served): void {
    const { module, image } = served;
    image.beginInputs();
    for (const [channel, { address, direction }] of module.channels.entries()) {
      const sample = this.#engine.sample(module.module, address);
      if (!sample) continue;
      image.value[channel] = sample.value;
      // a fault that holds a sample holds its time, and with it its age
      if (image.sampledAtMs[channel] !== sample.atMs) image.stamp(channel, sample.atMs, this.#host.clock.monoMs());
      image.quality[channel] = sample.quality;
      // The text of an output belongs to its writing unit.
      if (sample.text !== undefined && direction === 'input') image.setText(channel, encoder.encode(sample.text));
    }
    image.endInputs();
    if (served.readbacks.size > 0) this.#compare(served);
    Atomics.store(image.header, IMAGE_HEADER.connection, CONNECTION.connected);
    this.#reportState(served);
  }

  // -------------------------------------------------------------- requests

  #addressOf(module: ProbeModule, name: string): string {
    return module.channels.find((row) => row.name === name)?.address ?? name;
  }

  has(module: string): boolean {
    return this.#served.has(module);
  }

  /** The present values; also of internal channels, which are readable here and nowhere else. */
  read(name: string, channels: readonly string[]): readonly ChannelSample[] {
    const module = this.#served.get(name)?.module;
    const nowMs = this.#host.clock.wallMs();
    return channels.map((channel) => {
      const address = module ? this.#addressOf(module, channel) : channel;
      const sample = this.#engine.sample(name, address);
      if (!sample) return badSample(channel, '', nowMs, `module ${name} has no channel ${channel}`);
      const declared = module?.channels.find((row) => row.address === address);
      return { channel: declared?.name ?? address, address, ...wireSample(sample, this.#served.get(name)?.problem ?? '') };
    });
  }

  /** Each address that it offers; internal ones beside the channels are what nobody has configured. */
  discover(name: string): DiscoverReply {
    const served = this.#served.get(name);
    if (!served || served.problem !== '') return notDiscovered(served?.problem ?? `module ${name} is not simulated here`);
    const { channels } = served.module;
    const declared = new Set(channels.map(({ address }) => address));
    const found = channels.map(({ name: channel, address, direction, dataType }) => ({
      channel,
      address,
      isFound: true,
      dataType,
      isWritable: direction === 'output',
      message: '',
    }));
    const offered = this.#engine.addresses(name).flatMap((address): OfferedChannel[] => {
      const dataType = declared.has(address) ? undefined : this.#engine.sample(name, address)?.dataType;
      return dataType === undefined ? [] : [{ address, dataType, isWritable: false, description: 'address of a behaviour' }];
    });
    return { ok: true, message: '', discovery: { device: { ...NO_IDENTITY, product: 'simulation' }, channels: found, offered, isTruncated: false } };
  }

  /** Holds a channel at a value until it is released (contract 3, Simulation). */
  write(name: string, channel: string, value: Value): WriteReply {
    const served = this.#served.get(name);
    const address = served ? this.#addressOf(served.module, channel) : channel;
    const sample = this.#engine.sample(name, address);
    if (!served || !sample) return writeRefused('unknown_channel', `module ${name} has no channel ${channel}`);
    const converted = exactValue(value, sample.dataType);
    if (converted === undefined) return writeRefused('invalid_value', `${value} is not a ${sample.dataType}`);
    this.#engine.force(name, address, converted, this.#host.clock.wallMs());
    if (served.problem === '') this.#publish(served);
    const shown = this.#engine.sample(name, address) ?? sample;
    return { ok: true, message: '', forced: true, readback: messageValue(shown.value, shown.text, shown.dataType) };
  }

  /** @returns names of the channels that were forced and are no longer. */
  release(name: string, channels: readonly string[]): readonly string[] {
    const module = this.#served.get(name)?.module;
    if (!module) return [];
    const addresses = channels.map((channel) => this.#addressOf(module, channel));
    return this.#engine.release(name, addresses).map((address) => module.channels.find((row) => row.address === address)?.name ?? address);
  }

  /** A write of control from outside an image: shown from the next tick. False: no such channel. */
  control(name: string, address: string, value: number | string): boolean {
    return this.#engine.write(name, address, value);
  }

  close(): void {
    this.#cancel();
    for (const served of this.#served.values()) this.#markBad(served);
    this.#served.clear();
  }
}

function wireSample(sample: SimulatedSample, problem: string): Omit<ChannelSample, 'channel' | 'address'> {
  const { value, text, dataType, quality, atMs, forced } = sample;
  const message = problem || (atMs === 0 ? 'not simulated yet' : quality === QUALITY.Bad ? 'a fault of the simulation' : '');
  return { value: messageValue(value, text, dataType), quality: qualityWord(quality), atMs, message, forced };
}
