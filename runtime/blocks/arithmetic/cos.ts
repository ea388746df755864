import { block } from '../block.js';

export const COS = block({
  name: 'COS',
  family: 'arithmetic',
  description: 'Cosine of radians',
  inputs: 'IN:REAL',
  outputs: 'OUT:REAL',
  code: '$OUT = Math.cos($IN);',
});
