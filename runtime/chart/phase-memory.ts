/**
 * Everything a phase carries from one scan to the next, and what becomes of each field when the unit restarts (decisions 2.6,
 * 3.8) or a replay goes on (ADR 0005).
 *
 * Invariant: a field that is added to `PhaseMemory` does not compile until `KEPT` says what a restart makes of it and `COPIES`
 * how a replay gets it; one that is kept not until `phase-record.ts` writes it and reads it back.
 */
import type { Failure, PhasePlan, RuntimeSettings } from '../port.js';
import type { ChartName } from '../vocabulary/chart.js';
import { asIs, asList, asWords, type Copies, type Copy, copyIn, copyOut, type Fate, type KeptOf } from '../vocabulary/kept.js';
import type { Mode } from '../vocabulary/modes.js';
import type { State } from '../vocabulary/states.js';
import type { ChartRun } from './chart-run.js';
import type { CompiledPhase } from './compile.js';
import type { PhaseFrame } from './frame.js';
import type { Slots } from './functions.js';
import type { ChartHost } from './host.js';
import { type Pending, type PhaseState, restoreSlots, saveSlots, type StepCommand, type Write } from './snapshot.js';

export interface PhaseMemory {
  state: State;
  /** The state before a change that is being reported; at all other times the state. */
  previous: State;
  mode: Mode;
  /** By slot; an unset one is undefined. */
  variables: Slots;
  readonly frame: PhaseFrame;
  running: ChartRun;
  /** Of Restarting, Holding, Stopping, Aborting and Resetting. */
  exception: ChartRun | null;
  /** Plant ms that the present exception chart has run. */
  exceptionMs: number;
  /** An action of the present exception chart has failed (decisions 3.5). */
  incomplete: boolean;
  runCount: number;
  /** Plant ms in Running and Pausing of this run. */
  runElapsedMs: number;
  failure: Failure | null;
  holdIncomplete: boolean;
  /** Key of the transition that Semi-Automatic has stopped at; empty: none. */
  pausedAt: string;
  /** Index of the transition that the next scan fires because a person has resumed there; -1: none. */
  forced: number;
  /** Final state that Resetting came from. */
  returnTo: State;
  raised: Set<string>;
  /** Signals and barriers whose first read is on record. */
  consumed: Set<string>;
  /** Commands and outside failures since the last scan. */
  pending: Pending[];
  /** Failures of the chart being scanned; applied at its end. */
  faults: Failure[];
  /** Commands of step time-outs in the chart being scanned; applied at its end. */
  stepCommands: StepCommand[];
  /** Writes whose end is not known yet, by slot. */
  writes: Map<number, Write>;
  /** Something a person could see has changed since the last report. */
  dirty: boolean;
  /** The state was entered by a command or a failure of this scan, so its chart begins in it. */
  enteredInScan: boolean;
}

/** What a restart of the unit makes of each field. */
export const KEPT = {
  state: 'kept',
  previous: 'derived', // the state
  mode: 'kept', // the gateway sends what was set in the meantime
  variables: 'kept',
  frame: 'kept', // assigned outputs; last good values are learnt anew, and warnings given anew
  running: 'kept',
  exception: 'derived', // the state begins its chart anew: the record only shows where it stood
  exceptionMs: 'derived', // with its chart
  incomplete: 'derived', // with its chart
  runCount: 'kept',
  runElapsedMs: 'kept',
  failure: 'kept',
  holdIncomplete: 'kept',
  pausedAt: 'kept',
  forced: 'lost', // fires in the scan of its Resume; after a restart the phase is Held and stops there anew
  returnTo: 'kept',
  raised: 'kept',
  consumed: 'kept',
  pending: 'lost', // a command that is not answered was not obeyed: the gateway gives it again or refuses it
  faults: 'lost', // empty between two scans
  stepCommands: 'lost', // empty between two scans
  writes: 'lost', // what was under way is Held after a restart
  dirty: 'derived', // the recovery reports
  enteredInScan: 'derived', // set at the beginning of each scan
} as const satisfies Record<keyof PhaseMemory, Fate>;

export type KeptField = KeptOf<typeof KEPT>;

/** A phase as its parts see it. */
export interface Phase {
  readonly name: string;
  readonly plan: PhasePlan;
  readonly compiled: CompiledPhase;
  readonly host: ChartHost;
  readonly settings: RuntimeSettings;
  /** Why the charts cannot be executed, and the rule by which a Start is refused for it; null when they can. */
  readonly unusable: Unusable | null;
  readonly memory: PhaseMemory;
  /** A run of the chart; of the empty one where the template has none, or when it is asked for. */
  newRun(name: ChartName, isEmpty?: boolean): ChartRun;
  /** Changes the state, prepares what it executes, and reports. */
  enter(next: State, cause: string, rule: string | undefined): void;
}

export interface Unusable {
  readonly rule: 'chart-invalid' | 'formula-out-of-range';
  readonly text: string;
}

// -------------------------------------------------------------- replay

const chart: Copy<ChartRun, PhaseState['running'], Phase> = {
  save: (run) => run.snapshot(),
  load: (saved, phase) => {
    // an exception chart that the template does not have is the empty one, which is named as the running chart
    const run = phase.newRun(saved.name, saved.steps.length === 0 && saved.name === 'running');
    run.resume(saved);
    return run;
  },
};

/** All of it: a checkpoint is for restarts and holds less. In the order in which a recording has it. */
const COPIES: Copies<PhaseMemory, PhaseState, Phase> = {
  state: asIs(),
  previous: asIs(),
  mode: asIs(),
  variables: { save: saveSlots, load: restoreSlots },
  frame: {
    save: (frame) => frame.snapshot(),
    load: (saved, { memory: { frame } }) => {
      frame.restore(saved);
      return frame;
    },
  },
  running: chart,
  exception: { save: (run) => run && chart.save(run), load: (saved, phase) => saved && chart.load(saved, phase) },
  exceptionMs: asIs(),
  incomplete: asIs(),
  runCount: asIs(),
  runElapsedMs: asIs(),
  failure: asIs(),
  holdIncomplete: asIs(),
  pausedAt: asIs(),
  forced: asIs(),
  returnTo: asIs(),
  raised: asWords,
  consumed: asWords,
  pending: asList(),
  faults: asList(),
  stepCommands: asList(),
  writes: { save: (writes) => [...writes], load: (writes) => new Map(writes) },
  dirty: asIs(),
  enteredInScan: asIs(),
};

/** Where a replay goes on from; taken between two scans. */
export function snapshotOf({ plan: { checkpoint: _, ...plan }, memory }: Phase): PhaseState {
  return { plan, ...copyOut(COPIES, memory) };
}

/** Goes on from a snapshot of the same plan; says nothing. */
export function resume(phase: Phase, saved: PhaseState): void {
  copyIn(COPIES, phase.memory, saved, phase);
}
