import { block } from '../block.js';

/** IEC 61131-3:2013, 6.6.2.5.4 (TRUNC: toward zero); decisions 5.2, Arithmetic. Adding zero turns -0 into 0. */
export const TRUNC = block({
  name: 'TRUNC',
  family: 'arithmetic',
  description: 'Cut toward zero; a value outside INT is a block error',
  inputs: 'IN:REAL',
  outputs: 'OUT:INT',
  code: '$OUT = Math.trunc($IN) + 0;',
});
