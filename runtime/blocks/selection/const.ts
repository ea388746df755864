import { block } from '../block.js';

export const CONST = block({
  name: 'CONST',
  family: 'selection',
  description: 'A constant of the type of its literal',
  outputs: 'OUT:ANY',
  params: 'value:ANY!',
  total: true,
  code: '$OUT = $value;',
});
