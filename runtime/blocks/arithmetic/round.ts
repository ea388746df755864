import { block, ROUND_HALF_EVEN } from '../block.js';

/** Decisions 5.2, Arithmetic: nearest INT, halves to even (IEEE 754 roundTiesToEven). */
export const ROUND = block({
  name: 'ROUND',
  family: 'arithmetic',
  description: 'Nearest INT, halves to even; a value outside INT is a block error',
  inputs: 'IN:REAL',
  outputs: 'OUT:INT',
  code: ROUND_HALF_EVEN,
});
