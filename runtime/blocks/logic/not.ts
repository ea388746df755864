import { block } from '../block.js';

/** IEC 61131-3:2013, Table 31 (NOT); decisions 5.2, Logic. */
export const NOT = block({
  name: 'NOT',
  family: 'logic',
  description: 'Negation',
  inputs: 'IN:BOOL',
  outputs: 'OUT:BOOL',
  total: true,
  code: '$OUT = $IN ^ 1;',
});
