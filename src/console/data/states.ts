/** Words of ISA-88 states that the console treats alike. Commands and their validity always come from the gateway. */
import type { Command } from './types.js';

/** In the order of the contract (decisions Q-CMD-10). */
export const COMMANDS: readonly Command[] = ['Start', 'Pause', 'Resume', 'Hold', 'Restart', 'Stop', 'Abort', 'Reset'];
/** contract 3, Command rules: these need a reason by policy. */
const WITH_REASON: readonly Command[] = ['Hold', 'Stop', 'Abort', 'Reset'];

export function needsReason(command: Command): boolean {
  return WITH_REASON.includes(command);
}

export const FINAL = ['Complete', 'Stopped', 'Aborted', 'Failed'];

export function isFinal(state: string): boolean {
  return FINAL.includes(state);
}

export function isResting(state: string): boolean {
  return state === '' || state === 'Idle' || isFinal(state);
}

/** Between work and its end: nothing goes on, or it is on the way to that. */
export function isStanding(state: string): boolean {
  return ['Holding', 'Held', 'Pausing', 'Paused', 'Stopping', 'Aborting'].includes(state);
}

export type Severity = 'normal' | 'attention' | 'bad';

/** Colour is for what is not normal (ISA-101): an operator scanning the screen sees these and nothing else. */
export function severityOf(state: string): Severity {
  if (state === 'Aborted' || state === 'Aborting' || state === 'Failed') return 'bad';
  return isStanding(state) || state === 'Stopped' ? 'attention' : 'normal';
}
