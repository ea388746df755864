/** Words of ISA-88 states that the console treats alike. Commands and their validity always come from the gateway. */
import type { Command } from './types.js';

/** In the order of the contract (decisions Q-CMD-10). */
export const COMMANDS: readonly Command[] = ['Start', 'Pause', 'Resume', 'Hold', 'Restart', 'Stop', 'Abort', 'Reset'];
/** contract 3, Command rules: these need a reason by policy. */
const WITH_REASON: readonly Command[] = ['Hold', 'Stop', 'Abort', 'Reset'];

export function needsReason(command: Command): boolean {
  return WITH_REASON.includes(command);
}

const FINAL = ['Complete', 'Stopped', 'Aborted', 'Failed'];

export function isFinal(state: string): boolean {
  return FINAL.includes(state);
}

export function isResting(state: string): boolean {
  return state === '' || state === 'Idle' || isFinal(state);
}

export type Severity = 'normal' | 'attention' | 'bad';

/** Colour is for what is not normal (ISA-101): an operator scanning the screen sees these and nothing else. */
export function severityOf(state: string): Severity {
  if (state === 'Aborted' || state === 'Aborting' || state === 'Failed') return 'bad';
  if (['Held', 'Holding', 'Paused', 'Pausing', 'Stopping', 'Stopped'].includes(state)) return 'attention';
  return 'normal';
}
