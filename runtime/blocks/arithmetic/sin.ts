import { block } from '../block.js';

export const SIN = block({
  name: 'SIN',
  family: 'arithmetic',
  description: 'Sine of radians',
  inputs: 'IN:REAL',
  outputs: 'OUT:REAL',
  code: '$OUT = Math.sin($IN);',
});
