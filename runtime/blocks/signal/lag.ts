import { block } from '../block.js';

/** Decisions 5.2, Signal processing; the factor is kept as long as the scan time does not change. */
export const LAG = block({
  name: 'LAG',
  family: 'signal',
  description: 'First-order lag',
  inputs: 'IN:REAL',
  outputs: 'OUT:REAL',
  params: 'tau:TIME=T#1s',
  state: { value: 0, alpha: 0, alphaMs: -1 },
  caches: ['alphaMs'],
  code: `
    if ($first !== 0 || $tau <= 0) $value = $IN;
    else {
      if ($alphaMs !== dtMs) { $alpha = 1 - Math.exp(-dtMs / $tau); $alphaMs = dtMs; }
      $value += ($IN - $value) * $alpha;
    }
    $OUT = $value;`,
});
