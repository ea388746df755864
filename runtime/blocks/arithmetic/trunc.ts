import { block } from '../block.js';

export const TRUNC = block({
  name: 'TRUNC',
  family: 'arithmetic',
  description: 'Cut toward zero; a value outside INT is a block error',
  inputs: 'IN:REAL',
  outputs: 'OUT:INT',
  code: '$OUT = Math.trunc($IN) + 0;',
});
