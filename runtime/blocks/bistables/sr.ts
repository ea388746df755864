import { block } from '../block.js';

/** IEC 61131-3, Table 43: set dominant. */
export const SR = block({
  name: 'SR',
  family: 'bistables',
  description: 'Bistable, set dominant',
  inputs: 'S1:BOOL, R:BOOL',
  outputs: 'Q1:BOOL',
  state: { on: 0 },
  retained: ['on'],
  total: true,
  code: `
    $on = $S1 !== 0 || ($on !== 0 && $R === 0) ? 1 : 0;
    $Q1 = $on;`,
});
