import { type BehaviorType, INITIAL, NOISE, withNoise } from '../behavior.js';
import { moveTowards } from '../formulas.js';

interface RampState {
  base: number;
  returning: boolean;
  /** Seconds waited at the end reached; 0 while moving. */
  waited: number;
}

/** A base moves from start to target at `rate`; with `cycle` it waits `hold`, returns, waits and repeats (decisions 6.2). */
export const temperatureRamp: BehaviorType<RampState> = {
  type: 'TemperatureRamp',
  meaning: 'From `start` to `target` by `rate` a second; with `cycle` it waits `hold`, goes back, waits and begins again, with noise',
  params: [
    { name: 'start', type: 'number', default: 20 },
    { name: 'target', type: 'number', default: 80 },
    { name: 'rate', type: 'number', default: 1 },
    { name: 'hold', type: 'duration', default: '0s', min: 0 },
    { name: 'cycle', type: 'boolean', default: false },
    NOISE,
    INITIAL,
  ],
  start: (params) => ({ base: params.number('start'), returning: false, waited: 0 }),
  bind(params, state) {
    const start = params.number('start');
    const target = params.number('target');
    const rate = params.number('rate');
    const hold = params.seconds('hold');
    const cycle = params.flag('cycle');
    const noise = params.number('noise');
    return (context) => {
      const end = state.returning ? start : target;
      if (state.base !== end) {
        state.base = moveTowards(state.base, end, rate * context.dt);
        state.waited = 0;
      } else if (cycle) {
        state.waited += context.dt;
      }
      if (cycle && state.base === end && state.waited >= hold - 1e-9) {
        state.returning = !state.returning;
        state.waited = 0;
      }
      return withNoise(state.base, noise, context);
    };
  },
};
