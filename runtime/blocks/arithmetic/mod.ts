import { block } from '../block.js';

/** IEC 61131-3:2013, Table 29 (MOD); decisions 5.2, Arithmetic: sign of IN1. Adding zero turns the -0 of a remainder into 0. */
export const MOD = block({
  name: 'MOD',
  family: 'arithmetic',
  description: 'Remainder with the sign of IN1; IN2 = 0 is a block error',
  inputs: 'IN1:INT, IN2:INT',
  outputs: 'OUT:INT',
  code: `
    if ($IN2 === 0) $fail;
    $OUT = ($IN1 % $IN2) + 0;`,
});
