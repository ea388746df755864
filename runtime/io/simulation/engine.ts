/**
 * The simulated plant of one probe (decisions 6.1): all modules tick together, every behaviour on the values of the
 * previous tick, then faults in list order, then the new values appear together.
 *
 * A configuration may be replaced at any time: behaviours of unchanged address and type, faults of unchanged name,
 * written and forced values keep their state. Invariants: ticks are synchronous, and every shown number is finite.
 */
import type { Behavior, SimulationFault } from '../../port.js';
import { QUALITY, type QualityCode } from '../../vocabulary/quality.js';
import type { ChannelType } from '../description.js';
import type { BehaviorStep } from './behavior.js';
import { behaviorType } from './behavior-types.js';
import { simulationProblems } from './checks.js';
import type { StepContext } from './expression.js';
import { type FaultState, type FaultType, type FaultySample, faultType } from './faults.js';
import { Params, readNumber, type Source } from './params.js';
import { type RandomStream, streamOf } from './random.js';

export interface SimulatedChannel {
  readonly address: string;
  readonly dataType: ChannelType;
  /** Value before anything was written. */
  readonly initial: number | string;
}

export interface SimulatedModule {
  readonly name: string;
  readonly tickMs: number;
  readonly seed: number;
  readonly channels: readonly SimulatedChannel[];
  readonly behaviors: readonly Behavior[];
  readonly faults: readonly SimulationFault[];
}

export interface SimulatedSample {
  readonly value: number;
  /** Present on text channels. */
  readonly text?: string;
  readonly dataType: ChannelType;
  readonly quality: QualityCode;
  readonly atMs: number;
  readonly forced: boolean;
}

interface Cell {
  readonly address: string;
  readonly dataType: ChannelType;
  /** Last value written by control. */
  written: number;
  writtenText: string;
  /** Own value of the behaviour, before faults and forcing; unrounded. */
  own: number;
  forced: number | string | undefined;
  /** What readers and expressions see. */
  shown: number;
  text: string;
  quality: QualityCode;
  atMs: number;
  /** The same of the tick being computed. */
  readonly next: FaultySample;
}

interface RunningBehavior {
  readonly behavior: Behavior;
  readonly cell: Cell;
  readonly state: unknown;
  readonly context: StepContext;
  readonly step: BehaviorStep;
}

interface RunningFault {
  readonly fault: SimulationFault;
  readonly cell: Cell;
  readonly type: FaultType;
  readonly params: Params;
  readonly state: FaultState;
  /** Plant seconds of the module at which the fault begins. */
  readonly fromT: number;
}

interface RunningModule {
  readonly spec: SimulatedModule;
  readonly problem: string;
  readonly cells: ReadonlyMap<string, Cell>;
  readonly driven: ReadonlySet<Cell>;
  readonly behaviors: readonly RunningBehavior[];
  readonly faults: readonly RunningFault[];
  /** Base ticks between two ticks of this module. */
  readonly every: number;
  readonly dt: number;
  t: number;
}

const ROUND_T = 1e9; // 100 ms ticks add up to whole numbers, not to 0.30000000000000004

function shownNumber(value: number, dataType: ChannelType): number {
  if (dataType === 'int') return Math.round(value);
  return dataType === 'bool' ? Number(value !== 0) : value;
}

function newCell(channel: SimulatedChannel, start: number | undefined): Cell {
  const written = typeof channel.initial === 'number' ? channel.initial : 0;
  const own = start ?? written;
  const text = typeof channel.initial === 'string' ? channel.initial : '';
  return {
    address: channel.address,
    dataType: channel.dataType,
    written,
    writtenText: text,
    own,
    forced: undefined,
    shown: shownNumber(own, channel.dataType),
    text,
    quality: QUALITY.Bad,
    atMs: 0,
    next: { value: own, quality: QUALITY.Bad, atMs: 0 },
  };
}

export class SimulationEngine {
  #modules = new Map<string, RunningModule>();
  #baseMs = 100; // decisions 7.3: default of `tick`
  #ticks = 0;

  /** Plant ms of one tick: the shortest of the modules'. A slower module joins every n-th tick. */
  get tickMs(): number {
    return this.#baseMs;
  }

  /** Replaces the configuration; the result names what is wrong with a module, which then stands still with Bad values. */
  configure(specs: readonly SimulatedModule[]): ReadonlyMap<string, string> {
    const before = this.#modules;
    this.#baseMs = specs.length === 0 ? 100 : Math.min(...specs.map((spec) => spec.tickMs));
    const addresses = new Map(specs.map((spec) => [spec.name, new Set([...spec.channels.map((row) => row.address), ...spec.behaviors.map((row) => row.address)])]));
    const problems = new Map<string, string>();
    for (const spec of specs) {
      const found = simulationProblems(
        spec.behaviors,
        spec.faults,
        spec.channels.map((row) => row.address),
        (name) => addresses.get(name),
      );
      if (found.length > 0) problems.set(spec.name, found.map((row) => row.message).join('; '));
    }
    const cells = new Map(specs.map((spec) => [spec.name, this.#cells(spec, before.get(spec.name))]));
    this.#modules = new Map(specs.map((spec) => [spec.name, this.#module(spec, problems.get(spec.name) ?? '', cells, before.get(spec.name))]));
    return problems;
  }

  #cells(spec: SimulatedModule, before: RunningModule | undefined): Map<string, Cell> {
    const starts = new Map(spec.behaviors.map((row) => [row.address, row.params.initial === undefined ? undefined : readNumber(row.params.initial)]));
    const internal = spec.behaviors
      .filter((row) => !spec.channels.some((channel) => channel.address === row.address))
      .map((row): SimulatedChannel => ({ address: row.address, dataType: 'float', initial: 0 }));
    return new Map(
      [...spec.channels, ...internal].map((channel) => {
        const kept = before?.cells.get(channel.address);
        return [channel.address, kept?.dataType === channel.dataType ? kept : newCell(channel, starts.get(channel.address))];
      }),
    );
  }

  #module(spec: SimulatedModule, problem: string, all: ReadonlyMap<string, ReadonlyMap<string, Cell>>, before: RunningModule | undefined): RunningModule {
    const cells = all.get(spec.name) ?? new Map<string, Cell>();
    const every = Math.max(1, Math.round(spec.tickMs / this.#baseMs));
    const t = before?.t ?? 0;
    const resolve = (reference: string): Source => {
      const slash = reference.indexOf('/');
      const cell = slash < 0 ? cells.get(reference) : all.get(reference.slice(0, slash))?.get(reference.slice(slash + 1));
      return cell ? () => cell.shown : () => 0;
    };
    const behaviors = problem === '' ? spec.behaviors.flatMap((row) => this.#behavior(spec, row, cells, resolve, before)) : [];
    const faults = problem === '' ? spec.faults.flatMap((row) => this.#fault(row, cells, t, before)) : [];
    if (problem !== '') for (const cell of cells.values()) cell.quality = QUALITY.Bad;
    return {
      spec,
      problem,
      cells,
      driven: new Set(behaviors.map((row) => row.cell)),
      behaviors,
      faults,
      every,
      dt: (every * this.#baseMs) / 1000,
      t,
    };
  }

  #behavior(
    spec: SimulatedModule,
    behavior: Behavior,
    cells: ReadonlyMap<string, Cell>,
    resolve: (reference: string) => Source,
    before: RunningModule | undefined,
  ): RunningBehavior[] {
    const type = behaviorType(behavior.type);
    const cell = cells.get(behavior.address);
    if (!type || !cell) return [];
    const kept = before?.behaviors.find((row) => row.behavior.address === behavior.address && row.behavior.type === behavior.type);
    const params = new Params(type.params, behavior.params, resolve);
    const state = kept ? kept.state : type.start(params);
    const random: RandomStream = kept && before?.spec.seed === spec.seed ? kept.context.random : streamOf(spec.seed, spec.name, behavior.address);
    return [{ behavior, cell, state, context: { dt: 0, t: 0, self: 0, random }, step: type.bind(params, state) }];
  }

  #fault(fault: SimulationFault, cells: ReadonlyMap<string, Cell>, t: number, before: RunningModule | undefined): RunningFault[] {
    const type = faultType(fault.type);
    const cell = cells.get(fault.address);
    if (!type || !cell) return [];
    const same = (row: SimulationFault): boolean =>
      row.name === fault.name && row.address === fault.address && row.type === fault.type && row.triggerMode === fault.triggerMode && row.triggerAfterMs === fault.triggerAfterMs;
    const kept = before?.faults.find((row) => same(row.fault));
    const params = new Params(type.params, fault.params, () => () => 0);
    const fromT = kept?.fromT ?? t + (fault.triggerMode === 'Timed' ? fault.triggerAfterMs / 1000 : 0);
    return [{ fault, cell, type, params, state: kept?.state ?? {}, fromT }];
  }

  /** One tick of the plant; returns the modules that took part. */
  tick(nowMs: number): string[] {
    this.#ticks += 1;
    const due = [...this.#modules.values()].filter((module) => module.problem === '' && this.#ticks % module.every === 0);
    for (const module of due) this.#compute(module, nowMs);
    for (const module of due) {
      for (const cell of module.cells.values()) this.#show(module, cell, nowMs);
    }
    return due.map((module) => module.spec.name);
  }

  #compute(module: RunningModule, nowMs: number): void {
    module.t = Math.round((module.t + module.dt) * ROUND_T) / ROUND_T;
    for (const cell of module.cells.values()) {
      if (!module.driven.has(cell)) cell.own = cell.written;
    }
    for (const { cell, context, step } of module.behaviors) {
      context.dt = module.dt;
      context.t = module.t;
      context.self = cell.own;
      const value = step(context);
      if (Number.isFinite(value)) cell.own = value;
    }
    for (const { next, own } of module.cells.values()) {
      next.value = own;
      next.quality = QUALITY.Good;
      next.atMs = nowMs;
    }
    for (const { cell, type, params, state, fromT } of module.faults) {
      if (module.t >= fromT) type.apply(cell.next, params, module.t - fromT, state);
    }
  }

  #show(module: RunningModule, cell: Cell, nowMs: number): void {
    if (cell.forced !== undefined) return this.#showForced(cell, nowMs);
    const { next } = cell;
    if (cell.dataType === 'string' && next.atMs === nowMs) cell.text = module.driven.has(cell) ? String(next.value) : cell.writtenText;
    if (Number.isFinite(next.value)) cell.shown = shownNumber(next.value, cell.dataType);
    cell.quality = next.quality;
    cell.atMs = next.atMs;
  }

  #showForced(cell: Cell, nowMs: number): void {
    if (typeof cell.forced === 'string') cell.text = cell.forced;
    else if (cell.forced !== undefined) cell.shown = shownNumber(cell.forced, cell.dataType);
    cell.quality = QUALITY.Good;
    cell.atMs = nowMs;
  }

  #cell(module: string, address: string): Cell | undefined {
    return this.#modules.get(module)?.cells.get(address);
  }

  /** A write of control: shown from the next tick while no behaviour drives the channel. False: no such channel. */
  write(module: string, address: string, value: number | string): boolean {
    const cell = this.#cell(module, address);
    if (!cell) return false;
    if (typeof value === 'string') cell.writtenText = value;
    else cell.written = value;
    return true;
  }

  /** Holds the channel at `value` until released (contract 3, Simulation); shown at once. */
  force(module: string, address: string, value: number | string, nowMs: number): boolean {
    const cell = this.#cell(module, address);
    if (!cell) return false;
    cell.forced = value;
    this.#showForced(cell, nowMs);
    return true;
  }

  /** Ends the forcing of the addresses given, of all when there are none; returns those that were forced. */
  release(module: string, addresses: readonly string[]): string[] {
    const cells = [...(this.#modules.get(module)?.cells.values() ?? [])];
    const released = cells.filter((cell) => cell.forced !== undefined && (addresses.length === 0 || addresses.includes(cell.address)));
    for (const cell of released) cell.forced = undefined;
    return released.map((cell) => cell.address);
  }

  /** What stands in the channel now, internal channels included; undefined when there is none of that address. */
  /** All addresses of a module: of its channels and of its behaviours. */
  addresses(module: string): readonly string[] {
    return [...(this.#modules.get(module)?.cells.keys() ?? [])];
  }

  sample(module: string, address: string): SimulatedSample | undefined {
    const cell = this.#cell(module, address);
    if (!cell) return undefined;
    const { shown: value, dataType, quality, atMs, forced } = cell;
    const text = dataType === 'string' ? { text: cell.text } : {};
    return { value, ...text, dataType, quality, atMs, forced: forced !== undefined };
  }
}
