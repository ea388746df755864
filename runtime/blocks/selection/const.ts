import { block } from '../block.js';

/** Decisions 5.2, Selection and conversion: a number with a decimal point is REAL. */
export const CONST = block({
  name: 'CONST',
  family: 'selection',
  description: 'A constant of the type of its literal',
  outputs: 'OUT:ANY',
  params: 'value:ANY!',
  total: true,
  code: '$OUT = $value;',
});
