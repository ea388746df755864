import { type BehaviorType, INITIAL } from '../behavior.js';

/** clamp(v + step * sqrt(dt) * g, min, max) (decisions 6.2). */
export const randomWalk: BehaviorType<null> = {
  type: 'RandomWalk',
  meaning: 'Moves by chance, about `step` in a second, within `min` to `max`',
  params: [INITIAL, { name: 'step', type: 'number', default: 1 }, { name: 'min', type: 'number', default: 0 }, { name: 'max', type: 'number', default: 100 }],
  start: () => null,
  bind(params) {
    const step = params.number('step');
    const min = params.number('min');
    const max = params.number('max');
    return ({ self, dt, random }) => Math.min(Math.max(self + step * Math.sqrt(dt) * random.normal(), min), max);
  },
};
