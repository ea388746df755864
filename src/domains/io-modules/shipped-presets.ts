/** Simulation presets that come with the product; `seed` creates them in a site (decisions Q-IO-09). */
import type { SimulationPresetSpec } from './kind.js';

export const SHIPPED_PRESETS: readonly { readonly name: string; readonly spec: SimulationPresetSpec }[] = [
  {
    name: 'on-off-valve',
    spec: {
      description: 'Valve with two limit switches that follow its command',
      behaviors: [
        { address: 'opened', type: 'ValveFeedback', params: { command: 'command', kind: 'open', travelTime: '2s' } },
        { address: 'closed', type: 'ValveFeedback', params: { command: 'command', kind: 'closed', travelTime: '2s' } },
      ],
    },
  },
  {
    name: 'motor',
    spec: {
      description: 'Motor whose running feedback follows its command after half a second',
      behaviors: [{ address: 'running', type: 'Expr', params: { expr: 'ramp([command], 2) >= 1' } }],
    },
  },
  {
    name: 'temperature-4-20ma',
    spec: {
      description: 'Temperature 0..150 degC as 4..20 mA that follows a heating output with lag',
      behaviors: [{ address: 'temperature', type: 'PIDResponse', params: { output: 'heater', gain: 0.12, bias: 6.1, tau: '60s', deadTime: '2s', noise: 0.01 } }],
    },
  },
  {
    name: 'tank-level',
    spec: {
      description: 'Vessel content from inflow and outflow, in percent of its capacity',
      behaviors: [{ address: 'level', type: 'TankLevel', params: { capacity: 100, initial: 20, inflow: 'inflow', outflow: 'outflow', percent: true, noise: 0.05 } }],
    },
  },
  {
    name: 'noisy-transmitter',
    spec: {
      description: 'Steady 4..20 mA signal with a little noise',
      behaviors: [{ address: 'value', type: 'NoisyConstant', params: { value: 12, noise: 0.02 } }],
    },
  },
];
