import { block } from '../block.js';

export const EXPT = block({
  name: 'EXPT',
  family: 'arithmetic',
  description: 'IN1 to the power of IN2; a result that is not finite is a block error',
  inputs: 'IN1:REAL, IN2:REAL',
  outputs: 'OUT:REAL',
  code: '$OUT = Math.pow($IN1, $IN2);',
});
