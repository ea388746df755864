/** Loading: plans to compiled networks, their order and place, and the start values of their arrays (decisions 2.4, 5.1). */
import { assert, inside } from '../vocabulary/assert.js';
import type { NetworkPlan, TagPlan, UnitPlan } from '../port.js';
import { QUALITY } from '../vocabulary/quality.js';
import type { Region, Room } from './arena.js';
import { compileShape, layOut } from './compile.js';
import { type Interner, readWritten } from './constants.js';
import { sameName } from '../vocabulary/same-name.js';
import type { Instance, LoadedNetwork, Run } from './instance.js';
import type { IoLink } from './io-link.js';
import { linkSteps } from './link.js';
import type { Steps } from './steps.js';
import type { TagSlot } from './tag-slots.js';
import type { Memory } from './memory.js';

/** Links, lays out and compiles one network; one that cannot be loaded is in Error and says why. */
export function* loadNetwork(plan: NetworkPlan, unit: UnitPlan): Steps<Instance> {
  const broken = (message: string): Instance => ({ plan, loaded: undefined, state: 'Error', message, faulted: [], faultHash: 0 });
  if (!(plan.scanIntervalMs > 0)) return broken('the scan interval is not a duration above zero');
  const tags = unit.tags.filter((tag) => tag.network === plan.name);
  const bound = tags.flatMap((tag) => (tag.binding.kind === 'port' ? [{ block: tag.binding.block, port: tag.binding.port, type: tag.type }] : []));
  const { network, problems } = yield* linkSteps(plan, unit.composites, bound);
  if (problems.length > 0) return broken(problems.map((problem) => problem.message).join('; '));
  const overridable = network.blocks.map(() => new Set<string>());
  for (const { binding, writable } of tags) {
    if (!writable || binding.kind !== 'port' || network.flat.inputs(binding.block, binding.port).length > 0) continue;
    const end = network.flat.output(binding.block, binding.port);
    if (end) inside(overridable, end.block, PLACED).add(end.port);
  }
  const layout = layOut(network, overridable);
  const shape = yield* compileShape(network, layout);
  const loaded: LoadedNetwork = { linked: network, layout, shape, sb: 0, pb: 0, fb: 0, wb: 0, run: undefined };
  return { plan, loaded, state: 'Running', message: plan.note ?? '', faulted: [], faultHash: 0 };
}

/**
 * Puts every network into the first run of its shape and period that lies behind the runs of all its sources: a reader
 * never shares a run with what it reads, so an input binding sees the value of the same scan.
 */
export function arrangeRuns(instances: readonly Instance[], unit: UnitPlan): Run[] {
  const runs: Run[] = [];
  const depths = new Map<string, number>();
  for (const instance of instances) {
    const { loaded, plan } = instance;
    if (!loaded) continue;
    const earliest = Math.max(0, ...sourceNetworks(plan, unit.tags).map((name) => (depths.get(name) ?? -1) + 1));
    const every = Math.max(1, Math.round(plan.scanIntervalMs / unit.scanIntervalMs));
    let run = runs.find((other) => other.depth >= earliest && other.shape === loaded.shape && other.every === every);
    if (!run) {
      run = newRun(loaded, every, unit.scanIntervalMs, runs.length);
      runs.push(run);
    }
    run.instances.push(instance);
    loaded.run = run;
    depths.set(plan.name, run.depth);
  }
  return runs;
}

function newRun(loaded: LoadedNetwork, every: number, scanIntervalMs: number, depth: number): Run {
  const none = new Int32Array(0);
  return {
    shape: loaded.shape,
    compiled: { functions: [], hot: false },
    periodMs: every * scanIntervalMs,
    every,
    instances: [],
    depth,
    wires: none,
    channels: none,
    ages: none,
    outputs: [],
    since: -1,
    scanCount: 0,
    lastMs: 0,
    timesNext: true,
    hadFaults: false,
  };
}

/** Networks whose tags a network reads by its input bindings. One that comes later in the plan has no depth yet. */
function sourceNetworks(plan: NetworkPlan, tags: readonly TagPlan[]): string[] {
  return plan.inputs.flatMap(({ tag }) => {
    const source = tag === undefined ? undefined : tags[tag];
    return source ? [source.network] : [];
  });
}

const PLACED = 'a loaded network has a slot for each block, port and variable that it has linked, within the memory of its plan';

/** Gives every network its place, run by run; behind the networks lie the stored tags. */
export function place(runs: readonly Run[], unit: UnitPlan, channels: number): { readonly room: Room; readonly stored: number } {
  let slots = 0;
  let constants = 0;
  let faults = 0;
  let aux = 0;
  let numbers = 0;
  for (const { instances, shape } of runs) {
    for (const { loaded } of instances) {
      if (!loaded) continue;
      Object.assign(loaded, { sb: slots, pb: constants, fb: faults, wb: numbers });
      slots += shape.slots;
      constants += shape.constants;
      faults += shape.faults;
      numbers += shape.channels;
      for (const block of loaded.linked.blocks) aux += block.auxLength;
    }
  }
  return { room: { slots: slots + unit.tags.length, constants, faults, aux, numbers, channels }, stored: slots };
}

/** Start values of all networks and stored tags: constants, defaults, state, tables. */
export function fillMemory(memory: Memory, instances: readonly Instance[], unit: UnitPlan, stored: number, texts: Interner): void {
  let aux = 0;
  for (const instance of instances) aux = fillNetwork(memory, instance, texts, aux);
  unit.tags.forEach((tag, index) => {
    if (tag.binding.kind === 'stored') memory.S[stored + index] = readWritten(tag.type, tag.binding.initial, texts) ?? 0;
  });
}

function fillNetwork(memory: Memory, instance: Instance, texts: Interner, auxFrom: number): number {
  const { loaded, plan } = instance;
  if (!loaded) return auxFrom;
  const { linked, layout, sb, pb } = loaded;
  const number = (value: number | string): number => (typeof value === 'string' ? texts.intern(value) : value);
  let aux = auxFrom;
  linked.variables.forEach((variable, index) => {
    const value = plan.inputs.find((entry) => sameName(entry.variable, variable.name))?.value;
    const slot = inside(layout.variables, index, PLACED);
    if (slot < 0 || value === undefined) return;
    const number = readWritten(variable.type, value, texts);
    memory.S[sb + slot] = number ?? 0;
    if (number === undefined && value !== null) memory.Q[sb + slot] = QUALITY.Bad;
  });
  linked.blocks.forEach((block, index) => {
    const at = inside(layout.blocks, index, PLACED);
    block.inputs.forEach(({ feed }, n) => {
      const constant = inside(at.constants, n, PLACED);
      if (feed.kind === 'own') memory.S[sb + inside(at.inputs, n, PLACED)] = number(feed.value);
      else if (feed.kind === 'constant' && constant >= 0) memory.P[pb + constant] = number(feed.value);
    });
    for (const [name, slot] of at.state) {
      const initial = block.type.state[name];
      assert(initial !== undefined, 'a state word is one of its row, which says where it starts');
      memory.S[sb + slot] = initial;
    }
    block.params.forEach((value, n) => {
      const constant = inside(at.params, n, PLACED);
      if (constant >= 0) memory.P[pb + constant] = number(value);
    });
    if (!block.type.aux) return;
    assert(aux + block.auxLength <= memory.X.length, 'the room of a plan holds the delay lines and tables of all its blocks');
    memory.P[pb + at.aux] = memory.auxFrom + aux;
    memory.P[pb + at.aux + 1] = block.auxLength;
    const table = block.type.aux.fill?.(Object.fromEntries(block.type.params.map((param, n) => [param.name, inside(block.params, n, PLACED)])));
    if (table) memory.X.set(table, aux);
    aux += block.auxLength;
  });
  return aux;
}

/** Bit of the maximum age of a tag at its channel; 0 of a tag that has none, or that is not measured. */
export function ageBit({ plan: { maxAgeMs = 0 }, image, channel }: TagSlot, io: IoLink): number {
  return maxAgeMs > 0 && image >= 0 && io.isInput[io.number(image, channel)] === 1 ? io.maxAge(image, channel, maxAgeMs) : 0;
}

/** Lists the copies of each run: input variables from tags, channels to I/O blocks, I/O blocks to channels. */
export function wireRuns(runs: readonly Run[], region: Region, tags: readonly TagSlot[], io: IoLink): void {
  const { from, memory } = region;
  memory.W.fill(from.channels + io.none);
  for (const run of runs) {
    const wires: number[] = [];
    const channels: number[] = [];
    const ages: number[] = [];
    for (const { loaded, plan } of run.instances) {
      if (!loaded) continue;
      loaded.linked.variables.forEach((variable, index) => {
        const slot = inside(loaded.layout.variables, index, PLACED);
        const input = plan.inputs.find((entry) => sameName(entry.variable, variable.name));
        const source = input?.tag === undefined ? undefined : tags[input.tag];
        if (slot < 0) return;
        if (input?.isMissing) memory.Q[loaded.sb + slot] = QUALITY.Bad;
        if (!source) return;
        if (source.plan.binding.kind === 'channel' && source.image >= 0) channels.push(loaded.sb + slot, io.number(source.image, source.channel));
        else if (source.slot >= 0) wires.push(loaded.sb + slot, source.slot);
        else memory.Q[loaded.sb + slot] = QUALITY.Bad;
        const bit = ageBit(source, io);
        if (bit !== 0) ages.push(loaded.sb + slot, io.number(source.image, source.channel), bit);
      });
      for (const channel of plan.channels) wireChannel(run, loaded, channel, region, io);
    }
    for (const slot of wires) assert(slot >= 0 && slot < memory.S.length, 'an input binding copies from a slot of the plan to a slot of the plan');
    for (const [n, number] of channels.entries())
      assert(number >= 0 && number < (n % 2 === 0 ? memory.S.length : io.none), 'an input binding copies from a channel of the plan to a slot of the plan');
    run.wires = Int32Array.from(wires);
    run.channels = Int32Array.from(channels);
    run.ages = Int32Array.from(ages);
  }
}

function wireChannel(run: Run, loaded: LoadedNetwork, channel: NetworkPlan['channels'][number], { memory, from }: Region, io: IoLink): void {
  const index = loaded.linked.blocks.findIndex((block) => sameName(block.name, channel.block));
  const type = loaded.linked.blocks[index]?.type;
  if (!type?.channel || channel.image >= io.images.length) return;
  const at = inside(loaded.layout.blocks, index, PLACED);
  memory.W[loaded.wb + at.channel] = from.channels + io.number(channel.image, channel.channel);
  const { raw } = type.channel;
  if (raw === undefined) return;
  const output = type.outputs.findIndex((port) => port.name === raw);
  const slot = output >= 0 ? at.outputs[output] : at.state.get(raw);
  if (slot !== undefined) run.outputs.push({ image: channel.image, channel: channel.channel, slot: loaded.sb + slot });
}
