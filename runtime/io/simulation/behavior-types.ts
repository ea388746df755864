/** All behaviour types (contract 3, "Simulation"); a new one is one file and one line here. */
import type { BehaviorType } from './behavior.js';
import { digitalPulse } from './behaviors/digital-pulse.js';
import { expr } from './behaviors/expr.js';
import { noisyConstant } from './behaviors/noisy-constant.js';
import { pidResponse } from './behaviors/pid-response.js';
import { randomWalk } from './behaviors/random-walk.js';
import { sineWave } from './behaviors/sine-wave.js';
import { tankLevel } from './behaviors/tank-level.js';
import { temperatureRamp } from './behaviors/temperature-ramp.js';
import { valveFeedback } from './behaviors/valve-feedback.js';

// Each entry is only ever given the state that it made itself, so the type of the state may be forgotten here.
export const BEHAVIOR_TYPES = [sineWave, randomWalk, noisyConstant, digitalPulse, temperatureRamp, valveFeedback, tankLevel, pidResponse, expr] as readonly BehaviorType[];

export function behaviorType(type: string): BehaviorType | undefined {
  return BEHAVIOR_TYPES.find((row) => row.type === type);
}
