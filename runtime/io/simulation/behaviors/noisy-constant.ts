import { type BehaviorType, INITIAL, NOISE, withNoise } from '../behavior.js';

/** value + noise * u (decisions 6.2). */
export const noisyConstant: BehaviorType<null> = {
  type: 'NoisyConstant',
  meaning: '`value`, with noise',
  params: [{ name: 'value', type: 'number', default: 0 }, NOISE, INITIAL],
  start: () => null,
  bind(params) {
    const value = params.number('value');
    const noise = params.number('noise');
    return (context) => withNoise(value, noise, context);
  },
};
