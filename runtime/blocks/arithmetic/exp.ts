import { block } from '../block.js';

/** IEC 61131-3:2013, Table 28 (EXP); decisions 5.2, Arithmetic. A result that is not finite is a block error (5.1 rule 6). */
export const EXP = block({
  name: 'EXP',
  family: 'arithmetic',
  description: 'e to the power of the input',
  inputs: 'IN:REAL',
  outputs: 'OUT:REAL',
  code: '$OUT = Math.exp($IN);',
});
