import { block } from '../block.js';

/** Decisions 5.2, Arithmetic. Subtracted from zero, because the unary minus would make a -0 of an INT. */
export const NEG = block({
  name: 'NEG',
  family: 'arithmetic',
  description: 'Negation',
  inputs: 'IN:NUM',
  outputs: 'OUT:NUM',
  code: '$OUT = 0 - $IN;',
});
