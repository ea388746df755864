import { block } from '../block.js';

export const NOT = block({
  name: 'NOT',
  family: 'logic',
  description: 'Negation',
  inputs: 'IN:BOOL',
  outputs: 'OUT:BOOL',
  total: true,
  code: '$OUT = $IN ^ 1;',
});
