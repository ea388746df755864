import { block } from '../block.js';

/** Decisions 5.2, Selection and conversion. */
export const MOVE = block({
  name: 'MOVE',
  family: 'selection',
  description: 'Passes the input on',
  inputs: 'IN:ANY',
  outputs: 'OUT:ANY',
  total: true,
  code: '$OUT = $IN;',
});
