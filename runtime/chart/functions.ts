/** What the functions of a compiled phase look like, and what they are given. */
import type { Any, Raw } from './value.js';

/** What compiled code may ask of the phase it runs in. */
export interface Frame {
  /** 1 at the slot of every output that has been assigned. */
  readonly assigned: Uint8Array;
  read(address: number, line: number): Any;
  readText(address: string, line: number): Any;
  write(address: number, value: Any, line: number): true;
  writeText(address: string, value: Any, line: number): true;
  message(text: string, severity: string | undefined, line: number): true;
  /** Opens the wait of the running action. */
  suspend(site: number, args: readonly (Raw | Any)[], line: number): void;
  /** Result of the wait that has just ended; throws what it failed with. */
  answer(line: number): Raw | Any;
  /** A call with an effect in a condition: once per activation of the source step, its result is kept. */
  kept(site: number, args: () => readonly (Raw | Any)[], line: number): Raw | Any;
  unset(slot: number, line: number): never;
  stepTime(step: number): number;
  stepActive(step: number): boolean;
}

export type Slots = (Raw | Any | undefined)[];
export type ActionFunction = (frame: Frame, variables: Slots, temporaries: Slots, label: number, budget: number) => number;
export type ConditionFunction = (frame: Frame, variables: Slots) => boolean;
export type OperandFunction = (frame: Frame, variables: Slots) => Any;
