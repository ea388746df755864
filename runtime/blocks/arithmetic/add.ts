import { extensible } from '../extensible.js';

/** IEC 61131-3:2013, Table 29 (ADD); decisions 5.2, Arithmetic. */
export const ADD = extensible({
  name: 'ADD',
  family: 'arithmetic',
  description: 'Sum of the connected and constant inputs',
  type: 'NUM',
  combine: (terms) => terms.join(' + '),
});
