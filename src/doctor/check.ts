/** What a check of `lineside doctor` is given, and what it finds. */
import type { Box } from '../appliance/box.js';
import type { Machine } from '../box/machine.js';
import type { Clock } from '../platform/base/clock.js';
import type { Settings } from '../settings.js';

/** `unknown`: the machine does not tell, and nothing was measured. It is no fault, and no promise. */
export type Verdict = 'ok' | 'warning' | 'fault' | 'unknown';

export interface Finding {
  readonly verdict: Verdict;
  /** What was measured or read, in words with units. */
  readonly measured: string;
  /** What it should be. */
  readonly limit: string;
  /** What it means for a line. */
  readonly meaning: string;
  /** '' where there is nothing to do. */
  readonly whatToDo: string;
  /** The same for a program; times in ms where the name says nothing else. */
  readonly figures?: Readonly<Record<string, unknown>>;
}

export interface Examined {
  readonly machine: Machine;
  readonly settings: Settings;
  readonly box: Box;
  readonly clock: Clock;
  /** How long timers are watched. */
  readonly seconds: number;
  /** Prints what a program of the machine says; undefined where it is not there, fails, or the machine is a recording. */
  ask(program: string, ...args: readonly string[]): Promise<string | undefined>;
}

export interface Check {
  readonly name: string;
  look(examined: Examined): Finding | Promise<Finding>;
}

/** The machine does not say it. */
export function untold(measured: string, limit: string, meaning: string, whatToDo = ''): Finding {
  return { verdict: 'unknown', measured, limit, meaning, whatToDo };
}
