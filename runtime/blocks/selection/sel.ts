import { block } from '../block.js';

/** Quality is the worst of G and the selected input (decisions 5.2). */
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
