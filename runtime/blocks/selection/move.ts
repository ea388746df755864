import { block } from '../block.js';

export const MOVE = block({
  name: 'MOVE',
  family: 'selection',
  description: 'Passes the input on',
  inputs: 'IN:ANY',
  outputs: 'OUT:ANY',
  total: true,
  code: '$OUT = $IN;',
});
