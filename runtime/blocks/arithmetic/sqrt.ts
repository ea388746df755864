import { block } from '../block.js';

export const SQRT = block({
  name: 'SQRT',
  family: 'arithmetic',
  description: 'Square root; a negative input is a block error',
  inputs: 'IN:REAL',
  outputs: 'OUT:REAL',
  code: '$OUT = Math.sqrt($IN);',
});
