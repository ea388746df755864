import { type BehaviorType, INITIAL, NOISE, withNoise } from '../behavior.js';
import { ago, DELAY_MAX_S, type DelayLine, emptyLine, remember } from '../delay-line.js';
import { lagShare } from '../formulas.js';

/** Of a tick: 0.3 s are three ticks of 0.1 s. */
const ROUNDING = 1e-9;

interface ResponseState {
  y: number;
  readonly outputs: DelayLine;
}

/**
 * First-order process with dead time: y += (gain * output(t - deadTime) + bias - y) * (1 - exp(-dt/tau)) (decisions 6.2). The output stands still
 * within a tick, so this is the analytic curve at each tick; where the dead time ends within a tick, both parts of it are gone through.
 */
export const pidResponse: BehaviorType<ResponseState> = {
  type: 'PIDResponse',
  meaning: 'A process of first order that follows the channel `output`: with time constant `tau` towards `gain` times its value of `deadTime` ago, plus `bias`, with noise',
  params: [
    { name: 'output', type: 'address', required: true },
    { name: 'gain', type: 'number', default: 1 },
    { name: 'bias', type: 'number', default: 0 },
    { name: 'tau', type: 'duration', default: '10s', min: 0 },
    { name: 'deadTime', type: 'duration', default: '0s', min: 0, max: DELAY_MAX_S },
    NOISE,
    INITIAL,
  ],
  start: (params) => ({ y: params.number(params.has('initial') ? 'initial' : 'bias'), outputs: emptyLine() }),
  bind(params, state) {
    const output = params.source('output');
    const gain = params.number('gain');
    const bias = params.number('bias');
    const tau = params.seconds('tau');
    const deadTime = params.seconds('deadTime');
    const noise = params.number('noise');
    return (context) => {
      const { dt } = context;
      const ticks = Math.floor(deadTime / dt + ROUNDING);
      const part = deadTime - ticks * dt; // of this tick, in which the older output still acts
      remember(state.outputs, output(), ticks + 1);
      if (part > ROUNDING) state.y += (gain * ago(state.outputs, ticks + 1) + bias - state.y) * lagShare(part, tau);
      state.y += (gain * ago(state.outputs, ticks) + bias - state.y) * lagShare(part > ROUNDING ? dt - part : dt, tau);
      return withNoise(state.y, noise, context);
    };
  },
};
