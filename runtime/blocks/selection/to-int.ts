import { block, ROUND_HALF_EVEN } from '../block.js';

/** Decisions 5.2, Selection and conversion: REAL rounds as ROUND; TIME gives milliseconds. */
export const TO_INT = block({
  name: 'TO_INT',
  family: 'selection',
  description: 'Conversion to INT; TIME in milliseconds, unreadable text is a block error',
  inputs: 'IN:ANY',
  outputs: 'OUT:INT',
  code: (form) => {
    if (form.type('IN') === 'STRING') return '$OUT = T.integer($IN);';
    return form.type('IN') === 'REAL' ? ROUND_HALF_EVEN : '$OUT = $IN;';
  },
});
