/**
 * One phase: the ISA-88 state machine around its charts (decisions 2.4 to 2.6, 3.1 to 3.8). A scan takes what has arrived
 * (commands, failures, answers), judges it, executes at most one chart on its own account, and says what has changed.
 * Invariant: every change a person could see leaves in a report whose checkpoint is enough to go on from.
 */
import { parseDecimal, parseValueText, printValue } from '../language/value-text.js';
import type { ChartRecord, Failure, FailureClass, PhaseCheckpoint, PhasePlan, PhaseReport, PromptWait, RuntimeSettings, SfcStatus, UnitInbound } from '../port.js';
import type { ChartName, ExceptionChartName } from '../vocabulary/chart.js';
import type { Checksum } from '../vocabulary/checksum.js';
import type { DataType, Value } from '../vocabulary/data-types.js';
import type { Mode } from '../vocabulary/modes.js';
import type { Command, State } from '../vocabulary/states.js';
import { type ChartChange, STEERABLE } from '../vocabulary/steering.js';
import { COMPLETIONS, isFinal, judge, judgeFailure, PRIORITY, RECOVERIES } from '../vocabulary/transitions.js';
import { ChartRun, type ChartOwner, type Firing, type ScanTimes } from './chart-run.js';
import { decodeSlot, encodeSlot } from './codec.js';
import type { CompiledPhase, CompiledStep, CompiledTransition, SubCondition } from './compile.js';
import { PhaseFrame, type FrameOwner, type RequestBuiltin } from './frame.js';
import type { ChartHost } from './host.js';
import { type ChartState, type Pending, type PhaseState, restoreSlots, saveSlots } from './snapshot.js';
import { type Any, fromValue, Invalid, invalid, type Raw, StError, toValue, zeroValue } from './value.js';
import type { Wait } from './wait.js';
import type { Slots } from './functions.js';

type CommandMessage = Extract<UnitInbound, { readonly type: 'command' }>;

/** The chart a state executes; Running and Pausing execute the running chart. */
const CHART_OF: Readonly<Partial<Record<State, ChartName>>> = {
  Running: 'running',
  Pausing: 'running',
  Holding: 'holding',
  Restarting: 'restarting',
  Stopping: 'stopping',
  Aborting: 'aborting',
  Resetting: 'resetting',
};

/** States in which a lost I/O module holds the phase, or blocks its Restart (decisions 3.5, `io-lost`). */
const WATCHED: readonly State[] = ['Running', 'Pausing', 'Paused', 'Restarting', 'Held'];
/** States whose failure columns apply to `exception-chart-timeout` only (decisions 3.5, last paragraph). */
const BY_TIMEOUT_ONLY: readonly State[] = ['Holding', 'Stopping', 'Aborting', 'Resetting'];
/** State changes that one scan may bring: Running > Holding > Held > ... ends long before. */
const CHANGES_MAX = 8;

export interface PhaseContext {
  readonly host: ChartHost;
  readonly settings: RuntimeSettings;
  /** Registers a request to the gateway and sends it; its id. */
  request(phase: PhaseRun, wait: Wait, step: string, builtin: RequestBuiltin, args: readonly Raw[]): number;
  forget(wait: Wait): void;
}

export class PhaseRun implements ChartOwner, FrameOwner {
  readonly plan: PhasePlan;
  readonly compiled: CompiledPhase;
  readonly host: ChartHost;
  variables: Slots;
  readonly #context: PhaseContext;
  readonly #frame: PhaseFrame;
  /** Why the charts cannot be executed; empty when they can. */
  readonly #invalid: string;
  /** Rule of a Start that is refused for it: the chart cannot be compiled, or a variable has no usable value. */
  readonly #invalidRule: 'chart-invalid' | 'formula-out-of-range';
  #state: State = 'Idle';
  #previous: State = 'Idle';
  #mode: Mode;
  #running: ChartRun;
  #exception: ChartRun | null = null;
  #exceptionMs = 0;
  /** An action of the present exception chart has failed (decisions 3.5). */
  #incomplete = false;
  #runCount = 0;
  #runElapsedMs = 0;
  #failure: Failure | null = null;
  #holdIncomplete = false;
  #pausedAt = '';
  #forced = -1;
  #returnTo: State = 'Aborted';
  #raised = new Set<string>();
  #consumed = new Set<string>();
  #pending: Pending[] = [];
  /** Failures and step commands of the chart being scanned; applied at its end. */
  #faults: Failure[] = [];
  #stepCommands: { readonly command: Command; readonly step: string }[] = [];
  #writes = new Map<number, { readonly address: string; readonly step: string }>();
  #dirty = false;
  #enteredInScan = false;

  constructor(plan: PhasePlan, compiled: CompiledPhase, context: PhaseContext, invalid = '') {
    this.plan = plan;
    this.compiled = compiled;
    this.#context = context;
    this.host = context.host;
    this.#mode = plan.mode;
    this.variables = [];
    const unusable = this.#initialise();
    this.#invalid = invalid || unusable;
    this.#invalidRule = invalid === '' ? 'formula-out-of-range' : 'chart-invalid';
    this.#frame = new PhaseFrame(this);
    this.#running = this.#newRun('running');
    if (plan.checkpoint) this.#recover(plan.checkpoint);
  }

  get name(): string {
    return this.plan.name;
  }

  get state(): State {
    return this.#state;
  }

  // -------------------------------------------------------------- variables

  /** Start values; the name of the first parameter without a usable value. */
  #initialise(): string {
    const initial = new Map(this.plan.variables.map((entry) => [entry.name, entry.initial]));
    const parameters = new Map(this.plan.parameters.map((entry) => [entry.name, entry.value]));
    let fault = '';
    this.variables = this.compiled.variables.map((variable) => {
      if (variable.type === 'ANY') return undefined;
      const text = variable.kind === 'parameter' ? parameters.get(variable.name) : initial.get(variable.name);
      if (text === undefined || text === '') return variable.kind === 'parameter' && variable.type !== 'STRING' ? missing(variable.name) : zeroValue(variable.type);
      const value = fromValue(variable.type, parseValueText(variable.type, text));
      return value === null ? missing(variable.name) : value;
    });
    return fault;

    function missing(name: string): undefined {
      fault ||= `parameter or variable ${name} has no usable value`;
      return undefined;
    }
  }

  #newRun(name: ChartName): ChartRun {
    return new ChartRun(this.compiled.charts.get(name) ?? EMPTY_CHART, this);
  }

  // -------------------------------------------------------------- what arrives between scans

  command(message: CommandMessage): void {
    this.#pending.push({ kind: 'command', message });
  }

  setMode(mode: Mode): void {
    if (mode === this.#mode) return;
    this.#mode = mode;
    this.#report('', undefined);
  }

  /**
   * Stored in the record before it is acknowledged (decisions 2.6); false when no such wait is open or the answer does
   * not fit it. The gateway has judged the answer before; this is the last lock (contract 3, Prompt: fail-closed).
   */
  answer(waitId: string, value: number | string): boolean {
    for (const wait of this.#openWaits()) {
      if (wait.prompt?.id !== waitId || wait.answered) continue;
      const accepted = acceptedAnswer(wait.prompt, value);
      if (accepted === null) return false;
      wait.answer(accepted);
      this.#report('', undefined);
      return true;
    }
    return false;
  }

  /** A person moves the chart (ADR 0007). The gateway has judged it before; what does not fit now changes nothing, and is an event. */
  steer(change: ChartChange): void {
    const refusal = this.#mode !== 'Manual' ? `the phase is in ${this.#mode}` : !STEERABLE.includes(this.#state) ? `the phase is ${this.#state}` : this.#running.steer(change);
    if (refusal !== '') return this.event(`active-step change refused: ${refusal}`);
    // What Semi-Automatic has stopped before is not where the chart stands now.
    this.#pausedAt = '';
    this.#report('', undefined);
  }

  /** A request of this phase has its result. */
  requestEnded(): void {
    this.#dirty = true;
  }

  signalsChanged(): void {
    this.#frame.refreshSignals();
  }

  /** The unit has a new plan; a read-back that is outstanding is judged under the slot that its tag has now. */
  rebind(): void {
    this.#frame.rebind();
    const outstanding = [...this.#writes.values()];
    this.#writes.clear();
    for (const write of outstanding) {
      const slot = this.#frame.slotOf(write.address);
      if (slot >= 0) this.#writes.set(slot, write);
    }
  }

  /** The controller has not been heard for `runtime.orphanTimeout` (decisions Q-ST-02). */
  controllerLost(): void {
    if (!this.plan.edgeLocalHold) return;
    this.#pending.push({ kind: 'failure', failure: this.#newFailure('hold', 'controller-lost', 'the batch controller is not heard', '', '') });
  }

  dropped(): void {
    for (const wait of this.#openWaits()) this.#context.forget(wait);
  }

  // -------------------------------------------------------------- the scan

  scan(times: ScanTimes): void {
    this.#enteredInScan = false;
    this.#watch();
    this.#judgePending();
    this.#execute(times);
    if (CHART_OF[this.#state] || this.#state === 'Paused' || this.#state === 'Held') this.#frame.rememberGood();
    if (this.#dirty) this.#report('', undefined);
  }

  /** Conditions outside the charts: lost I/O, read-backs, and whether an active failure still is (decisions 3.5). */
  #watch(): void {
    if (WATCHED.includes(this.#state)) {
      for (const module of this.plan.ioModules) {
        if (!this.host.ioLost(module) || this.#failure?.active) continue;
        this.#pending.push({ kind: 'failure', failure: this.#newFailure('hold', 'io-lost', `I/O module ${module} is lost`, '', module) });
      }
    }
    for (const [slot, { address, step }] of this.#writes) {
      const { settled, rule, message } = this.host.writeSettled(slot);
      if (!settled && !rule) continue;
      this.#writes.delete(slot);
      if (rule) this.#outsideFault(this.#newFailure('hold', rule, `${address}: ${message ?? 'the read-back differs'}`, step, ''));
    }
    if (this.#failure?.active && this.#failure.class === 'hold' && !this.#frame.stillFails(this.#failure.rule, this.#failure.subject ?? '')) {
      this.#failure = { ...this.#failure, active: false };
      this.#dirty = true;
    }
  }

  /** A write that fails later: a failure, or in an exception chart an event (decisions 3.5). */
  #outsideFault(failure: Failure): void {
    if (this.#exception && !this.failuresHold) this.#exceptionFault(failure);
    else this.#pending.push({ kind: 'failure', failure });
  }

  /** Decisions 3.2: the highest entry that is accepted wins, what is below it is superseded. */
  #judgePending(): void {
    if (this.#pending.length === 0) return;
    const entries = this.#pending.map((entry) => ({ entry, rank: PRIORITY[rankOf(entry)] })).sort((a, b) => b.rank - a.rank);
    this.#pending = [];
    let winner: Pending | null = null;
    for (const { entry } of entries) {
      if (entry.kind === 'failure') {
        if (winner && !isHold(winner)) continue;
        if (this.#fail(entry.failure)) winner ??= entry;
      } else {
        winner = this.#judgeCommand(entry.message, winner) ? (winner ?? entry) : winner;
      }
    }
  }

  #judgeCommand(message: CommandMessage, winner: Pending | null): boolean {
    const joins = winner?.kind === 'failure' && message.command === 'Hold';
    if (winner && !joins) {
      const by = winner.kind === 'command' ? `${winner.message.command} (command ${winner.message.id})` : `failure ${winner.failure.rule}`;
      this.#refuse(message, 'superseded', `superseded by ${by}`);
      return false;
    }
    const verdict = joins ? { accepted: true as const, next: this.#state } : judge(this.#state, message.command, this.#facts(message.command));
    if (!verdict.accepted) {
      this.#refuse(message, verdict.rule, this.#refusalText(message.command, verdict.rule));
      return false;
    }
    if (!joins) this.#obey(message, verdict.next);
    this.#answerCommand(message, true, undefined, undefined);
    return true;
  }

  #facts(command: Command) {
    const startRule = command !== 'Start' ? '' : this.#invalid !== '' ? this.#invalidRule : this.#mode === 'Manual' ? 'mode-manual' : '';
    return { failureActive: this.#failure?.active ?? false, resumeCancelsPause: this.#context.settings.resumeCancelsPause, startRule };
  }

  #refusalText(command: Command, rule: string): string {
    if (rule === 'failure-active') return `${this.name} cannot restart while the failure is active: ${this.#failure?.message ?? ''}`;
    if (rule === 'chart-invalid' || rule === 'formula-out-of-range') return `${this.name} cannot start: ${this.#invalid}`;
    if (rule === 'mode-manual') return `${this.name} is in Manual; set Automatic or Semi-Automatic before Start`;
    return `${command} is not possible in ${this.#state}`;
  }

  #refuse(message: CommandMessage, rule: string, text: string): void {
    this.#answerCommand(message, false, rule, text);
  }

  #answerCommand(message: CommandMessage, accepted: boolean, rule: string | undefined, text: string | undefined): void {
    this.host.emit({
      type: 'command-result',
      id: message.id,
      phase: this.name,
      command: message.command,
      accepted,
      ...(rule ? { rule } : {}),
      ...(text ? { message: text } : {}),
      state: this.#state,
    });
  }

  #obey(message: CommandMessage, next: State): void {
    const { command, failure } = message;
    if (failure) this.#failure = this.#newFailure(failure.class, failure.rule, failure.message, '', '');
    if (command === 'Restart') {
      this.#failure = null;
      this.#holdIncomplete = false;
    }
    if (command === 'Resume' && this.#pausedAt !== '') this.#forced = this.#running.transitionIndex(this.#pausedAt);
    if (command === 'Reset') this.#returnTo = this.#state;
    this.#enter(next, command, failure?.rule);
  }

  // -------------------------------------------------------------- failures

  #newFailure(failureClass: FailureClass, rule: string, message: string, step: string, subject: string): Failure {
    return { class: failureClass, rule, message, step, sinceMs: this.host.nowMs(), active: subject !== '', ...(subject !== '' ? { subject } : {}) };
  }

  /** Columns HF and FF of decisions 3.1; false in a state that takes no failure. */
  #fail(failure: Failure): boolean {
    const effect = judgeFailure(this.#state, failure.class, this.#returnTo);
    if (!effect) return false;
    if (this.#state === 'Held') {
      if (!this.#failure || failure.class === 'fail' || (failure.active && !this.#failure.active)) {
        this.#failure = failure;
        this.#dirty = true;
      }
      return true;
    }
    if (BY_TIMEOUT_ONLY.includes(this.#state) && failure.rule !== 'exception-chart-timeout') {
      if (this.#state === 'Holding') this.#failure ??= failure;
      this.event(`${this.#state}: ${failure.rule}: ${failure.message}`);
      this.#dirty = true;
      return true;
    }
    this.#failure = failure;
    if (effect.holdIncomplete) this.#holdIncomplete = true;
    if (effect.alarm) this.#alarm(effect.alarm, `${this.name}: ${failure.message}`);
    if (effect.next !== this.#state) this.#enter(effect.next, 'failure', failure.rule);
    return true;
  }

  #alarm(severity: 'Medium' | 'High', message: string): void {
    this.host.emit({ type: 'alarm', phase: this.name, severity, message, atMs: this.host.nowMs() });
  }

  event(text: string): void {
    this.host.emit({ type: 'event', phase: this.name, text, atMs: this.host.nowMs() });
  }

  /** An action of an exception chart has failed: event, the chart goes on (decisions 3.5). */
  #exceptionFault(failure: Failure): void {
    this.#incomplete = true;
    this.event(`${this.#state}: ${failure.rule} in step ${failure.step}: ${failure.message}`);
  }

  // -------------------------------------------------------------- states

  #enter(next: State, cause: string, rule: string | undefined): void {
    this.#previous = this.#state;
    this.#state = next;
    this.#enteredInScan = true;
    this.#prepare(this.#previous, next);
    this.#report(cause, rule);
    if (next === 'Complete') this.#raiseAtComplete();
  }

  #prepare(from: State, to: State): void {
    const chart = CHART_OF[to];
    if (to === 'Running' && from === 'Idle') this.#begin();
    if (to === 'Running' && from === 'Restarting') this.#running.resumeAfterRestart(this.plan.restartStep);
    if (from === 'Paused') this.#pausedAt = '';
    if (chart && chart !== 'running') this.#startException(chart);
    else if (to !== 'Pausing') this.#exception = null;
    if (to === 'Stopping' || to === 'Aborting' || isFinal(to)) this.#running.cancelWaits();
    if (to === 'Idle') this.#clear();
  }

  #startException(chart: ExceptionChartName): void {
    this.#exception?.cancelWaits();
    this.#exception = this.#newRun(chart);
    this.#exceptionMs = 0;
    this.#incomplete = false;
    this.#frame.forgetWarnings();
  }

  #begin(): void {
    this.#clear();
    this.#runCount += 1;
  }

  /** Entering Idle clears outputs, variables and failure (decisions 3.1). */
  #clear(): void {
    this.#initialise();
    this.#frame.assigned.fill(0);
    this.#failure = null;
    this.#holdIncomplete = false;
    this.#pausedAt = '';
    this.#forced = -1;
    this.#runElapsedMs = 0;
    this.#raised.clear();
    this.#consumed.clear();
    this.#writes.clear();
    this.#running = this.#newRun('running');
    this.#exception = null;
  }

  /**
   * Executes the chart of the state. A state entered by a command or a failure runs its chart in the same scan, so that
   * a hold drives the outputs at once; one entered by completion begins with the next scan.
   */
  #execute(times: ScanTimes): void {
    let ran = false;
    for (let change = 0; change < CHANGES_MAX; change += 1) {
      const before = this.#state;
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
      if (this.#state === before) return;
    }
  }

  #executeRunning(times: ScanTimes): void {
    if (this.#state === 'Pausing' && !this.#enteredInScan && this.#running.atSafePoint) {
      this.#enter('Paused', 'Pause', undefined);
      return;
    }
    const forced = this.#forced;
    this.#forced = -1;
    this.#runElapsedMs += times.plantMs;
    const stopped = this.#running.scan(times, FIRING[this.#mode], forced);
    if (this.#state === 'Running') this.#raiseSignals();
    if (this.#settleFaults()) return;
    if (this.plan.timeoutMs > 0 && this.#runElapsedMs > this.plan.timeoutMs) {
      this.#fail(this.#newFailure('fail', 'phase-timeout', `${this.name} has run longer than ${this.plan.timeoutMs / 1000} s`, '', ''));
    } else if (this.#running.complete) {
      this.#enter('Complete', 'complete', undefined);
    } else if (stopped !== null) {
      this.#pausedAt = stopped;
      this.#enter('Paused', 'Pause', 'semi-automatic-step');
    }
  }

  #executeException(times: ScanTimes): void {
    const run = this.#exception;
    if (!run) return;
    if (run.chart.steps.length > 0) {
      this.#exceptionMs += times.plantMs;
      run.scan(times, 'automatic');
    }
    if (this.#settleFaults()) return;
    if (run.complete) return this.#completeException();
    if (this.#exceptionMs > this.#context.settings.exceptionChartTimeoutMs) {
      const message = `the ${run.chart.name} chart has not ended within ${this.#context.settings.exceptionChartTimeoutMs} ms`;
      this.#fail(this.#newFailure('fail', 'exception-chart-timeout', message, run.activeSteps.join(', '), ''));
    }
  }

  #completeException(): void {
    const next = COMPLETIONS[this.#state];
    if (!next) return;
    if (this.#incomplete) {
      if (this.#state === 'Holding') this.#holdIncomplete = true;
      this.#alarm('High', `${this.name}: an action of the ${this.#exception?.chart.name} chart failed`);
    }
    this.#enter(next, 'complete', undefined);
  }

  /** Applies what the chart has reported in this scan: a failure, or the command of a step timeout; true when the state changed. */
  #settleFaults(): boolean {
    const before = this.#state;
    const faults = this.#faults;
    const commands = this.#stepCommands.sort((a, b) => PRIORITY[b.command] - PRIORITY[a.command]);
    this.#faults = [];
    this.#stepCommands = [];
    for (const { command, step } of commands) {
      const verdict = judge(this.#state, command, {});
      if (!verdict.accepted || this.#state !== before) continue;
      this.#failure = this.#newFailure('hold', 'step-timeout', `step ${step} has exceeded its timeout`, step, '');
      this.#enter(verdict.next, command, 'step-timeout');
    }
    if (this.#state !== before) return true;
    const failure = faults.find((entry) => entry.class === 'fail') ?? faults[0];
    if (failure) this.#fail(failure);
    return this.#state !== before;
  }

  // -------------------------------------------------------------- signals (decisions 2.7)

  #raiseSignals(): void {
    for (const [index, test] of this.compiled.signals.entries()) {
      const { name } = this.plan.signals[index];
      if (!test || this.#raised.has(name)) continue;
      this.#frame.context = { run: this.#running, step: 0, transition: SIGNAL_CONTEXT, sites: [], peek: true };
      try {
        if (test(this.#frame, this.variables)) this.#raise(name);
      } catch (fault) {
        if (fault instanceof StError) this.fault(fault, `signal ${name}`, true);
        else if (!(fault instanceof Invalid)) throw fault;
      } finally {
        this.#frame.context = null;
      }
    }
  }

  #raiseAtComplete(): void {
    for (const [index, test] of this.compiled.signals.entries()) {
      const { name } = this.plan.signals[index];
      if (!test && !this.#raised.has(name)) this.#raise(name);
    }
  }

  #raise(name: string): void {
    this.#raised.add(name);
    this.#dirty = true;
    this.host.emit({ type: 'signal-raised', phase: this.name, scope: this.plan.scope, signal: name, atMs: this.host.nowMs() });
  }

  markRead(name: string): boolean {
    if (this.#consumed.has(name)) return false;
    this.#consumed.add(name);
    this.#dirty = true;
    return true;
  }

  // -------------------------------------------------------------- ChartOwner, FrameOwner

  get statementBudget(): number {
    return this.#context.settings.statementBudget;
  }

  get failuresHold(): boolean {
    return this.#exception === null || this.#exception.chart.name === 'restarting';
  }

  get timersRun(): boolean {
    return this.#state === 'Running' || this.#state === 'Pausing';
  }

  uuid(): string {
    return this.host.uuid();
  }

  changed(): void {
    this.#dirty = true;
  }

  actionStarts(): void {
    this.#report('', undefined);
  }

  runAction(run: ChartRun, step: number): number {
    const { action } = run.chart.steps[step];
    if (!action) return -1;
    const { temporaries, label } = run.steps[step];
    this.#frame.context = { run, step, transition: null, sites: action.sites, peek: false };
    try {
      return action.run(this.#frame, this.variables, temporaries, label, this.statementBudget);
    } finally {
      this.#frame.context = null;
    }
  }

  test(run: ChartRun, transition: CompiledTransition, part: SubCondition | null, peek: boolean): boolean {
    const test = part ? part.test : transition.condition;
    this.#frame.context = { run, step: transition.sources[0], transition, sites: transition.sites, peek };
    try {
      return test ? test(this.#frame, this.variables) : true;
    } finally {
      this.#frame.context = null;
    }
  }

  side(run: ChartRun, transition: CompiledTransition, part: SubCondition, which: 'left' | 'right'): Any {
    const side = part.sides?.[which];
    if (!side) throw invalid('no comparison');
    this.#frame.context = { run, step: transition.sources[0], transition, sites: transition.sites, peek: true };
    try {
      return side(this.#frame, this.variables);
    } finally {
      this.#frame.context = null;
    }
  }

  fault(error: StError, step: string, condition: boolean): void {
    const rule = condition && error.rule === 'st-runtime-error' ? 'condition-error' : error.rule;
    const failure = this.#newFailure('hold', rule, error.message, step, error.subject);
    if (!this.failuresHold) this.#exceptionFault(failure);
    else this.#faults.push(failure);
  }

  cancel(wait: Wait): void {
    this.#context.forget(wait);
    if (!wait.prompt || wait.answered) return;
    this.host.emit({ type: 'prompt-cancelled', phase: this.name, prompt: wait.prompt, state: this.#state, atMs: this.host.nowMs() });
  }

  timedOut(step: CompiledStep): void {
    const text = `step ${step.name} has exceeded its timeout`;
    if (step.onTimeout === 'Alarm') {
      this.event(text);
      this.#alarm('Medium', `${this.name}: ${text}`);
    } else if (step.onTimeout === 'Hold') {
      this.#faults.push(this.#newFailure('hold', 'step-timeout', text, step.name, ''));
    } else {
      this.#stepCommands.push({ command: step.onTimeout, step: step.name });
    }
  }

  poll(wait: Wait, times: ScanTimes): boolean {
    const ended = wait.advance(times.plantMs, times.wallMs);
    if (ended) this.#context.forget(wait);
    return ended;
  }

  request(wait: Wait, step: string, builtin: RequestBuiltin, args: readonly Raw[]): number {
    return this.#context.request(this, wait, step, builtin, args);
  }

  wrote(slot: number, address: string, step: string): void {
    this.#writes.set(slot, { address, step });
  }

  // -------------------------------------------------------------- recovery (decisions 2.6, 3.8)

  #recover(saved: PhaseCheckpoint): void {
    this.#state = saved.state;
    this.#previous = saved.state;
    this.#mode = saved.mode;
    this.#runCount = saved.runCount;
    this.#runElapsedMs = saved.runElapsedMs;
    this.#failure = saved.failure ?? null;
    this.#holdIncomplete = saved.holdIncomplete ?? false;
    this.#pausedAt = saved.pausedAt ?? '';
    this.#returnTo = saved.returnTo ?? 'Aborted';
    this.#raised = new Set(saved.raisedSignals);
    this.#consumed = new Set(saved.consumedSignals);
    if (saved.state === 'Idle') return; // Start begins with the variables and the chart of the plan
    this.#restoreVariables(saved);
    const unknown = this.#restoreCharts(saved.running);
    if (unknown === null) return this.#chartChanged();
    for (const step of unknown) this.event(`outcome-unknown: the action of step ${step} was interrupted; it runs again after Restart`);
    const next = RECOVERIES[saved.state];
    if (!next) return;
    if (next === 'Holding' && saved.state !== 'Holding') {
      const lost = unknown.length > 0 ? `; outcome unknown in step ${unknown.join(', ')}` : '';
      this.#failure = this.#newFailure('hold', 'runtime-restart', `the unit runtime was restarted in ${saved.state}${lost}`, unknown[0] ?? '', '');
    }
    this.#enter(next, 'restart', 'runtime-restart');
  }

  #restoreVariables(saved: PhaseCheckpoint): void {
    const values = new Map(Object.entries(saved.variables));
    const assigned = new Set(saved.assigned);
    for (const variable of this.compiled.variables) {
      if (variable.kind === 'parameter') continue;
      this.variables[variable.slot] = decodeSlot(variable.type, values.get(variable.name));
      if (assigned.has(variable.name)) this.#frame.assigned[variable.slot] = 1;
    }
  }

  /** Steps whose outcome is unknown; null when the chart was edited while it was active. */
  #restoreCharts(record: ChartRecord): string[] | null {
    if (this.#state === 'Idle' || isFinal(this.#state)) {
      if (record.hash === this.#running.chart.hash) this.#running.restore(record);
      return [];
    }
    if (this.#invalid !== '' || record.hash !== this.#running.chart.hash) return null;
    return this.#running.restore(record);
  }

  /** Fail-class failure `chart-changed`; in Held it stays active, so that only Stop and Abort lead on (decisions 2.6). */
  #chartChanged(): void {
    const failure: Failure = { ...this.#newFailure('fail', 'chart-changed', 'the chart was edited while the phase was active', '', ''), active: true };
    const next = this.#state === 'Held' ? 'Held' : this.#state === 'Stopping' || this.#state === 'Resetting' ? this.#state : 'Aborting';
    this.#failure = failure;
    if (next === 'Held') this.#report('', 'chart-changed');
    else this.#enter(next, 'restart', 'chart-changed');
  }

  // -------------------------------------------------------------- replay

  /** All of it; a checkpoint is for restarts and holds less. */
  snapshot(): PhaseState {
    const { checkpoint: _, ...plan } = this.plan;
    return {
      plan,
      state: this.#state,
      previous: this.#previous,
      mode: this.#mode,
      variables: saveSlots(this.variables),
      frame: this.#frame.snapshot(),
      running: this.#running.snapshot(),
      exception: this.#exception && this.#exception.snapshot(),
      exceptionMs: this.#exceptionMs,
      incomplete: this.#incomplete,
      runCount: this.#runCount,
      runElapsedMs: this.#runElapsedMs,
      failure: this.#failure,
      holdIncomplete: this.#holdIncomplete,
      pausedAt: this.#pausedAt,
      forced: this.#forced,
      returnTo: this.#returnTo,
      raised: [...this.#raised],
      consumed: [...this.#consumed],
      pending: [...this.#pending],
      faults: [...this.#faults],
      stepCommands: [...this.#stepCommands],
      writes: [...this.#writes],
      dirty: this.#dirty,
      enteredInScan: this.#enteredInScan,
    };
  }

  /** Goes on from a snapshot of the same plan; says nothing. */
  resume(saved: PhaseState): void {
    this.#state = saved.state;
    this.#previous = saved.previous;
    this.#mode = saved.mode;
    this.variables = restoreSlots(saved.variables);
    this.#frame.restore(saved.frame);
    this.#running = this.#resumedRun(saved.running);
    this.#exception = saved.exception && this.#resumedRun(saved.exception);
    this.#exceptionMs = saved.exceptionMs;
    this.#incomplete = saved.incomplete;
    this.#runCount = saved.runCount;
    this.#runElapsedMs = saved.runElapsedMs;
    this.#failure = saved.failure;
    this.#holdIncomplete = saved.holdIncomplete;
    this.#pausedAt = saved.pausedAt;
    this.#forced = saved.forced;
    this.#returnTo = saved.returnTo;
    this.#raised = new Set(saved.raised);
    this.#consumed = new Set(saved.consumed);
    this.#pending = [...saved.pending];
    this.#faults = [...saved.faults];
    this.#stepCommands = [...saved.stepCommands];
    this.#writes = new Map(saved.writes);
    this.#dirty = saved.dirty;
    this.#enteredInScan = saved.enteredInScan;
  }

  /** An exception chart that the template does not have is the empty one, which is named as the running chart. */
  #resumedRun(saved: ChartState): ChartRun {
    const run = saved.steps.length === 0 && saved.name === 'running' ? new ChartRun(EMPTY_CHART, this) : this.#newRun(saved.name);
    run.resume(saved);
    return run;
  }

  /** Adds where the phase stands. */
  sum(checksum: Checksum): void {
    checksum.text(this.#state);
    checksum.number(this.#runElapsedMs);
    this.#running.sum(checksum);
    this.#exception?.sum(checksum);
  }

  /** Every wait of a step that was started and not left. */
  waits(): Iterable<Wait> {
    return this.#openWaits();
  }

  // -------------------------------------------------------------- what leaves

  *#openWaits(): Generator<Wait> {
    yield* this.#running.waits();
    if (this.#exception) yield* this.#exception.waits();
  }

  get #prompt(): PromptWait | undefined {
    let oldest: PromptWait | undefined;
    if (this.#state === 'Idle' || isFinal(this.#state)) return undefined;
    for (const wait of this.#openWaits()) {
      if (wait.prompt && !wait.answered && (!oldest || wait.prompt.openedAtMs < oldest.openedAtMs)) oldest = wait.prompt;
    }
    return oldest;
  }

  #report(cause: string, rule: string | undefined): void {
    this.#dirty = false;
    this.host.emit(this.#message(cause, rule));
    if (cause !== '') this.#previous = this.#state;
  }

  #message(cause: string, rule: string | undefined): PhaseReport {
    const prompt = this.#prompt;
    return {
      type: 'phase',
      phase: this.name,
      state: this.#state,
      previousState: this.#previous,
      mode: this.#mode,
      cause,
      ...(rule ? { rule } : {}),
      checkpoint: this.checkpoint(),
      sfc: this.#status(this.#running),
      ...(this.#exception && this.#exception.chart.steps.length > 0 ? { chart: this.#status(this.#exception) } : {}),
      ...(prompt ? { prompt } : {}),
      outputs: this.#outputs(),
      atMs: this.host.nowMs(),
    };
  }

  #status(run: ChartRun): SfcStatus {
    const chart = CHART_OF[this.#state];
    return {
      activeSteps: run.activeSteps,
      completedSteps: [...run.completed],
      firedTransitions: [...run.fired],
      scanCount: run.scanCount,
      held: this.#state === 'Holding' || this.#state === 'Held' || this.#state === 'Restarting',
      transitionStates: run.reports(),
      variableSnapshot: this.#snapshot(),
      ...(chart ? { activeChart: chart } : {}),
    };
  }

  /** Cleared on completion (contract 3, Procedural elements). */
  #snapshot(): Record<string, string> {
    if (isFinal(this.#state) || this.#state === 'Idle') return {};
    const entries = this.compiled.variables.flatMap((variable): [string, string][] => {
      const value = this.variables[variable.slot];
      return variable.kind === 'parameter' || value === undefined ? [] : [[variable.name, textOf(variable.type, value)]];
    });
    return Object.fromEntries(entries);
  }

  #outputs(): PhaseReport['outputs'] {
    return this.compiled.variables.flatMap((variable) => {
      const value = this.variables[variable.slot];
      if (variable.kind !== 'output' || value === undefined || this.#frame.assigned[variable.slot] === 0) return [];
      return [{ name: variable.name, type: variable.type as DataType, value: textOf(variable.type, value) }];
    });
  }

  checkpoint(): PhaseCheckpoint {
    const own = this.compiled.variables.filter((variable) => variable.kind !== 'parameter');
    const values = own.flatMap((variable): [string, Value][] => {
      const value = encodeSlot(variable.type, this.variables[variable.slot]);
      return value === undefined ? [] : [[variable.name, value]];
    });
    return {
      state: this.#state,
      mode: this.#mode,
      runCount: this.#runCount,
      runElapsedMs: this.#runElapsedMs,
      running: this.#running.record(),
      ...(this.#exception && this.#exception.chart.steps.length > 0 ? { exception: this.#exception.record() } : {}),
      variables: Object.fromEntries(values),
      assigned: own.filter((variable) => this.#frame.assigned[variable.slot] === 1).map((variable) => variable.name),
      ...(this.#failure ? { failure: this.#failure } : {}),
      ...(this.#holdIncomplete ? { holdIncomplete: true } : {}),
      ...(this.#pausedAt !== '' ? { pausedAt: this.#pausedAt } : {}),
      ...(this.#state === 'Resetting' ? { returnTo: this.#returnTo } : {}),
      raisedSignals: [...this.#raised],
      consumedSignals: [...this.#consumed],
      savedAtMs: this.host.nowMs(),
    };
  }

  /** As a report, with the present results of every condition; `invalid` says why the phase cannot start. */
  inspect(): PhaseReport & { readonly invalid: string } {
    return { ...this.#message('', undefined), invalid: this.#invalid };
  }
}

const FIRING: Readonly<Record<Mode, Firing>> = { Automatic: 'automatic', 'Semi-Automatic': 'stop-at-first', Manual: 'none' };

const EMPTY_CHART = { name: 'running', hash: '', steps: [], transitions: [], initial: [] } as const;

/** Signal conditions are evaluated as conditions: bad and unset operands are INVALID. */
const SIGNAL_CONTEXT: CompiledTransition = { index: -1, key: '', from: '', to: '', text: '', sources: [], targets: [], converge: false, condition: null, sites: [], operands: [] };

function acceptedAnswer(prompt: PromptWait, value: number | string): number | string | null {
  if (prompt.kind === 'acknowledge') return 'Acknowledged';
  if (prompt.kind === 'choice') return typeof value === 'string' && prompt.choices?.includes(value) ? value : null;
  const number = typeof value === 'number' ? value : parseDecimal(value);
  if (number === null || !Number.isFinite(number)) return null;
  return number >= (prompt.min ?? -Infinity) && number <= (prompt.max ?? Infinity) ? number : null;
}

/** Hold and HF stand at one level: both lead to Holding, and the first failure stays on record. */
function isHold(entry: Pending): boolean {
  return entry.kind === 'failure' ? entry.failure.class === 'hold' : entry.message.command === 'Hold';
}

function rankOf(entry: Pending): Command | 'FF' | 'HF' {
  if (entry.kind === 'failure') return entry.failure.class === 'fail' ? 'FF' : 'HF';
  return entry.message.failure?.class === 'fail' && entry.message.command === 'Abort' ? 'FF' : entry.message.command;
}

function textOf(type: CompiledPhase['variables'][number]['type'], value: Raw | Any): string {
  if (typeof value === 'object') return printValue(value.type, value.value as Value | bigint);
  return type === 'ANY' ? String(value) : printValue(type, toValue(value));
}
