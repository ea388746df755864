import { block } from '../block.js';

/** Decisions 5.2, Selection and conversion. */
export const TO_BOOL = block({
  name: 'TO_BOOL',
  family: 'selection',
  description: 'Conversion to BOOL; numbers are TRUE unless zero, text other than TRUE or FALSE is a block error',
  inputs: 'IN:ANY',
  outputs: 'OUT:BOOL',
  code: (form) => (form.type('IN') === 'STRING' ? '$OUT = T.truth($IN); if ($OUT !== $OUT) $fail;' : '$OUT = $IN !== 0 ? 1 : 0;'),
});
