import { extensible } from '../extensible.js';

/** IEC 61131-3:2013, Table 31 (XOR); decisions 5.2, Logic. */
export const XOR = extensible({
  name: 'XOR',
  family: 'logic',
  description: 'TRUE when an odd number of inputs is TRUE',
  type: 'BOOL',
  total: true,
  combine: (terms) => terms.join(' ^ '),
});
