import { block } from '../block.js';

export const EXP = block({
  name: 'EXP',
  family: 'arithmetic',
  description: 'e to the power of the input',
  inputs: 'IN:REAL',
  outputs: 'OUT:REAL',
  code: '$OUT = Math.exp($IN);',
});
