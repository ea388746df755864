/**
 * One chart being executed: once per scan transitions by index, then actions in step order (decisions 2.4). The run
 * knows nothing of ISA-88 states; its owner decides when it is scanned and what a failure leads to.
 * Invariant: a step is left only by a transition, by the owner's restart rule, or when the run itself is dropped.
 */
import type { ChartRecord, StepRecord, TransitionReport } from '../port.js';
import { assert, inside } from '../vocabulary/assert.js';
import { shownComparison } from '../language/operands.js';
import type { CompiledChart, CompiledStep, CompiledTransition, SubCondition } from './compile.js';
import type { Checksum } from '../vocabulary/checksum.js';
import { type ChartChange, judgeChange } from '../vocabulary/steering.js';
import { asIs, asList, type Copies, copyIn, copyOut, type Fate, type KeptOf, keptRows } from '../vocabulary/kept.js';
import { type ChartState, restoreStep, saveStep, sumStep } from './snapshot.js';
import { readStep, recordOf } from './step-record.js';
import { idleStep, type StepRun } from './step-run.js';
import { type Any, Invalid, StError } from './value.js';
import type { Wait } from './wait.js';
import type { Slots } from './functions.js';

/** Fired transitions that a record keeps; a chart may loop for days. */
export const FIRED_MAX = 200;

export interface ScanTimes {
  /** Plant ms of this scan. */
  readonly plantMs: number;
  /** Monotonic ms since the last scan, whatever the time scale: counts for steps that wait for an answer. */
  readonly realMs: number;
}

/** How a scan treats transitions that are true (decisions 3.7). */
export type Firing = 'automatic' | 'stop-at-first' | 'none';

export interface ChartOwner {
  readonly variables: Slots;
  readonly statementBudget: number;
  /** False in exception charts, whose failed actions count as finished (decisions 3.5). */
  readonly failuresHold: boolean;
  /** Step timers run (Running and Pausing only). */
  readonly timersRun: boolean;
  uuid(): string;
  changed(): void;
  /** An action with an effect is about to run: its start is on record before it touches the plant (decisions 2.6). */
  actionStarts(): void;
  runAction(run: ChartRun, step: number): number;
  /** Evaluates with the source step as context; `peek` starts nothing. */
  test(run: ChartRun, transition: CompiledTransition, part: SubCondition | null, peek: boolean): boolean;
  side(run: ChartRun, transition: CompiledTransition, part: SubCondition, which: 'left' | 'right'): Any;
  fault(error: StError, step: string, condition: boolean): void;
  cancel(wait: Wait): void;
  timedOut(step: CompiledStep): void;
  /** Advances the waits of a step; true once the answer is there. */
  poll(wait: Wait, times: ScanTimes): boolean;
}

/** What a chart carries from scan to scan. */
interface ChartMemory {
  /** One for each step of the chart, at its place. */
  steps: StepRun[];
  completed: string[];
  fired: string[];
  scanCount: number;
  started: boolean;
}

const KEPT = {
  steps: 'kept', // the active ones; what becomes of their fields stands in `step-record.ts`
  completed: 'kept',
  fired: 'kept',
  scanCount: 'kept',
  started: 'derived', // a chart that was scanned has begun
} as const satisfies Record<keyof ChartMemory, Fate>;

const COPIES: Copies<ChartMemory, ChartState> = {
  steps: { save: (steps) => steps.map(saveStep), load: (steps) => steps.map(restoreStep) },
  completed: asList(),
  fired: asList(),
  scanCount: asIs(),
  started: asIs(),
};

type RecordDraft = { -readonly [K in keyof ChartRecord]: ChartRecord[K] };

/** `read` tells the steps whose outcome is unknown. */
interface RecordRow {
  readonly write: (record: RecordDraft, run: ChartRun) => void;
  readonly read: (saved: ChartRecord, run: ChartRun) => readonly string[];
}

export class ChartRun {
  readonly chart: CompiledChart;
  readonly #owner: ChartOwner;
  readonly #memory: ChartMemory;

  constructor(chart: CompiledChart, owner: ChartOwner) {
    this.chart = chart;
    this.#owner = owner;
    this.#memory = { steps: chart.steps.map(() => idleStep()), completed: [], fired: [], scanCount: 0, started: false };
  }

  get steps(): readonly StepRun[] {
    return this.#memory.steps;
  }

  get scanCount(): number {
    return this.#memory.scanCount;
  }

  get completed(): readonly string[] {
    return this.#memory.completed;
  }

  get fired(): readonly string[] {
    return this.#memory.fired;
  }

  get activeSteps(): string[] {
    return this.chart.steps.filter((_, index) => this.#at(index).active).map((step) => step.name);
  }

  #at(index: number): StepRun {
    return inside(this.#memory.steps, index, 'a step of a chart has its run');
  }

  #compiled(index: number): CompiledStep {
    return inside(this.chart.steps, index, 'a run of a step has its chart');
  }

  #transition(index: number): CompiledTransition {
    return inside(this.chart.transitions, index, 'a transition that fires is one of the chart');
  }

  /** Key of the transition that Semi-Automatic mode stopped at in this scan. */
  scan(times: ScanTimes, firing: Firing, forced = -1): string | null {
    this.#memory.scanCount += 1;
    let stopped: string | null = null;
    if (!this.#memory.started) {
      this.#memory.started = true;
      for (const step of this.chart.initial) this.#activate(step);
    } else {
      stopped = this.#transitions(firing, forced);
    }
    for (let index = 0; index < this.steps.length; index += 1) {
      if (this.#at(index).active) this.#step(index, times);
    }
    return stopped;
  }

  // -------------------------------------------------------------- transitions

  #transitions(firing: Firing, forced: number): string | null {
    if (forced >= 0) this.#fire(this.#transition(forced));
    if (firing === 'none') return null;
    for (const transition of this.chart.transitions) {
      if (!this.#enabled(transition) || !this.#isTrue(transition)) continue;
      if (firing === 'stop-at-first') return transition.key;
      this.#fire(transition);
    }
    return null;
  }

  /** Sources active since an earlier scan; behind a converge, and without condition, all of them finished. */
  #enabled(transition: CompiledTransition): boolean {
    for (const source of transition.sources) {
      const step = this.#at(source);
      if (!step.active || step.activatedScan >= this.#memory.scanCount) return false;
      if ((transition.converge || !transition.condition) && !this.#finished(source)) return false;
    }
    return transition.sources.length > 0;
  }

  #isTrue(transition: CompiledTransition): boolean {
    if (!transition.condition) return true;
    try {
      return this.#owner.test(this, transition, null, false);
    } catch (fault) {
      if (fault instanceof Invalid) return false;
      if (!(fault instanceof StError)) throw fault;
      this.#owner.fault(fault, transition.from, true);
      return false;
    }
  }

  #fire(transition: CompiledTransition): void {
    if (!transition.sources.every((source) => this.#at(source).active)) return;
    for (const source of transition.sources) this.#leave(source);
    for (const target of transition.targets) this.#activate(target);
    this.#memory.fired.push(transition.key);
    if (this.#memory.fired.length > FIRED_MAX) this.#memory.fired.shift();
    this.#owner.changed();
  }

  #leave(index: number): void {
    const step = this.#at(index);
    step.active = false;
    this.#dropWaits(step);
    const { name } = this.#compiled(index);
    if (!this.#memory.completed.includes(name)) this.#memory.completed.push(name);
  }

  #dropWaits(step: StepRun): void {
    if (step.wait) this.#owner.cancel(step.wait);
    step.wait = null;
    for (const kept of step.kept.values()) if ('wait' in kept) this.#owner.cancel(kept.wait);
    step.kept.clear();
  }

  #activate(index: number): void {
    const compiled = this.#compiled(index);
    if (this.#at(index).active) this.#dropWaits(this.#at(index));
    const step = idleStep();
    step.active = true;
    step.activation = this.#owner.uuid();
    step.activatedScan = this.#memory.scanCount;
    if (!compiled.action) step.actionState = 'finished';
    this.#memory.steps[index] = step;
    this.#unset(compiled);
    this.#owner.changed();
  }

  #unset(compiled: CompiledStep): void {
    for (const slot of compiled.unsets) this.#owner.variables[slot] = undefined;
  }

  // -------------------------------------------------------------- actions

  #step(index: number, times: ScanTimes): void {
    const step = this.#at(index);
    if (step.activatedScan < this.#memory.scanCount) {
      step.elapsedMs += times.plantMs;
      this.#timeout(index, times);
    }
    for (const kept of step.kept.values()) if ('wait' in kept) this.#owner.poll(kept.wait, times);
    const compiled = this.#compiled(index);
    if (!compiled.action) return;
    if (compiled.cyclic) {
      if (step.actionState !== 'failed') this.#run(index);
    } else if (step.actionState === 'pending') {
      this.#run(index);
    } else if (step.actionState === 'suspended' && step.wait && this.#owner.poll(step.wait, times)) {
      this.#run(index);
    }
  }

  #timeout(index: number, times: ScanTimes): void {
    const step = this.#at(index);
    const compiled = this.#compiled(index);
    if (compiled.timeoutMs <= 0 || !this.#owner.timersRun) return;
    step.timerMs += step.actionState === 'suspended' && step.wait?.countsReal ? times.realMs : times.plantMs;
    if (step.timedOut || step.timerMs < compiled.timeoutMs) return;
    step.timedOut = true;
    this.#owner.timedOut(compiled);
  }

  #run(index: number): void {
    const step = this.#at(index);
    const { action, cyclic } = this.#compiled(index);
    const before = step.actionState;
    if (action?.hasEffect && !cyclic) {
      step.actionState = 'running';
      this.#owner.actionStarts();
    }
    try {
      const label = this.#owner.runAction(this, index);
      if (label < 0) {
        step.actionState = 'finished';
        step.wait = null;
        step.temporaries = [];
        step.label = 0;
      } else {
        step.actionState = 'suspended';
        step.label = label;
      }
    } catch (fault) {
      if (!(fault instanceof StError)) throw fault;
      this.#fail(index);
      this.#owner.fault(fault, this.#compiled(index).name, false);
    }
    if (!cyclic || step.actionState !== before) this.#owner.changed();
  }

  #fail(index: number): void {
    const step = this.#at(index);
    if (step.wait) this.#owner.cancel(step.wait);
    step.wait = null;
    step.temporaries = [];
    step.label = 0;
    step.actionState = 'failed';
  }

  #finished(index: number): boolean {
    const { actionState } = this.#at(index);
    return actionState === 'finished' || (actionState === 'failed' && !this.#owner.failuresHold);
  }

  // -------------------------------------------------------------- what the owner asks

  /** Every active step is finished and nothing leads on from it (decisions 2.4, rule 4). */
  get complete(): boolean {
    if (this.chart.steps.length === 0) return true;
    if (!this.#memory.started) return false;
    return this.steps.every((step, index) => {
      if (!step.active) return true;
      const { hasExit, endGroup } = this.#compiled(index);
      if (hasExit || !this.#finished(index)) return false;
      return endGroup === null || endGroup.every((other) => this.#at(other).active && this.#finished(other));
    });
  }

  /** Every active step allows Paused and is finished or suspended (decisions 3.1, Safe point). */
  get atSafePoint(): boolean {
    return this.steps.every((step, index) => {
      if (!step.active) return true;
      return this.#compiled(index).pauseAllowed && step.actionState !== 'pending' && step.actionState !== 'running';
    });
  }

  transitionIndex(key: string): number {
    return this.chart.transitions.findIndex((transition) => transition.key === key);
  }

  /** On entering Running from Restarting (decisions 2.4, last but one paragraph; 2.5). */
  resumeAfterRestart(restartStep: string): void {
    const target = restartStep === '' || !this.#memory.started ? -1 : this.chart.steps.findIndex((step) => step.name.toLowerCase() === restartStep.toLowerCase());
    if (target >= 0) {
      for (const [index, step] of this.steps.entries()) if (step.active) this.#leave(index);
      this.#activate(target);
      this.#enterNextScan(target);
      return;
    }
    for (const [index, step] of this.steps.entries()) {
      if (!step.active) continue;
      step.timerMs = 0;
      step.timedOut = false;
      for (const [key, kept] of step.kept) if ('wait' in kept && kept.wait.isWithdrawn) step.kept.delete(key);
      if (this.#compiled(index).rerunOnRestart || step.actionState === 'failed' || step.wait?.isWithdrawn) this.#rerun(index);
    }
  }

  #rerun(index: number): void {
    const step = this.#at(index);
    const compiled = this.#compiled(index);
    if (step.wait) this.#owner.cancel(step.wait);
    step.wait = null;
    step.label = 0;
    step.temporaries = [];
    step.actionState = compiled.action ? 'pending' : 'finished';
    // As at an activation: the action runs before a transition may leave the step.
    this.#enterNextScan(index);
    this.#unset(compiled);
    this.#owner.changed();
  }

  /**
   * Moves by hand, between two scans (ADR 0007); '' or why not. As after any activation the action of a step that is entered
   * runs before a transition may leave it.
   */
  steer(change: ChartChange): string {
    if (!this.#memory.started) return 'the chart has not begun';
    const refusal = judgeChange(change, {
      steps: this.chart.steps.map((step) => step.name),
      active: this.activeSteps,
      sourcesOf: (key) => this.chart.transitions[this.transitionIndex(key)]?.sources.map((source) => this.#compiled(source).name),
    });
    if (refusal) return refusal.message;
    if (change.change === 'force') {
      const transition = this.#transition(this.transitionIndex(change.transition));
      this.#fire(transition);
      for (const target of transition.targets) this.#enterNextScan(target);
      return '';
    }
    const indexOf = (name: string): number => this.chart.steps.findIndex((step) => step.name === name);
    for (const step of change.change === 'activate' ? change.leave : [change.step]) this.#leave(indexOf(step));
    if (change.change === 'activate') {
      this.#activate(indexOf(change.step));
      this.#enterNextScan(indexOf(change.step));
    }
    return '';
  }

  #enterNextScan(index: number): void {
    this.#at(index).activatedScan = this.#memory.scanCount + 1;
  }

  cancelWaits(): void {
    for (const step of this.steps) this.#dropWaits(step);
  }

  /** Every open wait, oldest step first. */
  *waits(): Generator<Wait> {
    for (const step of this.steps) {
      if (!step.active) continue;
      if (step.wait) yield step.wait;
      for (const kept of step.kept.values()) if ('wait' in kept) yield kept.wait;
    }
  }

  stepTime(index: number): number {
    return this.#at(index).elapsedMs;
  }

  stepActive(index: number): boolean {
    return this.#at(index).active;
  }

  // -------------------------------------------------------------- reports and records

  /** Transitions out of active steps with their present results (decisions 2.4, `sfcStatus`). */
  reports(): TransitionReport[] {
    return this.chart.transitions.filter((row) => row.sources.some((source) => this.#at(source).active)).map((row) => this.#report(row));
  }

  /** What keeps the first way on from a step from being taken, with its values: `READ('level.pv') >= 25 (2.4 >= 25)`; '' where there is none. */
  waitsFor(step: string): string {
    const way = this.chart.transitions.find(({ sources }) => sources.some((source) => this.#compiled(source).name === step));
    if (!way) return '';
    const { conditionST, result, reason = '', subConditions } = this.#report(way);
    const unmet = subConditions.find(({ met }) => !met);
    const said = unmet?.expression ?? conditionST.trim();
    const now = unmet?.now ?? (result === 'TRUE' || result === 'FALSE' ? '' : reason);
    if (said === '') return reason;
    return now === '' ? said : `${said} (${now})`;
  }

  #report(transition: CompiledTransition): TransitionReport {
    const { index, from, to, text } = transition;
    const ready = transition.sources.every((source) => this.#at(source).active && (!transition.converge || this.#finished(source)));
    const common = { index, fromStep: from, toStep: to, conditionST: text };
    if (!transition.condition) {
      const met = ready && transition.sources.every((source) => this.#finished(source));
      return { ...common, evaluated: ready, met, result: met ? 'TRUE' : 'FALSE', ...(met ? {} : { reason: 'an action has not finished' }), subConditions: [] };
    }
    const whole = this.#judge(() => this.#owner.test(this, transition, null, true));
    const evaluated = ready && (whole.result === 'TRUE' || whole.result === 'FALSE');
    return {
      ...common,
      evaluated,
      met: evaluated && whole.result === 'TRUE',
      result: whole.result,
      ...(whole.reason ? { reason: whole.reason } : ready ? {} : { reason: 'the branches have not finished' }),
      subConditions: transition.operands.map((part) => this.#subCondition(transition, part)),
    };
  }

  #subCondition(transition: CompiledTransition, part: SubCondition): TransitionReport['subConditions'][number] {
    const met = this.#judge(() => this.#owner.test(this, transition, part, true)).result === 'TRUE';
    const { sides } = part;
    if (!sides) return { expression: part.text, met };
    try {
      const left = this.#owner.side(this, transition, part, 'left');
      const right = this.#owner.side(this, transition, part, 'right');
      return { expression: part.text, met, now: shownComparison(left, sides.operator, right) };
    } catch (fault) {
      if (fault instanceof Invalid || fault instanceof StError) return { expression: part.text, met };
      throw fault;
    }
  }

  #judge(test: () => boolean): { readonly result: TransitionReport['result']; readonly reason?: string } {
    try {
      return { result: test() ? 'TRUE' : 'FALSE' };
    } catch (fault) {
      if (fault instanceof Invalid) return { result: 'INVALID', reason: fault.message };
      if (fault instanceof StError) return { result: 'ERROR', reason: fault.message };
      throw fault;
    }
  }

  // -------------------------------------------------------------- record and replay

  /** In the order in which the record has always been written. */
  static readonly #RECORD: { readonly [K in KeptOf<typeof KEPT>]: RecordRow } = {
    steps: {
      write: (record, run) => {
        record.steps = run.steps.flatMap((step, index) => (step.active ? [recordOf(step, run.#compiled(index))] : []));
      },
      read: (saved, run) => saved.steps.filter((step) => !run.#readStep(step, saved.scanCount)).map(({ step }) => step),
    },
    completed: {
      write: (record, run) => {
        record.completedSteps = [...run.completed];
      },
      read: (saved, run) => {
        run.#memory.completed = [...saved.completedSteps];
        return [];
      },
    },
    fired: {
      write: (record, run) => {
        record.firedTransitions = [...run.fired];
      },
      read: (saved, run) => {
        run.#memory.fired = [...saved.firedTransitions];
        return [];
      },
    },
    scanCount: {
      write: (record, run) => {
        record.scanCount = run.scanCount;
      },
      read: (saved, run) => {
        run.#memory.scanCount = saved.scanCount;
        run.#memory.started = saved.scanCount > 0;
        return [];
      },
    },
  };

  static readonly #ROWS = keptRows(KEPT, ChartRun.#RECORD);

  record(): ChartRecord {
    const record = { chart: this.chart.name, hash: this.chart.hash } as RecordDraft;
    for (const { write } of ChartRun.#ROWS) write(record, this);
    record.complete = this.complete;
    return record;
  }

  /** Rebuilds the run from its record; names of steps whose outcome is unknown (decisions 2.6) are returned. */
  restore(record: ChartRecord): readonly string[] {
    return ChartRun.#ROWS.flatMap(({ read }) => read(record, this));
  }

  /** False when nobody knows what the step did; a step that the chart does not have is passed over. */
  #readStep(saved: StepRecord, scanCount: number): boolean {
    const index = this.chart.steps.findIndex(({ name }) => name === saved.step);
    if (index < 0) return true;
    const { step, isCallLost } = readStep(saved, this.#compiled(index));
    // An action that has not begun runs before a transition leaves its step, as at the activation (decisions 2.4).
    if (step.actionState === 'pending') step.activatedScan = scanCount + 1;
    this.#memory.steps[index] = step;
    const isLost = step.actionState === 'running' || (step.actionState === 'suspended' && (!step.wait || step.wait.inFlight));
    if (isLost) this.#fail(index);
    return !isLost && !isCallLost;
  }

  /** All of it, for a replay; `record` is for restarts. */
  snapshot(): ChartState {
    return { name: this.chart.name, ...copyOut(COPIES, this.#memory) };
  }

  resume(saved: ChartState): void {
    assert(saved.steps.length === this.chart.steps.length, 'a run goes on from a snapshot of the same chart');
    copyIn(COPIES, this.#memory, saved, undefined);
  }

  /** Adds where the chart stands. */
  sum(checksum: Checksum): void {
    checksum.number(this.#memory.scanCount);
    for (const step of this.steps) sumStep(step, checksum);
  }
}
