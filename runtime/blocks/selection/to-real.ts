import { block } from '../block.js';

/** Decisions 5.2, Selection and conversion: TIME gives seconds; a text that is no decimal number reads as NaN, which is a block error. */
export const TO_REAL = block({
  name: 'TO_REAL',
  family: 'selection',
  description: 'Conversion to REAL; TIME in seconds, unreadable text is a block error',
  inputs: 'IN:ANY',
  outputs: 'OUT:REAL',
  code: (form) => {
    if (form.type('IN') === 'STRING') return '$OUT = T.real($IN);';
    return form.type('IN') === 'TIME' ? '$OUT = $IN / 1000;' : '$OUT = $IN;';
  },
});
