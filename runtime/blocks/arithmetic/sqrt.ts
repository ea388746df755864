import { block } from '../block.js';

/** IEC 61131-3:2013, Table 28 (SQRT); decisions 5.2, Arithmetic. A negative input gives no number, which is a block error (5.1 rule 6). */
export const SQRT = block({
  name: 'SQRT',
  family: 'arithmetic',
  description: 'Square root; a negative input is a block error',
  inputs: 'IN:REAL',
  outputs: 'OUT:REAL',
  code: '$OUT = Math.sqrt($IN);',
});
