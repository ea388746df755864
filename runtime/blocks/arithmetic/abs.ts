import { block } from '../block.js';

export const ABS = block({
  name: 'ABS',
  family: 'arithmetic',
  description: 'Absolute value',
  inputs: 'IN:NUM',
  outputs: 'OUT:NUM',
  code: '$OUT = Math.abs($IN);',
});
