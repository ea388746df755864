import { block } from '../block.js';

/** IEC 61131-3:2013, Table 28 (SIN); decisions 5.2, Arithmetic. The argument is in radians. */
export const SIN = block({
  name: 'SIN',
  family: 'arithmetic',
  description: 'Sine of radians',
  inputs: 'IN:REAL',
  outputs: 'OUT:REAL',
  code: '$OUT = Math.sin($IN);',
});
