import { block } from '../block.js';

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
