/**
 * What a phase tells: reports with their checkpoint, answers to commands, events, alarms.
 * Invariant: every change a person could see leaves in a report whose checkpoint is enough to go on from.
 */
import { printValue } from '../language/value-text.js';
import type { PhaseReport, PromptWait, SfcStatus, UnitInbound } from '../port.js';
import { type Told, withTold } from '../vocabulary/told.js';
import type { ChartName } from '../vocabulary/chart.js';
import type { DataType, Value } from '../vocabulary/data-types.js';
import type { State } from '../vocabulary/states.js';
import { isFinal } from '../vocabulary/transitions.js';
import type { ChartRun } from './chart-run.js';
import type { Variable } from './layout.js';
import type { Phase } from './phase-memory.js';
import { checkpointOf } from './phase-record.js';
import { type Any, type Raw, toValue } from './value.js';
import type { Wait } from './wait.js';

export type CommandMessage = Extract<UnitInbound, { readonly type: 'command' }>;

/** The chart a state executes; Running and Pausing execute the running chart. */
export const CHART_OF: Readonly<Partial<Record<State, ChartName>>> = {
  Running: 'running',
  Pausing: 'running',
  Holding: 'holding',
  Restarting: 'restarting',
  Stopping: 'stopping',
  Aborting: 'aborting',
  Resetting: 'resetting',
};

export class PhaseReports {
  readonly #phase: Phase;

  constructor(phase: Phase) {
    this.#phase = phase;
  }

  /** Says where the phase stands; with a cause it has changed its state. */
  report(cause: string, rule: string | undefined): void {
    const { memory, host } = this.#phase;
    memory.dirty = false;
    host.emit(this.#message(cause, rule));
    if (cause !== '') memory.previous = memory.state;
  }

  /** As a report, with the present results of every condition; `invalid` says why the phase cannot start. */
  inspect(): PhaseReport & { readonly invalid: string } {
    return { ...this.#message('', undefined), invalid: this.#phase.unusable?.text ?? '' };
  }

  event(text: string, as?: Told): void {
    const { host, name } = this.#phase;
    host.emit({ type: 'event', phase: name, text, ...withTold(as), atMs: host.nowMs() });
  }

  alarm(severity: 'Medium' | 'High', text: string, as: Told | undefined): void {
    const { host, name } = this.#phase;
    host.emit({ type: 'alarm', phase: name, severity, message: `${name}: ${text}`, ...withTold(as), atMs: host.nowMs() });
  }

  accepted(message: CommandMessage): void {
    this.#answer(message, true, {});
  }

  refused(message: CommandMessage, rule: string, text: string, as: Told | undefined): void {
    this.#answer(message, false, { ...(rule !== '' ? { rule } : {}), ...(text !== '' ? { message: text } : {}), ...withTold(as) });
  }

  #answer({ id, command }: CommandMessage, accepted: boolean, why: { readonly rule?: string; readonly message?: string; readonly told?: Told }): void {
    const { host, name, memory } = this.#phase;
    host.emit({ type: 'command-result', id, phase: name, command, accepted, ...why, state: memory.state });
  }

  promptCancelled(prompt: PromptWait): void {
    const { host, name, memory } = this.#phase;
    host.emit({ type: 'prompt-cancelled', phase: name, prompt, state: memory.state, atMs: host.nowMs() });
  }

  /** Every wait of a step that was started and not left. */
  *openWaits(): Generator<Wait> {
    const { running, exception } = this.#phase.memory;
    yield* running.waits();
    if (exception) yield* exception.waits();
  }

  // -------------------------------------------------------------- a report

  #message(cause: string, rule: string | undefined): PhaseReport {
    const { memory, name, host } = this.#phase;
    const { exception } = memory;
    const prompt = this.#oldestPrompt();
    return {
      type: 'phase',
      phase: name,
      state: memory.state,
      previousState: memory.previous,
      mode: memory.mode,
      cause,
      ...(rule ? { rule } : {}),
      checkpoint: checkpointOf(this.#phase),
      sfc: this.#status(memory.running),
      ...(exception && exception.chart.steps.length > 0 ? { chart: this.#status(exception) } : {}),
      ...(prompt ? { prompt } : {}),
      outputs: this.#outputs(),
      atMs: host.nowMs(),
    };
  }

  #oldestPrompt(): PromptWait | undefined {
    let oldest: PromptWait | undefined;
    if (this.#isAtRest) return undefined;
    for (const wait of this.openWaits()) {
      if (wait.prompt && !wait.answered && (!oldest || wait.prompt.openedAtMs < oldest.openedAtMs)) oldest = wait.prompt;
    }
    return oldest;
  }

  /** No run is under way. */
  get #isAtRest(): boolean {
    const { state } = this.#phase.memory;
    return state === 'Idle' || isFinal(state);
  }

  #status(run: ChartRun): SfcStatus {
    const { state } = this.#phase.memory;
    const chart = CHART_OF[state];
    return {
      activeSteps: run.activeSteps,
      completedSteps: [...run.completed],
      firedTransitions: [...run.fired],
      scanCount: run.scanCount,
      held: state === 'Holding' || state === 'Held' || state === 'Restarting',
      transitionStates: run.reports(),
      variableSnapshot: this.#shownVariables(),
      ...(chart ? { activeChart: chart } : {}),
    };
  }

  /** Cleared on completion (contract 3, Procedural elements). */
  #shownVariables(): Record<string, string> {
    if (this.#isAtRest) return {};
    const { compiled, memory } = this.#phase;
    const entries = compiled.variables.flatMap(({ kind, name, type, slot }): [string, string][] => {
      const value = memory.variables[slot];
      return kind === 'parameter' || value === undefined ? [] : [[name, textOf(type, value)]];
    });
    return Object.fromEntries(entries);
  }

  #outputs(): PhaseReport['outputs'] {
    const { compiled, memory } = this.#phase;
    return compiled.variables.flatMap(({ kind, name, type, slot }) => {
      const value = memory.variables[slot];
      if (kind !== 'output' || value === undefined || memory.frame.assigned[slot] === 0) return [];
      return [{ name, type: type as DataType, value: textOf(type, value) }];
    });
  }
}

function textOf(type: Variable['type'], value: Raw | Any): string {
  if (typeof value === 'object') return printValue(value.type, value.value as Value | bigint);
  return type === 'ANY' ? String(value) : printValue(type, toValue(value));
}
