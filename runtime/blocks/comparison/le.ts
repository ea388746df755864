import { block, comparison } from '../block.js';

/** IEC 61131-3:2013, Table 33 (LE); decisions 5.2, Comparison: BOOL has no order. */
export const LE = block({
  name: 'LE',
  family: 'comparison',
  description: 'IN1 less than or equal to IN2; texts by code point',
  inputs: 'IN1:ANY, IN2:ANY',
  outputs: 'OUT:BOOL',
  total: true,
  refuses: ['BOOL'],
  code: comparison('<='),
});
