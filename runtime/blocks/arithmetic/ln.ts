import { block } from '../block.js';

export const LN = block({
  name: 'LN',
  family: 'arithmetic',
  description: 'Natural logarithm; an input of zero or less is a block error',
  inputs: 'IN:REAL',
  outputs: 'OUT:REAL',
  code: '$OUT = Math.log($IN);',
});
