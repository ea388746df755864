import { block } from '../block.js';

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
