import { block } from '../block.js';

/** IEC 61131-3:2013, Table 32 (LIMIT); decisions 5.2, Selection and conversion. */
export const LIMIT = block({
  name: 'LIMIT',
  family: 'selection',
  description: 'IN limited to MN .. MX; MN above MX is a block error',
  inputs: 'MN:NUM, IN:NUM, MX:NUM',
  outputs: 'OUT:NUM',
  code: `
    if ($MN > $MX) $fail;
    $OUT = Math.min(Math.max($IN, $MN), $MX);`,
});
