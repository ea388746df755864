import { extensible } from '../extensible.js';

/** IEC 61131-3:2013, Table 29 (MUL); decisions 5.2, Arithmetic. */
export const MUL = extensible({
  name: 'MUL',
  family: 'arithmetic',
  description: 'Product of the connected and constant inputs',
  type: 'NUM',
  combine: (terms) => terms.join(' * '),
});
