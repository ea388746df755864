import { type BehaviorType, INITIAL, NOISE, withNoise } from '../behavior.js';

interface TankState {
  content: number;
}

/** content = clamp(content + (inflow - outflow) * dt, 0, capacity), shown as such or in percent (decisions 6.2). */
export const tankLevel: BehaviorType<TankState> = {
  type: 'TankLevel',
  meaning: 'What flows in less what flows out, per second, within 0 to `capacity`; with `percent` as a share of it, with noise',
  params: [
    { name: 'capacity', type: 'number', default: 100, positive: true },
    { ...INITIAL, default: 0 },
    { name: 'inflow', type: 'source', default: 0 },
    { name: 'outflow', type: 'source', default: 0 },
    { name: 'percent', type: 'boolean', default: false },
    NOISE,
  ],
  start: (params) => ({ content: params.number('initial') }),
  bind(params, state) {
    const capacity = params.number('capacity');
    const inflow = params.source('inflow');
    const outflow = params.source('outflow');
    const percent = params.flag('percent');
    const noise = params.number('noise');
    return (context) => {
      state.content = Math.min(Math.max(state.content + (inflow() - outflow()) * context.dt, 0), capacity);
      return withNoise(percent ? (100 * state.content) / capacity : state.content, noise, context);
    };
  },
};
