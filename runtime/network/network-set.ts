/**
 * All networks of one unit, compiled and loaded: one set of arrays, scanned in one pass (decisions 2.4, 5.1).
 *
 * Networks of one shape that may run one after the other form a *run*: one call of one generated function. A network that
 * reads a tag of another one by an input binding always lies in a later run than its source.
 *
 * Invariant: `scan`, `latch`, `drive` and `publish` allocate nothing while no block changes between healthy and faulted.
 */
import type { NetworkPlan, NetworkReport, RetainedNetwork, TagPlan, UnitPlan } from '../port.js';
import type { DataType, Value } from '../vocabulary/data-types.js';
import type { Mode } from '../vocabulary/modes.js';
import { QUALITY, QUALITY_WORDS, type QualityCode } from '../vocabulary/quality.js';
import { type CompiledShape, compileShape, INSTANCE_SLOT, type Layout, layOut } from './compile.js';
import { readWritten, showNumber } from './constants.js';
import { sameName } from './expand.js';
import { IoLink } from './io-link.js';
import { type LinkedNetwork, linkNetwork } from './link.js';
import type { TextTable } from './texts.js';

/** A scan later than this many periods is an overrun; the blocks see at most this many (decisions 5.1 rule 4). */
const ELAPSED_PERIODS_MAX = 10;

/** Mask of the scans whose execution time is taken: the clock costs as much as ten blocks. */
const TIMED_EVERY = 15;

/** How often the generated functions run on copies before they go on-line, and for how long at most. */
const WARM_UP_SCANS = 300;
const WARM_UP_MS_MAX = 40;

/** Where the number of a tag stands. */
interface TagSlot {
  readonly plan: TagPlan;
  readonly network: Instance | undefined;
  /** Slot in `S`; -1 for a device channel or a network that is not loaded. */
  readonly slot: number;
  /** All slots a write goes to: several behind a composite's input port. */
  readonly writes: readonly number[];
  /** First slot of the override of an output port; -1 for an input. */
  readonly override: number;
  /** Channel behind the tag: a device tag, or the channel of the AI, AO, DI or DO it is bound to. */
  readonly image: number;
  readonly channel: number;
  readonly type: DataType;
}

interface OutputWire {
  readonly image: number;
  readonly channel: number;
  readonly slot: number;
}

/** One network in place. */
interface Instance {
  readonly plan: NetworkPlan;
  readonly linked: LinkedNetwork | undefined;
  readonly layout: Layout | undefined;
  readonly shape: CompiledShape | undefined;
  /** First slot, constant, fault flag and channel number. */
  sb: number;
  pb: number;
  fb: number;
  wb: number;
  run: Run | undefined;
  state: 'Running' | 'Degraded' | 'Error';
  message: string;
  faulted: readonly string[];
  faultHash: number;
}

interface Run {
  readonly shape: CompiledShape;
  readonly periodMs: number;
  /** Unit scans per period. */
  readonly every: number;
  readonly instances: Instance[];
  readonly depth: number;
  /** Copies before the run, in pairs: destination and source slot in `S`; slot and channel number. */
  wires: Int32Array;
  channels: Int32Array;
  outputs: OutputWire[];
  /** Unit scans since the last execution; negative before the first. */
  since: number;
  scanCount: number;
  lastMs: number;
  hadFaults: boolean;
}

export interface WriteRefusal {
  readonly code: 'unknown_tag' | 'read_only_tag' | 'out_of_range' | 'invalid_value' | 'write_failed';
  readonly message: string;
}

export interface NetworkSetOptions {
  readonly texts: TextTable;
  /** Monotonic milliseconds, for execution times. */
  readonly clockMs: () => number;
  readonly previous?: NetworkSet;
}

export class NetworkSet {
  readonly plan: UnitPlan;
  readonly io: IoLink;
  readonly #texts: TextTable;
  readonly #text = (id: number): string => this.#texts.text(id);
  readonly #clockMs: () => number;
  readonly #instances: Instance[];
  readonly #runs: Run[] = [];
  readonly #S: Float64Array;
  readonly #Q: Uint8Array;
  readonly #P: Float64Array;
  readonly #F: Int32Array;
  readonly #X: Float64Array;
  /** Channel numbers of the I/O blocks. */
  readonly #W: Int32Array;
  /** 1 where a tag write replaced the constant of the slot. */
  readonly #written: Uint8Array;
  readonly #tags: TagSlot[];
  readonly #slots: Map<string, number>;
  readonly #tagSource: Int32Array;
  readonly #tagChannel: Int32Array;
  readonly #tagCyclic: Uint8Array;
  readonly #modes: Map<string, Mode>;
  readonly #retained: RetainedSlot[];
  readonly #retainedShadow: Float64Array;
  readonly #reports = new Map<string, NetworkReport>();
  readonly #bypassed: { readonly instance: Instance; readonly block: number; readonly slot: number; seen: number }[] = [];
  readonly #settling = new Map<number, { readonly sequence: number; readonly sinceMs: number }>();
  #mark = 0;
  #nowMs = 0;

  constructor(plan: UnitPlan, options: NetworkSetOptions) {
    this.plan = plan;
    this.#texts = options.texts;
    this.#clockMs = options.clockMs;
    this.io = new IoLink(plan.images);
    this.#modes = new Map(Object.entries(plan.moduleModes));
    this.#instances = plan.networks.map((network) => this.#compile(network));
    const sizes = this.#place();
    this.#S = new Float64Array(sizes.slots);
    this.#Q = new Uint8Array(sizes.slots);
    this.#P = new Float64Array(sizes.constants);
    this.#F = new Int32Array(sizes.faults);
    this.#X = new Float64Array(sizes.aux);
    this.#W = new Int32Array(sizes.channels).fill(this.io.none);
    this.#written = new Uint8Array(sizes.slots);
    this.#fill();
    this.#tags = plan.tags.map((tag, index) => this.#bindTag(tag, sizes.stored + index));
    this.#slots = new Map(plan.tags.map((tag, index) => [tag.address, index]));
    plan.images.forEach((image, at) => {
      image.channels.forEach((channel, number) => {
        const slot = plan.tags.length + this.io.first[at] + number;
        for (const name of [channel.address, channel.name]) {
          if (!this.#slots.has(`${image.module}:${name}`)) this.#slots.set(`${image.module}:${name}`, slot);
        }
      });
    });
    this.#tagSource = Int32Array.from(this.#tags, (tag) => tag.slot);
    this.#tagChannel = Int32Array.from(this.#tags, (tag) => (tag.plan.binding.kind === 'channel' && tag.image >= 0 ? this.io.first[tag.image] + tag.channel : -1));
    this.#tagCyclic = Uint8Array.from(this.#tags, (tag) => (tag.plan.cyclic ? 1 : 0));
    this.#retained = this.#listRetained();
    this.#wire();
    this.#restore(plan.retained);
    if (options.previous) this.#takeOver(options.previous);
    this.#retainedShadow = Float64Array.from(this.#retained, (entry) => this.#S[entry.slot]);
    this.#warmUp();
  }

  // ================================================================ loading

  #compile(plan: NetworkPlan): Instance {
    const broken = (message: string): Instance => ({
      plan,
      linked: undefined,
      layout: undefined,
      shape: undefined,
      sb: 0,
      pb: 0,
      fb: 0,
      wb: 0,
      run: undefined,
      state: 'Error',
      message,
      faulted: [],
      faultHash: 0,
    });
    if (!(plan.scanIntervalMs > 0)) return broken('the scan interval is not a duration above zero');
    const tags = this.plan.tags.filter((tag) => tag.network === plan.name && tag.binding.kind === 'port');
    const bound = tags.flatMap((tag) => (tag.binding.kind === 'port' ? [{ block: tag.binding.block, port: tag.binding.port, type: tag.type }] : []));
    const { network, problems } = linkNetwork({ ...plan }, this.plan.composites, bound);
    if (problems.length > 0) return broken(problems.map((problem) => problem.message).join('; '));
    const overridable = network.blocks.map(() => new Set<string>());
    for (const tag of tags) {
      if (!tag.writable || tag.binding.kind !== 'port') continue;
      if (network.flat.inputs(tag.binding.block, tag.binding.port).length > 0) continue;
      const end = network.flat.output(tag.binding.block, tag.binding.port);
      if (end) overridable[end.block].add(end.port);
    }
    const layout = layOut(network, overridable);
    const shape = compileShape(network, layout);
    return { plan, linked: network, layout, shape, sb: 0, pb: 0, fb: 0, wb: 0, run: undefined, state: 'Running', message: '', faulted: [], faultHash: 0 };
  }

  /** Puts every network into the first run of its shape that lies behind all its sources, and gives it its place. */
  #place(): { slots: number; constants: number; faults: number; aux: number; channels: number; stored: number } {
    const depths = new Map<string, number>();
    this.#instances.forEach((instance, index) => {
      const { shape, plan } = instance;
      if (!shape) return;
      const sources = this.#sourceNetworks(plan, index);
      const earliest = Math.max(0, ...sources.map((name) => (depths.get(name) ?? -1) + 1));
      const every = Math.max(1, Math.round(plan.scanIntervalMs / this.plan.scanIntervalMs));
      let run = this.#runs.find((other) => other.depth >= earliest && other.shape === shape && other.every === every);
      if (!run) {
        const depth = Math.max(earliest, this.#runs.length);
        run = {
          shape,
          periodMs: every * this.plan.scanIntervalMs,
          every,
          instances: [],
          depth,
          wires: new Int32Array(0),
          channels: new Int32Array(0),
          outputs: [],
          since: -1,
          scanCount: 0,
          lastMs: 0,
          hadFaults: false,
        };
        this.#runs.push(run);
      }
      run.instances.push(instance);
      instance.run = run;
      depths.set(plan.name, run.depth);
    });
    let slots = 0;
    let constants = 0;
    let faults = 0;
    let aux = 0;
    let channels = 0;
    for (const run of this.#runs) {
      for (const instance of run.instances) {
        instance.sb = slots;
        instance.pb = constants;
        instance.fb = faults;
        instance.wb = channels;
        slots += run.shape.slots;
        constants += run.shape.constants;
        faults += run.shape.faults;
        channels += run.shape.channels;
        for (const block of instance.linked?.blocks ?? []) aux += block.auxLength;
      }
    }
    return { slots: slots + this.plan.tags.length, constants, faults, aux, channels, stored: slots };
  }

  /** Networks before this one in the plan whose tags it reads. */
  #sourceNetworks(plan: NetworkPlan, index: number): string[] {
    const before = new Set(this.plan.networks.slice(0, index).map((network) => network.name));
    return plan.inputs.flatMap((input) => {
      const source = input.tag === undefined ? undefined : this.plan.tags[input.tag]?.network;
      return source !== undefined && before.has(source) ? [source] : [];
    });
  }

  /** Start values: constants, defaults, state, tables. */
  #fill(): void {
    let aux = 0;
    for (const instance of this.#instances) {
      const { linked, layout, sb, pb } = instance;
      if (!linked || !layout) continue;
      this.#S[sb + INSTANCE_SLOT.manual] = this.mode(instance.plan.name) === 'Manual' ? 1 : 0;
      this.#fillVariables(instance);
      linked.blocks.forEach((block, index) => {
        const at = layout.blocks[index];
        block.inputs.forEach((input, n) => {
          if (input.feed.kind === 'own') this.#S[sb + at.inputs[n]] = this.#number(input.feed.value);
          else if (input.feed.kind === 'constant' && at.constants[n] >= 0) this.#P[pb + at.constants[n]] = this.#number(input.feed.value);
        });
        for (const [name, slot] of at.state) this.#S[sb + slot] = block.type.state[name];
        block.params.forEach((value, n) => {
          if (at.params[n] >= 0) this.#P[pb + at.params[n]] = this.#number(value);
        });
        if (!block.type.aux) return;
        this.#P[pb + at.aux] = aux;
        this.#P[pb + at.aux + 1] = block.auxLength;
        const table = block.type.aux.fill?.(Object.fromEntries(block.type.params.map((param, n) => [param.name, block.params[n]])));
        if (table) this.#X.set(table, aux);
        aux += block.auxLength;
      });
    }
    const stored = this.#S.length - this.plan.tags.length;
    this.plan.tags.forEach((tag, index) => {
      if (tag.binding.kind === 'stored') this.#S[stored + index] = readWritten(tag.type, tag.binding.initial, this.#texts) ?? 0;
    });
  }

  #fillVariables(instance: Instance): void {
    const { linked, layout, plan, sb } = instance;
    linked?.variables.forEach((variable, index) => {
      const slot = layout?.variables[index] ?? -1;
      const input = plan.inputs.find((entry) => sameName(entry.variable, variable.name));
      if (slot < 0 || input?.value === undefined) return;
      this.#S[sb + slot] = readWritten(variable.type, input.value, this.#texts) ?? 0;
    });
  }

  #number(value: number | string): number {
    return typeof value === 'string' ? this.#texts.intern(value) : value;
  }

  #bindTag(plan: TagPlan, stored: number): TagSlot {
    const instance = this.#instances.find((entry) => entry.plan.name === plan.network);
    const none: TagSlot = { plan, network: instance, slot: -1, writes: [], override: -1, image: -1, channel: -1, type: plan.type };
    const { binding } = plan;
    if (binding.kind === 'channel') return binding.image < this.io.images.length ? { ...none, image: binding.image, channel: binding.channel } : none;
    if (binding.kind === 'stored') return { ...none, slot: stored, writes: [stored] };
    if (!instance?.linked || !instance.layout) return none;
    return binding.kind === 'variable' ? this.#bindVariable(none, instance, binding.variable) : this.#bindPort(none, instance, binding.block, binding.port);
  }

  #bindVariable(none: TagSlot, instance: Instance, name: string): TagSlot {
    const index = instance.linked?.variables.findIndex((variable) => sameName(variable.name, name)) ?? -1;
    const variable = instance.linked?.variables[index];
    if (!variable || !instance.linked || !instance.layout) return none;
    if (variable.drain) return this.#bindPort(none, instance, instance.linked.blocks[variable.drain.block].name, variable.drain.port);
    const slot = instance.sb + instance.layout.variables[index];
    const input = instance.plan.inputs.find((entry) => sameName(entry.variable, name));
    return { ...none, slot, writes: variable.direction === 'input' && input?.tag === undefined ? [slot] : [], type: variable.type };
  }

  #bindPort(none: TagSlot, instance: Instance, block: string, port: string): TagSlot {
    const { linked, layout, sb, plan } = instance;
    if (!linked || !layout) return none;
    const ends = linked.flat.inputs(block, port);
    if (ends.length > 0) {
      const inputs = ends.map((end) => linked.blocks[end.block].inputs.findIndex((input) => input.port.name === end.port));
      const slots = ends.map((end, n) => sb + layout.blocks[end.block].inputs[inputs[n]]);
      const own = ends.map((end, n) => linked.blocks[end.block].inputs[inputs[n]].feed.kind === 'own');
      return { ...none, slot: slots[0], writes: own.every(Boolean) ? slots : [], type: linked.blocks[ends[0].block].inputs[inputs[0]].type };
    }
    const end = linked.flat.output(block, port) ?? this.#flatOutput(linked, block, port);
    if (!end) return none;
    const { type, outputs } = linked.blocks[end.block];
    const output = type.outputs.findIndex((entry) => entry.name === end.port);
    const at = layout.blocks[end.block];
    const override = at.overrides[output];
    const wire = type.channel ? plan.channels.find((entry) => sameName(entry.block, linked.blocks[end.block].name)) : undefined;
    return { ...none, slot: sb + at.outputs[output], override: override < 0 ? -1 : sb + override, image: wire?.image ?? -1, channel: wire?.channel ?? -1, type: outputs[output] };
  }

  /** A drain is known by flat name, which is not in the scope of the network when it lies in a composite. */
  #flatOutput(linked: LinkedNetwork, block: string, port: string): { readonly block: number; readonly port: string } | undefined {
    const index = linked.blocks.findIndex((entry) => entry.name === block);
    return index < 0 ? undefined : { block: index, port };
  }

  /** Lists the copies of each run: input variables from tags, channels to I/O blocks, I/O blocks to channels. */
  #wire(): void {
    for (const run of this.#runs) {
      const wires: number[] = [];
      const channels: number[] = [];
      for (const instance of run.instances) {
        const { linked, layout, plan, sb } = instance;
        if (!linked || !layout) continue;
        linked.variables.forEach((variable, index) => {
          const input = plan.inputs.find((entry) => sameName(entry.variable, variable.name));
          const slot = layout.variables[index];
          if (slot < 0 || input?.tag === undefined) return;
          const source = this.#tags[input.tag];
          if (!source) return;
          if (this.#tagChannel[input.tag] >= 0) channels.push(sb + slot, this.#tagChannel[input.tag]);
          else if (source.slot >= 0) wires.push(sb + slot, source.slot);
          else this.#Q[sb + slot] = QUALITY.Bad;
        });
        for (const channel of plan.channels) this.#wireChannel(run, instance, channel);
      }
      run.wires = Int32Array.from(wires);
      run.channels = Int32Array.from(channels);
    }
  }

  #wireChannel(run: Run, instance: Instance, channel: NetworkPlan['channels'][number]): void {
    const { linked, layout, sb } = instance;
    const index = linked?.blocks.findIndex((block) => sameName(block.name, channel.block)) ?? -1;
    const block = linked?.blocks[index];
    if (!block?.type.channel || !layout || channel.image >= this.io.images.length) return;
    const at = layout.blocks[index];
    this.#W[instance.wb + at.channel] = this.io.first[channel.image] + channel.channel;
    const { raw } = block.type.channel;
    if (raw === undefined) return;
    const output = block.type.outputs.findIndex((port) => port.name === raw);
    const slot = output >= 0 ? at.outputs[output] : at.state.get(raw);
    if (slot !== undefined) run.outputs.push({ image: channel.image, channel: channel.channel, slot: sb + slot });
  }

  // ================================================================ scanning

  /** Start of a scan: inputs of all images, with the wall clock. */
  latch(nowMs: number): void {
    this.#nowMs = nowMs;
    this.io.latch(nowMs, this.#texts);
  }

  /** Runs every network whose period is over. `elapsed` is the number of unit scan periods since the last call. */
  scan(elapsed: number): void {
    this.#mark = (this.#mark + 1) & 0x3fffffff;
    for (let n = 0; n < this.#runs.length; n += 1) {
      const run = this.#runs[n];
      run.since = run.since < 0 ? run.every : run.since + elapsed;
      if (run.since < run.every) continue;
      const periods = Math.floor(run.since / run.every);
      run.since -= periods * run.every;
      this.#execute(run, Math.min(periods, ELAPSED_PERIODS_MAX));
    }
    if (this.#bypassed.length > 0) this.#watchBypasses();
  }

  #execute(run: Run, periods: number): void {
    const timed = (run.scanCount & TIMED_EVERY) === 0;
    const began = timed ? this.#clockMs() : 0;
    const S = this.#S;
    const Q = this.#Q;
    const { wires, channels, instances } = run;
    for (let n = 0; n < wires.length; n += 2) {
      S[wires[n]] = S[wires[n + 1]];
      Q[wires[n]] = Q[wires[n + 1]];
    }
    const { value, quality } = this.io;
    for (let n = 0; n < channels.length; n += 2) {
      S[channels[n]] = value[channels[n + 1]];
      Q[channels[n]] = quality[channels[n + 1]];
    }
    const first = instances[0];
    const { functions } = run.shape;
    const dtMs = run.periodMs * periods;
    let faults = 0;
    for (let n = 0; n < functions.length; n += 1) {
      faults += functions[n](
        S,
        Q,
        this.#P,
        this.#F,
        this.#X,
        this.#texts,
        this.io,
        this.#W,
        first.sb,
        first.pb,
        first.fb,
        first.wb,
        instances.length,
        dtMs,
        run.periodMs,
        this.#mark,
      );
    }
    run.scanCount += 1;
    if (timed) run.lastMs = this.#clockMs() - began;
    if (faults > 0 || run.hadFaults) this.#reportFaults(run, faults > 0);
  }

  /** Writes the outputs of the networks to the process images and wakes the probes. */
  drive(nowMs: number): void {
    for (let n = 0; n < this.#runs.length; n += 1) {
      const { outputs, scanCount } = this.#runs[n];
      if (scanCount === 0) continue;
      for (let k = 0; k < outputs.length; k += 1) {
        const wire = outputs[k];
        this.io.write(wire.image, wire.channel, this.#S[wire.slot], nowMs);
      }
    }
    this.io.flush();
  }

  /** Fills the arrays of the tag table, one entry per tag of the plan. An on-change tag keeps the time of its last change. */
  publish(values: Float64Array, timestamps: Float64Array, quality: Uint8Array, nowMs: number): void {
    const tags = this.#tagSource;
    const channels = this.#tagChannel;
    for (let n = 0; n < tags.length; n += 1) {
      const slot = tags[n];
      const channel = channels[n];
      if (slot >= 0) {
        if (this.#tagCyclic[n] === 1 || values[n] !== this.#S[slot] || timestamps[n] === 0) timestamps[n] = nowMs;
        values[n] = this.#S[slot];
        quality[n] = this.#Q[slot];
      } else if (channel >= 0) {
        values[n] = this.io.value[channel];
        quality[n] = this.io.quality[channel];
        timestamps[n] = this.io.sampledAtMs[channel] > 0 ? this.io.sampledAtMs[channel] : nowMs;
      } else {
        values[n] = Number.NaN;
        quality[n] = QUALITY.Bad;
        timestamps[n] = nowMs;
      }
    }
  }

  // ================================================================ faults

  #reportFaults(run: Run, faulty: boolean): void {
    run.hadFaults = faulty;
    for (let n = 0; n < run.instances.length; n += 1) {
      const instance = run.instances[n];
      let hash = 0;
      for (let block = 0; block < run.shape.faults; block += 1) {
        if (this.#F[instance.fb + block] === this.#mark) hash = (Math.imul(hash, 31) + block + 1) | 0;
      }
      if (hash !== instance.faultHash) this.#changeFaults(instance, hash);
    }
  }

  #changeFaults(instance: Instance, hash: number): void {
    instance.faultHash = hash;
    const blocks = instance.linked?.blocks ?? [];
    instance.faulted = blocks.filter((_, n) => this.#F[instance.fb + n] === this.#mark).map((block) => block.name);
    instance.state = instance.faulted.length > 0 ? 'Degraded' : 'Running';
    instance.message = instance.faulted.length > 0 ? `skipped in the last scan: ${instance.faulted.join(', ')}` : '';
    this.#reports.set(instance.plan.name, this.#report(instance));
  }

  #report(instance: Instance): NetworkReport {
    return { network: instance.plan.name, state: instance.state, message: instance.message, faultedBlocks: instance.faulted };
  }

  /** State of every network, for `plan-loaded`. */
  reports(): NetworkReport[] {
    return this.#instances.map((instance) => this.#report(instance));
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

  // ================================================================ tags

  /** Slot of `<module>.<tag>`, `<program>.<variable>` or `<ioModule>:<channel>`; -1 when there is none. */
  slot(address: string): number {
    return this.#slots.get(address) ?? -1;
  }

  /** Image and channel behind a slot of a device channel. */
  #channelOf(slot: number): { readonly image: number; readonly channel: number } | undefined {
    const tag = this.#tags[slot];
    if (tag) return tag.image >= 0 ? { image: tag.image, channel: tag.channel } : undefined;
    const at = slot - this.#tags.length;
    const image = this.io.first.findIndex((first, n) => at >= first && at < this.io.first[n + 1]);
    return image < 0 ? undefined : { image, channel: at - this.io.first[image] };
  }

  type(slot: number): DataType {
    const tag = this.#tags[slot];
    if (tag) return tag.type;
    const at = this.#channelOf(slot);
    return at ? CHANNEL_TYPES[this.plan.images[at.image].channels[at.channel].dataType] : 'REAL';
  }

  number(slot: number): number {
    const at = this.#tagSource[slot] ?? -1;
    if (at >= 0) return this.#S[at];
    const channel = this.#channelIndex(slot);
    return channel < 0 ? Number.NaN : this.io.value[channel];
  }

  #channelIndex(slot: number): number {
    if (slot < this.#tags.length) return this.#tagChannel[slot] ?? -1;
    const at = slot - this.#tags.length;
    return at < this.io.none ? at : -1;
  }

  read(slot: number): Value {
    return showNumber(this.type(slot), this.number(slot), this.#text);
  }

  quality(slot: number): QualityCode {
    const at = this.#tagSource[slot] ?? -1;
    if (at >= 0) return this.#Q[at] as QualityCode;
    const channel = this.#channelIndex(slot);
    return channel < 0 ? QUALITY.Bad : (this.io.quality[channel] as QualityCode);
  }

  /** A cyclic tag on a channel whose sample is older than its I/O module allows (decisions 7.2). */
  stale(slot: number): boolean {
    const tag = this.#tags[slot];
    if (tag && !tag.plan.cyclic) return false;
    const at = this.#channelOf(slot);
    return at !== undefined && this.io.isStale(at.image, at.channel, this.#nowMs);
  }

  mode(module: string): Mode {
    return this.#modes.get(module) ?? 'Automatic';
  }

  /** Mode of the module that owns the tag; programs and device channels have none and read as Automatic. */
  modeOf(slot: number): Mode {
    const tag = this.#tags[slot];
    if (!tag) return 'Automatic';
    return tag.network?.plan.owner === 'program' ? 'Automatic' : this.mode(tag.plan.network);
  }

  /** Overrides end when the module returns to Automatic (decisions 5.1 rule 7); PID blocks follow Manual (3.7). */
  setModuleMode(module: string, mode: Mode): void {
    this.#modes.set(module, mode);
    const instance = this.#instances.find((entry) => entry.plan.name === module && entry.plan.owner === 'module');
    if (!instance?.layout) return;
    this.#S[instance.sb + INSTANCE_SLOT.manual] = mode === 'Manual' ? 1 : 0;
    if (mode !== 'Automatic') return;
    for (const tag of this.#tags) if (tag.network === instance && tag.override >= 0) this.#S[tag.override] = 0;
  }

  /** Takes a value over, to be seen by the networks of this scan; the refusal when it cannot. */
  write(slot: number, value: Value): WriteRefusal | null {
    const tag = this.#tags[slot];
    if (!tag) return this.#writeChannel(slot, value);
    const { address, writable, engMin, engMax } = tag.plan;
    if (!writable) return { code: 'read_only_tag', message: `${address} is read-only` };
    const number = readWritten(tag.type, value, this.#texts);
    if (number === undefined) return { code: 'invalid_value', message: `${JSON.stringify(value)} is no ${tag.type} for ${address}` };
    const bounded = tag.type === 'INT' || tag.type === 'REAL';
    if (bounded && ((engMin !== undefined && number < engMin) || (engMax !== undefined && number > engMax))) {
      return { code: 'out_of_range', message: `${number} is outside ${engMin ?? ''} to ${engMax ?? ''} for ${address}` };
    }
    if (tag.plan.binding.kind === 'channel') return this.#writeChannel(slot, value);
    if (tag.override >= 0) return this.#override(tag, slot, number);
    if (tag.writes.length === 0) {
      if (tag.slot < 0) return { code: 'write_failed', message: `${address}: the network ${tag.plan.network} is not loaded` };
      return { code: 'read_only_tag', message: `${address} is fed by the network` };
    }
    for (const target of tag.writes) {
      this.#S[target] = number;
      this.#Q[target] = QUALITY.Good;
      this.#written[target] = 1;
    }
    return null;
  }

  #override(tag: TagSlot, slot: number, number: number): WriteRefusal | null {
    if (this.modeOf(slot) === 'Automatic')
      return { code: 'write_failed', message: `${tag.plan.address} is an output of its network; it can be overridden only while ${tag.plan.network} is not in Automatic` };
    this.#S[tag.override] = 1;
    this.#S[tag.override + 1] = number;
    this.#noteWrite(slot);
    return null;
  }

  #writeChannel(slot: number, value: Value): WriteRefusal | null {
    const at = this.#channelOf(slot);
    if (!at) return { code: 'unknown_tag', message: 'there is no such tag' };
    const plan = this.plan.images[at.image];
    const channel = plan.channels[at.channel];
    const name = `${plan.module}:${channel.name}`;
    if (channel.direction === 'input') return { code: 'read_only_tag', message: `${name} is an input` };
    const type = CHANNEL_TYPES[channel.dataType];
    const number = readWritten(type, value, this.#texts);
    if (number === undefined) return { code: 'invalid_value', message: `${JSON.stringify(value)} is no ${type} for ${name}` };
    this.io.force(at.image, at.channel, number, type === 'STRING' ? String(value) : undefined);
    this.#noteWrite(slot);
    return null;
  }

  /** Remembers that the channel behind a slot has an outstanding write; the scan's own write follows in this scan. */
  #noteWrite(slot: number): void {
    if (this.#channelOf(slot)) this.#settling.set(slot, { sequence: -1, sinceMs: this.#nowMs });
  }

  /** How the last write to a slot ended: settled at once when no channel is behind it (decisions 7.7). */
  writeSettled(slot: number): { readonly settled: boolean; readonly rule?: string; readonly message?: string } {
    const pending = this.#settling.get(slot);
    const at = this.#channelOf(slot);
    if (!pending || !at) return { settled: true };
    const index = this.io.first[at.image] + at.channel;
    const { outSeq, outDone } = this.io.images[at.image];
    const done = Atomics.load(outDone, at.channel) === Atomics.load(outSeq, at.channel);
    const plan = this.plan.images[at.image];
    const name = `${plan.module}:${plan.channels[at.channel].name}`;
    if (this.#nowMs <= pending.sinceMs) return { settled: false };
    if (done) {
      this.#settling.delete(slot);
      if (this.io.ack[index] === 1) return { settled: true };
      if (this.io.ack[index] === 2)
        return { settled: true, rule: 'readback-mismatch', message: `${name} reads back ${this.io.readback[index]} after ${this.io.value[index]} was written` };
      return { settled: true, rule: 'write-failed', message: `${name}: the device refused the write` };
    }
    if (this.#nowMs - pending.sinceMs < this.plan.settings.readbackTimeoutMs) return { settled: false };
    this.#settling.delete(slot);
    return { settled: true, rule: 'write-failed', message: `${name}: the device has not answered within ${this.plan.settings.readbackTimeoutMs} ms` };
  }

  // ================================================================ interlock bypass

  /** Sets or ends the bypass of interlocks of a module (D-PROG-03); without names of all of them. */
  setBypass(module: string, active: boolean, blocks?: readonly string[]): void {
    const instance = this.#instances.find((entry) => entry.plan.name === module);
    const { linked, layout } = instance ?? {};
    if (!instance || !linked || !layout) return;
    linked.blocks.forEach((block, index) => {
      const slot = layout.blocks[index].state.get('bypass');
      const trips = layout.blocks[index].state.get('shadowTrips');
      if (slot === undefined || trips === undefined) return;
      if (blocks && !blocks.some((name) => sameName(name, block.name))) return;
      this.#S[instance.sb + slot] = active ? 1 : 0;
      const known = this.#bypassed.findIndex((entry) => entry.instance === instance && entry.block === index);
      if (known >= 0) this.#bypassed.splice(known, 1);
      if (active) this.#bypassed.push({ instance, block: index, slot: instance.sb + trips, seen: this.#S[instance.sb + trips] });
    });
  }

  readonly #shadowTrips: { module: string; block: string }[] = [];

  #watchBypasses(): void {
    for (const entry of this.#bypassed) {
      if (this.#S[entry.slot] === entry.seen) continue;
      entry.seen = this.#S[entry.slot];
      this.#shadowTrips.push({ module: entry.instance.plan.name, block: entry.instance.linked?.blocks[entry.block].name ?? '' });
    }
  }

  /** Interlocks that would have tripped while bypassed, since the last call. */
  takeShadowTrips(): { readonly module: string; readonly block: string }[] {
    return this.#shadowTrips.length === 0 ? NONE : this.#shadowTrips.splice(0);
  }

  // ================================================================ hot swap and retained values

  /** Keeps the state of every block whose name and type are unchanged, and all written values (Q-PROG-03). */
  #takeOver(old: NetworkSet): void {
    for (const instance of this.#instances) {
      const before = old.#instances.find((entry) => entry.plan.name === instance.plan.name && entry.linked !== undefined);
      if (before && instance.linked) this.#takeOverNetwork(instance, old, before);
    }
    this.#tags.forEach((tag) => {
      const before = old.#tags[old.slot(tag.plan.address)];
      if (!before || before.type !== tag.type || tag.writes.length === 0 || before.writes.length === 0) return;
      if (old.#written[before.slot] === 0) return;
      for (const slot of tag.writes) {
        this.#S[slot] = old.#S[before.slot];
        this.#written[slot] = 1;
      }
    });
    this.#tags.forEach((tag) => {
      const before = old.#tags[old.slot(tag.plan.address)];
      if (!before || before.override < 0 || tag.override < 0 || this.mode(tag.plan.network) === 'Automatic') return;
      this.#S[tag.override] = old.#S[before.override];
      this.#S[tag.override + 1] = old.#S[before.override + 1];
    });
    for (const entry of old.#bypassed) this.setBypass(entry.instance.plan.name, true, [entry.instance.linked?.blocks[entry.block].name ?? '']);
  }

  #takeOverNetwork(instance: Instance, old: NetworkSet, before: Instance): void {
    const { linked, layout, sb, pb, run } = instance;
    if (!linked || !layout || !run || !before.linked || !before.layout) return;
    if (before.run && before.run.every === run.every && before.run.scanCount > 0) {
      run.since = Math.max(run.since, before.run.since);
      run.scanCount = Math.max(run.scanCount, before.run.scanCount);
    }
    const names = new Map(before.linked.blocks.map((block, index) => [block.name, index]));
    linked.blocks.forEach((block, index) => {
      const from = names.get(block.name);
      const twin = from === undefined ? undefined : before.linked?.blocks[from];
      if (from === undefined || twin?.type !== block.type || !before.layout) return;
      const source = before.layout.blocks[from];
      const target = layout.blocks[index];
      for (const [name, slot] of target.state) {
        const from = source.state.get(name);
        if (from !== undefined && !block.type.caches.includes(name)) this.#S[sb + slot] = old.#S[before.sb + from];
      }
      target.outputs.forEach((slot, n) => {
        if (block.outputs[n] !== twin.outputs[n]) return;
        this.#S[sb + slot] = old.#S[before.sb + source.outputs[n]];
        this.#Q[sb + slot] = old.#Q[before.sb + source.outputs[n]];
      });
      block.inputs.forEach((input, n) => {
        const was = twin.inputs[n];
        if (input.feed.kind !== 'own' || was.feed.kind !== 'own' || input.type !== was.type) return;
        const value = old.#S[before.sb + source.inputs[n]];
        // A value the block wrote itself differs from the constant it was loaded with.
        if (old.#written[before.sb + source.inputs[n]] === 0 && value === this.#number(was.feed.value)) return;
        this.#S[sb + target.inputs[n]] = value;
        this.#written[sb + target.inputs[n]] = old.#written[before.sb + source.inputs[n]];
      });
      if (!block.type.aux || block.type.aux.fill) return;
      if (block.auxLength !== twin.auxLength) {
        for (const [name, slot] of target.state) this.#S[sb + slot] = block.type.state[name];
        return;
      }
      const fromX = old.#P[before.pb + source.aux];
      this.#X.set(old.#X.subarray(fromX, fromX + block.auxLength), this.#P[pb + target.aux]);
    });
  }

  #listRetained(): RetainedSlot[] {
    const list: RetainedSlot[] = [];
    for (const instance of this.#instances) {
      const { linked, layout, sb, plan } = instance;
      if (!linked || !layout) continue;
      linked.blocks.forEach((block, index) => {
        const at = layout.blocks[index];
        block.inputs.forEach((input, n) => {
          if (input.feed.kind === 'own')
            list.push({
              network: plan.name,
              block: block.name,
              name: input.port.name,
              slot: sb + at.inputs[n],
              type: input.type,
              onlyWritten: !block.type.retained.includes(input.port.name),
            });
        });
        for (const name of block.type.retained) {
          const slot = at.state.get(name);
          if (slot !== undefined) list.push({ network: plan.name, block: block.name, name, slot: sb + slot, type: 'REAL', onlyWritten: false });
        }
      });
      linked.variables.forEach((variable, index) => {
        const input = plan.inputs.find((entry) => sameName(entry.variable, variable.name));
        if (variable.direction !== 'input' || input?.tag !== undefined || layout.variables[index] < 0) return;
        list.push({ network: plan.name, block: '', name: variable.name, slot: sb + layout.variables[index], type: variable.type, onlyWritten: true });
      });
    }
    this.#tags.forEach((tag) => {
      if (tag.plan.binding.kind === 'stored') list.push({ network: tag.plan.network, block: '', name: tag.plan.name, slot: tag.slot, type: tag.type, onlyWritten: true });
    });
    return list;
  }

  #restore(saved: Readonly<Record<string, RetainedNetwork>>): void {
    for (const entry of this.#retained) {
      const network = saved[entry.network];
      const plan = this.#instances.find((instance) => instance.plan.name === entry.network)?.plan;
      if (!network || (plan && network.hash !== plan.hash)) continue;
      const value = network.blocks[entry.block]?.[entry.name];
      const number = value === undefined ? undefined : readWritten(entry.type, value, this.#texts);
      if (number === undefined) continue;
      this.#S[entry.slot] = number;
      if (entry.onlyWritten) this.#written[entry.slot] = 1;
    }
  }

  /** Networks with a retained value that changed since the last call, each with all its retained values. */
  saveRetained(): Readonly<Record<string, RetainedNetwork>> | undefined {
    let changed: Set<string> | undefined;
    for (let n = 0; n < this.#retained.length; n += 1) {
      const entry = this.#retained[n];
      const value = this.#S[entry.slot];
      if (value === this.#retainedShadow[n]) continue;
      this.#retainedShadow[n] = value;
      changed ??= new Set();
      changed.add(entry.network);
    }
    if (!changed) return undefined;
    const saved: Record<string, { hash: string; blocks: Record<string, Record<string, Value>> }> = {};
    for (const entry of this.#retained) {
      if (!changed.has(entry.network) || (entry.onlyWritten && this.#written[entry.slot] === 0)) continue;
      saved[entry.network] ??= { hash: this.#instances.find((instance) => instance.plan.name === entry.network)?.plan.hash ?? '', blocks: {} };
      const { blocks } = saved[entry.network];
      blocks[entry.block] ??= {};
      blocks[entry.block][entry.name] = showNumber(entry.type, this.#S[entry.slot], this.#text);
    }
    return saved;
  }

  /** Runs the generated functions on copies, so that the first live scans do not run interpreted (performance notes, E). */
  #warmUp(): void {
    const S = this.#S.slice();
    const Q = this.#Q.slice();
    const F = this.#F.slice();
    const X = this.#X.slice();
    const deadline = this.#clockMs() + WARM_UP_MS_MAX;
    for (let scan = 0; scan < WARM_UP_SCANS && this.#clockMs() < deadline; scan += 1) {
      for (const run of this.#runs) {
        const first = run.instances[0];
        for (const compiled of run.shape.functions) {
          compiled(S, Q, this.#P, F, X, this.#texts, this.io, this.#W, first.sb, first.pb, first.fb, first.wb, run.instances.length, run.periodMs, run.periodMs, scan);
        }
      }
    }
  }

  // ================================================================ inspection

  /** Body of `runtime/fbnetwork/{network}` (Q-UNIT-07); undefined when there is no such network. */
  inspect(network: string): NetworkInspection | undefined {
    const instance = this.#instances.find((entry) => entry.plan.name === network);
    if (!instance) return undefined;
    const { linked, layout, run, plan, sb } = instance;
    const show = (type: DataType, value: number, quality: number): PortInspection => ({ value: showNumber(type, value, this.#text), quality: QUALITY_WORDS[quality] });
    const blocks = (linked?.order ?? []).map((index) => {
      const block = linked?.blocks[index] as LinkedNetwork['blocks'][number];
      const at = layout?.blocks[index] as Layout['blocks'][number];
      return {
        name: block.name,
        type: block.type.name,
        inputs: Object.fromEntries(
          block.inputs.flatMap((input, n) => {
            if (input.port.optional && !input.used) return [];
            const slot = at.inputs[n];
            const shown =
              slot >= 0
                ? show(input.type, this.#S[sb + slot], this.#Q[sb + slot])
                : show(input.type, input.feed.kind === 'constant' ? this.#number(input.feed.value) : Number.NaN, QUALITY.Good);
            return [[input.port.name, shown]];
          }),
        ),
        outputs: Object.fromEntries(block.type.outputs.map((port, n) => [port.name, show(block.outputs[n], this.#S[sb + at.outputs[n]], this.#Q[sb + at.outputs[n]])])),
        error: instance.faulted.includes(block.name) ? 'skipped in the last scan: the result is not defined' : '',
      };
    });
    return {
      name: plan.name,
      unit: this.plan.unit,
      state: instance.state,
      message: instance.message,
      scanInterval: `${plan.scanIntervalMs}ms`,
      scanCount: run?.scanCount ?? 0,
      lastScanMs: run ? run.lastMs / run.instances.length : 0,
      executionOrder: blocks.map((block) => block.name),
      blocks,
    };
  }

  /** Addresses and values of the overrides in force (decisions 5.1 rule 7). */
  overrides(): { readonly address: string; readonly value: Value }[] {
    return this.#tags
      .filter((tag) => tag.override >= 0 && this.#S[tag.override] !== 0)
      .map((tag) => ({ address: tag.plan.address, value: showNumber(tag.type, this.#S[tag.override + 1], this.#text) }));
  }

  get blockCount(): number {
    return this.#instances.reduce((count, instance) => count + (instance.linked?.blocks.length ?? 0), 0);
  }
}

interface RetainedSlot {
  readonly network: string;
  readonly block: string;
  readonly name: string;
  readonly slot: number;
  readonly type: DataType;
  /** Saved only once a tag write replaced the constant. */
  readonly onlyWritten: boolean;
}

export interface PortInspection {
  readonly value: Value;
  readonly quality: string;
}

export interface NetworkInspection {
  readonly name: string;
  readonly unit: string;
  readonly state: string;
  readonly message: string;
  readonly scanInterval: string;
  readonly scanCount: number;
  readonly lastScanMs: number;
  readonly executionOrder: readonly string[];
  readonly blocks: readonly {
    readonly name: string;
    readonly type: string;
    readonly inputs: Readonly<Record<string, PortInspection>>;
    readonly outputs: Readonly<Record<string, PortInspection>>;
    readonly error: string;
  }[];
}

const NONE: { readonly module: string; readonly block: string }[] = [];

const CHANNEL_TYPES = { bool: 'BOOL', int: 'INT', float: 'REAL', string: 'STRING' } as const;
