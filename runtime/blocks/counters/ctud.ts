import { block } from '../block.js';

/** IEC 61131-3, Table 45 (up-down). Both edges in one scan cancel (decisions 5.2). */
export const CTUD = block({
  name: 'CTUD',
  family: 'counters',
  description: 'Up-down counter',
  inputs: 'CU:BOOL, CD:BOOL, R:BOOL, LD:BOOL, PV:INT=0',
  constant: ['PV'],
  outputs: 'QU:BOOL, QD:BOOL, CV:INT',
  state: { cv: 0, upWas: 0, downWas: 0 },
  retained: ['cv'],
  total: true,
  code: `
    if ($R !== 0) $cv = 0;
    else if ($LD !== 0) $cv = $PV;
    else if ($first === 0) {
      const up = $CU !== 0 && $upWas === 0 ? 1 : 0;
      const down = $CD !== 0 && $downWas === 0 ? 1 : 0;
      $cv = Math.min(Math.max($cv + up - down, -INT_LIMIT), INT_LIMIT);
    }
    $upWas = $CU;
    $downWas = $CD;
    $CV = $cv;
    $QU = $cv >= $PV ? 1 : 0;
    $QD = $cv <= 0 ? 1 : 0;`,
});
