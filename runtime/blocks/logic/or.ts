import { extensible } from '../extensible.js';

/** IEC 61131-3:2013, Table 31 (OR); decisions 5.2, Logic. */
export const OR = extensible({
  name: 'OR',
  family: 'logic',
  description: 'TRUE when any input is TRUE',
  type: 'BOOL',
  total: true,
  combine: (terms) => terms.join(' | '),
});
