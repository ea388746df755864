import { block } from '../block.js';

/** IEC 61131-3:2013, Table 29 (SUB); decisions 5.2, Arithmetic. */
export const SUB = block({
  name: 'SUB',
  family: 'arithmetic',
  description: 'Difference',
  inputs: 'IN1:NUM, IN2:NUM',
  outputs: 'OUT:NUM',
  code: '$OUT = $IN1 - $IN2;',
});
