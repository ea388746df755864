/**
 * All networks of one unit, compiled and loaded: one set of arrays, scanned in one pass (decisions 2.4, 5.1).
 *
 * Networks of one shape that may run one after the other form a *run*: one call of one generated function. A network that
 * reads a tag of another one by an input binding always lies in a later run than its source.
 *
 * Invariant: `latch`, `scan`, `drive` and `publish` allocate nothing while no block changes between healthy and faulted.
 */
import { type Told, told } from '../vocabulary/told.js';
import type { MonoMs } from '../vocabulary/times.js';
import { assert, inside } from '../vocabulary/assert.js';
import type { ImagePlan, NetworkReport, RetainedNetwork, UnitPlan } from '../port.js';
import type { DataType, Value } from '../vocabulary/data-types.js';
import type { Mode } from '../vocabulary/modes.js';
import type { Checksum } from '../vocabulary/checksum.js';
import { TEXT_BYTES_MAX } from '../vocabulary/process-image.js';
import { QUALITY, type QualityCode } from '../vocabulary/quality.js';
import type { Region } from './arena.js';
import { Bypasses, type ShadowTrip } from './bypass.js';
import { DeviceResets, type ResetAnswer } from './device-resets.js';
import { INSTANCE_SLOT } from './compile.js';
import { readWritten, showNumber } from './constants.js';
import { callPart, copyInputs } from './execute.js';
import { takeOverNetwork } from './hot-swap.js';
import { inspectNetwork, type NetworkInspection } from './inspect.js';
import type { Instance, Run } from './instance.js';
import { type IoLink, REACH } from './io-link.js';
import { copyMemory, type NetworkState, restoreMemory } from './network-state.js';
import { ageBit, fillMemory } from './load.js';
import { type PreparedNetworks, prepareNetworks } from './prepare.js';
import { RetainedValues } from './retained-values.js';
import { type Settlement, SettlingWrites } from './settling.js';
import { finish, type Steps } from './steps.js';
import type { TagSlot } from './tag-slots.js';
import type { TextTable } from './texts.js';
import type { Memory } from './memory.js';

/** Periods the blocks see at most; the scan loop counts more as an overrun (decisions 5.1 rule 4). */
const ELAPSED_PERIODS_MAX = 10;

const CHANNEL_TYPES = { bool: 'BOOL', int: 'INT', float: 'REAL', string: 'STRING' } as const;

const encoder = new TextEncoder();

const SLOTTED = 'the slots of a tag lie inside the memory of its plan';
const NUMBERED = 'a channel and its image are of this plan';
const OF_PLAN = 'a tag is one of this plan';

export interface WriteRefusal {
  readonly code: 'unknown_tag' | 'read_only_tag' | 'out_of_range' | 'invalid_value' | 'write_failed' | 'device_unreachable' | 'outputs_withheld';
  readonly message: string;
  readonly told: Told;
}

export interface NetworkSetOptions {
  readonly texts: TextTable;
  /** Monotonic milliseconds, for execution times. */
  readonly clockMs: () => number;
  /** The set this one replaces; its state is taken over. */
  readonly previous?: NetworkSet;
  /** What was prepared of the plan for `previous` while it scanned; without it all is done at once. */
  readonly prepared?: PreparedNetworks;
  /** Without a warm-up, whose time `clockMs` bounds: for those whose clock stands meanwhile, and whose scans are in no hurry. */
  readonly cold?: boolean | undefined;
}

/** Image and channel of a device channel. */
interface ChannelPlace {
  readonly image: number;
  readonly channel: number;
}

export class NetworkSet {
  readonly plan: UnitPlan;
  readonly io: IoLink;
  readonly #texts: TextTable;
  readonly #text = (id: number): string => this.#texts.text(id);
  readonly #clockMs: () => number;
  readonly #instances: readonly Instance[];
  readonly #runs: readonly Run[];
  readonly #region: Region;
  readonly #memory: Memory;
  /** The bits of `S`. */
  readonly #words: Uint32Array;
  readonly #tags: readonly TagSlot[];
  readonly #slots: ReadonlyMap<string, number>;
  /** Per tag: its slot, or -1 and its channel number, or -1. */
  readonly #tagSource: Int32Array;
  readonly #tagChannel: Int32Array;
  /** Measured channel behind a tag on an AI or DI; -1 for every other. */
  readonly #tagInput: Int32Array;
  /** The best quality that the channel of a tag can have. */
  readonly #tagBest: Uint8Array;
  readonly #tagCyclic: Uint8Array;
  /** Bit of the maximum age of each tag at its channel; 0 of those without. */
  readonly #tagAge: Uint8Array;
  readonly #modes: Map<string, Mode>;
  /** Writes that changed a stored value, ever: what was commanded is saved at once, not with the next interval. */
  writesChanged = 0;
  /** An override began, changed or ended since somebody set this back. */
  overridesChanged = false;
  readonly #retained: RetainedValues;
  readonly #bypasses: Bypasses;
  readonly #resets: DeviceResets;
  readonly #settling: SettlingWrites;
  readonly #reports = new Map<string, NetworkReport>();
  /** Mark that a faulted block leaves in this scan. */
  #mark = 0;
  /** Monotonic time of the scan. */
  #monoMs = 0;

  /** What can be done of a download while `previous` goes on scanning (ADR 0008). */
  static prepare(plan: UnitPlan, { texts, clockMs, previous, cold = false }: NetworkSetOptions): Steps<PreparedNetworks> {
    return prepareNetworks(plan, { texts, clockMs, previous: previous && previous.#region, cold });
  }

  constructor(plan: UnitPlan, options: NetworkSetOptions) {
    const prepared = options.prepared ?? finish(NetworkSet.prepare(plan, options));
    if (prepared.plan !== plan || prepared.previous !== (options.previous && options.previous.#region)) throw new Error('the networks were prepared for another swap');
    this.plan = plan;
    this.#texts = options.texts;
    this.#clockMs = options.clockMs;
    this.#modes = new Map(Object.entries(plan.moduleModes));
    this.#instances = prepared.instances;
    this.#runs = prepared.runs;
    this.#region = prepared.region;
    const { memory } = prepared.region;
    this.#memory = memory;
    this.#words = new Uint32Array(memory.S.buffer, memory.S.byteOffset, 2 * memory.S.length);
    this.io = prepared.io;
    fillMemory(memory, this.#instances, plan, prepared.stored, this.#texts);
    this.#tags = prepared.tags;
    this.#slots = nameSlots(plan, this.io);
    this.#tagSource = Int32Array.from(this.#tags, (tag) => tag.slot);
    this.#tagChannel = Int32Array.from(this.#tags, (tag) => ((tag.plan.binding.kind === 'channel' || tag.raw) && tag.image >= 0 ? this.io.number(tag.image, tag.channel) : -1));
    this.#tagInput = Int32Array.from(this.#tags, ({ slot, image, channel }) => {
      const at = slot >= 0 && image >= 0 ? this.io.number(image, channel) : -1;
      return at >= 0 && this.io.isInput[at] === 1 ? at : -1;
    });
    for (const { slot, override } of this.#tags) assert(slot < memory.S.length && override + 1 < memory.S.length, SLOTTED);
    this.#tagBest = Uint8Array.from(this.#tags, (tag) => (tag.raw ? QUALITY.Raw : QUALITY.Good));
    this.#tagCyclic = Uint8Array.from(this.#tags, (tag) => (tag.plan.cyclic ? 1 : 0));
    this.#bypasses = new Bypasses(memory);
    this.#resets = new DeviceResets(memory);
    this.#settling = new SettlingWrites(plan, this.io);
    this.#retained = new RetainedValues(memory, this.#instances, this.#tags, this.#texts);
    this.#retained.restore(plan.retained);
    if (options.previous) this.#takeOver(options.previous);
    this.overridesChanged = (options.previous?.overrides().length ?? 0) > 0;
    if (plan.bypasses) this.#bypassExactly(plan.bypasses);
    this.#tagAge = this.setAges(this.io);
    this.#retained.settle(renewedNetworks(plan, options.previous?.plan));
    for (const instance of this.#instances) this.#showMode(instance);
  }

  // ---------------------------------------------------------------- scanning

  /** Start of a scan: inputs of all images, with the monotonic clock; a replay gives what was latched then (`inputs`). */
  latch(monoMs: MonoMs, inputs?: (io: IoLink) => void): void {
    this.#monoMs = monoMs;
    if (inputs) inputs(this.io);
    else this.io.latch(monoMs, this.#texts);
  }

  /** Runs every network whose period is over. `elapsed` is the number of unit scan periods since the last call. */
  scan(elapsed: number): void {
    this.#mark = (this.#mark + 1) & 0x3fffffff;
    for (const run of this.#runs) {
      run.since = run.since < 0 ? run.every : run.since + elapsed;
      if (run.since < run.every) continue;
      const periods = Math.floor(run.since / run.every);
      run.since -= periods * run.every;
      this.#execute(run, Math.min(periods, ELAPSED_PERIODS_MAX));
    }
    this.#bypasses.watch();
    if (this.#resets.isAsked) this.#resets.watch();
  }

  #execute(run: Run, periods: number): void {
    const timed = run.timesNext;
    run.timesNext = false;
    const began = timed ? this.#clockMs() : 0;
    copyInputs(run, this.#memory, this.io);
    let faults = 0;
    for (let part = 0; part < run.compiled.functions.length; part += 1) {
      faults += callPart(run, part, this.#region.from, this.#texts, run.instances.length, run.periodMs * periods, this.#mark);
    }
    run.scanCount += 1;
    if (timed) run.lastMs = this.#clockMs() - began;
    if (faults > 0 || run.hadFaults) this.#reportFaults(run, faults > 0);
  }

  /** Writes the outputs of the networks to the process images and wakes the probes. */
  drive(monoMs: MonoMs): void {
    for (const { outputs, scanCount } of this.#runs) {
      if (scanCount === 0) continue;
      this.io.write(outputs, this.#memory.S, monoMs);
    }
    this.io.flush();
  }

  /** The channels of on-change tags, and those of tags with a maximum age. @returns the bit of each tag's age at its channel. */
  setAges(io: IoLink): Uint8Array {
    for (const tag of this.#tags) if (!tag.plan.cyclic && tag.image >= 0) io.ignoreAge(tag.image, tag.channel);
    return Uint8Array.from(this.#tags, (tag) => ageBit(tag, io));
  }

  /** Fills the arrays of the tag table, one entry per tag of the plan. An on-change tag keeps the time of its last change. */
  publish(values: Float64Array, timestamps: Float64Array, quality: Uint8Array, nowMs: number): void {
    const { S, Q } = this.#memory;
    assert(values.length === this.#tagSource.length && timestamps.length === values.length && quality.length === values.length, 'the tag table has an entry per tag of the plan');
    // that every slot and channel of a tag lies inside the arrays of its plan was asserted when the tags were bound
    for (let n = 0; n < this.#tagSource.length; n += 1) {
      const slot = this.#tagSource[n] as number;
      const channel = this.#tagChannel[n] as number;
      if (slot >= 0) {
        const value = S[slot] as number;
        if (this.#tagCyclic[n] === 1 || values[n] !== value || timestamps[n] === 0) timestamps[n] = nowMs;
        const input = this.#tagInput[n] as number;
        quality[n] = Q[slot] as number;
        // nobody has ever measured it: a Bad 0 would be a level of 0 in every trend (Q-TAG-01)
        values[n] = input >= 0 && Q[slot] === QUALITY.Bad && this.io.sampledAtMs[input] === 0 ? Number.NaN : value;
      } else if (channel >= 0) {
        const sampledAtMs = this.io.sampledAtMs[channel] as number;
        values[n] = this.io.isInput[channel] === 1 && sampledAtMs === 0 ? Number.NaN : (this.io.value[channel] as number);
        quality[n] = this.qualityThrough(n, this.io.quality[channel] as number);
        timestamps[n] = sampledAtMs > 0 ? sampledAtMs : nowMs;
      } else {
        values[n] = Number.NaN;
        quality[n] = QUALITY.Bad;
        timestamps[n] = nowMs;
      }
    }
  }

  /** How often each network was scanned, in the order of the plan. */
  countScans(counts: Float64Array): void {
    for (let n = 0; n < counts.length; n += 1) counts[n] = this.#instances[n]?.loaded?.run?.scanCount ?? 0;
  }

  // ---------------------------------------------------------------- faults

  #reportFaults(run: Run, faulty: boolean): void {
    run.hadFaults = faulty;
    for (const instance of run.instances) {
      const from = instance.loaded?.fb ?? 0;
      let hash = 0;
      for (let block = 0; block < run.shape.faults; block += 1) {
        if (this.#memory.F[from + block] === this.#mark) hash = (Math.imul(hash, 31) + block + 1) | 0;
      }
      if (hash !== instance.faultHash) this.#changeFaults(instance, from, hash);
    }
  }

  #changeFaults(instance: Instance, from: number, hash: number): void {
    const blocks = instance.loaded?.linked.blocks ?? [];
    instance.faultHash = hash;
    instance.faulted = blocks.filter((_, n) => this.#memory.F[from + n] === this.#mark).map((block) => block.name);
    instance.state = instance.faulted.length > 0 ? 'Degraded' : 'Running';
    instance.message = instance.faulted.length > 0 ? `skipped in the last scan: ${instance.faulted.join(', ')}` : (instance.plan.note ?? '');
    this.#reports.set(instance.plan.name, report(instance));
  }

  /** State of every network, for `plan-loaded`. */
  reports(): NetworkReport[] {
    return this.#instances.map(report);
  }

  get hasReports(): boolean {
    return this.#reports.size > 0;
  }

  /** Networks whose state or faulted blocks changed since the last call. */
  takeReports(): NetworkReport[] {
    const reports = [...this.#reports.values()];
    this.#reports.clear();
    return reports;
  }

  // ---------------------------------------------------------------- reading

  /** Slot of `<module>.<tag>`, `<program>.<variable>` or `<ioModule>:<channel>`; -1 when there is none. */
  slot(address: string): number {
    return this.#slots.get(address) ?? -1;
  }

  type(slot: number): DataType {
    const tag = this.#tags[slot];
    if (tag) return tag.type;
    const at = this.#place(slot);
    return at ? CHANNEL_TYPES[channelOf(this.plan, at).dataType] : 'REAL';
  }

  read(slot: number): Value {
    const source = this.#tagSource[slot] ?? -1;
    const channel = source < 0 ? this.#channel(slot) : -1;
    return this.show(slot, source >= 0 ? inside(this.#memory.S, source, SLOTTED) : channel >= 0 ? inside(this.io.value, channel, NUMBERED) : Number.NaN);
  }

  /** A number as the value of a tag. */
  show(slot: number, number: number): Value {
    return showNumber(this.type(slot), number, this.#text);
  }

  /** Channel that a tag shows past all networks; -1 for every other tag. */
  channelOf(tag: number): number {
    return inside(this.#tagSource, tag, OF_PLAN) < 0 ? inside(this.#tagChannel, tag, OF_PLAN) : -1;
  }

  /** Quality of a tag whose channel has the given one. */
  qualityThrough(tag: number, channel: number): number {
    return Math.max(channel, inside(this.#tagBest, tag, OF_PLAN));
  }

  quality(slot: number): QualityCode {
    const source = this.#tagSource[slot] ?? -1;
    if (source >= 0) return this.#memory.Q[source] as QualityCode;
    const channel = this.#channel(slot);
    return channel < 0 ? QUALITY.Bad : (Math.max(inside(this.io.quality, channel, NUMBERED), this.#tagBest[slot] ?? QUALITY.Good) as QualityCode);
  }

  /** A tag whose sample is older than the tag allows (ADR 0070), as an image has latched it. */
  isOlder(tag: number, io: IoLink = this.io): boolean {
    const bit = this.#tagAge[tag] ?? 0;
    if (bit === 0) return false;
    const { image, channel } = inside(this.#tags, tag, OF_PLAN);
    return (inside(io.stale, io.number(image, channel), NUMBERED) & bit) !== 0;
  }

  /** The maximum age of a tag that is older than that; 0 of every other. */
  exceededAgeMs(slot: number): number {
    return this.isOlder(slot) ? (this.#tags[slot]?.plan.maxAgeMs ?? 0) : 0;
  }

  /** A cyclic tag on a channel whose sample is older than its I/O module (decisions 7.2), or the tag itself, allows. */
  stale(slot: number): boolean {
    const tag = this.#tags[slot];
    if (tag && !tag.plan.cyclic) return false;
    if (this.isOlder(slot)) return true;
    const at = this.#place(slot);
    return at !== undefined && this.io.isStale(at.image, at.channel);
  }

  /** Channel number behind the slot of a device channel, which are counted behind the tags; -1 for every other slot. */
  #channel(slot: number): number {
    if (slot < this.#tags.length) return this.#tagChannel[slot] ?? -1;
    const at = slot - this.#tags.length;
    return at < this.io.none ? at : -1;
  }

  /** Image and channel behind a slot: of a device channel, or of a tag on an I/O block. */
  #place(slot: number): ChannelPlace | undefined {
    const tag = this.#tags[slot];
    if (tag) return tag.image >= 0 ? tag : undefined;
    const at = slot - this.#tags.length;
    if (at < 0 || at >= this.io.none) return undefined;
    const image = this.io.first.findLastIndex((first) => at >= first);
    return { image, channel: at - inside(this.io.first, image, NUMBERED) };
  }

  // ---------------------------------------------------------------- modes

  mode(module: string): Mode {
    return this.#modes.get(module) ?? 'Automatic';
  }

  /** Mode of the module that owns the tag; programs and device channels have none and read as Automatic. */
  modeOf(slot: number): Mode {
    const tag = this.#tags[slot];
    if (!tag || tag.network?.plan.owner === 'program') return 'Automatic';
    return this.mode(tag.plan.network);
  }

  /** Overrides end when the module returns to Automatic (decisions 5.1 rule 7). */
  setModuleMode(module: string, mode: Mode): void {
    this.#modes.set(module, mode);
    const instance = this.#instances.find((entry) => entry.plan.name === module);
    if (!instance) return;
    this.#showMode(instance);
    if (mode !== 'Automatic') return;
    for (const tag of this.#tags) {
      if (tag.network !== instance || tag.override < 0) continue;
      if (this.#memory.S[tag.override] !== 0) this.overridesChanged = true;
      this.#memory.S[tag.override] = 0;
    }
  }

  /** PID blocks are in manual while their module is (decisions 3.7). */
  #showMode({ plan, loaded }: Instance): void {
    if (loaded) this.#memory.S[loaded.sb + INSTANCE_SLOT.manual] = plan.owner === 'module' && this.mode(plan.name) === 'Manual' ? 1 : 0;
  }

  // ---------------------------------------------------------------- writing

  /** Takes a value over, to be seen by the networks of this scan; the refusal when it cannot. */
  write(slot: number, value: Value): WriteRefusal | null {
    const tag = this.#tags[slot];
    if (!tag) return this.#writeChannel(slot, value);
    const { address, writable, engMin = Number.NEGATIVE_INFINITY, engMax = Number.POSITIVE_INFINITY } = tag.plan;
    if (!writable) return { code: 'read_only_tag', message: `${address} is read-only`, told: told('write-read-only', { address }) };
    const number = readWritten(tag.type, value, this.#texts);
    if (number === undefined) return unfit(address, tag.type, value);
    const isNumeric = tag.type === 'INT' || tag.type === 'REAL';
    if (isNumeric && (number < engMin || number > engMax)) {
      const as = told('write-range', { address, value: String(number), min: String(engMin), max: String(engMax) });
      return { code: 'out_of_range', message: `${number} is outside ${engMin} to ${engMax} for ${address}`, told: as };
    }
    if (tag.plan.binding.kind === 'channel') return this.#writeChannel(slot, value);
    if (tag.override >= 0) return this.#override(tag, slot, number);
    if (tag.slot < 0)
      return { code: 'write_failed', message: `${address}: the network ${tag.plan.network} is not loaded`, told: told('write-not-loaded', { address, network: tag.plan.network }) };
    if (tag.writes.length === 0) return { code: 'read_only_tag', message: `${address} is fed by the network`, told: told('write-read-only', { address }) };
    for (const target of tag.writes) {
      if (this.#memory.S[target] !== number || this.#memory.written[target] === 0) this.writesChanged += 1;
      this.#memory.S[target] = number;
      this.#memory.Q[target] = QUALITY.Good;
      this.#memory.written[target] = 1;
    }
    return null;
  }

  /** Why an order to an output would not reach its device: then it is refused, and never carried out later (contract 2, Tag write rules 3). */
  #unreached(image: number): WriteRefusal | null {
    const { module } = inside(this.plan.images, image, NUMBERED);
    switch (this.io.reach[image]) {
      case REACH.live:
        return null;
      case REACH.withheld:
        return {
          code: 'outputs_withheld',
          message: `the outputs of I/O module ${module} are withheld: nothing is written to the device`,
          told: told('write-withheld', { address: '', ioModule: module }),
        };
      default:
        return {
          code: 'device_unreachable',
          message: `I/O module ${module} is not connected: nothing was written, and nothing will be when it is`,
          told: told('write-unreachable', { address: '', ioModule: module }),
        };
    }
  }

  #override(tag: TagSlot, slot: number, number: number): WriteRefusal | null {
    const { address, network } = tag.plan;
    if (this.modeOf(slot) === 'Automatic')
      return {
        code: 'write_failed',
        message: `${address} is an output of its network; it can be overridden only while ${network} is not in Automatic`,
        told: told('write-not-manual', { address, network }),
      };
    const drives = tag.image >= 0 && channelOf(this.plan, tag).direction === 'output';
    const unreached = drives ? this.#unreached(tag.image) : null;
    if (unreached) return unreached;
    this.#memory.S[tag.override] = 1;
    this.#memory.S[tag.override + 1] = number;
    this.overridesChanged = true;
    if (tag.image >= 0) this.#settling.note(slot, this.#monoMs);
    return null;
  }

  #writeChannel(slot: number, value: Value): WriteRefusal | null {
    const at = this.#place(slot);
    if (!at) return { code: 'unknown_tag', message: 'there is no such tag', told: told('write-no-tag', { address: '' }) };
    const plan = inside(this.plan.images, at.image, NUMBERED);
    const channel = channelOf(this.plan, at);
    const name = `${plan.module}:${channel.name}`;
    if (channel.direction === 'input') return { code: 'read_only_tag', message: `${name} is an input`, told: told('write-read-only', { address: name }) };
    const type = CHANNEL_TYPES[channel.dataType];
    const number = readWritten(type, value, this.#texts);
    if (number === undefined) return unfit(name, type, value);
    const bytes = type === 'STRING' ? encoder.encode(String(value)).length : 0;
    if (bytes > TEXT_BYTES_MAX)
      return {
        code: 'invalid_value',
        message: `the text for ${name} has ${bytes} bytes (UTF-8), and a channel holds ${TEXT_BYTES_MAX}: a part of it would be another text`,
        told: told('write-text-long', { address: name, bytes: String(bytes), max: String(TEXT_BYTES_MAX) }),
      };
    const unreached = this.#unreached(at.image);
    if (unreached) return unreached;
    this.io.force(at.image, at.channel, number, type === 'STRING' ? String(value) : undefined);
    this.#settling.note(slot, this.#monoMs);
    return null;
  }

  /** How the last write to a slot ended: settled at once when no channel is behind it (decisions 7.7). */
  writeSettled(slot: number): Settlement {
    const at = this.#place(slot);
    return at ? this.#settling.look(slot, at.image, at.channel, this.#monoMs) : { settled: true };
  }

  /** Addresses and values of the overrides in force (decisions 5.1 rule 7). */
  overrides(): { readonly address: string; readonly value: Value }[] {
    return this.#tags
      .filter((tag) => tag.override >= 0 && this.#memory.S[tag.override] !== 0)
      .map((tag) => ({ address: tag.plan.address, value: showNumber(tag.type, inside(this.#memory.S, tag.override + 1, SLOTTED), this.#text) }));
  }

  // ---------------------------------------------------------------- bypass, hot swap, retained values, inspection

  /** Sets or ends the bypass of interlocks of a module (D-PROG-03); without names of all of them. */
  setBypass(module: string, active: boolean, blocks?: readonly string[]): void {
    const instance = this.#instances.find((entry) => entry.plan.name === module);
    if (instance) this.#bypasses.set(instance, active, blocks);
  }

  /** The bypasses of a plan; what an earlier plan or message had set ends. */
  #bypassExactly(bypasses: NonNullable<UnitPlan['bypasses']>): void {
    for (const instance of this.#instances) this.#bypasses.set(instance, false);
    for (const { module, blocks } of bypasses) this.setBypass(module, true, blocks);
  }

  /** Resets the latched device faults of a module; answered after the scan in which its blocks have judged it. */
  askReset(id: number, module: string, moves: boolean): void {
    this.#resets.ask(
      id,
      this.#instances.find((entry) => entry.plan.name === module),
      moves,
    );
  }

  withdrawReset(id: number): void {
    this.#resets.withdraw(id);
  }

  takeResets(): readonly ResetAnswer[] {
    return this.#resets.take();
  }

  /** Interlocks that would have tripped while bypassed, since the last call. */
  takeShadowTrips(): readonly ShadowTrip[] {
    return this.#bypasses.takeTrips();
  }

  /** Keeps the state of unchanged blocks, all written values, the overrides and the bypasses (Q-PROG-03). */
  #takeOver(old: NetworkSet): void {
    this.io.takeOver(old.io);
    this.#monoMs = old.#monoMs;
    const number = (value: number | string): number => (typeof value === 'string' ? this.#texts.intern(value) : value);
    for (const instance of this.#instances) {
      const before = old.#instances.find((entry) => entry.plan.name === instance.plan.name);
      if (before) takeOverNetwork({ memory: this.#memory, instance }, { memory: old.#memory, instance: before }, number);
    }
    for (const tag of this.#tags) {
      const before = old.#tags[old.slot(tag.plan.address)];
      if (before?.type === tag.type) this.#takeOverTag(tag, old.#memory, before);
    }
    for (const [slot, sinceMonoMs] of old.#settling.snapshot()) this.#takeOverWrite(old, slot, sinceMonoMs);
    for (const { module, block } of old.#bypasses.active) this.setBypass(module, true, [block]);
    this.#resets.forget(this.#instances);
  }

  /** What waits for the answer of a device goes on waiting, though its tag lies elsewhere now. */
  #takeOverWrite(old: NetworkSet, before: number, sinceMonoMs: MonoMs): void {
    const was = old.#place(before);
    if (!was) return;
    const image = inside(old.plan.images, was.image, NUMBERED);
    const slot = this.slot(old.#tags[before]?.plan.address ?? `${image.module}:${channelOf(old.plan, was).name}`);
    const is = this.#place(slot);
    if (is) this.#settling.takeOver(slot, sinceMonoMs, is.channel === was.channel && isSameImage(inside(this.plan.images, is.image, NUMBERED), image));
  }

  #takeOverTag(tag: TagSlot, memory: Memory, before: TagSlot): void {
    const { S, written } = this.#memory;
    if (before.writes.length > 0 && memory.written[before.slot] === 1) {
      const value = inside(memory.S, before.slot, SLOTTED);
      for (const slot of tag.writes) {
        S[slot] = value;
        written[slot] = 1;
      }
    }
    if (before.override < 0 || tag.override < 0 || this.mode(tag.plan.network) === 'Automatic') return;
    S[tag.override] = inside(memory.S, before.override, SLOTTED);
    S[tag.override + 1] = inside(memory.S, before.override + 1, SLOTTED);
  }

  /** Networks with a retained value that changed since the last call, each with all its retained values. */
  saveRetained(): Readonly<Record<string, RetainedNetwork>> | undefined {
    return this.#retained.save();
  }

  /** Body of `runtime/fbnetwork/{network}` (Q-UNIT-07); undefined when there is no such network. */
  inspect(network: string): NetworkInspection | undefined {
    const instance = this.#instances.find((entry) => entry.plan.name === network);
    if (instance?.loaded?.run) instance.loaded.run.timesNext = true;
    return instance && inspectNetwork(instance, this.plan.unit, this.#memory, this.#texts);
  }

  /** Where a replay goes on from; taken between two scans. */
  snapshot(): NetworkState {
    return {
      ...copyMemory(this.#memory, this.#runs, this.#instances),
      modes: [...this.#modes],
      bypasses: this.#bypasses.snapshot(),
      settling: this.#settling.snapshot(),
      io: this.io.snapshot(),
      writesChanged: this.writesChanged,
      mark: this.#mark,
      monoMs: this.#monoMs,
    };
  }

  /** Goes on from a snapshot of the same plan; the texts must have their ids of then. */
  restore(saved: NetworkState): void {
    for (const { module, block } of saved.bypasses) this.setBypass(module, true, [block]);
    restoreMemory(saved, this.#memory, this.#runs, this.#instances);
    this.#bypasses.restore(saved.bypasses);
    this.#settling.restore(saved.settling);
    this.io.restore(saved.io);
    this.#modes.clear();
    for (const [module, mode] of saved.modes) this.#modes.set(module, mode);
    this.writesChanged = saved.writesChanged;
    this.#mark = saved.mark;
    this.#monoMs = saved.monoMs;
  }

  /** Adds every port and state word with its quality; once in some scans, allocates nothing. */
  sum(checksum: Checksum): void {
    checksum.floats(this.#words);
    checksum.bytes(this.#memory.Q);
  }

  /** The networks in place, and the arrays they live in: for reading only. */
  get instances(): readonly Instance[] {
    return this.#instances;
  }

  get memory(): Memory {
    return this.#memory;
  }

  /** Every array in which an id of a text can stand. */
  get texts(): readonly Float64Array[] {
    const { S, P, X } = this.#memory;
    return [S, P, X, this.io.value];
  }

  get blockCount(): number {
    return this.#instances.reduce((count, { loaded }) => count + (loaded?.linked.blocks.length ?? 0), 0);
  }
}

function channelOf({ images }: UnitPlan, { image, channel }: ChannelPlace): ImagePlan['channels'][number] {
  return inside(inside(images, image, NUMBERED).channels, channel, NUMBERED);
}

function report(instance: Instance): NetworkReport {
  return { network: instance.plan.name, state: instance.state, message: instance.message, faultedBlocks: instance.faulted };
}

/** A module keeps its process image as long as it has the same channels; told by them, because a replay has memory of its own. */
function isSameImage(a: ImagePlan, b: ImagePlan): boolean {
  return a.module === b.module && a.channels.length === b.channels.length && a.channels.every(({ address }, n) => address === b.channels[n]?.address);
}

/** Networks that an earlier plan had under another hash: their kept values must be saved under the new one. */
function renewedNetworks(plan: UnitPlan, previous: UnitPlan | undefined): Set<string> {
  const before = new Map(previous?.networks.map((network) => [network.name, network.hash]));
  return new Set(plan.networks.filter(({ name, hash }) => before.has(name) && before.get(name) !== hash).map(({ name }) => name));
}

/** Addresses to slots: the tags by index, behind them the channels by number, under their address and their name. */
function nameSlots(plan: UnitPlan, io: IoLink): Map<string, number> {
  const slots = new Map(plan.tags.map((tag, index) => [tag.address, index]));
  plan.images.forEach((image, at) => {
    image.channels.forEach((channel, number) => {
      for (const name of [channel.address, channel.name]) {
        const address = `${image.module}:${name}`;
        if (!slots.has(address)) slots.set(address, plan.tags.length + io.number(at, number));
      }
    });
  });
  return slots;
}

function unfit(address: string, type: string, value: Value): WriteRefusal {
  const text = JSON.stringify(value);
  return { code: 'invalid_value', message: `${text} is no ${type} for ${address}`, told: told('write-type', { address, value: text, type }) };
}
