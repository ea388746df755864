import { type BehaviorType, INITIAL } from '../behavior.js';
import { inPulse } from '../formulas.js';

/** ((t - delay) mod period) < dutyCycle * period; before the delay FALSE; then XOR invert (decisions 6.2). */
export const digitalPulse: BehaviorType<null> = {
  type: 'DigitalPulse',
  meaning: 'TRUE for the first `dutyCycle` of each `period`, from `delay` on; `invert` exchanges both',
  params: [
    { name: 'period', type: 'duration', default: '10s', positive: true },
    { name: 'dutyCycle', type: 'number', default: 0.5, min: 0, max: 1 },
    { name: 'delay', type: 'duration', default: '0s', min: 0 },
    { name: 'invert', type: 'boolean', default: false },
    INITIAL,
  ],
  start: () => null,
  bind(params) {
    const period = params.seconds('period');
    const dutyCycle = params.number('dutyCycle');
    const delay = params.seconds('delay');
    const invert = params.flag('invert');
    return ({ t }) => {
      const since = t - delay;
      const high = since > -1e-9 && inPulse(since, period, dutyCycle);
      return high !== invert ? 1 : 0;
    };
  },
};
