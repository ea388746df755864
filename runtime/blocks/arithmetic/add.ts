import { extensible } from '../extensible.js';

/** IEC 61131-3:2013, Table 29 (ADD); decisions 5.2, Arithmetic. A sum beyond 2^53 would be rounded, and later terms could bring it back. */
export const ADD = extensible({
  name: 'ADD',
  family: 'arithmetic',
  description: 'Sum of the connected and constant inputs',
  type: 'NUM',
  partsOverflow: true,
  combine: (terms) => terms.join(' + '),
});
