import { block } from '../block.js';

/** IEC 61131-3:2013, Table 28 (LN); decisions 5.2, Arithmetic. Zero and less give no finite number, which is a block error (5.1 rule 6). */
export const LN = block({
  name: 'LN',
  family: 'arithmetic',
  description: 'Natural logarithm; an input of zero or less is a block error',
  inputs: 'IN:REAL',
  outputs: 'OUT:REAL',
  code: '$OUT = Math.log($IN);',
});
