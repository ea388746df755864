/**
 * What arrives at a phase is judged once per scan (decisions 3.1, 3.2, 3.5): commands of persons and of the batch controller,
 * failures of its charts, of the equipment and of time.
 *
 * Invariants: of what arrives in one scan the highest accepted entry wins and every command is answered; what a chart reports
 * while it is scanned is applied at its end, so that a chart never runs on in a state it was not written for.
 */
import type { Failure, FailureClass } from '../port.js';
import { assert } from '../vocabulary/assert.js';
import type { Command, State } from '../vocabulary/states.js';
import { type Told, told, withTold } from '../vocabulary/told.js';
import { judge, judgeFailure, PRIORITY } from '../vocabulary/transitions.js';
import type { Phase } from './phase-memory.js';
import type { CommandMessage, PhaseReports } from './phase-reports.js';
import type { Pending } from './snapshot.js';
import type { StError } from './value.js';

/** States in which a lost I/O module holds the phase, or blocks its Restart (decisions 3.5, `io-lost`). */
const WATCHED: readonly State[] = ['Running', 'Pausing', 'Paused', 'Restarting', 'Held'];
/** States whose failure columns apply to `exception-chart-timeout` only (decisions 3.5, last paragraph). */
const BY_TIMEOUT_ONLY: readonly State[] = ['Holding', 'Stopping', 'Aborting', 'Resetting'];

export class PhaseJudge {
  readonly #phase: Phase;
  readonly #reports: PhaseReports;

  constructor(phase: Phase, reports: PhaseReports) {
    this.#phase = phase;
    this.#reports = reports;
  }

  /** Failures of the charts hold the phase; those of an exception chart only make it incomplete (decisions 3.5). */
  get failuresHold(): boolean {
    const { exception } = this.#phase.memory;
    return exception === null || exception.chart.name === 'restarting';
  }

  // -------------------------------------------------------------- between two scans

  command(message: CommandMessage): void {
    this.#phase.memory.pending.push({ kind: 'command', message });
  }

  outside(failure: Failure): void {
    this.#phase.memory.pending.push({ kind: 'failure', failure });
  }

  // -------------------------------------------------------------- at the top of a scan

  /** Conditions outside the charts: lost I/O, read-backs, and whether an active failure still is (decisions 3.5). */
  watch(): void {
    const { memory } = this.#phase;
    if (WATCHED.includes(memory.state)) this.#watchModules();
    if (memory.writes.size > 0) this.#watchWrites();
    const { failure } = memory;
    if (failure?.active && failure.class === 'hold' && !memory.frame.stillFails(failure.rule, failure.subject ?? '')) {
      memory.failure = { ...failure, active: false };
      memory.dirty = true;
    }
  }

  #watchModules(): void {
    const { plan, host, memory } = this.#phase;
    for (const module of plan.ioModules) {
      if (!host.ioLost(module) || memory.failure?.active) continue;
      this.outside(this.newFailure('hold', 'io-lost', `I/O module ${module} is lost`, '', module, told('io-lost', { ioModule: module })));
    }
  }

  #watchWrites(): void {
    const { host, memory } = this.#phase;
    for (const [slot, { address, step }] of memory.writes) {
      const { settled, rule, message, told: as } = host.writeSettled(slot);
      if (!settled && !rule) continue;
      memory.writes.delete(slot);
      if (rule) this.#lateFault(this.newFailure('hold', rule, `${address}: ${message ?? 'the read-back differs'}`, step, '', as && { ...as, parts: { ...as.parts, address } }));
    }
  }

  /** A write that fails later: a failure, or in an exception chart an event (decisions 3.5). */
  #lateFault(failure: Failure): void {
    if (this.#phase.memory.exception && !this.failuresHold) this.#exceptionFault(failure);
    else this.outside(failure);
  }

  /** Decisions 3.2: the highest entry that is accepted wins, what is below it is superseded. */
  judgePending(): void {
    const { memory } = this.#phase;
    if (memory.pending.length === 0) return;
    const entries = memory.pending.map((entry) => ({ entry, rank: PRIORITY[rankOf(entry)] })).sort((a, b) => b.rank - a.rank);
    memory.pending = [];
    let winner: Pending | null = null;
    for (const { entry } of entries) {
      if (entry.kind === 'failure') {
        if (winner && !isHold(winner)) continue;
        if (this.fail(entry.failure)) winner ??= entry;
      } else {
        winner = this.#judgeCommand(entry.message, winner) ? (winner ?? entry) : winner;
      }
    }
  }

  // -------------------------------------------------------------- commands

  #judgeCommand(message: CommandMessage, winner: Pending | null): boolean {
    const { memory } = this.#phase;
    const joins = winner?.kind === 'failure' && message.command === 'Hold';
    if (winner && !joins) {
      const by = winner.kind === 'command' ? `${winner.message.command} (command ${winner.message.id})` : `failure ${winner.failure.rule}`;
      const [command, rule] = winner.kind === 'command' ? [winner.message.command, ''] : ['', winner.failure.rule];
      this.#reports.refused(message, 'superseded', `superseded by ${by}`, told('superseded', { by: command, rule }));
      return false;
    }
    const verdict = joins ? { accepted: true as const, next: memory.state } : judge(memory.state, message.command, this.#facts(message.command));
    if (!verdict.accepted) {
      this.#reports.refused(message, verdict.rule, this.#refusalText(message.command, verdict.rule), this.#refusalTold(message.command, verdict.rule));
      return false;
    }
    if (!joins) this.#obey(message, verdict.next);
    this.#reports.accepted(message);
    return true;
  }

  #facts(command: Command) {
    const { unusable, memory, settings } = this.#phase;
    const startRule = command !== 'Start' ? '' : unusable ? unusable.rule : memory.mode === 'Manual' ? 'mode-manual' : '';
    return { failureActive: memory.failure?.active ?? false, resumeCancelsPause: settings.resumeCancelsPause, startRule };
  }

  #refusalText(command: Command, rule: string): string {
    const { name, memory, unusable } = this.#phase;
    if (rule === 'failure-active') return `${name} cannot restart while the failure is active: ${memory.failure?.message ?? ''}`;
    if (rule === 'chart-invalid' || rule === 'formula-out-of-range') return `${name} cannot start: ${unusable?.text ?? ''}`;
    if (rule === 'mode-manual') return `${name} is in Manual; set Automatic or Semi-Automatic before Start`;
    return `${command} is not possible in ${memory.state}`;
  }

  #refusalTold(command: Command, rule: string): Told | undefined {
    const { memory } = this.#phase;
    if (rule === 'failure-active' && memory.failure) return told('failure-active', { command, rule: memory.failure.rule, message: memory.failure.message }, memory.failure.told);
    return rule === 'chart-invalid' || rule === 'formula-out-of-range' || rule === 'mode-manual' ? undefined : told('not-possible', { command, state: memory.state });
  }

  #obey(message: CommandMessage, next: State): void {
    const { memory } = this.#phase;
    const { command, failure } = message;
    if (failure) memory.failure = this.newFailure(failure.class, failure.rule, failure.message, '', '', failure.told);
    if (command === 'Restart') {
      memory.failure = null;
      memory.holdIncomplete = false;
    }
    if (command === 'Resume' && memory.pausedAt !== '') memory.forced = memory.running.transitionIndex(memory.pausedAt);
    if (command === 'Reset') memory.returnTo = memory.state;
    this.#phase.enter(next, command, failure?.rule);
  }

  // -------------------------------------------------------------- failures

  newFailure(failureClass: FailureClass, rule: string, message: string, step: string, subject: string, as?: Told): Failure {
    return { class: failureClass, rule, message, ...withTold(as), step, sinceMs: this.#phase.host.nowMs(), active: subject !== '', ...(subject !== '' ? { subject } : {}) };
  }

  /** Columns HF and FF of decisions 3.1; false in a state that takes no failure. */
  fail(failure: Failure): boolean {
    const { memory } = this.#phase;
    const effect = judgeFailure(memory.state, failure.class, memory.returnTo);
    if (!effect) return false;
    if (memory.state === 'Held') {
      this.#failHeld(failure);
      return true;
    }
    if (BY_TIMEOUT_ONLY.includes(memory.state) && failure.rule !== 'exception-chart-timeout') {
      if (memory.state === 'Holding') memory.failure ??= failure;
      this.#reports.event(`${memory.state}: ${failure.rule}: ${failure.message}`, this.#meanwhile(failure, ''));
      memory.dirty = true;
      return true;
    }
    memory.failure = failure;
    if (effect.holdIncomplete) memory.holdIncomplete = true;
    if (effect.alarm) this.#reports.alarm(effect.alarm, failure.message, failure.told);
    if (effect.next !== memory.state) this.#phase.enter(effect.next, 'failure', failure.rule);
    return true;
  }

  /** The first failure stays on record, unless the new one says more: a fail, or one that blocks Restart. */
  #failHeld(failure: Failure): void {
    const { memory } = this.#phase;
    if (memory.failure && failure.class !== 'fail' && (!failure.active || memory.failure.active)) return;
    memory.failure = failure;
    memory.dirty = true;
  }

  /** An action of an exception chart has failed: event, the chart goes on (decisions 3.5). */
  #exceptionFault(failure: Failure): void {
    const { memory } = this.#phase;
    memory.incomplete = true;
    this.#reports.event(`${memory.state}: ${failure.rule} in step ${failure.step}: ${failure.message}`, this.#meanwhile(failure, failure.step));
  }

  #meanwhile({ rule, message, told: because }: Failure, step: string): Told {
    return told('fault-meanwhile', { state: this.#phase.memory.state, rule, message, step }, because);
  }

  // -------------------------------------------------------------- what a chart reports while it is scanned

  chartFault(error: StError, step: string, inCondition: boolean): void {
    const rule = inCondition && error.rule === 'st-runtime-error' ? 'condition-error' : error.rule;
    const failure = this.newFailure('hold', rule, error.message, step, error.subject, error.told);
    if (!this.failuresHold) this.#exceptionFault(failure);
    else this.#phase.memory.faults.push(failure);
  }

  stepTimedOut(step: string, onTimeout: 'Hold' | 'Stop' | 'Abort' | 'Alarm'): void {
    const { memory } = this.#phase;
    const { text, as } = this.#late(step);
    if (onTimeout === 'Alarm') {
      this.#reports.event(text, as);
      this.#reports.alarm('Medium', text, as);
    } else if (onTimeout === 'Hold') {
      memory.faults.push(this.newFailure('hold', 'step-timeout', text, step, '', as));
    } else {
      memory.stepCommands.push({ command: onTimeout, step });
    }
  }

  /** With what the step waited for: whoever reads it later sees other values. */
  #late(step: string): { readonly text: string; readonly as: Told } {
    const { exception, running } = this.#phase.memory;
    const waits = (exception ?? running).waitsFor(step);
    return { text: `step ${step} has exceeded its timeout${waits === '' ? '' : `; it waited for ${waits}`}`, as: told('step-late', { step, waits }) };
  }

  /** Applies what the chart has reported in this scan: a failure, or the command of a step timeout; true when the state changed. */
  settleFaults(): boolean {
    const { memory } = this.#phase;
    if (memory.faults.length === 0 && memory.stepCommands.length === 0) return false;
    const before = memory.state;
    const { faults } = memory;
    const commands = memory.stepCommands.sort((a, b) => PRIORITY[b.command] - PRIORITY[a.command]);
    memory.faults = [];
    memory.stepCommands = [];
    for (const { command, step } of commands) {
      const verdict = judge(memory.state, command, {});
      if (!verdict.accepted || memory.state !== before) continue;
      const { text, as } = this.#late(step);
      memory.failure = this.newFailure('hold', 'step-timeout', text, step, '', as);
      this.#phase.enter(verdict.next, command, 'step-timeout');
    }
    if (memory.state !== before) return true;
    const failure = faults.find((entry) => entry.class === 'fail') ?? faults[0];
    if (failure) this.fail(failure);
    return memory.state !== before;
  }

  /** A scan leaves nothing to be judged but what arrives from outside. */
  assertSettled(): void {
    const { faults, stepCommands } = this.#phase.memory;
    assert(faults.length === 0 && stepCommands.length === 0, 'what a chart reports is judged in the scan in which it does');
  }
}

/** Hold and HF stand at one level: both lead to Holding, and the first failure stays on record. */
function isHold(entry: Pending): boolean {
  return entry.kind === 'failure' ? entry.failure.class === 'hold' : entry.message.command === 'Hold';
}

function rankOf(entry: Pending): Command | 'FF' | 'HF' {
  if (entry.kind === 'failure') return entry.failure.class === 'fail' ? 'FF' : 'HF';
  return entry.message.failure?.class === 'fail' && entry.message.command === 'Abort' ? 'FF' : entry.message.command;
}
