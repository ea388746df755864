import { block } from '../block.js';

export const NE = block({
  name: 'NE',
  family: 'comparison',
  description: 'IN1 differs from IN2',
  inputs: 'IN1:ANY, IN2:ANY',
  outputs: 'OUT:BOOL',
  total: true,
  code: '$OUT = $IN1 !== $IN2 ? 1 : 0;',
});
