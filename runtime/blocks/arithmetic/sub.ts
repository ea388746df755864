import { block } from '../block.js';

export const SUB = block({
  name: 'SUB',
  family: 'arithmetic',
  description: 'Difference',
  inputs: 'IN1:NUM, IN2:NUM',
  outputs: 'OUT:NUM',
  code: '$OUT = $IN1 - $IN2;',
});
