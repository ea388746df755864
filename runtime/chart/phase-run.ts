/**
 * One phase: the ISA-88 state machine around its charts (decisions 2.4 to 2.6, 3.1 to 3.8). A scan takes what has arrived
 * (commands, failures, answers), judges it (`phase-judge.ts`), executes at most one chart on its own account
 * (`phase-charts.ts`), and says what has changed (`phase-reports.ts`). What it carries from scan to scan stands in
 * `phase-memory.ts`.
 */
import { told } from '../vocabulary/told.js';
import { parseDecimal, parseValueText } from '../language/value-text.js';
import type { Failure, PhaseCheckpoint, PhasePlan, PhaseReport, PromptWait, RuntimeSettings } from '../port.js';
import { assert } from '../vocabulary/assert.js';
import type { ChartName } from '../vocabulary/chart.js';
import type { Checksum } from '../vocabulary/checksum.js';
import type { Mode } from '../vocabulary/modes.js';
import type { State } from '../vocabulary/states.js';
import { type ChartChange, STEERABLE } from '../vocabulary/steering.js';
import { isFinal, RECOVERIES } from '../vocabulary/transitions.js';
import { ChartRun, type ScanTimes } from './chart-run.js';
import type { CompiledPhase } from './compile.js';
import { PhaseFrame } from './frame.js';
import type { Slots } from './functions.js';
import type { ChartHost } from './host.js';
import { PhaseCharts, type Requests } from './phase-charts.js';
import { PhaseJudge } from './phase-judge.js';
import { type Phase, type PhaseMemory, resume, snapshotOf, type Unusable } from './phase-memory.js';
import { readBack } from './phase-record.js';
import { CHART_OF, type CommandMessage, PhaseReports } from './phase-reports.js';
import type { PhaseState } from './snapshot.js';
import { fromValue, zeroValue } from './value.js';
import type { Wait } from './wait.js';

/** What phases of one unit share. */
export interface PhaseContext extends Requests {
  readonly host: ChartHost;
  readonly settings: RuntimeSettings;
}

export class PhaseRun implements Phase {
  readonly plan: PhasePlan;
  readonly compiled: CompiledPhase;
  readonly host: ChartHost;
  readonly settings: RuntimeSettings;
  readonly unusable: Unusable | null;
  readonly memory: PhaseMemory;
  readonly #requests: Requests;
  readonly #reports: PhaseReports;
  readonly #judge: PhaseJudge;
  readonly #charts: PhaseCharts;

  /** `invalid`: why the charts of the plan could not be compiled. */
  constructor(plan: PhasePlan, compiled: CompiledPhase, context: PhaseContext, invalid = '') {
    assert(
      compiled.variables.every(({ slot }, at) => slot === at),
      'a variable lies at its slot',
    );
    this.plan = plan;
    this.compiled = compiled;
    this.host = context.host;
    this.settings = context.settings;
    this.#requests = context;
    const { variables, fault } = startValues(plan, compiled);
    this.unusable = invalid !== '' ? { rule: 'chart-invalid', text: invalid } : fault !== '' ? { rule: 'formula-out-of-range', text: fault } : null;
    this.#reports = new PhaseReports(this);
    this.#judge = new PhaseJudge(this, this.#reports);
    this.#charts = new PhaseCharts(this, this.#reports, this.#judge, context);
    this.memory = {
      state: 'Idle',
      previous: 'Idle',
      mode: plan.mode,
      variables,
      frame: new PhaseFrame(this.#charts),
      running: this.newRun('running'),
      exception: null,
      exceptionMs: 0,
      incomplete: false,
      runCount: 0,
      runElapsedMs: 0,
      failure: null,
      holdIncomplete: false,
      pausedAt: '',
      forced: -1,
      returnTo: 'Aborted',
      raised: new Set(),
      consumed: new Set(),
      pending: [],
      faults: [],
      stepCommands: [],
      writes: new Map(),
      dirty: false,
      enteredInScan: false,
    };
    if (plan.checkpoint) this.#recover(plan.checkpoint);
  }

  get name(): string {
    return this.plan.name;
  }

  get state(): State {
    return this.memory.state;
  }

  newRun(name: ChartName, isEmpty = false): ChartRun {
    return new ChartRun((isEmpty ? undefined : this.compiled.charts.get(name)) ?? EMPTY_CHART, this.#charts);
  }

  // -------------------------------------------------------------- what arrives between scans

  command(message: CommandMessage): void {
    this.#judge.command(message);
  }

  setMode(mode: Mode): void {
    if (mode === this.memory.mode) return;
    this.memory.mode = mode;
    this.#reports.report('', undefined);
  }

  /**
   * Stored in the record before it is acknowledged (decisions 2.6); false when no such wait is open or the answer does
   * not fit it. The gateway has judged the answer before; this is the last lock (contract 3, Prompt: fail-closed).
   */
  answer(waitId: string, value: number | string): boolean {
    for (const wait of this.waits()) {
      if (wait.prompt?.id !== waitId || wait.answered) continue;
      const accepted = acceptedAnswer(wait.prompt, value);
      if (accepted === null) return false;
      wait.answer(accepted);
      this.#reports.report('', undefined);
      return true;
    }
    return false;
  }

  /** A person moves the chart (ADR 0007). The gateway has judged it before; what does not fit now changes nothing, and is an event. */
  steer(change: ChartChange): void {
    const { mode, state, running } = this.memory;
    const refusal = mode !== 'Manual' ? `the phase is in ${mode}` : !STEERABLE.includes(state) ? `the phase is ${state}` : running.steer(change);
    if (refusal !== '') return this.#reports.event(`active-step change refused: ${refusal}`);
    // What Semi-Automatic has stopped before is not where the chart stands now.
    this.memory.pausedAt = '';
    this.#reports.report('', undefined);
  }

  /** A request of this phase has its result. */
  requestEnded(): void {
    this.memory.dirty = true;
  }

  signalsChanged(): void {
    this.memory.frame.refreshSignals();
  }

  /** The unit has a new plan; a read-back that is outstanding is judged under the slot that its tag has now. */
  rebind(): void {
    const { frame, writes } = this.memory;
    frame.rebind();
    const outstanding = [...writes.values()];
    writes.clear();
    for (const write of outstanding) {
      const slot = frame.slotOf(write.address);
      if (slot >= 0) writes.set(slot, write);
    }
  }

  /** The controller has not been heard for `runtime.orphanTimeout` (decisions Q-ST-02). */
  controllerLost(): void {
    if (!this.plan.edgeLocalHold) return;
    this.#judge.outside(this.#judge.newFailure('hold', 'controller-lost', 'the batch controller is not heard', '', '', told('controller-lost', {})));
  }

  dropped(): void {
    for (const wait of this.waits()) this.#requests.forget(wait);
  }

  // -------------------------------------------------------------- the scan

  scan(times: ScanTimes): void {
    const { memory } = this;
    memory.enteredInScan = false;
    this.#judge.watch();
    this.#judge.judgePending();
    this.#charts.execute(times);
    this.#judge.assertSettled();
    assert(memory.previous === memory.state, 'every change of the state is reported');
    if (CHART_OF[memory.state] || memory.state === 'Paused' || memory.state === 'Held') memory.frame.rememberGood();
    if (memory.dirty) this.#reports.report('', undefined);
  }

  // -------------------------------------------------------------- states

  enter(next: State, cause: string, rule: string | undefined): void {
    assert(cause !== '', 'a change of the state has a cause');
    const { memory } = this;
    const from = memory.state;
    memory.previous = from;
    memory.state = next;
    memory.enteredInScan = true;
    this.#prepare(from, next);
    this.#reports.report(cause, rule);
    if (next === 'Complete') this.#charts.raiseAtComplete();
  }

  #prepare(from: State, to: State): void {
    const { memory, plan } = this;
    const chart = CHART_OF[to];
    if (to === 'Running' && from === 'Idle') this.#begin();
    if (to === 'Running' && from === 'Restarting') memory.running.resumeAfterRestart(plan.restartStep);
    if (from === 'Paused') memory.pausedAt = '';
    if (chart && chart !== 'running') this.#charts.startException(chart);
    else if (to !== 'Pausing') memory.exception = null;
    if (to === 'Stopping' || to === 'Aborting' || isFinal(to)) memory.running.cancelWaits();
    else if (to === 'Holding') this.#giveUpCommands();
    if (to === 'Idle') this.#clear();
  }

  /** A hold cancels no wait (decisions 3.1), and no command goes out to a process module behind it. */
  #giveUpCommands(): void {
    for (const wait of this.memory.running.waits()) if (wait.commandsModule && !wait.answered) this.#requests.giveUp(wait);
  }

  #begin(): void {
    this.#clear();
    this.memory.runCount += 1;
  }

  /** Entering Idle clears outputs, variables and failure (decisions 3.1). */
  #clear(): void {
    const { memory } = this;
    memory.variables = startValues(this.plan, this.compiled).variables;
    memory.frame.assigned.fill(0);
    memory.failure = null;
    memory.holdIncomplete = false;
    memory.pausedAt = '';
    memory.forced = -1;
    memory.runElapsedMs = 0;
    memory.raised.clear();
    memory.consumed.clear();
    memory.writes.clear();
    memory.running = this.newRun('running');
    memory.exception = null;
  }

  // -------------------------------------------------------------- recovery (decisions 2.6, 3.8)

  #recover(saved: PhaseCheckpoint): void {
    const { unknown, isEdited } = readBack(this, saved);
    if (saved.state === 'Idle') return; // Start begins with the variables and the chart of the plan
    if (isEdited) return this.#chartChanged();
    for (const step of unknown) this.#reports.event(`outcome-unknown: the action of step ${step} was interrupted; it runs again after Restart`, told('outcome-unknown', { step }));
    const next = RECOVERIES[saved.state];
    if (!next) return;
    const isLost = saved.running.hash === ''; // its failure says so, and stays
    if (next === 'Holding' && saved.state !== 'Holding' && !isLost) {
      const lost = unknown.length > 0 ? `; outcome unknown in step ${unknown.join(', ')}` : '';
      const as = told('restarted-in', { state: saved.state, steps: unknown.join(', ') });
      this.memory.failure = this.#judge.newFailure('hold', 'runtime-restart', `the unit runtime was restarted in ${saved.state}${lost}`, unknown[0] ?? '', '', as);
    }
    this.enter(next, 'restart', 'runtime-restart');
  }

  /** Fail-class failure `chart-changed`; in Held it stays active, so that only Stop and Abort lead on (decisions 2.6). */
  #chartChanged(): void {
    const { memory } = this;
    const { state } = memory;
    const failure: Failure = {
      ...this.#judge.newFailure('fail', 'chart-changed', 'the chart was edited while the phase was active', '', '', told('chart-edited', {})),
      active: true,
    };
    const next = state === 'Held' ? 'Held' : state === 'Stopping' || state === 'Resetting' ? state : 'Aborting';
    memory.failure = failure;
    if (next === 'Held') this.#reports.report('', 'chart-changed');
    else this.enter(next, 'restart', 'chart-changed');
  }

  // -------------------------------------------------------------- replay, inspection

  snapshot(): PhaseState {
    return snapshotOf(this);
  }

  resume(saved: PhaseState): void {
    resume(this, saved);
  }

  /** Adds where the phase stands. */
  sum(checksum: Checksum): void {
    const { state, runElapsedMs, running, exception } = this.memory;
    checksum.text(state);
    checksum.number(runElapsedMs);
    running.sum(checksum);
    exception?.sum(checksum);
  }

  /** Every wait of a step that was started and not left. */
  waits(): Iterable<Wait> {
    return this.#reports.openWaits();
  }

  inspect(): PhaseReport & { readonly invalid: string } {
    return this.#reports.inspect();
  }
}

const EMPTY_CHART = { name: 'running', hash: '', steps: [], transitions: [], initial: [] } as const;

/** What the variables begin with; `fault` names the first without a usable value. */
function startValues(plan: PhasePlan, compiled: CompiledPhase): { readonly variables: Slots; readonly fault: string } {
  const initial = new Map(plan.variables.map((entry) => [entry.name, entry.initial]));
  const parameters = new Map(plan.parameters.map((entry) => [entry.name, entry.value]));
  let fault = '';
  const variables = compiled.variables.map((variable) => {
    if (variable.type === 'ANY') return undefined;
    const text = variable.kind === 'parameter' ? parameters.get(variable.name) : initial.get(variable.name);
    if (text === undefined || text === '') return variable.kind === 'parameter' && variable.type !== 'STRING' ? missing(variable.name) : zeroValue(variable.type);
    const value = fromValue(variable.type, parseValueText(variable.type, text));
    return value === null ? missing(variable.name) : value;
  });
  return { variables, fault };

  function missing(name: string): undefined {
    fault ||= `parameter or variable ${name} has no usable value`;
    return undefined;
  }
}

function acceptedAnswer(prompt: PromptWait, value: number | string): number | string | null {
  if (prompt.kind === 'acknowledge') return 'Acknowledged';
  if (prompt.kind === 'choice') return typeof value === 'string' && prompt.choices?.includes(value) ? value : null;
  const number = typeof value === 'number' ? value : parseDecimal(value);
  if (number === null || !Number.isFinite(number)) return null;
  return number >= (prompt.min ?? -Infinity) && number <= (prompt.max ?? Infinity) ? number : null;
}
