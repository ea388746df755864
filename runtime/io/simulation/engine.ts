/**
 * The simulated plant of one probe (decisions 6.1): all modules tick together, every behaviour on the values of the
 * previous tick, then faults in list order, then the new values appear together.
 *
 * A configuration may be replaced at any time: behaviours of unchanged address and type, faults of unchanged name,
 * written and forced values keep their state. Invariants: ticks are synchronous, every shown number is finite, and a tick
 * looks up no name: each channel has a slot in the arrays, given when the configuration is taken.
 */
import type { Behavior, SimulationFault } from '../../port.js';
import { QUALITY, type QualityCode } from '../../vocabulary/quality.js';
import type { BehaviorStep } from './behavior.js';
import { behaviorType } from './behavior-types.js';
import { type Cell, newCell, restart, type SimulatedModule, type SimulatedSample, shownNumber } from './cell.js';
import { simulationProblems } from './checks.js';
import { Coupling, type ForeignModule } from './coupling.js';
import type { StepContext } from './expression.js';
import { type FaultState, type FaultStep, faultType } from './faults.js';
import { behaviorReferences } from './merge.js';
import { Params, readNumber, type Wires } from './params.js';
import { type RandomStream, streamOf } from './random.js';

export type { SimulatedChannel, SimulatedModule, SimulatedSample } from './cell.js';

interface RunningBehavior {
  readonly behavior: Behavior;
  readonly cell: Cell;
  readonly state: unknown;
  readonly context: StepContext;
  readonly step: BehaviorStep;
  /** Slots that it reads. */
  readonly sources: readonly number[];
}

interface RunningFault {
  readonly fault: SimulationFault;
  readonly cell: Cell;
  readonly step: FaultStep;
  readonly state: FaultState;
  /** Plant seconds of the module at which the fault begins. */
  readonly fromT: number;
}

interface RunningModule {
  readonly spec: SimulatedModule;
  readonly problem: string;
  readonly cells: ReadonlyMap<string, Cell>;
  /** The same, for the ticks. */
  readonly rows: readonly Cell[];
  /** Those that no behaviour drives. */
  readonly undriven: readonly Cell[];
  readonly behaviors: readonly RunningBehavior[];
  readonly faults: readonly RunningFault[];
  /** The same, or, of a module that is Failed, those that ran last: it goes on from them when it is mended. */
  readonly memory: Pick<RunningModule, 'behaviors' | 'faults'>;
  /** Base ticks between two ticks of this module. */
  readonly every: number;
  readonly dt: number;
  t: number;
}

const ROUND_T = 1e9; // 100 ms ticks add up to whole numbers, not to 0.30000000000000004
const NOWHERE = 0; // slot of a reference that leads nowhere: its value is 0

export class SimulationEngine {
  #modules = new Map<string, RunningModule>();
  #running: readonly RunningModule[] = [];
  readonly #due: RunningModule[] = [];
  readonly #names: string[] = [];
  #baseMs = 100; // decisions 7.3: default of `tick`
  #ticks = 0;
  #coupling = new Coupling(new Float64Array(1), []);
  /** What readers and expressions see, by slot. */
  values = new Float64Array(1);
  quality = new Uint8Array(1);
  /** Wall time of each value; 0 before the first. */
  atMs = new Float64Array(1);

  /** Plant ms of one tick: the shortest of the modules'. A slower module joins every n-th tick. */
  get tickMs(): number {
    return this.#baseMs;
  }

  /** What is read of devices: its values come before each tick. */
  get coupling(): Coupling {
    return this.#coupling;
  }

  /**
   * Replaces the configuration; the result names what is wrong with a module, which then stands still with Bad values.
   * @param foreign modules of the controller that are no simulation and of which a behaviour may read (ADR 0069).
   */
  configure(specs: readonly SimulatedModule[], foreign: readonly ForeignModule[] = []): ReadonlyMap<string, string> {
    const before = this.#modules;
    this.#baseMs = specs.length === 0 ? 100 : Math.min(...specs.map((spec) => spec.tickMs));
    const addresses = new Map(specs.map((spec) => [spec.name, new Set([...spec.channels.map((row) => row.address), ...spec.behaviors.map((row) => row.address)])]));
    for (const module of foreign) addresses.set(module.name, new Set(module.channels.flatMap(({ name, address }) => [name, address])));
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
    this.#lay(
      [...cells.values()].flatMap((of) => [...of.values()]),
      foreign.reduce((sum, { channels }) => sum + channels.length, 0),
    );
    this.#coupling = new Coupling(this.values, foreign);
    this.#modules = new Map(specs.map((spec) => [spec.name, this.#module(spec, problems.get(spec.name) ?? '', cells, before.get(spec.name))]));
    this.#running = [...this.#modules.values()].filter(({ problem }) => problem === '');
    this.#coupling.couple(
      this.#running.flatMap(({ behaviors }) => behaviors),
      [...this.#modules.values()].flatMap(({ problem, rows }) => (problem === '' ? [] : rows)),
    );
    this.#coupling.spread(); // what is not known is so before the first tick
    return problems;
  }

  /** Gives each cell its slot, and `foreign` channels of devices theirs behind them. What a cell showed before goes with it. */
  #lay(cells: readonly Cell[], foreign: number): void {
    const { values, quality, atMs } = this;
    this.values = new Float64Array(1 + cells.length + foreign);
    this.quality = new Uint8Array(1 + cells.length).fill(QUALITY.Bad);
    this.atMs = new Float64Array(1 + cells.length);
    for (const [at, cell] of cells.entries()) {
      const slot = 1 + at;
      this.values[slot] = cell.slot === NOWHERE ? shownNumber(cell.own, cell.dataType) : (values[cell.slot] ?? 0);
      if (cell.slot !== NOWHERE) {
        this.quality[slot] = quality[cell.slot] ?? QUALITY.Bad;
        this.atMs[slot] = atMs[cell.slot] ?? 0;
      }
      cell.slot = slot;
    }
  }

  #cells(spec: SimulatedModule, before: RunningModule | undefined): Map<string, Cell> {
    const starts = new Map(spec.behaviors.map((row) => [row.address, startOf(row)]));
    const internal = spec.behaviors
      .filter((row) => !spec.channels.some((channel) => channel.address === row.address))
      .map(({ address }) => ({ address, dataType: 'float' as const, initial: 0 }));
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
    const slotOf = (reference: string): number => {
      const slash = reference.indexOf('/');
      if (slash < 0) return cells.get(reference)?.slot ?? NOWHERE;
      const [module, channel] = [reference.slice(0, slash), reference.slice(slash + 1)];
      return all.get(module)?.get(channel)?.slot ?? this.#coupling.slot(module, channel) ?? NOWHERE;
    };
    const behaviors = problem === '' ? spec.behaviors.flatMap((row) => this.#behavior(spec, row, cells, slotOf, before)) : [];
    const faults = problem === '' ? spec.faults.flatMap((row) => this.#fault(row, cells, t, before)) : [];
    const rows = [...cells.values()];
    if (problem !== '') for (const { slot } of rows) this.quality[slot] = QUALITY.Bad;
    const driven = new Set(behaviors.map((row) => row.cell));
    const memory = problem === '' ? { behaviors, faults } : (before?.memory ?? { behaviors, faults });
    return { spec, problem, memory, cells, rows, undriven: rows.filter((cell) => !driven.has(cell)), behaviors, faults, every, dt: (every * this.#baseMs) / 1000, t };
  }

  #behavior(spec: SimulatedModule, behavior: Behavior, cells: ReadonlyMap<string, Cell>, slotOf: Wires['slotOf'], before: RunningModule | undefined): RunningBehavior[] {
    const type = behaviorType(behavior.type);
    const cell = cells.get(behavior.address);
    if (!type || !cell) return [];
    const kept = before?.memory.behaviors.find((row) => row.behavior.address === behavior.address && row.behavior.type === behavior.type);
    const params = new Params(type.params, behavior.params, { values: this.values, slotOf });
    const state = kept ? kept.state : type.start(params);
    if (!kept) restart(cell, startOf(behavior));
    const random: RandomStream = kept && before?.spec.seed === spec.seed ? kept.context.random : streamOf(spec.seed, spec.name, behavior.address);
    const sources = behaviorReferences(behavior).map(slotOf);
    return [{ behavior, cell, state, context: { dt: 0, t: 0, self: 0, random }, step: type.bind(params, state), sources }];
  }

  #fault(fault: SimulationFault, cells: ReadonlyMap<string, Cell>, t: number, before: RunningModule | undefined): RunningFault[] {
    const type = faultType(fault.type);
    const cell = cells.get(fault.address);
    if (!type || !cell) return [];
    const same = (row: SimulationFault): boolean =>
      row.name === fault.name && row.address === fault.address && row.type === fault.type && row.triggerMode === fault.triggerMode && row.triggerAfterMs === fault.triggerAfterMs;
    const kept = before?.memory.faults.find((row) => same(row.fault));
    const params = new Params(type.params, fault.params, { values: this.values, slotOf: () => NOWHERE });
    const fromT = kept?.fromT ?? t + (fault.triggerMode === 'Timed' ? fault.triggerAfterMs / 1000 : 0);
    const state = kept?.state ?? {};
    return [{ fault, cell, step: type.bind(params, state), state, fromT }];
  }

  /** One tick of the plant. @returns the modules that took part: the same list at each tick. */
  tick(nowMs: number): readonly string[] {
    this.#ticks += 1;
    this.#due.length = 0;
    this.#names.length = 0;
    for (const module of this.#running) {
      if (this.#ticks % module.every !== 0) continue;
      this.#due.push(module);
      this.#names.push(module.spec.name);
    }
    this.#coupling.spread();
    for (const module of this.#due) this.#compute(module, nowMs);
    for (const module of this.#due) for (const cell of module.rows) this.#show(cell, nowMs);
    return this.#names;
  }

  #compute(module: RunningModule, nowMs: number): void {
    module.t = Math.round((module.t + module.dt) * ROUND_T) / ROUND_T;
    for (const cell of module.undriven) {
      cell.own = cell.written;
      cell.nextText = cell.writtenText;
      begin(cell, nowMs);
    }
    for (const { cell, context, step, sources } of module.behaviors) {
      if (this.#coupling.isBlind(sources)) {
        // what it rests on is not known: it holds, and so does the time of its last value
        cell.next.value = cell.own;
        cell.next.quality = QUALITY.Bad;
        cell.next.atMs = this.atMs[cell.slot] as number;
        continue;
      }
      context.dt = module.dt;
      context.t = module.t;
      context.self = cell.own;
      const value = step(context);
      if (Number.isFinite(value)) cell.own = value;
      begin(cell, nowMs);
      if (cell.dataType === 'string') cell.nextText = String(cell.own);
    }
    for (const { cell, step, fromT } of module.faults) {
      if (module.t >= fromT) step(cell.next, module.t - fromT);
    }
  }

  #show(cell: Cell, nowMs: number): void {
    if (cell.forced !== undefined) return this.#showForced(cell, nowMs);
    const { next, slot } = cell;
    if (cell.dataType === 'string' && next.atMs === nowMs) cell.text = cell.nextText;
    if (Number.isFinite(next.value)) this.values[slot] = shownNumber(next.value, cell.dataType);
    this.quality[slot] = next.quality;
    this.atMs[slot] = next.atMs;
  }

  #showForced(cell: Cell, nowMs: number): void {
    if (typeof cell.forced === 'string') cell.text = cell.forced;
    else if (cell.forced !== undefined) this.values[cell.slot] = shownNumber(cell.forced, cell.dataType);
    this.quality[cell.slot] = QUALITY.Good;
    this.atMs[cell.slot] = nowMs;
  }

  /** A channel or internal channel: where its value stands, until the next configuration. */
  cell(module: string, address: string): Cell | undefined {
    return this.#modules.get(module)?.cells.get(address);
  }

  /** A write of control: shown from the next tick while no behaviour drives the channel. False: no such channel. */
  write(module: string, address: string, value: number | string): boolean {
    const cell = this.cell(module, address);
    if (!cell) return false;
    if (typeof value === 'string') cell.writtenText = value;
    else cell.written = value;
    return true;
  }

  /** Holds the channel at `value` until released (contract 3, Simulation); shown at once. */
  force(module: string, address: string, value: number | string, nowMs: number): boolean {
    const cell = this.cell(module, address);
    if (!cell) return false;
    cell.forced = value;
    this.#showForced(cell, nowMs);
    return true;
  }

  /** Ends the forcing of the addresses given, of all when there are none; returns those that were forced. */
  release(module: string, addresses: readonly string[]): string[] {
    const cells = this.#modules.get(module)?.rows ?? [];
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
    const cell = this.cell(module, address);
    if (!cell) return undefined;
    const { dataType, slot, forced } = cell;
    const [value = 0, atMs = 0] = [this.values[slot], this.atMs[slot]];
    const text = dataType === 'string' ? { text: cell.text } : {};
    return { value, ...text, dataType, quality: (this.quality[slot] ?? QUALITY.Bad) as QualityCode, atMs, forced: forced !== undefined };
  }

  /** Channels of devices that are not known now and on which this one rests, as `<module>/<channel>`; none of a forced one. */
  unknownOf(module: string, address: string): readonly string[] {
    const behavior = this.#modules.get(module)?.behaviors.find((row) => row.cell.address === address);
    return !behavior || behavior.cell.forced !== undefined ? [] : this.#coupling.unknownBehind(behavior);
  }
}

function startOf({ params }: Behavior): number | undefined {
  return params.initial === undefined ? undefined : readNumber(params.initial);
}

/** The sample of a tick, before its faults. */
function begin({ next, own }: Cell, nowMs: number): void {
  next.value = own;
  next.quality = QUALITY.Good;
  next.atMs = nowMs;
}
