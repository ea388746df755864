import { block } from '../block.js';

export const NEG = block({
  name: 'NEG',
  family: 'arithmetic',
  description: 'Negation',
  inputs: 'IN:NUM',
  outputs: 'OUT:NUM',
  code: '$OUT = 0 - $IN;',
});
