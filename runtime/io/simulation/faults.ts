/**
 * Faults of simulated channels (decisions 6.3, contract 3 "Simulation"). Applied in list order after all behaviours.
 * Each is the table of its params and one function over the sample; `seconds` counts plant time since the trigger.
 */
import { QUALITY, type QualityCode } from '../../vocabulary/quality.js';
import type { ParamSpec, Params } from './params.js';

export interface FaultySample {
  value: number;
  quality: QualityCode;
  atMs: number;
}

/** What StuckValue holds; empty until the trigger. */
export interface FaultState {
  held?: { readonly value: number; readonly atMs: number };
}

export interface FaultType {
  readonly type: string;
  /** For the reference page. */
  readonly meaning: string;
  readonly params: readonly ParamSpec[];
  apply(sample: FaultySample, params: Params, seconds: number, state: FaultState): void;
}

export const FAULT_TYPES: readonly FaultType[] = [
  {
    type: 'QualityBad',
    meaning: 'The quality is Bad',
    params: [],
    apply(sample) {
      sample.quality = QUALITY.Bad;
    },
  },
  {
    type: 'SensorDrift',
    meaning: 'The value drifts by `rate` a second, by at most `max` (0: without end)',
    params: [
      { name: 'rate', type: 'number', default: 0.1 },
      { name: 'max', type: 'number', default: 0, min: 0 },
    ],
    apply(sample, params, seconds) {
      const rate = params.number('rate');
      const max = params.number('max');
      const drift = Math.abs(rate) * seconds;
      sample.value += Math.sign(rate) * (max > 0 ? Math.min(drift, max) : drift);
    },
  },
  {
    type: 'StuckValue',
    meaning: 'The value stands still, or at `value`; its time too, and its quality is Good',
    params: [{ name: 'value', type: 'number' }],
    apply(sample, params, _seconds, state) {
      state.held ??= { value: params.has('value') ? params.number('value') : sample.value, atMs: sample.atMs };
      sample.value = params.has('value') ? params.number('value') : state.held.value;
      sample.atMs = state.held.atMs;
      sample.quality = QUALITY.Good;
    },
  },
  {
    type: 'WireBreak',
    meaning: 'The value is `value` and its quality Bad',
    params: [{ name: 'value', type: 'number', default: 0 }],
    apply(sample, params) {
      sample.value = params.number('value');
      sample.quality = QUALITY.Bad;
    },
  },
  {
    type: 'Oscillation',
    meaning: 'A sine of `amplitude` and `period` is added',
    params: [
      { name: 'amplitude', type: 'number', default: 1 },
      { name: 'period', type: 'duration', default: '5s', positive: true },
    ],
    apply(sample, params, seconds) {
      sample.value += params.number('amplitude') * Math.sin((2 * Math.PI * seconds) / params.seconds('period'));
    },
  },
];

export const FAULT_TRIGGER_MODES = ['Manual', 'Timed'] as const;

export function faultType(type: string): FaultType | undefined {
  return FAULT_TYPES.find((row) => row.type === type);
}
