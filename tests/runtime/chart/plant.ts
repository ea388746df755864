/**
 * The wire and the clock of the chart tests: a unit whose tags live in a table and whose equipment answers commands as
 * the modules of the demo plant do. Plant time moves only when a test calls `scan`.
 */
import { readFileSync } from 'node:fs';
import type { ChartHost } from '../../../runtime/chart/host.js';
import { PhaseSet } from '../../../runtime/chart/phase-set.js';
import type { PhaseCheckpoint, PhasePlan, PhaseReport, RuntimeSettings, UnitOutbound } from '../../../runtime/port.js';
import type { Chart } from '../../../runtime/vocabulary/chart.js';
import type { DataType, Value } from '../../../runtime/vocabulary/data-types.js';
import type { Mode } from '../../../runtime/vocabulary/modes.js';
import type { QualityCode } from '../../../runtime/vocabulary/quality.js';
import type { Command } from '../../../runtime/vocabulary/states.js';
import { at } from '../../support/at.js';

export const SETTINGS: RuntimeSettings = {
  loopLimit: 10_000,
  statementBudget: 100_000,
  exceptionChartTimeoutMs: 300_000,
  retainIntervalMs: 1000,
  readbackTimeoutMs: 5000,
  ioLostHoldDelayMs: 10_000,
  resumeCancelsPause: false,
  orphanTimeoutMs: 0,
};

export const SCAN_MS = 100;

interface Tag {
  readonly address: string;
  readonly type: DataType;
  value: Value;
  quality: QualityCode;
  stale: boolean;
  writable: boolean;
  min: number;
  max: number;
  settled: { readonly settled: boolean; readonly rule?: string; readonly message?: string };
}

export class Plant implements ChartHost {
  readonly sent: UnitOutbound[] = [];
  readonly modes = new Map<string, Mode>();
  readonly raised = new Set<string>();
  readonly lost = new Set<string>();
  /** Equipment: runs after the charts of every scan, as the networks do. */
  readonly equipment: (() => void)[] = [];
  phases: PhaseSet;
  timeMs = 1_700_000_000_000;
  readonly #tags: Tag[] = [];
  readonly #byAddress = new Map<string, number>();
  #uuids = 0;
  #commands = 0;

  constructor(settings: Partial<RuntimeSettings> = {}) {
    this.phases = new PhaseSet(this, { ...SETTINGS, ...settings });
  }

  /** The worker dies and comes back; the equipment stays as it is. */
  restart(settings: Partial<RuntimeSettings> = {}): void {
    this.phases = new PhaseSet(this, { ...SETTINGS, ...settings });
  }

  tag(address: string, type: DataType, value: Value, limits: Partial<Tag> = {}): Tag {
    const tag: Tag = { address, type, value, quality: 0, stale: false, writable: true, min: -Infinity, max: Infinity, settled: { settled: true }, ...limits };
    this.#byAddress.set(address, this.#tags.push(tag) - 1);
    return tag;
  }

  get(address: string): Tag {
    return at(this.#tags, this.#byAddress.get(address) as number);
  }

  // ---- ChartHost
  slot(address: string): number {
    return this.#byAddress.get(address) ?? -1;
  }
  type(slot: number): DataType {
    return at(this.#tags, slot).type;
  }
  read(slot: number): Value {
    return at(this.#tags, slot).value;
  }
  quality(slot: number): QualityCode {
    return at(this.#tags, slot).quality;
  }
  stale(slot: number): boolean {
    return at(this.#tags, slot).stale;
  }
  mode(slot: number): Mode {
    return this.modes.get(at(at(this.#tags, slot).address.split('.'), 0)) ?? 'Automatic';
  }
  write(slot: number, value: Value): { readonly rule: string; readonly message: string } | null {
    const tag = at(this.#tags, slot);
    if (!tag.writable) return { rule: 'write-read-only', message: 'the tag is read-only' };
    if (typeof value === 'number' && (value < tag.min || value > tag.max)) return { rule: 'write-range', message: `${value} is out of range` };
    tag.value = value;
    return null;
  }
  writeSettled(slot: number) {
    return at(this.#tags, slot).settled;
  }
  ioLost(module: string): boolean {
    return this.lost.has(module);
  }
  signal(_scope: string, name: string): boolean {
    return this.raised.has(name);
  }
  emit(message: UnitOutbound): void {
    this.sent.push(message);
  }
  nowMs(): number {
    return this.timeMs;
  }
  uuid(): string {
    this.#uuids += 1;
    return `00000000-0000-4000-8000-${String(this.#uuids).padStart(12, '0')}`;
  }

  // ---- what a test does
  /** A new plan of the unit: the tags lie in this order; those it has anew are Good and false. */
  download(addresses: readonly string[]): void {
    const before = new Map(this.#tags.map((tag) => [tag.address, tag]));
    this.#tags.length = 0;
    this.#byAddress.clear();
    for (const address of addresses) {
      const known = before.get(address);
      if (known) this.#byAddress.set(address, this.#tags.push(known) - 1);
      else this.tag(address, 'BOOL', false);
    }
    this.phases.rebind();
  }

  scan(count = 1): void {
    for (let done = 0; done < count; done += 1) {
      this.timeMs += SCAN_MS;
      this.phases.scan(SCAN_MS);
      for (const step of this.equipment) step();
    }
  }

  command(phase: string, command: Command, failure?: { readonly class: 'hold' | 'fail'; readonly rule: string; readonly message: string }): number {
    this.#commands += 1;
    this.phases.command({ type: 'command', id: this.#commands, phase, command, ...(failure ? { failure } : {}) });
    return this.#commands;
  }

  /** Scans until the phase is in one of the states; false when it is not after `limit` scans. */
  until(phase: string, states: readonly string[], limit = 2000): boolean {
    for (let done = 0; done < limit; done += 1) {
      if (states.includes(this.state(phase))) return true;
      this.scan();
    }
    return states.includes(this.state(phase));
  }

  view(phase: string): PhaseReport & { readonly invalid: string } {
    return this.phases.inspect(phase) as PhaseReport & { readonly invalid: string };
  }

  state(phase: string): string {
    return this.view(phase).state;
  }

  output(phase: string, name: string): string | undefined {
    return this.view(phase).outputs.find((entry) => entry.name === name)?.value;
  }

  all<T extends UnitOutbound['type']>(type: T): Extract<UnitOutbound, { readonly type: T }>[] {
    return this.sent.filter((message) => message.type === type) as Extract<UnitOutbound, { readonly type: T }>[];
  }

  result(id: number): Extract<UnitOutbound, { readonly type: 'command-result' }> | undefined {
    return this.all('command-result').find((message) => message.id === id);
  }

  reports(phase: string): PhaseReport[] {
    return this.all('phase').filter((message) => message.phase === phase);
  }

  // ---- equipment
  valve(name: string): void {
    const cmd = this.tag(`${name}.cmd`, 'BOOL', false);
    const state = this.tag(`${name}.state`, 'STRING', 'Closed', { writable: false });
    const closed = this.tag(`${name}.closed`, 'BOOL', true, { writable: false });
    this.equipment.push(() => {
      if (cmd.value) state.value = state.value === 'Open' || state.value === 'Opening' ? 'Open' : 'Opening';
      else state.value = state.value === 'Closed' || state.value === 'Closing' ? 'Closed' : 'Closing';
      closed.value = state.value === 'Closed';
    });
  }

  motor(name: string): void {
    const cmd = this.tag(`${name}.cmd`, 'BOOL', false);
    const state = this.tag(`${name}.state`, 'STRING', 'Stopped', { writable: false });
    this.equipment.push(() => {
      if (cmd.value) state.value = state.value === 'Running' || state.value === 'Starting' ? 'Running' : 'Starting';
      else state.value = 'Stopped';
    });
  }

  totalizer(name: string, valve: string): void {
    const reset = this.tag(`${name}.reset`, 'BOOL', false);
    const total = this.tag(`${name}.total`, 'REAL', 3.5, { writable: false });
    this.equipment.push(() => {
      if (reset.value) total.value = 0;
      else if (this.get(`${valve}.state`).value === 'Open') total.value = Number(total.value) + 0.25;
    });
  }

  level(name: string, value: number, flows: () => number): void {
    const pv = this.tag(`${name}.pv`, 'REAL', value, { writable: false });
    this.equipment.push(() => {
      pv.value = Math.max(0, Number(pv.value) + flows());
    });
  }

  temperature(name: string): void {
    const pv = this.tag(`${name}.pv`, 'REAL', 22, { writable: false });
    const sp = this.tag(`${name}.sp`, 'REAL', 22, { min: 0, max: 120 });
    const rate = this.tag(`${name}.rate`, 'REAL', 1);
    const enable = this.tag(`${name}.enable`, 'BOOL', false);
    this.equipment.push(() => {
      if (!enable.value) return;
      const move = Math.max(0.2, Number(rate.value) / 10);
      const gap = Number(sp.value) - Number(pv.value);
      pv.value = Number(pv.value) + Math.sign(gap) * Math.min(Math.abs(gap), move);
    });
  }
}

export function basicPlan(name: string, running: Chart, rest: Partial<PhasePlan> = {}): PhasePlan {
  return {
    name,
    scope: 'batch-1',
    running,
    charts: {},
    parameters: [],
    outputs: [],
    variables: [],
    roles: {},
    timeoutMs: 0,
    restartStep: '',
    edgeLocalHold: true,
    mode: 'Automatic',
    signals: [],
    knownSignals: [],
    ioModules: [],
    ...rest,
  };
}

/** A chart of one step that executes the text, and ends. */
export function once(actionST: string): Chart {
  return { steps: [{ name: 'only', initial: true, actionST }], transitions: [] };
}

interface TemplateSpec extends Chart {
  readonly parameters?: readonly { readonly name: string; readonly type: DataType; readonly defaultValue?: string }[];
  readonly outputs?: readonly { readonly name: string; readonly type: DataType }[];
  readonly variables?: readonly { readonly name: string; readonly type: DataType }[];
  readonly roles?: readonly { readonly name: string }[];
  readonly charts?: PhasePlan['charts'];
  readonly timeoutSeconds?: number;
}

const DEMO = new URL('../../../demo/60-phase-templates.json', import.meta.url);
const TEMPLATES = new Map(
  (JSON.parse(readFileSync(DEMO, 'utf8')) as { readonly metadata: { readonly name: string }; readonly spec: TemplateSpec }[]).map((item) => [item.metadata.name, item.spec]),
);

export function templateNames(): string[] {
  return [...TEMPLATES.keys()];
}

/** A phase of the demo plant; its roles are bound to modules `<role>-1`. */
export function demoPlan(template: string, values: Readonly<Record<string, string>> = {}, rest: Partial<PhasePlan> = {}): PhasePlan {
  const spec = TEMPLATES.get(template) as TemplateSpec;
  const { steps = [], transitions = [], divergences = [] } = spec;
  return basicPlan(
    template,
    { steps, transitions, divergences },
    {
      charts: spec.charts ?? {},
      parameters: (spec.parameters ?? []).map(({ name, type, defaultValue }) => ({ name, type, value: values[name] ?? defaultValue ?? '' })),
      outputs: spec.outputs ?? [],
      variables: spec.variables ?? [],
      roles: Object.fromEntries((spec.roles ?? []).map(({ name }) => [name, `${name}-1`])),
      timeoutMs: (spec.timeoutSeconds ?? 0) * 1000,
      knownSignals: ['reactorReady', 'premixDone'],
      ...rest,
    },
  );
}

/** The equipment a template of the demo plant drives. */
export function demoPlant(template: string): Plant {
  const plant = new Plant();
  for (const valve of ['inlet-1', 'water-1', 'outlet-1']) plant.valve(valve);
  for (const motor of ['agitator-1', 'pump-1']) plant.motor(motor);
  plant.totalizer('flow-1', template === 'cip' ? 'water-1' : 'inlet-1');
  plant.temperature('temp-1');
  const open = (valve: string) => plant.get(`${valve}.state`).value === 'Open';
  plant.level('level-1', 40, () => (open('inlet-1') ? 0.5 : 0) - (open('outlet-1') && (template !== 'transfer-out' || plant.get('pump-1.state').value === 'Running') ? 1 : 0));
  return plant;
}

export const DEMO_VALUES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  charge: { amount: '10' },
  mix: { duration: '2' },
  'transfer-out': { readySignal: 'reactorReady' },
  'transfer-in': { doneSignal: 'premixDone' },
  heat: { target: '60' },
  react: { target: '40', holdTime: '2' },
  cool: { target: '20' },
};

/** What operators, laboratory and neighbours do: every answer and signal the demo templates wait for. */
export function assist(plant: Plant, phase: string): void {
  const { prompt } = plant.view(phase);
  if (prompt) plant.phases.answer(phase, prompt.id, prompt.kind === 'choice' ? 'Accept' : prompt.resultKey ? 450 : 9.5);
  if (plant.view(phase).sfc.activeSteps.some((step) => step === 'receive' || step === 'waitReady') && plant.raised.size === 0) {
    plant.raised.add('reactorReady').add('premixDone');
    plant.phases.signalsChanged();
  }
}

/** The checkpoint as it comes back from disk. */
export function reloaded(checkpoint: PhaseCheckpoint): PhaseCheckpoint {
  return JSON.parse(JSON.stringify(checkpoint)) as PhaseCheckpoint;
}
