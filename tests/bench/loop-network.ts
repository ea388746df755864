/** The network of the block benches (performance notes, section E): control loops of ten blocks on three channels each. */
import type { NetworkPlan } from '../../runtime/port.js';
import { network, wires } from '../runtime/network/plans.js';

export const channelsOf = (loops: number): string[] => Array.from({ length: loops }, (_, n) => [`a${n} input`, `b${n} input`, `o${n} output`]).flat();

export function loop(n: number): NetworkPlan {
  const ai = { addr: '', rawMin: 4, rawMax: 20, engMin: 0, engMax: 100 };
  return network({
    name: `loop${n}`,
    shape: 'loop',
    blocks: [
      { name: 'a', type: 'AI', params: ai },
      { name: 'b', type: 'AI', params: ai },
      { name: 'sum', type: 'ADD' },
      { name: 'pid', type: 'PID', params: { kp: 2, ti: 'T#20s', td: 'T#1s', SP: 90 } },
      { name: 'high', type: 'GT', params: { IN2: 120 } },
      { name: 'low', type: 'LT', params: { IN2: 60 } },
      { name: 'any', type: 'OR' },
      { name: 'ton', type: 'TON', params: { PT: 'T#2s' } },
      { name: 'sel', type: 'SEL', params: { IN1: 5 } },
      { name: 'ao', type: 'AO', params: { addr: '', rawMin: 4, rawMax: 20 } },
    ],
    connections: wires(
      'a.OUT > sum.IN1',
      'b.OUT > sum.IN2',
      'sum.OUT > pid.PV',
      'sum.OUT > high.IN1',
      'sum.OUT > low.IN1',
      'high.OUT > any.IN1',
      'low.OUT > any.IN2',
      'any.OUT > ton.IN',
      'ton.Q > sel.G',
      'pid.OUT > sel.IN0',
      'sel.OUT > ao.IN',
    ),
    channels: [
      { block: 'a', image: 0, channel: 3 * n },
      { block: 'b', image: 0, channel: 3 * n + 1 },
      { block: 'ao', image: 0, channel: 3 * n + 2 },
    ],
  });
}
