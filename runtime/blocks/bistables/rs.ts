import { block } from '../block.js';

/** IEC 61131-3, Table 43: reset dominant. */
export const RS = block({
  name: 'RS',
  family: 'bistables',
  description: 'Bistable, reset dominant',
  inputs: 'S:BOOL, R1:BOOL',
  outputs: 'Q1:BOOL',
  state: { on: 0 },
  retained: ['on'],
  total: true,
  code: `
    $on = $R1 === 0 && ($on !== 0 || $S !== 0) ? 1 : 0;
    $Q1 = $on;`,
});
