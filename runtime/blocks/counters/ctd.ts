import { block } from '../block.js';

/** IEC 61131-3, Table 45 (down). The count stops at 1 - 2^53, the smallest INT of a network. */
export const CTD = block({
  name: 'CTD',
  family: 'counters',
  description: 'Down counter',
  inputs: 'CD:BOOL, LD:BOOL, PV:INT=0',
  constant: ['PV'],
  outputs: 'Q:BOOL, CV:INT',
  state: { cv: 0, was: 0 },
  retained: ['cv'],
  total: true,
  code: `
    if ($LD !== 0) $cv = $PV;
    else if ($CD !== 0 && $was === 0 && $first === 0 && $cv > -INT_LIMIT) $cv -= 1;
    $was = $CD;
    $CV = $cv;
    $Q = $cv <= 0 ? 1 : 0;`,
});
