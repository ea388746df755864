/**
 * The ISA-88 state machine of procedural elements and of batches as data (contract 3, States and transitions;
 * decisions 3.1 to 3.4). The unit runtime uses it for phases, the gateway for their parents, units and batches.
 * Invariant: every pair of state and command is either a row of a transition table or yields exactly one rule name.
 */
import type { BatchState, Command, Progression, State } from './states.js';
import { COMMANDS } from './states.js';

// ---------------------------------------------------------------- the tables

/** Class column of decisions 3.1. */
const PROGRESSIONS: Readonly<Record<State, Progression>> = {
  Idle: 'waiting',
  Running: 'acting',
  Pausing: 'acting',
  Paused: 'waiting',
  Holding: 'acting',
  Held: 'waiting',
  Restarting: 'acting',
  Stopping: 'acting',
  Stopped: 'final',
  Aborting: 'acting',
  Aborted: 'final',
  Complete: 'final',
  Resetting: 'acting',
};

export interface TransitionRow {
  readonly from: State;
  readonly by: Command;
  readonly to: State;
}

/** Decisions 3.1, command columns. A pair that is not listed is rejected. */
export const TRANSITIONS: readonly TransitionRow[] = [
  { from: 'Idle', by: 'Start', to: 'Running' },
  { from: 'Running', by: 'Pause', to: 'Pausing' },
  { from: 'Running', by: 'Hold', to: 'Holding' },
  { from: 'Running', by: 'Stop', to: 'Stopping' },
  { from: 'Running', by: 'Abort', to: 'Aborting' },
  { from: 'Pausing', by: 'Hold', to: 'Holding' },
  { from: 'Pausing', by: 'Stop', to: 'Stopping' },
  { from: 'Pausing', by: 'Abort', to: 'Aborting' },
  { from: 'Paused', by: 'Resume', to: 'Running' },
  { from: 'Paused', by: 'Hold', to: 'Holding' },
  { from: 'Paused', by: 'Stop', to: 'Stopping' },
  { from: 'Paused', by: 'Abort', to: 'Aborting' },
  { from: 'Holding', by: 'Stop', to: 'Stopping' },
  { from: 'Holding', by: 'Abort', to: 'Aborting' },
  { from: 'Held', by: 'Restart', to: 'Restarting' },
  { from: 'Held', by: 'Stop', to: 'Stopping' },
  { from: 'Held', by: 'Abort', to: 'Aborting' },
  { from: 'Restarting', by: 'Hold', to: 'Holding' },
  { from: 'Restarting', by: 'Stop', to: 'Stopping' },
  { from: 'Restarting', by: 'Abort', to: 'Aborting' },
  { from: 'Stopping', by: 'Abort', to: 'Aborting' },
  { from: 'Stopped', by: 'Reset', to: 'Resetting' },
  { from: 'Aborted', by: 'Reset', to: 'Resetting' },
  { from: 'Complete', by: 'Reset', to: 'Resetting' },
  { from: 'Resetting', by: 'Abort', to: 'Aborting' },
];

/** Decisions 3.1, column SC: where an acting state goes when its chart, or its children, are done. */
export const COMPLETIONS: Readonly<Partial<Record<State, State>>> = {
  Running: 'Complete',
  Pausing: 'Complete',
  Holding: 'Held',
  Restarting: 'Running',
  Stopping: 'Stopped',
  Aborting: 'Aborted',
  Resetting: 'Idle',
};

/** `return`: back to the final state that Resetting came from. */
export interface FailureRow {
  readonly from: State;
  readonly hold: State | 'return';
  readonly fail: State | 'return';
  readonly alarm?: 'High' | 'Medium';
  readonly holdIncomplete?: true;
}

/** Decisions 3.1, columns HF and FF. A state that is not listed takes no failure. */
export const FAILURES: readonly FailureRow[] = [
  { from: 'Running', hold: 'Holding', fail: 'Aborting' },
  { from: 'Pausing', hold: 'Holding', fail: 'Aborting' },
  { from: 'Paused', hold: 'Holding', fail: 'Aborting' },
  { from: 'Holding', hold: 'Held', fail: 'Held', alarm: 'High', holdIncomplete: true },
  { from: 'Held', hold: 'Held', fail: 'Held' },
  { from: 'Restarting', hold: 'Holding', fail: 'Aborting' },
  { from: 'Stopping', hold: 'Aborting', fail: 'Aborting' },
  { from: 'Aborting', hold: 'Aborted', fail: 'Aborted', alarm: 'High' },
  { from: 'Resetting', hold: 'return', fail: 'return', alarm: 'Medium' },
];

/** Decisions 3.8: what a state found after a restart of the runtime becomes; a state that is not listed stays. */
export const RECOVERIES: Readonly<Partial<Record<State, State>>> = {
  Running: 'Holding',
  Pausing: 'Holding',
  Paused: 'Holding',
  Restarting: 'Holding',
  Holding: 'Holding',
  Stopping: 'Stopping',
  Aborting: 'Aborting',
  Resetting: 'Resetting',
};

/** Decisions 3.2, first row: the states in which a command has already led where it leads. */
const FAMILIES: Readonly<Record<Command, readonly State[]>> = {
  Start: ['Running'],
  Pause: ['Pausing', 'Paused'],
  Resume: [],
  Hold: ['Holding', 'Held'],
  Restart: ['Restarting'],
  Stop: ['Stopping', 'Stopped'],
  Abort: ['Aborting', 'Aborted'],
  Reset: ['Resetting', 'Idle'],
};

/** Decisions 3.2, the `not-*` rows. */
const NOT_RULES: Readonly<Record<Command, string>> = {
  Start: 'not-idle',
  Pause: 'not-running',
  Resume: 'not-paused',
  Hold: 'not-running',
  Restart: 'not-held',
  Stop: 'not-running',
  Abort: 'not-running',
  Reset: 'not-final',
};

/** Decisions 3.2, start rules in the order in which they are tested. `permissive-<name>` stands after `chart-invalid`. */
export const START_RULES = [
  'allocation-unavailable',
  'unit-not-allocated',
  'unit-not-idle',
  'runtime-not-ready',
  'recipe-withdrawn',
  'binding-violation',
  'formula-out-of-range',
  'chart-invalid',
  'permissive-',
  'mode-manual',
  'node-cordoned',
  'site-outage',
  'storage-low',
] as const;

// ---------------------------------------------------------------- judging

/** What the judge must know beside the state. */
export interface JudgeFacts {
  /** An active failure blocks Restart (decisions 3.5). */
  readonly failureActive?: boolean;
  /** A child that cannot restart blocks Restart. */
  readonly childFailure?: boolean;
  /** A descendant is Held while this element is Running. */
  readonly heldInside?: boolean;
  /** A descendant was paused by Semi-Automatic mode while this element is Running. */
  readonly pausedInside?: boolean;
  /** Setting `batch.resumeCancelsPause`. */
  readonly resumeCancelsPause?: boolean;
  /** First start rule that is violated, in the order of `START_RULES`. */
  readonly startRule?: string;
}

export type Verdict<S = State> = { readonly accepted: true; readonly next: S } | { readonly accepted: false; readonly rule: string };

const NEXT = new Map<string, State>(TRANSITIONS.map((row) => [`${row.from} ${row.by}`, row.to]));

const FAILURE_BY_STATE = new Map<State, FailureRow>(FAILURES.map((row) => [row.from, row]));

function accepted<S>(next: S): Verdict<S> {
  return { accepted: true, next };
}

function rejected(rule: string): { readonly accepted: false; readonly rule: string } {
  return { accepted: false, rule };
}

export function progression(state: State): Progression {
  return PROGRESSIONS[state];
}

export function isFinal(state: State): boolean {
  return PROGRESSIONS[state] === 'final';
}

/** Active: not final and not Idle (decisions, Conventions). */
export function isActive(state: State): boolean {
  return state !== 'Idle' && !isFinal(state);
}

/** Rule of a pair without a cell, in the order of decisions 3.2. */
function rejectionRule(state: State, command: Command): string {
  if (FAMILIES[command].includes(state)) return `already-${state.toLowerCase()}`;
  if (isFinal(state) && command !== 'Reset') return 'final-state';
  return NOT_RULES[command];
}

/** Judges one command: the next state, or the one rule that forbids it. */
export function judge(state: State, command: Command, facts: JudgeFacts = {}): Verdict {
  if (state === 'Running' && command === 'Restart' && facts.heldInside) {
    return facts.childFailure ? rejected('child-failure') : accepted('Running');
  }
  if (state === 'Running' && command === 'Resume' && facts.pausedInside) return accepted('Running');
  if (state === 'Pausing' && command === 'Resume' && facts.resumeCancelsPause) return accepted('Running');
  const next = NEXT.get(`${state} ${command}`);
  if (next === undefined) return rejected(rejectionRule(state, command));
  if (command === 'Restart' && facts.failureActive) return rejected('failure-active');
  if (command === 'Restart' && facts.childFailure) return rejected('child-failure');
  if (command === 'Start' && facts.startRule) return rejected(facts.startRule);
  return accepted(next);
}

/**
 * The commands a state has cells for, in the fixed order (decisions 3.1). Start is listed whatever its start rules say:
 * they are judged when it is given.
 */
export function validCommands(state: State, facts: JudgeFacts = {}): Command[] {
  return COMMANDS.filter((command) => {
    if (command === 'Restart') return judge(state, command, { ...facts, childFailure: false }).accepted;
    if (command === 'Resume') return judge(state, command, { pausedInside: facts.pausedInside ?? false }).accepted;
    return NEXT.has(`${state} ${command}`);
  });
}

/** Effect of a failure; null in a state that takes none (Idle and the final states). */
export function judgeFailure(
  state: State,
  failureClass: 'hold' | 'fail',
  returnTo: State = 'Aborted',
): { readonly next: State; readonly alarm?: 'High' | 'Medium'; readonly holdIncomplete: boolean } | null {
  const row = FAILURE_BY_STATE.get(state);
  if (!row) return null;
  const target = row[failureClass];
  return { next: target === 'return' ? returnTo : target, ...(row.alarm && { alarm: row.alarm }), holdIncomplete: row.holdIncomplete ?? false };
}

// ---------------------------------------------------------------- several commands in one scan

/** Decisions 3.2: Abort > Stop > FF > Hold = HF > Pause > Restart > Resume > Start > Reset. A larger number wins. */
export const PRIORITY: Readonly<Record<Command | 'FF' | 'HF', number>> = {
  Abort: 8,
  Stop: 7,
  FF: 6,
  Hold: 5,
  HF: 5,
  Pause: 4,
  Restart: 3,
  Resume: 2,
  Start: 1,
  Reset: 0,
};

export interface Judged<T> {
  readonly entry: T;
  readonly verdict: Verdict;
  /** The entry this one lost against, with rule `superseded`. */
  readonly winner?: T;
}

/**
 * Judges everything that one scan has collected. The highest entry that the state accepts wins; entries above it keep
 * the rule they were refused with, entries below it are `superseded`. Equal priority: the earlier entry wins.
 * Results come in the order of judging.
 */
export function judgeScan<T extends { readonly command: Command }>(state: State, entries: readonly T[], facts: JudgeFacts = {}): Judged<T>[] {
  const order = [...entries].sort((a, b) => PRIORITY[b.command] - PRIORITY[a.command]);
  let winner: T | undefined;
  return order.map((entry) => {
    if (winner) return { entry, verdict: rejected('superseded'), winner };
    const verdict = judge(state, entry.command, facts);
    if (verdict.accepted) winner = entry;
    return { entry, verdict };
  });
}

// ---------------------------------------------------------------- batches

export interface BatchRow {
  readonly from: BatchState;
  readonly by: Command;
  readonly to: BatchState;
}

const BATCH_FINAL: readonly BatchState[] = ['Complete', 'Stopped', 'Aborted', 'Failed'];

/** Decisions 3.3. Reset of a final batch is accepted and changes nothing on the batch itself. */
export const BATCH_TRANSITIONS: readonly BatchRow[] = [
  { from: 'Pending', by: 'Start', to: 'Running' },
  ...TRANSITIONS.filter((row) => row.from !== 'Idle' && row.from !== 'Resetting' && row.by !== 'Reset').map((row) => ({
    from: row.from as BatchState,
    by: row.by,
    to: row.to as BatchState,
  })),
  ...BATCH_FINAL.map((state): BatchRow => ({ from: state, by: 'Reset', to: state })),
];

const BATCH_NEXT = new Map<string, BatchState>(BATCH_TRANSITIONS.map((row) => [`${row.from} ${row.by}`, row.to]));

export function isBatchFinal(state: BatchState): boolean {
  return BATCH_FINAL.includes(state);
}

export function batchProgression(state: BatchState): Progression {
  if (state === 'Pending') return 'waiting';
  return state === 'Failed' ? 'final' : PROGRESSIONS[state];
}

/** Pending counts as Idle for the rules of decisions 3.2. */
export function judgeBatch(state: BatchState, command: Command, facts: JudgeFacts = {}): Verdict<BatchState> {
  if (state === 'Running' || state === 'Pausing' || state === 'Held' || state === 'Pending') {
    const verdict = judge(state === 'Pending' ? 'Idle' : state, command, facts);
    return verdict as Verdict<BatchState>;
  }
  const next = BATCH_NEXT.get(`${state} ${command}`);
  if (next !== undefined) return accepted(next);
  if (state === 'Failed') return rejected('final-state');
  return rejected(rejectionRule(state, command));
}

/** `[Reset]` for a final batch, `[Start]` for a pending one. */
export function batchCommands(state: BatchState, facts: JudgeFacts = {}): Command[] {
  if (state === 'Pending') return ['Start'];
  if (isBatchFinal(state)) return ['Reset'];
  return validCommands(state as State, facts);
}

// ---------------------------------------------------------------- parents and children

/** Decisions 3.4, column Children: the child states that are sent the command of their parent. */
export const PROPAGATION: Readonly<Partial<Record<Command, readonly State[]>>> = {
  Pause: ['Running'],
  Hold: ['Running', 'Pausing', 'Paused', 'Restarting'],
  Restart: ['Held'],
  Resume: ['Paused'],
  Stop: ['Running', 'Pausing', 'Paused', 'Holding', 'Held', 'Restarting'],
  Abort: ['Running', 'Pausing', 'Paused', 'Holding', 'Held', 'Restarting', 'Stopping', 'Resetting'],
  Reset: ['Stopped', 'Aborted', 'Complete'],
};

/** True when a child in this state gets the command that its parent has accepted. */
export function childTakes(command: Command, child: State): boolean {
  return PROPAGATION[command]?.includes(child) ?? false;
}

/** Decisions 3.4, last column: the states that every child has reached when the parent may leave the acting state. */
const SETTLED: Readonly<Partial<Record<State, readonly State[]>>> = {
  Pausing: ['Idle', 'Paused', 'Held', 'Complete', 'Stopped', 'Aborted'],
  Holding: ['Idle', 'Held', 'Complete', 'Stopped', 'Aborted'],
  Restarting: ['Idle', 'Running', 'Complete', 'Stopped', 'Aborted'],
  Stopping: ['Idle', 'Complete', 'Stopped', 'Aborted'],
  Aborting: ['Idle', 'Complete', 'Stopped', 'Aborted'],
  Resetting: ['Idle'],
};

/** True when the children let their parent leave `parent`; Running is left at the end of its chart only. */
export function childrenSettled(parent: State, children: readonly State[]): boolean {
  const settled = SETTLED[parent];
  return settled !== undefined && children.every((child) => settled.includes(child));
}
