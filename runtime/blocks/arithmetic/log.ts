import { block } from '../block.js';

export const LOG = block({
  name: 'LOG',
  family: 'arithmetic',
  description: 'Base-10 logarithm; an input of zero or less is a block error',
  inputs: 'IN:REAL',
  outputs: 'OUT:REAL',
  code: '$OUT = Math.log10($IN);',
});
