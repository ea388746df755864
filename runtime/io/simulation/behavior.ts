/**
 * A behaviour type is one object: the table of its params, its start state and one step per tick (decisions 6.2).
 * `start` makes the state, `bind` reads the params once and returns the step. An edit binds again to the same state.
 * Invariant: a state is plain data, so that it can outlive the configuration that made it.
 */
import type { StepContext } from './expression.js';
import type { Params, ParamSpec, Source } from './params.js';

export type BehaviorStep = (context: StepContext) => number;

export interface BehaviorType<State = unknown> {
  readonly type: string;
  /** For the reference page: how the value follows from the params. */
  readonly meaning: string;
  readonly params: readonly ParamSpec[];
  start(params: Params): State;
  bind(params: Params, state: State): BehaviorStep;
}

/** All behaviours take `initial`, the value before the first tick. */
export const INITIAL: ParamSpec = { name: 'initial', type: 'number' };
export const NOISE: ParamSpec = { name: 'noise', type: 'number', default: 0 };

/** `value + noise * u`; draws only when there is noise. */
export function withNoise(value: number, noise: number, context: StepContext): number {
  return noise === 0 ? value : value + noise * context.random.uniform();
}

export type { Params, ParamSpec, Source, StepContext };
