import { extensible } from '../extensible.js';

/** IEC 61131-3:2013, Table 32 (MIN); decisions 5.2, Selection and conversion. */
export const MIN = extensible({
  name: 'MIN',
  family: 'selection',
  description: 'Smallest of the connected and constant inputs',
  type: 'NUM',
  total: true,
  combine: (terms) => `Math.min(${terms.join(', ')})`,
});
