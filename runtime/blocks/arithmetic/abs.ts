import { block } from '../block.js';

/** IEC 61131-3:2013, Table 28 (ABS); decisions 5.2, Arithmetic. */
export const ABS = block({
  name: 'ABS',
  family: 'arithmetic',
  description: 'Absolute value',
  inputs: 'IN:NUM',
  outputs: 'OUT:NUM',
  code: '$OUT = Math.abs($IN);',
});
