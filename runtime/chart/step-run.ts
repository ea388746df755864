/** One step of a chart that is being executed. */
import type { StepRecord } from '../port.js';
import type { Slots } from './functions.js';
import type { Any, Raw } from './value.js';
import type { Wait } from './wait.js';

export type ActionState = StepRecord['actionState'];

export interface StepRun {
  active: boolean;
  activation: string;
  activatedScan: number;
  elapsedMs: number;
  actionState: ActionState;
  label: number;
  temporaries: Slots;
  wait: Wait | null;
  /** Time towards the step timeout; begins anew after Restart (decisions 2.5). */
  timerMs: number;
  timedOut: boolean;
  /** Results of calls with an effect in the conditions that leave the step, by transition and site. */
  kept: Map<string, KeptCall>;
}

export type KeptCall = { readonly wait: Wait } | { readonly value: Raw | Any };

export function idleStep(): StepRun {
  return {
    active: false,
    activation: '',
    activatedScan: 0,
    elapsedMs: 0,
    actionState: 'pending',
    label: 0,
    temporaries: [],
    wait: null,
    timerMs: 0,
    timedOut: false,
    kept: new Map(),
  };
}
