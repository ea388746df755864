/**
 * Faults of simulated channels (decisions 6.3, contract 3 "Simulation"). Applied in list order after all behaviours.
 * Each is the table of its params and one function over the sample.
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

/** `seconds` counts plant time since the trigger. */
export type FaultStep = (sample: FaultySample, seconds: number) => void;

export interface FaultType {
  readonly type: string;
  /** For the reference page. */
  readonly meaning: string;
  readonly params: readonly ParamSpec[];
  /** Reads the params once; an edit binds again to the same state. */
  bind(params: Params, state: FaultState): FaultStep;
}

export const FAULT_TYPES: readonly FaultType[] = [
  {
    type: 'QualityBad',
    meaning: 'The quality is Bad',
    params: [],
    bind: () => (sample) => {
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
    bind(params) {
      const rate = params.number('rate');
      const max = params.number('max');
      return (sample, seconds) => {
        const drift = Math.abs(rate) * seconds;
        sample.value += Math.sign(rate) * (max > 0 ? Math.min(drift, max) : drift);
      };
    },
  },
  {
    type: 'StuckValue',
    meaning: 'The value stands still, or at `value`; its time too, and its quality is Good',
    params: [{ name: 'value', type: 'number' }],
    bind(params, state) {
      const value = params.has('value') ? params.number('value') : undefined;
      return (sample) => {
        state.held ??= { value: value ?? sample.value, atMs: sample.atMs };
        sample.value = value ?? state.held.value;
        sample.atMs = state.held.atMs;
        sample.quality = QUALITY.Good;
      };
    },
  },
  {
    type: 'WireBreak',
    meaning: 'The value is `value` and its quality Bad',
    params: [{ name: 'value', type: 'number', default: 0 }],
    bind(params) {
      const value = params.number('value');
      return (sample) => {
        sample.value = value;
        sample.quality = QUALITY.Bad;
      };
    },
  },
  {
    type: 'Oscillation',
    meaning: 'A sine of `amplitude` and `period` is added',
    params: [
      { name: 'amplitude', type: 'number', default: 1 },
      { name: 'period', type: 'duration', default: '5s', positive: true },
    ],
    bind(params) {
      const amplitude = params.number('amplitude');
      const turn = (2 * Math.PI) / params.seconds('period');
      return (sample, seconds) => {
        sample.value += amplitude * Math.sin(turn * seconds);
      };
    },
  },
];

export const FAULT_TRIGGER_MODES = ['Manual', 'Timed'] as const;

export function faultType(type: string): FaultType | undefined {
  return FAULT_TYPES.find((row) => row.type === type);
}
