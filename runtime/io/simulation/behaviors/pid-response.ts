import { type BehaviorType, type DelayLine, delayed, INITIAL, NOISE, withNoise } from '../behavior.js';
import { lagShare } from '../expression.js';

interface ResponseState {
  y: number;
  readonly outputs: DelayLine;
}

/** First-order process with dead time: y += (gain * output(t - deadTime) + bias - y) * (1 - exp(-dt/tau)) (decisions 6.2). */
export const pidResponse: BehaviorType<ResponseState> = {
  type: 'PIDResponse',
  meaning: 'A process of first order that follows the channel `output`: with time constant `tau` towards `gain` times its value of `deadTime` ago, plus `bias`, with noise',
  params: [
    { name: 'output', type: 'address', required: true },
    { name: 'gain', type: 'number', default: 1 },
    { name: 'bias', type: 'number', default: 0 },
    { name: 'tau', type: 'duration', default: '10s', min: 0 },
    { name: 'deadTime', type: 'duration', default: '0s', min: 0 },
    NOISE,
    INITIAL,
  ],
  start: (params) => ({ y: params.number(params.has('initial') ? 'initial' : 'bias'), outputs: { held: [] } }),
  bind(params, state) {
    const output = params.source('output');
    const gain = params.number('gain');
    const bias = params.number('bias');
    const tau = params.seconds('tau');
    const deadTime = params.seconds('deadTime');
    const noise = params.number('noise');
    return (context) => {
      const driven = gain * delayed(state.outputs, output(), deadTime, context.dt) + bias;
      state.y += (driven - state.y) * lagShare(context.dt, tau);
      return withNoise(state.y, noise, context);
    };
  },
};
