/**
 * All simulation modules of one probe: the engine, its tick, and the way between it and the process images
 * (decisions 6.1, 6.7). Wall period of a tick = tick / time scale; the plant's dt never changes.
 */
import type { MonoMs } from '../../vocabulary/times.js';
import type { ChannelSample, ImagePlan, ProbeModule } from '../../port.js';
import { assert, inside } from '../../vocabulary/assert.js';
import type { Value } from '../../vocabulary/data-types.js';
import { CONNECTION, IMAGE_HEADER, ProcessImage, WRITE_STATUS } from '../../vocabulary/process-image.js';
import { QUALITY } from '../../vocabulary/quality.js';
import type { ChannelType } from '../description.js';
import { NO_IDENTITY, type OfferedChannel } from '../device-answers.js';
import { type DiscoverReply, notDiscovered } from '../discovery.js';
import { decideFailSafe, RuntimeWatch } from '../fail-safe.js';
import { badSample, type ModuleState, OUTPUTS_UNKNOWN, type RunnerHost, type WriteReply, writeRefused } from '../module-runner.js';
import { numberOption, resolveOptions } from '../options.js';
import { convertValue, exactValue, messageValue, qualityWord, simulatedValue } from '../values.js';
import type { Cell } from './cell.js';
import { simulationDescription } from './description.js';
import { DeviceReader, foreignModules } from './device-reader.js';
import { type SimulatedModule, type SimulatedSample, SimulationEngine } from './engine.js';
import { Readbacks } from './readbacks.js';

const HEARTBEAT_TICKS_MS = 1000; // decisions 7.6: toggled every second
/** More missed ticks than this are skipped, not caught up: the plant then simply stood still for a while. */
const CATCH_UP_TICKS_MAX = 20;

interface Served {
  module: ProbeModule;
  image: ProcessImage;
  readonly watch: RuntimeWatch;
  problem: string;
  failSafeTaken: boolean;
  heartbeat: boolean;
  heartbeatMonoMs: MonoMs;
  seen: Int32Array;
  readonly readbacks: Readbacks;
  /** Where each channel stands in the plant, in the order of the channels; found anew with each configuration. */
  cells: readonly (Cell | undefined)[];
  /** It has its forces from the plan. */
  isForced: boolean;
  /** What was told of it last. */
  told: { readonly state: ModuleState; readonly message: string; readonly mismatched: readonly string[] } | undefined;
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
  readonly #devices = new DeviceReader();
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
      served.cells = served.module.channels.map(({ address }) => this.#engine.cell(name, address));
      served.problem = problems.get(name) ?? '';
      if (!served.isForced && served.problem === '') this.#takeForces(name, served);
      if (served.problem === '') continue; // connected is what has delivered values: told with the first ones
      this.#markBad(served);
      this.#reportState(served);
    }
    this.setTimeScale(timeScale);
  }

  /** What was forced before this thread: a place that there is no more, or that has another type now, is nobody's. */
  #takeForces(name: string, served: Served): void {
    served.isForced = true;
    for (const { address, value } of served.module.simulation?.forces ?? []) {
      const sample = this.#engine.sample(name, address);
      const exact = sample && exactValue(value, sample.dataType);
      if (exact !== undefined) this.#engine.force(name, address, exact, this.#host.clock.wallMs());
    }
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
    const devices = devicesRead(modules);
    try {
      const problems = this.#engine.configure(modules.map(simulatedModule), foreignModules(devices));
      this.#devices.bind(devices, this.#engine.coupling);
      return problems;
    } catch (fault) {
      this.#engine = new SimulationEngine();
      this.#devices.bind([], this.#engine.coupling);
      for (const served of this.#served.values()) served.isForced = false;
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
        readbacks: new Readbacks(),
        cells: [],
        isForced: false,
        told: undefined,
      };
      this.#markBad(fresh);
      this.#served.set(module.module, fresh);
      return;
    }
    if (served.module.image !== module.image) {
      served.image = new ProcessImage(module.channels.length, module.image);
      served.watch.rebind(served.image);
      served.seen = new Int32Array(module.channels.length);
      served.readbacks.clear();
      this.#markBad(served);
    }
    if (JSON.stringify(served.module.channels) !== JSON.stringify(module.channels)) served.readbacks.clear();
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
    const { problem, failSafeTaken, module, told } = served;
    const { mismatched } = served.readbacks;
    const state = problem !== '' ? 'Failed' : failSafeTaken ? 'Degraded' : 'Connected';
    const message = problem || (failSafeTaken ? 'the unit runtime is silent: fail-safe values written' : '');
    if (told?.state === state && told.message === message && told.mismatched === mismatched) return;
    served.told = { state, message, mismatched };
    this.#host.report(module.module, state, message, { ...OUTPUTS_UNKNOWN, mismatched, failSafeTaken });
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
        served.told = undefined;
        this.#host.report(served.module.module, 'Failed', faultOf(fault), OUTPUTS_UNKNOWN);
      }
    }
  }

  /** One tick: outputs of the images in, one step of the plant, its values out. */
  tick(): void {
    const nowMs = this.#host.clock.wallMs();
    for (const served of this.#served.values()) this.#takeOutputs(served);
    this.#devices.read(this.#engine.coupling, this.#host.clock.monoMs());
    for (const name of this.#engine.tick(nowMs)) {
      const served = this.#served.get(name);
      if (served) this.#publish(served);
    }
  }

  #takeOutputs(served: Served): void {
    const { image, module, seen } = served;
    this.#watchRuntime(served);
    for (let channel = 0; channel < module.channels.length; channel += 1) {
      const sequence = Atomics.load(image.outSeq, channel);
      if (sequence !== seen[channel]) this.#takeOutput(served, channel, sequence);
    }
  }

  #takeOutput({ image, module, seen, problem, readbacks }: Served, channel: number, sequence: number): void {
    const { address, dataType, readbackAddress } = inside(module.channels, channel, IMAGE_OF_CHANNELS);
    seen[channel] = sequence;
    const refused = problem !== '' || module.failSafe?.posture === 'observed';
    const value = dataType === 'string' ? decoder.decode(image.getText(channel)) : image.commanded(channel);
    if (!refused) this.#engine.write(module.module, address, value);
    if (!refused && readbackAddress !== '') {
      readbacks.written(channel, value, sequence, this.#host.clock.monoMs() + this.#host.settings().readbackTimeoutMs);
      return;
    }
    image.outStatus[channel] = refused ? WRITE_STATUS.failed : WRITE_STATUS.done;
    image.readback[channel] = image.commanded(channel);
    Atomics.store(image.outDone, channel, sequence);
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
    const { module, image, cells } = served;
    const { values, quality, atMs } = this.#engine;
    const nowMonoMs = this.#host.clock.monoMs();
    image.beginInputs();
    for (let channel = 0; channel < cells.length; channel += 1) {
      const cell = cells[channel];
      if (!cell) continue;
      const { slot } = cell;
      image.value[channel] = values[slot] as number; // each cell has its place in all three
      // a fault that holds a sample holds its time, and with it its age
      if (image.sampledAtMs[channel] !== atMs[slot]) image.stamp(channel, atMs[slot] as number, nowMonoMs);
      image.quality[channel] = quality[slot] as number;
      // The text of an output belongs to its writing unit.
      if (cell.dataType === 'string' && module.channels[channel]?.direction === 'input') image.setText(channel, encoder.encode(cell.text));
    }
    image.endInputs();
    served.readbacks.compare(module.channels, image, nowMonoMs, (address) => this.#engine.sample(module.module, address));
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
      return { channel: declared?.name ?? address, address, ...wireSample(sample, this.#served.get(name)?.problem || notKnown(this.#engine.unknownOf(name, address))) };
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
    const converted = simulatedValue(value, sample.dataType);
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

/** Modules that simulated ones read, each once. */
function devicesRead(modules: readonly ProbeModule[]): readonly ImagePlan[] {
  return [...new Map(modules.flatMap(({ simulation }) => (simulation?.reads ?? []).map((plan) => [plan.module, plan]))).values()];
}

function notKnown(channels: readonly string[]): string {
  return channels.length === 0 ? '' : `it holds its last value, because it rests on what is not known now: ${channels.join(', ')}`;
}
