/**
 * A phase with everything it carries from one scan to the next, for a replay that must go on bit for bit. A checkpoint is
 * less: it holds what a restart needs, and a restart begins timers anew and gives up requests in flight.
 */
import type { Failure, PhasePlan, PromptWait, RuntimeSettings, UnitInbound } from '../port.js';
import type { ChartName } from '../vocabulary/chart.js';
import type { Checksum } from '../vocabulary/checksum.js';
import type { DataType } from '../vocabulary/data-types.js';
import type { Mode } from '../vocabulary/modes.js';
import type { Command, State } from '../vocabulary/states.js';
import { Any, type Raw } from './value.js';
import { Wait } from './wait.js';
import type { Slots } from './functions.js';
import type { KeptCall, StepRun } from './step-run.js';

/** A value whose type travels with it, as plain data. */
export type SlotState = Raw | { readonly any: DataType; readonly value: Raw } | undefined;

export type WaitState = Pick<Wait, 'builtin' | 'prompt' | 'requestId' | 'remainingMs' | 'answered' | 'failure'> & {
  readonly value: SlotState;
  readonly last: SlotState;
};

export type KeptState = readonly [string, { readonly wait: WaitState } | { readonly value: SlotState }];

export type StepState = Omit<StepRun, 'temporaries' | 'wait' | 'kept'> & {
  readonly temporaries: readonly SlotState[];
  readonly wait: WaitState | null;
  readonly kept: readonly KeptState[];
};

export interface ChartState {
  readonly name: ChartName;
  readonly steps: readonly StepState[];
  readonly completed: readonly string[];
  readonly fired: readonly string[];
  readonly scanCount: number;
  readonly started: boolean;
}

export interface FrameState {
  readonly assigned: Uint8Array;
  readonly lastGood: readonly (readonly [number, Raw])[];
  readonly raised: readonly (readonly [string, boolean])[];
  readonly warned: readonly string[];
}

/** What one scan judges: a command, or a failure that arose outside the charts. */
export type Pending = { readonly kind: 'command'; readonly message: Extract<UnitInbound, { readonly type: 'command' }> } | { readonly kind: 'failure'; readonly failure: Failure };

/** A write of a chart whose end is not known yet. */
export interface Write {
  readonly address: string;
  readonly step: string;
}

/** What the time-out of a step asks for. */
export interface StepCommand {
  readonly command: Command;
  readonly step: string;
}

export interface PhaseState {
  readonly plan: PhasePlan;
  readonly state: State;
  readonly previous: State;
  readonly mode: Mode;
  readonly variables: readonly SlotState[];
  readonly frame: FrameState;
  readonly running: ChartState;
  readonly exception: ChartState | null;
  readonly exceptionMs: number;
  readonly incomplete: boolean;
  readonly runCount: number;
  readonly runElapsedMs: number;
  readonly failure: Failure | null;
  readonly holdIncomplete: boolean;
  readonly pausedAt: string;
  readonly forced: number;
  readonly returnTo: State;
  readonly raised: readonly string[];
  readonly consumed: readonly string[];
  readonly pending: readonly Pending[];
  readonly faults: readonly Failure[];
  readonly stepCommands: readonly StepCommand[];
  readonly writes: readonly (readonly [number, Write])[];
  readonly dirty: boolean;
  readonly enteredInScan: boolean;
}

export interface PhasesState {
  /** Those of the first plan: phases keep them over a hot swap. */
  readonly settings: RuntimeSettings;
  /** In the order in which they were loaded. */
  readonly phases: readonly PhaseState[];
  /** Requests whose result is awaited; a wait that its step has given up still takes one. */
  readonly requests: readonly { readonly id: number; readonly phase: string; readonly builtin: string }[];
  readonly lastRequest: number;
  /** Monotonic: the name is that of the recordings there are. */
  readonly lastWallMs: number;
}

export function saveSlot(value: Raw | Any | undefined): SlotState {
  return value instanceof Any ? { any: value.type, value: value.value } : value;
}

export function restoreSlot(saved: SlotState): Raw | Any | undefined {
  return typeof saved === 'object' ? new Any(saved.any, saved.value) : saved;
}

export function saveSlots(slots: Slots): SlotState[] {
  return Array.from(slots, saveSlot);
}

export function restoreSlots(saved: readonly SlotState[]): Slots {
  return Array.from(saved, restoreSlot);
}

function saveWait({ builtin, prompt, requestId, remainingMs, answered, failure, value, last }: Wait): WaitState {
  return { builtin, prompt, requestId, remainingMs, answered, failure, value: saveSlot(value), last: saveSlot(last) };
}

function restoreWait(saved: WaitState): Wait {
  const wait = new Wait(saved.builtin, saved.prompt as PromptWait | null, saved.remainingMs);
  wait.requestId = saved.requestId;
  wait.answered = saved.answered;
  wait.failure = saved.failure;
  wait.value = restoreSlot(saved.value);
  wait.last = restoreSlot(saved.last);
  return wait;
}

export function saveStep(step: StepRun): StepState {
  const kept = [...step.kept].map(([key, call]): KeptState => [key, 'wait' in call ? { wait: saveWait(call.wait) } : { value: saveSlot(call.value) }]);
  return { ...step, temporaries: saveSlots(step.temporaries), wait: step.wait && saveWait(step.wait), kept };
}

export function restoreStep(saved: StepState): StepRun {
  const kept = new Map(
    saved.kept.map(([key, call]): [string, KeptCall] => [key, 'wait' in call ? { wait: restoreWait(call.wait) } : { value: restoreSlot(call.value) as Raw | Any }]),
  );
  return { ...saved, temporaries: restoreSlots(saved.temporaries), wait: saved.wait && restoreWait(saved.wait), kept };
}

/** A wait for a result that nobody looks at any more. */
export function orphanWait(builtin: string): Wait {
  return new Wait(builtin, null);
}

/** Adds where a step stands. */
export function sumStep(step: StepRun, checksum: Checksum): void {
  checksum.integer(step.active ? 1 : 0);
  if (!step.active) return;
  checksum.text(step.actionState);
  checksum.integer(step.label);
  checksum.number(step.elapsedMs);
  checksum.number(step.timerMs);
}
