import { block } from '../block.js';

/** IEC 61131-3:2013, Table 32 (SEL); decisions 5.2, Selection and conversion: quality is the worst of G and the selected input. */
export const SEL = block({
  name: 'SEL',
  family: 'selection',
  description: 'IN1 when G is TRUE, else IN0',
  inputs: 'G:BOOL, IN0:ANY, IN1:ANY',
  outputs: 'OUT:ANY',
  total: true,
  code: `
    $OUT = $G !== 0 ? $IN1 : $IN0;
    const chosen = $G !== 0 ? $IN1.q : $IN0.q;
    $q = $G.q > chosen ? $G.q : chosen;`,
});
