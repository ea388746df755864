import { block } from '../block.js';

/** IEC 61131-3, Table 45 (up). The count stops at 2^53 - 1, the largest INT of a network. */
export const CTU = block({
  name: 'CTU',
  family: 'counters',
  description: 'Up counter',
  inputs: 'CU:BOOL, R:BOOL, PV:INT=0',
  constant: ['PV'],
  outputs: 'Q:BOOL, CV:INT',
  state: { cv: 0, was: 0 },
  retained: ['cv'],
  total: true,
  code: `
    if ($R !== 0) $cv = 0;
    else if ($CU !== 0 && $was === 0 && $first === 0 && $cv < INT_LIMIT) $cv += 1;
    $was = $CU;
    $CV = $cv;
    $Q = $cv >= $PV ? 1 : 0;`,
});
