import { block } from '../block.js';

/** IEC 61131-3, Table 44 (rising edge); no edge on the first scan (decisions 5.1 rule 9). */
export const R_TRIG = block({
  name: 'R_TRIG',
  family: 'edges',
  description: 'Rising edge, TRUE for one scan',
  inputs: 'CLK:BOOL',
  outputs: 'Q:BOOL',
  state: { was: 0 },
  total: true,
  code: `
    $Q = $CLK !== 0 && $was === 0 && $first === 0 ? 1 : 0;
    $was = $CLK;`,
});
