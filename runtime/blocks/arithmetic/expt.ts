import { block } from '../block.js';

/** IEC 61131-3:2013, Table 29 (EXPT); decisions 5.2, Arithmetic. A result that is not finite is a block error (5.1 rule 6). */
export const EXPT = block({
  name: 'EXPT',
  family: 'arithmetic',
  description: 'IN1 to the power of IN2; a result that is not finite is a block error',
  inputs: 'IN1:REAL, IN2:REAL',
  outputs: 'OUT:REAL',
  code: '$OUT = Math.pow($IN1, $IN2);',
});
