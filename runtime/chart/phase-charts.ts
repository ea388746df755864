/**
 * The charts of a phase as they are executed (decisions 2.4 to 2.7): which one the state runs, when it has ended, what its
 * texts may ask for, the signals it raises.
 *
 * Invariants: a scan executes at most one chart that has steps, and the running chart once; a text is only executed with the
 * context that says whose it is, and leaves none behind.
 */
import { assert, inside } from '../vocabulary/assert.js';
import type { PhasePlan } from '../port.js';
import type { ExceptionChartName } from '../vocabulary/chart.js';
import type { Mode } from '../vocabulary/modes.js';
import { told, type Told } from '../vocabulary/told.js';
import { COMPLETIONS } from '../vocabulary/transitions.js';
import type { ChartOwner, ChartRun, Firing, ScanTimes } from './chart-run.js';
import type { CompiledPhase, CompiledStep, CompiledTransition, SubCondition } from './compile.js';
import type { FrameContext, FrameOwner, RequestBuiltin } from './frame.js';
import type { ChartHost } from './host.js';
import type { PhaseJudge } from './phase-judge.js';
import type { Phase } from './phase-memory.js';
import { CHART_OF, type PhaseReports } from './phase-reports.js';
import { type Any, Invalid, invalid, type Raw, StError } from './value.js';
import type { Wait } from './wait.js';
import type { Slots } from './functions.js';

/** State changes that one scan may bring: Running > Holding > Held > ... ends long before. */
const CHANGES_MAX = 8;

const FIRING: Readonly<Record<Mode, Firing>> = { Automatic: 'automatic', 'Semi-Automatic': 'stop-at-first', Manual: 'none' };

/** Signal conditions are evaluated as conditions: bad and unset operands are INVALID. */
const SIGNAL_CONTEXT: CompiledTransition = { index: -1, key: '', from: '', to: '', text: '', sources: [], targets: [], converge: false, condition: null, sites: [], operands: [] };

/** Who sends the requests of all phases to the gateway. */
export interface Requests {
  /** Registers a request and sends it; its id. */
  request(phase: string, wait: Wait, step: string, builtin: RequestBuiltin, args: readonly Raw[]): number;
  /** Nobody waits for it any more, and its answer is not taken. */
  forget(wait: Wait): void;
  /** Tells the gateway that what has not gone out by now shall not; what it answers is taken. */
  giveUp(wait: Wait): void;
}

export class PhaseCharts implements ChartOwner, FrameOwner {
  readonly plan: PhasePlan;
  readonly host: ChartHost;
  readonly compiled: CompiledPhase;
  readonly statementBudget: number;
  readonly #phase: Phase;
  readonly #reports: PhaseReports;
  readonly #judge: PhaseJudge;
  readonly #requests: Requests;

  constructor(phase: Phase, reports: PhaseReports, judge: PhaseJudge, requests: Requests) {
    this.plan = phase.plan;
    this.host = phase.host;
    this.compiled = phase.compiled;
    this.statementBudget = phase.settings.statementBudget;
    this.#phase = phase;
    this.#reports = reports;
    this.#judge = judge;
    this.#requests = requests;
    assert(phase.compiled.signals.length <= phase.plan.signals.length, 'a compiled signal stands at its place in the plan');
  }

  // -------------------------------------------------------------- one scan

  /**
   * Executes the chart of the state. A state entered by a command or a failure runs its chart in the same scan, so that
   * a hold drives the outputs at once; one entered by completion begins with the next scan.
   */
  execute(times: ScanTimes): void {
    const { memory } = this.#phase;
    let ran = false;
    for (let change = 0; change < CHANGES_MAX; change += 1) {
      const before = memory.state;
      const chart = CHART_OF[before];
      if (!chart) return;
      if (chart === 'running') {
        if (ran) return;
        this.#executeRunning(times);
      } else {
        this.#executeException(times);
      }
      const empty = chart !== 'running' && !this.compiled.charts.get(chart)?.steps.length;
      ran ||= !empty;
      if (memory.state === before) return;
    }
    assert(false, `a scan brings a phase to rest within ${CHANGES_MAX} changes of its state`);
  }

  #executeRunning(times: ScanTimes): void {
    const { memory, plan, name } = this.#phase;
    const { running } = memory;
    if (memory.state === 'Pausing' && !memory.enteredInScan && running.atSafePoint) {
      this.#phase.enter('Paused', 'Pause', undefined);
      return;
    }
    const { forced } = memory;
    memory.forced = -1;
    memory.runElapsedMs += times.plantMs;
    const stopped = running.scan(times, FIRING[memory.mode], forced);
    if (memory.state === 'Running') this.#raiseSignals();
    if (this.#judge.settleFaults()) return;
    if (plan.timeoutMs > 0 && memory.runElapsedMs > plan.timeoutMs) {
      this.#judge.fail(
        this.#judge.newFailure(
          'fail',
          'phase-timeout',
          `${name} has run longer than ${plan.timeoutMs / 1000} s`,
          '',
          '',
          told('phase-late', { phase: name, seconds: String(plan.timeoutMs / 1000) }),
        ),
      );
    } else if (running.complete) {
      this.#phase.enter('Complete', 'complete', undefined);
    } else if (stopped !== null) {
      memory.pausedAt = stopped;
      this.#phase.enter('Paused', 'Pause', 'semi-automatic-step');
    }
  }

  #executeException(times: ScanTimes): void {
    const { memory, settings } = this.#phase;
    const run = memory.exception;
    if (!run) return;
    if (run.chart.steps.length > 0) {
      memory.exceptionMs += times.plantMs;
      run.scan(times, 'automatic');
    }
    if (this.#judge.settleFaults()) return;
    if (run.complete) return this.#completeException(run);
    if (memory.exceptionMs > settings.exceptionChartTimeoutMs) {
      const message = `the ${run.chart.name} chart has not ended within ${settings.exceptionChartTimeoutMs} ms`;
      const as = told('chart-late', { chart: run.chart.name, ms: String(settings.exceptionChartTimeoutMs) });
      this.#judge.fail(this.#judge.newFailure('fail', 'exception-chart-timeout', message, run.activeSteps.join(', '), '', as));
    }
  }

  #completeException({ chart }: ChartRun): void {
    const { memory } = this.#phase;
    const next = COMPLETIONS[memory.state];
    if (!next) return;
    if (memory.incomplete) {
      if (memory.state === 'Holding') memory.holdIncomplete = true;
      this.#reports.alarm('High', `an action of the ${chart.name} chart failed`, told('chart-failed', { chart: chart.name }));
    }
    this.#phase.enter(next, 'complete', undefined);
  }

  /** The chart of an exception state begins; it warns anew. */
  startException(name: ExceptionChartName): void {
    const { memory } = this.#phase;
    memory.exception?.cancelWaits();
    memory.exception = this.#phase.newRun(name);
    memory.exceptionMs = 0;
    memory.incomplete = false;
    memory.frame.forgetWarnings();
  }

  // -------------------------------------------------------------- signals (decisions 2.7)

  #raiseSignals(): void {
    const { memory, plan } = this.#phase;
    const { signals } = this.compiled;
    for (let index = 0; index < signals.length; index += 1) {
      const test = signals[index];
      const { name } = inside(plan.signals, index, 'a compiled signal stands at its place in the plan');
      if (!test || memory.raised.has(name)) continue;
      memory.frame.context = { run: memory.running, step: 0, transition: SIGNAL_CONTEXT, sites: [], peek: true };
      try {
        if (test(memory.frame, memory.variables)) this.#raise(name);
      } catch (fault) {
        if (fault instanceof StError) this.fault(fault, `signal ${name}`, true);
        else if (!(fault instanceof Invalid)) throw fault;
      } finally {
        memory.frame.context = null;
      }
    }
  }

  /** A signal without a condition is raised at the end of the run. */
  raiseAtComplete(): void {
    const { memory, plan } = this.#phase;
    for (const [index, test] of this.compiled.signals.entries()) {
      const { name } = inside(plan.signals, index, 'a compiled signal stands at its place in the plan');
      if (!test && !memory.raised.has(name)) this.#raise(name);
    }
  }

  #raise(name: string): void {
    const { memory, plan } = this.#phase;
    memory.raised.add(name);
    memory.dirty = true;
    this.host.emit({ type: 'signal-raised', phase: plan.name, scope: plan.scope, signal: name, atMs: this.host.nowMs() });
  }

  // -------------------------------------------------------------- what a chart asks

  get variables(): Slots {
    return this.#phase.memory.variables;
  }

  get failuresHold(): boolean {
    return this.#judge.failuresHold;
  }

  get timersRun(): boolean {
    const { state } = this.#phase.memory;
    return state === 'Running' || state === 'Pausing';
  }

  uuid(): string {
    return this.host.uuid();
  }

  changed(): void {
    this.#phase.memory.dirty = true;
  }

  actionStarts(): void {
    this.#reports.report('', undefined);
  }

  runAction(run: ChartRun, step: number): number {
    const { memory } = this.#phase;
    const { frame } = memory;
    const { action } = inside(run.chart.steps, step, 'a step that runs is one of its chart');
    if (!action) return -1;
    const { temporaries, label } = inside(run.steps, step, 'a step that runs is one of its chart');
    this.#begin(run, step, null, action.sites, false);
    try {
      return action.run(frame, memory.variables, temporaries, label, this.statementBudget);
    } finally {
      frame.context = null;
    }
  }

  test(run: ChartRun, transition: CompiledTransition, part: SubCondition | null, peek: boolean): boolean {
    const { memory } = this.#phase;
    const test = part ? part.test : transition.condition;
    this.#begin(run, sourceOf(transition), transition, transition.sites, peek);
    try {
      return test ? test(memory.frame, memory.variables) : true;
    } finally {
      memory.frame.context = null;
    }
  }

  side(run: ChartRun, transition: CompiledTransition, part: SubCondition, which: 'left' | 'right'): Any {
    const { memory } = this.#phase;
    const side = part.sides?.[which];
    if (!side) throw invalid('no comparison');
    this.#begin(run, sourceOf(transition), transition, transition.sites, true);
    try {
      return side(memory.frame, memory.variables);
    } finally {
      memory.frame.context = null;
    }
  }

  #begin(run: ChartRun, step: number, transition: FrameContext['transition'], sites: FrameContext['sites'], peek: boolean): void {
    const { frame } = this.#phase.memory;
    assert(frame.context === null, 'one text of a phase is executed at a time');
    frame.context = { run, step, transition, sites, peek };
  }

  fault(error: StError, step: string, condition: boolean): void {
    this.#judge.chartFault(error, step, condition);
  }

  timedOut({ name, onTimeout }: CompiledStep): void {
    this.#judge.stepTimedOut(name, onTimeout);
  }

  cancel(wait: Wait): void {
    this.#requests.forget(wait);
    if (wait.prompt && !wait.answered) this.#reports.promptCancelled(wait.prompt);
  }

  poll(wait: Wait, times: ScanTimes): boolean {
    const ended = wait.advance(times.plantMs, times.realMs);
    if (ended) this.#requests.forget(wait);
    return ended;
  }

  // -------------------------------------------------------------- what a text asks

  request(wait: Wait, step: string, builtin: RequestBuiltin, args: readonly Raw[]): number {
    return this.#requests.request(this.#phase.name, wait, step, builtin, args);
  }

  markRead(name: string): boolean {
    const { memory } = this.#phase;
    if (memory.consumed.has(name)) return false;
    memory.consumed.add(name);
    memory.dirty = true;
    return true;
  }

  event(text: string, as: Told): void {
    this.#reports.event(text, as);
  }

  wrote(slot: number, address: string, step: string): void {
    this.#phase.memory.writes.set(slot, { address, step });
  }
}

function sourceOf({ sources }: CompiledTransition): number {
  return inside(sources, 0, 'a transition that is evaluated leaves a step');
}
