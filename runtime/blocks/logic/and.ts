import { extensible } from '../extensible.js';

/** IEC 61131-3:2013, Table 31 (AND); decisions 5.2, Logic. */
export const AND = extensible({
  name: 'AND',
  family: 'logic',
  description: 'TRUE when every connected or constant input is TRUE',
  type: 'BOOL',
  total: true,
  combine: (terms) => terms.join(' & '),
});
