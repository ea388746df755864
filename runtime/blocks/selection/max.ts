import { extensible } from '../extensible.js';

/** IEC 61131-3:2013, Table 32 (MAX); decisions 5.2, Selection and conversion. */
export const MAX = extensible({
  name: 'MAX',
  family: 'selection',
  description: 'Largest of the connected and constant inputs',
  type: 'NUM',
  total: true,
  combine: (terms) => `Math.max(${terms.join(', ')})`,
});
