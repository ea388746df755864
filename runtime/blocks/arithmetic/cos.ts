import { block } from '../block.js';

/** IEC 61131-3:2013, Table 28 (COS); decisions 5.2, Arithmetic. The argument is in radians. */
export const COS = block({
  name: 'COS',
  family: 'arithmetic',
  description: 'Cosine of radians',
  inputs: 'IN:REAL',
  outputs: 'OUT:REAL',
  code: '$OUT = Math.cos($IN);',
});
