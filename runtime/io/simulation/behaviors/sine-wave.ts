import { type BehaviorType, INITIAL, NOISE, withNoise } from '../behavior.js';

/** offset + amplitude * sin(2 pi t / period + phase) + noise * u (decisions 6.2). */
export const sineWave: BehaviorType<null> = {
  type: 'SineWave',
  meaning: '`offset` plus a sine of `amplitude` and `period`, `phase` in radians, with noise',
  params: [
    { name: 'amplitude', type: 'number', default: 1 },
    { name: 'period', type: 'duration', default: '60s', positive: true },
    { name: 'offset', type: 'number', default: 0 },
    { name: 'phase', type: 'number', default: 0 },
    NOISE,
    INITIAL,
  ],
  start: () => null,
  bind(params) {
    const amplitude = params.number('amplitude');
    const turn = (2 * Math.PI) / params.seconds('period');
    const offset = params.number('offset');
    const phase = params.number('phase');
    const noise = params.number('noise');
    return (context) => withNoise(offset + amplitude * Math.sin(turn * context.t + phase), noise, context);
  },
};
